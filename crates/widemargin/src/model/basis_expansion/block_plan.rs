//! Partitioning of an out-of-core fit: rows per piece, and rows whose features stay in memory.

use crate::data::Checkpoint;
use crate::error::Result;
use crate::memory::within;
use crate::model::manifest::Manifest;
use crate::tuning::{MAX_RESIDENT_PER_FEATURE, MIN_RESIDENT_PER_FEATURE};

/// Maximum rows per piece; a multiple of the minimum, which is a multiple of the rows compared at a time.
const MAX_PIECE_ROWS: usize = 16_384;
const MIN_PIECE_ROWS: usize = 256;

/// Sizes in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub n_rows: usize,
    pub piece_rows: usize,
    /// Rows whose features stay in memory; all rows if possible.
    pub n_resident: usize,
    /// Pieces whose scores stay in memory.
    pub n_cached: usize,
}

impl Plan {
    /// The best plan for a number of bytes: after the Gram matrix and its factor, and one piece with each thread's
    /// share, memory goes first to the scores of all rows, then to resident rows.
    pub fn new(memory: u64, n_rows: usize, n_features: usize, n_problems: usize) -> Result<Plan> {
        let (n, d, k) = (n_rows as u64, n_features as u64, n_problems as u64);
        // The Gram matrix, its factor, and a temporary copy; points and directions in double precision.
        let fixed = 12 * d * d + 16 * 8 * k * (d + 1);
        let row = 4 * d;
        let scores = 8 * k;
        let piece_rows = (memory / 16 / row.max(1)) as usize / MIN_PIECE_ROWS * MIN_PIECE_ROWS;
        let piece_rows = piece_rows.clamp(MIN_PIECE_ROWS, MAX_PIECE_ROWS).min(n_rows.next_multiple_of(MIN_PIECE_ROWS));
        // A piece, and a buffer of its bytes for scratch I/O; scores in flight.
        let piece = piece_rows as u64 * (2 * row + 2 * scores);
        let least = (MIN_RESIDENT_PER_FEATURE as u64 * d).min(n) * (row + scores);
        let needed = fixed + piece + least;
        let what = || format!("to train on {n_features} features of {n_rows} samples in blocks");
        within(memory, needed, what, "raise the limit (--memory-limit) or choose fewer bases (--n-basis)")?;
        let left = memory - fixed - piece;
        if n * (row + scores) <= left {
            return Ok(Plan { n_rows, piece_rows, n_resident: n_rows, n_cached: 0 });
        }
        let piece = piece_rows as u64 * scores;
        let n_cached = ((left / 2).min(left - least) / piece.max(1)).min(n.div_ceil(piece_rows as u64));
        let most = (MAX_RESIDENT_PER_FEATURE as u64 * d).max(4 * MIN_PIECE_ROWS as u64).min(n);
        let n_resident = ((left - n_cached * piece) / (row + scores)).min(most) as usize;
        Ok(Plan { n_rows, piece_rows, n_resident, n_cached: n_cached as usize })
    }

    /// The plan of the checkpoint of this fit, if there is one, independent of the memory that is available now: it is
    /// seldom much less. Only the sizes that affect the bits of the result are those of the checkpoint.
    ///
    /// # Errors
    /// [`Error::Checkpoint`](crate::Error::Checkpoint) for that of another fit.
    pub fn settle(self, manifest: Manifest, checkpoint: Option<&dyn Checkpoint>) -> Result<Plan> {
        let [pieces, resident] = ["rows per piece", "rows that stay"];
        let sizes = manifest.settle(&[(pieces, self.piece_rows), (resident, self.n_resident)], checkpoint)?;
        let piece_rows = sizes.get(pieces, MAX_PIECE_ROWS)?;
        let n_cached = self.n_cached * self.piece_rows / piece_rows;
        Ok(Plan { piece_rows, n_resident: sizes.get(resident, self.n_rows)?, n_cached, ..self })
    }

    /// Whether all features stay in memory.
    pub fn is_whole(&self) -> bool {
        self.n_resident == self.n_rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_to_its_bytes() {
        for (memory, n, d, k) in
            [(2 << 30, 20_000_000, 1000, 10), (1 << 28, 1_000_000, 500, 1), (1 << 30, 5000, 100, 3)]
        {
            let plan = Plan::new(memory, n, d, k).unwrap();
            let bytes = 12 * d * d
                + 2 * plan.piece_rows * (4 * d + 8 * k)
                + plan.n_cached * plan.piece_rows * 8 * k
                + plan.n_resident * (4 * d + 8 * k);
            assert!(bytes as u64 <= memory, "{plan:?}");
            assert_eq!(plan.is_whole(), n == 5000);
            assert!(plan.n_resident >= (2 * d).min(n) && plan.piece_rows.is_multiple_of(256), "{plan:?}");
        }
        let error = Plan::new(1 << 20, 1_000_000, 1000, 2).unwrap_err().to_string();
        assert!(error.contains("--memory"), "{error}");
    }
}
