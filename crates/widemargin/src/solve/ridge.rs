//! Ridge regression with an unpenalised intercept, and leave-one-out in closed form for all outputs and all C at once.
//!
//! f = f₀ + Pβ minimises ½‖f₀‖² + C Σ w (y − f)² for each output, where P has columns that are not penalised: the constant,
//! polynomials, or none. With R = diag(√w), λ = 1/(2C), RP = QT and the decomposition U S Uᵀ of (I − QQᵀ) RKR (I − QQᵀ),
//! the fitted values are R⁻¹ (QQᵀ + U S/(S + λ) Uᵀ) R y. The residual at i of the fit without one copy of sample i, of
//! weight u, is (y − f)ᵢ / (1 − u/wᵢ · hᵢ), where h is the diagonal of the matrix in parentheses: exact.
//!
//! One decomposition (9 m³ flops, m the smaller of the numbers of samples and features) serves all outputs and all C.
//! Where there are more samples than features, rows of U are made from the features a block at a time (2 n m² flops), and
//! no n × n matrix is: the features may be held, or made from the samples at each of the two passes ([`CentredRows`]).

use std::ops::Range;

use crate::data::{CsrMatrix, DenseMatrix, Rows, Vectors};
use crate::error::{Error, Result};
use crate::linalg::eigen;
use crate::linalg::factor::{Matrix, Side, Svd, add_product, product};
use crate::linalg::{self, Columns, add, add_gram};
use crate::monitor::Monitor;
use crate::par::Pool;

/// Rows in a block.
const ROWS: usize = 1024;

/// Eigenvalues below this fraction of the largest, times their number, are rounding.
const ROUNDING: f64 = f64::EPSILON;

/// Columns of P are independent above this fraction of the largest singular value.
const INDEPENDENT: f64 = 1e-10;

/// A sample with 1 − u/w · h below this is met whatever the others say: leave-one-out says nothing there.
const LOST: f64 = 1e-9;

/// Values of C a factor of ten.
const A_DECADE: i32 = 8;

/// The smallest λ of a path, in units of the mean squared norm of the centred features.
const LEAST_LAMBDA: f64 = 1e-7;

/// What is fitted: targets, weights, and the part of each weight that is one copy.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    /// Samples × outputs.
    pub targets: Matrix,
    /// Above 0.
    pub weights: Vec<f64>,
    /// At most the weights.
    pub units: Vec<f64>,
}

/// The leave-one-out error at one λ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeftOut {
    pub lambda: f64,
    /// The weighted mean of the squared error of each output; infinite where a sample is met whatever the others say.
    pub squared_errors: Vec<f64>,
}

impl LeftOut {
    /// C of ½‖f‖² + C Σ w (y − f)².
    pub fn c(&self) -> f64 {
        0.5 / self.lambda
    }
}

/// A decomposed problem.
pub(crate) struct Ridge<'a> {
    fitted: Fitted,
    rows: RotatedRows<'a>,
    /// S, without what is rounding.
    values: Vec<f64>,
    /// Uᵀ R y, eigenvalues × outputs.
    projected: Matrix,
    /// What P alone fits, samples × outputs, or the same row for all.
    base: Matrix,
    /// The diagonal of QQᵀ.
    leverages: Vec<f64>,
}

/// What multiplies rows of U, for several λ.
struct Shrinking {
    /// S / (S + λ), eigenvalues × λ.
    gains: Vec<f64>,
    /// The same times Uᵀ R y, eigenvalues × λ × outputs.
    fits: Vec<f64>,
    n_lambdas: usize,
}

/// Where rows of U come from.
enum RotatedRows<'a> {
    /// Row-major. With what the coefficients need: R, P and K.
    Held { u: Vec<f64>, kernel: Matrix, free: Matrix },
    /// Centred features times a rotation, row-major features × eigenvalues.
    Made { rows: Box<dyn CentredRows + 'a>, rotation: Vec<f64>, pool: &'a Pool },
}

