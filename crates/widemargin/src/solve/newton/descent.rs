//! The main loop: center, gradient, certify, precondition, directions, step.

use super::conjugate::{self, Targets, dot};
use super::few_rows::RowsFactor;
use super::line_search::{SlopeAt, find_zeros};
use super::preconditioner::Preconditioner;
use super::settings::{NewtonSettings, NewtonSolution, NewtonStart, Preconditioning};
use crate::error::{Error, Result, require, require_gap};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::partition::Executor;
use crate::problem::{
    Active, Diagonal, Gradient, GradientAt, GramAt, HessianProduct, Intercept, Line, LineSearch, LineSums, LinearRows,
    Loss, Objective, PointSums, SetDirection, SetPoint, Shape,
};
use crate::solve::{ProblemReport, Status, relative_gap};
use crate::tuning::{
    CG_SHARE_OF_GAP, CG_STEPS_PER_TENTH, FIRST_CG_RESIDUAL, FIRST_HESSIAN_TO_PENALTY, GAP_PROGRESS,
    LINE_SEARCH_SLOPE_TOL, MAX_CG_PRODUCTS, MAX_GRAM_SIZE, MIN_CG_RESIDUAL, NEWTON_PATIENCE, NEWTON_PROGRESS,
    PASSES_WITHOUT_GRAM, PENALTY_PATH_FACTOR, PENALTY_PATH_ROWS_PER_FEATURE, WOODBURY_ROWS_PER_FEATURE,
};

/// Σ α y relative to Σ α that counts as 0 in a certificate (decision 0028).
const CERTIFICATE_BALANCE_TOL: f64 = 1e-9;

/// Σ α y relative to Σ α that counts as 0 in a step, less than in a certificate (decision 0028).
const STEP_BALANCE_TOL: f64 = 1e-11;

/// The state of one problem.
#[derive(Clone, Debug)]
struct Problem {
    report: ProblemReport,
    point: Vec<f64>,
    /// The gradient at the point, and the direction of the next step.
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// Products of the last step with the preconditioner shared by all problems.
    products_of_shared: u32,
    /// Gap and objective at the last step that made progress, and its number.
    best: (f64, f64, u32),
}

struct Descent<'a, 's, E> {
    objective: &'a mut Objective<'s, E>,
    settings: &'a NewtonSettings,
    monitor: &'a Monitor<'a>,
    shape: Shape,
    /// Number of coordinates of a point.
    size: usize,
    problems: Vec<Problem>,
    /// Unsolved problems.
    live: Vec<usize>,
    pool: Pool,
    passes: u32,
    n_factors: u32,
    preconditioner: Option<Preconditioner>,
    /// Cost of the products since the preconditioner was computed.
    spent: f64,
    /// Whether there was no start and no step yet.
    is_cold: bool,
    /// The current factor of the penalty: above 1 on the path to a large C.
    ridge: f64,
}

