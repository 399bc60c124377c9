//! The sum of objectives over different rows, which is how a training set in several blocks is one objective.

use std::fmt;
use std::sync::Arc;

use super::block::Block;
use super::block_objective::{BlockObjective, check_rows};
use super::linear_queries::{LinearExecutor, LinearRows};
use super::objective::{Cost, Objective, Shape};
use super::{Intercept, OneVsRest, SmoothLoss};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, InMemory, Query};

/// One-vs-rest problems over the rows of several parts.
pub struct LinearObjective<'a> {
    parts: InMemory<'a, LinearRows>,
    shape: Shape,
}

impl<'a> LinearObjective<'a> {
    /// The objective over blocks of rows in memory, which follow each other as `targets` and `costs` do.
    ///
    /// `costs` are C · weight, one a row, finite and at least 0; `threads` work on each pass, 0 meaning one a
    /// core. Results do not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] where blocks, targets and costs do not fit each other, [`Error::Weight`] for a cost that
    /// is negative or not finite, [`Error::NoSamples`] without rows, [`Error::Threads`].
    pub fn new(
        blocks: &[Block<'a>],
        targets: OneVsRest<'a>,
        costs: &'a [f64],
        loss: SmoothLoss,
        intercept: Intercept,
        threads: usize,
    ) -> Result<Self> {
        check_rows(blocks, &targets, costs)?;
        let pool = Arc::new(Pool::new(threads)?);
        let mut first = 0;
        let parts = blocks.iter().map(|&block| {
            let rows = first..first + block.n_rows();
            first = rows.end;
            let (targets, costs) = (targets.part(rows.clone()), &costs[rows.clone()]);
            let part = BlockObjective::new(block, rows.start, targets, costs, (loss, intercept), pool.clone());
            Box::new(part) as Box<dyn Objective + Send>
        });
        LinearObjective::from_parts(parts.collect())
    }

    /// The sum of objectives over different rows, wherever those are.
    ///
    /// # Errors
    /// [`Error::NoSamples`] without parts, [`Error::Shape`] where they are not of one kind.
    pub fn from_parts(parts: Vec<Box<dyn Objective + Send + 'a>>) -> Result<Self> {
        let mut shape = parts.first().ok_or(Error::NoSamples(""))?.shape();
        shape.n_rows = 0;
        for (at, part) in parts.iter().enumerate() {
            let other = part.shape();
            if (Shape { n_rows: 0, ..other }) != (Shape { n_rows: 0, ..shape }) {
                let (found, expected) = (format!("{other:?}"), format!("{shape:?}, as part 0 has"));
                return Err(Error::Shape { what: format!("part {at} of an objective"), found, expected });
            }
            shape.n_rows += other.n_rows;
        }
        Ok(LinearObjective { parts: InMemory(parts), shape })
    }
}

impl fmt::Debug for LinearObjective<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinearObjective").field("parts", &self.parts).field("shape", &self.shape).finish()
    }
}

impl Executor for LinearObjective<'_> {
    type Of = LinearRows;

    fn reduce<Q: Query<Of = LinearRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        self.parts.reduce(query, monitor)
    }
}

impl LinearExecutor for LinearObjective<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn cost(&self) -> Cost {
        self.parts.0.iter().map(|part| part.cost()).fold(Cost::default(), |a, b| Cost {
            pass: a.pass + b.pass,
            problem: a.problem + b.problem,
            gram: a.gram + b.gram,
        })
    }
}
