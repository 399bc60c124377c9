//! The command line's grammar: the subcommands, and the flags they share.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use widemargin_io::{Format, LabelColumn, ReadOptions, TextColumn};

use crate::commands;

/// Large-margin classifiers for any similarity, at linear cost.
///
/// Files are LIBSVM text (.svm, .libsvm, .txt), CSV (.csv, .tsv), NumPy arrays (.npy, .npz), time series (.ts) or
/// images (a folder, CIFAR-10's .bin, IDX), told by their ending; --format names those of strings and of the UCR
/// archive's series. `-` is standard input.
#[derive(Debug, Parser)]
#[command(name = "widemargin", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model and write it to a file
    Train(commands::train::Train),
    /// Predict the label of each sample, one a line
    Predict(commands::predict::Predict),
    /// Accuracy of a model on labelled samples, with a table of the classes
    Evaluate(commands::evaluate::Evaluate),
    /// Cross-validate a method; lists of values search a grid
    Cv(commands::cv::Cv),
    /// What is in a model file
    Inspect(commands::inspect::Inspect),
    /// How far a similarity is from being a kernel: its negative eigenvalues
    Spectrum(commands::spectrum::SpectrumArgs),
    /// Samples into vectors: HOG features of images, or the basis expansion of a model
    Describe(commands::describe::Describe),
    /// Convert samples from one file format to another
    Convert(commands::convert::Convert),
    /// Train and evaluate on handwritten digits, beside a linear SVM
    Demo(commands::demo::Demo),
}

/// Flags of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Threads, at most one a core; 0 is one a core
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Seed of every random step
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// No progress and no summary on standard error; errors are still told
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// End after this many seconds: `train` keeps the model it has by then, `cv` the results
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
}

/// How to read the samples.
#[derive(Clone, Debug, Args)]
pub struct Input {
    /// The samples; `-` is standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Format of the samples, where the name of the file does not tell it: libsvm, csv, tsv, npy, npz, strings, ucr,
    /// ts, images, cifar10, idx
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Column of the labels: a name, a number (1 is the first, -1 the last), or `none` [default: in a table the last
    /// column called label, class, target or y, else the only column of text, else the first where there is no header;
    /// in LIBSVM text and UCR lines the first word; in NPY files none; of strings the only other column]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<LabelColumn>,
    /// Column of the strings (--format strings): a name, or a number (1 is the first, -1 the last) [default: the only one
    /// that can be meant: by its name (text, string, sequence, smiles, sentence, message), or as the only one that is
    /// neither the label nor a number]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub text_column: Option<TextColumn>,
}

impl Input {
    /// What the reader is told.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            label: self.label.clone().unwrap_or_default(),
            text: self.text_column.clone().unwrap_or_default(),
            ..ReadOptions::default()
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("a number above 0 is needed".into()),
    }
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
    fn exponents_and_columns_may_start_with_a_hyphen() {
        for p in ["-1", "-8", "0", "-inf", "-1e-3"] {
            let line = ["widemargin", "train", "power-mean", "a.svm", "-o", "m", "--p", p, "--label", "-1"];
            assert!(Cli::try_parse_from(line).is_ok(), "{p}");
        }
    }

    #[test]
    fn a_time_limit_is_above_zero() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["0", "-1", "nan", "inf", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
