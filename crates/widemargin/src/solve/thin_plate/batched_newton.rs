//! Newton's method on the violators, for all problems at once: a step of all of them is one pass over the rows.
//!
//! The steps are those of `newton.rs`. A pass that evaluates the full step also counts the rows inside the margin
//! there, since the full step is nearly always accepted: the next step then needs no further pass. All problems start
//! with the same Hessian, that of all rows, which is computed once.

use super::factor::Factor;
use super::newton::{Lambdas, Stop, shortest_steps};
use super::row_sums::{PointSums, RowSums, RowsShape};
use crate::error::{Error, Result};
use crate::linalg::factor::dot;
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::solve::Status;
use crate::solve::newton::line_search::SlopeAt;
use crate::tuning::{HEAD_FACTOR, MARGIN_ROUNDING, STALLED_KKT_TOL, THIN_PLATE_SLOPE_TOL};

/// The current points of the problems, with their sums.
pub(crate) struct BatchedNewton<'r> {
    pub rows: &'r mut dyn RowSums,
    shape: RowsShape,
    pool: &'r Pool,
    /// One per problem; empty before the first start.
    pub hessians: Vec<Vec<f64>>,
    /// Problems × width.
    pub points: Vec<f64>,
    pub sums: Vec<PointSums>,
}

/// The result of a problem at one λ.
pub(crate) struct Ended {
    /// `None` unless converged.
    pub factor: Option<Factor>,
    pub steps: u32,
    pub status: Status,
    /// λ‖h‖² + Σ slack².
    pub objective: f64,
}

/// The state of a problem.
struct Run {
    stalled: u32,
    /// Whether it is between two evaluated points.
    between: bool,
    ended: Option<Ended>,
}

/// The line search of a problem whose full step increased the objective.
struct Line {
    problem: usize,
    /// λ times half the derivative of the penalty is `constant + slope · t`.
    constant: f64,
    slope: f64,
}

impl<'r> BatchedNewton<'r> {
    pub fn new(rows: &'r mut dyn RowSums, pool: &'r Pool) -> Self {
        let shape = rows.shape();
        BatchedNewton { rows, shape, pool, hessians: Vec::new(), points: Vec::new(), sums: Vec::new() }
    }

    /// The point of a problem.
    pub fn point(&self, problem: usize) -> &[f64] {
        &self.points[problem * self.shape.width()..(problem + 1) * self.shape.width()]
    }

    /// Resumes from stored points, which had been evaluated.
    pub fn restore(&mut self, points: Vec<f64>, hessians: Vec<Vec<f64>>) -> Result<()> {
        let all: Vec<usize> = (0..self.shape.n_problems).collect();
        self.sums = self.rows.look(&all, &points, None)?;
        self.rows.accept(&all)?;
        (self.points, self.hessians) = (points, hessians);
        Ok(())
    }

    /// Moves every problem to a point (problems × width) with the rows of a fold excluded, or all included.
    pub fn without(&mut self, fold: Option<u32>, points: &[f64]) -> Result<()> {
        if self.hessians.is_empty() {
            self.begin()?;
        }
        self.rows.without(fold)?;
        self.stand(points)
    }

    /// Sets every problem to its point, with its Hessian there.
    fn stand(&mut self, points: &[f64]) -> Result<()> {
        let all: Vec<usize> = (0..self.shape.n_problems).collect();
        self.sums = self.rows.look(&all, points, Some(&mut self.hessians))?;
        self.rows.accept(&all)?;
        self.points = points.to_vec();
        Ok(())
    }

