//! Rows in a scratch file, for every format but NPY: in single precision, unless dense columns far from 0 need double.
//!
//! Dense rows are contiguous. Sparse ones are stored in blocks of some thousand rows: the end of each row, all columns,
//! all values, four bytes each; an in-memory index has the start of each block.

use std::ops::Range;

use widemargin::data::{CsrMatrix, DenseMatrix, Element, Scratch, Vectors, offsets_of};
use widemargin::{Error, Result};

use crate::ScratchFile;
use crate::table::Samples;

/// A value that is not finite in single precision.
#[derive(Debug)]
pub(super) struct TooLarge {
    pub row: usize,
    pub column: usize,
    pub value: f64,
}

/// Why rows were not written.
#[derive(Debug)]
pub(super) enum Failure {
    Value(TooLarge),
    Scratch(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Scratch(error)
    }
}

/// The rows after writing.
#[derive(Debug)]
pub(super) struct Written {
    scratch: ScratchFile,
    n_rows: usize,
    n_cols: usize,
    bytes: u64,
    /// Whether dense rows are in double precision: those whose first block has columns far from 0.
    is_double: bool,
    /// For sparse rows.
    blocks: Option<Vec<Block>>,
}

#[derive(Debug)]
struct Block {
    first_row: usize,
    n_rows: usize,
    n_values: usize,
    at: u64,
}

