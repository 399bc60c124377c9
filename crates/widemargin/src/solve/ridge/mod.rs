//! Ridge regression with an unpenalized intercept, and leave-one-out in closed form for all outputs and all C at once.
//!
//! f = f₀ + Pβ minimizes ½‖f₀‖² + C Σ w (y − f)² for each output, where P has columns that are not penalized: the
//! constant, polynomials, or none. With R = diag(√w), λ = 1/(2C), RP = QT and the decomposition U S Uᵀ of (I − QQᵀ) RKR
//! (I − QQᵀ), the fitted values are R⁻¹ (QQᵀ + U S/(S + λ) Uᵀ) R y. The residual at i of the fit without one copy of
//! sample i, of weight u, is (y − f)ᵢ / (1 − u/wᵢ · hᵢ), where h is the diagonal of the matrix in parentheses: exact.
//!
//! One decomposition (9 m³ flops, m the smaller of the numbers of samples and features) serves all outputs and all C: of
//! a kernel between the samples (`Ridge`), or of the products of features (`PartedRidge`). Of these only sums over the
//! rows are needed, and rows of U are made from the features a chunk at a time (2 n m² flops), so that no n × n matrix
//! is: the features may be in memory, computed from the samples at each of the passes (`ChunkedRows`), or elsewhere.

mod features;
mod part;
mod parts;
mod spectrum;

use std::ops::Range;

pub(crate) use features::FeatureRidge;
pub(super) use features::products;
pub(crate) use part::{ChunkedRows, Chunks, RowTargets, TakesFeatures};
pub use part::{RidgeFeatures, RidgePart, RidgeRows};
pub use parts::RIDGE_QUERIES;
pub(crate) use parts::{FeatureSolution, PartedRidge, center_of};
pub(crate) use spectrum::{LeaveOneOut, Spectrum};
use spectrum::{RowLeverage, Shrinking, add_powers, no_powers};
pub(super) use spectrum::{rounding_of_center, significant};

use crate::linalg::factor::{Matrix, Side, Svd, add_product, product};
use crate::linalg::{self, Columns, add_gram};
use crate::tuning::MIN_SINGULAR_VALUE;

/// Rows in a block.
pub(crate) const ROWS: usize = 1024;

/// The data to fit: targets, weights, and the part of each weight that is one copy.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    /// Samples × outputs.
    pub targets: Matrix,
    /// Above 0.
    pub weights: Vec<f64>,
    /// At most the weights.
    pub units: Vec<f64>,
}

impl Fitted {
    /// The errors of leave-one-out decision values at λ, samples × outputs, whose weights are multiplied by factors.
    pub fn leave_one_out(&self, lambda: f64, values: &Matrix, factors: &[f64]) -> LeaveOneOut {
        let k = values.n_cols();
        let mut sums = no_powers(k);
        for (row, (&weight, &unit)) in self.weights.iter().zip(&self.units).enumerate() {
            let targets: Vec<f64> = (0..k).map(|output| self.targets.at(row, output)).collect();
            let residuals: Vec<f64> = targets.iter().enumerate().map(|(at, y)| y - values.at(row, at)).collect();
            add_powers(&mut sums, &residuals, &targets, (factors[row] * weight, unit));
        }
        LeaveOneOut::of_powers(lambda, 0..k, &sums)
    }
}

