//! Newton's method for one output, with a certificate.
//!
//! For α = C v a, where each a is a derivative that the loss has, and Σ α = 0 if there is an intercept, the dual
//! objective Σ α y − ½‖Σ α φ‖² − Σ C v conjugate(a) is at most the minimum. The a of a point are the derivatives of the
//! loss at its residuals; the intercept is set before such that Σ α is 0 but for rounding, and the larger of the sums
//! of positive and negative α is scaled to the other, which leaves them feasible: the bound is valid whatever the
//! point. So are all α times one factor, and the best factor is used.
//!
//! The losses curve alike wherever they do, so that the Hessian is I + κ Σ v φφᵀ over the rows where they do. The
//! pinball loss is rounded over a width δ about multipliers μ (see [`Rounded`]): once that problem is solved well
//! enough, its derivatives become the multipliers of the next, narrower one. This is the method of multipliers, whose
//! gap falls faster than the width.

use super::active_gram::ActiveGram;
use super::factor::Factor;
use super::loss::Rounded;
use super::parted_rows::PartedRows;
use super::residual_sums::{Change, Products};
use crate::error::Result;
use crate::linalg::factor::{add_scaled, dot};
use crate::monitor::{Monitor, Progress};
use crate::problem::Loss;
use crate::solve::newton::line_search::{SlopeAt, find_zeros};
use crate::solve::{ProblemReport, Status, relative_gap};
use crate::tuning::{
    FIRST_WIDTH_OF_ROUNDED_LOSS, GAP_PROGRESS, LINE_SEARCH_SLOPE_TOL, MAX_GAP_OF_ROUNDED_LOSS, MIN_RESIDUAL_LEVERAGE,
    RESIDUAL_PATIENCE, RESIDUAL_PROGRESS, WIDTH_FACTOR_OF_ROUNDED_LOSS,
};

/// Newton steps, at most.
const MAX_RESIDUAL_STEPS: u32 = 500;

/// Least width of a rounded loss, in units of the mean of |y|.
const MIN_WIDTH_OF_ROUNDED_LOSS: f64 = 1e-13;

/// Σ α relative to Σ |α| that counts as 0 (decision 0028).
const RESIDUAL_BALANCE_TOL: f64 = 1e-13;

/// One output.
#[derive(Clone, Copy)]
pub(super) struct Task<'a, 'r> {
    pub rows: &'a PartedRows<'r>,
    pub targets: &'a [f64],
    /// At least 0; rows without weight have no part in the fit.
    pub weights: &'a [f64],
    pub has_intercept: bool,
    pub monitor: &'a Monitor<'a>,
}

/// Where the method is.
pub(super) struct State {
    pub point: Point,
    pub gram: ActiveGram,
}

/// A point.
#[derive(Clone)]
pub(super) struct Point {
    /// Of centered features.
    pub weights: Vec<f64>,
    pub intercept: f64,
    /// The products of the rows with the weights.
    pub scores: Vec<f64>,
    /// μ, one per row.
    pub shifts: Vec<f64>,
}

/// The values and sums at a point.
struct Here {
    primal: f64,
    dual: f64,
    /// The objective of the rounded problem.
    rounded: f64,
    /// Its gap, absolute, without scaling.
    rounded_gap: f64,
    gradient: Vec<f64>,
    of_intercept: f64,
    /// a, one per row.
    duals: Vec<f64>,
    is_active: Vec<bool>,
    n_support: u32,
}

impl State {
    /// The constant 0.
    pub fn new(rows: &PartedRows<'_>) -> Self {
        let (n, d) = (rows.n_rows(), rows.n_features());
        let point = Point { weights: vec![0.0; d], intercept: 0.0, scores: vec![0.0; n], shifts: vec![0.0; n] };
        State { point, gram: ActiveGram::new(n, d) }
    }
}

