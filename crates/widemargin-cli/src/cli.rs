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
    /// Train a model and write it to a file: without a method, the one that suits the samples, with nothing to choose
    Train(Box<commands::train::TrainArgs>),
    /// Predict the label of each sample, one per line
    Predict(commands::predict::Predict),
    /// Evaluate a model on labeled samples: accuracy, and scores per class
    Evaluate(commands::evaluate::Evaluate),
    /// Explain one prediction: what speaks for and against the predicted class
    Explain(commands::explain::Explain),
    /// Cross-validate a method; lists of values define a grid search
    Cv(Box<commands::cv::Cv>),
    /// Show what a model file contains
    Inspect(commands::inspect::Inspect),
    /// Write a page on a model: what it is, how good it is, and which samples it gets wrong and why
    Report(commands::report::ReportArgs),
    /// Measure how far a similarity is from being a kernel, by its negative eigenvalues
    Spectrum(commands::spectrum::SpectrumArgs),
    /// Write the features of samples: their normalized similarities to the bases of a model
    Transform(commands::transform::Transform),
    /// Convert samples from one file format to another
    Convert(commands::convert::Convert),
    /// Train and evaluate on handwritten digits, compared with a linear SVM
    Demo(commands::demo::Demo),
    /// Print the script by which a shell completes this command
    Completions(commands::completions::Completions),
    /// Print the manual in the format of `man`, or write it to a folder, a page per command
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
        let help = command.find_subcommand_mut("spectrum").unwrap().render_long_help().to_string();
        // Lines are broken at spaces.
        let names: Vec<&str> = help.split([' ', ',', '\n', ':']).collect();
        assert!(widemargin::similarity::similarity_rows().all(|row| names.contains(&row.name)), "{help}");
    }

    #[test]
    fn exponents_and_columns_may_start_with_a_hyphen() {
        for p in ["-1", "-8", "0", "-inf", "-1e-3"] {
            let line = ["widemargin", "train", "power-mean", "a.svm", "-o", "m", "--kernel", p, "--label", "-1"];
            assert!(Cli::try_parse_from(line).is_ok(), "{p}");
        }
    }
}
