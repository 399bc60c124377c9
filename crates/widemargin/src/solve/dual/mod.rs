//! Dual coordinate descent.
//!
//! On additive kernels, a two-class problem is min over α of ½ Σ_ij α_i α_j y_i y_j K̂(x_i, x_j) + Σ_i (D_i α_i² / 2 − α_i), 0 ≤ α_i ≤ U_i,
//! where K̂ is the kernel of the [`AdditiveMap`](crate::expansion::AdditiveMap). One coordinate at a time is solved
//! exactly, as in Hsieh et al. (ICML 2008) for linear kernels and Wu (CVPR 2012, Algorithm 3) for additive ones: the
//! gradient is y_i Σ_j read(x_ij)·a_j − 1 + D_i α_i, and a step adds Δα·y_i·write(x_ij) to each a_j.
//!
//! The loop is written once, in `rows`, over `DualRows`: what a row times the weights is, and how a
//! step changes them. The rows are those of an additive kernel (`additive`, up to 16 problems in the lanes of vector
//! registers) or features, dense or sparse ([`linear`]). `descent` runs it on rows in memory, `blocks` on rows that do
//! not fit there.

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
mod settings;
mod store;
mod tables;

use std::ops::Range;

use crate::error::Result;
use crate::expansion::{Entries, Entry, on_entries};
use crate::isa::Isa;
use crate::monitor::{Monitor, is_late};
use crate::par;
use crate::problem::HeldOutRows;
use crate::solve::Status;

pub(crate) use blocks::solve_blocks;
pub(crate) use checkpoint::Left;
pub(crate) use problem::packed_row_bytes;
pub use problem::{DualProblem, DualSolution};
pub use settings::DualSettings;
pub(crate) use store::{BlockProblem, Pieces, Store};

use additive::AdditiveRows;
use descent::{Descent, Problems, State};
use problem::additive_shards;
use rows::Pass;
use tables::Tables;

/// Solves every two-class problem of `problem`.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) if the monitor cancelled, [`Error::Threads`](crate::Error::Threads) if
/// no pool can be created.
pub fn solve(problem: &DualProblem<'_>, settings: &DualSettings, monitor: &Monitor<'_>) -> Result<DualSolution> {
    Additive { problem, settings, keep_alphas: true, held_out: HeldOut::default(), monitor, isa: Isa::best() }.solve()
}

/// Rows whose decision values come from weights learned without them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeldOut<'a> {
    /// Held out one set after the other.
    pub sets: &'a [HeldOutRows],
    /// Whether another method takes over at the limit of epochs, and holds the rows out itself.
    pub is_left_to_another: bool,
}

/// The same without the dual variables, but with the decision values of rows that are held out of other descents,
/// set by set ([`DualSolution::held_out`]).
pub(crate) fn solve_for_weights(
    problem: &DualProblem<'_>,
    settings: &DualSettings,
    held_out: HeldOut<'_>,
    monitor: &Monitor<'_>,
) -> Result<DualSolution> {
    Additive { problem, settings, keep_alphas: false, held_out, monitor, isa: Isa::best() }.solve()
}

/// A descent on additive kernels in memory.
struct Additive<'a> {
    problem: &'a DualProblem<'a>,
    settings: &'a DualSettings,
    keep_alphas: bool,
    held_out: HeldOut<'a>,
    monitor: &'a Monitor<'a>,
    isa: Isa,
}

impl Additive<'_> {
    fn solve(&self) -> Result<DualSolution> {
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
        Ok(DualSolution::join(problem.frame(self.isa).n_weights(), solved.into_iter().flatten().collect()))
    }

    /// Solves the problems of a shard.
    fn shard<E: Entry>(&self, rows: AdditiveRows<'_, E>, shard: Range<usize>) -> Result<Vec<State<f32>>> {
        let Additive { problem, settings, held_out, monitor, .. } = self;
        let (terms, frame) = (problem.terms(), problem.frame(self.isa));
        if monitor.is_time_up("solve")? {
            // With this many problems, even a single visit of the rows may take far longer than the limit. The gap is
            // known without reading them.
            let unbegun = |k| {
                let mut one = State::new(settings.tol);
                let loss = |row| terms.cost(row, k) * terms.loss.value(1.0, 0.0);
                one.course.certificate.primal = (0..terms.costs.len()).map(loss).sum();
                one.course.status = Some(Status::TimeLimit);
                one
            };
            return Ok(shard.map(unbegun).collect());
        }
        let states = vec![State::new(settings.tol); shard.len()];
        let problems = Problems { frame, settings: **settings, n_rows: problem.rows.n_rows(), range: shard, states };
        let mut descent = Descent { pass: Pass { isa: self.isa, rows: &rows, terms }, problems, monitor };
        descent.run()?;
        let is_limited = descent.problems.states.iter().any(|one| one.report().status == Status::IterationLimit);
        let is_elsewhere = held_out.is_left_to_another && is_limited;
        if !held_out.sets.is_empty() && !is_elsewhere {
            is_late(descent.hold_out(held_out.sets), "solve")?;
        }
        let mut states = descent.problems.states;
        if !self.keep_alphas {
            // They are one number per row and problem: with many classes they would take most of the memory.
            states.iter_mut().for_each(|one| one.alphas = Vec::new());
        }
        Ok(states)
    }
}

#[cfg(test)]
mod tests;
