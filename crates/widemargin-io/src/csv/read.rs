//! Reads a CSV file in blocks.

use std::io::{Chain, Read};
use std::path::{Path, PathBuf};

use csv::ByteRecord;
use widemargin::data::{DenseMatrix, Label, Labels};

use super::columns::{Columns, is_missing, number};
use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::problem::{CsvProblem, excerpt};
use crate::shards::Layout;
use crate::table::{RowLines, Samples, Table};

/// The file followed by a newline, so that every line ends with one.
pub(crate) type Bytes = Chain<Input, &'static [u8]>;

/// Reads tables of successive lines.
#[derive(Debug)]
pub(crate) struct Reader {
    file: PathBuf,
    csv: csv::Reader<Bytes>,
    /// The first lines, which were read to determine the columns and are returned again as rows.
    ahead: std::vec::IntoIter<(ByteRecord, usize)>,
    columns: Columns,
    first_line: usize,
    record: ByteRecord,
    block_bytes: u64,
}

/// The rows read so far.
#[derive(Debug, Default)]
struct ReadRows {
    values: Vec<f64>,
    labels: Vec<Label>,
    lines: RowLines,
    n: usize,
}

impl Reader {
    pub fn new(input: Input, delimiter: u8, options: &ReadOptions) -> Result<Reader> {
        let file = input.file.clone();
        // This crate checks row lengths and headers itself, to report the line. The carriage return of a line end is
        // white space of the last cell, so that line counts remain correct.
        let mut csv = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 18)
            .from_reader(input.chain(b"\n".as_slice()));
        let mut ahead = Vec::new();
        while ahead.len() < 2 {
            let mut record = ByteRecord::new();
            match next_line(&file, &mut csv, &mut record)? {
                Some(line) => ahead.push((record, line)),
                None => break,
            }
        }
        let Some((first, first_line)) = ahead.first() else {
            return Err(IoError::Empty { file, what: "no samples in the file" });
        };
        let first_line = *first_line;
        let columns = Columns::tell(&file, (first, first_line), ahead.get(1).map(|(record, _)| record), options)?;
        if columns.names.is_some() {
            ahead.remove(0);
        }
        let block_bytes = options.block_bytes() as u64;
        let (ahead, record) = (ahead.into_iter(), ByteRecord::new());
        Ok(Reader { file, csv, ahead, columns, first_line, record, block_bytes })
    }

    /// Reads the next rows into `table`, reusing its memory; false at the end.
    pub fn next_into(&mut self, table: &mut Table) -> Result<bool> {
        let mut rows = ReadRows::default();
        if let Samples::DenseF64(matrix) = &mut table.samples {
            rows.values = std::mem::take(&mut matrix.values);
            rows.values.clear();
        }
        let start = self.csv.position().byte();
        while self.csv.position().byte() - start < self.block_bytes && self.read_row(&mut rows)? {}
        let any = rows.n > 0;
        *table = self.table(rows);
        Ok(any)
    }

    /// The columns.
    pub fn layout(&self) -> Layout {
        let Columns { names, label, n, .. } = &self.columns;
        Layout { n: Some(*n), label: *label, beside: false, names: names.clone(), sparse: false }
    }

    /// All rows.
    pub fn read_all(mut self) -> Result<Table> {
        let mut rows = ReadRows::default();
        while self.read_row(&mut rows)? {}
        if rows.n == 0 {
            return Err(IoError::Empty { file: self.file, what: "a header and no samples" });
        }
        rows.values.shrink_to_fit();
        Ok(self.table(rows))
    }

    fn table(&self, rows: ReadRows) -> Table {
        let n_cols = self.columns.n - usize::from(self.columns.label.is_some());
        Table {
            samples: Samples::DenseF64(DenseMatrix { values: rows.values, n_rows: rows.n, n_cols }),
            labels: self.columns.label.map(|_| Labels::new(rows.labels)),
            label_column: self.columns.label.map(|label| self.columns.called(label)),
            feature_names: self.columns.feature_names(),
            lines: Some(rows.lines),
            ..Table::default()
        }
    }

    fn read_row(&mut self, rows: &mut ReadRows) -> Result<bool> {
        let next = match self.ahead.next() {
            Some((record, line)) => {
                self.record = record;
                Some(line)
            }
            None => next_line(&self.file, &mut self.csv, &mut self.record)?,
        };
        let Some(line) = next else {
            return Ok(false);
        };
        if self.record.len() != self.columns.n {
            let (found, expected) = (self.record.len(), self.columns.n);
            let problem = CsvProblem::Ragged { found, expected, as_in_line: self.first_line };
            return Err(IoError::Csv { file: self.file.clone(), line, column: None, problem });
        }
        for (column, cell) in self.record.iter().enumerate() {
            let cell = cell.trim_ascii();
            let read = if Some(column) == self.columns.label {
                label(cell).map(|label| rows.labels.push(label))
            } else {
                feature(cell, column, self.columns.is_label_given).map(|value| rows.values.push(value))
            };
            read.map_err(|problem| IoError::Csv {
                file: self.file.clone(),
                line,
                column: Some(self.columns.called(column)),
                problem,
            })?;
        }
        rows.lines.push(line);
        rows.n += 1;
        Ok(true)
    }
}

fn feature(cell: &[u8], column: usize, is_label_given: bool) -> Result<f64, CsvProblem> {
    match number(cell) {
        Some(value) if value.is_finite() => Ok(value),
        _ if is_missing(cell) => Err(CsvProblem::Missing),
        Some(_) => Err(CsvProblem::NotFinite(shown(cell))),
        None => Err(CsvProblem::NotANumber { cell: shown(cell), column: column + 1, is_label_given }),
    }
}

pub(crate) fn label(cell: &[u8]) -> Result<Label, CsvProblem> {
    match std::str::from_utf8(cell) {
        Ok("") => Err(CsvProblem::Missing),
        Ok(text) => Ok(Label::parse(text)),
        Err(_) => Err(CsvProblem::NotText),
    }
}

fn shown(cell: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(&cell[..cell.len().min(160)]))
}

/// Reads the next non-blank line, and returns its number.
pub(crate) fn next_line(file: &Path, csv: &mut csv::Reader<Bytes>, record: &mut ByteRecord) -> Result<Option<usize>> {
    loop {
        // With flexible rows of bytes only I/O can fail.
        if !csv.read_byte_record(record).map_err(|error| IoError::reading(file)(error.into()))? {
            return Ok(None);
        }
        if record.len() > 1 || !record.as_slice().trim_ascii().is_empty() {
            // A record's position is before the preceding blank lines, so lines are counted from its end.
            let within = memchr::memchr_iter(b'\n', record.as_slice()).count();
            let start = record.position().map_or(1, |position| position.line());
            return Ok(Some(csv.position().line().saturating_sub(1 + within as u64).max(start) as usize));
        }
    }
}
