//! The inputs and results of the dual solvers.

use super::solved::Solved;
use crate::expansion::{AdditiveMap, CodedRows};
use crate::problem::{Loss, OneVsRest};
use crate::solve::Status;

/// Rows visited between two checks of the monitor.
pub(super) const ROWS_PER_CHECK: usize = 1024;

/// The slack at which a dual variable of the squared hinge stops, if nothing else stops it.
const LARGEST_SLACK: f64 = 1e4;

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

impl DualProblem<'_> {
    /// C · weight of a row in a problem.
    #[inline]
    pub(super) fn cost(&self, row: usize, problem: usize) -> f64 {
        self.costs[row] * self.targets.weight(row, problem)
    }

    /// Upper bound of the dual variable of a row with this C · weight. That of the squared hinge is 2 C times the
    /// loss's slack, at most √n at the optimum of n equal rows. With a map that is not symmetric descent may have no
    /// optimum to go to, and variables that grow without end: they stop at a slack beyond that of any real problem.
    #[inline]
    pub(super) fn upper_bound(&self, cost: f64) -> f64 {
        let upper = self.loss.upper_bound(cost);
        if self.map.is_symmetric() || upper.is_finite() { upper } else { LARGEST_SLACK / self.loss.diagonal(cost) }
    }
}

/// Settings of the solvers.
#[derive(Clone, Copy, Debug)]
pub struct DualSettings {
    /// Relative duality gap, (objective − dual) / objective, at which a problem is solved.
    pub tol: f64,
    /// The maximum number of passes over the rows.
    pub max_epochs: u32,
    /// Seed of the order of the rows.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core.
    pub threads: usize,
}

/// The solved problems. All vectors except `weights` have one element per problem.
#[derive(Clone, Debug)]
pub struct DualSolution {
    /// a_j: `weights[(feature * n_nodes + node) * n_problems + problem]`.
    pub weights: Vec<f32>,
    /// Dual variables, one per row; empty if the rows were solved in blocks, for a problem that the time limit left
    /// unstarted, and if only the weights were requested.
    pub alphas: Vec<Vec<f32>>,
    /// Rows with a dual variable above 0.
    pub n_support: Vec<u32>,
    /// Passes over the rows.
    pub epochs: Vec<u32>,
    /// How each problem ended.
    pub status: Vec<Status>,
    /// Objectives ½‖f‖² + C Σ loss.
    pub primal: Vec<f64>,
    /// Dual objectives.
    pub dual: Vec<f64>,
    /// The decision values of rows from weights that were learned without them, in the order in which they were held
    /// out; empty if none were, or time was up.
    pub held_out: Vec<Vec<f32>>,
}

impl DualSolution {
    pub(super) fn join(problem: &DualProblem<'_>, solved: Vec<Solved>) -> Self {
        let n_problems = solved.len();
        let mut weights = vec![0.0; problem.rows.n_features() * problem.map.n_nodes() * n_problems];
        for (k, one) in solved.iter().enumerate() {
            for (slot, &weight) in weights[k..].iter_mut().step_by(n_problems).zip(&one.weights) {
                *slot = weight;
            }
        }
        DualSolution {
            weights,
            n_support: solved.iter().map(|one| one.n_support).collect(),
            epochs: solved.iter().map(|one| one.epochs).collect(),
            status: solved.iter().map(|one| one.status).collect(),
            primal: solved.iter().map(|one| one.certificate.primal).collect(),
            dual: solved.iter().map(|one| one.certificate.dual).collect(),
            held_out: solved.iter().map(|one| one.held_out.clone()).collect(),
            alphas: solved.into_iter().map(|one| one.alphas).collect(),
        }
    }

    /// Ends the problems that another solver was to go on with, where the time limit does not allow it.
    pub(crate) fn end_at_time_limit(&mut self) {
        for status in &mut self.status {
            if *status == Status::IterationLimit {
                *status = Status::TimeLimit;
            }
        }
        self.held_out.clear();
    }

    /// Relative duality gap of one problem.
    pub fn gap(&self, k: usize) -> f64 {
        super::certificate::relative_gap(self.primal[k], self.dual[k])
    }
}
