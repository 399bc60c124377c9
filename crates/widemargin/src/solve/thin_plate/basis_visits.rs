//! All problems at one λ on bases, solved together, with the data for resuming a killed fit.

use super::basis_queries::{AbsentRows, BasisRows, LeaveOneOut};
use super::batched_newton::{BatchedNewton, Enough};
use super::factor::Factor;
use super::log::Log;
use super::newton::{Ended, Lambdas};
use super::path::{Candidate, Refits, Run, Solved, Visit};
use super::row_sums::LeaveOneOutSums;
use super::system::Point;
use crate::error::Result;
use crate::linalg::factor::dot;
use crate::monitor::Progress;
use crate::partition::Executor;
use crate::solve::{Status, relative_gap};
use crate::tuning::{
    FIRST_WIDTH_OF_ROUNDED_LOSS, FOLD_TOL, N_FOLDS, TOL_OF_ROUNDED_LOSS, WIDTH_FACTOR_OF_ROUNDED_LOSS,
};

/// Least width of a rounded loss, in units of the targets' size.
const MIN_WIDTH_OF_ROUNDED_LOSS: f64 = 1e-10;

/// The width from which the requested gap is enough.
const WIDTH_OF_LAST_ROUND: f64 = 1e-4;

/// Share of the requested gap at which narrower losses are not tried.
const GAP_OF_LAST_ROUND: f64 = 0.01;

/// A solution, with the factor of its last step if it converged and the loss is not rounded.
type Solution = (Solved, Option<Factor>);

/// The state of the rows, and constants for all λ.
pub(crate) struct BasisVisits<'r, 'a, E> {
    pub batched_newton: BatchedNewton<'r, E>,
    pub run: Run<'a>,
    pub log: Option<Log<'a>>,
    /// The last points without each fold of rounded losses, if there are any.
    pub fold_points: Vec<Vec<f64>>,
}

impl<E: Executor<BasisRows>> BasisVisits<'_, '_, E> {
    /// The starting point of every problem.
    pub fn origins(&self) -> Vec<Point> {
        let shape = self.batched_newton.shape;
        let (coefficients, free) = (vec![0.0; shape.n_penalized], vec![0.0; shape.n_free]);
        vec![Point { coefficients, free, ..Point::default() }; shape.n_problems]
    }

    /// Whether the solutions without a row are determined; without derivatives they are the same.
    fn are_determined(&self, factors: &[Factor]) -> bool {
        let mut all = factors.iter().zip(&self.batched_newton.sums);
        all.all(|(factor, sums)| factor.is_determined() || sums.n_support == 0)
    }

    /// Minimizes all problems from these points (problems × width). Of rounded losses, once a problem is solved well
    /// enough, its derivatives become the multipliers of the next, narrower one, until the gap is at most `tol`. This is
    /// the method of multipliers, whose gap falls faster than the width.
    fn minimize(&mut self, lambdas: Lambdas, starts: &[f64], tol: f64) -> Result<Option<Vec<Solution>>> {
        let (stop, monitor) = (self.run.settings.stop, self.run.monitor);
        if !self.run.settings.losses.are_rounded() {
            let ended = self.batched_newton.minimize(lambdas, starts, stop, monitor)?;
            let solved = |(at, (ended, factor))| (self.solved(at, ended, lambdas.last), factor);
            return Ok(ended.map(|ended| ended.into_iter().enumerate().map(solved).collect()));
        }
        let sizes: Vec<f64> = self.batched_newton.losses.iter().map(|loss| loss.unit).collect();
        let (k, c, mut starts) = (sizes.len(), 0.5 / lambdas.last, starts.to_vec());
        let mut width = FIRST_WIDTH_OF_ROUNDED_LOSS;
        let (mut solved, mut steps): (Vec<Option<Solved>>, _) = (vec![None; k], vec![0; k]);
        let mut dual = vec![0.0; k];
        let is_rough = tol >= FOLD_TOL;
        // Another round costs little where the gap is small, and leaves far less of it.
        let most = if is_rough { tol } else { GAP_OF_LAST_ROUND * tol };
        while solved.contains(&None) {
            let widths: Vec<f64> = sizes.iter().map(|size| width * size).collect();
            // Narrow losses are solved, as their gaps are those of the loss but for rounding.
            let is_hasty = is_rough || width > WIDTH_OF_LAST_ROUND;
            self.batched_newton.enough = if is_hasty { Enough::Gap { most, is_rough } } else { Enough::Never };
            self.batched_newton.round(&widths, width < FIRST_WIDTH_OF_ROUNDED_LOSS, &starts)?;
            self.batched_newton.is_open = solved.iter().map(Option::is_none).collect();
            let ended = self.batched_newton.minimize(lambdas, &starts, stop, monitor)?;
            let Some(ended) = ended else { break };
            for (at, (ended, _)) in ended.into_iter().enumerate() {
                if solved[at].is_some() {
                    continue;
                }
                steps[at] += ended.steps;
                let mut here = self.solved(at, Ended { steps: steps[at], ..ended }, lambdas.last);
                // Accurate solutions are certified, others are near one.
                let gaps = self.batched_newton.gaps(at, lambdas.last);
                let is_near = is_rough && gaps.of_loss + gaps.of_rounded <= tol;
                // Every bound holds; those of narrow widths are coarser by rounding.
                dual[at] = here.dual.max(dual[at]);
                here.dual = dual[at];
                let gap = relative_gap(c * here.objective, here.dual);
                let is_enough = gap <= if width > WIDTH_OF_LAST_ROUND { most } else { tol };
                let is_solved = is_near || (here.status == Status::Converged && is_enough);
                let is_stopped = here.status == Status::TimeLimit || ended.steps >= stop.max_steps;
                if is_solved || is_stopped || width <= MIN_WIDTH_OF_ROUNDED_LOSS {
                    here.status = match here.status {
                        _ if is_near => Status::Converged,
                        Status::Converged if gap > tol => Status::PrecisionLimit,
                        status => status,
                    };
                    solved[at] = Some(here);
                }
            }
            starts.clone_from(&self.batched_newton.points);
            width *= WIDTH_FACTOR_OF_ROUNDED_LOSS;
        }
        self.batched_newton.is_open.fill(true);
        Ok(solved.into_iter().map(|solved| solved.map(|solved| (solved, None))).collect())
    }

