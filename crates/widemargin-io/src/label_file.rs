//! Labels in a separate file: text, one label per line, or a NumPy vector; of multilabel samples a table with one column
//! per label, or a NumPy matrix.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use widemargin::data::{Label, Labels};

use crate::csv::{Records, is_missing, label as label_of};
use crate::error::{IoError, Result};
use crate::indicators::{self, Indicators, delimiter_of, of_table};
use crate::input::{Input, open};
use crate::npy::{self, Failure, Header};
use crate::options::ReadOptions;
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
    fn len(&self) -> usize {
        match self {
            FileLabels::Classes(labels) => labels.len(),
            FileLabels::Indicators(indicators) => indicators.n_samples(),
        }
    }
}

/// The labels of a file: of a `.npy` file a vector of integers or text, or a matrix of indicators; of a `.csv` or `.tsv` file
/// the columns of indicators, or one column of classes; otherwise text with one label per line in the order of the samples and no header.
fn read_labels(path: &Path) -> Result<FileLabels> {
    if let Some(delimiter) = delimiter_of(path) {
        let records = Records::new(open_text(path)?, delimiter, &ReadOptions::default())?;
        return if records.n == 1 { of_column(records) } else { of_table(records).map(FileLabels::Indicators) };
    }
    let is_array = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    if is_array {
        return of_array(&mut open(path)?).map_err(|failure| match failure {
            Failure::System(source) => IoError::reading(path)(source),
            Failure::Problem(problem) => IoError::Array { file: path.to_owned(), array: None, problem },
        });
    }
    let mut bytes = Vec::new();
    open_text(path)?.read_to_end(&mut bytes).map_err(IoError::reading(path))?;
    let bytes = bytes.trim_ascii_end();
    if bytes.is_empty() {
        return Err(IoError::Empty { file: path.to_owned(), what: "no labels in the file" });
    }
    let one = |(number, line): (usize, &[u8])| match std::str::from_utf8(line).map(str::trim) {
        Ok("") => Err((number, "the line is empty")),
        Ok(label) if is_missing(label.as_bytes()) && !label.eq_ignore_ascii_case("none") => {
            Err((number, "the label is missing"))
        }
        Ok(label) => Ok(Label::parse(label)),
        Err(_) => Err((number, "the text is not UTF-8")),
    };
    let labels = bytes.split(|&byte| byte == b'\n').enumerate().map(one).collect::<Result<Vec<_>, _>>();
    let labels =
        labels.map_err(|(number, problem)| IoError::Group { file: path.to_owned(), line: number + 1, problem });
    labels.map(FileLabels::Classes)
}

/// The classes of a table of one column, with or without a header.
fn of_column(mut records: Records) -> Result<FileLabels> {
    if records.has_names() {
        records.skip_header();
    }
    let mut labels = Vec::new();
    while let Some(line) = records.next()? {
        let cell = records.record.get(0).unwrap_or_default().trim_ascii();
        labels.push(label_of(cell).map_err(|problem| records.problem(line, None, problem))?);
    }
    Ok(FileLabels::Classes(labels))
}

fn of_array(input: &mut Input) -> Result<FileLabels, Failure> {
    let header = Header::read(input)?;
    let n = match header.shape[..] {
        [n] => n,
        [_, _] => return Ok(FileLabels::Indicators(indicators::of_array(input, &header)?)),
        _ => {
            return Err(header.wrong_shape("one dimension, a label per sample, or two for multilabel samples").into());
        }
    };
    Ok(FileLabels::Classes(npy::read_labels(input, &header.dtype, n)?))
}

/// Samples of one file with the labels of another.
#[derive(Debug)]
pub(crate) struct WithLabels {
    samples: Box<dyn SampleReader>,
    labels: FileLabels,
    file: PathBuf,
    next: usize,
}

impl WithLabels {
    pub fn new(samples: Box<dyn SampleReader>, file: &Path) -> Result<Self> {
        Ok(WithLabels { samples, labels: read_labels(file)?, file: file.to_owned(), next: 0 })
    }

    /// The labels of the next samples.
    fn label(&mut self, table: &mut Table) -> Result<()> {
        let n = table.samples.n_rows();
        let rows = self.next..self.next + n;
        if rows.end > self.labels.len() {
            return Err(self.wrong_number("at least ", rows.end));
        }
        match &self.labels {
            FileLabels::Classes(labels) => table.labels = Some(Labels::new(labels[rows].iter().cloned())),
            FileLabels::Indicators(indicators) => table.indicators = Some(indicators.part(rows)),
        }
        self.next += n;
        Ok(())
    }

    fn wrong_number(&self, relation: &'static str, samples: usize) -> IoError {
        IoError::LabelCount { file: self.file.clone(), labels: self.labels.len(), samples, relation }
    }

    fn check_end(&self) -> Result<()> {
        if self.next == self.labels.len() { Ok(()) } else { Err(self.wrong_number("", self.next)) }
    }
}

impl SampleReader for WithLabels {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        if !self.samples.next_into(bytes, table)? {
            self.check_end()?;
            return Ok(false);
        }
        self.label(table)?;
        Ok(true)
    }

    fn layout(&self) -> Layout {
        self.samples.layout()
    }

    fn read_all(&mut self) -> Result<Option<Table>> {
        let Some(mut table) = self.samples.read_all()? else { return Ok(None) };
        self.label(&mut table)?;
        self.check_end()?;
        Ok(Some(table))
    }
}

/// Adds the labels of a file to a table with the same number of samples.
pub(crate) fn label(table: &mut Table, path: &Path) -> Result<()> {
    let n = table.samples.n_rows();
    label_rows(table, path, n)
}

/// The same for `n` samples that are not in the table.
pub(crate) fn label_rows(table: &mut Table, path: &Path, n: usize) -> Result<()> {
    let labels = read_labels(path)?;
    if labels.len() != n {
        let (file, relation) = (path.to_owned(), "");
        return Err(IoError::LabelCount { file, labels: labels.len(), samples: n, relation });
    }
    match labels {
        FileLabels::Classes(labels) => table.labels = Some(Labels::new(labels)),
        FileLabels::Indicators(indicators) => table.indicators = Some(indicators),
    }
    Ok(())
}
