//! The main loop: center, gradient, certify, precondition, directions, step. This file has the first half, which
//! evaluates the current point; `step.rs` has the second half, which moves it.

use super::certificate::{dual_bound, relative_gap};
use super::conjugate::dot;
use super::preconditioner::Preconditioner;
use super::settings::{NewtonSettings, NewtonSolution, NewtonStart};
use crate::error::{Error, Result, require, require_gap};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::problem::{Gradient, Intercept, Line, Objective, Shape};
use crate::solve::Status;
use crate::tuning::{GAP_PROGRESS, NEWTON_PATIENCE, NEWTON_PROGRESS};

/// The state of one problem.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) primal: f64,
    pub(super) dual: f64,
    pub(super) iterations: u32,
    pub(super) products: u32,
    /// Products of the last step with the preconditioner shared by all problems.
    pub(super) products_of_shared: u32,
    pub(super) n_support: u64,
    pub(super) status: Status,
    /// Gap and objective at the last step that made progress, and its number.
    pub(super) best: (f64, f64, u32),
}

pub(super) struct Descent<'a, O> {
    pub(super) objective: &'a mut O,
    pub(super) settings: &'a NewtonSettings,
    pub(super) monitor: &'a Monitor<'a>,
    pub(super) shape: Shape,
    /// Number of coordinates of a point.
    pub(super) size: usize,
    pub(super) points: Vec<f64>,
    pub(super) problems: Vec<Problem>,
    /// Unsolved problems.
    pub(super) live: Vec<usize>,
    pub(super) pool: Pool,
    pub(super) passes: u32,
    pub(super) n_factors: u32,
    pub(super) preconditioner: Option<Preconditioner>,
    /// Cost of the products since the preconditioner was computed.
    pub(super) spent: f64,
    /// Whether there was no start and no step yet.
    pub(super) is_cold: bool,
    /// The current factor of the penalty: above 1 on the path to a large C.
    pub(super) ridge: f64,
}

/// Minimizes every problem of `objective`, from `start` or from 0.
///
/// # Errors
/// [`Error::Parameter`] for invalid settings, [`Error::Shape`] for a start with other dimensions, [`Error::Cancelled`]
/// if the monitor cancelled (a time limit is a status instead), and errors of the objective.
pub fn solve(
    objective: &mut impl Objective,
    settings: &NewtonSettings,
    start: Option<NewtonStart<'_>>,
    monitor: &Monitor<'_>,
) -> Result<NewtonSolution> {
    require_gap(settings.tol, "0.001")?;
    require(settings.max_iter > 0, "max_iter", "0", "at least 1")?;
    let shape = objective.shape();
    let size = shape.n_features + 1;
    let mut points = vec![0.0; shape.n_problems * size];
    if let Some(start) = start {
        let (found, right) = (start.weights.len(), shape.n_problems * shape.n_features);
        if found != right || start.intercepts.len() != shape.n_problems {
            return Err(Error::shape(
                "start",
                format!("{found} weights and {} intercepts", start.intercepts.len()),
                format!("{right} weights (problems × features) and {} intercepts", shape.n_problems),
            ));
        }
        let weights = start.weights.chunks(shape.n_features.max(1));
        for (point, weights) in points.chunks_mut(size).zip(weights) {
            point.iter_mut().zip(weights).for_each(|(w, start)| *w = f64::from(*start));
        }
        if shape.intercept != Intercept::None {
            points.chunks_mut(size).zip(start.intercepts).for_each(|(point, &b)| point[size - 1] = b);
        }
    }
    let (primal, dual, best) = (f64::INFINITY, 0.0, (f64::INFINITY, f64::INFINITY, 0));
    let status = Status::IterationLimit;
    let problem =
        Problem { primal, dual, iterations: 0, products: 0, products_of_shared: 0, n_support: 0, status, best };
    let problems = vec![problem; shape.n_problems];
    let live: Vec<usize> = (0..shape.n_problems).collect();
    objective.set_point(&live, &points)?;
    let mut descent = Descent {
        objective,
        settings,
        monitor,
        shape,
        size,
        points,
        problems,
        live,
        pool: Pool::new(settings.threads)?,
        passes: 0,
        n_factors: 0,
        preconditioner: None,
        spent: 0.0,
        is_cold: start.is_none(),
        ridge: 1.0,
    };
    let status = descent.descend()?;
    descent.finish(status)
}

