//! Dual coordinate descent.
//!
//! On additive kernels, a two-class problem is min over α of ½ Σ_ij α_i α_j y_i y_j K̂(x_i, x_j) + Σ_i (D_i α_i² / 2 − α_i), 0 ≤ α_i ≤ U_i,
//! where K̂ is the kernel of the [`AdditiveMap`](crate::expansion::AdditiveMap). One coordinate at a time is solved
//! exactly, as in Hsieh et al. (ICML 2008) for linear kernels and Wu (CVPR 2012, Algorithm 3) for additive ones: the
//! gradient is y_i Σ_j read(x_ij)·a_j − 1 + D_i α_i, and a step adds Δα·y_i·write(x_ij) to each a_j.
//!
//! The loop over epochs is written once, in `descent`, for rows in memory and for rows that come block by block
//! (`blocks`). The loop over rows is in `rows`, over `DualRows`: what a row times the weights is, and how a step changes
//! them. The rows are those of an additive kernel (`additive`, up to 16 problems in the lanes of vector registers) or
//! features, dense or sparse ([`linear`]). `shard` has the problems that share passes over the rows.

mod additive;
mod blocks;
mod certificate;
mod checkpoint;
mod coordinate;
mod descent;
pub mod linear;
mod loss_terms;
mod order;
mod pack;
mod problem;
mod rows;
mod shard;
mod store;
mod tables;

use std::ops::Range;

use crate::error::Result;
use crate::expansion::{Entries, Entry, on_entries};
use crate::isa::Isa;
use crate::monitor::Monitor;
use crate::par;
use crate::problem::HeldOutRows;
use crate::solve::{DescentSettings, Status};

pub(crate) use blocks::solve_blocks;
pub(crate) use checkpoint::Left;
pub(crate) use problem::packed_row_bytes;
pub use problem::{DualProblem, DualSolution};
pub(crate) use store::{BlockProblem, Pieces, Store};

use additive::AdditiveRows;
use descent::Descent;
use problem::additive_shards;
use rows::Pass;
use shard::{Shard, State};
use tables::Tables;

/// Solves every two-class problem of `problem`.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) if the monitor cancelled, [`Error::Threads`](crate::Error::Threads) if
/// no pool can be created.
pub fn solve(problem: &DualProblem<'_>, settings: &DescentSettings, monitor: &Monitor<'_>) -> Result<DualSolution> {
    Additive::new(problem, settings, monitor).solve()
}

/// A descent on additive kernels in memory.
#[derive(Clone, Copy)]
pub(crate) struct Additive<'a> {
    problem: &'a DualProblem<'a>,
    settings: &'a DescentSettings,
    monitor: &'a Monitor<'a>,
    isa: Isa,
    /// Whether the dual variables are returned.
    pub keep_alphas: bool,
    /// Rows whose decision values come from weights learned without them, one set after the other.
    pub held_out: &'a [HeldOutRows],
    /// Whether another method takes over at the limit of epochs, and holds the rows out itself.
    pub is_left_to_another: bool,
}

impl<'a> Additive<'a> {
    /// A descent that returns the dual variables and holds no rows out.
    pub fn new(problem: &'a DualProblem<'a>, settings: &'a DescentSettings, monitor: &'a Monitor<'a>) -> Self {
        let isa = Isa::best();
        Additive { problem, settings, monitor, isa, keep_alphas: true, held_out: &[], is_left_to_another: false }
    }

    /// Solves every problem.
    ///
    /// # Errors
    /// As for [`solve`].
    pub fn solve(&self) -> Result<DualSolution> {
        let Additive { problem, .. } = self;
        let pool = par::Pool::new(self.settings.threads)?;
        let tables = Tables::new(problem.map, problem.rows.book());
        let diagonal = tables.diagonal(problem.rows);
        let shards = additive_shards(problem.targets.n_problems(), problem.map.n_nodes(), pool.threads());
        let solved = pool.try_map(shards.len(), |at| {
            on_entries!(problem.rows.entries(), entries => {
                self.shard(AdditiveRows::new(problem.rows, entries, &tables, &diagonal), shards[at].clone())
            })
        })?;
        Ok(DualSolution::join(problem.frame().n_weights(), solved.into_iter().flatten().collect()))
    }

    /// Solves the problems of a shard.
    fn shard<E: Entry>(&self, rows: AdditiveRows<'_, E>, problems: Range<usize>) -> Result<Vec<State<f32>>> {
        let Additive { problem, settings, held_out, monitor, .. } = self;
        let (terms, first) = (problem.terms(), problems.start);
        let mut shard = Shard::new(problem.frame(), settings, problems, problem.rows.n_rows());
        if monitor.is_time_up("solve")? {
            // With this many problems, even a single visit of the rows may take far longer than the limit. The gap is
            // known without reading them.
            for (k, State { course, .. }) in (first..).zip(&mut shard.states) {
                let loss = |row| terms.cost(row, k) * terms.loss.value(1.0, 0.0);
                course.certificate.primal = (0..terms.costs.len()).map(loss).sum();
                course.status = Some(Status::TimeLimit);
            }
            return Ok(shard.states);
        }
        let mut descent = Descent::in_memory(Pass { isa: self.isa, rows: &rows, terms }, shard, monitor);
        descent.run()?;
        let is_limited = |state: &State<f32>| state.report().status == Status::IterationLimit;
        let is_elsewhere = self.is_left_to_another && descent.shards[0].states.iter().any(is_limited);
        if !held_out.is_empty() && !is_elsewhere {
            descent.hold_out(held_out)?;
        }
        let mut states = descent.shards.remove(0).states;
        if !self.keep_alphas {
            // They are one number per row and problem: with many classes they would take most of the memory.
            states.iter_mut().for_each(|state| state.alphas = Vec::new());
        }
        Ok(states)
    }
}

#[cfg(test)]
mod tests;
