//! Command-line options shared by several commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use widemargin_io::{ColumnRule, Decimal, Format, LabelColumn, ReadOptions, TextColumn};

use crate::report::Failure;
use crate::takes::Takes;

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
    /// Suppress progress, notes and the summary on standard error; warnings and errors are still printed
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Stop after this many seconds: `train` writes the model obtained so far if it is of all samples (see
    /// --keep-partial), `cv` prints the results, and leaves time to fit the best point if it is to be written
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
    /// ts, images
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Column of the labels: a name, a number (1 is the first, -1 the last), or `none`; of a CSV or TSV file whose samples have
    /// several labels their columns, with commas between: 1 where a sample has the label, 0 where it has it not, nothing where
    /// that is unknown [default: in a table the last
    /// column called label, class, target or y, otherwise the only text column, otherwise the first if there is no
    /// header; in LIBSVM text and UCR lines the first word; in NPY files none; of strings the only other column]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub label: Option<LabelColumn>,
    /// A file with the label of each sample, in the order of the samples: text, one label a line, or a .npy vector; with
    /// several labels a sample: a .csv or .tsv file with a header and a column a label, or a .npy matrix
    #[arg(long, value_name = "FILE", conflicts_with = "label")]
    pub labels: Option<PathBuf>,
    /// Column of the strings (--format strings): a name, or a number (1 is the first, -1 the last) [default: the only
    /// suitable one: by its name (text, string, sequence, smiles, sentence, message), or as the only one that is
    /// neither the label nor numeric]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub text_column: Option<TextColumn>,
    /// Column of a CSV or TSV file that names the samples, by name or number: it is no feature, and `predict` prints it
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub id: Option<LabelColumn>,
    /// Column of a CSV or TSV file with the weight of each sample, by name or number: k counts as k copies
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub weight: Option<LabelColumn>,
    /// Whether the first line of a CSV or TSV file has the names of the columns: yes or no [default: determined from the
    /// first lines]
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    pub header: Option<bool>,
    /// What separates the cells of a CSV or TSV file: a character, or tab, space, comma, semicolon or pipe [default:
    /// determined from the first lines]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// The decimal mark of a CSV or TSV file: `.` or `,` [default: determined from the first lines]
    #[arg(long, value_name = "MARK")]
    pub decimal: Option<Decimal>,
    /// Columns of a CSV or TSV file to leave out, by name or number, with commas between. A model knows the columns that
    /// were left out of its training table, and those of the labels, names and weights
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true, value_delimiter = ',')]
    pub drop: Vec<LabelColumn>,
    /// Whether the labels and weights of a table are left out.
    #[arg(skip)]
    pub skip_labels: bool,
}

impl Input {
    /// The options of the reader.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            label: self.label.clone().unwrap_or_default(),
            text: self.text_column.clone().unwrap_or_default(),
            label_file: self.labels.clone(),
            id: self.id.clone(),
            weight: self.weight.clone(),
            header: self.header,
            delimiter: self.delimiter,
            decimal: self.decimal,
            drop: self.drop.clone(),
            skip_labels: self.skip_labels,
            ..ReadOptions::default()
        }
    }

    /// The same where a model is trained: columns may hold more than numbers.
    pub fn options_to_learn(&self) -> ReadOptions {
        ReadOptions { columns: ColumnRule::Learn, ..self.options() }
    }

    /// The same for a model that was trained so.
    pub fn options_for(&self, model: &Takes<'_>) -> ReadOptions {
        let columns = model.table_columns.map(|columns| ColumnRule::Known(Arc::new(columns.clone())));
        ReadOptions {
            format: self.format_for(model),
            columns: columns.unwrap_or_default(),
            trained: model.trained_table().map(Arc::new),
            ..self.options()
        }
    }

    /// The format of samples for a model, where it is not left to the file name: standard input is a table where the model
    /// knows its columns.
    pub fn format_for(&self, model: &Takes<'_>) -> Option<Format> {
        let knows_columns = model.column_roles.is_some() || model.feature_names.is_some();
        self.format.or_else(|| (knows_columns && self.data.as_os_str() == "-").then_some(Format::Csv))
    }

    /// Refuses what samples that are read in blocks do not have.
    pub fn check_blocks(&self) -> Result<(), Failure> {
        match &self.weight {
            Some(_) => {
                let failure = Failure::input("--weight: samples that are read in blocks (--memory) have no weights");
                Err(failure.help("leave --memory out, or write each sample as often as it weighs"))
            }
            None => Ok(()),
        }
    }
}

fn yes_or_no(text: &str) -> Result<bool, &'static str> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no"),
    }
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
