//! Ridge regression with an unpenalized intercept, and leave-one-out in closed form for all outputs and all C at once.
//!
//! f = f₀ + Pβ minimizes ½‖f₀‖² + C Σ w (y − f)² for each output, where P has columns that are not penalized: the
//! constant, polynomials, or none. With R = diag(√w), λ = 1/(2C), RP = QT and the decomposition U S Uᵀ of (I − QQᵀ) RKR
//! (I − QQᵀ), the fitted values are R⁻¹ (QQᵀ + U S/(S + λ) Uᵀ) R y. The residual at i of the fit without one copy of
//! sample i, of weight u, is (y − f)ᵢ / (1 − u/wᵢ · hᵢ), where h is the diagonal of the matrix in parentheses: exact.
//!
//! One decomposition (9 m³ flops, m the smaller of the numbers of samples and features) serves all outputs and all C.
//! Where there are more samples than features, rows of U are made from the features a block at a time (2 n m² flops),
//! and no n × n matrix is: the features may be in memory, computed from the samples at each of the two passes
//! (`CenteredRows`), or elsewhere, with only sums over them transferred (`PartedRidge`).

mod features;
mod part;
mod parts;
mod spectrum;

use std::ops::Range;

pub(crate) use features::{FeatureRidge, FeatureSolution};
pub(super) use features::{each_non_zero, products};
pub use part::{RidgeFeatures, RidgePart, RidgeRows};
pub use parts::RIDGE_QUERIES;
pub(crate) use parts::{PartedRidge, center_of};
pub(super) use spectrum::first_significant;
pub(crate) use spectrum::{LeaveOneOut, Spectrum};
use spectrum::{RowLeverage, Shrinking, add_powers, rounding_of_center};

use crate::data::DenseMatrix;
use crate::error::{Error, Result};
use crate::linalg::eigen;
use crate::linalg::factor::{Matrix, Side, Svd, add_product, product};
use crate::linalg::{self, Columns, add, add_gram};
use crate::monitor::Monitor;
use crate::par::Pool;

/// Rows in a block.
pub(crate) const ROWS: usize = 1024;

/// Columns of P are independent above this fraction of the largest singular value.
const INDEPENDENT: f64 = 1e-10;

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

/// A decomposed problem.
pub(crate) struct Ridge<'a> {
    fitted: Fitted,
    rows: RotatedRows<'a>,
    spectrum: Spectrum,
    /// The fit by P alone, samples × outputs, or the same row for all.
    base: Matrix,
    /// The diagonal of QQᵀ.
    leverages: Vec<f64>,
}

/// Where rows of U come from.
enum RotatedRows<'a> {
    /// Row-major. Together with R, P and K for the coefficients.
    Stored { u: Vec<f64>, kernel: Matrix, free: Matrix },
    /// Centered features times a rotation, row-major features × eigenvalues.
    Made { rows: Box<dyn CenteredRows + 'a>, rotation: Vec<f64>, pool: &'a Pool },
}

/// Features of samples, each row times the root of its weight, without their fit by the columns of P.
pub(crate) trait CenteredRows: Sync {
    /// Number of features.
    fn n_features(&self) -> usize;

    /// Some of the rows, row-major.
    fn block(&self, rows: Range<usize>) -> Vec<f64>;

    /// A bound on the squares of rounding errors in all rows.
    fn rounding(&self) -> f64 {
        0.0
    }
}

impl<T: CenteredRows> CenteredRows for &T {
    fn n_features(&self) -> usize {
        (**self).n_features()
    }

    fn block(&self, rows: Range<usize>) -> Vec<f64> {
        (**self).block(rows)
    }

    fn rounding(&self) -> f64 {
        (**self).rounding()
    }
}

/// The fit by the columns of P alone.
pub(crate) struct FreeFit {
    /// R⁻¹QQᵀRy, samples × outputs, or the same row for all.
    pub base: Matrix,
    /// The diagonal of QQᵀ.
    pub leverages: Vec<f64>,
}

/// Features in memory, less their weighted mean.
struct CenteredFeatures<'a> {
    phi: &'a DenseMatrix<f32>,
    /// 0 without an intercept.
    center: Vec<f64>,
    roots: Vec<f64>,
}