impl Task<'_, '_> {
    /// The residuals of a point.
    pub fn residuals(&self, point: &Point) -> Vec<f64> {
        let rows = self.targets.iter().zip(&point.scores);
        rows.map(|(y, score)| y - score - point.intercept).collect()
    }

    /// Minimizes from the state on, until the relative gap is at most `tol`.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; a time limit is a status.
    pub fn solve(&self, loss: Loss, c: f64, state: &mut State, tol: f64) -> Result<ProblemReport> {
        let total: f64 = self.weights.iter().sum();
        let size = self.targets.iter().zip(self.weights).map(|(y, weight)| weight * y.abs()).sum::<f64>() / total;
        let unit = if size > 0.0 { size } else { 1.0 };
        let mut rounded = Rounded { loss, width: FIRST_WIDTH_OF_ROUNDED_LOSS * unit };
        let (mut dual, mut steps, mut is_fresh) = (f64::NEG_INFINITY, 0, false);
        let (mut best, mut least, mut since) = (f64::INFINITY, f64::INFINITY, 0);
        loop {
            self.center(rounded, state)?;
            let here = self.here(rounded, c, state)?;
            dual = dual.max(here.dual).max(0.0);
            let (primal, n_support) = (here.primal, here.n_support);
            let solved = |status| ProblemReport { status, iterations: steps, primal, dual, n_support };
            let gap = relative_gap(here.primal, dual);
            self.monitor.tell(Progress {
                stage: "solve",
                done: u64::from(steps),
                total: u64::from(MAX_RESIDUAL_STEPS),
                gap: Some(gap),
            });
            if gap <= tol {
                if is_fresh {
                    return Ok(solved(Status::Converged));
                }
                // The scores of the steps add up their rounding.
                state.point.scores = self.rows.times(&state.point.weights, self.monitor)?;
                is_fresh = true;
                continue;
            }
            if steps == MAX_RESIDUAL_STEPS {
                return Ok(solved(Status::IterationLimit));
            }
            // There is always one step.
            if self.monitor.is_time_up("solve")? && steps > 0 {
                return Ok(solved(Status::TimeLimit));
            }
            if gap < GAP_PROGRESS * best {
                (best, since) = (gap, 0);
            }
            if here.rounded < least - RESIDUAL_PROGRESS * (here.primal - dual) {
                (least, since) = (here.rounded, 0);
            }
            if !loss.is_smooth()
                && here.rounded_gap <= MAX_GAP_OF_ROUNDED_LOSS * (here.primal - here.dual)
                && rounded.width > MIN_WIDTH_OF_ROUNDED_LOSS * unit
            {
                state.point.shifts = here.duals;
                rounded.width *= WIDTH_FACTOR_OF_ROUNDED_LOSS;
                least = f64::INFINITY;
                continue;
            }
            since += 1;
            if since > RESIDUAL_PATIENCE || !gap.is_finite() {
                return Ok(solved(Status::PrecisionLimit));
            }
            let stuck = solved(Status::PrecisionLimit);
            if !self.step(rounded, c, here, state)? {
                return Ok(stuck);
            }
            steps += 1;
            is_fresh = false;
        }
    }

