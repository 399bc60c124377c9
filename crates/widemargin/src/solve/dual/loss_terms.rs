//! The losses of the rows, as their dual sees them.

use crate::problem::{Loss, OneVsRest};

/// Slack at which a dual variable of the squared hinge stops, if nothing else stops it.
const MAX_SLACK: f64 = 1e4;

/// The losses of the rows in each problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossTerms<'a> {
    pub targets: OneVsRest<'a>,
    pub loss: Loss,
    /// C · weight of each row; a row with 0 is ignored.
    pub costs: &'a [f64],
    /// Whether weights are read as they are written, so that they are coordinates of f.
    pub is_symmetric: bool,
}

impl LossTerms<'_> {
    /// C · weight of a row in a problem.
    pub fn cost(&self, row: usize, problem: usize) -> f64 {
        self.costs[row] * self.targets.weight(row, problem)
    }

    /// Upper bound of the dual variable of a row with this C · weight. That of the squared hinge is 2 C times the
    /// loss's slack, at most √n at the optimum of n equal rows. With a map that is not symmetric descent may have no
    /// optimum to go to, and variables that grow without end: they stop at a slack beyond that of any real problem.
    pub fn upper_bound(&self, cost: f64) -> f64 {
        let upper = self.loss.upper_bound(cost);
        if self.is_symmetric || upper.is_finite() { upper } else { MAX_SLACK / self.loss.diagonal(cost) }
    }
}
