//! The two-class problems of a linear model, and the sum of objectives over different rows: one objective for a training
//! set in several blocks.

use std::ops::Range;
use std::sync::Arc;

use super::block::Block;
use super::block_objective::{BlockObjective, Shard, check_rows};
use super::linear_queries::{LinearRows, Objective};
use super::objective::{Cost, Shape};
use super::{Intercept, Loss, OneVsRest};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Query, add_answer};

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

/// One-vs-rest problems over the rows of several parts.
#[derive(Debug)]
pub struct LinearObjective<'a> {
    parts: Vec<BlockObjective<'a>>,
    shape: Shape,
}

impl<'a> LinearObjective<'a> {
    /// The objective over consecutive blocks of rows in memory, in the order of the problem's.
    ///
    /// `threads` threads run each pass, 0 meaning one per core. Results do not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if blocks and problem are inconsistent, [`Error::Weight`] for a negative or non-finite
    /// cost, [`Error::NoSamples`] without rows, [`Error::Threads`].
    pub fn new(blocks: &[Block<'a>], problem: LinearProblem<'a>, threads: usize) -> Result<Self> {
        let n_rows = check_rows(blocks, &problem)?;
        let pool = Arc::new(Pool::new(threads)?);
        let mut first = 0;
        let part = |&block: &Block<'a>| {
            let rows = first..first + block.n_rows();
            first = rows.end;
            let shards = Shard::all(block.n_rows(), problem.targets.n_problems());
            BlockObjective::of_shards((block, rows.start), problem.part(rows), pool.clone(), shards)
        };
        let parts: Vec<BlockObjective<'_>> = blocks.iter().map(part).collect();
        Ok(LinearObjective { shape: Shape { n_rows, ..parts[0].shape() }, parts })
    }

    /// The same, whose passes over the rows fail soon after a strict limit of the monitor.
    pub(crate) fn monitored(mut self, monitor: Monitor<'a>) -> Self {
        self.parts.iter_mut().for_each(|part| part.monitor = monitor);
        self
    }
}

impl Executor for LinearObjective<'_> {
    type Of = LinearRows;

    fn reduce<Q: Query<Of = LinearRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let mut total = None;
        for part in &mut self.parts {
            add_answer(query, &mut total, query.answer(part, monitor)?)?;
        }
        total.ok_or(Error::NoSamples(""))
    }
}

impl Objective for LinearObjective<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn cost(&self) -> Cost {
        self.parts.iter().map(|part| part.cost()).fold(Cost::default(), |a, b| Cost {
            pass: a.pass + b.pass,
            problem: a.problem + b.problem,
            gram: a.gram + b.gram,
        })
    }
}
