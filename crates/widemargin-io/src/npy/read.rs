//! Reads an NPY file, completely or in blocks.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use widemargin::data::{DenseMatrix, Element, Label, Labels};

use super::data::{Values, expect_end, read_values};
use super::{Element as Stored, Failure, Header};
use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::{LabelColumn, ReadOptions};
use crate::problem::ArrayProblem;
use crate::reader::SampleReader;
use crate::shards::Layout;
use crate::table::{Samples, Table};

/// Rows that support random access.
#[derive(Debug)]
pub(crate) struct Placed {
    pub n_rows: usize,
    /// Number of columns, including the label's.
    pub n_cols: usize,
    pub element: Stored,
    /// Bytes before the first row.
    pub start: u64,
}

/// Reads tables of consecutive rows.
#[derive(Debug)]
pub(crate) struct Reader {
    file: PathBuf,
    reader: BufReader<Input>,
    header: Header,
    /// Size of the file in bytes, if it supports random access.
    length: Option<u64>,
    n_rows: usize,
    n_cols: usize,
    label: Option<usize>,
    next_row: usize,
}

impl Reader {
    pub fn new(input: Input, options: &ReadOptions) -> Result<Reader> {
        let (file, length) = (input.file.clone(), input.length);
        let mut reader = BufReader::with_capacity(1 << 16, input);
        let failed = |failure| array_error(&file, failure);
        let header = Header::read(&mut reader).map_err(failed)?;
        let (n_rows, n_cols) = header.matrix().map_err(|problem| failed(problem.into()))?;
        let claimed = header.n_bytes().map_err(|problem| failed(problem.into()))?;
        if let Some(found) = length.map(|length| length.saturating_sub(header.length)).filter(|found| *found < claimed)
        {
            return Err(failed(ArrayProblem::Truncated { claimed, found }.into()));
        }
        let label = label_column(&file, &options.label, n_cols)?;
        Ok(Reader { file, reader, header, length, n_rows, n_cols, label, next_row: 0 })
    }

    /// The location of the rows; `None` unless the file supports random access.
    pub fn placed(&self) -> Result<Option<Placed>> {
        let (Some(length), Some(element), false) = (self.length, Stored::of(&self.header.dtype), self.header.fortran)
        else {
            return Ok(None);
        };
        let claimed = self.n_bytes();
        if length > self.header.length + claimed {
            return Err(array_error(&self.file, ArrayProblem::Trailing { claimed }.into()));
        }
        Ok(Some(Placed { n_rows: self.n_rows, n_cols: self.n_cols, element, start: self.header.length }))
    }

    /// The bytes that must be in memory at once, if the whole array must be.
    pub fn whole_bytes(&self) -> Option<u64> {
        self.header.fortran.then(|| self.n_bytes())
    }

    fn n_bytes(&self) -> u64 {
        (self.n_rows * self.n_cols * self.header.dtype.size) as u64
    }

    fn rows(&mut self, n_rows: usize) -> Result<Table, Failure> {
        let n = n_rows * self.n_cols;
        let values = read_values(&mut self.reader, &self.header.dtype, n).map_err(|failure| match failure {
            Failure::Problem(ArrayProblem::Truncated { found, .. }) => {
                let before = (self.next_row * self.n_cols * self.header.dtype.size) as u64;
                ArrayProblem::Truncated { claimed: self.n_bytes(), found: before + found }.into()
            }
            other => other,
        })?;
        let samples = dense(values, n_rows, self.n_cols, self.header.fortran);
        find_non_finite(&samples).map_err(|problem| match problem {
            ArrayProblem::NotFinite { row, column, value } => {
                ArrayProblem::NotFinite { row: self.next_row + row, column, value }
            }
            other => other,
        })?;
        self.next_row += n_rows;
        if self.next_row == self.n_rows {
            let claimed = self.n_bytes();
            expect_end(&mut self.reader, claimed)?;
        }
        Ok(match self.label {
            None => Table::new(samples, None),
            Some(column) => {
                let (samples, labels) = match samples {
                    Samples::DenseF32(matrix) => take_column(matrix, column, Samples::DenseF32),
                    Samples::DenseF64(matrix) => take_column(matrix, column, Samples::DenseF64),
                    sparse => (sparse, Vec::new()),
                };
                let label_column = Some((column + 1).to_string());
                Table { label_column, ..Table::new(samples, Some(Labels::new(labels))) }
            }
        })
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let left = self.n_rows - self.next_row;
        let block_rows = (bytes / self.n_cols.saturating_mul(self.header.dtype.size).max(1)).max(1);
        // The rows of a column-major array are scattered over the file.
        let n_rows = if self.header.fortran { left } else { block_rows.min(left) };
        if n_rows == 0 {
            return Ok(false);
        }
        *table = self.rows(n_rows).map_err(|failure| array_error(&self.file, failure))?;
        Ok(true)
    }