    /// Sets every problem to 0; returns the trace of the penalized part of the Hessian of all rows.
    pub fn begin(&mut self) -> Result<f64> {
        let (k, p) = (self.shape.n_problems, self.shape.width());
        let (hessian, sums) = self.rows.origin()?;
        let trace = (0..self.shape.n_penalized).map(|i| hessian[i * p + i]).sum();
        if self.rows.mean_weight().is_some() {
            // Nothing is counted yet.
            self.hessians = vec![vec![0.0; p * p]; k];
            self.stand(&vec![0.0; k * p])?;
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
        self.stand(starts)
    }

    /// ‖h‖² of a point.
    fn penalty(&self, point: &[f64]) -> f64 {
        let t = &point[..self.shape.n_penalized];
        dot(t, t)
    }

    /// Minimizes all problems from the starts (problems × width), or until one has a loss of at most `enough`;
    /// `Ok(None)` if λ is too small for double precision in one of them.
    pub fn minimize(
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
                _ if enough.is_some_and(|enough| self.sums.iter().any(|sums| sums.loss <= enough)) => {
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
            let lambda = if last { lambdas.last } else { lambdas.last * HEAD_FACTOR.powi((head - steps + 1) as i32) };
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
        let objective = lambda * self.penalty(self.point(problem)) + self.sums[problem].loss;
        Ended { factor: None, steps, status, objective }
    }

    /// Recomputes the scores of problems that are between two evaluated points, so that a resumed fit finds the same
    /// bits.
    fn settle(&mut self, runs: &[Run]) -> Result<()> {
        let between: Vec<usize> = (0..runs.len()).filter(|&problem| runs[problem].between).collect();
        if !between.is_empty() {
            let sums = self.rows.look(&between, &self.points, Some(&mut self.hessians))?;
            self.rows.accept(&between)?;
            between.iter().zip(sums).for_each(|(&problem, sums)| self.sums[problem] = sums);
        }
        Ok(())
    }

    /// A step of the live problems; false if λ is too small. `last` is the number of the step if its λ is the final
    /// one.
    fn step(&mut self, live: &[usize], runs: &mut [Run], lambda: f64, last: Option<u32>, stop: Stop) -> Result<bool> {
        let (p, b) = (self.shape.width(), self.shape.n_penalized);
        // The step solves (H + λI) Δ = −gradient / 2, so that directions that the violators leave undetermined do not
        // change.
        let (hessians, sums, points, shape) = (&self.hessians, &self.sums, &self.points, self.shape);
        let made = self.pool.try_map(live.len(), |at| {
            let problem = live[at];
            let Some(factor) = Factor::new(&hessians[problem], shape, lambda) else { return Ok(None) };
            let point = &points[problem * p..(problem + 1) * p];
            let mut right = sums[problem].right.clone();
            right[..b].iter_mut().zip(point).for_each(|(r, t)| *r -= lambda * t);
            let next: Vec<f64> = factor.solve(&right).iter().zip(point).map(|(d, x)| x + d).collect();
            // Only the factor of the last step is used later.
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
        for ((&problem, (next, factor)), sums) in live.iter().zip(made).zip(looked) {
            let (penalty, full_penalty) = (self.penalty(self.point(problem)), self.penalty(&next));
            before[problem] = lambda * penalty + self.sums[problem].loss;
            let full = lambda * full_penalty + sums.loss;
            let run = &mut runs[problem];
            let near = stop.tol.max(MARGIN_ROUNDING * sums.size.max(1.0));
            let solved = sums.crossing <= near || (run.stalled >= 2 && sums.crossing <= STALLED_KKT_TOL);
            if let Some(steps) = last.filter(|_| solved) {
                run.ended = Some(Ended { factor, steps, status: Status::Converged, objective: full });
            }
            // Usually the full step is preferable even if a shorter one would be lower, since it can end the search.
            if run.ended.is_some() || full < before[problem] {
                accepted.push(problem);
            } else {
                let cross = dot(&self.point(problem)[..b], &next[..b]);
                let (constant, slope) = (lambda * (cross - penalty), lambda * (penalty - 2.0 * cross + full_penalty));
                lines.push(Line { problem, constant, slope });
            }
            self.sums[problem] = sums;
        }
        let places = self.search(&lines)?;
        let (full, short): (Vec<(usize, f64)>, Vec<_>) =
            lines.iter().map(|line| line.problem).zip(places).partition(|(_, place)| *place >= 1.0);
        accepted.extend(full.iter().map(|(problem, _)| *problem));
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
            let (problems, places): (Vec<usize>, Vec<f64>) = short.into_iter().unzip();
            let sums = self.rows.take_step(&problems, &places, &mut self.hessians)?;
            for ((&problem, place), sums) in problems.iter().zip(&places).zip(sums) {
                let own = problem * p..(problem + 1) * p;
                self.points[own.clone()].iter_mut().zip(&nexts[own]).for_each(|(x, to)| *x += place * (to - *x));
                self.sums[problem] = sums;
                runs[problem].between = true;
            }
        }
        for &problem in live.iter() {
            let after = lambda * self.penalty(self.point(problem)) + self.sums[problem].loss;
            let run = &mut runs[problem];
            run.stalled = if after < before[problem] * (1.0 - 1e-14) { 0 } else { run.stalled + 1 };
        }
        Ok(true)
    }

    /// The place of the minimum along each line, where the derivative, which is linear between breakpoints, is 0.
    fn search(&mut self, lines: &[Line]) -> Result<Vec<f64>> {
        let rows = &mut *self.rows;
        shortest_steps(lines.len(), |open, places| {
            let problems: Vec<usize> = open.iter().map(|&at| lines[at].problem).collect();
            let found = rows.line_search_eval(&problems, places)?;
            let slope_at = |((&at, place), [slope, curvature]): ((&usize, &f64), [f64; 2])| {
                let Line { constant, slope: of_penalty, .. } = lines[at];
                let tolerance = THIN_PLATE_SLOPE_TOL * (constant.abs() + slope.abs());
                let (slope, curvature) = (constant + of_penalty * place + slope, of_penalty + curvature);
                SlopeAt { slope, curvature, tolerance }
            };
            Ok(open.iter().zip(places).zip(found).map(slope_at).collect())
        })
    }
}
