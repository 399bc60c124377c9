//! `widemargin man`: the manual, for `man` to read.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::{Man as Page, generate_to};

use crate::output::{check_output, print};
use crate::report::Failure;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Write a page per command into this folder, such as ~/.local/share/man/man1, instead of the first page to standard
    /// output
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl Man {
    /// Runs the command; `program` has all commands.
    pub fn run(&self, mut program: Command) -> Result<(), Failure> {
        let Some(folder) = &self.output else {
            program.build();
            let mut page = Vec::new();
            Page::new(program).render(&mut page).map_err(|error| Failure::stdout(&error))?;
            return print(&String::from_utf8_lossy(&page));
        };
        check_output(&folder.join("widemargin.1"), None, None)?;
        generate_to(program, folder).map_err(|error| Failure::work(format!("{}: {error}", folder.display())))
    }
}
