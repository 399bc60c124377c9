//! The inputs and results of the dual solvers.

use std::ops::Range;

use super::additive::LANES;
use super::loss_terms::LossTerms;
use super::pack::{Frame, MAX_VECTORS};
use super::shard::{State, split};
use crate::expansion::{AdditiveMap, CodedRows};
use crate::problem::{Loss, OneVsRest};
use crate::solve::{ProblemReport, Status};

/// One-vs-rest problems over shared rows.
#[derive(Clone, Copy, Debug)]
pub struct DualProblem<'a> {
    /// The training samples.
    pub rows: &'a CodedRows,
    /// The reduced kernel.
    pub map: &'a AdditiveMap,
    /// The sign of each row in each problem.
    pub targets: OneVsRest<'a>,
    /// The loss.
    pub loss: Loss,
    /// C · weight of each row, above 0.
    pub costs: &'a [f64],
}

impl<'a> DualProblem<'a> {
    pub(super) fn terms(&self) -> LossTerms<'a> {
        let DualProblem { targets, loss, costs, .. } = *self;
        LossTerms { targets, loss, costs, is_symmetric: self.map.is_symmetric() }
    }

    pub(super) fn frame(&self) -> Frame {
        let (n_features, n_problems) = (self.rows.n_features(), self.targets.n_problems());
        Frame { n_features, n_nodes: self.map.n_nodes(), n_problems }
    }
}

/// How many problems fit the lanes of a shard.
fn problems_per_shard(n_nodes: usize) -> usize {
    (MAX_VECTORS * LANES / n_nodes).clamp(1, LANES)
}

/// The problems of each shard on additive kernels, at least one shard per thread if there are enough problems.
pub(super) fn additive_shards(n_problems: usize, n_nodes: usize, threads: usize) -> Vec<Range<usize>> {
    split(n_problems, problems_per_shard(n_nodes), threads)
}

/// Maximum bytes per row in the lanes of all shards, including its place in an order, for any number of threads up to
/// `threads`.
pub(crate) fn packed_row_bytes(n_problems: usize, n_nodes: usize, threads: usize) -> usize {
    let shards = (n_problems.div_ceil(problems_per_shard(n_nodes)) + threads - 1).min(n_problems);
    shards * (size_of::<[f32; LANES]>() + size_of::<u16>() + 2 * size_of::<u32>())
}

/// The solved problems. All vectors except `weights` have one element per problem.
#[derive(Clone, Debug)]
pub struct DualSolution {
    /// a_j: `weights[(feature * n_nodes + node) * n_problems + problem]`.
    pub weights: Vec<f32>,
    /// Dual variables, one per row; empty if the rows were solved in blocks, for a problem that the time limit left
    /// unstarted, and if only the weights were requested.
    pub alphas: Vec<Vec<f32>>,
    /// How each problem ended, with the objective ½‖f‖² + C Σ loss.
    pub problems: Vec<ProblemReport>,
    /// The decision values of rows from weights that were learned without them, in the order in which they were held
    /// out; empty if none were, or time was up.
    pub held_out: Vec<Vec<f32>>,
}

impl DualSolution {
    pub(super) fn join(n_weights: usize, solved: Vec<State<f32>>) -> Self {
        let n_problems = solved.len();
        let mut weights = vec![0.0; n_weights * n_problems];
        for (k, one) in solved.iter().enumerate() {
            for (slot, &weight) in weights[k..].iter_mut().step_by(n_problems).zip(&one.weights) {
                *slot = weight;
            }
        }
        DualSolution {
            weights,
            problems: solved.iter().map(State::report).collect(),
            held_out: solved.iter().map(|one| one.held_out.clone()).collect(),
            alphas: solved.into_iter().map(|one| one.alphas).collect(),
        }
    }

    /// Ends the problems that another solver was to go on with, where the time limit does not allow it.
    pub(crate) fn end_at_time_limit(&mut self) {
        let unsolved = self.problems.iter_mut().filter(|problem| problem.status == Status::IterationLimit);
        unsolved.for_each(|problem| problem.status = Status::TimeLimit);
        self.held_out.clear();
    }
}