/// Rows being written.
#[derive(Debug)]
pub(super) struct Writer {
    written: Written,
    /// The approximate number of bytes buffered before writing.
    block_bytes: usize,
    /// Rows that are not written yet.
    dense: Vec<u8>,
    ends: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Writer {
    pub fn new(scratch: ScratchFile, block_bytes: usize) -> Writer {
        let written = Written { scratch, n_rows: 0, n_cols: 0, bytes: 0, is_double: false, blocks: None };
        let (dense, ends, indices, values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Writer { written, block_bytes, dense, ends, indices, values }
    }

    /// Appends rows: either all tables of a file are sparse, or none.
    pub fn append(&mut self, samples: &Samples) -> Result<(), Failure> {
        self.written.n_cols = self.written.n_cols.max(samples.n_cols());
        if let (Samples::DenseF64(matrix), 0) = (samples, self.written.n_rows) {
            self.written.is_double = offsets_of(&matrix.view()?, &vec![1.0; matrix.n_rows]).is_some();
        }
        match samples {
            Samples::SparseF32(matrix) => self.append_sparse(matrix, |value| value),
            Samples::SparseF64(matrix) => self.append_sparse(matrix, |value| value as f32),
            Samples::DenseF32(matrix) => self.append_dense(matrix, |value| value),
            Samples::DenseF64(matrix) => self.append_dense(matrix, |value| value as f32),
            // Refused before the file was opened.
            Samples::Other(_) => Ok(()),
        }
    }

    /// Finishes writing; `n_features` is the specified number, if any.
    pub fn finish(mut self, n_features: Option<usize>) -> Result<Written> {
        self.flush_dense()?;
        self.flush_sparse()?;
        if let (Some(n_features), true) = (n_features, self.written.is_sparse()) {
            self.written.n_cols = n_features;
        }
        Ok(self.written)
    }

    fn append_dense<T: Element>(&mut self, matrix: &DenseMatrix<T>, single: impl Fn(T) -> f32) -> Result<(), Failure> {
        for (row, values) in matrix.values.chunks_exact(matrix.n_cols.max(1)).enumerate() {
            for (column, &value) in values.iter().enumerate() {
                let narrow = finite(single(value), row, column, value)?;
                let wide: f64 = value.into();
                match self.written.is_double {
                    true => self.dense.extend_from_slice(&wide.to_le_bytes()),
                    false => self.dense.extend_from_slice(&narrow.to_le_bytes()),
                }
            }
            self.written.n_rows += 1;
            if self.dense.len() >= self.block_bytes {
                self.flush_dense()?;
            }
        }
        Ok(())
    }

    fn append_sparse<T: Element>(&mut self, matrix: &CsrMatrix<T>, single: impl Fn(T) -> f32) -> Result<(), Failure> {
        self.written.blocks.get_or_insert_default();
        for (row, bounds) in matrix.indptr.windows(2).enumerate() {
            let range = bounds[0]..bounds[1];
            self.indices.extend_from_slice(&matrix.indices[range.clone()]);
            for at in range {
                let (value, column) = (matrix.values[at], matrix.indices[at] as usize);
                self.values.push(finite(single(value), row, column, value)?);
            }
            // A block ends soon after it reaches its size, and a row has at most as many values as there are columns.
            self.ends.push(self.values.len() as u32);
            self.written.n_rows += 1;
            if 8 * self.values.len() + 4 * self.ends.len() >= self.block_bytes {
                self.flush_sparse()?;
            }
        }
        Ok(())
    }

    fn flush_dense(&mut self) -> Result<()> {
        self.written.scratch.write(self.written.bytes, &self.dense)?;
        self.written.bytes += self.dense.len() as u64;
        self.dense.clear();
        Ok(())
    }

    fn flush_sparse(&mut self) -> Result<()> {
        let (n_rows, n_values) = (self.ends.len(), self.values.len());
        if let (Some(blocks), 1..) = (&mut self.written.blocks, n_rows) {
            let mut bytes = Vec::with_capacity(4 * n_rows + 8 * n_values);
            bytes.extend(self.ends.iter().chain(&self.indices).flat_map(|number| number.to_le_bytes()));
            bytes.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
            self.written.scratch.write(self.written.bytes, &bytes)?;
            let first_row = self.written.n_rows - n_rows;
            blocks.push(Block { first_row, n_rows, n_values, at: self.written.bytes });
            self.written.bytes += bytes.len() as u64;
        }
        self.ends.clear();
        self.indices.clear();
        self.values.clear();
        Ok(())
    }
}

fn finite<T: Element>(narrow: f32, row: usize, column: usize, value: T) -> Result<f32, Failure> {
    if narrow.is_finite() {
        return Ok(narrow);
    }
    Err(Failure::Value(TooLarge { row, column, value: value.into() }))
}

impl Written {
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    pub fn is_sparse(&self) -> bool {
        self.blocks.is_some()
    }

    /// Bytes in the scratch file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The rows of a range within all.
    pub fn read(&self, rows: Range<usize>) -> Result<Vectors> {
        match &self.blocks {
            Some(blocks) => Ok(Vectors::Sparse(self.read_sparse(blocks, rows)?)),
            None if self.is_double => {
                let DenseMatrix { values, n_rows, n_cols } = self.read_double(rows)?;
                let values = values.into_iter().map(|value| value as f32).collect();
                Ok(Vectors::Dense(DenseMatrix { values, n_rows, n_cols }))
            }
            None => {
                let mut values = Vec::with_capacity(rows.len() * self.n_cols);
                self.read_words(4 * rows.start as u64 * self.n_cols as u64, rows.len() * self.n_cols, |word| {
                    values.push(f32::from_le_bytes(word));
                })?;
                Ok(Vectors::Dense(DenseMatrix { values, n_rows: rows.len(), n_cols: self.n_cols }))
            }
        }
    }

    /// Whether rows are dense, in double precision.
    pub fn is_double(&self) -> bool {
        self.is_double
    }

    /// The rows of a range within all, where they are in double precision.
    pub fn read_double(&self, rows: Range<usize>) -> Result<DenseMatrix<f64>> {
        let n = rows.len() * self.n_cols;
        let (mut values, mut low) = (Vec::with_capacity(n), None);
        self.read_words(8 * rows.start as u64 * self.n_cols as u64, 2 * n, |word| match low.take() {
            None => low = Some(u64::from(u32::from_le_bytes(word))),
            Some(low) => values.push(f64::from_bits(u64::from(u32::from_le_bytes(word)) << 32 | low)),
        })?;
        Ok(DenseMatrix { values, n_rows: rows.len(), n_cols: self.n_cols })
    }

    fn read_sparse(&self, blocks: &[Block], rows: Range<usize>) -> Result<CsrMatrix<f32>> {
        let mut matrix = CsrMatrix::empty(self.n_cols);
        matrix.indptr.reserve(rows.len());
        let first = blocks.partition_point(|block| block.first_row + block.n_rows <= rows.start);
        for block in blocks[first..].iter().take_while(|block| block.first_row < rows.end) {
            let start = rows.start.max(block.first_row) - block.first_row;
            let end = rows.end.min(block.first_row + block.n_rows) - block.first_row;
            // The start of a row is the end of the previous one.
            let skipped = usize::from(start > 0);
            let mut ends = Vec::with_capacity(end - start + 1);
            self.read_words(block.at + 4 * (start - skipped) as u64, end - start + skipped, |word| {
                ends.push(u32::from_le_bytes(word) as usize);
            })?;
            let from = if skipped == 1 { ends.remove(0) } else { 0 };
            let n = ends.last().map_or(0, |last| last - from);
            let before = matrix.values.len();
            matrix.indptr.extend(ends.iter().map(|end| before + end - from));
            let indices = block.at + 4 * (block.n_rows + from) as u64;
            self.read_words(indices, n, |word| matrix.indices.push(u32::from_le_bytes(word)))?;
            let values = indices + 4 * block.n_values as u64;
            self.read_words(values, n, |word| matrix.values.push(f32::from_le_bytes(word)))?;
        }
        Ok(matrix)
    }

    /// Passes on four-byte numbers, read in chunks.
    fn read_words(&self, mut at: u64, n: usize, mut take: impl FnMut([u8; 4])) -> Result<()> {
        let mut left = 4 * n;
        let mut buffer = vec![0; left.min(1 << 18)];
        while left > 0 {
            let piece = left.min(buffer.len());
            self.scratch.read(at, &mut buffer[..piece])?;
            buffer[..piece].as_chunks::<4>().0.iter().for_each(|word| take(*word));
            (at, left) = (at + piece as u64, left - piece);
        }
        Ok(())
    }
}