/// Features of samples, each row times the root of its weight, without what the columns of P fit of them.
pub(crate) trait CentredRows: Sync {
    /// Number of features.
    fn n_features(&self) -> usize;

    /// Some of the rows, row-major.
    fn block(&self, rows: Range<usize>) -> Vec<f64>;
}

impl<T: CentredRows> CentredRows for &T {
    fn n_features(&self) -> usize {
        (**self).n_features()
    }

    fn block(&self, rows: Range<usize>) -> Vec<f64> {
        (**self).block(rows)
    }
}

/// What the columns of P fit by themselves.
pub(crate) struct FreeFit {
    /// R⁻¹QQᵀRy, samples × outputs, or the same row for all.
    pub base: Matrix,
    /// The diagonal of QQᵀ.
    pub leverages: Vec<f64>,
}

/// Features that are held, less their weighted mean.
struct CentredFeatures<'a> {
    phi: &'a DenseMatrix<f32>,
    /// 0 without an intercept.
    centre: Vec<f64>,
    roots: Vec<f64>,
}

impl CentredRows for CentredFeatures<'_> {
    fn n_features(&self) -> usize {
        self.phi.n_cols
    }

    fn block(&self, rows: Range<usize>) -> Vec<f64> {
        let d = self.phi.n_cols;
        let mut block = Vec::with_capacity(rows.len() * d);
        for row in rows {
            let (root, features) = (self.roots[row], self.phi.values[row * d..][..d].iter().zip(&self.centre));
            block.extend(features.map(|(x, mean)| root * (f64::from(*x) - mean)));
        }
        block
    }
}

/// The solution of a kernel problem: f = Σ α k(x, ·) + Σ β p.
pub(crate) struct KernelSolution {
    /// Samples × outputs.
    pub alphas: Matrix,
    /// Columns of P × outputs.
    pub betas: Matrix,
}

/// The solution of a problem on features: f = w·φ + b.
pub(crate) struct FeatureSolution {
    /// `[output][feature]`.
    pub weights: Vec<f64>,
    pub intercepts: Vec<f64>,
}

