//! Interpretation of the columns of a table: header and label.

use std::path::Path;

use csv::ByteRecord;

use crate::error::{IoError, Result};
use crate::options::{LabelColumn, ReadOptions};
use crate::problem::CsvProblem;

/// Names of a label column.
pub(crate) const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct Columns {
    /// The column names, if there is a header.
    pub names: Option<Vec<String>>,
    /// The label column.
    pub label: Option<usize>,
    /// Whether the caller specified the label column, or that there is none.
    pub is_label_given: bool,
    /// Number of columns.
    pub n: usize,
}

impl Columns {
    /// Determines the columns from the first two lines; the first comes with its line number.
    pub fn tell(
        file: &Path,
        (first, line): (&ByteRecord, usize),
        second: Option<&ByteRecord>,
        options: &ReadOptions,
    ) -> Result<Columns> {
        let n = first.len();
        let names = if options.header.unwrap_or_else(|| is_header(first, second)) {
            let name = |cell: &[u8]| String::from_utf8(cell.trim_ascii().to_vec());
            let names = first.iter().map(name).collect::<Result<Vec<_>, _>>();
            let not_text = |_| IoError::Csv { file: file.to_owned(), line, column: None, problem: CsvProblem::NotText };
            Some(names.map_err(not_text)?)
        } else {
            None
        };
        let no_column =
            |reason: String| IoError::LabelColumn { file: file.to_owned(), given: options.label.to_string(), reason };
        let label = match &options.label {
            LabelColumn::None => None,
            LabelColumn::Auto => guess_label(names.as_deref(), if names.is_some() { second } else { Some(first) }),
            LabelColumn::Number(number) => {
                Some(LabelColumn::position(*number, n).ok_or_else(|| no_column(format!("there are {n} columns")))?)
            }
            LabelColumn::Name(name) => {
                let names = names.as_ref().ok_or_else(|| no_column("the file has no header".into()))?;
                let found = names.iter().rposition(|known| known == name);
                Some(found.ok_or_else(|| no_column(format!("the columns are {}", list(names))))?)
            }
        };
        if n == usize::from(label.is_some()) {
            return Err(IoError::Empty {
                file: file.to_owned(),
                what: "no feature columns: the only column is the label (is it separated by commas, or by tabs as .tsv?)",
            });
        }
        Ok(Columns { names, label, is_label_given: options.label != LabelColumn::Auto, n })
    }

    /// The names of the features.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        let names = self.names.as_ref()?.iter().enumerate();
        Some(names.filter(|(column, _)| Some(*column) != self.label).map(|(_, name)| name.clone()).collect())
    }

    /// The name of a column in messages: its name in quotes, or its number from 1.
    pub fn called(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) if !name.is_empty() => format!("'{}'", crate::problem::excerpt(name)),
            _ => (column + 1).to_string(),
        }
    }
}

/// True for an empty cell and for words that denote missing values.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    ["", "na", "n/a", "nan", "null", "none", "?"].iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// The number in a cell, however large.
pub(crate) fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// A header names a label column, or has text above a number.
fn is_header(first: &ByteRecord, second: Option<&ByteRecord>) -> bool {
    let named = first.iter().any(|cell| is_label_name(cell.trim_ascii()));
    let above = |(above, below): (&[u8], &[u8])| {
        let above = above.trim_ascii();
        !is_missing(above) && number(above).is_none() && number(below.trim_ascii()).is_some()
    };
    named || second.is_some_and(|second| first.iter().zip(second).any(above))
}

fn is_label_name(cell: &[u8]) -> bool {
    LABEL_NAMES.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes()))
}

/// The last column with one of the label names.
pub(crate) fn named_label(names: &[String]) -> Option<usize> {
    names.iter().rposition(|name| is_label_name(name.as_bytes()))
}

fn guess_label(names: Option<&[String]>, sample: Option<&ByteRecord>) -> Option<usize> {
    if let Some(named) = names.and_then(named_label) {
        return Some(named);
    }
    let is_text = |cell: &[u8]| !is_missing(cell.trim_ascii()) && number(cell.trim_ascii()).is_none();
    let mut texts = sample?.iter().enumerate().filter(|(_, cell)| is_text(cell)).map(|(column, _)| column);
    match (texts.next(), texts.next()) {
        (Some(only), None) => Some(only),
        _ => names.is_none().then_some(0),
    }
}

/// Names for a message: all of them if there are few.
pub(crate) fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(12).map(|name| crate::problem::excerpt(name)).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
