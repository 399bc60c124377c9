//! Dual coordinate descent for the hinge loss on dense rows of Φ, one two-class problem per thread.
//!
//! Hsieh, Chang, Lin, Keerthi & Sundararajan, *A Dual Coordinate Descent Method for Large-scale Linear SVM*,
//! ICML 2008, algorithm 3. The problem ½‖w‖² + Σ c_i max(0, 1 − y_i wᵀφ_i) has the dual
//!
//! max over 0 ≤ α_i ≤ c_i of Σ α_i − ½‖w(α)‖², w(α) = Σ α_i y_i φ_i,
//!
//! which is solved exactly for one coordinate at a time. Any α within its bounds gives a lower bound on the minimum: a
//! problem is solved when that bound and the objective of w(α), both in double precision, are within the tolerance.
//!
//! The intercept, if any, is penalized: a feature that is always 1. An unpenalized one would add the constraint Σ α_i
//! y_i = 0, which steps along single coordinates cannot satisfy.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::dual::certificate::{StopRule, relative_gap};
use super::{Report, Stage, Status};
use crate::data::{DenseView, Rows};
use crate::error::{Error, Result, require, require_gap};
use crate::monitor::{Monitor, Progress, Stopped};
use crate::par::Pool;
use crate::problem::{Intercept, Loss, OneVsRest};

/// Settings of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearDualSettings {
    /// Relative duality gap, (objective − dual) / objective, at which a problem is solved; in (0, 1).
    pub tol: f64,
    /// The maximum number of passes over the rows; at least 1.
    pub max_epochs: u32,
    /// Seed of the order of the rows.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core; at most one per problem is used. Results do not depend on it.
    pub threads: usize,
}

impl Default for LinearDualSettings {
    fn default() -> Self {
        LinearDualSettings { tol: 1e-3, max_epochs: 1000, seed: 0, threads: 0 }
    }
}

/// The solved problems. All vectors except `weights` have one element per problem.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearDualSolution {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    /// 0 if there is no intercept.
    pub intercepts: Vec<f64>,
    /// Dual variables, `[problem][row]`.
    pub alphas: Vec<f64>,
    /// Passes over the rows.
    pub epochs: Vec<u32>,
    /// How each problem ended.
    pub status: Vec<Status>,
    /// Objectives ½‖w‖² + ½b² + Σ c loss before the weights are rounded to single precision.
    pub primal: Vec<f64>,
    /// Lower bounds on the minimum: the final dual objectives.
    pub dual: Vec<f64>,
    /// Rows with a dual variable above 0.
    pub n_support: Vec<u32>,
}

impl LinearDualSolution {
    /// Relative duality gap of one problem, an upper bound on (objective − minimum) / objective.
    pub fn gap(&self, k: usize) -> f64 {
        relative_gap(self.primal[k], self.dual[k])
    }

    /// The report of the fit, with a warning if a problem did not converge.
    pub fn report(&self, stages: Vec<Stage>, settings: &LinearDualSettings) -> Report {
        let gaps = (0..self.primal.len()).map(|k| self.gap(k)).collect();
        let (iterations, objectives) = (self.epochs.clone(), (&self.primal[..], &self.dual[..]));
        let mut report = Report::of(&self.status, iterations, objectives, gaps, self.n_support.clone(), stages);
        let at_limit = format!("after {} epochs (raise max_iter or tol)", report.max_iterations());
        report.warn_unless_converged(&at_limit, Some(settings.tol));
        report
    }
}