/// A problem decomposed from a kernel between the samples.
pub(crate) struct Ridge {
    fitted: Fitted,
    /// U, row-major.
    u: Vec<f64>,
    kernel: Matrix,
    /// Of R P, whose left singular vectors are Q.
    svd: Svd,
    spectrum: Spectrum,
    /// The fit by P alone, samples × outputs.
    base: Matrix,
    /// The diagonal of QQᵀ.
    leverages: Vec<f64>,
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
        if q.n_cols() > 0 {
            // (I − QQᵀ) A (I − QQᵀ) = A − Q(AQ)ᵀ − (AQ)Qᵀ + Q(QᵀAQ)Qᵀ.
            let along = product(Side::Plain(&scaled), Side::Plain(q));
            let inner = product(Side::Transposed(q), Side::Plain(&along));
            let mut half = along;
            add_product(&mut half, -0.5, Side::Plain(q), Side::Plain(&inner));
            add_product(&mut scaled, -1.0, Side::Plain(q), Side::Transposed(&half));
            add_product(&mut scaled, -1.0, Side::Plain(&half), Side::Transposed(q));
        }
        let (values, u) = significant(&scaled, rounding)?;
        let weighted = scaled_rows(&fitted.targets, &roots);
        let projected = product(Side::Transposed(&u), Side::Plain(&weighted));
        let onto = product(Side::Transposed(q), Side::Plain(&weighted));
        let mut base = product(Side::Plain(q), Side::Plain(&onto));
        (0..base.n_cols()).for_each(|k| base.col_mut(k).iter_mut().zip(&roots).for_each(|(x, root)| *x /= root));
        let leverages = (0..n).map(|i| (0..q.n_cols()).map(|j| q.at(i, j).powi(2)).sum()).collect();
        let u = u.transposed().into_values();
        let spectrum = Spectrum::new(values, projected, &fitted.weights);
        Some(Ridge { fitted, u, kernel, svd, spectrum, base, leverages })
    }

    /// The number of independent columns of P.
    pub fn n_free(&self) -> usize {
        self.svd.s.len()
    }

    /// The eigenvalues, which determine the range of λ.
    pub fn spectrum(&self) -> &Spectrum {
        &self.spectrum
    }

    /// The leave-one-out errors at each λ.
    pub fn leave_one_out(&self, lambdas: &[f64]) -> Vec<LeaveOneOut> {
        let by_row = self.fitted.targets.transposed();
        let width = lambdas.len() * by_row.n_rows();
        let (shrinking, mut sums) = (self.spectrum.shrinking(lambdas), no_powers(width));
        let Fitted { weights, units, .. } = &self.fitted;
        for rows in blocks(self.fitted.weights.len()) {
            for (residuals, row) in self.residuals(rows.clone(), &shrinking).chunks(width.max(1)).zip(rows) {
                add_powers(&mut sums, residuals, by_row.col(row), (weights[row], units[row]));
            }
        }
        self.spectrum.leave_one_out(lambdas, &sums)
    }

    /// The leave-one-out decision values: of each sample by the fit without one copy of it, samples × outputs.
    pub fn loo_values(&self, lambda: f64) -> Matrix {
        let (mut values, shrinking) = (self.fitted.targets.clone(), self.spectrum.shrinking(&[lambda]));
        let k = values.n_cols();
        for rows in blocks(self.fitted.weights.len()) {
            let first = rows.start;
            for (at, residual) in self.residuals(rows, &shrinking).iter().enumerate() {
                let (row, output) = (first + at / k, at % k);
                values.set(row, output, values.at(row, output) - residual);
            }
        }
        values
    }

    /// The leave-one-out residuals of some rows, row-major rows × λ × outputs; infinite where the sample is always
    /// fitted.
    fn residuals(&self, rows: Range<usize>, shrinking: &Shrinking) -> Vec<f64> {
        let Fitted { targets, weights, units } = &self.fitted;
        let (k, first, r) = (targets.n_cols(), rows.start, self.spectrum.len());
        let open = rows.clone().flat_map(|row| (0..k).map(move |output| (row, output)));
        let open = open.map(|(row, output)| targets.at(row, output) - self.base.at(row, output)).collect();
        let leverage_of = |at: usize| {
            let row = first + at;
            RowLeverage { root: weights[row].sqrt(), share: units[row] / weights[row], leverage: self.leverages[row] }
        };
        shrinking.residuals(&self.u[rows.start * r..rows.end * r], open, leverage_of)
    }

    /// The coefficients at λ.
    pub fn solution(&self, lambda: f64) -> KernelSolution {
        let Ridge { u, kernel, svd, .. } = self;
        let (n, r) = (self.fitted.weights.len(), self.spectrum.len());
        let roots = roots(&self.fitted.weights);
        let u = Matrix::from_columns(u.clone(), r, n);
        let mut scaled = product(Side::Transposed(&u), Side::Plain(&self.spectrum.shrunk(lambda, 0.0)));
        // Eigenvectors of the smallest eigenvalues are orthogonal to Q but for rounding, which K would magnify.
        let along = product(Side::Transposed(&svd.u), Side::Plain(&scaled));
        add_product(&mut scaled, -1.0, Side::Plain(&svd.u), Side::Plain(&along));
        let alphas = scaled_rows(&scaled, &roots);
        // R P β is the fit of R y − R K α by Q.
        let mut left = self.fitted.targets.clone();
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
