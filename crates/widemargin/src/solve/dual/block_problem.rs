//! What the descent on blocks is given, where the blocks are kept, and what it is taken up again from.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::certificate::StopRule;
use super::problem::DualProblem;
use crate::error::Result;
use crate::expansion::{AdditiveMap, CodedRows};
use crate::problem::{Loss, OneVsRest};
use crate::solve::Status;

/// A block's rows.
#[derive(Debug)]
pub(crate) struct BlockRows {
    pub(super) rows: CodedRows,
    codes: Vec<u32>,
    costs: Vec<f64>,
    pub(super) diagonal: Arc<Diagonal>,
}

/// Q_ii of a block's rows, once the solver has computed it: the same each time that the block is loaded.
pub(crate) type Diagonal = OnceLock<Vec<f32>>;

impl BlockRows {
    /// Rows, the class of each, C · weight of each, and what the solver left of an earlier time.
    pub fn new(rows: CodedRows, codes: Vec<u32>, costs: Vec<f64>, diagonal: Arc<Diagonal>) -> Self {
        BlockRows { rows, codes, costs, diagonal }
    }

    /// The rows alone.
    pub fn into_rows(self) -> CodedRows {
        self.rows
    }
}

/// A block that was loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub rows: Arc<BlockRows>,
    /// Dual variables: those of the rows for the first problem, for the second, and so on. −0 is that of a row which the
    /// problem leaves out until the next exact pass.
    pub alphas: Vec<f32>,
}

/// Where blocks are kept.
pub(crate) trait Blocks: Sync {
    /// How many there are.
    fn n_blocks(&self) -> usize;
    /// Whether memory holds them all, so that loading takes no time.
    fn in_memory(&self) -> bool;
    /// A block with the dual variables it was last put away with; at first all are 0.
    fn load(&self, block: usize) -> Result<Loaded>;
    /// Puts a block's dual variables away.
    fn put_away(&self, block: usize, alphas: Vec<f32>) -> Result<()>;
    /// Takes back the rows of a block that is done with for now.
    fn give_back(&self, rows: Arc<BlockRows>);
}

/// What the blocks are to be separated by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockProblem<'a> {
    pub map: &'a AdditiveMap,
    /// The values that the codes of all blocks stand for.
    pub book: &'a [f32],
    pub n_features: usize,
    pub n_classes: usize,
    pub loss: Loss,
}

impl BlockProblem<'_> {
    /// The problem on the rows of a block.
    pub(super) fn of<'a>(&'a self, block: &'a BlockRows) -> DualProblem<'a> {
        DualProblem {
            rows: &block.rows,
            map: self.map,
            targets: OneVsRest::new(&block.codes, self.n_classes),
            loss: self.loss,
            costs: &block.costs,
        }
    }
}

/// Where a descent stands between two rounds, beside its weights and dual variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BlockState {
    pub(super) rounds: u32,
    /// Whether no row is left out any more, as after an exact pass.
    pub(super) anew: bool,
    pub(super) problems: Vec<One>,
}

impl BlockState {
    /// How many problems it is of.
    pub fn n_problems(&self) -> usize {
        self.problems.len()
    }
}

/// Where one two-class problem stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct One {
    pub epochs: u32,
    pub rule: StopRule,
    /// Waits for an exact pass.
    pub is_near: bool,
    /// The bits of the largest projected gradient of the last round.
    pub threshold: u32,
    pub status: Option<Status>,
    pub primal: f64,
    pub dual: f64,
    pub n_support: u32,
}

impl One {
    /// A problem that was not begun.
    pub fn new(tol: f64) -> Self {
        One {
            epochs: 0,
            rule: StopRule::new(tol),
            is_near: false,
            threshold: f32::INFINITY.to_bits(),
            status: None,
            primal: 0.0,
            dual: 0.0,
            n_support: 0,
        }
    }

    /// Whether rounds move it.
    pub fn moves(&self) -> bool {
        self.status.is_none() && !self.is_near
    }
}

/// A descent to go on with; the blocks have its dual variables.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub state: BlockState,
    /// Weights of each problem, `feature * n_nodes + node`.
    pub weights: Vec<Vec<f32>>,
}

/// Keeps where a descent stands.
pub(crate) trait Keep {
    /// Whether it is time to.
    fn is_due(&self) -> bool;
    /// Keeps it. `weights(k)` are those of one problem; the dual variables are the blocks'.
    fn keep(&mut self, state: &BlockState, weights: &dyn Fn(usize) -> Vec<f32>) -> Result<()>;
}
