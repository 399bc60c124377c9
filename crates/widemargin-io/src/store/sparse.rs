//! Sparse rows in a scratch file, in single precision.
//!
//! They are stored in blocks of some thousand rows: the start of each row and the end of the last, all columns, all values,
//! four bytes each; an in-memory index has the start of each block.

use std::ops::Range;

use widemargin::Result;
use widemargin::data::{CsrMatrix, Scratch, Vectors};

use super::rows::Rows;
use crate::ScratchFile;

/// Rows in a scratch file.
#[derive(Debug)]
pub(super) struct SparseRows {
    pub scratch: ScratchFile,
    pub n_cols: usize,
    pub blocks: Vec<Block>,
    pub bytes: u64,
}

/// The index of a block.
#[derive(Debug)]
pub(super) struct Block {
    pub first_row: usize,
    pub n_rows: usize,
    pub n_values: usize,
    /// Its position in the file.
    pub at: u64,
}

impl Rows for SparseRows {
    fn n_rows(&self) -> usize {
        self.blocks.last().map_or(0, |last| last.first_row + last.n_rows)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, rows: Range<usize>) -> Result<Vectors> {
        let mut matrix = CsrMatrix::empty(self.n_cols);
        matrix.indptr.reserve(rows.len());
        let first = self.blocks.partition_point(|block| block.first_row + block.n_rows <= rows.start);
        for block in self.blocks[first..].iter().take_while(|block| block.first_row < rows.end) {
            let start = rows.start.max(block.first_row) - block.first_row;
            let end = rows.end.min(block.first_row + block.n_rows) - block.first_row;
            let mut starts = Vec::with_capacity(end - start + 1);
            self.read_words(block.at + 4 * start as u64, end - start + 1, |word| {
                starts.push(u32::from_le_bytes(word) as usize);
            })?;
            let (from, n, before) = (starts[0], starts[end - start] - starts[0], matrix.values.len());
            matrix.indptr.extend(starts[1..].iter().map(|end| before + end - from));
            let indices = block.at + 4 * (block.n_rows + 1 + from) as u64;
            self.read_words(indices, n, |word| matrix.indices.push(u32::from_le_bytes(word)))?;
            let values = indices + 4 * block.n_values as u64;
            self.read_words(values, n, |word| matrix.values.push(f32::from_le_bytes(word)))?;
        }
        Ok(Vectors::Sparse(matrix))
    }
}

impl SparseRows {
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
