//! The LP machine: the hinge loss with an L1 penalty, a linear program.
//!
//! Minimises ‖w‖₁ + Σ c_i max(0, 1 − y_i (wᵀφ_i + b)), one two-class problem per thread, by an interior-point method
//! (the crate `clarabel`). Variables are w, t ≥ |w|, b and the slacks: 2d + 1 + n of them, with n·d non-zeros in the
//! constraints; an iteration takes about n·d² flops, and there are some ten to thirty. Any α with 0 ≤ α_i ≤ c_i,
//! |Σ α_i y_i φ_ij| ≤ 1 for every j, and Σ α_i y_i = 0 if there is an intercept, gives the lower bound Σ α_i: the solver's
//! dual variables, made feasible, certify the solution after its smallest weights have become 0.
//!
//! The LP machine is named in Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity
//! Measures*, section 2.7.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::l1::{L1Settings, L1Solution, balance, check};
use crate::data::{DenseView, Rows};
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::problem::{Intercept, OneVsRest};
use crate::solve::Status;

/// Weights below this fraction of the largest are what the interior point leaves of 0.
const NEGLIGIBLE: f64 = 1e-6;

/// Bytes a non-zero of the constraints takes: in the matrix, its scaled copy, the factor and its transpose.
const BYTES_A_NONZERO: u64 = 80;

/// Solves every problem; `costs` are C · weight, one per row.
///
/// # Errors
/// As for [`l1::solve`](super::l1::solve); [`Error::Memory`] if the constraints do not fit.
pub fn solve(
    rows: &DenseView<'_, f32>,
    targets: OneVsRest<'_>,
    costs: &[f64],
    intercept: Intercept,
    settings: &L1Settings,
    monitor: &Monitor<'_>,
) -> Result<Vec<L1Solution>> {
    check(rows, targets, costs, intercept, settings)?;
    let (n, d) = (rows.n_rows() as u64, rows.n_cols() as u64);
    let pool = Pool::new(settings.threads)?;
    let at_once = pool.threads().min(targets.n_problems()) as u64;
    let needed = (n * d + d * d / 2).saturating_mul(BYTES_A_NONZERO * at_once);
    if let Some(free) = memory::available().filter(|free| needed > *free) {
        let what = format!("the linear programs of {n} samples and {d} features, {at_once} at once,");
        return Err(Error::Memory { what, needed, free, hint: "choose fewer bases (n_basis), or the squared hinge" });
    }
    pool.try_map(targets.n_problems(), |problem| {
        let costs = targets.costs(costs, problem);
        let present: Vec<usize> = (0..rows.n_rows()).filter(|&row| costs[row] > 0.0).collect();
        let signs: Vec<f64> = present.iter().map(|&row| targets.sign(row, problem)).collect();
        let costs: Vec<f64> = present.iter().map(|&row| costs[row]).collect();
        Program { rows, present, signs, costs, is_free: intercept == Intercept::Free }.solve(settings, monitor)
    })
}

/// One problem, of the rows with a cost.
struct Program<'a> {
    rows: &'a DenseView<'a, f32>,
    present: Vec<usize>,
    signs: Vec<f64>,
    costs: Vec<f64>,
    is_free: bool,
}

