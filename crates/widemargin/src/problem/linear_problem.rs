//! The two-class problems of a linear model over some rows.

use std::ops::Range;

use super::{Intercept, Loss, OneVsRest, Shape};
use crate::error::{Error, Result};

/// One-vs-rest problems over some rows.
#[derive(Clone, Copy, Debug)]
pub struct LinearProblem<'a> {
    /// The targets of the rows.
    pub targets: OneVsRest<'a>,
    /// C · weight of each row: finite and at least 0.
    pub costs: &'a [f64],
    /// The loss.
    pub loss: Loss,
    /// The intercept.
    pub intercept: Intercept,
}

impl LinearProblem<'_> {
    /// The same problems over a range of the rows.
    pub(crate) fn part(&self, rows: Range<usize>) -> Self {
        LinearProblem { targets: self.targets.part(rows.clone()), costs: &self.costs[rows], ..*self }
    }

    /// The dimensions and kind of the problems.
    pub(crate) fn shape(&self, n_rows: usize, n_features: usize) -> Shape {
        let n_problems = self.targets.n_problems();
        Shape { n_rows, n_features, n_problems, loss: self.loss, intercept: self.intercept }
    }

    /// Checks the number of targets and costs, and the values of the costs.
    ///
    /// # Errors
    /// [`Error::Shape`] for the numbers, [`Error::Weight`] for a negative or non-finite cost.
    pub(crate) fn check(&self, n_rows: usize) -> Result<()> {
        for (what, found) in [("targets", self.targets.n_samples()), ("costs", self.costs.len())] {
            if found != n_rows {
                return Err(Error::shape(what, format!("{found} {what}"), format!("{n_rows}, one per row")));
            }
        }
        match self.costs.iter().position(|cost| !cost.is_finite() || *cost < 0.0) {
            Some(row) => Err(Error::Weight { row, value: self.costs[row] }),
            None => Ok(()),
        }
    }
}