    fn solve(&mut self, lambdas: Lambdas, starts: &[Point]) -> Result<Option<Candidate>> {
        let settings = self.run.settings;
        if settings.is_by_folds() {
            let sums = self.folds(lambdas, &flat(starts.iter()))?;
            let status = match &sums {
                Some(_) => Status::Converged,
                None if self.run.monitor.ask().is_err() => Status::TimeLimit,
                None => Status::IterationLimit,
            };
            let unsolved = starts.iter().map(|start| Solved::at(start.clone(), status)).collect();
            return Ok(Some(self.candidate(lambdas, unsolved, Vec::new(), sums)));
        }
        let Some(found) = self.minimize(lambdas, &flat(starts.iter()), TOL_OF_ROUNDED_LOSS)? else { return Ok(None) };
        let (solutions, factors): (Vec<Solved>, Vec<Option<Factor>>) = found.into_iter().unzip();
        let (mut sums, mut loo_values) = (None, Vec::new());
        // If the rows inside the margin do not determine the polynomials, the solution without a row is not determined.
        let factors = factors.into_iter().collect::<Option<Vec<_>>>();
        if settings.estimates_by_folds() {
            let start = flat(solutions.iter().map(|solution| &solution.point));
            sums = self.folds(lambdas, &start)?;
            self.batched_newton.without(None, &start)?;
        } else if let Some(factors) = factors.filter(|factors| self.are_determined(factors)) {
            let roots = self.run.pool.try_map(factors.len(), |at| Ok::<_, crate::Error>(factors[at].root()))?;
            drop(factors);
            let (found, values) = self.batched_newton.ask(&LeaveOneOut { roots })?;
            (sums, loo_values) = (Some(found), values);
        }
        Ok(Some(self.candidate(lambdas, solutions, loo_values, sums)))
    }

    fn candidate(
        &self,
        lambdas: Lambdas,
        solutions: Vec<Solved>,
        loo_values: Vec<Vec<f64>>,
        sums: Option<LeaveOneOutSums>,
    ) -> Candidate {
        let mut candidate = Candidate::new(lambdas, solutions, loo_values, sums.as_ref());
        let losses = &self.run.settings.losses;
        if !losses.constants.is_empty() {
            let sums = sums.iter().flat_map(|sums| &sums.of_outputs);
            let point = &mut candidate.point;
            point.of_outputs = sums.map(|[loss, square, weight]| [loss / weight, square / weight]).collect();
            (point.loo_squared_hinge, point.loo_error) = (losses.relative_loss(&point.of_outputs), None);
        }
        Candidate { some: sums.map(|sums| sums.some).unwrap_or_default(), ..candidate }
    }

