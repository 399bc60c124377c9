//! All problems at one λ on bases, solved together, with the data for resuming a killed fit.

use super::batched_newton::{BatchedNewton, WithFactor};
use super::factor::Factor;
use super::log::Log;
use super::newton::{Ended, Lambdas};
use super::path::{Candidate, Refits, Run, Solved, Visit};
use super::row_sums::LeaveOneOutSums;
use super::system::Point;
use crate::error::Result;
use crate::linalg::factor::dot;
use crate::monitor::Progress;
use crate::solve::Status;
use crate::tuning::N_FOLDS;

/// The state of the rows, and constants for all λ.
pub(crate) struct BasisVisits<'r, 'a> {
    pub batched_newton: BatchedNewton<'r>,
    pub run: Run<'a>,
    pub log: Option<Log<'a>>,
}

impl BasisVisits<'_, '_> {
    /// The starting point of every problem.
    pub fn origins(&self) -> Vec<Point> {
        let shape = self.batched_newton.rows.shape();
        let (coefficients, free) = (vec![0.0; shape.n_penalized], vec![0.0; shape.n_free]);
        vec![Point { coefficients, free, ..Point::default() }; shape.n_problems]
    }

    /// Minimizes all problems from these points (problems × width).
    fn minimize(&mut self, lambdas: Lambdas, starts: &[f64]) -> Result<Option<Vec<WithFactor>>> {
        self.batched_newton.minimize(lambdas, starts, self.run.settings.stop, None, self.run.monitor)
    }

    fn solve(&mut self, lambdas: Lambdas, starts: &[Point]) -> Result<Option<Candidate>> {
        let Some(ended) = self.minimize(lambdas, &flat(starts.iter()))? else { return Ok(None) };
        let solutions: Vec<Solved> =
            ended.iter().enumerate().map(|(at, (ended, _))| self.solved(at, *ended, lambdas.last)).collect();
        let factors: Option<Vec<_>> = ended.into_iter().map(|(_, factor)| factor).collect();
        let (mut found, mut loo_values) = (None, Vec::new());
        // If the rows inside the margin do not determine the polynomials, the solution without a row is not determined.
        if let Some(factors) = factors.filter(|factors| factors.iter().all(Factor::is_determined)) {
            let roots = self.run.pool.try_map(factors.len(), |at| Ok::<_, crate::Error>(factors[at].root()))?;
            drop(factors);
            let (sums, values) = self.batched_newton.rows.leave_one_out(&roots)?;
            (found, loo_values) = (Some(sums), values);
        }
        let candidate = Candidate::new(lambdas, solutions, loo_values, found.as_ref());
        Ok(Some(Candidate { some: found.map(|sums| sums.some).unwrap_or_default(), ..candidate }))
    }

    fn solved(&self, problem: usize, ended: Ended, lambda: f64) -> Solved {
        let n_penalized = self.batched_newton.rows.shape().n_penalized;
        let (t, gamma) = self.batched_newton.point(problem).split_at(n_penalized);
        let sums = &self.batched_newton.sums[problem];
        // The dual objective at a = y (√w − y z)₊ / λ: 2λ Σ y_i a_i √w_i − λ‖Σ a_i x_i‖² − λ² Σ a_i², times C.
        let pushed = &sums.right[..n_penalized];
        let dual = match ended.status {
            Status::Converged => 0.5 / lambda * (2.0 * sums.slack_sum - sums.loss - dot(pushed, pushed) / lambda),
            // Not feasible: only the trivial bound 0 is known.
            _ => 0.0,
        };
        let point = Point { coefficients: t.to_vec(), free: gamma.to_vec(), ..Point::default() };
        let Ended { steps, status, objective } = ended;
        Solved { point, n_inside: sums.n_inside, steps, status, objective, dual }
    }
}

impl Visit for BasisVisits<'_, '_> {
    fn began(&self) -> Option<f64> {
        self.log.as_ref().and_then(Log::began)
    }

    fn visit(&mut self, lambdas: Lambdas, starts: &[Point]) -> Result<Option<Candidate>> {
        if let Some(log) = &mut self.log {
            if let Some(known) = log.next() {
                return Ok(known);
            }
            if let Some((points, hessians)) = log.place.take() {
                self.batched_newton.restore(points, hessians)?;
            }
        }
        let found = self.solve(lambdas, starts)?;
        if let Some(log) = &mut self.log
            && !found.as_ref().is_some_and(|candidate| candidate.has(Status::TimeLimit))
        {
            log.add(&found, &self.batched_newton.points, &self.batched_newton.hessians)?;
        }
        Ok(found)
    }

    /// One solution per fold, warm-started from that of all rows: each costs about as much as one more C.
    fn confirm(&mut self, lambdas: Lambdas, candidate: &Candidate) -> Result<Option<Refits>> {
        let monitor = self.run.monitor;
        let tell = |done: u32| {
            let (done, total) = (u64::from(done), u64::from(N_FOLDS));
            monitor.tell(Progress { stage: "folds", done, total, gap: None });
        };
        tell(0);
        if let Some((points, hessians)) = self.log.as_mut().and_then(|log| log.place.take()) {
            self.batched_newton.restore(points, hessians)?;
        }
        let start = flat(candidate.solutions.iter().map(|solution| &solution.point));
        let mut sums = LeaveOneOutSums::default();
        for fold in 0..N_FOLDS {
            self.batched_newton.without(Some(fold), &start)?;
            let Some(ended) = self.minimize(lambdas, &start)? else { return Ok(None) };
            if ended.iter().any(|(ended, _)| ended.status != Status::Converged) {
                return Ok(None);
            }
            sums.extend(self.batched_newton.rows.absent_rows()?);
            tell(fold + 1);
        }
        Ok(Some(Refits::OfFolds(sums)))
    }
}

/// Concatenated points of all problems.
fn flat<'a>(points: impl Iterator<Item = &'a Point>) -> Vec<f64> {
    points.flat_map(|point| point.coefficients.iter().chain(&point.free)).copied().collect()
}