    fn layout(&self) -> Layout {
        Layout { n: Some(self.n_cols), label: self.label, ..Layout::default() }
    }
}

/// The values in row-major order.
pub(crate) fn dense(values: Values, n_rows: usize, n_cols: usize, fortran: bool) -> Samples {
    fn matrix<T: Element>(values: Vec<T>, n_rows: usize, n_cols: usize, fortran: bool) -> DenseMatrix<T> {
        if !fortran {
            return DenseMatrix { values, n_rows, n_cols };
        }
        let by_rows = (0..n_rows).flat_map(|row| (0..n_cols).map(move |column| column * n_rows + row));
        DenseMatrix { values: by_rows.map(|at| values[at]).collect(), n_rows, n_cols }
    }
    match values {
        Values::F32(values) => Samples::DenseF32(matrix(values, n_rows, n_cols, fortran)),
        Values::F64(values) => Samples::DenseF64(matrix(values, n_rows, n_cols, fortran)),
    }
}

/// Reports the first non-finite value of dense samples.
pub(crate) fn find_non_finite(samples: &Samples) -> Result<(), ArrayProblem> {
    fn find<T: Element>(matrix: &DenseMatrix<T>) -> Result<(), ArrayProblem> {
        let not_finite = |value: &T| !Into::<f64>::into(*value).is_finite();
        match matrix.values.iter().position(not_finite) {
            None => Ok(()),
            Some(at) => Err(ArrayProblem::NotFinite {
                row: at / matrix.n_cols,
                column: at % matrix.n_cols,
                value: matrix.values[at].into(),
            }),
        }
    }
    match samples {
        Samples::DenseF32(matrix) => find(matrix),
        Samples::DenseF64(matrix) => find(matrix),
        Samples::SparseF32(_) | Samples::SparseF64(_) | Samples::Other(_) => Ok(()),
    }
}

fn take_column<T: Element>(
    matrix: DenseMatrix<T>,
    column: usize,
    samples: impl Fn(DenseMatrix<T>) -> Samples,
) -> (Samples, Vec<Label>) {
    let DenseMatrix { mut values, n_rows, n_cols } = matrix;
    let labels = values.chunks_exact(n_cols).map(|row| label(row[column].into())).collect();
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        (at - 1) % n_cols != column
    });
    (samples(DenseMatrix { values, n_rows, n_cols: n_cols - 1 }), labels)
}

/// A class label written as a number: `1.0` is the class 1.
fn label(number: f64) -> Label {
    Label::parse(&number.to_string())
}

fn label_column(file: &Path, label: &LabelColumn, n_cols: usize) -> Result<Option<usize>> {
    let refused = |reason: String| Err(label.refused(file, reason));
    match label {
        LabelColumn::Auto | LabelColumn::None => Ok(None),
        LabelColumn::Indicators(_) => refused("one column is needed".into()),
        LabelColumn::Name(_) => refused("the columns of an array have numbers, not names".into()),
        LabelColumn::Number(_) if n_cols == 1 => refused("it is the only column".into()),
        LabelColumn::Number(number) => match LabelColumn::position(*number, n_cols) {
            Some(column) => Ok(Some(column)),
            None => refused(format!("there are {n_cols} columns")),
        },
    }
}

fn array_error(file: &Path, failure: Failure) -> IoError {
    match failure {
        Failure::System(source) => IoError::reading(file)(source),
        Failure::Problem(problem) => IoError::Array { file: file.to_owned(), array: None, problem },
    }
}