/// Minimizes ½‖w_k‖² + Σ_i costs_i · max(0, 1 − y_ik · (w_kᵀφ_i + b_k)) for every problem k, plus ½b_k² if the
/// intercept is penalized.
///
/// `rows` are samples × features; `targets` and `costs` (C · weight, finite, at least 0) have one element per row.
///
/// # Errors
/// [`Error::Parameter`] for invalid settings and for [`Intercept::Free`]; [`Error::Shape`] if rows, targets and costs
/// are inconsistent; [`Error::Weight`], [`Error::Value`] for an invalid cost or feature; [`Error::NoSamples`],
/// [`Error::Threads`]; [`Error::Cancelled`] if the monitor cancelled (a time limit is a status instead).
pub fn solve(
    rows: DenseView<'_, f32>,
    targets: OneVsRest<'_>,
    costs: &[f64],
    intercept: Intercept,
    settings: &LinearDualSettings,
    monitor: &Monitor<'_>,
) -> Result<LinearDualSolution> {
    check(rows, targets, costs, intercept, settings)?;
    let constant = if intercept == Intercept::None { 0.0 } else { 1.0 };
    let pool = Pool::new(settings.threads)?;
    let squares = |range: std::ops::Range<usize>| {
        Ok(range.map(|row| square(rows.row(row)) + constant * constant).collect::<Vec<f64>>())
    };
    let mut diagonal = Vec::with_capacity(rows.n_rows());
    pool.fold_chunks(rows.n_rows(), 256, squares, |some: Vec<f64>| {
        diagonal.extend(some);
        Ok::<(), Error>(())
    })?;
    let of_problem = |k: usize| {
        let signs: Vec<f64> = (0..rows.n_rows()).map(|row| targets.sign(row, k)).collect();
        let costs = &targets.costs(costs, k);
        Descent { rows, costs, diagonal: &diagonal, constant, signs: &signs }.run(settings, monitor)
    };
    let solved = pool.try_map(targets.n_problems(), of_problem);
    let solved = solved.map_err(|()| Error::Cancelled { stage: "solve" })?;
    let mut solution = LinearDualSolution {
        weights: Vec::with_capacity(solved.len() * rows.n_cols()),
        intercepts: Vec::new(),
        alphas: Vec::with_capacity(solved.len() * rows.n_rows()),
        epochs: Vec::new(),
        status: Vec::new(),
        primal: Vec::new(),
        dual: Vec::new(),
        n_support: Vec::new(),
    };
    for one in solved {
        solution.weights.extend(one.exact.weights);
        solution.intercepts.push(one.exact.intercept);
        solution.alphas.extend(one.alphas);
        solution.epochs.push(one.epochs);
        solution.status.push(one.status);
        solution.primal.push(one.exact.primal);
        solution.dual.push(one.exact.dual);
        solution.n_support.push(one.exact.n_support);
    }
    Ok(solution)
}

fn check(
    rows: DenseView<'_, f32>,
    targets: OneVsRest<'_>,
    costs: &[f64],
    intercept: Intercept,
    settings: &LinearDualSettings,
) -> Result<()> {
    let why = "penalized or none: with a free intercept the dual of the hinge has an equality, Σ α y = 0, next to \
               its bounds, and a step along one coordinate would break it";
    require(intercept != Intercept::Free, "intercept", intercept, why)?;
    require_gap(settings.tol, "0.001")?;
    require(settings.max_epochs > 0, "max_epochs", "0", "at least 1")?;
    let n_rows = rows.n_rows();
    if n_rows == 0 {
        return Err(Error::NoSamples(""));
    }
    for (what, found) in [("targets", targets.n_samples()), ("costs", costs.len())] {
        if found != n_rows {
            return Err(Error::shape(what, format!("{found} {what}"), format!("{n_rows}, one per row")));
        }
    }
    if let Some(row) = costs.iter().position(|cost| !cost.is_finite() || *cost < 0.0) {
        return Err(Error::Weight { row, value: costs[row] });
    }
    if let Some(at) = rows.values().iter().position(|value| !value.is_finite()) {
        let (row, column) = (at / rows.n_cols(), at % rows.n_cols());
        let problem = "is not a finite number: remove or impute it";
        return Err(Error::Value { row, column, value: f64::from(rows.values()[at]), problem });
    }
    Ok(())
}

/// Maximum epochs between two exact computations of the gap, after which all rows are visited again.
const EPOCHS_PER_CHECK: u32 = 64;

