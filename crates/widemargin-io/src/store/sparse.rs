//! Sparse rows in a scratch file, in single precision.
//!
//! The file has words of eight bytes: first each value with its column, row by row, then the start of each row among them
//! and the end of the last.

use std::ops::Range;

use widemargin::Result;
use widemargin::data::{CsrMatrix, Scratch, Vectors};

use super::rows::Rows;
use crate::ScratchFile;

/// Bytes of a word.
pub(super) const WORD: usize = size_of::<u64>();

/// Rows in a scratch file.
#[derive(Debug)]
pub(super) struct SparseRows {
    pub scratch: ScratchFile,
    pub n_rows: usize,
    pub n_cols: usize,
    pub n_values: usize,
}

/// A value with its column as a word.
pub(super) fn pair(column: u32, value: f32) -> [u8; WORD] {
    (u64::from(column) << 32 | u64::from(value.to_bits())).to_le_bytes()
}

impl Rows for SparseRows {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn bytes(&self) -> u64 {
        (WORD * (self.n_values + self.n_rows + 1)) as u64
    }

    fn read(&self, rows: Range<usize>) -> Result<Vectors> {
        let (mut matrix, mut starts) = (CsrMatrix::empty(self.n_cols), Vec::with_capacity(rows.len() + 1));
        self.read_words(self.n_values + rows.start, rows.len() + 1, |start| starts.push(start as usize))?;
        matrix.indptr = starts.iter().map(|start| start - starts[0]).collect();
        self.read_words(starts[0], matrix.indptr[rows.len()], |pair| {
            matrix.indices.push((pair >> 32) as u32);
            matrix.values.push(f32::from_bits(pair as u32));
        })?;
        Ok(Vectors::Sparse(matrix))
    }
}

impl SparseRows {
    /// Passes on `n` words from the one at a position, read in chunks.
    fn read_words(&self, first: usize, n: usize, mut take: impl FnMut(u64)) -> Result<()> {
        let (mut at, mut left) = ((WORD * first) as u64, WORD * n);
        let mut buffer = vec![0; left.min(1 << 18)];
        while left > 0 {
            let piece = left.min(buffer.len());
            self.scratch.read(at, &mut buffer[..piece])?;
            buffer[..piece].as_chunks().0.iter().for_each(|word| take(u64::from_le_bytes(*word)));
            (at, left) = (at + piece as u64, left - piece);
        }
        Ok(())
    }
}
