//! Labels in a separate file: text, one label per line, or a NumPy vector; of multilabel samples a table with one
//! column per label, or a NumPy matrix. Groups of samples: text, one name per line.

use std::cmp::Ordering;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use widemargin::data::{Decimal, Label, Labels};

use crate::Format;
use crate::csv::{Numbers, Records, label as label_of};
use crate::error::{Failure, IoError, Result};
use crate::indicators::{self, Indicators, of_table};
use crate::input::{Input, open};
use crate::npy::Array;
use crate::options::ReadOptions;
use crate::problem::Problem;
use crate::reader::SampleReader;
use crate::shards::Layout;
use crate::table::Table;
use crate::text_input::open_text;

/// The labels of a file.
#[derive(Debug)]
enum FileLabels {
    Classes(Vec<Label>),
    Indicators(Indicators),
}

impl FileLabels {
    /// The labels of a file: of a `.npy` file a vector, or a column, of integers or text, or a matrix of indicators; of
    /// a `.csv` or `.tsv` file the columns of indicators, or one column of classes; otherwise text with one label per
    /// line in the order of the samples and no header. The decimal mark is by default determined from the text.
    fn read(path: &Path, decimal: Option<Decimal>) -> Result<FileLabels> {
        let delimiter = match Format::from_ending(path) {
            Some(Format::Csv) => Some(b','),
            Some(Format::Tsv) => Some(b'\t'),
            Some(Format::Npy) => return of_array(open(path)?).map_err(|failure| failure.reading(path)),
            _ => None,
        };
        if let Some(delimiter) = delimiter {
            let options = ReadOptions { decimal, ..ReadOptions::default() };
            let records = Records::new(open_text(path)?, delimiter, true, &options)?;
            return if records.n == 1 { of_column(records) } else { of_table(records).map(FileLabels::Indicators) };
        }
        let texts = read_names(path, "no labels in the file", "the file has the label of one sample on each line")?;
        let numbers = Numbers::of(decimal, texts.iter().map(String::as_bytes), b'\n');
        let label = |(row, text): (usize, &String)| {
            label_of(text.as_bytes(), numbers).map_err(|problem| problem.at(path, format!("line {}", row + 1)))
        };
        texts.iter().enumerate().map(label).collect::<Result<_>>().map(FileLabels::Classes)
    }

    fn len(&self) -> usize {
        match self {
            FileLabels::Classes(labels) => labels.len(),
            FileLabels::Indicators(indicators) => indicators.n_samples(),
        }
    }

    /// Puts the labels of some samples into their table.
    fn put(&self, rows: Range<usize>, table: &mut Table) {
        match self {
            FileLabels::Classes(labels) => table.labels = Some(Labels::new(labels[rows].iter().cloned())),
            FileLabels::Indicators(indicators) => table.indicators = Some(indicators.part(rows)),
        }
    }

    /// Puts the labels of all samples into their table, which need not hold the samples.
    fn put_all(&self, file: &Path, n_samples: usize, table: &mut Table) -> Result<()> {
        if n_samples != self.len() {
            return Err(self.wrong_number(file, "", n_samples));
        }
        self.put(0..n_samples, table);
        Ok(())
    }

    /// The error of another number of samples.
    fn wrong_number(&self, file: &Path, relation: &str, samples: usize) -> IoError {
        Problem::new(format!("{} labels for {relation}{samples} samples", self.len()))
            .help("the file has the label of one sample on each line, in the order of the samples and without a header")
            .of(file)
    }
}

/// Reads the group of each sample, as text: `1` and `01` are two groups. Blanks around a name do not count.
///
/// # Errors
/// [`IoError::Read`]; [`IoError::Input`] for a file without groups, an empty line before the last, and text that is not
/// UTF-8.
pub fn read_groups(path: &Path) -> Result<Labels> {
    let help = "the file has the group of one sample on each line";
    Ok(Labels::new(read_names(path, "no groups in the file", help)?))
}

/// Text with one name on each line.
fn read_names(path: &Path, empty: &str, help: &'static str) -> Result<Vec<String>> {
    let mut bytes = Vec::new();
    open_text(path)?.read_to_end(&mut bytes).map_err(IoError::reading(path))?;
    let bytes = bytes.trim_ascii_end();
    if bytes.is_empty() {
        return Err(Problem::new(empty).of(path));
    }
    let read = |(number, line): (usize, &[u8])| {
        let found = match std::str::from_utf8(line).map(str::trim) {
            Ok("") => Err("the line is empty"),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err("the text is not UTF-8"),
        };
        found.map_err(|problem| Problem::new(problem).help(help).at(path, format!("line {}", number + 1)))
    };
    bytes.split(|&byte| byte == b'\n').enumerate().map(read).collect()
}

/// The classes of a table of one column, with or without a header.
fn of_column(mut records: Records) -> Result<FileLabels> {
    if records.has_names() {
        records.skip_header();
    }
    let mut labels = Vec::new();
    while let Some(line) = records.next()? {
        let cell = records.record.get(0).unwrap_or_default().trim_ascii();
        labels.push(label_of(cell, records.numbers).map_err(|problem| records.problem(line, None, problem))?);
    }
    Ok(FileLabels::Classes(labels))
}

fn of_array(input: Input) -> Result<FileLabels, Failure> {
    let mut array = Array::open(input)?;
    match array.header.shape[..] {
        [_] | [_, 1] => Ok(FileLabels::Classes(array.labels()?)),
        [_, _] => Ok(FileLabels::Indicators(indicators::of_array(&mut array)?)),
        _ => Err(array.header.wrong_shape("one dimension, a label per sample, or two for multilabel samples").into()),
    }
}

/// Samples of one file with the labels of another.
pub(crate) struct WithLabels {
    samples: Box<dyn SampleReader>,
    labels: FileLabels,
    file: PathBuf,
    next: usize,
}

impl WithLabels {
    pub fn new(samples: Box<dyn SampleReader>, file: &Path, decimal: Option<Decimal>) -> Result<Self> {
        Ok(WithLabels { samples, labels: FileLabels::read(file, decimal)?, file: file.to_owned(), next: 0 })
    }
}

impl SampleReader for WithLabels {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let any = self.samples.next_into(bytes, table)?;
        let rows = self.next..self.next + if any { table.samples.n_rows() } else { 0 };
        match rows.end.cmp(&self.labels.len()) {
            Ordering::Greater => return Err(self.labels.wrong_number(&self.file, "at least ", rows.end)),
            Ordering::Less if !any => return Err(self.labels.wrong_number(&self.file, "", rows.end)),
            _ => self.next = rows.end,
        }
        if any {
            self.labels.put(rows, table);
        }
        Ok(any)
    }

    fn layout(&self) -> Layout {
        self.samples.layout()
    }

    fn read_all(&mut self) -> Result<Option<Table>> {
        let Some(mut table) = self.samples.read_all()? else { return Ok(None) };
        self.labels.put_all(&self.file, table.samples.n_rows(), &mut table)?;
        Ok(Some(table))
    }
}

/// Adds the labels of a file to a table of `n` samples, which need not be in it.
pub(crate) fn label_rows(table: &mut Table, path: &Path, n: usize, decimal: Option<Decimal>) -> Result<()> {
    FileLabels::read(path, decimal)?.put_all(path, n, table)
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
