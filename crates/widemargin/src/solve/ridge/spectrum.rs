//! The decomposed problem of a ridge regression: results for all λ at once, from its eigenvalues and a rotation.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::eigen::{self, SymmetricEigen};
use crate::linalg::factor::{Matrix, Side, product};
use crate::tuning::{MIN_PATH_LAMBDA, MIN_RESIDUAL_LEVERAGE, PRODUCT_ROUNDING, RIDGE_C_PER_DECADE};

/// The leave-one-out error at one λ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeaveOneOut {
    pub lambda: f64,
    /// The weighted mean of the squared error of each output; infinite where a sample is fitted regardless of the
    /// others.
    pub squared_errors: Vec<f64>,
    /// The weighted means of the squared error of each output times itself, the target, and the square of the target.
    pub products: Vec<[f64; 3]>,
}

/// Sums of each residual: its square, and that times itself, the target, and the square of the target.
const N_POWERS: usize = 4;

/// The sums of [`add_powers`] for residuals of this width, of no rows.
pub(super) fn no_powers(width: usize) -> Vec<f64> {
    vec![0.0; N_POWERS * width + 1]
}

/// Adds to the sums those of the weighted residuals of a row, λ × outputs, and last its weight. A row that is not left
/// out, whose unit is 0, has no part in them.
pub(super) fn add_powers(sums: &mut [f64], residuals: &[f64], targets: &[f64], (weight, unit): (f64, f64)) {
    if unit <= 0.0 {
        return;
    }
    let (of_residuals, total) = sums.split_at_mut(N_POWERS * residuals.len());
    total[0] += weight;
    for ((sums, residual), y) in of_residuals.chunks_mut(N_POWERS).zip(residuals).zip(targets.iter().cycle()) {
        let square = residual * residual;
        let powers = [1.0, square, *y, y * y];
        sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += weight * square * power);
    }
}

impl LeaveOneOut {
    /// From the sums of [`add_powers`], for residuals that are those of λ.
    pub(super) fn of_powers(lambda: f64, residuals: Range<usize>, sums: &[f64]) -> Self {
        let (of_residuals, total) = sums.split_at(sums.len() - 1);
        let own = of_residuals.chunks(N_POWERS).skip(residuals.start).take(residuals.len());
        LeaveOneOut {
            lambda,
            squared_errors: own.clone().map(|sums| sums[0] / total[0]).collect(),
            products: own.map(|sums| [1, 2, 3].map(|at| sums[at] / total[0])).collect(),
        }
    }

    /// C of ½‖f‖² + C Σ w (y − f)².
    pub fn c(&self) -> f64 {
        0.5 / self.lambda
    }
}

/// S and Uᵀ R y of a decomposed problem.
pub(crate) struct Spectrum {
    /// S, ascending, without eigenvalues that are rounding errors.
    pub(super) values: Vec<f64>,
    /// Uᵀ R y, eigenvalues × outputs.
    pub(super) projected: Matrix,
    /// The sum of the weights.
    pub(super) total: f64,
}

/// The factors of rows of U, for several λ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shrinking {
    /// S / (S + λ), eigenvalues × λ.
    gains: Vec<f64>,
    /// The same times Uᵀ R y, eigenvalues × λ × outputs.
    fits: Vec<f64>,
    n_lambdas: usize,
    n_outputs: usize,
}

/// The data of a row for leave-one-out.
pub(super) struct RowLeverage {
    /// √w.
    pub root: f64,
    /// u / w.
    pub share: f64,
    /// Its part of the diagonal of QQᵀ.
    pub leverage: f64,
    /// W/(W − u) of the total weight W if the features are centered without it, else 1.
    pub stretch: f64,
}

impl Spectrum {
    /// Of the products of centered features with each other (row-major, the lower triangle) and with the residuals of k
    /// outputs (features × k); also the rotation that makes rows of U of rows of features, row-major features ×
    /// eigenvalues. A largest eigenvalue of at most `rounding` is the rounding error of centering equal rows.
    ///
    /// # Errors
    /// [`Error::NotFinite`].
    pub fn of_products(
        gram: Vec<f64>,
        along: Vec<f64>,
        k: usize,
        (total, rounding): (f64, f64),
    ) -> Result<(Self, Vec<f64>)> {
        let d = along.len() / k.max(1);
        // The lower triangle of rows is the upper one of columns.
        let mut gram = Matrix::from_columns(gram, d, d).transposed();
        gram.mirror_lower();
        let not_finite = || Error::NotFinite { what: "a sum of the features".into(), value: f64::NAN };
        let (values, mut rotation) = significant(&gram, rounding).ok_or_else(not_finite)?;
        for (at, value) in values.iter().enumerate() {
            let factor = 1.0 / value.sqrt();
            rotation.col_mut(at).iter_mut().for_each(|x| *x *= factor);
        }
        let along = Matrix::from_columns(along, k, d);
        let projected = product(Side::Transposed(&rotation), Side::Transposed(&along));
        Ok((Spectrum { values, projected, total }, rotation.transposed().into_values()))
    }