impl Program<'_> {
    fn solve(self, settings: &L1Settings, monitor: &Monitor<'_>) -> Result<L1Solution> {
        let status = match monitor.ask() {
            Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "solve" }),
            Err(Stopped::TimeLimit) => Some(Status::TimeLimit),
            Ok(()) => None,
        };
        let (n, d, b) = (self.present.len(), self.rows.n_cols(), usize::from(self.is_free));
        if let Some(status) = status {
            return Ok(self.solution(vec![0.0; d], 0.0, &vec![0.0; n], 0, status));
        }
        // Rows: n margins, n slacks, d times w ≤ t, d times −w ≤ t.
        let (mut pointers, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut column = |entries: &mut dyn Iterator<Item = (usize, f64)>| {
            for (row, value) in entries.filter(|(_, value)| *value != 0.0) {
                indices.push(row);
                values.push(value);
            }
            pointers.push(indices.len());
        };
        for j in 0..d {
            let margins =
                self.present.iter().zip(&self.signs).map(|(&row, sign)| -sign * f64::from(self.rows.row(row)[j]));
            let bounds = [(2 * n + j, 1.0), (2 * n + d + j, -1.0)];
            column(&mut margins.enumerate().chain(bounds));
        }
        for j in 0..d {
            column(&mut [(2 * n + j, -1.0), (2 * n + d + j, -1.0)].into_iter());
        }
        if self.is_free {
            column(&mut self.signs.iter().enumerate().map(|(i, sign)| (i, -sign)));
        }
        for i in 0..n {
            column(&mut [(i, -1.0), (n + i, -1.0)].into_iter());
        }
        let (n_rows, n_cols) = (2 * n + 2 * d, 2 * d + b + n);
        let constraints = CscMatrix::new(n_rows, n_cols, pointers, indices, values);
        let mut linear = vec![0.0; d];
        linear.extend(std::iter::repeat_n(1.0, d));
        linear.extend(std::iter::repeat_n(0.0, b));
        linear.extend(&self.costs);
        let mut bounds = vec![-1.0; n];
        bounds.resize(n_rows, 0.0);
        let precision = settings.tol.min(1e-6);
        let asked = DefaultSettingsBuilder::default()
            .verbose(false)
            .max_iter(settings.max_epochs.min(500))
            .tol_gap_rel(precision)
            .tol_gap_abs(precision * 1e-3)
            .tol_feas(precision)
            .build()
            .map_err(|problem| Error::parameter("tol", problem.to_string(), "settings of an interior-point method"))?;
        let nothing = CscMatrix::zeros((n_cols, n_cols));
        let cones = [SupportedConeT::NonnegativeConeT(n_rows)];
        let mut solver = DefaultSolver::new(&nothing, &linear, &constraints, &bounds, &cones, asked)
            .map_err(|problem| Error::parameter("C", problem.to_string(), "a problem within double precision"))?;
        solver.solve();
        let found = &solver.solution;
        let status = match found.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => Status::Converged,
            SolverStatus::MaxIterations => Status::IterationLimit,
            _ => Status::PrecisionLimit,
        };
        let mut weights = found.x[..d].to_vec();
        let largest = weights.iter().fold(0.0f64, |largest, w| largest.max(w.abs()));
        weights.iter_mut().filter(|w| w.abs() <= NEGLIGIBLE * largest).for_each(|w| *w = 0.0);
        let intercept = if self.is_free { found.x[2 * d] } else { 0.0 };
        let mut solution = self.solution(weights, intercept, &found.z[..n], found.iterations, status);
        if solution.status != Status::PrecisionLimit && solution.gap() > settings.tol {
            solution.status = Status::IterationLimit;
        }
        Ok(solution)
    }

    /// The solution with its certificate.
    fn solution(&self, weights: Vec<f64>, intercept: f64, duals: &[f64], epochs: u32, status: Status) -> L1Solution {
        let score = |row: usize| {
            intercept + self.rows.row(row).iter().zip(&weights).map(|(x, w)| f64::from(*x) * w).sum::<f64>()
        };
        let margins = self.present.iter().zip(&self.signs).map(|(&row, sign)| sign * score(row));
        let loss: f64 = margins.zip(&self.costs).map(|(margin, cost)| cost * (1.0 - margin).max(0.0)).sum();
        let primal = loss + weights.iter().map(|w| w.abs()).sum::<f64>();
        let dual = self.bound(duals);
        L1Solution { weights, intercept, primal, dual, epochs, status }
    }

    /// The lower bound from dual variables, made feasible.
    fn bound(&self, duals: &[f64]) -> f64 {
        let mut alphas: Vec<f64> = duals.iter().zip(&self.costs).map(|(alpha, cost)| alpha.clamp(0.0, *cost)).collect();
        if self.is_free && !balance(&mut alphas, &self.signs) {
            return 0.0;
        }
        let mut pulls = vec![0.0; self.rows.n_cols()];
        for ((&row, alpha), sign) in self.present.iter().zip(&alphas).zip(&self.signs) {
            self.rows.row(row).iter().zip(&mut pulls).for_each(|(x, pull)| *pull += alpha * sign * f64::from(*x));
        }
        let largest = pulls.into_iter().fold(1.0f64, |largest, pull| largest.max(pull.abs()));
        alphas.iter().sum::<f64>() / largest
    }
}