impl CenteredRows for CenteredFeatures<'_> {
    fn n_features(&self) -> usize {
        self.phi.n_cols
    }

    fn block(&self, rows: Range<usize>) -> Vec<f64> {
        let d = self.phi.n_cols;
        let mut block = Vec::with_capacity(rows.len() * d);
        for row in rows {
            let (root, features) = (self.roots[row], self.phi.values[row * d..][..d].iter().zip(&self.center));
            block.extend(features.map(|(x, mean)| root * (f64::from(*x) - mean)));
        }
        block
    }

    fn rounding(&self) -> f64 {
        rounding_of_center(&self.center, self.roots.iter().map(|root| root * root).sum())
    }
}

/// The solution of a kernel problem: f = Σ α k(x, ·) + Σ β p.
pub(crate) struct KernelSolution {
    /// Samples × outputs.
    pub alphas: Matrix,
    /// Columns of P × outputs.
    pub betas: Matrix,
}

impl<'a> Ridge<'a> {
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
        let q = orthonormal(&free, &roots)?.u;
        // Of equal rows nothing else is left off the constant.
        let largest = scaled.values().iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let rounding = if q.n_cols() > 0 { f64::EPSILON * n as f64 * largest } else { 0.0 };
        if q.n_cols() > 0 {
            // (I − QQᵀ) A (I − QQᵀ) = A − Q(AQ)ᵀ − (AQ)Qᵀ + Q(QᵀAQ)Qᵀ.
            let along = product(Side::Plain(&scaled), Side::Plain(&q));
            let inner = product(Side::Transposed(&q), Side::Plain(&along));
            let mut half = along;
            add_product(&mut half, -0.5, Side::Plain(&q), Side::Plain(&inner));
            add_product(&mut scaled, -1.0, Side::Plain(&q), Side::Transposed(&half));
            add_product(&mut scaled, -1.0, Side::Plain(&half), Side::Transposed(&q));
        }
        let decomposed = eigen::symmetric(scaled.values(), n, true)?;
        let first = first_significant(&decomposed.values, rounding);
        let u = Matrix::from_columns(decomposed.vectors[first * n..].to_vec(), n, n - first);
        let weighted = scaled_rows(&fitted.targets, &roots);
        let projected = product(Side::Transposed(&u), Side::Plain(&weighted));
        let onto = product(Side::Transposed(&q), Side::Plain(&weighted));
        let mut base = product(Side::Plain(&q), Side::Plain(&onto));
        (0..base.n_cols()).for_each(|k| base.col_mut(k).iter_mut().zip(&roots).for_each(|(x, root)| *x /= root));
        let leverages = (0..n).map(|i| (0..q.n_cols()).map(|j| q.at(i, j).powi(2)).sum()).collect();
        let u = u.transposed().into_values();
        let spectrum = Spectrum::new(decomposed.values[first..].to_vec(), projected, &fitted.weights);
        Some(Ridge { fitted, rows: RotatedRows::Stored { u, kernel, free }, spectrum, base, leverages })
    }

    /// Decomposes a problem on features, more samples than features.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Cancelled`].
    pub fn of_rows(
        rows: impl CenteredRows + 'a,
        free: FreeFit,
        fitted: Fitted,
        pool: &'a Pool,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let Fitted { targets, weights, .. } = &fitted;
        let (n, d, k) = (weights.len(), rows.n_features(), targets.n_cols());
        let (roots, FreeFit { base, leverages }) = (roots(weights), free);
        let (mut gram, mut along) = (vec![0.0; d * d], vec![0.0; d * k]);
        let part = |range: Range<usize>| {
            monitor.go_on("solve")?;
            let block = rows.block(range.clone());
            let residual =
                |row: usize, output: usize| roots[row] * (targets.at(row, output) - shared(&base, row, output));
            let right: Vec<f64> = range.flat_map(|row| (0..k).map(move |output| residual(row, output))).collect();
            Ok::<_, Error>(products_of_block(&block, &right, d, k))
        };
        pool.fold_chunks(n, ROWS, part, |(more, right)| {
            add(&mut gram, &more);
            add(&mut along, &right);
            Ok(())
        })?;
        let (spectrum, rotation) = Spectrum::of_products(gram, along, k, (weights.iter().sum(), rows.rounding()))?;
        let rows = RotatedRows::Made { rows: Box::new(rows), rotation, pool };
        Ok(Ridge { fitted, rows, spectrum, base, leverages })
    }

    /// Decomposes a problem on features in memory, with an intercept or without; also the mean of the features, 0
    /// without.
    ///
    /// # Errors
    /// As for [`Ridge::of_rows`].
    fn of_features(
        phi: &'a DenseMatrix<f32>,
        has_intercept: bool,
        fitted: Fitted,
        pool: &'a Pool,
        monitor: &Monitor<'_>,
    ) -> Result<(Self, Vec<f64>)> {
        let Fitted { targets, weights, .. } = &fitted;
        let (n, d, k) = (phi.n_rows, phi.n_cols, targets.n_cols());
        let total: f64 = weights.iter().sum();
        let mut center = vec![0.0; d];
        let mut base = Matrix::zeros(1, k);
        if has_intercept {
            let means = |rows: Range<usize>| {
                let mut sums = vec![0.0; d];
                for row in rows {
                    let weight = weights[row] / total;
                    let features = &phi.values[row * d..][..d];
                    sums.iter_mut().zip(features).for_each(|(sum, x)| *sum += weight * f64::from(*x));
                }
                Ok::<_, Error>(sums)
            };
            pool.fold_chunks(n, ROWS, means, |sums| {
                add(&mut center, &sums);
                Ok(())
            })?;
            for output in 0..k {
                let mean = targets.col(output).iter().zip(weights).map(|(y, weight)| weight / total * y).sum();
                base.set(0, output, mean);
            }
        }
        let leverage = |weight: &f64| if has_intercept { weight / total } else { 0.0 };
        let free = FreeFit { base, leverages: weights.iter().map(leverage).collect() };
        let rows = CenteredFeatures { phi, center: center.clone(), roots: roots(weights) };
        Ok((Ridge::of_rows(rows, free, fitted, pool, monitor)?, center))
    }

    /// The number of independent columns of P.
    pub fn n_free(&self) -> usize {
        self.leverages.iter().sum::<f64>().round() as usize
    }

    /// The eigenvalues, which determine the range of λ.
    pub fn spectrum(&self) -> &Spectrum {
        &self.spectrum
    }

    /// The leave-one-out errors at each λ.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn leave_one_out(&self, lambdas: &[f64], monitor: &Monitor<'_>) -> Result<Vec<LeaveOneOut>> {
        let (n, width) = (self.fitted.weights.len(), lambdas.len() * self.fitted.targets.n_cols());
        let shrinking = self.spectrum.shrinking(lambdas);
        let alone = Pool::new(1)?;
        let work = |rows: Range<usize>| {
            monitor.go_on("leave-one-out")?;
            let (weights, mut sums) = (&self.fitted.weights[rows.clone()], vec![0.0; 2 * width]);
            for (residuals, weight) in self.residuals(rows, &shrinking).chunks(width.max(1)).zip(weights) {
                add_powers(&mut sums, residuals, *weight);
            }
            Ok::<_, Error>(sums)
        };
        let mut sums = vec![0.0; 2 * width];
        self.pool().unwrap_or(&alone).fold_chunks(n, ROWS, work, |part| {
            add(&mut sums, &part);
            Ok::<_, Error>(())
        })?;
        Ok(self.spectrum.leave_one_out(lambdas, &sums))
    }

    /// The leave-one-out decision values: of each sample by the fit without one copy of it, samples × outputs.
    pub fn loo_values(&self, lambda: f64) -> Matrix {
        let (mut values, shrinking) = (self.fitted.targets.clone(), self.spectrum.shrinking(&[lambda]));
        let n = values.n_rows();
        for first in (0..n).step_by(ROWS) {
            subtract(&mut values, first, &self.residuals(first..(first + ROWS).min(n), &shrinking));
        }
        values
    }

    /// The same on all threads, with a monitor.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn loo_values_with(&self, lambda: f64, monitor: &Monitor<'_>) -> Result<Matrix> {
        let (mut values, shrinking) = (self.fitted.targets.clone(), self.spectrum.shrinking(&[lambda]));
        let alone = Pool::new(1)?;
        let work = |rows: Range<usize>| {
            monitor.go_on("leave-one-out")?;
            Ok::<_, Error>((rows.start, self.residuals(rows, &shrinking)))
        };
        self.pool().unwrap_or(&alone).fold_chunks(values.n_rows(), ROWS, work, |(first, residuals)| {
            subtract(&mut values, first, &residuals);
            Ok(())
        })?;
        Ok(values)
    }

    /// The threads of a problem on features.
    fn pool(&self) -> Option<&Pool> {
        match &self.rows {
            RotatedRows::Made { pool, .. } => Some(pool),
            RotatedRows::Stored { .. } => None,
        }
    }

    /// The leave-one-out residuals of some rows, row-major rows × λ × outputs; infinite where the sample is always
    /// fitted.
    fn residuals(&self, rows: Range<usize>, shrinking: &Shrinking) -> Vec<f64> {
        let Fitted { targets, weights, units } = &self.fitted;
        let (k, first) = (targets.n_cols(), rows.start);
        let open = rows.clone().flat_map(|row| (0..k).map(move |output| (row, output)));
        let open = open.map(|(row, output)| targets.at(row, output) - shared(&self.base, row, output)).collect();
        let fact = |at: usize| {
            let row = first + at;
            RowLeverage { root: weights[row].sqrt(), share: units[row] / weights[row], leverage: self.leverages[row] }
        };
        shrinking.residuals(&self.rotated(rows), open, fact)
    }

    /// Rows of U, row-major.
    fn rotated(&self, rows: Range<usize>) -> Vec<f64> {
        let r = self.spectrum.len();
        match &self.rows {
            RotatedRows::Stored { u, .. } => u[rows.start * r..rows.end * r].to_vec(),
            RotatedRows::Made { rows: features, rotation, .. } => {
                let mut out = vec![0.0; rows.len() * r];
                linalg::times(&mut out, &features.block(rows), rotation, features.n_features());
                out
            }
        }
    }

    /// The coefficients of a kernel problem at λ; `None` for one on features.
    pub fn kernel_solution(&self, lambda: f64) -> Option<KernelSolution> {
        let RotatedRows::Stored { u, kernel, free } = &self.rows else { return None };
        let (n, r) = (self.fitted.weights.len(), self.spectrum.len());
        let roots = roots(&self.fitted.weights);
        let u = Matrix::from_columns(u.clone(), r, n);
        let mut scaled = product(Side::Transposed(&u), Side::Plain(&self.spectrum.shrunk(lambda, 0.0)));
        let svd = orthonormal(free, &roots)?;
        // Eigenvectors of the smallest eigenvalues are orthogonal to Q but for rounding, which K would magnify.
        let along = product(Side::Transposed(&svd.u), Side::Plain(&scaled));
        add_product(&mut scaled, -1.0, Side::Plain(&svd.u), Side::Plain(&along));
        let alphas = scaled_rows(&scaled, &roots);
        // R P β is the fit of R y − R K α by Q.
        let mut left = self.fitted.targets.clone();
        add_product(&mut left, -1.0, Side::Plain(kernel), Side::Plain(&alphas));
        let mut onto = product(Side::Transposed(&svd.u), Side::Plain(&scaled_rows(&left, &roots)));
        (0..onto.n_cols()).for_each(|k| onto.col_mut(k).iter_mut().zip(&svd.s).for_each(|(x, s)| *x /= s));
        Some(KernelSolution { alphas, betas: product(Side::Plain(&svd.v), Side::Plain(&onto)) })
    }

    /// The weights of centered features at λ, features × outputs; `None` for a problem on a kernel.
    pub fn weights(&self, lambda: f64) -> Option<Matrix> {
        let RotatedRows::Made { rows, rotation, .. } = &self.rows else { return None };
        Some(self.spectrum.weights(rotation, rows.n_features(), lambda))
    }
}

/// Takes the residuals of rows from `first` on from their targets.
fn subtract(targets: &mut Matrix, first: usize, residuals: &[f64]) {
    let k = targets.n_cols();
    for (at, residual) in residuals.iter().enumerate() {
        let (row, output) = (first + at / k, at % k);
        targets.set(row, output, targets.at(row, output) - residual);
    }
}

fn roots(weights: &[f64]) -> Vec<f64> {
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

/// The singular value decomposition of RP.
fn orthonormal(free: &Matrix, roots: &[f64]) -> Option<Svd> {
    Svd::new(&scaled_rows(free, roots), INDEPENDENT)
}

/// A matrix with a factor for each row.
pub(crate) fn scaled_rows(matrix: &Matrix, factors: &[f64]) -> Matrix {
    let mut scaled = matrix.clone();
    (0..scaled.n_cols())
        .for_each(|col| scaled.col_mut(col).iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor));
    scaled
}

/// A number of a row, or that of all rows.
fn shared(numbers: &Matrix, row: usize, output: usize) -> f64 {
    numbers.at(if numbers.n_rows() == 1 { 0 } else { row }, output)
}

#[cfg(test)]
mod tests;
