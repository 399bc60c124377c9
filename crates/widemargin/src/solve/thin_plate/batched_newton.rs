//! Newton's method on features, for all problems at once: a step of all of them is one pass over the rows.
//!
//! A pass that evaluates the full step also counts the rows whose loss curves there, since the full step is nearly always
//! taken: the next step then needs no further pass. Problems of classes start with the same Hessian, that of all rows,
//! which is computed once.

use std::ops::Range;

use super::basis_queries::{Accept, BasisRows, Evaluate, LineSearch, Origin, SetLosses, Without};
use super::factor::Factor;
use super::newton::{self, Ended, FullStep, Lambdas, NewtonProblems, Stop};
use super::row_sums::{Place, PointSums, RowsShape, Sums};
use crate::error::{Error, Result};
use crate::linalg::factor::dot;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Query};
use crate::problem::{Loss, SmoothLoss};
use crate::solve::Status;

/// Rounding of a Hessian's entries from which rows were removed, relative to those of all rows.
const UNCOUNTED_ROUNDING: f64 = 1e-13;

/// How far decision values move at a time where no sample determines them, in units of the largest target.
const REACH: f64 = 4.0;

/// How a problem ended, with the factor of its last step if it converged.
pub(crate) type WithFactor = (Ended, Option<Factor>);

/// When problems need not be solved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Enough {
    Never,
    /// When one of them has at most this loss.
    Loss(f64),
    /// When the gap is above this, relative to the objective, and that of the rounded loss is half of it; or, if it is
    /// rough, when both together are at most this.
    Gap {
        most: f64,
        is_rough: bool,
    },
}

/// Gaps of a problem with a rounded loss, relative to the objective, where it stands. Unless it is solved, they are
/// estimates: the dual variables need not be feasible.
pub(crate) struct Gaps {
    pub of_loss: f64,
    pub of_rounded: f64,
}

/// The current points of the problems, with their sums.
pub(crate) struct BatchedNewton<'r, E> {
    rows: &'r mut E,
    pub shape: RowsShape,
    /// The loss of each problem.
    pub losses: Vec<SmoothLoss>,
    /// The unpenalized feature of a row of weight 1, if it is a constant that may be undetermined; else 0.
    pub column: f64,
    /// A bound on the rounding of the unpenalized part of a Hessian from which rows were removed.
    rounding: f64,
    pool: &'r Pool,
    /// One per problem; empty before the first start.
    pub hessians: Vec<Vec<f64>>,
    /// Problems × width.
    pub points: Vec<f64>,
    pub sums: Vec<PointSums>,
    /// The full steps, with their sums, and the factors of those at the λ to solve for.
    full: Vec<f64>,
    full_sums: Vec<PointSums>,
    factors: Vec<Option<Factor>>,
    /// Whether a problem is to be solved.
    pub is_open: Vec<bool>,
    pub enough: Enough,
    /// Whether a problem is between two evaluated points.
    is_between: Vec<bool>,
}

