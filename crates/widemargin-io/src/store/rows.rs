//! What rows of a store answer, dense or sparse.

use std::fmt::Debug;
use std::ops::Range;

use widemargin::Result;
use widemargin::data::{DenseMatrix, Samples as _, Vectors};

use crate::tuning::MAX_GAP_BYTES;

/// Bytes read at once for rows that are close together.
pub(super) const SPAN: usize = 1 << 20;

/// Rows on disk; ranges of them must have been checked.
pub(super) trait Rows: Debug + Send + Sync {
    fn n_rows(&self) -> usize;

    /// Bytes read from disk by one pass over all rows.
    fn bytes(&self) -> u64;

    /// The rows of a range.
    fn read(&self, rows: Range<usize>) -> Result<Vectors>;

    /// The rows of a range in double precision; none where they are in single.
    fn read_double(&self, _rows: Range<usize>) -> Option<Result<DenseMatrix<f64>>> {
        None
    }
}

impl dyn Rows {
    /// Bytes of an average row on disk.
    pub fn row_bytes(&self) -> usize {
        (self.bytes() / self.n_rows().max(1) as u64).max(1) as usize
    }

    /// Some rows, in this order.
    pub fn select(&self, rows: &[usize]) -> Result<Vectors> {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut picked = self.read(0..0)?;
        let (gap, span) = ((MAX_GAP_BYTES / self.row_bytes()).max(1), (SPAN / self.row_bytes()).max(1));
        let mut rest = sorted.as_slice();
        while let Some(&first) = rest.first() {
            let mut n = 1;
            while rest.get(n).is_some_and(|&row| row - rest[n - 1] <= gap && row - first < span) {
                n += 1;
            }
            let (near, after) = rest.split_at(n);
            let range = first..near[n - 1] + 1;
            let mut found = self.read(range.clone())?;
            if range.len() > n {
                let near: Vec<usize> = near.iter().map(|row| row - first).collect();
                found = found.select(&near);
            }
            append(&mut picked, found);
            rest = after;
        }
        if sorted == rows {
            return Ok(picked);
        }
        // Every row is found: it is in the sorted list.
        let order: Vec<usize> = rows.iter().map(|row| sorted.partition_point(|other| other < row)).collect();
        Ok(picked.select(&order))
    }
}

fn append(to: &mut Vectors, from: Vectors) {
    match (to, from) {
        (Vectors::Dense(to), Vectors::Dense(from)) => to.append(&from, |value| value),
        (Vectors::Sparse(to), Vectors::Sparse(from)) => to.append(&from, |value| value),
        // All rows of a store are of one kind.
        _ => {}
    }
}
