//! Squared hinge with an L1 penalty on dense rows of Φ: most weights become 0, which selects features.
//!
//! Minimizes ‖w‖₁ + Σ c_i max(0, 1 − y_i (wᵀφ_i + b))², one two-class problem per thread, by coordinate descent with a
//! Newton step and a line search per coordinate (Yuan, Chang, Hsieh & Lin, *A Comparison of Optimization Methods and
//! Software for Large-scale L1-regularized Linear Classification*, JMLR 2010, section 4.1.2). Any α ≥ 0 with |Σ α_i y_i
//! φ_ij| ≤ 1 for every j (and Σ α_i y_i = 0 if there is an intercept) gives the lower bound Σ α_i − Σ α_i² / (4 c_i);
//! the derivatives of the losses, scaled to be feasible, certify convergence.

use crate::data::{DenseView, Rows};
use crate::error::{Error, Result, require};
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::problem::{Intercept, LinearProblem, Loss};
use crate::solve::dual::linear::balanced;
use crate::solve::{DescentSettings, ProblemReport, Status};
use crate::tuning::L1_INNER_PASSES;

/// Halvings of a step before a coordinate is skipped.
const MAX_L1_HALVINGS: u32 = 30;

/// Fraction of the expected decrease that a step must achieve.
const L1_SUFFICIENT_DECREASE: f64 = 0.01;

/// One solved problem.
#[derive(Clone, Debug, PartialEq)]
pub struct L1Solution {
    /// One per feature; most are 0 if C is small.
    pub weights: Vec<f64>,
    /// 0 if there is no intercept.
    pub intercept: f64,
    /// How it ended: `n_support` counts the weights that are not 0.
    pub report: ProblemReport,
}

/// Solves every problem, with the squared hinge. Makes a column-major copy of Φ.
///
/// # Errors
/// [`Error::Parameter`] for invalid settings, other losses and a penalized intercept, [`Error::Shape`] if rows and problem
/// are inconsistent, [`Error::Weight`] for a negative or non-finite cost, [`Error::Cancelled`] if the monitor cancelled (a
/// time limit is a status).
pub fn solve(
    rows: &DenseView<'_, f32>,
    problem: LinearProblem<'_>,
    settings: &DescentSettings,
    monitor: &Monitor<'_>,
) -> Result<Vec<L1Solution>> {
    let LinearProblem { targets, costs, loss, intercept } = problem;
    loss.check_among(&[Loss::SquaredHinge])?;
    settings.check()?;
    require(intercept != Intercept::Penalized, "intercept", intercept, "free or none: it is no weight to be made 0")?;
    problem.check(rows.n_rows())?;
    let (n, d) = (rows.n_rows(), rows.n_cols());
    let mut columns = vec![0.0f32; n * d];
    for (row, values) in rows.values().chunks(d.max(1)).enumerate() {
        values.iter().enumerate().for_each(|(column, value)| columns[column * n + row] = *value);
    }
    let solve_one = |problem: usize| {
        let signs: Vec<f64> = (0..n).map(|row| targets.sign(row, problem)).collect();
        let costs = &targets.costs(costs, problem);
        let state = State {
            columns: &columns,
            signs,
            costs,
            slacks: vec![1.0; n],
            weights: vec![0.0; d],
            intercept: 0.0,
            is_free: intercept == Intercept::Free,
        };
        state.descend(settings, monitor)
    };
    Pool::new(settings.threads)?.try_map(targets.n_problems(), solve_one)
}

/// Scales the heavier side down, so that Σ α_i y_i = 0.
fn balance(alphas: &mut [f64], signs: &[f64]) {
    let mut sides = [0.0; 2];
    let side = |sign: f64| usize::from(sign > 0.0);
    alphas.iter().zip(signs).for_each(|(alpha, sign)| sides[side(*sign)] += alpha);
    let scales = balanced(sides);
    alphas.iter_mut().zip(signs).for_each(|(alpha, sign)| *alpha *= scales[side(*sign)]);
}