/// Rows between two checks of the monitor.
const ROWS_PER_CHECK: usize = 256;

/// One two-class problem.
struct Descent<'a> {
    rows: DenseView<'a, f32>,
    costs: &'a [f64],
    /// ‖φ_i‖², including the constant feature.
    diagonal: &'a [f64],
    /// The feature of the intercept: 1, or 0 if there is none.
    constant: f64,
    signs: &'a [f64],
}

struct Solved {
    exact: Exact,
    alphas: Vec<f64>,
    epochs: u32,
    status: Status,
}

/// The weights for the dual variables, and both objectives, computed from their definitions.
struct Exact {
    weights: Vec<f32>,
    intercept: f64,
    primal: f64,
    dual: f64,
    n_support: u32,
}

/// The state of the descent.
struct State {
    alphas: Vec<f64>,
    weights: Vec<f64>,
    intercept: f64,
    /// The rows not shrunk, in the order of the last pass.
    active: Vec<u32>,
    /// Smallest and largest projected gradient of the last pass: rows at a bound beyond them are shrunk.
    thresholds: (f64, f64),
}

/// Sums over the rows of a pass, each as of its visit.
#[derive(Default)]
struct Met {
    /// Σ c·loss − α + α·margin: the difference of the objectives. No term is negative, and that of a correctly shrunk
    /// row is 0.
    lack: f64,
    /// Σ c·loss.
    loss: f64,
}

