//! The memory plan: the number of blocks, from the memory that a fit may use.

use crate::data::Checkpoint;
use crate::error::{Error, Result};
use crate::expansion::{ROW_BYTES, entry_bytes};
use crate::memory::within;
use crate::model::manifest::Manifest;
use crate::solve::dual::packed_row_bytes;

/// The maximum number of blocks for pieces in memory.
const MAX_BLOCKS_IN_MEMORY: u64 = 64;

/// With more blocks than this, reads become too small: more memory is needed.
const MAX_BLOCKS: u64 = 4096;

/// Minimum and maximum bytes of a piece. Larger pieces would be too few for different combinations of rows in each
/// round.
const PIECE_BYTES: (u64, u64) = (1 << 8, 1 << 20);

/// Minimum number of pieces, unless they would become too small.
const MIN_PIECES: u64 = 4096;

/// Number of pieces in progress at a time.
pub(super) const BUFFERS: usize = 16;

/// The maximum number of threads that solve a block. The plan always assumes this many, so that the number of blocks,
/// and thus the result, does not depend on the number of threads.
pub(super) const MAX_THREADS: usize = 16;

/// The maximum size of a block relative to its share, since pieces are not split.
const BLOCK_SLACK: f64 = 1.1;

/// Bytes of the chunks in which samples are read: large enough to amortize the request.
const CHUNK_BYTES: u64 = 4 << 20;

/// The dimensions of a problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub n_rows: u64,
    pub n_nonzero: u64,
    pub n_features: usize,
    pub n_problems: usize,
    pub n_nodes: usize,
}

/// The placement of the rows. The steps of the descent depend on all of it except whether the pieces stay in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Number of blocks to which pieces are dealt in each round.
    pub n_blocks: usize,
    /// Whether the pieces stay in memory.
    pub in_memory: bool,
    /// Bytes of a piece.
    pub piece: usize,
}

impl Sizes {
    /// Bytes of all weights in single precision.
    fn weights(&self) -> u64 {
        (self.n_features * self.n_nodes * self.n_problems) as u64 * 4
    }

    /// Permanent memory: weights in lanes, by problem, and in the model's layout; maxima and factors; the cost and Q_ii
    /// of each row; a codebook with its tables.
    fn fixed(&self) -> u64 {
        let tables = if self.n_nodes <= 4 { 2 * 16 } else { 2 * 64 };
        let book = self.n_nonzero.min(1 << 16) * (4 + 8 + 8 + 16 + tables);
        3 * self.weights() + 16 * self.n_features as u64 + 12 * self.n_rows + book
    }

    /// Bytes of all rows and their dual variables when loaded.
    fn loaded(&self) -> u64 {
        // Start, number, position, class and cost of each row.
        let row = (8 + ROW_BYTES + 4 + 4 + 8 + 4 * self.n_problems) as u64;
        self.n_nonzero * entry_bytes(self.n_features) as u64 + self.n_rows * row
    }

    /// Bytes of the lanes and orders of all rows while they are solved.
    fn solved(&self) -> u64 {
        self.n_rows * packed_row_bytes(self.n_problems, self.n_nodes, MAX_THREADS) as u64
    }

    /// Bytes in scratch for rows that do not stay in memory.
    pub fn on_scratch(&self) -> u64 {
        self.coded() + self.n_rows * 4 * self.n_problems as u64
    }

    /// Bytes used by a fit.
    fn bytes(&self, plan: &Plan) -> u64 {
        let share = |bytes: u64| (bytes as f64 * BLOCK_SLACK / plan.n_blocks as f64) as u64;
        let (loaded, solved) = (self.loaded(), self.solved());
        let pieces = if plan.in_memory { loaded } else { 0 };
        // One block is solved while the next is read.
        let blocks = if plan.n_blocks == 1 { loaded + solved } else { share(2 * loaded + solved) };
        let a_row = (self.coded() / self.n_rows.max(1)) as usize;
        let buffers = BUFFERS * (plan.piece + a_row);
        self.fixed() + pieces + blocks + buffers as u64
    }

    /// Bytes of the coded rows.
    fn coded(&self) -> u64 {
        self.n_nonzero * entry_bytes(self.n_features) as u64 + self.n_rows * ROW_BYTES as u64
    }

