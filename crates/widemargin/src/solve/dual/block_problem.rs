//! What the descent on blocks is given, where the blocks are kept, and what it is taken up again from.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::certificate::StopRule;
use super::problem::DualProblem;
use crate::error::Result;
use crate::expansion::{AdditiveMap, CodedRows};
use crate::problem::{Loss, OneVsRest};
use crate::solve::Status;

/// The rows of some pieces, in an order by chance.
#[derive(Debug)]
pub(crate) struct BlockRows {
    pub rows: CodedRows,
    /// The class of each.
    pub codes: Vec<u32>,
    /// C · weight of each.
    pub costs: Vec<f64>,
    /// Q_ii of each, once the solver has computed it.
    pub diagonal: OnceLock<Vec<f32>>,
    /// The pieces, and where each of their rows is, one piece after the other.
    pub pieces: Vec<u32>,
    pub places: Vec<u32>,
}

/// A block that was loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub rows: Arc<BlockRows>,
    /// Dual variables: those of the rows for the first problem, for the second, and so on. −0 is that of a row which the
    /// problem leaves out until the next exact pass.
    pub alphas: Vec<f32>,
}

/// The pieces that are to be loaded together.
#[derive(Clone, Debug)]
pub(crate) struct Deal {
    pub pieces: Vec<u32>,
    /// Of the order of their rows.
    pub seed: u64,
}

/// Where rows are kept: in pieces, of which so many as make a block are loaded together.
pub(crate) trait Blocks: Sync {
    /// How many pieces there are.
    fn n_pieces(&self) -> usize;
    /// Into how many blocks they are dealt.
    fn n_blocks(&self) -> usize;
    /// Pieces with the dual variables that they were last put away with; at first all are 0.
    fn load(&self, deal: &Deal) -> Result<Loaded>;
    /// Puts the dual variables of a loaded block away.
    fn put_away(&self, rows: &BlockRows, alphas: &[f32]) -> Result<()>;
    /// Takes back the rows of a block that is done with.
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
pub(crate) struct DualCheckpoint {
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