    /// Sets the intercept such that Σ α = 0, the minimum for the weights.
    pub fn center(&self, rounded: Rounded, state: &mut State) -> Result<()> {
        if !self.has_intercept {
            return Ok(());
        }
        let point = &mut state.point;
        let mut places = [point.intercept];
        find_zeros(&mut places, vec![(f64::NEG_INFINITY, f64::INFINITY)], |_, places| {
            let (mut slope, mut curvature, mut size) = (0.0, 0.0, 0.0);
            for (row, weight) in self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                let at = rounded.at(self.targets[row] - point.scores[row] - places[0], point.shifts[row]);
                slope -= weight * at.dual;
                size += weight * at.dual.abs();
                curvature += weight * at.curvature;
            }
            Ok(vec![SlopeAt { slope, curvature, tolerance: RESIDUAL_BALANCE_TOL * size }])
        })?;
        point.intercept = places[0];
        Ok(())
    }

    fn here(&self, rounded: Rounded, c: f64, state: &mut State) -> Result<Here> {
        let (n, State { point, gram }) = (self.targets.len(), state);
        let (mut duals, mut is_active, mut n_support) = (vec![0.0; n], vec![false; n], 0);
        let (mut losses, mut rounded_losses, mut above, mut below) = (0.0, 0.0, 0.0, 0.0);
        let residuals = self.residuals(point);
        for (row, &residual) in residuals.iter().enumerate() {
            let cost = c * self.weights[row];
            if cost == 0.0 {
                continue;
            }
            let at = rounded.at(residual, point.shifts[row]);
            losses += cost * rounded.loss.value(residual, 0.0);
            rounded_losses += cost * at.value;
            (duals[row], is_active[row]) = (at.dual, at.curvature > 0.0);
            n_support += u32::from(at.dual != 0.0);
            if at.dual > 0.0 { above += cost * at.dual } else { below -= cost * at.dual }
        }
        if self.has_intercept {
            // Only rounding, unless one side has no support vectors at all.
            let (up, down) = if above > below {
                (below / above, 1.0)
            } else if below > above {
                (1.0, above / below)
            } else {
                (1.0, 1.0)
            };
            duals.iter_mut().for_each(|dual| *dual *= if *dual > 0.0 { up } else { down });
        }
        let alphas: Vec<f64> = duals.iter().zip(self.weights).map(|(dual, weight)| c * weight * dual).collect();
        let sum_with = |change: Change<'_>| self.rows.transposed_times_and_products(&alphas, change, self.monitor);
        let along = if rounded.loss.is_smooth() {
            // The next step or leave-one-out needs the products, which cost no pass of their own here.
            gram.set(is_active.clone(), self.weights, sum_with)?
        } else {
            // Rounded problems follow each other without a step between, each with other active rows: it adds them.
            sum_with(Change { sums: &mut Products::of(0), rows: &[], coefficients: &[] })?
        };
        let (mut linear, mut quadratic, mut rounding) = (0.0, 0.5 * dot(&along, &along), 0.0);
        for row in 0..n {
            let (in_proportion, of_square) = rounded.loss.conjugate(duals[row]);
            let cost = c * self.weights[row];
            linear += alphas[row] * self.targets[row] - cost * in_proportion;
            quadratic += cost * of_square;
            rounding += cost * rounded.rounding(duals[row], point.shifts[row]);
        }
        let penalty = 0.5 * dot(&point.weights, &point.weights);
        // θα is feasible for θ from 0 on, and its dual objective θ · linear − θ² · quadratic.
        let scale = (0.5 * linear / quadratic).clamp(0.0, rounded.loss.max_dual_factor());
        let dual = if quadratic > 0.0 { scale * (linear - scale * quadratic) } else { 0.0 };
        let mut gradient = point.weights.clone();
        add_scaled(&mut gradient, -1.0, &along);
        Ok(Here {
            primal: penalty + losses,
            dual,
            rounded: penalty + rounded_losses,
            rounded_gap: penalty + rounded_losses - (linear - quadratic - rounding),
            gradient,
            of_intercept: if self.has_intercept { -alphas.iter().sum::<f64>() } else { 0.0 },
            duals,
            is_active,
            n_support,
        })
    }

    /// Moves to the minimum along the Newton direction; false if there is none that leads down.
    fn step(&self, rounded: Rounded, c: f64, here: Here, state: &mut State) -> Result<bool> {
        let factor = self.factor(rounded, c, here.is_active, state)?;
        let Some(factor) = factor else { return Ok(false) };
        let (direction, turn) = factor.direction(&here.gradient, here.of_intercept);
        let first = dot(&here.gradient, &direction) + here.of_intercept * turn;
        if !(first < 0.0 && first.is_finite()) {
            return Ok(false);
        }
        let along: Vec<f64> =
            self.rows.times(&direction, self.monitor)?.into_iter().map(|along| along + turn).collect();
        let point = &mut state.point;
        let residuals = self.residuals(point);
        let (across, second) = (dot(&point.weights, &direction), dot(&direction, &direction));
        let mut places = [1.0];
        find_zeros(&mut places, vec![(0.0, f64::INFINITY)], |_, places| {
            let (mut slope, mut curvature) = (across + places[0] * second, second);
            for (row, weight) in self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                let at = rounded.at(residuals[row] - places[0] * along[row], point.shifts[row]);
                slope -= c * weight * at.dual * along[row];
                curvature += c * weight * at.curvature * along[row] * along[row];
            }
            Ok(vec![SlopeAt { slope, curvature, tolerance: LINE_SEARCH_SLOPE_TOL * first.abs() }])
        })?;
        let [step] = places;
        add_scaled(&mut point.weights, step, &direction);
        point.intercept += step * turn;
        // The intercept is no part of the scores.
        point.scores.iter_mut().zip(&along).for_each(|(score, along)| *score += step * (along - turn));
        Ok(true)
    }

    /// The factor of the Hessian where these rows curve.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn factor(&self, rounded: Rounded, c: f64, is_active: Vec<bool>, state: &mut State) -> Result<Option<Factor>> {
        let kappa = c * rounded.curvature();
        let gram = &mut state.gram;
        let set = |gram: &mut ActiveGram, is_active| {
            gram.set(is_active, self.weights, |change| self.rows.add_products(change, self.monitor))
        };
        set(gram, is_active.clone())?;
        if let Some(factor) = gram.factor(kappa, self.has_intercept) {
            return Ok(Some(factor));
        }
        gram.clear();
        set(gram, is_active)?;
        Ok(gram.factor(kappa, self.has_intercept))
    }

    /// The residual of each row by the fit without one copy of it, whose weight is its `unit`; infinite where leave-one-out
    /// is undetermined. The state is at the solution of a loss that is not rounded.
    ///
    /// Without one copy of sample i, of weight u, the gradient at the solution is C u loss′(r_i)(φ_i, 1), and with the
    /// others curving as they do, the Hessian lacks C u loss″(r_i)(φ_i, 1)(φ_i, 1)ᵀ. With the leverage l = (φ_i,
    /// 1)ᵀH⁻¹(φ_i, 1) the residual of the refit is r_i + C u loss′ l / (1 − C u loss″ l): exact where the refit moves
    /// no other sample over a corner of the loss, and for the squared error always.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn leave_one_out(&self, rounded: Rounded, c: f64, units: &[f64], state: &mut State) -> Result<Vec<f64>> {
        let residuals = self.residuals(&state.point);
        let at = |row: usize| rounded.at(residuals[row], 0.0);
        let is_active = (0..residuals.len()).map(|row| self.weights[row] > 0.0 && at(row).curvature > 0.0).collect();
        let Some(factor) = self.factor(rounded, c, is_active, state)? else {
            return Ok(vec![f64::INFINITY; residuals.len()]);
        };
        // Without a sample that is no support vector the solution is the same.
        let support: Vec<usize> = (0..residuals.len()).filter(|&row| at(row).dual != 0.0).collect();
        let leverages = self.rows.leverages(&factor, &support, self.monitor)?;
        let mut left = residuals.clone();
        for (&row, leverage) in support.iter().zip(leverages) {
            let (at, weight) = (at(row), c * units[row] * leverage);
            let rest = 1.0 - weight * at.curvature;
            left[row] =
                if rest > MIN_RESIDUAL_LEVERAGE { residuals[row] + weight * at.dual / rest } else { f64::INFINITY };
        }
        Ok(left)
    }
}
