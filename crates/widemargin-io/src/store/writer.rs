//! Writes rows of any format to a scratch file: in single precision, unless dense columns far from 0 need double.

use widemargin::data::{CsrMatrix, DenseMatrix, Element, Scratch, offsets_of};
use widemargin::{Error, Result};

use super::dense::DenseRows;
use super::rows::Rows;
use super::sparse::{Block, SparseRows};
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
    /// The blocks of sparse rows.
    blocks: Option<Vec<Block>>,
    /// Bytes that are not written yet, and sparse rows that are not bytes yet.
    buffer: Vec<u8>,
    pending: CsrMatrix<f32>,
}

impl Writer {
    pub fn new(scratch: ScratchFile, block_bytes: usize) -> Writer {
        let (n_rows, n_cols, bytes, is_double, blocks) = (0, 0, 0, false, None);
        let (buffer, pending) = (Vec::new(), CsrMatrix::empty(0));
        Writer { scratch, block_bytes, n_rows, n_cols, bytes, is_double, blocks, buffer, pending }
    }

    /// Appends rows: either all tables of a file are sparse, or none.
    pub fn append(&mut self, samples: &Samples) -> Result<()> {
        self.n_cols = self.n_cols.max(samples.n_cols());
        if let (Samples::DenseF64(matrix), 0) = (samples, self.n_rows) {
            self.is_double = offsets_of(&matrix.view()?, &vec![1.0; matrix.n_rows]).is_some();
        }
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
        self.flush()?;
        let Writer { scratch, n_rows, n_cols, bytes, is_double, blocks, .. } = self;
        Ok(match blocks {
            None => Box::new(DenseRows::scratch(scratch, n_rows, n_cols, is_double)),
            Some(blocks) => Box::new(SparseRows { scratch, n_cols: n_features.unwrap_or(n_cols), blocks, bytes }),
        })
    }

    fn append_dense<T: Element>(&mut self, matrix: &DenseMatrix<T>) -> Result<()> {
        for (row, values) in matrix.values.chunks_exact(matrix.n_cols.max(1)).enumerate() {
            for (column, &value) in values.iter().enumerate() {
                let narrow = single(value, row, column)?;
                match self.is_double {
                    true => self.buffer.extend_from_slice(&Into::<f64>::into(value).to_le_bytes()),
                    false => self.buffer.extend_from_slice(&narrow.to_le_bytes()),
                }
            }
            self.n_rows += 1;
            if self.buffer.len() >= self.block_bytes {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn append_sparse<T: Element>(&mut self, matrix: &CsrMatrix<T>) -> Result<()> {
        self.blocks.get_or_insert_default();
        for (row, bounds) in matrix.indptr.windows(2).enumerate() {
            for at in bounds[0]..bounds[1] {
                self.pending.indices.push(matrix.indices[at]);
                self.pending.values.push(single(matrix.values[at], row, matrix.indices[at] as usize)?);
            }
            self.pending.indptr.push(self.pending.values.len());
            self.n_rows += 1;
            if 8 * self.pending.values.len() + 4 * self.pending.indptr.len() >= self.block_bytes {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the rows that are not written yet.
    fn flush(&mut self) -> Result<()> {
        let (n_rows, n_values) = (self.pending.indptr.len() - 1, self.pending.values.len());
        if let (Some(blocks), 1..) = (&mut self.blocks, n_rows) {
            let CsrMatrix { indptr, indices, values, .. } = std::mem::replace(&mut self.pending, CsrMatrix::empty(0));
            // A block ends soon after it reaches its size, and a row has at most as many values as there are columns.
            let starts = indptr.into_iter().map(|start| start as u32);
            self.buffer.extend(starts.chain(indices).flat_map(u32::to_le_bytes));
            self.buffer.extend(values.into_iter().flat_map(f32::to_le_bytes));
            blocks.push(Block { first_row: self.n_rows - n_rows, n_rows, n_values, at: self.bytes });
        }
        self.scratch.write(self.bytes, &self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// A value in single precision, where it is finite.
fn single<T: Element>(value: T, row: usize, column: usize) -> Result<f32> {
    let value: f64 = value.into();
    match value as f32 {
        narrow if narrow.is_finite() => Ok(narrow),
        _ => Err(Error::Value { row, column, value, problem: "is not a finite number in single precision" }),
    }
}
