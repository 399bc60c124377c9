//! Newton's method on the violators, all problems at once: a step of all of them is one pass over the rows.
//!
//! The same steps as those of `newton.rs`. A pass that looks at the full step counts the rows inside the margin there at
//! once, since nearly always the full step is taken: what the next step needs is then known without another pass.
//! All problems begin with the same Hessian, that of all rows, which is made once.

use super::factor::Factor;
use super::newton::{HEAD_START, KKT, Lambdas, ROUNDING, Stop};
use super::row_sums::{PointSums, RowSums, RowsShape};
use crate::error::{Error, Result};
use crate::linalg::factor::dot;
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::solve::Status;

/// The shortest step: rounding must not stop a search that has a direction of descent.
const FLOOR: f64 = 1e-9;

/// The most places that a line search looks at.
const PLACES: usize = 60;

/// Where the problems stand, and what is known there.
pub(crate) struct BatchedNewton<'r> {
    pub rows: &'r mut dyn RowSums,
    shape: RowsShape,
    pool: &'r Pool,
    /// One a problem; none before the first start.
    pub hessians: Vec<Vec<f64>>,
    /// Problems × width.
    pub points: Vec<f64>,
    pub told: Vec<PointSums>,
}

/// How a problem ended at one λ.
pub(crate) struct Ended {
    /// `None` unless converged.
    pub factor: Option<Factor>,
    pub steps: u32,
    pub status: Status,
    /// λ‖h‖² + Σ slack².
    pub objective: f64,
}

/// A problem on its way.
struct Run {
    stalled: u32,
    /// It stands between two points that were looked at.
    between: bool,
    ended: Option<Ended>,
}

/// A problem whose full step went up.
struct Line {
    problem: usize,
    /// λ times half the derivative of the penalty is `constant + slope · t`.
    constant: f64,
    slope: f64,
    /// The minimum is between these.
    low: f64,
    high: f64,
    place: f64,
}

impl<'r> BatchedNewton<'r> {
    pub fn new(rows: &'r mut dyn RowSums, pool: &'r Pool) -> Self {
        let shape = rows.shape();
        BatchedNewton { rows, shape, pool, hessians: Vec::new(), points: Vec::new(), told: Vec::new() }
    }

    /// The point of a problem.
    pub fn point(&self, problem: usize) -> &[f64] {
        &self.points[problem * self.shape.width()..(problem + 1) * self.shape.width()]
    }

    /// Goes on from where another stood; its points were looked at.
    pub fn restore(&mut self, points: Vec<f64>, hessians: Vec<Vec<f64>>) -> Result<()> {
        let all: Vec<usize> = (0..self.shape.n_problems).collect();
        self.told = self.rows.look(&all, &points, None)?;
        self.rows.accept(&all)?;
        (self.points, self.hessians) = (points, hessians);
        Ok(())
    }

    /// Moves every problem to a point (problems × width) with the rows of a fold absent, or all of them present.
    pub fn without(&mut self, fold: Option<u32>, points: &[f64]) -> Result<()> {
        if self.hessians.is_empty() {
            self.begin()?;
        }
        self.rows.without(fold)?;
        self.stand(points)
    }

    /// Puts every problem at its point, with its Hessian there.
    fn stand(&mut self, points: &[f64]) -> Result<()> {
        let all: Vec<usize> = (0..self.shape.n_problems).collect();
        self.told = self.rows.look(&all, points, Some(&mut self.hessians))?;
        self.rows.accept(&all)?;
        self.points = points.to_vec();
        Ok(())
    }

    /// Puts every problem at 0; the trace of the penalised part of the Hessian of all rows.
    pub fn begin(&mut self) -> Result<f64> {
        let (k, p) = (self.shape.n_problems, self.shape.width());
        let (hessian, told) = self.rows.origin()?;
        let trace = (0..self.shape.n_penalised).map(|i| hessian[i * p + i]).sum();
        self.hessians = vec![hessian; k];
        (self.points, self.told) = (vec![0.0; k * p], told);
        Ok(trace)
    }

    fn place(&mut self, starts: &[f64]) -> Result<()> {
        if self.points == starts {
            return Ok(());
        }
        if starts.iter().all(|x| *x == 0.0) {
            return self.begin().map(drop);
        }
        self.stand(starts)
    }

    /// ‖h‖² of a point.
    fn penalty(&self, point: &[f64]) -> f64 {
        let t = &point[..self.shape.n_penalised];
        dot(t, t)
    }

