//! Reads a CSV file in blocks.

use csv::ReaderBuilder;
use widemargin::data::{DenseMatrix, Label, Labels};

use super::columns::{Columns, is_missing, number};
use super::header::Header;
use super::records::Records;
use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::problem::{CsvProblem, shown};
use crate::reader::SampleReader;
use crate::shards::Layout;
use crate::table::{RowLines, Samples, Table};

/// Reads tables of successive lines.
#[derive(Debug)]
pub(crate) struct Reader {
    records: Records,
    columns: Columns,
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
        let mut builder = ReaderBuilder::new();
        let mut records = Records::new(input, builder.delimiter(delimiter).buffer_capacity(1 << 18))?;
        let columns = Columns::tell(&records, options)?;
        if columns.header.names.is_some() {
            records.skip_header();
        }
        Ok(Reader { records, columns })
    }

    fn table(&self, rows: ReadRows) -> Table {
        let Columns { header, label, .. } = &self.columns;
        let n_cols = header.n - usize::from(label.is_some());
        Table {
            samples: Samples::DenseF64(DenseMatrix { values: rows.values, n_rows: rows.n, n_cols }),
            labels: label.map(|_| Labels::new(rows.labels)),
            label_column: label.map(|label| header.called(label)),
            feature_names: header.feature_names(*label),
            lines: Some(rows.lines),
            ..Table::default()
        }
    }

    fn read_row(&mut self, rows: &mut ReadRows) -> Result<bool> {
        let Some(line) = self.records.next()? else { return Ok(false) };
        if self.records.record.len() != self.records.n {
            return Err(self.records.ragged(line));
        }
        for (column, cell) in self.records.record.iter().enumerate() {
            let cell = cell.trim_ascii();
            let read = if Some(column) == self.columns.label {
                label(cell).map(|label| rows.labels.push(label))
            } else {
                feature(cell, column, self.columns.is_label_given).map(|value| rows.values.push(value))
            };
            read.map_err(|p| self.records.problem(line, Some(self.columns.header.called(column)), p))?;
        }
        rows.lines.push(line);
        rows.n += 1;
        Ok(true)
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let mut rows = ReadRows::default();
        if let Samples::DenseF64(matrix) = &mut table.samples {
            rows.values = std::mem::take(&mut matrix.values);
            rows.values.clear();
        }
        let start = self.records.bytes();
        while self.records.bytes() - start < bytes as u64 && self.read_row(&mut rows)? {}
        let any = rows.n > 0;
        *table = self.table(rows);
        Ok(any)
    }

    fn layout(&self) -> Layout {
        let Header { names, n } = &self.columns.header;
        Layout { n: Some(*n), label: self.columns.label, beside: false, names: names.clone(), sparse: false }
    }

    fn read_all(&mut self) -> Result<Option<Table>> {
        let mut rows = ReadRows::default();
        while self.read_row(&mut rows)? {}
        if rows.n == 0 {
            return Err(IoError::Empty { file: self.records.file.clone(), what: "a header and no samples" });
        }
        rows.values.shrink_to_fit();
        Ok(Some(self.table(rows)))
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
