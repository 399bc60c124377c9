//! All problems at one λ on bases, solved together, with the data for resuming a killed fit.

use super::batched_newton::BatchedNewton;
use super::factor::Factor;
use super::log::Log;
use super::newton::{Ended, Lambdas, Stop};
use super::path::{Candidate, Refits, Solved, Visit};
use super::row_sums::LeaveOneOutSums;
use super::system::Point;
use crate::error::Result;
use crate::linalg::factor::dot;
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::solve::Status;
use crate::tuning::N_FOLDS;

/// Constants for all λ, and the state of the rows.
pub(crate) struct BasisVisits<'r, 'a> {
    batched_newton: BatchedNewton<'r>,
    n_penalized: usize,
    /// λ in true units per scale-free unit.
    unit: f64,
    stop: Stop,
    pool: &'r Pool,
    monitor: &'a Monitor<'a>,
    log: Option<Log<'a>>,
}

impl<'r, 'a> BasisVisits<'r, 'a> {
    pub fn new(
        batched_newton: BatchedNewton<'r>,
        unit: f64,
        stop: Stop,
        pool: &'r Pool,
        monitor: &'a Monitor<'a>,
        log: Option<Log<'a>>,
    ) -> Self {
        let n_penalized = batched_newton.rows.shape().n_penalized;
        BasisVisits { batched_newton, n_penalized, unit, stop, pool, monitor, log }
    }

    /// The starting point of every problem.
    pub fn origins(&self) -> Vec<Point> {
        let shape = self.batched_newton.rows.shape();
        let (coefficients, free) = (vec![0.0; shape.n_penalized], vec![0.0; shape.n_free]);
        vec![Point { coefficients, free, ..Point::default() }; shape.n_problems]
    }

    fn solve(&mut self, lambda: f64, starts: &[Point]) -> Result<Option<Candidate>> {
        let true_lambda = lambda * self.unit;
        let starts = flat(starts.iter());
        let lambdas = Lambdas::new(true_lambda, lambda);
        let Some(ended) = self.batched_newton.minimize(lambdas, &starts, self.stop, None, self.monitor)? else {
            return Ok(None);
        };
        let solutions: Vec<Solved> =
            ended.iter().enumerate().map(|(at, (ended, _))| self.solved(at, *ended, true_lambda)).collect();
        let factors: Option<Vec<_>> = ended.into_iter().map(|(_, factor)| factor).collect();
        let (mut found, mut loo_values) = (None, Vec::new());
        // If the rows inside the margin do not determine the polynomials, the solution without a row is not determined.
        if let Some(factors) = factors.filter(|factors| factors.iter().all(Factor::is_determined)) {
            let roots = self.pool.try_map(factors.len(), |at| Ok::<_, crate::Error>(factors[at].root()))?;
            drop(factors);
            found = Some(self.batched_newton.rows.leave_one_out(&roots)?);
            loo_values = self.batched_newton.rows.loo_values();
        }
        let candidate = Candidate::new(true_lambda, lambda, solutions, loo_values, found.as_ref());
        Ok(Some(Candidate { some: found.map(|sums| sums.some).unwrap_or_default(), ..candidate }))
    }

    fn solved(&self, problem: usize, ended: Ended, lambda: f64) -> Solved {
        let (t, gamma) = self.batched_newton.point(problem).split_at(self.n_penalized);
        let sums = &self.batched_newton.sums[problem];
        // The dual objective at a = y (√w − y z)₊ / λ: 2λ Σ y_i a_i √w_i − λ‖Σ a_i x_i‖² − λ² Σ a_i², times C.
        let pushed = &sums.right[..self.n_penalized];
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

    fn visit(&mut self, lambda: f64, starts: &[Point], done: u64) -> Result<Option<Candidate>> {
        self.monitor.tell(Progress { stage: "solve", done, total: 0, gap: None });
        if let Some(log) = &mut self.log {
            if let Some(known) = log.next() {
                return Ok(known);
            }
            if let Some((points, hessians)) = log.place() {
                self.batched_newton.restore(points, hessians)?;
            }
        }
        let found = self.solve(lambda, starts)?;
        let stopped = |candidate: &Candidate| candidate.solutions.iter().any(|s| s.status == Status::TimeLimit);
        if let Some(log) = &mut self.log
            && !found.as_ref().is_some_and(stopped)
        {
            log.add(&found, &self.batched_newton.points, &self.batched_newton.hessians)?;
        }
        Ok(found)
    }

    /// One solution per fold, warm-started from that of all rows: each costs about as much as one more C.
    fn confirm(&mut self, candidate: &Candidate) -> Result<Option<Refits>> {
        self.monitor.tell(Progress { stage: "folds", done: 0, total: u64::from(N_FOLDS), gap: None });
        if let Some((points, hessians)) = self.log.as_mut().and_then(Log::place) {
            self.batched_newton.restore(points, hessians)?;
        }
        let start = flat(candidate.solutions.iter().map(|solution| &solution.point));
        let lambdas = Lambdas::new(candidate.point.lambda * self.unit, candidate.point.lambda);
        let mut sums = LeaveOneOutSums::default();
        for fold in 0..N_FOLDS {
            self.batched_newton.without(Some(fold), &start)?;
            let Some(ended) = self.batched_newton.minimize(lambdas, &start, self.stop, None, self.monitor)? else {
                return Ok(None);
            };
            if ended.iter().any(|(ended, _)| ended.status != Status::Converged) {
                return Ok(None);
            }
            sums.extend(self.batched_newton.rows.absent_rows()?);
            self.monitor.tell(Progress {
                stage: "folds",
                done: u64::from(fold) + 1,
                total: u64::from(N_FOLDS),
                gap: None,
            });
        }
        Ok(Some(Refits::OfFolds(sums)))
    }
}

/// Concatenated points of all problems.
fn flat<'a>(points: impl Iterator<Item = &'a Point>) -> Vec<f64> {
    points.flat_map(|point| point.coefficients.iter().chain(&point.free)).copied().collect()
}
