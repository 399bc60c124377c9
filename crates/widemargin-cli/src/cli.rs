//! The subcommands.

use clap::{Parser, Subcommand};

use crate::args::Common;
use crate::commands;

/// Large-margin classifiers for any similarity, at linear cost.
///
/// Files are LIBSVM text (.svm, .libsvm, .txt), CSV (.csv, .tsv), NumPy arrays (.npy, .npz), time series (.ts) or
/// images (a folder), recognized by file name; use --format for strings and for the UCR archive's series. `-` is standard input.
#[derive(Debug, Parser)]
#[command(name = "widemargin", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model and write it to a file
    ///
    /// Without model options, the method and its parameters are selected by leave-one-out. `--help` describes all
    /// options in detail.
    Train(Box<commands::train::Train>),
    /// Cross-validate a model; repeated options define a grid
    ///
    /// Every model option may be repeated to compare several values.
    Cv(Box<commands::cv::Cv>),
    /// Predict the label of each sample, one per line
    Predict(commands::predict::Predict),
    /// Evaluate a model on labeled samples: accuracy, and scores per class
    Evaluate(commands::evaluate::Evaluate),
    /// Explain one prediction by the contributions for and against the predicted class
    Explain(commands::explain::Explain),
    /// Show what a model file contains
    Inspect(commands::inspect::Inspect),
    /// Write an HTML report on a model: its scores, and explanations of wrong predictions
    Report(commands::report::ReportArgs),
    /// Write the features of samples: their normalized similarities to the bases
    Transform(commands::transform::Transform),
    /// Convert samples from one file format to another
    Convert(commands::convert::Convert),
    /// Train and evaluate on handwritten digits, compared with a linear SVM
    #[command(hide = true)]
    Demo(commands::demo::Demo),
    /// Print the script by which a shell completes this command
    #[command(hide = true)]
    Completions(commands::completions::Completions),
    /// Print the manual in the format of `man`
    #[command(hide = true)]
    Man(commands::man::Man),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_names_every_similarity() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("train").unwrap().render_long_help().to_string();
        // Lines are broken at spaces.
        let names: Vec<&str> = help.split([' ', ',', '\n', ':']).collect();
        assert!(widemargin::similarity::similarity_rows().all(|row| names.contains(&row.name)), "{help}");
    }

    #[test]
    fn short_help_has_one_line_per_option() {
        for name in ["train", "cv", "predict", "evaluate", "explain", "inspect", "report", "transform", "convert"] {
            let mut program = Cli::command();
            program.build();
            let command = program.find_subcommand_mut(name).unwrap();
            let n_options = command.get_arguments().filter(|arg| !arg.is_positional()).count();
            let help = command.render_help().to_string();
            let is_option = |line: &&str| line.starts_with("  -") || line.starts_with("      --");
            assert_eq!(help.lines().filter(is_option).count(), n_options, "{help}");
            let heads = help.lines().filter(|line| line.ends_with(':') || line.is_empty()).count();
            let arguments = command.get_positionals().count();
            // What it does, and its usage.
            assert_eq!(help.lines().count(), n_options + heads + arguments + 2, "{help}");
            assert!(name != "train" || (n_options <= 31 && help.lines().count() <= 60), "{n_options}: {help}");
        }
    }

    #[test]
    fn exponents_and_columns_may_start_with_a_hyphen() {
        for p in ["-1", "-8", "0", "-inf", "-1e-3"] {
            let line = ["widemargin", "train", "a.svm", "-o", "m", "--kernel", p, "--label", "-1"];
            assert!(Cli::try_parse_from(line).is_ok(), "{p}");
        }
    }
}
