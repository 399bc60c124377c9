//! The program `widemargin`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(widemargin_cli::run(std::env::args_os()))
}