    /// The weighted mean squared norm of the centered features: the unit of λ; 1 where all are 0.
    pub fn unit(&self) -> f64 {
        let unit = self.values.iter().sum::<f64>() / self.total;
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// The sum of the weights.
    pub fn total_weight(&self) -> f64 {
        self.total
    }

    /// Eight λ a decade, from where the fit tends to P alone to 1e-7 of [`Spectrum::unit`] times the weight of a typical
    /// sample.
    pub fn lambdas(&self, typical_weight: f64) -> Vec<f64> {
        let unit = self.unit() * typical_weight;
        let most = 10.0 * self.values.last().copied().unwrap_or(unit) / unit;
        let first = (most.log10() * f64::from(RIDGE_C_PER_DECADE)).ceil() as i32;
        let last = (MIN_PATH_LAMBDA.log10() * f64::from(RIDGE_C_PER_DECADE)).round() as i32;
        (last..=first).rev().map(|at| unit * 10f64.powf(f64::from(at) / f64::from(RIDGE_C_PER_DECADE))).collect()
    }

    /// The factors of rows of U at some λ.
    pub(super) fn shrinking(&self, lambdas: &[f64]) -> Shrinking {
        let (k, m, r) = (self.projected.n_cols(), lambdas.len(), self.values.len());
        let gain = |eigenvalue: usize, lambda: f64| self.values[eigenvalue] / (self.values[eigenvalue] + lambda);
        let gains: Vec<f64> = (0..r).flat_map(|at| lambdas.iter().map(move |&lambda| gain(at, lambda))).collect();
        let column = |at: usize, column: usize| gains[at * m + column / k] * self.projected.at(at, column % k);
        let fits = (0..r).flat_map(|at| (0..m * k).map(move |to| column(at, to))).collect();
        Shrinking { gains, fits, n_lambdas: m, n_outputs: k }
    }

    /// Uᵀ R y / (S + λ) · S^power, eigenvalues × outputs.
    pub(super) fn shrunk(&self, lambda: f64, power: f64) -> Matrix {
        let mut shrunk = self.projected.clone();
        for output in 0..shrunk.n_cols() {
            let numbers = shrunk.col_mut(output).iter_mut().zip(&self.values);
            numbers.for_each(|(number, value)| *number *= value.powf(power) / (value + lambda));
        }
        shrunk
    }
}

impl Shrinking {
    /// Numbers a row of [`Shrinking::residuals`].
    pub fn width(&self) -> usize {
        self.n_lambdas * self.n_outputs
    }

    /// The leave-one-out residuals of some rows, row-major rows × λ × outputs, from their rows of U and the residuals
    /// of their targets after the fit by P, rows × outputs; infinite where a sample is always fitted. 2 · eigenvalues ·
    /// λ · (1 + outputs) flops a row.
    ///
    /// Where features are centered without the sample, s being its part u/w · h of its fit and κ the stretch, these are
    /// κ (r − κ s ȳ) / (1 − κ s), to which (1 − κ) y is to be added: the `means` ȳ of the targets are empty elsewhere.
    pub fn residuals(
        &self,
        rotated: &[f64],
        open: Vec<f64>,
        means: &[f64],
        leverage_of: impl Fn(usize) -> RowLeverage,
    ) -> Vec<f64> {
        let Shrinking { n_lambdas: m, n_outputs: k, .. } = *self;
        let (n, r) = (open.len() / k.max(1), self.gains.len() / m.max(1));
        let squares: Vec<f64> = rotated.iter().map(|x| x * x).collect();
        let (mut leverages, mut values) = (vec![0.0; n * m], vec![0.0; n * m * k]);
        linalg::times(&mut leverages, &squares, &self.gains, r);
        linalg::times(&mut values, rotated, &self.fits, r);
        for at in 0..n {
            let RowLeverage { root, share, leverage, stretch } = leverage_of(at);
            for lambda in 0..m {
                let own = stretch * share * (leverage + leverages[at * m + lambda]);
                for output in 0..k {
                    let value = &mut values[(at * m + lambda) * k + output];
                    let shift = means.get(output).map_or(0.0, |mean| own * mean);
                    let residual = stretch * (open[at * k + output] - *value / root - shift);
                    let rest = 1.0 - own;
                    *value = if rest > MIN_RESIDUAL_LEVERAGE { residual / rest } else { f64::INFINITY };
                }
            }
        }
        values
    }
}

/// A bound on the squared rounding errors of rows less their mean, of this total weight.
pub(in crate::solve) fn rounding_of_center(center: &[f64], total: f64) -> f64 {
    PRODUCT_ROUNDING.powi(2) * total * center.iter().map(|mean| mean * mean).sum::<f64>()
}

/// The eigenvalues of a symmetric matrix that are not rounding, ascending, and their eigenvectors. `rounding` is that of
/// all numbers: if no eigenvalue exceeds it, there is none. `None` if the matrix is not finite.
pub(in crate::solve) fn significant(matrix: &Matrix, rounding: f64) -> Option<(Vec<f64>, Matrix)> {
    let n = matrix.n_rows();
    let SymmetricEigen { values, vectors } = eigen::symmetric(matrix.values(), n, true)?;
    let largest = values.last().copied().unwrap_or(0.0).max(0.0);
    let least = if largest <= rounding { f64::INFINITY } else { f64::EPSILON * n as f64 * largest };
    let first = values.iter().position(|value| *value > least).unwrap_or(n);
    Some((values[first..].to_vec(), Matrix::from_columns(vectors[first * n..].to_vec(), n, n - first)))
}
