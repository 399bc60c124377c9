//! The `widemargin` command: files in, models and labels out.
//!
//! Here are the command line, progress and messages; formats are `widemargin-io`'s and the methods the library's. A
//! subcommand is a file in `commands`; the options of models are in `options`, and what they mean to a method in `fit`.
//! A program of its own and the Python package both run it.
#![deny(missing_docs)]

mod args;
mod cancel;
mod cli;
mod commands;
mod context;
mod details;
mod fit;
mod folds;
mod model;
mod options;
#[cfg(unix)]
mod out_of_memory;
mod output;
mod parameters;
mod progress;
mod readable;
mod report;
mod resources;
mod scoring;
mod stream;
mod summary;
mod task;
mod text_table;
mod usage;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command};
use context::Context;
use report::{Exit, Failure};

/// Runs the command with the arguments of a process, the first its name, and returns the exit code. It listens to the
/// signals that stop a process: once in a process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let exit = match parse(arguments).and_then(run_command) {
        Ok(()) => Exit::Success,
        Err(failure) => {
            failure.print();
            failure.exit
        }
    };
    exit as u8
}

fn run_command(cli: Cli) -> Result<(), Failure> {
    cancel::listen();
    #[cfg(unix)]
    {
        cancel::survive_large_files();
        // Elsewhere the system's own message has to do.
        out_of_memory::listen(&cli.command);
    }
    let context = Context::new(cli.common)?;
    match cli.command {
        Command::Train(train) => train.run(&context),
        Command::Predict(predict) => predict.run(&context),
        Command::Evaluate(evaluate) => evaluate.run(&context),
        Command::Explain(explain) => explain.run(&context),
        Command::Cv(cv) => cv.run(&context),
        Command::Inspect(inspect) => inspect.run(&context),
        Command::Report(report) => report.run(&context),
        Command::Transform(transform) => transform.run(&context),
        Command::Convert(convert) => convert.run(&context),
        Command::Demo(demo) => demo.run(&context),
        Command::Completions(completions) => completions.run(Cli::command()),
        Command::Man(man) => man.run(Cli::command()),
    }
}

/// Reads the command line; help and version are printed here, mistakes become one line.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Failure> {
    let parsed = usage::with_negative_numbers(Cli::command()).try_get_matches_from(arguments);
    parsed.and_then(|matches| Cli::from_arg_matches(&matches)).or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print().map_err(|error| Failure::stdout(&error))?;
            Err(Failure { message: String::new(), help: None, exit: Exit::Success })
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            drop(error.print());
            Err(Failure { message: String::new(), help: None, exit: Exit::WrongInput })
        }
        _ => Err(usage::failure(&error, &Cli::command())),
    })
}
