//! `widemargin completions`: the script by which a shell completes the command line.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::output::print;
use crate::report::Failure;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// Runs the command; `program` has all commands.
    pub fn run(&self, mut program: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        let name = program.get_name().to_owned();
        clap_complete::generate(self.shell, &mut program, name, &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
