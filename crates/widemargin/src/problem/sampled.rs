//! An objective whose Hessian is computed from a sample of its rows.
//!
//! If the rows are on disk or on other machines, reading all of them dominates the cost. Newton's method needs the
//! Hessian only for a direction, but conjugate gradients would read all rows for every product. A direction from m rows
//! of D features leaves about D/m of the gap (which is small to begin with at the solution on those rows, the starting
//! point): gradients, line searches and the certificate use all rows, so the solution is the same. Byrd, Chin, Neveitt
//! and Nocedal, *On the use of stochastic Hessian information in optimization methods for machine learning*, SIAM J.
//! Optim. 21 (2011).

use super::linear_queries::{LinearRows, Objective};
use super::objective::{Cost, Shape};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::partition::{Executor, Query};
use crate::tuning::SAMPLED_STEPS;

/// The sum over all rows, with the Hessian of a sample of them.
#[derive(Debug)]
pub struct SampledObjective<A, S> {
    all: A,
    sample: S,
    steps: u32,
}

impl<A: Objective, S: Objective> SampledObjective<A, S> {
    /// `sample` is over some of the rows of `all`, with costs scaled up such that both sums are about equal.
    ///
    /// # Errors
    /// [`Error::Shape`] if the two differ in more than their rows.
    pub fn new(all: A, sample: S) -> Result<Self> {
        let (shape, other) = (all.shape(), sample.shape());
        if (Shape { n_rows: 0, ..shape }) != (Shape { n_rows: 0, ..other }) {
            let (found, expected) = (format!("{other:?}"), format!("{shape:?}, as all rows have"));
            return Err(Error::shape("a sample's objective", found, expected));
        }
        Ok(SampledObjective { all, sample, steps: 0 })
    }

    /// Both objectives.
    pub fn into_parts(self) -> (A, S) {
        (self.all, self.sample)
    }

    fn is_sample_enough(&self) -> bool {
        self.steps < SAMPLED_STEPS
    }
}

/// Queries about a preconditioner are to the sample, those about the Hessian as long as it is enough, others to all rows; what changes the state of
/// rows is for both.
impl<A: Objective, S: Objective> Executor for SampledObjective<A, S> {
    type Of = LinearRows;

    fn reduce<Q: Query<Of = LinearRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        if Q::CHANGES_STATE {
            self.sample.reduce(query, monitor)?;
        }
        if Q::IS_OF_PRECONDITIONER || Q::IS_OF_HESSIAN && self.is_sample_enough() {
            self.sample.reduce(query, monitor)
        } else {
            self.all.reduce(query, monitor)
        }
    }
}

impl<A: Objective, S: Objective> Objective for SampledObjective<A, S> {
    fn shape(&self) -> Shape {
        self.all.shape()
    }

    fn cost(&self) -> Cost {
        let sample = self.sample.cost();
        if self.is_sample_enough() { sample } else { Cost { gram: sample.gram, ..self.all.cost() } }
    }

    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.steps += 1;
        self.sample.take_step(live, steps)?;
        self.all.take_step(live, steps)
    }

    /// The sample keeps all of its rows: it is used for directions only.
    fn hold_out(&mut self) -> Result<()> {
        self.steps = 0;
        self.all.hold_out()
    }
}
