//! Kernels of a regression on weighted columns: scales that make the targets most likely (`column_scales.rs`), where
//! scales of their own make the targets so much more likely than one scale of all columns that chance hardly explains
//! it. The error alone is not enough: weights that were learned from the same samples lower it even where they are
//! worse.

use super::candidate::{Candidate, rounded};
use super::column_scales::{Difference, Likely, Table};
use super::subset::{Judge, Subset};
use crate::data::DenseMatrix;
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::model::ColumnMoments;
use crate::monitor::Monitor;
use crate::parameters::List;
use crate::tuning::{
    FIRST_NOISE, FURTHER_EVALUATIONS, MIN_LOG_ODDS, SCALE_EVALUATIONS, TIED_EVALUATIONS, WEIGHTED_COLUMNS,
};

/// The scales of the columns by the likelihood of a kernel.
pub(super) struct ColumnLikelihood {
    pub kernel: &'static str,
    /// One scale of all columns.
    tied: Likely,
    /// One of each column, or each variable whose categories the columns indicate.
    each: Likely,
    /// By how much scales of their own must raise the logarithm of the likelihood.
    penalty: f64,
    n_samples: usize,
}

impl ColumnLikelihood {
    /// By how much scales of their own raise the logarithm of the likelihood.
    fn gain(&self) -> f64 {
        self.tied.cost - self.each.cost
    }

    /// Whether the odds are for scales of their own.
    pub fn is_likely(&self) -> bool {
        self.gain() - self.penalty > MIN_LOG_ODDS
    }

    /// Whether these scales are likelier than those of another kernel.
    pub fn is_likelier(&self, other: &ColumnLikelihood) -> bool {
        self.each.cost < other.each.cost - MIN_LOG_ODDS
    }

    /// The kernel on weighted columns, the largest weight 1.
    pub fn candidate(&self) -> Candidate {
        let scales = &self.each.scales[..self.each.scales.len() - 1];
        let largest = scales.iter().copied().fold(0.0, f64::max);
        let weight = |scale: &f64| {
            let share = scale / largest;
            let weight = if self.kernel == "rbf" { share.sqrt() } else { share };
            ((1000.0 * weight).round() / 1000.0) as f32
        };
        let weights = List(scales.iter().map(weight).collect());
        Candidate::usual(&format!("z-score:weights={weights}/{}:gamma={}", self.kernel, rounded(largest)))
    }
}

/// The scales of columns that make the targets of a regression most likely, for both kernels of distances; after a first
/// look, from the scales found there, and only where the same evidence per sample is enough on all.
pub(super) fn learn_columns(
    subset: &Subset<'_>,
    before: &[ColumnLikelihood],
    monitor: &Monitor<'_>,
) -> Result<Vec<ColumnLikelihood>> {
    let (Judge::Targets(_, standard), Some(matrix)) = (&subset.judge, subset.table()) else { return Ok(Vec::new()) };
    let (numbers, same) = (weight_numbers(matrix), vec![0; matrix.n_cols]);
    if !WEIGHTED_COLUMNS.contains(&numbers.last().map_or(0, |last| last + 1)) {
        return Ok(Vec::new());
    }
    let rows = Matrix::from_columns(standardized(matrix, &subset.weights)?, matrix.n_cols, subset.len());
    let (columns, n) = (rows.transposed(), subset.len() as f64);
    // By the Bayesian information criterion each parameter more costs ½ log n.
    let is_constant = |column: usize| columns.col(column).iter().all(|x| *x == 0.0);
    let mut varying: Vec<usize> =
        (0..matrix.n_cols).filter(|&column| !is_constant(column)).map(|at| numbers[at]).collect();
    varying.dedup();
    let penalty = 0.5 * (varying.len() as f64 - 1.0) * n.ln();
    let mut found = Vec::new();
    let strict = monitor.with_strict_limit();
    for (kernel, difference) in [("rbf", Difference::Squared), ("laplacian", Difference::Absolute)] {
        let known = before.iter().find(|known| known.kernel == kernel);
        let is_hopeless =
            |known: &ColumnLikelihood| known.gain() * n / known.n_samples as f64 - penalty <= MIN_LOG_ODDS;
        if known.map_or(!before.is_empty(), is_hopeless) {
            continue;
        }
        let table = Table { columns: &columns, targets: &standard.values, weights: &subset.weights, difference };
        let likely = |start: &[f64], numbers: &[usize], most: usize| match table
            .likely(start, numbers, most, || strict.go_on("similarity search"))
        {
            Err(Error::TooShort { .. }) => Ok(None),
            found => found,
        };
        let first = [vec![0.5 / matrix.n_cols as f64; matrix.n_cols], vec![FIRST_NOISE]].concat();
        let start = known.map_or(&first, |known| &known.tied.scales);
        let Some(tied) = likely(start, &same, TIED_EVALUATIONS)? else { continue };
        let (start, most) = match known {
            Some(known) => (&known.each.scales, FURTHER_EVALUATIONS),
            None => (&tied.scales, SCALE_EVALUATIONS),
        };
        let Some(mut each) = likely(start, &numbers, most)? else { continue };
        (0..matrix.n_cols).filter(|&column| is_constant(column)).for_each(|column| each.scales[column] = 0.0);
        found.push(ColumnLikelihood { kernel, tied, each, penalty, n_samples: subset.len() });
    }
    Ok(found)
}

/// The rows with columns of mean 0 and variance 1, row-major; a constant column is 0.
pub(super) fn standardized(matrix: &DenseMatrix<f32>, weights: &[f64]) -> Result<Vec<f64>> {
    let space = ColumnMoments::of(&matrix.view()?, weights)?.space(None)?;
    let columns = space.center.iter().zip(&space.factors).cycle();
    Ok(matrix.values.iter().zip(columns).map(|(x, (center, factor))| (f64::from(*x) - center) * factor).collect())
}

/// The number of the weight of each column, in ascending order. Neighboring columns of 0 and 1 share a weight if exactly
/// one of them is 1 in every row: they indicate the categories of one variable.
pub(super) fn weight_numbers(matrix: &DenseMatrix<f32>) -> Vec<usize> {
    let (n, d) = (matrix.n_rows, matrix.n_cols);
    let rows_of_ones = |column: usize| -> Option<Vec<usize>> {
        let values = || matrix.values.iter().skip(column).step_by(d);
        let is_indicator = values().all(|x| *x == 0.0 || *x == 1.0);
        is_indicator.then(|| values().enumerate().filter(|(_, x)| **x == 1.0).map(|(row, _)| row).collect())
    };
    let ones: Vec<Option<Vec<usize>>> = (0..d).map(rows_of_ones).collect();
    let end_of_variable = |first: usize| {
        let (mut is_covered, mut n_covered) = (vec![false; n], 0);
        for (column, ones) in ones.iter().enumerate().skip(first) {
            for &row in ones.as_ref()? {
                if std::mem::replace(&mut is_covered[row], true) {
                    return None;
                }
            }
            n_covered += ones.as_ref()?.len();
            if n_covered == n {
                return Some(column + 1);
            }
        }
        None
    };
    let mut numbers = Vec::with_capacity(d);
    while numbers.len() < d {
        let (first, next) = (numbers.len(), numbers.last().map_or(0, |last| last + 1));
        numbers.resize(end_of_variable(first).unwrap_or(first + 1), next);
    }
    numbers
}
