//! The sum of objectives over different rows: one objective for a training set in several blocks.

use std::fmt;
use std::sync::Arc;

use super::block::Block;
use super::block_objective::{BlockObjective, check_rows};
use super::linear_queries::{LinearRows, Objective};
use super::objective::{Cost, Shape};
use super::{Intercept, Loss, OneVsRest};
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
    /// The objective over consecutive blocks of rows in memory, in the order of `targets` and `costs`.
    ///
    /// `costs` are C · weight, one per row, finite and at least 0; `threads` threads run each pass, 0 meaning one per
    /// core. Results do not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if blocks, targets and costs are inconsistent, [`Error::Weight`] for a negative or non-finite
    /// cost, [`Error::NoSamples`] without rows, [`Error::Threads`].
    pub fn new(
        blocks: &[Block<'a>],
        targets: OneVsRest<'a>,
        costs: &'a [f64],
        loss: Loss,
        intercept: Intercept,
        threads: usize,
    ) -> Result<Self> {
        LinearObjective::monitored(blocks, targets, costs, (loss, intercept), threads, Monitor::none())
    }

    /// The same, whose passes over the rows fail soon after a strict limit of the monitor.
    pub(crate) fn monitored(
        blocks: &[Block<'a>],
        targets: OneVsRest<'a>,
        costs: &'a [f64],
        kind: (Loss, Intercept),
        threads: usize,
        monitor: Monitor<'a>,
    ) -> Result<Self> {
        check_rows(blocks, &targets, costs)?;
        let pool = Arc::new(Pool::new(threads)?);
        let mut first = 0;
        let parts = blocks.iter().map(|&block| {
            let rows = first..first + block.n_rows();
            first = rows.end;
            let (targets, costs) = (targets.part(rows.clone()), &costs[rows.clone()]);
            let part = BlockObjective::new(block, rows.start, targets, costs, kind, pool.clone());
            part.with_monitor(monitor)
        });
        LinearObjective::from_parts(parts.collect())
    }

    /// The sum of objectives over different rows, wherever these are stored.
    ///
    /// # Errors
    /// [`Error::NoSamples`] without parts, [`Error::Shape`] if their shapes are inconsistent.
    fn from_parts(parts: Vec<BlockObjective<'a>>) -> Result<Self> {
        let mut shape = parts.first().ok_or(Error::NoSamples(""))?.shape();
        shape.n_rows = 0;
        for (at, part) in parts.iter().enumerate() {
            let other = part.shape();
            if (Shape { n_rows: 0, ..other }) != (Shape { n_rows: 0, ..shape }) {
                let (found, expected) = (format!("{other:?}"), format!("{shape:?}, as part 0 has"));
                return Err(Error::shape(format!("part {at} of an objective"), found, expected));
            }
            shape.n_rows += other.n_rows;
        }
        Ok(LinearObjective { parts: InMemory(parts.into_iter().map(Box::new).collect()), shape })
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

impl Objective for LinearObjective<'_> {
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