impl<'a> Ridge<'a> {
    /// Decomposes a kernel between the samples, of which the lower triangle is read; `free` has the columns of P. `None`
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
        let first = first_kept(&decomposed.values);
        let u = Matrix::from_columns(decomposed.vectors[first * n..].to_vec(), n, n - first);
        let weighted = scaled_rows(&fitted.targets, &roots);
        let projected = product(Side::Transposed(&u), Side::Plain(&weighted));
        let onto = product(Side::Transposed(&q), Side::Plain(&weighted));
        let mut base = product(Side::Plain(&q), Side::Plain(&onto));
        (0..base.n_cols()).for_each(|k| base.col_mut(k).iter_mut().zip(&roots).for_each(|(x, root)| *x /= root));
        let leverages = (0..n).map(|i| (0..q.n_cols()).map(|j| q.at(i, j).powi(2)).sum()).collect();
        let u = u.transposed().into_values();
        let values = decomposed.values[first..].to_vec();
        Some(Ridge { fitted, rows: RotatedRows::Held { u, kernel, free }, values, projected, base, leverages })
    }

    /// Decomposes a problem on features, more samples than features.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Cancelled`].
    pub fn of_rows(
        rows: impl CentredRows + 'a,
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
            let (mut gram, mut along) = (vec![0.0; d * d], vec![0.0; d * k]);
            add_gram(&mut gram, Columns::new(&block, d.max(1), 0, d));
            let left = Columns::new(&block, d.max(1), 0, d);
            linalg::add_cross_product(&mut along, left, Columns::new(&right, k, 0, k));
            Ok::<_, Error>((gram, along))
        };
        pool.fold_chunks(n, ROWS, part, |(more, right)| {
            add(&mut gram, &more);
            add(&mut along, &right);
            Ok(())
        })?;
        // The lower triangle of rows is the upper one of columns.
        let mut gram = Matrix::from_columns(gram, d, d).transposed();
        gram.mirror_lower();
        let not_finite = || Error::NotFinite { what: "a sum of the features".into(), value: f64::NAN };
        let decomposed = eigen::symmetric(gram.values(), d, true).ok_or_else(not_finite)?;
        let first = first_kept(&decomposed.values);
        let values = decomposed.values[first..].to_vec();
        let mut rotation = Matrix::from_columns(decomposed.vectors[first * d..].to_vec(), d, d - first);
        for (at, value) in values.iter().enumerate() {
            let factor = 1.0 / value.sqrt();
            rotation.col_mut(at).iter_mut().for_each(|x| *x *= factor);
        }
        let along = Matrix::from_columns(along, k, d);
        let projected = product(Side::Transposed(&rotation), Side::Transposed(&along));
        let rotation = rotation.transposed().into_values();
        let rows = RotatedRows::Made { rows: Box::new(rows), rotation, pool };
        Ok(Ridge { fitted, rows, values, projected, base, leverages })
    }

    /// Decomposes a problem on features that are held, with an intercept or without; also the mean of the features, 0
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
        let mut centre = vec![0.0; d];
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
                add(&mut centre, &sums);
                Ok(())
            })?;
            for output in 0..k {
                let mean = targets.col(output).iter().zip(weights).map(|(y, weight)| weight / total * y).sum();
                base.set(0, output, mean);
            }
        }
        let leverage = |weight: &f64| if has_intercept { weight / total } else { 0.0 };
        let free = FreeFit { base, leverages: weights.iter().map(leverage).collect() };
        let rows = CentredFeatures { phi, centre: centre.clone(), roots: roots(weights) };
        Ok((Ridge::of_rows(rows, free, fitted, pool, monitor)?, centre))
    }

    /// The number of independent columns of P.
    pub fn n_free(&self) -> usize {
        self.leverages.iter().sum::<f64>().round() as usize
    }

    /// The weighted mean squared norm of the centred features: the unit of λ; 1 where all are 0.
    pub fn unit(&self) -> f64 {
        let unit = self.values.iter().sum::<f64>() / self.fitted.weights.iter().sum::<f64>();
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// The sum of the weights.
    pub fn total_weight(&self) -> f64 {
        self.fitted.weights.iter().sum()
    }

    /// Eight λ a decade, from where the fit tends to P alone to 1e-7 of [`Ridge::unit`].
    pub fn lambdas(&self) -> Vec<f64> {
        let unit = self.unit();
        let most = 10.0 * self.values.last().copied().unwrap_or(unit) / unit;
        let first = (most.log10() * f64::from(A_DECADE)).ceil() as i32;
        let last = (LEAST_LAMBDA.log10() * f64::from(A_DECADE)).round() as i32;
        (last..=first).rev().map(|at| unit * 10f64.powf(f64::from(at) / f64::from(A_DECADE))).collect()
    }

    /// The leave-one-out errors at each λ.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn left_out(&self, lambdas: &[f64], monitor: &Monitor<'_>) -> Result<Vec<LeftOut>> {
        let (n, width) = (self.fitted.weights.len(), lambdas.len() * self.fitted.targets.n_cols());
        let shrinking = self.shrinking(lambdas);
        let alone = Pool::new(1)?;
        let pool = match &self.rows {
            RotatedRows::Made { pool, .. } => pool,
            RotatedRows::Held { .. } => &alone,
        };
        let work = |rows: Range<usize>| {
            monitor.go_on("leave-one-out")?;
            let (weights, mut sums) = (&self.fitted.weights[rows.clone()], vec![0.0; width]);
            for (residuals, weight) in self.residuals(rows, &shrinking).chunks(width.max(1)).zip(weights) {
                sums.iter_mut().zip(residuals).for_each(|(sum, residual)| *sum += weight * residual * residual);
            }
            Ok::<_, Error>(sums)
        };
        let mut sums = vec![0.0; width];
        pool.fold_chunks(n, ROWS, work, |part| {
            add(&mut sums, &part);
            Ok::<_, Error>(())
        })?;
        let total: f64 = self.fitted.weights.iter().sum();
        let errors = sums.chunks(width / lambdas.len().max(1)).map(|sums| sums.iter().map(|sum| sum / total).collect());
        let told = lambdas.iter().zip(errors);
        Ok(told.map(|(&lambda, squared_errors)| LeftOut { lambda, squared_errors }).collect())
    }

    /// What each sample gets from the fit without one copy of it, samples × outputs.
    pub fn left_out_values(&self, lambda: f64) -> Matrix {
        let (mut values, shrinking) = (self.fitted.targets.clone(), self.shrinking(&[lambda]));
        let (n, k) = (values.n_rows(), values.n_cols());
        for first in (0..n).step_by(ROWS) {
            let residuals = self.residuals(first..(first + ROWS).min(n), &shrinking);
            for (at, residual) in residuals.into_iter().enumerate() {
                let (row, output) = (first + at / k, at % k);
                values.set(row, output, values.at(row, output) - residual);
            }
        }
        values
    }

    fn shrinking(&self, lambdas: &[f64]) -> Shrinking {
        let (k, m, r) = (self.fitted.targets.n_cols(), lambdas.len(), self.values.len());
        let gain = |eigenvalue: usize, lambda: f64| self.values[eigenvalue] / (self.values[eigenvalue] + lambda);
        let gains: Vec<f64> = (0..r).flat_map(|at| lambdas.iter().map(move |&lambda| gain(at, lambda))).collect();
        let column = |at: usize, column: usize| gains[at * m + column / k] * self.projected.at(at, column % k);
        let fits = (0..r).flat_map(|at| (0..m * k).map(move |to| column(at, to))).collect();
        Shrinking { gains, fits, n_lambdas: m }
    }

    /// The left-out residuals of some rows, row-major rows × λ × outputs; infinite where the sample is always met.
    fn residuals(&self, rows: Range<usize>, shrinking: &Shrinking) -> Vec<f64> {
        let Fitted { targets, weights, units } = &self.fitted;
        let (k, m, r) = (targets.n_cols(), shrinking.n_lambdas, self.values.len());
        let block = self.rotated(rows.clone());
        let squares: Vec<f64> = block.iter().map(|x| x * x).collect();
        let (mut leverages, mut values) = (vec![0.0; rows.len() * m], vec![0.0; rows.len() * m * k]);
        linalg::times(&mut leverages, &squares, &shrinking.gains, r);
        linalg::times(&mut values, &block, &shrinking.fits, r);
        for (at, row) in rows.enumerate() {
            let (share, root) = (units[row] / weights[row], weights[row].sqrt());
            for lambda in 0..m {
                let kept = 1.0 - share * (self.leverages[row] + leverages[at * m + lambda]);
                for output in 0..k {
                    let value = &mut values[(at * m + lambda) * k + output];
                    let residual = targets.at(row, output) - shared(&self.base, row, output) - *value / root;
                    *value = if kept > LOST { residual / kept } else { f64::INFINITY };
                }
            }
        }
        values
    }

    /// Rows of U, row-major.
    fn rotated(&self, rows: Range<usize>) -> Vec<f64> {
        let r = self.values.len();
        match &self.rows {
            RotatedRows::Held { u, .. } => u[rows.start * r..rows.end * r].to_vec(),
            RotatedRows::Made { rows: features, rotation, .. } => {
                let mut out = vec![0.0; rows.len() * r];
                linalg::times(&mut out, &features.block(rows), rotation, features.n_features());
                out
            }
        }
    }

    /// Uᵀ R y / (S + λ) · S^power, eigenvalues × outputs.
    fn shrunk(&self, lambda: f64, power: f64) -> Matrix {
        let mut shrunk = self.projected.clone();
        for output in 0..shrunk.n_cols() {
            let numbers = shrunk.col_mut(output).iter_mut().zip(&self.values);
            numbers.for_each(|(number, value)| *number *= value.powf(power) / (value + lambda));
        }
        shrunk
    }

    /// The coefficients of a kernel problem at λ; `None` for one on features.
    pub fn kernel_solution(&self, lambda: f64) -> Option<KernelSolution> {
        let RotatedRows::Held { u, kernel, free } = &self.rows else { return None };
        let (n, r) = (self.fitted.weights.len(), self.values.len());
        let roots = roots(&self.fitted.weights);
        let u = Matrix::from_columns(u.clone(), r, n);
        let mut scaled = product(Side::Transposed(&u), Side::Plain(&self.shrunk(lambda, 0.0)));
        let svd = orthonormal(free, &roots)?;
        // Eigenvectors of the smallest eigenvalues are orthogonal to Q but for rounding, which K would magnify.
        let along = product(Side::Transposed(&svd.u), Side::Plain(&scaled));
        add_product(&mut scaled, -1.0, Side::Plain(&svd.u), Side::Plain(&along));
        let alphas = scaled_rows(&scaled, &roots);
        // R P β is what Q fits of R y − R K α.
        let mut left = self.fitted.targets.clone();
        add_product(&mut left, -1.0, Side::Plain(kernel), Side::Plain(&alphas));
        let mut onto = product(Side::Transposed(&svd.u), Side::Plain(&scaled_rows(&left, &roots)));
        (0..onto.n_cols()).for_each(|k| onto.col_mut(k).iter_mut().zip(&svd.s).for_each(|(x, s)| *x /= s));
        Some(KernelSolution { alphas, betas: product(Side::Plain(&svd.v), Side::Plain(&onto)) })
    }

    /// The weights of centred features at λ, features × outputs; `None` for a problem on a kernel.
    pub fn weights(&self, lambda: f64) -> Option<Matrix> {
        let RotatedRows::Made { rows, rotation, .. } = &self.rows else { return None };
        // Columns of the rotation are divided by √S.
        let rotation = Matrix::from_columns(rotation.clone(), self.values.len(), rows.n_features());
        Some(product(Side::Transposed(&rotation), Side::Plain(&self.shrunk(lambda, 1.0))))
    }
}

