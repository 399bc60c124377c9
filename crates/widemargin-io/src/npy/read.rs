//! Reads an NPY file, completely or in blocks.

use std::io::BufReader;

use widemargin::data::{DenseMatrix, Element, Label, Labels};

use super::array::{Array, Values, not_finite};
use crate::csv;
use crate::error::{Failure, Problem};
use crate::input::Input;
use crate::options::{LabelColumn, ReadOptions};
use crate::reader::{Layout, SampleReader};
use crate::table::{Samples, Table};

/// Reads tables of consecutive rows.
pub(crate) struct Reader {
    pub array: Array<BufReader<Input>>,
    /// Size of the file in bytes, if it supports random access.
    pub length: Option<u64>,
    n_rows: usize,
    n_cols: usize,
    label: Option<usize>,
    next_row: usize,
}

impl Reader {
    pub fn new(input: Input, options: &ReadOptions) -> Result<Reader, Failure> {
        let length = input.length;
        let array = Array::open(BufReader::with_capacity(1 << 16, input))?;
        let (n_rows, n_cols) = array.header.matrix()?;
        length.map_or(Ok(()), |length| array.check_size(length))?;
        let label = label_column(&options.label, n_cols)?;
        Ok(Reader { array, length, n_rows, n_cols, label, next_row: 0 })
    }

    fn rows(&mut self, n_rows: usize) -> Result<Table, Failure> {
        match self.array.values(n_rows * self.n_cols)? {
            Values::F32(values) => self.table(values, n_rows),
            Values::F64(values) => self.table(values, n_rows),
        }
    }

    fn table<T: Element>(&mut self, values: Vec<T>, n_rows: usize) -> Result<Table, Failure>
    where
        Samples: From<DenseMatrix<T>>,
    {
        let mut matrix = dense(values, n_rows, self.n_cols, self.array.header.fortran, self.next_row)?;
        self.next_row += n_rows;
        if self.next_row == self.n_rows {
            self.array.check_end()?;
        }
        let labels = self.label.map(|column| Labels::new(take_column(&mut matrix, column)));
        let label_column = self.label.map(|column| (column + 1).to_string());
        Ok(Table { label_column, ..Table::new(matrix.into(), labels) })
    }
}

impl SampleReader for Reader {
    fn next(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure> {
        drop(spent);
        let left = self.n_rows - self.next_row;
        let block_rows = (bytes / self.n_cols.saturating_mul(self.array.header.dtype.size).max(1)).max(1);
        // The rows of a column-major array are scattered over the file.
        let n_rows = if self.array.header.fortran { left } else { block_rows.min(left) };
        if n_rows == 0 { Ok(None) } else { self.rows(n_rows).map(Some) }
    }

    fn layout(&self) -> Layout {
        Layout { n: Some(self.n_cols), label: self.label, ..Layout::default() }
    }
}

/// The values in row-major order. The first row is row `first_row` of the array.
///
/// # Errors
/// The first value that is not finite.
pub(crate) fn dense<T: Element>(
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
    fortran: bool,
    first_row: usize,
) -> Result<DenseMatrix<T>, Problem> {
    let by_rows = || (0..n_rows).flat_map(|row| (0..n_cols).map(move |column| column * n_rows + row));
    let values = if fortran { by_rows().map(|at| values[at]).collect() } else { values };
    let is_bad = |value: &T| !Into::<f64>::into(*value).is_finite();
    match values.iter().position(is_bad) {
        None => Ok(DenseMatrix { values, n_rows, n_cols }),
        Some(at) => Err(not_finite(first_row + at / n_cols, at % n_cols, values[at].into())),
    }
}

/// Takes a column of labels out of a matrix.
fn take_column<T: Element>(matrix: &mut DenseMatrix<T>, column: usize) -> Vec<Label> {
    let n_cols = matrix.n_cols;
    // A class label written as a number: `1.0` is the class 1.
    let label = |row: &[T]| Label::parse(&Into::<f64>::into(row[column]).to_string());
    let labels = matrix.values.chunks_exact(n_cols).map(label).collect();
    drop_column(&mut matrix.values, column, n_cols);
    matrix.n_cols -= 1;
    labels
}

/// Drops a column of row-major values.
pub(crate) fn drop_column<T>(values: &mut Vec<T>, column: usize, n_cols: usize) {
    // The number of values before the next one of the column.
    let mut n_before = column;
    values.retain(|_| {
        let is_kept = n_before > 0;
        n_before = if is_kept { n_before - 1 } else { n_cols - 1 };
        is_kept
    });
}

fn label_column(label: &LabelColumn, n_cols: usize) -> Result<Option<usize>, Problem> {
    match label {
        LabelColumn::Name(_) => Err(label.refused("the columns of an array have numbers, not names")),
        LabelColumn::Number(_) if n_cols == 1 => Err(label.refused("it is the only column")),
        label => csv::Header { names: None, n: n_cols }.label(label),
    }
}
