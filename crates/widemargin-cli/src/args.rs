//! Command-line options shared by several commands.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use widemargin::model::Model;
use widemargin_io::{Decimal, Format, LabelColumn, ReadOptions, TrainedTable};

use crate::report::{Failure, refused};

/// Options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Number of threads; 0 means one per core
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Seed of all random steps
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Print only warnings and errors on standard error
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Stop after this many seconds
    ///
    /// `train` then writes the model obtained so far if it was fitted to all samples (see --keep-partial). `cv` prints
    /// the results obtained so far, and reserves time to fit the best point if a model is to be written.
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
}

/// How to read the samples.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Data options")]
pub struct Input {
    /// File or folder of samples; `-` is standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Format, if the file name does not imply it: csv, npy, strings, ...
    ///
    /// One of libsvm, csv, tsv, npy, npz, strings, ucr, ts and images. `strings:COLUMN` selects, by name or number, the
    /// column of a table that contains the strings. The default is the only column named text, string, sequence,
    /// smiles, sentence or message, or else the only column that is neither the label nor numeric.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<InputFormat>,
    /// Label column: a name, a number (-1 is the last), or none
    ///
    /// Several names or numbers, separated by commas, are the label columns of a multilabel task in a CSV or TSV file:
    /// 1 if a sample has the label, 0 if it does not, empty if this is unknown. By default, the label of a table is the
    /// last column called label, class, target or y, otherwise the only text column, otherwise the first column if
    /// there is no header. In LIBSVM text and UCR files, it is the first word of a line. NPY files have no label by
    /// default. For strings, it is the only other column.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<LabelColumn>,
    /// File with the labels of the samples: one per line, or .npy
    ///
    /// For a multilabel task, a .csv or .tsv file with a header and a column for each label, or a .npy matrix.
    #[arg(long, value_name = "FILE", conflicts_with = "label")]
    pub label_file: Option<PathBuf>,
    /// Column that identifies the samples; `predict` prints it
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub id: Option<LabelColumn>,
    /// Column of sample weights; a weight of k counts as k copies
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub weight_column: Option<LabelColumn>,
    /// Columns to exclude, separated by commas
    ///
    /// The model stores which columns of its training table were excluded, and which contain the labels, ids and
    /// weights.
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, value_delimiter = ',')]
    pub drop: Vec<LabelColumn>,
    /// Numeric columns to read as categories, separated by commas
    ///
    /// Each category becomes a feature, as in text columns. The model stores the categories.
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, value_delimiter = ',')]
    pub categorical: Vec<LabelColumn>,
    /// Whether a table has a header: yes or no [default: detected]
    #[arg(long, value_name = "YES|NO", hide_possible_values = true, value_parser = yes_or_no())]
    pub header: Option<bool>,
    /// Cell separator: a character, tab, ... [default: detected]
    ///
    /// A character, or one of the names tab, space, comma, semicolon and pipe.
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Decimal mark: `.` or `,` [default: as in training, or detected]
    #[arg(long, value_name = "MARK")]
    pub decimal: Option<Decimal>,
    /// Whether the labels and weights of a table are left out.
    #[arg(skip)]
    pub skip_labels: bool,
}

/// A format, and the column of the strings if it is one of strings.
#[derive(Clone, Debug)]
pub struct InputFormat {
    pub format: Format,
    pub text: LabelColumn,
}

impl FromStr for InputFormat {
    type Err = <Format as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, text) = match text.strip_prefix("strings:") {
            Some(column) => ("strings", column.parse().unwrap_or_else(|never: Infallible| match never {})),
            None => (text, LabelColumn::Auto),
        };
        Ok(InputFormat { format: format.parse()?, text })
    }
}

impl Input {
    /// The format, where it is passed.
    pub fn format(&self) -> Option<Format> {
        self.format.as_ref().map(|format| format.format)
    }

    /// The options of the reader.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format(),
            label: self.label.clone().unwrap_or_default(),
            text: self.format.clone().map(|format| format.text).unwrap_or_default(),
            label_file: self.label_file.clone(),
            id: self.id.clone(),
            weight: self.weight_column.clone(),
            header: self.header,
            delimiter: self.delimiter,
            decimal: self.decimal,
            drop: self.drop.clone(),
            categorical: self.categorical.clone(),
            skip_labels: self.skip_labels,
            ..ReadOptions::default()
        }
    }

    /// The same where a model is trained: columns may hold more than numbers.
    pub fn options_to_learn(&self) -> ReadOptions {
        ReadOptions { learn: true, ..self.options() }
    }

    /// The same for a model that was trained so.
    pub fn options_for(&self, model: &dyn Model) -> ReadOptions {
        ReadOptions {
            format: self.format_for(model),
            trained: trained_table(model).map(Arc::new),
            notation: model.origin().notation,
            ..self.options()
        }
    }

    /// The format of samples for a model, where it is not left to the file name: standard input is a table where the
    /// model knows its columns.
    pub fn format_for(&self, model: &dyn Model) -> Option<Format> {
        let knows_columns = model.column_roles().is_some() || model.feature_names().is_some();
        self.format().or_else(|| (knows_columns && self.data.as_os_str() == "-").then_some(Format::Csv))
    }

    /// Refuses what samples that are read in blocks do not have.
    pub fn check_blocks(&self) -> Result<(), Failure> {
        if !self.categorical.is_empty() {
            let failure = "--categorical: columns of samples that are read in blocks (--memory-limit) are numbers";
            return refused(failure, "leave --memory-limit out, or write a column for each category");
        }
        Ok(())
    }
}

/// The table that a model was trained on, as far as the model knows it.
fn trained_table(model: &dyn Model) -> Option<TrainedTable> {
    let trained = match model.table_columns() {
        Some(columns) => columns.clone().into(),
        None => TrainedTable {
            names: model.feature_names().map(<[String]>::to_vec),
            n_columns: model.n_features()?,
            ..TrainedTable::default()
        },
    };
    Some(TrainedTable { roles: model.column_roles().cloned(), ..trained })
}

fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["yes", "no"]).map(|answer| answer == "yes")
}

fn delimiter(text: &str) -> Result<u8, &'static str> {
    let named = [("tab", b'\t'), ("\\t", b'\t'), ("space", b' '), ("comma", b','), ("semicolon", b';'), ("pipe", b'|')];
    match (named.iter().find(|(name, _)| *name == text), text.as_bytes()) {
        (Some((_, delimiter)), _) => Ok(*delimiter),
        (None, [b'"' | b'\n' | b'\r' | b'0'..=b'9']) => Err("a digit, a quote or a line end is part of cells"),
        (None, &[delimiter]) if delimiter.is_ascii() => Ok(delimiter),
        _ => Err("expected one ASCII character, or tab, space, comma, semicolon or pipe"),
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

    #[test]
    fn delimiters_are_characters_or_names() {
        assert_eq!([";", "tab", "space", "\t"].map(delimiter), [Ok(b';'), Ok(b'\t'), Ok(b' '), Ok(b'\t')]);
        for wrong in ["", "\"", "::", "1", "ä", "\n"] {
            assert!(delimiter(wrong).is_err(), "{wrong}");
        }
    }
}
