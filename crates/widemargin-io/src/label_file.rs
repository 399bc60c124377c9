//! Labels in a separate file: text, one label per line, or a NumPy vector; of multilabel samples a table with one
//! column per label, or a NumPy matrix. Groups of samples: text, one name per line.

use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use widemargin::data::{Decimal, Label, Labels};

use crate::Format;
use crate::csv::{Numbers, label as label_of, read_labels};
use crate::error::{Failure, Problem, Result};
use crate::indicators::Indicators;
use crate::input::{Input, open};
use crate::npy::Array;
use crate::options::ReadOptions;
use crate::table::Table;
use crate::text_input::{MAX_LINE, TextInput};

/// The labels of a file.
#[derive(Debug)]
pub(crate) struct FileLabels {
    file: PathBuf,
    /// A table of labels or of indicators.
    table: Table,
}

impl FileLabels {
    /// The labels of a file: of a `.npy` file a vector, or a column, of integers or text, or a matrix of indicators; of
    /// a `.csv` or `.tsv` file the columns of indicators, or one column of classes; otherwise text with one label per
    /// line in the order of the samples and no header. The decimal mark is by default determined from the text.
    pub fn read(file: &Path, decimal: Option<Decimal>) -> Result<FileLabels> {
        let options = ReadOptions { decimal, ..ReadOptions::default() };
        let table = match Format::from_ending(file) {
            Some(Format::Csv) => read_labels(file, b',', &options),
            Some(Format::Tsv) => read_labels(file, b'\t', &options),
            Some(Format::Npy) => open(file).and_then(of_array),
            _ => of_lines(file, decimal),
        };
        let table = table.map_err(|failure| failure.reading(file))?;
        Ok(FileLabels { file: file.to_owned(), table })
    }

    /// Puts the labels of some samples into their table, which need not hold the samples.
    ///
    /// # Errors
    /// For fewer labels than samples, and for more if these samples are the last.
    pub fn put(&self, rows: Range<usize>, is_last: bool, table: &mut Table) -> Result<()> {
        let Table { labels, indicators, .. } = &self.table;
        let n_labels = labels.as_ref().map(Labels::len).or(indicators.as_ref().map(Indicators::n_samples)).unwrap_or(0);
        if rows.end > n_labels || (is_last && rows.end < n_labels) {
            let relation = if is_last { "" } else { "at least " };
            let help =
                "the file has the label of one sample on each line, in the order of the samples and without a header";
            let text = format!("{n_labels} labels for {relation}{} samples", rows.end);
            return Err(Problem::new(text).help(help).of(&self.file));
        }
        table.labels = labels.as_ref().map(|labels| labels.select(&rows.clone().collect::<Vec<_>>()));
        table.indicators = indicators.as_ref().map(|indicators| indicators.part(rows));
        Ok(())
    }
}

/// Reads the group of each sample, as text: `1` and `01` are two groups. Blanks around a name do not count.
///
/// # Errors
/// [`IoError::Read`](crate::IoError::Read); [`IoError::Input`](crate::IoError::Input) for a file without groups, an empty
/// line before the last, and text that is not UTF-8.
pub fn read_groups(path: &Path) -> Result<Labels> {
    read_names(path, "group").map(Labels::new).map_err(|failure| failure.reading(path))
}

/// Text with one name on each line; `what` they name.
fn read_names(path: &Path, what: &str) -> Result<Vec<String>, Failure> {
    let mut bytes = Vec::new();
    TextInput::open(path, MAX_LINE)?.read_to_end(&mut bytes)?;
    let bytes = bytes.trim_ascii_end();
    if bytes.is_empty() {
        return Err(Problem::new(format!("no {what}s in the file")).into());
    }
    let read = |(number, line): (usize, &[u8])| {
        let found = match std::str::from_utf8(line).map(str::trim) {
            Ok("") => Err("the line is empty"),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err("the text is not UTF-8"),
        };
        let help = format!("the file has the {what} of one sample on each line");
        found.map_err(|problem| Problem::new(problem).help(help).at(format!("line {}", number + 1)))
    };
    bytes.split(|&byte| byte == b'\n').enumerate().map(read).collect()
}

/// The classes of a text, one on each line.
fn of_lines(path: &Path, decimal: Option<Decimal>) -> Result<Table, Failure> {
    let texts = read_names(path, "label")?;
    let numbers = Numbers::of(decimal, texts.iter().map(String::as_str), b'\n');
    let label = |(row, text): (usize, &String)| {
        label_of(text, numbers).map_err(|problem| problem.at(format!("line {}", row + 1)))
    };
    let labels: Vec<Label> = texts.iter().enumerate().map(label).collect::<Result<_, _>>()?;
    Ok(Table { labels: Some(Labels::new(labels)), ..Table::default() })
}

fn of_array(input: Input) -> Result<Table, Failure> {
    let mut array = Array::open(input)?;
    match array.header.shape[..] {
        [_] | [_, 1] => Ok(Table { labels: Some(Labels::new(array.labels()?)), ..Table::default() }),
        [_, _] => Ok(Table { indicators: Some(indicators_of(&mut array)?), ..Table::default() }),
        _ => Err(array.header.wrong_shape("one dimension, a label per sample, or two for multilabel samples").into()),
    }
}

/// A matrix, samples × labels, whose labels are called by their numbers from 0.
fn indicators_of(array: &mut Array<Input>) -> Result<Indicators, Failure> {
    let (n, k) = array.header.matrix()?;
    let values = array.values(n * k)?.into_doubles();
    let is_fortran = array.header.fortran;
    let values = if is_fortran { (0..n * k).map(|at| values[(at % k) * n + at / k]).collect() } else { values };
    if let Some(at) = values.iter().position(|value| !(value.is_nan() || [0.0, 1.0].contains(value))) {
        let (row, column, value) = (at / k + 1, at % k + 1, values[at]);
        let expected = "expected 1 for a label that the sample has, 0 or NaN";
        return Err(Problem::new(format!("row {row}, column {column}: {value}, {expected}")).into());
    }
    Ok(Indicators { names: (0..k as i64).map(Label::Integer).collect(), values, are_listed: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Labels> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups");
        std::fs::write(&path, bytes).unwrap();
        read_groups(&path)
    }

    #[test]
    fn a_line_is_a_group() {
        let groups = read(b"\xEF\xBB\xBF01\r\n 1 \r\nthe third\r\n01\r\n\r\n").unwrap();
        let names: Vec<String> = (0..groups.len()).map(|row| groups.get(row).to_string()).collect();
        assert_eq!(names, ["01", "1", "the third", "01"]);
        assert_eq!(read(b"a\nb").unwrap().len(), 2);
    }

    #[test]
    fn errors_name_the_line() {
        assert!(read(b"a\n\nb\n").unwrap_err().to_string().ends_with("line 2: the line is empty"));
        assert!(read(b"a\nb\nc\xFF\n").unwrap_err().to_string().ends_with("line 3: the text is not UTF-8"));
        for empty in [&b""[..], b"\n \n"] {
            assert!(read(empty).unwrap_err().to_string().contains(" in the file") || empty.is_empty());
        }
    }
}