/// Ridge regression on features, on whichever side is smaller.
pub(crate) struct FeatureRidge<'a> {
    ridge: Ridge<'a>,
    phi: &'a Vectors,
    has_intercept: bool,
    /// The mean of the features, where they are fewer than the samples.
    centre: Option<Vec<f64>>,
}

impl<'a> FeatureRidge<'a> {
    /// Decomposes a problem on features, with an intercept or without.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Memory`] for sparse features of which neither side is small; [`Error::Cancelled`].
    pub fn new(
        phi: &'a Vectors,
        has_intercept: bool,
        fitted: Fitted,
        pool: &'a Pool,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let n = fitted.weights.len();
        let (ridge, centre) = match phi {
            Vectors::Dense(dense) if n > dense.n_cols => {
                let (ridge, centre) = Ridge::of_features(dense, has_intercept, fitted, pool, monitor)?;
                (ridge, Some(centre))
            }
            _ => {
                let bytes = crate::memory::product(&[n, n, 8 * 4]);
                let what = || format!("the products of {n} samples of {} features with each other", phi.n_cols());
                crate::memory::check(bytes, what, crate::memory::FEWER_COLUMNS)?;
                let free =
                    Matrix::from_columns(vec![1.0; n * usize::from(has_intercept)], n, usize::from(has_intercept));
                let not_finite = || Error::NotFinite { what: "a product of features".into(), value: f64::NAN };
                (Ridge::of_kernel(products(phi)?, free, fitted).ok_or_else(not_finite)?, None)
            }
        };
        Ok(FeatureRidge { ridge, phi, has_intercept, centre })
    }

