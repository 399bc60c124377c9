//! Writes rows of any format to a scratch file: in single precision, unless dense columns far from 0 need double.

use widemargin::data::{CsrMatrix, DenseMatrix, Element, Scratch, offsets_of};
use widemargin::{Error, Result};

use super::dense::DenseRows;
use super::rows::Rows;
use super::sparse::{SparseRows, WORD, pair};
use crate::ScratchFile;
use crate::table::Samples;

/// Rows being written.
#[derive(Debug)]
pub(super) struct Writer {
    scratch: ScratchFile,
    /// The approximate number of bytes buffered before writing.
    block_bytes: usize,
    n_rows: usize,
    n_cols: usize,
    /// Bytes written.
    bytes: u64,
    /// Whether dense rows are in double precision: those whose first block has columns far from 0.
    is_double: bool,
    /// The start of each sparse row among the values, and the end of the last.
    starts: Option<Vec<u64>>,
    /// Bytes that are not written yet.
    buffer: Vec<u8>,
}

impl Writer {
    pub fn new(scratch: ScratchFile, block_bytes: usize) -> Writer {
        let (n_rows, n_cols, bytes, is_double) = (0, 0, 0, false);
        Writer { scratch, block_bytes, n_rows, n_cols, bytes, is_double, starts: None, buffer: Vec::new() }
    }

    /// Appends rows: either all tables of a file are sparse, or none.
    pub fn append(&mut self, samples: &Samples) -> Result<()> {
        self.n_cols = self.n_cols.max(samples.n_cols());
        if let (Samples::DenseF64(matrix), 0) = (samples, self.n_rows) {
            self.is_double = offsets_of(&matrix.view()?, &vec![1.0; matrix.n_rows]).is_some();
        }
        self.n_rows += samples.n_rows();
        match samples {
            Samples::SparseF32(matrix) => self.append_sparse(matrix),
            Samples::SparseF64(matrix) => self.append_sparse(matrix),
            Samples::DenseF32(matrix) => self.append_dense(matrix),
            Samples::DenseF64(matrix) => self.append_dense(matrix),
            // Refused before the file was opened.
            Samples::Other(_) => Ok(()),
        }
    }

    /// Finishes writing; `n_features` is the specified number, if any.
    pub fn finish(mut self, n_features: Option<usize>) -> Result<Box<dyn Rows>> {
        let starts = self.starts.take();
        for start in starts.iter().flatten() {
            self.put(&start.to_le_bytes())?;
        }
        self.flush()?;
        let Writer { scratch, n_rows, n_cols, bytes, is_double, .. } = self;
        Ok(match starts {
            None => Box::new(DenseRows::scratch(scratch, n_rows, n_cols, is_double)),
            Some(_) => {
                let n_values = bytes as usize / WORD - (n_rows + 1);
                Box::new(SparseRows { scratch, n_rows, n_cols: n_features.unwrap_or(n_cols), n_values })
            }
        })
    }

    fn append_dense<T: Element>(&mut self, matrix: &DenseMatrix<T>) -> Result<()> {
        for (at, &value) in matrix.values.iter().enumerate() {
            let narrow = single(value, || (at / matrix.n_cols, at % matrix.n_cols))?;
            match self.is_double {
                true => self.put(&Into::<f64>::into(value).to_le_bytes())?,
                false => self.put(&narrow.to_le_bytes())?,
            }
        }
        Ok(())
    }

    fn append_sparse<T: Element>(&mut self, matrix: &CsrMatrix<T>) -> Result<()> {
        for (row, bounds) in matrix.indptr.windows(2).enumerate() {
            for at in bounds[0]..bounds[1] {
                let column = matrix.indices[at];
                self.put(&pair(column, single(matrix.values[at], || (row, column as usize))?))?;
            }
        }
        let starts = self.starts.get_or_insert_with(|| vec![0]);
        let before = starts[starts.len() - 1];
        starts.extend(matrix.indptr[1..].iter().map(|end| before + *end as u64));
        Ok(())
    }

    /// Appends bytes, and writes all that are not written yet once they are a block.
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= self.block_bytes { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.scratch.write(self.bytes, &self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// A value in single precision, where it is finite; `place` is its row and column.
fn single<T: Element>(value: T, place: impl FnOnce() -> (usize, usize)) -> Result<f32> {
    let value: f64 = value.into();
    if (value as f32).is_finite() {
        return Ok(value as f32);
    }
    let (row, column) = place();
    Err(Error::Value { row, column, value, problem: "is not a finite number in single precision" })
}