    /// Solves the problems of a candidate that was selected by fits without each fold alone.
    pub fn solve_selected(&mut self, lambdas: Lambdas, candidate: &mut Candidate) -> Result<()> {
        let starts = flat(candidate.solutions.iter().map(|solution| &solution.point));
        self.batched_newton.without(None, &starts)?;
        if let Some(found) = self.minimize(lambdas, &starts, TOL_OF_ROUNDED_LOSS)? {
            candidate.solve(found.into_iter().map(|(solved, _)| solved).collect());
        }
        Ok(())
    }

    fn solved(&self, problem: usize, ended: Ended, lambda: f64) -> Solved {
        let n_penalized = self.batched_newton.shape.n_penalized;
        let (t, gamma) = self.batched_newton.point(problem).split_at(n_penalized);
        let (sums, loss) = (&self.batched_newton.sums[problem], self.batched_newton.losses[problem]);
        let factor = loss.factor_of_lambda();
        // The dual objective at the derivatives a = 2p of the losses, Σ a √w y − Σ conjugate − ‖Σ p x‖² / λ, times C: of the
        // squared hinge, where a = 2y (√w − y z)₊.
        let (pushed, balance) = sums.right.split_at(n_penalized);
        // What rounding leaves of Σ p u counts at most as much as an intercept beyond all targets makes of it.
        let unbalanced = 2.0 * self.batched_newton.reach() * (1.0 + sums.size) * dot(balance, balance).sqrt();
        let dual = match ended.status {
            Status::Converged => {
                let lambda = factor * lambda;
                0.5 / lambda * (2.0 * sums.linear - sums.exact[1] - dot(pushed, pushed) / lambda - unbalanced)
            }
            // Not feasible: only the trivial bound 0 is known.
            _ => 0.0,
        };
        let point = Point { coefficients: t.to_vec(), free: gamma.to_vec(), ..Point::default() };
        let Ended { steps, status, mut objective } = ended;
        if loss.is_rounded() {
            objective = lambda * dot(t, t) + sums.exact[0] / factor;
        }
        Solved { point, n_inside: sums.n_support, steps, status, objective, dual }
    }

    /// Sums over all samples, each by a fit without its fold, warm-started from the fit of all: each costs about as much
    /// as one more C. None if a fit does not converge.
    ///
    /// With rounded losses nearly all samples have a derivative, and those of a fold do not add up to 0 as those of all do:
    /// fits without a fold start from the last one without it, if there is one.
    fn folds(&mut self, lambdas: Lambdas, start: &[f64]) -> Result<Option<LeaveOneOutSums>> {
        let (mut sums, is_rounded) = (LeaveOneOutSums::default(), self.run.settings.losses.are_rounded());
        if is_rounded && self.fold_points.is_empty() {
            self.fold_points = vec![start.to_vec(); N_FOLDS as usize];
        }
        for fold in 0..N_FOLDS {
            let start = if is_rounded { &self.fold_points[fold as usize].clone() } else { start };
            let progress = Progress { stage: "folds", done: fold.into(), total: N_FOLDS.into(), gap: None };
            self.run.monitor.tell(progress);
            self.batched_newton.without(Some(fold), start)?;
            let Some(mut found) = self.minimize(lambdas, start, FOLD_TOL)? else { return Ok(None) };
            if found.iter().any(|(_, factor)| factor.as_ref().is_some_and(|factor| !factor.is_determined())) {
                // Where rows leave the polynomials open, the solution depends on the start, which knows the fold.
                let zeros = vec![0.0; start.len()];
                self.batched_newton.without(Some(fold), &zeros)?;
                let Some(again) = self.minimize(lambdas, &zeros, FOLD_TOL)? else { return Ok(None) };
                found = again;
            }
            if found.iter().any(|(solved, _)| solved.status != Status::Converged) {
                return Ok(None);
            }
            sums.extend(self.batched_newton.ask(&AbsentRows {})?);
            if is_rounded {
                self.fold_points[fold as usize].clone_from(&self.batched_newton.points);
            }
        }
        Ok(Some(sums))
    }
}

impl<E: Executor<BasisRows>> Visit for BasisVisits<'_, '_, E> {
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

    fn confirm(&mut self, lambdas: Lambdas, candidate: &Candidate) -> Result<Option<Refits>> {
        if let Some((points, hessians)) = self.log.as_mut().and_then(|log| log.place.take()) {
            self.batched_newton.restore(points, hessians)?;
        }
        let start = flat(candidate.solutions.iter().map(|solution| &solution.point));
        Ok(self.folds(lambdas, &start)?.map(Refits::OfFolds))
    }
}

/// Concatenated points of all problems.
fn flat<'a>(points: impl Iterator<Item = &'a Point>) -> Vec<f64> {
    points.flat_map(|point| point.coefficients.iter().chain(&point.free)).copied().collect()
}