    /// The decomposed problem.
    pub fn ridge(&self) -> &Ridge<'a> {
        &self.ridge
    }

    /// Weights and intercepts at λ.
    ///
    /// # Errors
    /// [`Error::NotFinite`].
    pub fn solution(&self, lambda: f64) -> Result<FeatureSolution> {
        let not_finite = || Error::NotFinite { what: "a weight".into(), value: f64::NAN };
        if let (Some(centre), Some(weights)) = (&self.centre, self.ridge.weights(lambda)) {
            let dot = |k: usize| weights.col(k).iter().zip(centre).map(|(w, mean)| w * mean).sum::<f64>();
            let intercepts = (0..weights.n_cols()).map(|k| self.ridge.base.at(0, k) - dot(k)).collect();
            return Ok(FeatureSolution { weights: weights.into_values(), intercepts });
        }
        let KernelSolution { alphas, betas } = self.ridge.kernel_solution(lambda).ok_or_else(not_finite)?;
        let (d, k) = (self.phi.n_cols(), alphas.n_cols());
        let mut weights = vec![0.0; d * k];
        each_non_zero(self.phi, |row, feature, value| {
            (0..k).for_each(|output| weights[output * d + feature] += alphas.at(row, output) * value);
        })?;
        let intercept = |output| if self.has_intercept { betas.at(0, output) } else { 0.0 };
        Ok(FeatureSolution { weights, intercepts: (0..k).map(intercept).collect() })
    }
}