/// The state of one problem.
struct State<'a> {
    /// \[feature\]\[row\].
    columns: &'a [f32],
    signs: Vec<f64>,
    costs: &'a [f64],
    /// 1 − y (wᵀφ + b), which may be negative.
    slacks: Vec<f64>,
    weights: Vec<f64>,
    intercept: f64,
    is_free: bool,
}

impl<'a> State<'a> {
    fn descend(mut self, settings: &DescentSettings, monitor: &Monitor<'_>) -> Result<L1Solution> {
        let d = self.weights.len();
        let mut best_dual = 0.0f64;
        for epoch in 1..=settings.max_epochs {
            (0..d).for_each(|j| self.move_weight(j));
            self.move_intercept();
            for _ in 0..L1_INNER_PASSES {
                let nonzero: Vec<usize> = (0..d).filter(|&j| self.weights[j] != 0.0).collect();
                nonzero.into_iter().for_each(|j| self.move_weight(j));
                self.move_intercept();
            }
            let primal = self.objective();
            best_dual = best_dual.max(self.dual_bound());
            let status = match monitor.ask() {
                _ if primal - best_dual <= settings.tol * primal => Status::Converged,
                Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "solve" }),
                Err(Stopped::TimeLimit) => Status::TimeLimit,
                Ok(()) if epoch == settings.max_epochs => Status::IterationLimit,
                Ok(()) => continue,
            };
            let n_support = self.weights.iter().filter(|w| **w != 0.0).count() as u32;
            let report = ProblemReport { status, iterations: epoch, primal, dual: best_dual, n_support };
            return Ok(L1Solution { weights: self.weights, intercept: self.intercept, report });
        }
        Err(Error::parameter("max_iter", "0", "at least 1"))
    }

    fn column(&self, j: usize) -> &'a [f32] {
        let n = self.slacks.len();
        &self.columns[j * n..(j + 1) * n]
    }

    fn loss(&self) -> f64 {
        self.slacks.iter().zip(self.costs).map(|(slack, cost)| cost * slack.max(0.0).powi(2)).sum()
    }

    fn objective(&self) -> f64 {
        self.loss() + self.weights.iter().map(|w| w.abs()).sum::<f64>()
    }

    /// Derivatives of the losses along a direction that changes row i's score by `move_of(i)`.
    fn slope(&self, move_of: impl Fn(usize) -> f64) -> (f64, f64) {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (i, &slack) in self.slacks.iter().enumerate() {
            if slack > 0.0 {
                let x = move_of(i);
                slope -= 2.0 * self.costs[i] * self.signs[i] * x * slack;
                curvature += 2.0 * self.costs[i] * x * x;
            }
        }
        (slope, curvature)
    }

    /// The loss after a step in that direction.
    fn loss_after(&self, step: f64, move_of: impl Fn(usize) -> f64) -> f64 {
        let after = |(i, slack): (usize, &f64)| {
            let slack = (slack - self.signs[i] * step * move_of(i)).max(0.0);
            self.costs[i] * slack * slack
        };
        self.slacks.iter().enumerate().map(after).sum()
    }

    fn move_weight(&mut self, j: usize) {
        let column = self.column(j);
        let (slope, curvature) = self.slope(|i| f64::from(column[i]));
        let w = self.weights[j];
        if curvature <= 0.0 || (w == 0.0 && slope.abs() <= 1.0) {
            return;
        }
        // The minimum of slope·z + ½ curvature·z² + |w + z|.
        let mut step = if slope + 1.0 <= curvature * w {
            -(slope + 1.0) / curvature
        } else if slope - 1.0 >= curvature * w {
            -(slope - 1.0) / curvature
        } else {
            -w
        };
        let expected = slope * step + (w + step).abs() - w.abs();
        let before = self.loss() + w.abs();
        let mut share = 1.0;
        for _ in 0..MAX_L1_HALVINGS {
            let after = self.loss_after(step, |i| f64::from(column[i])) + (w + step).abs();
            if after <= before + L1_SUFFICIENT_DECREASE * share * expected {
                for ((slack, sign), x) in self.slacks.iter_mut().zip(&self.signs).zip(column) {
                    *slack -= sign * step * f64::from(*x);
                }
                self.weights[j] = w + step;
                return;
            }
            step *= 0.5;
            share *= 0.5;
        }
    }

    /// The intercept that minimizes the losses, by Newton's method: they are piecewise quadratic in it.
    fn move_intercept(&mut self) {
        for _ in 0..if self.is_free { 20 } else { 0 } {
            let (slope, curvature) = self.slope(|_| 1.0);
            if curvature <= 0.0 {
                return;
            }
            let mut step = -slope / curvature;
            let before = self.loss();
            while self.loss_after(step, |_| 1.0) > before + L1_SUFFICIENT_DECREASE * slope * step {
                step *= 0.5;
                if step.abs() <= f64::EPSILON * self.intercept.abs().max(1.0) {
                    return;
                }
            }
            self.intercept += step;
            self.slacks.iter_mut().zip(&self.signs).for_each(|(slack, sign)| *slack -= sign * step);
        }
    }

    /// The lower bound from the derivatives of the losses, made feasible for the dual.
    fn dual_bound(&self) -> f64 {
        let mut alphas: Vec<f64> =
            self.slacks.iter().zip(self.costs).map(|(slack, cost)| 2.0 * cost * slack.max(0.0)).collect();
        if self.is_free {
            balance(&mut alphas, &self.signs);
        }
        let gradient = |j: usize| -> f64 {
            let terms = self.column(j).iter().zip(&alphas).zip(&self.signs);
            terms.map(|((x, alpha), sign)| f64::from(*x) * alpha * sign).sum::<f64>().abs()
        };
        let largest = (0..self.weights.len()).map(gradient).fold(0.0, f64::max);
        let linear: f64 = alphas.iter().sum();
        let square: f64 =
            alphas.iter().zip(self.costs).filter(|(_, c)| **c > 0.0).map(|(alpha, c)| alpha * alpha / (4.0 * c)).sum();
        // The best feasible multiple of α.
        let most = if largest > 0.0 { 1.0 / largest } else { f64::INFINITY };
        let scale = if square > 0.0 { (linear / (2.0 * square)).min(most) } else { 0.0 };
        scale * linear - scale * scale * square
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DenseMatrix, Labels};
    use crate::problem::OneVsRest;

    /// Rows whose first two features determine the class; the others are noise.
    fn made(n: usize, d: usize) -> (Vec<f32>, Labels) {
        let noise = |i: usize| ((i as f64 * 12.9898).sin() * 43758.5453).fract() as f32;
        let mut values = Vec::new();
        let mut classes = Vec::new();
        for row in 0..n {
            let class = row % 3;
            let signal = [(class == 0) as u8 as f32, (class == 1) as u8 as f32];
            values.extend((0..d).map(|j| signal.get(j).map_or(0.0, |s| 2.0 * s) + noise(row * d + j)));
            classes.push(class as i64);
        }
        (values, Labels::new(classes))
    }

    #[test]
    fn the_optimality_conditions_hold() {
        let (n, d) = (90, 12);
        let (values, labels) = made(n, d);
        let rows = DenseView::new(&values, n, d).unwrap();
        let targets = OneVsRest::new(labels.codes(), 3);
        for intercept in [Intercept::Free, Intercept::None] {
            let costs = vec![0.3; n];
            let settings = DescentSettings { tol: 1e-7, threads: 1, ..DescentSettings::default() };
            let problem = LinearProblem { targets, costs: &costs, loss: Loss::SquaredHinge, intercept };
            let solved = solve(&rows, problem, &settings, &Monitor::none()).unwrap();
            for (problem, solution) in solved.iter().enumerate() {
                let report = solution.report;
                assert!(report.status == Status::Converged && report.gap() <= 1e-7, "{solution:?}");
                let slack = |row: usize| {
                    let f: f64 = rows.row(row).iter().zip(&solution.weights).map(|(x, w)| f64::from(*x) * w).sum();
                    (1.0 - targets.sign(row, problem) * (f + solution.intercept)).max(0.0)
                };
                let gradient = |j: usize| -> f64 {
                    let term = |row: usize| {
                        2.0 * costs[row] * targets.sign(row, problem) * f64::from(values[row * d + j]) * slack(row)
                    };
                    (0..n).map(term).sum()
                };
                for (j, &w) in solution.weights.iter().enumerate() {
                    let right = if w == 0.0 {
                        gradient(j).abs() <= 1.0 + 1e-3
                    } else {
                        (gradient(j) - w.signum()).abs() < 1e-3
                    };
                    assert!(right, "{problem} {j}: {w} {}", gradient(j));
                }
                let balance: f64 = (0..n).map(|row| targets.sign(row, problem) * slack(row)).sum();
                assert!(intercept == Intercept::None || balance.abs() < 1e-6);
            }
            // The informative features have weights, and some others have none.
            assert!(solved[0].weights[0] != 0.0 && solved[1].weights[1] != 0.0);
            assert!(solved[0].weights.contains(&0.0));
        }
    }

    #[test]
    fn threads_change_no_bit_and_copies_are_weights() {
        let (n, d) = (60, 8);
        let (values, labels) = made(n, d);
        let rows = DenseView::new(&values, n, d).unwrap();
        let targets = OneVsRest::new(labels.codes(), 3);
        let costs: Vec<f64> = (0..n).map(|i| 0.2 * (1 + i % 2) as f64).collect();
        let settings = |threads| DescentSettings { tol: 1e-8, threads, ..DescentSettings::default() };
        let (loss, intercept) = (Loss::SquaredHinge, Intercept::Free);
        let problem = LinearProblem { targets, costs: &costs, loss, intercept };
        let one = solve(&rows, problem, &settings(1), &Monitor::none()).unwrap();
        assert_eq!(one, solve(&rows, problem, &settings(3), &Monitor::none()).unwrap());
        let copies: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, 1 + i % 2)).collect();
        let all = DenseMatrix { values, n_rows: n, n_cols: d };
        let (copied, labels) = (all.select(&copies), labels.select(&copies));
        let same = vec![0.2; copies.len()];
        let problem = LinearProblem { targets: OneVsRest::new(labels.codes(), 3), costs: &same, loss, intercept };
        let other = solve(&copied.view().unwrap(), problem, &settings(1), &Monitor::none()).unwrap();
        for (one, other) in one.iter().zip(&other) {
            assert!((one.report.primal - other.report.primal).abs() <= 1e-7 * one.report.primal);
        }
    }

    #[test]
    fn rejects_arguments_of_wrong_shape() {
        let (values, labels) = made(6, 3);
        let rows = DenseView::new(&values, 6, 3).unwrap();
        let targets = OneVsRest::new(labels.codes(), 3);
        let run = |costs: &[f64], intercept, settings: DescentSettings| {
            let problem = LinearProblem { targets, costs, loss: Loss::SquaredHinge, intercept };
            solve(&rows, problem, &settings, &Monitor::none()).unwrap_err().to_string()
        };
        let usual = DescentSettings::default();
        assert!(run(&[1.0; 5], Intercept::None, usual).contains("costs"));
        assert!(run(&[1.0, 1.0, -1.0, 1.0, 1.0, 1.0], Intercept::None, usual).contains("row 2"));
        assert!(run(&[1.0; 6], Intercept::Penalized, usual).contains("intercept"));
        assert!(run(&[1.0; 6], Intercept::None, DescentSettings { tol: 0.0, ..usual }).contains("tol"));
    }
}
