//! Command-line options shared by several commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use widemargin_io::{Format, LabelColumn, ReadOptions, TextColumn};

/// Options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Number of threads, at most one per core; 0 means one per core
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Seed of every random step
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Suppress progress and the summary on standard error; errors are still printed
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Stop after this many seconds: `train` keeps the model obtained so far, `cv` the results, and leaves time
    /// to fit the best point if it is to be written
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
}

/// How to read the samples.
#[derive(Clone, Debug, Args)]
pub struct Input {
    /// The samples; `-` is standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Format of the samples, if it cannot be determined from the file name: libsvm, csv, tsv, npy, npz, strings, ucr,
    /// ts, images, cifar10, idx
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Column of the labels: a name, a number (1 is the first, -1 the last), or `none` [default: in a table the last
    /// column called label, class, target or y, otherwise the only text column, otherwise the first if there is no
    /// header; in LIBSVM text and UCR lines the first word; in NPY files none; of strings the only other column]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<LabelColumn>,
    /// Column of the strings (--format strings): a name, or a number (1 is the first, -1 the last) [default: the only
    /// suitable one: by its name (text, string, sequence, smiles, sentence, message), or as the only one that is
    /// neither the label nor numeric]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub text_column: Option<TextColumn>,
}

impl Input {
    /// The options of the reader.
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

    #[test]
    fn a_time_limit_is_above_zero() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["0", "-1", "nan", "inf", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
