//! Dual coordinate descent on additive kernels.
//!
//! A two-class problem is min over α of ½ Σ_ij α_i α_j y_i y_j K̂(x_i, x_j) + Σ_i (D_i α_i² / 2 − α_i), 0 ≤ α_i ≤ U_i,
//! where K̂ is the kernel of the [`AdditiveMap`](crate::expansion::AdditiveMap). One coordinate at a time is solved
//! exactly, as in Hsieh et al. (ICML 2008) for linear kernels and Wu (CVPR 2012, Algorithm 3) for additive ones: the
//! gradient is y_i Σ_j read(x_ij)·a_j − 1 + D_i α_i, and a step adds Δα·y_i·write(x_ij) to each a_j.
//!
//! `one_class` implements this for one problem in the clearest form and is the reference of the tests; `batched` does
//! the same for up to 16 problems in the lanes of vector registers, stored by `pack`; `blocks` does it for rows that do
//! not fit in memory.

mod batched;
mod block_problem;
mod blocks;
pub(super) mod certificate;
mod coordinate;
mod lanes;
#[cfg(test)]
mod one_class;
mod order;
mod pack;
mod problem;
mod solved;
mod tables;

use std::ops::Range;

use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stopped};
use crate::par;
use crate::solve::Status;

pub(crate) use batched::packed_row_bytes;
pub(crate) use block_problem::{BlockProblem, BlockRows, BlockState, Blocks, Deal, DualCheckpoint, Keep, Loaded};
pub(crate) use blocks::solve_blocks;
pub use problem::{DualProblem, DualSettings, DualSolution};

use certificate::Certificate;
use solved::Solved;

/// Solves every two-class problem of `problem`.
///
/// # Errors
/// [`Error::Cancelled`] if the monitor cancelled, [`Error::Threads`] if no pool can be created.
pub fn solve(problem: &DualProblem<'_>, settings: &DualSettings, monitor: &Monitor<'_>) -> Result<DualSolution> {
    solve_all(problem, settings, true, HeldOut::default(), monitor)
}

/// Rows whose decision values come from weights learned without them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeldOut<'a> {
    /// Held out one range after the other.
    pub ranges: &'a [Range<usize>],
    /// Whether another method takes over at the limit of epochs, and holds the rows out itself.
    pub is_left_to_another: bool,
}

/// The same without the dual variables, but with the decision values of rows that are held out of a few more epochs,
/// range by range ([`DualSolution::held_out`]).
pub(crate) fn solve_for_weights(
    problem: &DualProblem<'_>,
    settings: &DualSettings,
    held_out: HeldOut<'_>,
    monitor: &Monitor<'_>,
) -> Result<DualSolution> {
    solve_all(problem, settings, false, held_out, monitor)
}

fn solve_all(
    problem: &DualProblem<'_>,
    settings: &DualSettings,
    keep_alphas: bool,
    held_out: HeldOut<'_>,
    monitor: &Monitor<'_>,
) -> Result<DualSolution> {
    let n_problems = problem.targets.n_problems();
    let pool = par::Pool::new(settings.threads)?;
    let tables = tables::Tables::<f32>::new(problem.map, problem.rows.book());
    let diagonal = tables.diagonal(problem.rows);
    // For weights and dual variables that are all 0.
    let at_start = |k: usize| {
        let primal = (0..problem.costs.len()).map(|row| problem.cost(row, k) * problem.loss.value(1.0, 0.0)).sum();
        Certificate { primal, dual: 0.0 }
    };
    let n_weights = problem.rows.n_features() * problem.map.n_nodes();
    let part = |problems: Range<usize>| -> Result<Vec<Solved>, ()> {
        if monitor.ask() == Err(Stopped::TimeLimit) {
            // With this many problems, even a single visit of the rows may take far longer than the limit.
            return Ok(problems.map(|k| Solved::unbegun(n_weights, at_start(k))).collect());
        }
        let shard = problems.clone();
        let mut solved = batched::solve(problem, &tables, &diagonal, problems, settings, monitor)?;
        let is_limited = |one: &Solved| one.status == Status::IterationLimit;
        let is_here = !(held_out.is_left_to_another && solved.iter().any(is_limited));
        if is_here && !held_out.ranges.is_empty() {
            batched::hold_out(problem, &tables, &diagonal, shard, (&mut solved, held_out.ranges), monitor)?;
        }
        Ok(solved.into_iter().map(|one| one.counted(keep_alphas)).collect())
    };
    let parts = batched::shards(n_problems, problem.map.n_nodes(), pool.threads());
    let solved = pool.try_map(parts.len(), |at| part(parts[at].clone()));
    match solved {
        Ok(parts) => Ok(DualSolution::join(problem, parts.into_iter().flatten().collect())),
        Err(()) => Err(Error::Cancelled { stage: "solve" }),
    }
}