impl<O: Objective> Descent<'_, O> {
    /// Steps until no problem is live or the solver is stopped.
    fn descend(&mut self) -> Result<Status> {
        for iteration in 0.. {
            self.center()?;
            let (mut gradient, bounds) = self.gradient()?;
            self.certify(iteration, &mut gradient, &bounds)?;
            if self.live.is_empty() {
                return Ok(Status::Converged);
            }
            if iteration == self.settings.max_iter {
                return Ok(Status::IterationLimit);
            }
            if self.monitor.is_time_up("solve")? || !self.prepare()? {
                return Ok(Status::TimeLimit);
            }
            let directions = self.directions(&gradient)?;
            self.step(&gradient, directions)?;
            self.live.iter().for_each(|&k| self.problems[k].iterations += 1);
            if self.monitor.is_time_up("solve")? {
                return Ok(Status::TimeLimit);
            }
        }
        Ok(Status::IterationLimit)
    }

    pub(super) fn point(&self, k: usize) -> &[f64] {
        &self.points[k * self.size..(k + 1) * self.size]
    }

    fn live_points(&self, live: &[usize]) -> Vec<f64> {
        live.iter().flat_map(|&k| self.point(k)).copied().collect()
    }

    pub(super) fn intercepts(&self) -> Vec<f64> {
        self.live.iter().map(|&k| self.point(k)[self.size - 1]).collect()
    }

    /// ½‖w‖², plus ½b² if the intercept is penalized.
    fn penalty(&self, k: usize) -> f64 {
        let n = if self.shape.intercept == Intercept::Penalized { self.size } else { self.size - 1 };
        let point = &self.point(k)[..n];
        0.5 * dot(point, point)
    }

    /// Adds the derivative of the current penalty to gradients or Hessian products at `points`.
    pub(super) fn add_penalty(&self, sums: &mut [f64], points: &[f64]) {
        let last = self.size - 1;
        for (sums, point) in sums.chunks_mut(self.size).zip(points.chunks(self.size)) {
            sums[..last].iter_mut().zip(point).for_each(|(sum, w)| *sum += self.ridge * w);
            match self.shape.intercept {
                Intercept::Free => (),
                Intercept::Penalized => sums[last] += self.ridge * point[last],
                Intercept::None => sums[last] = 0.0,
            }
        }
    }

    /// Gradients at the live points, updating primal and dual values; also returns the primal values.
    fn gradient(&mut self) -> Result<(Vec<f64>, Vec<f64>)> {
        let Gradient { sums, mut slopes } = self.objective.gradient(&self.live, &self.intercepts())?;
        let mut primals = Vec::with_capacity(sums.len());
        for ((&k, sums), slope) in self.live.iter().zip(&sums).zip(slopes.chunks(self.size)) {
            let bound = dual_bound(&self.shape, sums, slope);
            primals.push(sums.value + self.penalty(k));
            let problem = &mut self.problems[k];
            problem.dual = problem.dual.max(bound);
            problem.n_support = sums.n_support;
        }
        self.add_penalty(&mut slopes, &self.live_points(&self.live));
        Ok((slopes, primals))
    }

    /// Removes the problems whose gap is small enough, and those that do not improve any more.
    fn certify(&mut self, iteration: u32, gradients: &mut Vec<f64>, primals: &[f64]) -> Result<()> {
        let near: Vec<usize> = (self.live.iter().zip(primals))
            .filter(|&(&k, &primal)| relative_gap(primal, self.problems[k].dual) <= self.settings.tol)
            .map(|(&k, _)| k)
            .collect();
        let mut ended = Vec::new();
        if !near.is_empty() {
            self.measure(&near)?;
            for &k in &near {
                if relative_gap(self.problems[k].primal, self.problems[k].dual) <= self.settings.tol {
                    self.problems[k].status = Status::Converged;
                    ended.push(k);
                }
            }
        }
        let mut worst: f64 = 0.0;
        for (k, &primal) in self.live.clone().into_iter().zip(primals) {
            let problem = &mut self.problems[k];
            let gap = relative_gap(primal, problem.dual);
            worst = worst.max(gap);
            let (last_gap, last_primal, at) = problem.best;
            if self.ridge > 1.0
                || gap < GAP_PROGRESS * last_gap
                || primal < last_primal * (1.0 - NEWTON_PROGRESS * self.settings.tol)
            {
                problem.best = (gap, primal, iteration);
            } else if iteration - at >= NEWTON_PATIENCE && !ended.contains(&k) {
                self.measure(&[k])?;
                ended.push(k);
            }
        }
        let (done, total) = (u64::from(iteration), u64::from(self.settings.max_iter));
        self.monitor.tell(Progress { stage: "solve", done, total, gap: Some(worst) });
        if !ended.is_empty() {
            let size = self.size;
            let stays = |at: &usize| !ended.contains(&self.live[*at]);
            let left: Vec<usize> = (0..self.live.len()).filter(stays).collect();
            *gradients = left.iter().flat_map(|&at| &gradients[at * size..(at + 1) * size]).copied().collect();
            self.live = left.iter().map(|&at| self.live[at]).collect();
        }
        Ok(())
    }

    /// Rounds points to the precision in which they are returned and recomputes their objectives.
    fn measure(&mut self, which: &[usize]) -> Result<()> {
        for &k in which {
            let features = k * self.size..(k + 1) * self.size - 1;
            self.points[features].iter_mut().for_each(|w| *w = f64::from(*w as f32));
        }
        self.objective.set_point(which, &self.live_points(which))?;
        let here = |&k: &usize| Line { intercept: self.point(k)[self.size - 1], step: 0.0, along: 0.0, turn: 0.0 };
        let lines: Vec<Line> = which.iter().map(here).collect();
        for (&k, sums) in which.iter().zip(self.objective.line_search_eval(which, &lines)?) {
            self.problems[k].primal = sums.value + self.penalty(k);
        }
        Ok(())
    }

    /// Ends the live problems with `status`, evaluated at the current point.
    fn finish(mut self, status: Status) -> Result<NewtonSolution> {
        let live = std::mem::take(&mut self.live);
        if !live.is_empty() {
            self.measure(&live)?;
        }
        for k in live {
            self.problems[k].status = status;
        }
        let each = |what: fn(&Problem) -> u32| self.problems.iter().map(what).collect::<Vec<u32>>();
        let last = self.size - 1;
        Ok(NewtonSolution {
            weights: self.points.chunks(self.size).flat_map(|point| &point[..last]).map(|&w| w as f32).collect(),
            intercepts: self.points.chunks(self.size).map(|point| point[last]).collect(),
            iterations: each(|problem| problem.iterations),
            products: each(|problem| problem.products),
            n_support: each(|problem| u32::try_from(problem.n_support).unwrap_or(u32::MAX)),
            status: self.problems.iter().map(|problem| problem.status).collect(),
            primal: self.problems.iter().map(|problem| problem.primal).collect(),
            dual: self.problems.iter().map(|problem| problem.dual).collect(),
            passes: self.passes,
            n_factors: self.n_factors,
        })
    }
}