    /// The smallest number of blocks that fits in memory.
    ///
    /// # Errors
    /// [`Error::Memory`] if no number of blocks fits.
    pub fn plan(&self, memory: u64) -> Result<Plan> {
        let piece = (self.coded() / MIN_PIECES).clamp(PIECE_BYTES.0, PIECE_BYTES.1);
        let most = MAX_BLOCKS.min(self.n_rows).min(self.coded() / piece).max(1);
        let plan =
            |n_blocks: u64, in_memory: bool| Plan { n_blocks: n_blocks as usize, in_memory, piece: piece as usize };
        let fits = |plan: &Plan| self.bytes(plan) <= memory;
        if let Some(plan) = (1..=MAX_BLOCKS_IN_MEMORY.min(most)).map(|n_blocks| plan(n_blocks, true)).find(fits) {
            return Ok(plan);
        }
        let least = plan(most, false);
        let what = || {
            format!(
                "the weights of {} features × {} nodes × {} problems and two of {most} blocks of samples",
                self.n_features, self.n_nodes, self.n_problems
            )
        };
        within(memory, self.bytes(&least), what, "allow more memory, or take fewer nodes")?;
        let (mut too_few, mut enough) = (0, most);
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            if fits(&plan(middle, false)) { enough = middle } else { too_few = middle }
        }
        Ok(plan(enough, false))
    }

    /// The plan of the checkpoint of this fit, if there is one, adapted to the current memory.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for that of another fit, naming the difference, and if it needs more memory than there is;
    /// as for [`Sizes::plan`].
    pub fn settle(&self, memory: u64, manifest: Manifest, checkpoint: Option<&dyn Checkpoint>) -> Result<Plan> {
        // Of another fit: that is said first, whatever memory this one needs.
        checkpoint.map_or(Ok(None), |checkpoint| manifest.stored(checkpoint))?;
        let (plan, [blocks, piece]) = (self.plan(memory)?, ["blocks", "bytes per piece"]);
        let sizes = manifest.settle(&[(blocks, plan.n_blocks), (piece, plan.piece)], checkpoint)?;
        let (n_blocks, piece) = (sizes.get(blocks, usize::MAX)?, sizes.get(piece, usize::MAX)?);
        if (n_blocks, piece) == (plan.n_blocks, plan.piece) {
            return Ok(plan);
        }
        self.take_up(Plan { n_blocks, piece, ..plan }, memory).ok_or_else(|| Error::Checkpoint {
            problem: format!(
                "it is that of a fit in {n_blocks} blocks, expected one in more blocks (allow as much memory as then, or \
                 delete the checkpoint)"
            ),
        })
    }

    /// The plan of an earlier fit, adapted to the current memory; `None` if that is too small.
    fn take_up(&self, plan: Plan, memory: u64) -> Option<Plan> {
        let here = |in_memory: bool| Plan { in_memory, ..plan };
        [here(true), here(false)].into_iter().find(|plan| self.bytes(plan) <= memory)
    }
}

/// How many rows of this size are read at a time, and by how many of the threads.
pub(super) fn chunks(row_bytes: u64, memory: u64, threads: usize) -> (usize, usize) {
    let chunk = CHUNK_BYTES.min(memory / 32).max(row_bytes);
    // A thread's chunk, and four coded chunks waiting.
    let at_once = (memory / 2 / (5 * chunk)).clamp(1, threads as u64);
    ((chunk / row_bytes.max(1)).clamp(1, 1 << 16) as usize, at_once as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> Sizes {
        Sizes { n_rows: 1 << 20, n_nonzero: 200 << 20, n_features: 5000, n_problems: 10, n_nodes: 3 }
    }

    #[test]
    fn blocks_follow_the_memory() {
        let (sizes, gib) = (sizes(), 1u64 << 30);
        let whole = sizes.plan(4 * gib).unwrap();
        assert_eq!((whole.n_blocks, whole.in_memory), (1, true));
        let tight = sizes.plan(gib + gib / 4).unwrap();
        assert!(tight.in_memory && tight.n_blocks > 1, "{tight:?}");
        let mut before = 0;
        for memory in [3 * gib / 4, gib / 2, gib / 4, gib / 16] {
            let plan = sizes.plan(memory).unwrap();
            assert!(!plan.in_memory && plan.n_blocks > before, "{memory} {plan:?}");
            before = plan.n_blocks;
            let used = sizes.bytes(&plan);
            assert!(used <= memory && used >= memory / 2, "{memory} {plan:?}: {used}");
        }
        let error = sizes.plan(1 << 20).unwrap_err().to_string();
        assert!(error.contains("5000 features × 3 nodes × 10 problems"), "{error}");
    }

    #[test]
    fn resumes_a_plan_that_fits() {
        let (sizes, gib) = (sizes(), 1u64 << 30);
        let plan = sizes.plan(gib / 2).unwrap();
        assert_eq!(sizes.take_up(plan, gib / 2), Some(plan));
        assert_eq!(sizes.take_up(plan, 4 * gib), Some(Plan { in_memory: true, ..plan }));
        assert_eq!(sizes.take_up(plan, gib / 4), None);
    }

    #[test]
    fn chunks_are_small_for_the_memory() {
        assert_eq!(chunks(1 << 12, 1 << 30, 2), (1 << 10, 2));
        assert_eq!(chunks(1 << 20, 1 << 20, 8), (1, 1));
        assert_eq!(chunks(0, 1 << 30, 64).0, 1 << 16);
        assert!(chunks(1 << 12, 1 << 28, 64).1 < 64);
    }
}
