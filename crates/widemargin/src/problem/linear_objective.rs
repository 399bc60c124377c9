//! The sum of objectives over different rows: one objective for a training set in several blocks.

use std::sync::Arc;

use super::block::Block;
use super::block_objective::{BlockObjective, Shard, check_rows};
use super::linear_problem::LinearProblem;
use super::linear_queries::{LinearRows, Objective};
use super::objective::{Cost, Shape};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Query, add_answer};

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
