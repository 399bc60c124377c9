//! A linear SVM on a matrix of features, with C by leave-one-out in closed form.
//!
//! For n samples, D features, k problems and m samples inside the margin, a step of Newton's method takes k·m³/3 flops
//! by the exact solver on the samples' Gram matrix (n²·D flops once, n² numbers), or k·D³/3 by the solver on bases,
//! whose features are the same thing once they have been computed. The first is used where m is expected to be at most
//! D.

use std::ops::Range;

use super::block_fit::{BlockStorage, fit_blocks};
use super::block_sums::RowData;
use super::exact_fit::fit_exact;
use super::feature_map::FeatureMap;
use super::local::BLOCK;
use super::memory::basis_bytes;
use super::newton::Stop;
use super::path::{FitSettings, LossSettings, Outcome, PathOptions, Problems, Run};
use super::polynomials::Polynomials;
use super::settings::Fitted;
use crate::error::Result;
use crate::linalg::factor::{Matrix, add_scaled};
use crate::linalg::single::SingleMatrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{self, Intercept, Loss, typical_weight};
use crate::tuning::{FEATURE_PATH_LOWEST, MAX_STEPS_OF_CANDIDATE, MAX_VIOLATION_OF_CANDIDATE};

/// A fit on a matrix of features.
pub(crate) struct FeatureFit {
    /// Weights, problems × features.
    pub weights: Vec<Vec<f64>>,
    /// One for each problem.
    pub intercepts: Vec<f64>,
    pub outcome: Outcome,
}

/// The rows of a matrix as the solver takes them.
pub(super) struct FeatureMatrix<'a> {
    pub rows: problem::Block<'a>,
    pub roots: &'a [f64],
    /// Whether the constant is one more penalized feature.
    pub has_constant: bool,
    /// Where products of dense rows are in single precision, the center that is subtracted from the rows before. It is
    /// enough to compare features: the rounding of products of centered rows is far below the least λ.
    pub single: Option<Vec<f64>>,
}

impl<'a> FeatureMatrix<'a> {
    pub fn new(rows: problem::Block<'a>, roots: &'a [f64], intercept: Intercept) -> Self {
        FeatureMatrix { rows, roots, has_constant: intercept == Intercept::Penalized, single: None }
    }

    /// The same with products in single precision. With a free intercept, which takes up any shift, rows are centered
    /// before they are rounded: little would be left of small differences between large numbers.
    pub fn in_single_precision(self, intercept: Intercept) -> Self {
        FeatureMatrix { single: Some(self.center(intercept)), ..self }
    }

    /// The weighted mean of the rows, which a free intercept takes up; else zeros.
    pub fn center(&self, intercept: Intercept) -> Vec<f64> {
        let mut center = vec![0.0; self.rows.n_features()];
        if intercept == Intercept::Free {
            let total: f64 = self.roots.iter().map(|root| root * root).sum();
            for (row, root) in self.roots.iter().enumerate() {
                self.rows.for_each_nonzero(row, |feature, x| center[feature] += root * root / total * x);
            }
        }
        center
    }

    pub fn n_features(&self) -> usize {
        self.rows.n_features() + usize::from(self.has_constant)
    }

    /// √W Φ Φᵀ √W.
    pub fn gram(&self, pool: &Pool) -> Matrix {
        let mut gram = match (&self.single, &self.rows) {
            (Some(center), problem::Block::Dense(view)) => {
                let d = center.len();
                let rows = view.values().chunks(d.max(1)).zip(self.roots);
                let scaled = rows.flat_map(|(row, root)| {
                    row.iter().zip(center).map(move |(x, mean)| (root * (f64::from(*x) - mean)) as f32)
                });
                let mut gram = SingleMatrix::from_columns(scaled.collect(), d, self.roots.len()).inner(pool);
                gram.mirror_lower();
                gram
            }
            _ => self.rows.inner_products(self.roots, pool),
        };
        if self.has_constant {
            self.roots.iter().enumerate().for_each(|(at, root)| add_scaled(gram.col_mut(at), *root, self.roots));
        }
        gram
    }

    /// Σ_i α_i (φ_i, 1 where it is a feature).
    pub fn combination(&self, alpha: &[f64]) -> Vec<f64> {
        let mut sums = self.rows.combination(alpha);
        sums.extend(self.has_constant.then(|| alpha.iter().sum::<f64>()));
        sums
    }

