//! The input of the descent on blocks, the storage of the blocks, and the checkpoint.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::descent::Course;
use super::problem::LossTerms;
use crate::error::Result;
use crate::expansion::{AdditiveMap, CodedRows};
use crate::problem::{Loss, OneVsRest};

/// The rows of some pieces, in random order.
#[derive(Debug)]
pub(crate) struct BlockRows {
    pub rows: CodedRows,
    /// The class of each row, or its set of labels.
    pub codes: Vec<u32>,
    /// C · weight of each row.
    pub costs: Vec<f64>,
    /// Q_ii of each row, once the solver has computed it.
    pub diagonal: OnceLock<Vec<f32>>,
    /// The pieces, and the position of each of their rows, one piece after the other.
    pub pieces: Vec<u32>,
    pub places: Vec<u32>,
}

/// A block that was loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub rows: Arc<BlockRows>,
    /// Dual variables: those of the rows for the first problem, then for the second, and so on. −0 marks a row that the
    /// problem skips until the next exact pass.
    pub alphas: Vec<f32>,
}

/// The pieces to be loaded together.
#[derive(Clone, Debug)]
pub(crate) struct Deal {
    pub pieces: Vec<u32>,
    /// Seed of the order of their rows.
    pub seed: u64,
}

/// Storage of the rows, in pieces that are loaded together to form blocks.
pub(crate) trait Blocks: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Number of pieces.
    fn n_pieces(&self) -> usize;
    /// Number of blocks to which they are dealt.
    fn n_blocks(&self) -> usize;
    /// Loads pieces with the dual variables that were last stored; initially all are 0.
    fn load(&self, deal: &Deal) -> Result<Loaded>;
    /// Stores the dual variables of a loaded block.
    fn put_away(&self, rows: &BlockRows, alphas: &[f32]) -> Result<()>;
    /// Takes back the rows of a finished block, for reuse of their memory.
    fn give_back(&self, rows: Arc<BlockRows>);
}

/// The two-class problems on the blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockProblem<'a> {
    pub map: &'a AdditiveMap,
    /// The values of the codes of all blocks.
    pub book: &'a [f32],
    pub n_features: usize,
    /// Of no rows: those of a block have their codes with the block.
    pub targets: OneVsRest<'a>,
    pub loss: Loss,
}

impl BlockProblem<'_> {
    /// The losses of the rows of a block.
    pub(super) fn terms<'a>(&'a self, codes: &'a [u32], costs: &'a [f64]) -> LossTerms<'a> {
        let (targets, is_symmetric) = (self.targets.with_codes(codes), self.map.is_symmetric());
        LossTerms { targets, loss: self.loss, costs, is_symmetric }
    }
}

/// The state of a descent between two rounds, in addition to its weights and dual variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BlockState {
    pub(super) rounds: u32,
    /// Whether no rows are skipped, as after an exact pass.
    pub(super) anew: bool,
    pub(super) problems: Vec<Course>,
}

impl BlockState {
    /// Number of problems.
    pub fn n_problems(&self) -> usize {
        self.problems.len()
    }
}

/// A descent to resume; the blocks store its dual variables.
#[derive(Clone, Debug)]
pub(crate) struct DualCheckpoint {
    pub state: BlockState,
    /// Weights of each problem, `feature * n_nodes + node`.
    pub weights: Vec<Vec<f32>>,
}

/// Saves the state of a descent.
pub(crate) trait Keep {
    /// Whether it is time to save.
    fn is_due(&self) -> bool;
    /// Saves the state. `weights(k)` are those of one problem; the dual variables are stored with the blocks.
    fn keep(&mut self, state: &BlockState, weights: &dyn Fn(usize) -> Vec<f32>) -> Result<()>;
}