/// Minimizes every problem of `objective`, from `start` or from 0.
///
/// # Errors
/// [`Error::Parameter`] for invalid settings, [`Error::Shape`] for a start with other dimensions, [`Error::Cancelled`]
/// if the monitor cancelled (a time limit is a status instead), and errors of the objective.
pub fn solve(
    objective: &mut Objective<'_, impl Executor<LinearRows>>,
    settings: &NewtonSettings,
    start: Option<NewtonStart<'_>>,
    monitor: &Monitor<'_>,
) -> Result<NewtonSolution> {
    require_gap(settings.tol, "0.001")?;
    require(settings.max_iter > 0, "max_iter", "0", "at least 1")?;
    let shape = objective.shape();
    let (d, size) = (shape.n_features, shape.n_features + 1);
    if let Some(start) = start {
        let (found, right) = (start.weights.len(), shape.n_problems * d);
        if found != right || start.intercepts.len() != shape.n_problems {
            return Err(Error::shape(
                "start",
                format!("{found} weights and {} intercepts", start.intercepts.len()),
                format!("{right} weights (problems × features) and {} intercepts", shape.n_problems),
            ));
        }
    }
    let (status, primal) = (Status::IterationLimit, f64::INFINITY);
    let report = ProblemReport { status, iterations: 0, primal, dual: 0.0, n_support: 0 };
    let problem = |k: usize| {
        let (mut point, zeros) = (vec![0.0; size], vec![0.0; size]);
        if let Some(start) = start {
            point.iter_mut().zip(&start.weights[k * d..(k + 1) * d]).for_each(|(w, start)| *w = f64::from(*start));
            point[d] = if shape.intercept == Intercept::None { 0.0 } else { start.intercepts[k] };
        }
        let best = (f64::INFINITY, f64::INFINITY, 0);
        Problem { report, point, gradient: zeros.clone(), direction: zeros, products_of_shared: 0, best }
    };
    let problems: Vec<Problem> = (0..shape.n_problems).map(problem).collect();
    let live: Vec<usize> = (0..shape.n_problems).collect();
    objective.ask(&SetPoint { live: live.clone(), points: joined(&problems, &live, |problem| &problem.point) })?;
    let mut descent = Descent {
        objective,
        settings,
        monitor,
        shape,
        size,
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

impl<E: Executor<LinearRows>> Descent<'_, '_, E> {
    /// Steps until no problem is live or the solver is stopped.
    fn descend(&mut self) -> Result<Status> {
        for iteration in 0.. {
            self.center()?;
            let primals = self.gradient()?;
            self.certify(iteration, &primals)?;
            if self.live.is_empty() {
                return Ok(Status::Converged);
            }
            if iteration == self.settings.max_iter {
                return Ok(Status::IterationLimit);
            }
            if self.monitor.is_time_up("solve")? || !self.prepare()? {
                return Ok(Status::TimeLimit);
            }
            self.directions()?;
            self.step()?;
            self.live.iter().for_each(|&k| self.problems[k].report.iterations += 1);
            if self.monitor.is_time_up("solve")? {
                return Ok(Status::TimeLimit);
            }
        }
        Ok(Status::IterationLimit)
    }

    fn intercepts(&self, which: &[usize]) -> Vec<f64> {
        which.iter().map(|&k| self.problems[k].point[self.shape.n_features]).collect()
    }

    /// The penalized coordinates of a point.
    fn penalized<'p>(&self, point: &'p [f64]) -> &'p [f64] {
        &point[..if self.shape.intercept == Intercept::Penalized { self.size } else { self.size - 1 }]
    }

    /// ½‖w‖², plus ½b² if the intercept is penalized.
    fn penalty(&self, k: usize) -> f64 {
        let point = self.penalized(&self.problems[k].point);
        0.5 * dot(point, point)
    }

    /// Adds the derivative of the current penalty to gradients or Hessian products at `points`.
    fn add_penalty(&self, sums: &mut [f64], points: &[f64]) {
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

    /// Gradients at the live points, updating dual values; returns the primal values.
    fn gradient(&mut self) -> Result<Vec<f64>> {
        let here = GradientAt { live: self.live.clone(), intercepts: self.intercepts(&self.live) };
        let Gradient { sums, mut slopes } = self.objective.ask(&here)?;
        let mut primals = Vec::with_capacity(sums.len());
        for ((&k, sums), slope) in self.live.iter().zip(&sums).zip(slopes.chunks(self.size)) {
            let bound = dual_bound(&self.shape, sums, slope);
            primals.push(sums.value + self.penalty(k));
            let report = &mut self.problems[k].report;
            report.dual = report.dual.max(bound);
            report.n_support = u32::try_from(sums.n_support).unwrap_or(u32::MAX);
        }
        self.add_penalty(&mut slopes, &joined(&self.problems, &self.live, |problem| &problem.point));
        for (&k, slope) in self.live.iter().zip(slopes.chunks(self.size)) {
            self.problems[k].gradient.copy_from_slice(slope);
        }
        Ok(primals)
    }

    /// Removes the problems whose gap is small enough, and those that do not improve any more.
    fn certify(&mut self, iteration: u32, primals: &[f64]) -> Result<()> {
        let near: Vec<usize> = (self.live.iter().zip(primals))
            .filter(|&(&k, &primal)| relative_gap(primal, self.problems[k].report.dual) <= self.settings.tol)
            .map(|(&k, _)| k)
            .collect();
        let mut ended = Vec::new();
        if !near.is_empty() {
            self.measure(&near)?;
            for &k in &near {
                let report = &mut self.problems[k].report;
                if report.gap() <= self.settings.tol {
                    report.status = Status::Converged;
                    ended.push(k);
                }
            }
        }
        let mut worst: f64 = 0.0;
        for (k, &primal) in self.live.clone().into_iter().zip(primals) {
            let problem = &mut self.problems[k];
            let gap = relative_gap(primal, problem.report.dual);
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
        self.live.retain(|k| !ended.contains(k));
        Ok(())
    }

    /// Rounds points to the precision in which they are returned and recomputes their objectives.
    fn measure(&mut self, which: &[usize]) -> Result<()> {
        for &k in which {
            let weights = &mut self.problems[k].point[..self.shape.n_features];
            weights.iter_mut().for_each(|w| *w = f64::from(*w as f32));
        }
        let (live, points) = (which.to_vec(), joined(&self.problems, which, |problem| &problem.point));
        self.objective.ask(&SetPoint { live: live.clone(), points })?;
        let here = |intercept: f64| Line { intercept, step: 0.0, along: 0.0, turn: 0.0 };
        let lines = self.intercepts(which).into_iter().map(here).collect();
        for (&k, sums) in which.iter().zip(self.objective.ask(&LineSearch { live, lines })?) {
            self.problems[k].report.primal = sums.value + self.penalty(k);
        }
        Ok(())
    }

    /// Sets unpenalized intercepts such that Σ α y = 0, the minimum for the current weights.
    fn center(&mut self) -> Result<()> {
        if self.shape.intercept != Intercept::Free {
            return Ok(());
        }
        let mut places = self.intercepts(&self.live);
        let brackets = vec![(f64::NEG_INFINITY, f64::INFINITY); places.len()];
        let (objective, live) = (&mut *self.objective, &self.live);
        find_zeros(&mut places, brackets, |open, places| {
            let ids: Vec<usize> = open.iter().map(|&at| live[at]).collect();
            let line = |&intercept: &f64| Line { intercept, step: 0.0, along: 0.0, turn: 1.0 };
            let sums = objective.ask(&LineSearch { live: ids, lines: places.iter().map(line).collect() })?;
            let slopes = sums.iter().map(|sums| SlopeAt {
                slope: sums.slope,
                curvature: sums.curvature,
                tolerance: STEP_BALANCE_TOL * sums.dual_norm,
            });
            Ok(slopes.collect())
        })?;
        for (&k, place) in self.live.iter().zip(places) {
            self.problems[k].point[self.shape.n_features] = place;
        }
        Ok(())
    }

    /// Computes the preconditioner, or a better one once products have cost as much. False if the time is up.
    fn prepare(&mut self) -> Result<bool> {
        let d = self.shape.n_features;
        let cost = self.objective.cost();
        let factoring = cost.gram + (d as f64).powi(3) / 6.0;
        let pass = cost.pass + self.live.len() as f64 * cost.problem;
        let wanted = match self.settings.preconditioner {
            Preconditioning::Auto => {
                let cheap = self.preconditioner.is_none() && factoring <= PASSES_WITHOUT_GRAM * pass;
                d <= MAX_GRAM_SIZE && (cheap || self.spent > factoring)
            }
            Preconditioning::Gram => d <= MAX_GRAM_SIZE && (self.preconditioner.is_none() || self.spent > factoring),
            Preconditioning::Diagonal => false,
        };
        let intercepts = self.intercepts(&self.live);
        if wanted {
            let query = GramAt { live: self.live.clone(), intercepts: intercepts.clone() };
            let Some(gram) = self.objective.reduce(&query, self.monitor)? else { return Ok(false) };
            let diagonal = gram.lower.iter().step_by(d + 1).map(|&h| f64::from(h));
            self.begin_path(diagonal.sum());
            if let Some(made) = Preconditioner::from_gram(&self.shape, &gram, self.ridge, &self.pool) {
                self.preconditioner = Some(made);
                self.n_factors += 1;
            }
            self.spent = 0.0;
        }
        if matches!(self.preconditioner, None | Some(Preconditioner::Diagonal(_))) {
            let diagonal = self.objective.ask(&Diagonal { live: self.live.clone(), intercepts })?;
            self.begin_path(diagonal[..d].iter().sum());
            self.preconditioner = Some(Preconditioner::from_diagonal(&self.shape, diagonal, self.ridge));
        }
        Ok(true)
    }

    /// Newton directions of the live problems.
    fn directions(&mut self) -> Result<()> {
        let Some(preconditioner) = self.preconditioner.take() else { return Ok(()) };
        let mut shared = Vec::new();
        for k in self.live.clone() {
            match self.own_preconditioner(k)? {
                Some(own) => {
                    self.solve_group(&[k], &own)?;
                }
                None => shared.push(k),
            }
        }
        if !shared.is_empty() {
            let products = self.solve_group(&shared, &preconditioner)?;
            for (&k, products) in shared.iter().zip(products) {
                self.problems[k].products_of_shared = products;
            }
        }
        for &k in &self.live {
            // If conjugate gradients did not find a descent direction, the preconditioned gradient is used.
            let Problem { gradient, direction, .. } = &mut self.problems[k];
            let is_descent = dot(gradient, direction) < 0.0;
            if !is_descent {
                *direction = preconditioner.apply(gradient).iter().map(|g| -g).collect();
            }
        }
        self.preconditioner = Some(preconditioner);
        Ok(())
    }

    /// Sets the factor of the penalty in the first steps, from the trace of the losses' Hessian at 0.
    fn begin_path(&mut self, trace: f64) {
        let d = self.shape.n_features.max(1);
        let is_wanted = self.shape.n_rows <= d.saturating_mul(PENALTY_PATH_ROWS_PER_FEATURE) && trace.is_finite();
        if std::mem::take(&mut self.is_cold) && is_wanted {
            self.ridge = (trace / (d as f64 * FIRST_HESSIAN_TO_PENALTY)).max(1.0);
        }
    }

    /// The factored Hessian of one problem alone, if it costs less than the products with the shared preconditioner in
    /// its last step: at large C, where each problem has few active rows of its own.
    fn own_preconditioner(&mut self, k: usize) -> Result<Option<Preconditioner>> {
        let d = self.shape.n_features;
        if d > MAX_GRAM_SIZE || self.settings.preconditioner == Preconditioning::Diagonal {
            return Ok(None);
        }
        let cost = self.objective.cost();
        let active = |k: usize| f64::from(self.problems[k].report.n_support) / self.shape.n_rows.max(1) as f64;
        // A shared pass visits, for every problem, the rows that are active in any.
        let visited = self.live.iter().map(|&k| active(k)).sum::<f64>().min(1.0);
        let product = visited * (cost.problem + cost.pass / self.live.len() as f64);
        let of_gram = active(k) * cost.gram + (d as f64).powi(3) / 6.0;
        let n_active = f64::from(self.problems[k].report.n_support);
        let of_rows = RowsFactor::cost(n_active, d as f64);
        let products = f64::from(self.problems[k].products_of_shared) * product;
        let intercept = self.problems[k].point[d];
        let most = (WOODBURY_ROWS_PER_FEATURE * d as f64) as usize;
        if products > of_rows
            && of_rows < of_gram
            && let Some(active) = self.objective.ask(&Active { k, intercept, most })?
            && let Some(made) = RowsFactor::new(&self.shape, active, self.ridge, &self.pool, self.monitor)
        {
            self.n_factors += 1;
            return Ok(Some(Preconditioner::Rows(made)));
        }
        if products <= of_gram {
            return Ok(None);
        }
        let query = GramAt { live: vec![k], intercepts: vec![intercept] };
        let Some(gram) = self.objective.reduce(&query, self.monitor)? else { return Ok(None) };
        let made = Preconditioner::from_gram(&self.shape, &gram, self.ridge, &self.pool);
        self.n_factors += u32::from(made.is_some());
        Ok(made)
    }

    /// Conjugate gradients for some problems, into their directions; returns the number of products for each.
    fn solve_group(&mut self, group: &[usize], preconditioner: &Preconditioner) -> Result<Vec<u32>> {
        let allowed =
            |&k: &usize| CG_SHARE_OF_GAP * self.settings.tol * self.problems[k].report.dual.max(f64::MIN_POSITIVE);
        let half_squares: Vec<f64> = group.iter().map(allowed).collect();
        let steps = group.iter().map(|&k| self.problems[k].report.iterations).max().unwrap_or(0);
        let left = (FIRST_CG_RESIDUAL * 0.1f64.powf(f64::from(steps) / CG_STEPS_PER_TENTH)).max(MIN_CG_RESIDUAL);
        let targets = Targets { left, half_squares: &half_squares, most: MAX_CG_PRODUCTS };
        let cost = self.objective.cost();
        let gradients = joined(&self.problems, group, |problem| &problem.gradient);
        let found = conjugate::solve(&gradients, self.size, preconditioner, &targets, |open, paths| {
            // At least one product is computed, since otherwise there would be no direction.
            let ids: Vec<usize> = open.iter().map(|&at| group[at]).collect();
            let (intercepts, directions) = (self.intercepts(&ids), paths.to_vec());
            let mut products = self.objective.ask(&HessianProduct { live: ids, intercepts, directions })?;
            self.add_penalty(&mut products, paths);
            self.passes += 1;
            self.spent += cost.pass + open.len() as f64 * cost.problem;
            Ok(if self.monitor.is_time_up("solve")? { None } else { Some(products) })
        })?;
        for (&k, direction) in group.iter().zip(found.points.chunks(self.size)) {
            self.problems[k].direction.copy_from_slice(direction);
        }
        Ok(found.products)
    }

    /// Moves along the directions to the minimum on each line.
    fn step(&mut self) -> Result<()> {
        let (live, d) = (&self.live, self.shape.n_features);
        let directions = joined(&self.problems, live, |problem| &problem.direction);
        self.objective.ask(&SetDirection { live: live.clone(), directions })?;
        // The penalty along the line is ½‖w‖² + t·wᵀd + ½t²·dᵀd.
        let penalty = |&k: &usize| {
            let (point, direction) = (&self.problems[k].point, self.penalized(&self.problems[k].direction));
            (dot(direction, self.penalized(point)), dot(direction, direction))
        };
        let penalties: Vec<(f64, f64)> = live.iter().map(penalty).collect();
        let slopes: Vec<f64> =
            live.iter().map(|&k| dot(&self.problems[k].gradient, &self.problems[k].direction)).collect();
        let mut steps = vec![1.0; live.len()];
        let (objective, problems, ridge) = (&mut *self.objective, &self.problems, self.ridge);
        find_zeros(&mut steps, vec![(0.0, f64::INFINITY); live.len()], |open, places| {
            let ids: Vec<usize> = open.iter().map(|&at| live[at]).collect();
            let line = |(&k, &step): (&usize, &f64)| {
                let Problem { point, direction, .. } = &problems[k];
                Line { intercept: point[d], step, along: 1.0, turn: direction[d] }
            };
            let lines = ids.iter().zip(places).map(line).collect();
            let sums = objective.ask(&LineSearch { live: ids, lines })?;
            let slope = |((&at, &step), sums): ((&usize, &f64), &LineSums)| {
                let (first, second) = penalties[at];
                SlopeAt {
                    slope: sums.slope + ridge * (first + step * second),
                    curvature: sums.curvature + ridge * second,
                    tolerance: LINE_SEARCH_SLOPE_TOL * slopes[at].abs(),
                }
            };
            Ok(open.iter().zip(places).zip(&sums).map(slope).collect())
        })?;
        self.objective.take_step(live, &steps)?;
        for (&k, step) in live.iter().zip(&steps) {
            let Problem { point, direction, .. } = &mut self.problems[k];
            point.iter_mut().zip(direction).for_each(|(w, d)| *w += step * *d);
        }
        self.ridge = (self.ridge / PENALTY_PATH_FACTOR).max(1.0);
        Ok(())
    }

    /// Ends the live problems with `status`, evaluated at the current point.
    fn finish(mut self, status: Status) -> Result<NewtonSolution> {
        let live = std::mem::take(&mut self.live);
        if !live.is_empty() {
            self.measure(&live)?;
        }
        for k in live {
            self.problems[k].report.status = status;
        }
        let d = self.shape.n_features;
        Ok(NewtonSolution {
            weights: self.problems.iter().flat_map(|problem| &problem.point[..d]).map(|&w| w as f32).collect(),
            intercepts: self.problems.iter().map(|problem| problem.point[d]).collect(),
            problems: self.problems.iter().map(|problem| problem.report).collect(),
            passes: self.passes,
            n_factors: self.n_factors,
        })
    }
}

/// Numbers of some problems, one problem after the other, as an objective takes them.
fn joined(problems: &[Problem], which: &[usize], of: fn(&Problem) -> &[f64]) -> Vec<f64> {
    which.iter().flat_map(|&k| of(&problems[k])).copied().collect()
}

/// A lower bound on the minimum from the sums at a point; `slope` is the gradient of the losses at the point, features
/// and then intercept.
///
/// For any α ≥ 0, of any sign for the squared error (and Σ α_i y_i = 0 if the intercept is unpenalized) the dual
/// objective Σ_i −c_i loss*(−α_i/c_i) − ½‖Σ α_i y_i φ_i‖² is at most the minimum. The gradient's sums are those of α_i
/// = −c_i loss′(margin_i), whatever the scores behind the margins: rounding errors in the scores cost tightness, not
/// validity. Before each gradient the unpenalized intercept is set such that Σ α y = 0, so these α are feasible.
///
/// For squared hinge θα is also feasible for any θ ≥ 0, and with A = Σ α, L = Σ α²/4c the best θ gives A² / (2‖v‖² +
/// 4L). The same holds of squared error, for any θ; there A is the conjugate without its part L. At the solution the
/// gap between objective and bound is ½‖∇‖².
fn dual_bound(shape: &Shape, sums: &PointSums, slope: &[f64]) -> f64 {
    let mut quadratic: f64 = slope[..shape.n_features].iter().map(|v| v * v).sum();
    match shape.intercept {
        Intercept::Penalized => quadratic += sums.balance * sums.balance,
        // α = 0 is always feasible, and its dual objective is 0.
        Intercept::Free if sums.balance.abs() > CERTIFICATE_BALANCE_TOL * sums.dual_norm => return 0.0,
        _ => (),
    }
    let bound = match shape.loss {
        Loss::SquaredHinge if sums.dual_norm > 0.0 => {
            sums.dual_norm * sums.dual_norm / (2.0 * quadratic + 4.0 * sums.value)
        }
        Loss::SquaredError if sums.value > 0.0 => {
            (sums.conjugate + sums.value).powi(2) / (2.0 * quadratic + 4.0 * sums.value)
        }
        _ => sums.conjugate - 0.5 * quadratic,
    };
    bound.max(0.0)
}