    /// Minimises all problems from the starts (problems × width), or until one has no more loss than `enough`; `Ok(None)`
    /// where λ is too small for double precision in one of them.
    pub fn minimise(
        &mut self,
        lambdas: Lambdas,
        starts: &[f64],
        stop: Stop,
        enough: Option<f64>,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Vec<Ended>>> {
        let k = self.shape.n_problems;
        let head = if starts.iter().all(|x| *x == 0.0) { lambdas.head } else { 0 };
        self.place(starts)?;
        let mut runs: Vec<Run> = (0..k).map(|_| Run { stalled: 0, between: false, ended: None }).collect();
        let mut steps = 0;
        loop {
            let live: Vec<usize> = (0..k).filter(|&problem| runs[problem].ended.is_none()).collect();
            let status = match monitor.ask() {
                _ if live.is_empty() => break,
                _ if enough.is_some_and(|enough| self.told.iter().any(|told| told.loss <= enough)) => {
                    Some(Status::IterationLimit)
                }
                Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "solve" }),
                Err(Stopped::TimeLimit) if steps > 0 => Some(Status::TimeLimit),
                _ if steps >= stop.max_steps => Some(Status::IterationLimit),
                _ => None,
            };
            if let Some(status) = status {
                live.iter().for_each(|&problem| {
                    runs[problem].ended = Some(self.unsolved(problem, lambdas.last, steps, status))
                });
                break;
            }
            steps += 1;
            let last = steps > head;
            let lambda = if last { lambdas.last } else { lambdas.last * HEAD_START.powi((head - steps + 1) as i32) };
            if !self.step(&live, &mut runs, lambda, last.then_some(steps), stop)? {
                self.settle(&runs)?;
                return Ok(None);
            }
            for &problem in &live {
                if runs[problem].stalled > 20 && runs[problem].ended.is_none() {
                    runs[problem].ended = Some(self.unsolved(problem, lambdas.last, steps, Status::IterationLimit));
                }
            }
        }
        self.settle(&runs)?;
        Ok(runs.into_iter().map(|run| run.ended).collect())
    }

    fn unsolved(&self, problem: usize, lambda: f64, steps: u32, status: Status) -> Ended {
        let objective = lambda * self.penalty(self.point(problem)) + self.told[problem].loss;
        Ended { factor: None, steps, status, objective }
    }

    /// Scores of problems that stand between two points are not what the points give: they are made so, and a fit that
    /// is taken up again finds the same bits.
    fn settle(&mut self, runs: &[Run]) -> Result<()> {
        let between: Vec<usize> = (0..runs.len()).filter(|&problem| runs[problem].between).collect();
        if !between.is_empty() {
            let told = self.rows.look(&between, &self.points, Some(&mut self.hessians))?;
            self.rows.accept(&between)?;
            between.iter().zip(told).for_each(|(&problem, told)| self.told[problem] = told);
        }
        Ok(())
    }

    /// A step of the live problems; false where λ is too small. `last` is the number of the step where its λ is the one
    /// to be solved for.
    fn step(&mut self, live: &[usize], runs: &mut [Run], lambda: f64, last: Option<u32>, stop: Stop) -> Result<bool> {
        let (p, b) = (self.shape.width(), self.shape.n_penalised);
        // The step solves (H + λI) Δ = −gradient / 2, so that what the violators leave undetermined stays.
        let (hessians, told, points, shape) = (&self.hessians, &self.told, &self.points, self.shape);
        let made = self.pool.try_map(live.len(), |at| {
            let problem = live[at];
            let Some(factor) = Factor::new(&hessians[problem], shape, lambda) else { return Ok(None) };
            let point = &points[problem * p..(problem + 1) * p];
            let mut right = told[problem].right.clone();
            right[..b].iter_mut().zip(point).for_each(|(r, t)| *r -= lambda * t);
            let next: Vec<f64> = factor.solve(&right).iter().zip(point).map(|(d, x)| x + d).collect();
            // Only the factor of the last step is ever asked for.
            Ok::<_, Error>(Some((next, last.map(|_| factor))))
        })?;
        let Some(made) = made.into_iter().collect::<Option<Vec<_>>>() else { return Ok(false) };
        let mut nexts = self.points.clone();
        for (&problem, (next, _)) in live.iter().zip(&made) {
            nexts[problem * p..(problem + 1) * p].copy_from_slice(next);
        }
        let looked = self.rows.look(live, &nexts, Some(&mut self.hessians))?;

        let (mut accepted, mut lines) = (Vec::new(), Vec::new());
        let mut before = vec![0.0; runs.len()];
        for ((&problem, (next, factor)), told) in live.iter().zip(made).zip(looked) {
            let (penalty, full_penalty) = (self.penalty(self.point(problem)), self.penalty(&next));
            before[problem] = lambda * penalty + self.told[problem].loss;
            let full = lambda * full_penalty + told.loss;
            let run = &mut runs[problem];
            let near = stop.tol.max(ROUNDING * told.size.max(1.0));
            let solved = told.apart <= near || (run.stalled >= 2 && told.apart <= KKT);
            if let Some(steps) = last.filter(|_| solved) {
                run.ended = Some(Ended { factor, steps, status: Status::Converged, objective: full });
            }
            // Most of the time the full step is the better one even where a shorter would be lower: it is the one that
            // can end the search.
            if run.ended.is_some() || full < before[problem] {
                accepted.push(problem);
            } else {
                let cross = dot(&self.point(problem)[..b], &next[..b]);
                let (constant, slope) = (lambda * (cross - penalty), lambda * (penalty - 2.0 * cross + full_penalty));
                lines.push(Line { problem, constant, slope, low: 0.0, high: 1.0, place: 1.0 });
            }
            self.told[problem] = told;
        }
        self.search(&mut lines)?;
        let (full, short): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|line| line.place >= 1.0);
        accepted.extend(full.iter().map(|line| line.problem));
        accepted.sort_unstable();
        if !accepted.is_empty() {
            self.rows.accept(&accepted)?;
        }
        for &problem in &accepted {
            let own = problem * p..(problem + 1) * p;
            self.points[own.clone()].copy_from_slice(&nexts[own]);
            runs[problem].between = false;
        }
        if !short.is_empty() {
            let problems: Vec<usize> = short.iter().map(|line| line.problem).collect();
            let places: Vec<f64> = short.iter().map(|line| line.place).collect();
            let told = self.rows.take_step(&problems, &places, &mut self.hessians)?;
            for ((&problem, place), told) in problems.iter().zip(&places).zip(told) {
                let own = problem * p..(problem + 1) * p;
                self.points[own.clone()].iter_mut().zip(&nexts[own]).for_each(|(x, to)| *x += place * (to - *x));
                self.told[problem] = told;
                runs[problem].between = true;
            }
        }
        for &problem in live.iter() {
            let after = lambda * self.penalty(self.point(problem)) + self.told[problem].loss;
            let run = &mut runs[problem];
            run.stalled = if after < before[problem] * (1.0 - 1e-14) { 0 } else { run.stalled + 1 };
        }
        Ok(true)
    }

    /// The minimum of each line, where the derivative, which is linear between breakpoints, is 0.
    fn search(&mut self, lines: &mut [Line]) -> Result<()> {
        let mut open: Vec<usize> = (0..lines.len()).collect();
        for _ in 0..PLACES {
            if open.is_empty() {
                break;
            }
            let problems: Vec<usize> = open.iter().map(|&at| lines[at].problem).collect();
            let places: Vec<f64> = open.iter().map(|&at| lines[at].place).collect();
            let found = self.rows.line_search_eval(&problems, &places)?;
            let mut next = Vec::new();
            for (&at, [slope, curvature]) in open.iter().zip(found) {
                if !lines[at].narrow(slope, curvature) {
                    next.push(at);
                }
            }
            open = next;
        }
        Ok(())
    }
}

impl Line {
    /// Takes in what the rows told at `place` and chooses the next place; true where the minimum is found.
    fn narrow(&mut self, loss_slope: f64, loss_curvature: f64) -> bool {
        let (slope, curvature) = (self.constant + self.slope * self.place + loss_slope, self.slope + loss_curvature);
        let size = self.constant.abs() + loss_slope.abs();
        if slope.abs() <= 1e-14 * size || (self.place == 1.0 && slope < 0.0) || !slope.is_finite() {
            self.place = self.place.max(FLOOR);
            return true;
        }
        if slope < 0.0 {
            self.low = self.place;
        } else {
            self.high = self.place;
        }
        let newton = self.place - slope / curvature;
        let inside = curvature > 0.0 && newton > self.low && newton < self.high;
        let place = if inside { newton } else { 0.5 * (self.low + self.high) };
        let near = (place - self.place).abs() <= 1e-15 * self.place || self.high - self.low <= 1e-15;
        self.place = place.max(FLOOR);
        near || self.high <= FLOOR
    }
}
