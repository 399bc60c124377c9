//! `widemargin man`: the manual, for `man` to read.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::output::{print, write_text};
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
        // Names of subcommands are those of the whole line from here on: `widemargin-train-power-mean`.
        program.build();
        match &self.output {
            None => print(&rendered(program)?),
            Some(folder) => write_all(program, folder),
        }
    }
}

/// Writes the pages of a command and of all below it.
fn write_all(command: Command, folder: &Path) -> Result<(), Failure> {
    for below in command.get_subcommands().filter(|one| one.get_name() != "help") {
        write_all(below.clone(), folder)?;
    }
    let page = folder.join(format!("{}.1", command.get_display_name().unwrap_or(command.get_name())));
    write_text(Some(&page), &rendered(command)?)
}

fn rendered(command: Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    Page::new(command).render(&mut page).map_err(|error| Failure::stdout(&error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