    /// The rows times √w, one column per row.
    pub fn weighted(&self, rows: Range<usize>) -> Matrix {
        let (n, width) = (rows.len(), self.n_features());
        let mut values = vec![0.0; n * width];
        for (row, out) in rows.zip(values.chunks_mut(width.max(1))) {
            self.rows.for_each_nonzero(row, |feature, x| out[feature] = self.roots[row] * x);
            if self.has_constant {
                out[width - 1] = self.roots[row];
            }
        }
        Matrix::from_columns(values, width, n)
    }
}

/// Fits all problems on a matrix of features at C, or at a path of values of C with one selected by leave-one-out.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled); an error on values beyond double precision.
pub(crate) fn fit_features(
    rows: problem::Block<'_>,
    problems: &Problems<'_>,
    path: PathOptions,
    intercept: Intercept,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<FeatureFit> {
    let roots = problems.roots();
    let rows = FeatureMatrix::new(rows, &roots, intercept);
    let run = Run { settings: &settings_of(intercept, path, problems), pool, monitor };
    let (n, n_features, k) = (roots.len(), rows.n_features(), problems.targets.n_problems());
    let expected_inside = (2 * n / k.max(2)).min(n / 2);
    // By sizes alone: the answer must not depend on the machine's free memory.
    let is_sparse = matches!(rows.rows, problem::Block::Sparse(_));
    let fitted = if is_sparse || expected_inside <= n_features {
        by_gram_matrix(&rows, problems, run)?
    } else {
        let (n_cached, _) = basis_bytes(n, n_features, 1, k, pool.threads()).cached_blocks(n.div_ceil(BLOCK), None);
        let row_data = RowData { targets: problems.targets.into(), roots: &roots, units: problems.units };
        let storage = BlockStorage { n_cached, lifts: true, checkpoint: None };
        let map = FeatureMap::identity(n_features);
        let raw = |some: Range<usize>, with_kernel: bool| {
            let ones = Matrix::from_columns(roots[some.clone()].to_vec(), 1, some.len());
            Ok((if with_kernel { rows.weighted(some) } else { Matrix::default() }, ones))
        };
        fit_blocks(&raw, map, (row_data, &[0.0]), storage, run, || Ok(()))?
    };
    let Fitted { alpha: mut weights, beta, outcome, .. } = fitted;
    let intercepts = match rows.has_constant {
        true => weights.iter_mut().map(|weights| weights.pop().unwrap_or(0.0)).collect(),
        false => beta.iter().map(|beta| beta.first().copied().unwrap_or(0.0)).collect(),
    };
    Ok(FeatureFit { weights, intercepts, outcome })
}

/// The path of C on the Gram matrix of the rows, without refits: the leave-one-out decision value of every sample is
/// found, for any number of features. Products of dense rows are in single precision if `is_single`.
///
/// # Errors
/// As for [`fit_features`].
pub(crate) fn leave_one_out_path(
    rows: problem::Block<'_>,
    problems: &Problems<'_>,
    (path, is_single): (PathOptions, bool),
    intercept: Intercept,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<Outcome> {
    let roots = problems.roots();
    let rows = FeatureMatrix::new(rows, &roots, intercept);
    let rows = if is_single { rows.in_single_precision(intercept) } else { rows };
    let run = Run { settings: &settings_of(intercept, path, problems), pool, monitor };
    Ok(by_gram_matrix(&rows, problems, run)?.outcome)
}

pub(crate) fn settings_of(intercept: Intercept, path: PathOptions, problems: &Problems<'_>) -> FitSettings {
    FitSettings {
        polynomials: if intercept == Intercept::Free { Polynomials::Free } else { Polynomials::None },
        path,
        lowest: FEATURE_PATH_LOWEST,
        stop: Stop { max_steps: MAX_STEPS_OF_CANDIDATE, tol: MAX_VIOLATION_OF_CANDIDATE },
        typical_weight: typical_weight(problems.units),
        start: Vec::new(),
        losses: LossSettings::of_classes(Loss::SquaredHinge),
    }
}

/// The exact solver, on the Gram matrix of the weighted rows, with the weights of the features as α.
fn by_gram_matrix(rows: &FeatureMatrix<'_>, problems: &Problems<'_>, run: Run<'_>) -> Result<Fitted> {
    // Without a free intercept nothing is projected out.
    let n_columns = usize::from(run.settings.polynomials == Polynomials::Free);
    let ones = Matrix::from_columns(rows.roots.repeat(n_columns), rows.roots.len(), n_columns);
    let spreads = vec![0.0; n_columns];
    let mut fitted = fit_exact(rows.gram(run.pool), (&ones, &spreads), problems, run)?;
    // α has the roots of the weights in it.
    fitted.alpha.iter_mut().for_each(|alpha| *alpha = rows.combination(alpha));
    Ok(fitted)
}