/// `take(row, column, value)` of all numbers but zeros of sparse rows.
pub(super) fn each_non_zero(phi: &Vectors, mut take: impl FnMut(usize, usize, f64)) -> Result<()> {
    match phi {
        Vectors::Dense(dense) => {
            let numbers = dense.values.iter().enumerate();
            numbers.for_each(|(at, &value)| take(at / dense.n_cols, at % dense.n_cols, f64::from(value)));
        }
        Vectors::Sparse(sparse) => {
            let view = sparse.view()?;
            for row in 0..view.n_rows() {
                view.for_each_nonzero(row, |column, value| take(row, column, value));
            }
        }
    }
    Ok(())
}

/// The lower triangle of φφᵀ.
pub(super) fn products(phi: &Vectors) -> Result<Matrix> {
    match phi {
        Vectors::Dense(dense) => {
            let wide =
                Matrix::from_columns(dense.values.iter().map(|x| f64::from(*x)).collect(), dense.n_cols, dense.n_rows);
            Ok(product(Side::Transposed(&wide), Side::Plain(&wide)))
        }
        Vectors::Sparse(sparse) => sparse_products(sparse),
    }
}

/// The same of sparse rows, a column of φ at a time: a flop pair for each pair of non-zeros of a column.
fn sparse_products(phi: &CsrMatrix<f32>) -> Result<Matrix> {
    let view = phi.view()?;
    let n = view.n_rows();
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); view.n_cols()];
    for row in 0..n {
        view.for_each_nonzero(row, |column, value| columns[column].push((row, value)));
    }
    let mut gram = Matrix::zeros(n, n);
    for column in &columns {
        for (at, &(row, value)) in column.iter().enumerate() {
            let out = gram.col_mut(row);
            column[at..].iter().for_each(|&(other, factor)| out[other] += value * factor);
        }
    }
    Ok(gram)
}

fn roots(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|weight| weight.sqrt()).collect()
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

/// The first of ascending eigenvalues that is not rounding.
pub(super) fn first_kept(values: &[f64]) -> usize {
    let largest = values.last().copied().unwrap_or(0.0).max(0.0);
    let least = ROUNDING * values.len() as f64 * largest;
    values.iter().position(|value| *value > least).unwrap_or(values.len())
}

#[cfg(test)]
#[path = "ridge_tests.rs"]
mod tests;