impl<'r, E: Executor<BasisRows>> BatchedNewton<'r, E> {
    /// Problems that share the Hessian at 0 do so unless losses are rounded.
    pub fn new((rows, shape): (&'r mut E, RowsShape), losses: Vec<SmoothLoss>, pool: &'r Pool) -> Result<Self> {
        rows.reduce(&SetLosses { losses: losses.clone(), from_derivatives: false }, &Monitor::none())?;
        let shares_first_hessian = shape.shares_first_hessian && !losses.iter().any(|loss| loss.is_rounded());
        let (shape, k) = (RowsShape { shares_first_hessian, ..shape }, shape.n_problems);
        Ok(BatchedNewton {
            rows,
            shape,
            losses,
            column: 0.0,
            rounding: 0.0,
            pool,
            hessians: Vec::new(),
            points: Vec::new(),
            sums: vec![PointSums::default(); k],
            full: Vec::new(),
            full_sums: vec![PointSums::default(); k],
            factors: (0..k).map(|_| None).collect(),
            is_open: vec![true; k],
            enough: Enough::Never,
            is_between: vec![false; k],
        })
    }

    /// The place of a problem in points.
    fn own(&self, problem: usize) -> Range<usize> {
        problem * self.shape.width()..(problem + 1) * self.shape.width()
    }

    /// The point of a problem.
    pub fn point(&self, problem: usize) -> &[f64] {
        &self.points[self.own(problem)]
    }

    fn all(&self) -> Vec<usize> {
        (0..self.shape.n_problems).collect()
    }

    pub fn ask<Q: Query<Of = BasisRows>>(&mut self, query: &Q) -> Result<Q::Answer> {
        self.rows.reduce(query, &Monitor::none())
    }

    /// Evaluates live problems, with the changes of their Hessians.
    fn look(&mut self, live: &[usize], at: Place) -> Result<Vec<PointSums>> {
        let query = Evaluate { live: live.to_vec(), at, counts: true };
        let hessians = live.iter().map(|&problem| std::mem::take(&mut self.hessians[problem])).collect();
        let mut total: Sums = (hessians, Vec::new());
        self.rows.accumulate(&mut total, &query)?;
        live.iter().zip(total.0).for_each(|(&problem, hessian)| self.hessians[problem] = hessian);
        Ok(total.1)
    }

    /// Resumes from stored points, which had been evaluated.
    pub fn restore(&mut self, points: Vec<f64>, hessians: Vec<Vec<f64>>) -> Result<()> {
        let all = self.all();
        (_, self.sums) = self.ask(&Evaluate { live: all.clone(), at: Place::Points(points.clone()), counts: false })?;
        self.ask(&Accept { live: all })?;
        (self.points, self.hessians) = (points, hessians);
        Ok(())
    }

    /// Moves every problem to a point (problems × width) with the rows of a fold excluded, or all included.
    pub fn without(&mut self, fold: Option<u32>, points: &[f64]) -> Result<()> {
        if self.hessians.is_empty() {
            self.begin()?;
        }
        self.ask(&Without { fold })?;
        self.stand(points.to_vec())
    }

    /// Rounds the loss of each problem over a width, about the multipliers of the rows or the derivatives where the problems
    /// stand, and moves every problem to a point (problems × width).
    pub fn round(&mut self, widths: &[f64], from_derivatives: bool, points: &[f64]) -> Result<()> {
        self.losses.iter_mut().zip(widths).for_each(|(loss, width)| loss.width = *width);
        if self.hessians.is_empty() {
            self.begin()?;
        }
        self.ask(&SetLosses { losses: self.losses.clone(), from_derivatives })?;
        self.stand(points.to_vec())
    }

    /// Sets every problem to its point, with its Hessian there.
    fn stand(&mut self, points: Vec<f64>) -> Result<()> {
        self.points = points;
        self.evaluate(&self.all())
    }

    /// Evaluates these problems at their points.
    fn evaluate(&mut self, live: &[usize]) -> Result<()> {
        let sums = self.look(live, Place::Points(self.points.clone()))?;
        self.ask(&Accept { live: live.to_vec() })?;
        live.iter().zip(sums).for_each(|(&problem, sums)| self.sums[problem] = sums);
        Ok(())
    }

    /// Sets every problem to 0; returns the trace of the penalized part of the Hessian of all rows.
    pub fn begin(&mut self) -> Result<f64> {
        let (k, p) = (self.shape.n_problems, self.shape.width());
        let (mut hessians, sums) = self.ask(&Origin {})?;
        let hessian = hessians.pop().unwrap_or_default();
        let trace = (0..self.shape.n_penalized).map(|i| hessian[i * p + i]).sum();
        if !self.shape.shares_first_hessian {
            let free = self.shape.n_penalized..p;
            self.rounding = UNCOUNTED_ROUNDING * free.map(|i| hessian[i * p + i]).fold(0.0, f64::max);
            // Nothing is counted yet.
            self.hessians = vec![vec![0.0; p * p]; k];
            self.stand(vec![0.0; k * p])?;
            return Ok(trace);
        }
        self.hessians = vec![hessian; k];
        (self.points, self.sums) = (vec![0.0; k * p], sums);
        Ok(trace)
    }

    fn place(&mut self, starts: &[f64]) -> Result<()> {
        if self.points == starts {
            return Ok(());
        }
        if starts.iter().all(|x| *x == 0.0) {
            return self.begin().map(drop);
        }
        self.stand(starts.to_vec())
    }

    /// ⟨h, h'⟩ of two points of a problem, in its units of λ.
    fn inner(&self, problem: usize, a: &[f64], b: &[f64]) -> f64 {
        let penalized = self.shape.n_penalized;
        self.losses[problem].factor_of_lambda() * dot(&a[..penalized], &b[..penalized])
    }

    /// Minimizes all problems from the starts (problems × width), or until that is enough, with the factors of those that
    /// converged; `Ok(None)` if λ is too small for double precision in one of them.
    pub fn minimize(
        &mut self,
        lambdas: Lambdas,
        starts: &[f64],
        stop: Stop,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Vec<WithFactor>>> {
        self.place(starts)?;
        // Of the squared hinge every row is a violator there.
        let is_hinge = self.losses.iter().all(|loss| loss.loss == Loss::SquaredHinge);
        let is_fresh = is_hinge && starts.iter().all(|x| *x == 0.0);
        let ended = newton::minimize(self, (lambdas, is_fresh), stop, monitor)?;
        self.settle()?;
        let factors = self.factors.iter_mut().map(Option::take);
        let with_factor =
            |(ended, factor): (Ended, Option<Factor>)| (ended, factor.filter(|_| ended.status == Status::Converged));
        Ok(ended.map(|ended| ended.into_iter().zip(factors).map(with_factor).collect()))
    }

    /// The gaps of a problem with a rounded loss.
    pub fn gaps(&self, problem: usize, lambda: f64) -> Gaps {
        let lambda = self.losses[problem].factor_of_lambda() * lambda;
        let (t, free) = self.point(problem).split_at(self.shape.n_penalized);
        let PointSums { right, linear, exact, curved, .. } = &self.sums[problem];
        let (pushed, balance) = right.split_at(t.len());
        let quadratic = dot(pushed, pushed) / lambda;
        let primal = lambda * dot(t, t) + exact[0];
        // A smaller multiple of dual variables is as feasible as these.
        let factor = if quadratic > *linear { (linear / quadratic).max(0.0) } else { 1.0 };
        let turn: f64 = free.iter().zip(balance).map(|(free, balance)| free * balance).sum();
        let of_loss = primal - factor * (2.0 * (linear - turn) - factor * quadratic);
        // Of the rounded loss it is ‖gradient‖², and what a step of the intercept alone saves.
        let gradient = t.iter().zip(pushed).map(|(t, pushed)| (lambda * t - pushed).powi(2)).sum::<f64>();
        let square = dot(balance, balance);
        let step = if *curved > 0.0 { square.sqrt() / (self.column.powi(2) * curved) } else { self.reach() };
        let shift = if free.is_empty() { 0.0 } else { square.sqrt() * step };
        Gaps { of_loss: of_loss / primal, of_rounded: (gradient / lambda + shift) / primal }
    }

    /// How far an unpenalized constant moves that no row determines, relative to the size of the scores: beyond all targets.
    pub fn reach(&self) -> f64 {
        if self.column == 0.0 { 0.0 } else { REACH / self.column.abs() }
    }

    /// Recomputes the scores of problems that are between two evaluated points, so that a resumed fit finds the same
    /// bits.
    fn settle(&mut self) -> Result<()> {
        let between: Vec<usize> = (0..self.shape.n_problems).filter(|&problem| self.is_between[problem]).collect();
        if !between.is_empty() {
            self.evaluate(&between)?;
            self.is_between.fill(false);
        }
        Ok(())
    }
}

impl<E: Executor<BasisRows>> NewtonProblems for BatchedNewton<'_, E> {
    fn n_problems(&self) -> usize {
        self.shape.n_problems
    }

    fn is_open(&self, problem: usize) -> bool {
        self.is_open[problem]
    }

    fn is_enough(&self, problem: usize, lambda: f64) -> bool {
        match self.enough {
            Enough::Never => false,
            Enough::Loss(loss) => self.sums.iter().any(|sums| sums.loss <= loss),
            Enough::Gap { most, is_rough } => {
                let Gaps { of_loss, of_rounded } = self.gaps(problem, lambda);
                (of_rounded <= 0.5 * of_loss && of_loss > most) || (is_rough && of_loss + of_rounded <= most)
            }
        }
    }

    fn at(&self, problem: usize) -> [f64; 2] {
        let point = self.point(problem);
        [self.inner(problem, point, point), self.sums[problem].loss]
    }

    fn propose(&mut self, live: &[usize], lambda: f64, is_last: bool) -> Result<Option<Vec<FullStep>>> {
        // Only the factors of the last step are used later.
        live.iter().for_each(|&problem| self.factors[problem] = None);
        // The step solves (H + λI) Δ = −gradient / 2, so that directions that the violators leave undetermined do not
        // change.
        let (hessians, sums, points, shape) = (&self.hessians, &self.sums, &self.points, self.shape);
        let (reach, rounding, losses) = (self.reach(), self.rounding, &self.losses);
        let (b, p) = (shape.n_penalized, shape.width());
        let made = self.pool.try_map(live.len(), |at| {
            let problem = live[at];
            let lambda = losses[problem].factor_of_lambda() * lambda;
            let Some(factor) = Factor::new(&hessians[problem], shape, lambda, rounding) else { return Ok(None) };
            let (point, mut right) = (&points[problem * p..(problem + 1) * p], sums[problem].right.clone());
            right[..b].iter_mut().zip(point).for_each(|(r, t)| *r -= lambda * t);
            let PointSums { size, pulls, .. } = sums[problem];
            let (step, falls) = factor.solve(&right, (reach * (1.0 + size), pulls / reach));
            let next: Vec<f64> = step.iter().zip(point).map(|(d, x)| x + d).collect();
            Ok::<_, Error>(Some((next, is_last.then_some(factor), falls)))
        })?;
        let Some(made) = made.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        self.full.clone_from(&self.points);
        let mut fall = Vec::with_capacity(live.len());
        for (&problem, (next, factor, falls)) in live.iter().zip(made) {
            let own = self.own(problem);
            self.full[own].copy_from_slice(&next);
            self.factors[problem] = factor;
            fall.push(falls);
        }
        let sums = self.look(live, Place::Points(self.full.clone()))?;
        let mut steps = Vec::with_capacity(live.len());
        for ((&problem, sums), falls) in live.iter().zip(sums).zip(fall) {
            let (point, next) = (self.point(problem), &self.full[self.own(problem)]);
            let (penalty, cross) = (self.inner(problem, next, next), self.inner(problem, point, next));
            let PointSums { loss, size, .. } = sums;
            // Along a direction in which the objective falls and does not curve no full step is a solution.
            let crossing = if falls { f64::INFINITY } else { sums.crossing };
            steps.push(FullStep { penalty, cross, loss, crossing, size });
            self.full_sums[problem] = sums;
        }
        Ok(Some(steps))
    }

    fn derivatives(&mut self, live: &[usize], places: &[f64]) -> Result<Vec<[f64; 3]>> {
        self.ask(&LineSearch { live: live.to_vec(), places: places.to_vec() })
    }

    fn go(&mut self, live: &[usize], places: Option<&[f64]>) -> Result<()> {
        let sums = match places {
            Some(places) => self.look(live, Place::OnLines(places.to_vec()))?,
            None => {
                self.ask(&Accept { live: live.to_vec() })?;
                live.iter().map(|&problem| std::mem::take(&mut self.full_sums[problem])).collect()
            }
        };
        for ((at, &problem), sums) in live.iter().enumerate().zip(sums) {
            let own = self.own(problem);
            let (points, full) = (&mut self.points[own.clone()], &self.full[own]);
            match places {
                Some(places) => points.iter_mut().zip(full).for_each(|(x, to)| *x += places[at] * (to - *x)),
                None => points.copy_from_slice(full),
            }
            self.sums[problem] = sums;
            self.is_between[problem] = places.is_some();
        }
        Ok(())
    }
}
