//! Ridge regression with an unpenalized intercept, and leave-one-out in closed form for all outputs and all C at once.
//!
//! f = f₀ + Pβ minimizes ½‖f₀‖² + C Σ w (y − f)² for each output, where P has columns that are not penalized: the
//! constant, polynomials, or none. With R = diag(√w), λ = 1/(2C), RP = QT and the decomposition U S Uᵀ of (I − QQᵀ) RKR
//! (I − QQᵀ), the fitted values are R⁻¹ (QQᵀ + U S/(S + λ) Uᵀ) R y. The residual at i of the fit without one copy of
//! sample i, of weight u, is (y − f)ᵢ / (1 − u/wᵢ · hᵢ), where h is the diagonal of the matrix in parentheses: exact.
//!
//! One decomposition (9 m³ flops, m the smaller of the numbers of samples and features) serves all outputs and all C: of
//! a kernel between the samples (`Ridge`), or of the products of features. Of these only sums over the rows are needed,
//! and rows of U are made from the features a chunk at a time (2 n m² flops), so that no n × n matrix is: the features
//! may be in memory, computed from the samples at each of the passes (`ChunkedRows`), or elsewhere. Either way the rows
//! answer what the decomposed problem, a `PartedRidge`, requests of them.

mod features;
mod part;
mod parts;
mod spectrum;

use std::ops::Range;

pub(crate) use features::FeatureRidge;
pub(super) use features::products;
pub(crate) use part::{ChunkedRows, Chunks, TakesFeatures};
pub use part::{RidgePart, RidgeRows};
use parts::Free;
pub use parts::RIDGE_QUERIES;
pub(crate) use parts::{FeatureSolution, PartedRidge, center_of};
pub(crate) use spectrum::{LeaveOneOut, Spectrum};
use spectrum::{add_powers, no_powers};
pub(super) use spectrum::{rounding_of_center, significant};

use crate::linalg::factor::{Matrix, Side, Svd, add_product, product, project_off, stacked};
use crate::linalg::{self, Columns, add_gram};
use crate::problem::RowFeatures;
use crate::tuning::MIN_SINGULAR_VALUE;

/// Rows in a block.
pub(crate) const ROWS: usize = 1024;

/// The data to fit: targets, weights, and the part of each weight that is one copy.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    /// Outputs × samples: one column per sample.
    pub targets: Matrix,
    /// Above 0, but for rows that are only evaluated.
    pub weights: Vec<f64>,
    /// At most the weights.
    pub units: Vec<f64>,
}

impl Fitted {
    /// Of targets samples × outputs.
    pub fn new(targets: &Matrix, weights: Vec<f64>, units: Vec<f64>) -> Self {
        Fitted { targets: targets.transposed(), weights, units }
    }

    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Some of the rows, with their features.
    pub fn part<'a>(&'a self, rows: Range<usize>, features: RowFeatures<'a>) -> RidgePart<'a> {
        let k = self.targets.n_rows();
        RidgePart {
            features,
            targets: &self.targets.values()[rows.start * k..rows.end * k],
            weights: &self.weights[rows.clone()],
            units: &self.units[rows],
        }
    }

    /// The errors of leave-one-out decision values at λ, samples × outputs, whose weights are multiplied by factors.
    pub fn leave_one_out(&self, lambda: f64, values: &Matrix, factors: &[f64]) -> LeaveOneOut {
        let k = values.n_cols();
        let mut sums = no_powers(k);
        for (row, (&weight, &unit)) in self.weights.iter().zip(&self.units).enumerate() {
            let targets = self.targets.col(row);
            let residuals: Vec<f64> = targets.iter().enumerate().map(|(at, y)| y - values.at(row, at)).collect();
            add_powers(&mut sums, &residuals, targets, (factors[row] * weight, unit));
        }
        LeaveOneOut::of_powers(lambda, 0..k, &sums)
    }
}

/// A problem decomposed from a kernel between the samples.
pub(crate) struct Ridge {
    pub parted: PartedRidge,
    fitted: Fitted,
    /// The rows of U and Q, one column per row: the features of the samples.
    rows: Matrix,
    kernel: Matrix,
    /// Of R P, whose left singular vectors are Q.
    svd: Svd,
}

/// The solution of a kernel problem: f = Σ α k(x, ·) + Σ β p.
pub(crate) struct KernelSolution {
    /// Samples × outputs.
    pub alphas: Matrix,
    /// Columns of P × outputs.
    pub betas: Matrix,
}