impl Descent<'_> {
    fn run(&self, settings: &LinearDualSettings, monitor: &Monitor<'_>) -> Result<Solved, ()> {
        // A row with cost 0 is ignored.
        let present: Vec<u32> = (0..self.costs.len() as u32).filter(|&row| self.costs[row as usize] > 0.0).collect();
        let mut state = State {
            alphas: vec![0.0; self.costs.len()],
            weights: vec![0.0; self.rows.n_cols()],
            intercept: 0.0,
            active: present.clone(),
            thresholds: (f64::NEG_INFINITY, f64::INFINITY),
        };
        // Every problem starts with the same generator state, so that its steps do not depend on the other problems.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        let (mut epochs, mut rule, mut primal) = (0, StopRule::new(settings.tol), 0.0);
        let (status, exact) = loop {
            if epochs == settings.max_epochs {
                break (Status::IterationLimit, self.exact(&state));
            }
            epochs += 1;
            state.active.shuffle(&mut rng);
            let whole = state.active.len() == present.len();
            let met = match self.epoch(&mut state, monitor) {
                Ok(met) => met,
                Err(Stopped::Cancelled) => return Err(()),
                Err(Stopped::TimeLimit) => break (Status::TimeLimit, self.exact(&state)),
            };
            if whole {
                let quadratic = state.weights.iter().map(|w| w * w).sum::<f64>() + state.intercept.powi(2);
                primal = 0.5 * quadratic + met.loss;
            }
            let estimate = if primal > 0.0 { met.lack / primal } else { 0.0 };
            let total = u64::from(settings.max_epochs);
            monitor.tell(Progress { stage: "solve", done: u64::from(epochs), total, gap: Some(estimate) });
            // If nothing is left to gain on the active rows, all rows have to be checked; this is also done regularly,
            // whatever the estimate, which does not see rows shrunk by mistake.
            let is_blind = estimate <= 0.0 || epochs % EPOCHS_PER_CHECK == 0;
            if rule.is_near(estimate) || is_blind {
                let exact = self.exact(&state);
                if rule.is_met(relative_gap(exact.primal, exact.dual)) {
                    break (Status::Converged, exact);
                }
                primal = exact.primal;
                state.active.clone_from(&present);
                state.thresholds = (f64::NEG_INFINITY, f64::INFINITY);
            }
        };
        Ok(Solved { exact, alphas: state.alphas, epochs, status })
    }

    /// One pass over the active rows; rows that seem to stay at a bound are skipped from then on.
    fn epoch(&self, state: &mut State, monitor: &Monitor<'_>) -> Result<Met, Stopped> {
        let mut met = Met::default();
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = state.thresholds;
        let mut n_active = 0;
        for at in 0..state.active.len() {
            if at % ROWS_PER_CHECK == 0 {
                monitor.ask()?;
            }
            let row = state.active[at] as usize;
            let (features, sign, cost, alpha) =
                (self.rows.row(row), self.signs[row], self.costs[row], state.alphas[row]);
            let margin = sign * (dot(features, &state.weights) + self.constant * state.intercept);
            let gradient = margin - 1.0;
            let loss = cost * Loss::Hinge.value(1.0, margin);
            met.loss += loss;
            met.lack += loss + alpha * gradient;
            let projected = if alpha <= 0.0 {
                if gradient > high {
                    continue;
                }
                gradient.min(0.0)
            } else if alpha >= cost {
                if gradient < low {
                    continue;
                }
                gradient.max(0.0)
            } else {
                gradient
            };
            // Active rows move to the front.
            state.active.swap(n_active, at);
            n_active += 1;
            least = least.min(projected);
            largest = largest.max(projected);
            if projected == 0.0 {
                continue;
            }
            let curvature = self.diagonal[row];
            // A row of zeros always has margin 0: its dual variable goes to the bound.
            let moved = if curvature > 0.0 { (alpha - gradient / curvature).clamp(0.0, cost) } else { cost };
            if moved != alpha {
                state.alphas[row] = moved;
                let step = sign * (moved - alpha);
                add(features, step, &mut state.weights);
                state.intercept += step * self.constant;
            }
        }
        state.active.truncate(n_active);
        // Without a gradient of one sign no row is shrunk on that side.
        let low = if least < 0.0 { least } else { f64::NEG_INFINITY };
        let high = if largest > 0.0 { largest } else { f64::INFINITY };
        state.thresholds = (low, high);
        Ok(met)
    }

    fn exact(&self, state: &State) -> Exact {
        let mut sums = vec![0.0f64; self.rows.n_cols()];
        let (mut intercept, mut linear, mut n_support) = (0.0, 0.0, 0);
        for (row, &alpha) in state.alphas.iter().enumerate().filter(|(_, alpha)| **alpha > 0.0) {
            add(self.rows.row(row), alpha * self.signs[row], &mut sums);
            intercept += alpha * self.signs[row] * self.constant;
            linear += alpha;
            n_support += 1;
        }
        // Not at the rounded weights: the support vectors are at the corner of the hinge, and rounding moves all of
        // them off it, at a cost proportional to C, which hides the gap at a large C.
        let quadratic = sums.iter().map(|w| w * w).sum::<f64>() + intercept * intercept;
        let mut primal = 0.5 * quadratic;
        for (row, &cost) in self.costs.iter().enumerate().filter(|(_, cost)| **cost > 0.0) {
            let score = dot(self.rows.row(row), &sums) + self.constant * intercept;
            primal += cost * Loss::Hinge.value(self.signs[row], score);
        }
        let weights = sums.iter().map(|&w| w as f32).collect();
        Exact { weights, intercept, primal, dual: linear - 0.5 * quadratic, n_support }
    }
}

/// Number of accumulators, to hide the latency of additions.
const LANES: usize = 8;

pub(super) fn dot(row: &[f32], weights: &[f64]) -> f64 {
    let mut sums = [0.0f64; LANES];
    let (rows, rest) = row.as_chunks::<LANES>();
    let (heads, tail) = weights.as_chunks::<LANES>();
    for (x, w) in rows.iter().zip(heads) {
        for lane in 0..LANES {
            sums[lane] += f64::from(x[lane]) * w[lane];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(tail).map(|(x, w)| f64::from(*x) * w).sum::<f64>()
}

fn square(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x) * f64::from(x)).sum()
}

pub(super) fn add(row: &[f32], step: f64, weights: &mut [f64]) {
    weights.iter_mut().zip(row).for_each(|(w, x)| *w += step * f64::from(*x));
}