impl Ridge {
    /// Decomposes a kernel between the samples, reading its lower triangle; `free` has the columns of P. `None`
    /// for numbers that are not finite.
    pub fn of_kernel(kernel: Matrix, free: Matrix, fitted: Fitted) -> Option<Self> {
        let (n, roots) = (fitted.weights.len(), roots(&fitted.weights));
        let mut kernel = kernel;
        kernel.mirror_lower();
        let mut scaled = kernel.clone();
        for col in 0..n {
            let factor = roots[col];
            scaled.col_mut(col).iter_mut().zip(&roots).for_each(|(value, root)| *value *= factor * root);
        }
        let svd = Svd::new(&scaled_rows(&free, &roots), MIN_SINGULAR_VALUE)?;
        let q = &svd.u;
        // Of equal rows nothing else is left off the constant.
        let largest = scaled.values().iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let rounding = if q.n_cols() > 0 { f64::EPSILON * n as f64 * largest } else { 0.0 };
        project_off(&mut scaled, q);
        let (values, u) = significant(&scaled, rounding)?;
        let weighted = scaled_rows(&fitted.targets.transposed(), &roots);
        let [projected, along] = [&u, q].map(|basis| product(Side::Transposed(basis), Side::Plain(&weighted)));
        let (total, n_outputs) = (fitted.total(), fitted.targets.n_rows());
        let free = Free { center: Vec::new(), along: along.transposed().into_values(), n_outputs, total };
        let parted = PartedRidge { free, spectrum: Spectrum { values, projected, total }, rotation: None };
        Some(Ridge { parted, fitted, rows: stacked(&u.transposed(), &q.transposed()), kernel, svd })
    }

    /// The number of independent columns of P.
    pub fn n_free(&self) -> usize {
        self.svd.s.len()
    }

    /// The features of some rows.
    fn features(&self, rows: Range<usize>) -> RowFeatures<'_> {
        let width = self.rows.n_rows();
        let values = &self.rows.values()[rows.start * width..rows.end * width];
        RowFeatures::Weighted { values, width, n_penalized: width - self.n_free() }
    }

    /// All rows.
    pub fn rows(&self) -> RidgePart<'_> {
        let rows = 0..self.fitted.weights.len();
        self.fitted.part(rows.clone(), self.features(rows))
    }

    /// The coefficients at λ.
    pub fn solution(&self, lambda: f64) -> KernelSolution {
        let Ridge { rows, kernel, svd, .. } = self;
        let roots = roots(&self.fitted.weights);
        let shrunk = self.parted.spectrum.shrunk(lambda, 0.0);
        let of_rows = stacked(&shrunk, &Matrix::zeros(self.n_free(), shrunk.n_cols()));
        let mut scaled = product(Side::Transposed(rows), Side::Plain(&of_rows));
        // Eigenvectors of the smallest eigenvalues are orthogonal to Q but for rounding, which K would magnify.
        let along = product(Side::Transposed(&svd.u), Side::Plain(&scaled));
        add_product(&mut scaled, -1.0, Side::Plain(&svd.u), Side::Plain(&along));
        let alphas = scaled_rows(&scaled, &roots);
        // R P β is the fit of R y − R K α by Q.
        let mut left = self.fitted.targets.transposed();
        add_product(&mut left, -1.0, Side::Plain(kernel), Side::Plain(&alphas));
        let mut onto = product(Side::Transposed(&svd.u), Side::Plain(&scaled_rows(&left, &roots)));
        (0..onto.n_cols()).for_each(|k| onto.col_mut(k).iter_mut().zip(&svd.s).for_each(|(x, s)| *x /= s));
        KernelSolution { alphas, betas: product(Side::Plain(&svd.v), Side::Plain(&onto)) }
    }
}

/// Ranges of [`ROWS`] of n rows.
fn blocks(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(ROWS).map(move |first| first..(first + ROWS).min(n))
}

/// The root of each weight, by which rows of a least squares problem are multiplied.
pub(crate) fn roots(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|weight| weight.sqrt()).collect()
}

/// The products of rows of d features with each other (lower triangle) and with their k residuals.
fn products_of_block(block: &[f64], right: &[f64], d: usize, k: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut gram, mut along) = (vec![0.0; d * d], vec![0.0; d * k]);
    add_gram(&mut gram, Columns::new(block, d.max(1), 0, d));
    let left = Columns::new(block, d.max(1), 0, d);
    linalg::add_cross_product(&mut along, left, Columns::new(right, k, 0, k));
    (gram, along)
}

/// A matrix with a factor for each row.
fn scaled_rows(matrix: &Matrix, factors: &[f64]) -> Matrix {
    let mut scaled = matrix.clone();
    (0..scaled.n_cols())
        .for_each(|col| scaled.col_mut(col).iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor));
    scaled
}

#[cfg(test)]
mod tests;
