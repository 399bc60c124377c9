//! Means and spreads of the training samples, computed in chunks.

use std::borrow::Cow;

use crate::data::{DenseMatrix, Samples, Training};
use crate::error::Result;

/// Rows processed at a time by one thread.
const CHUNK_ROWS: usize = 256;

/// The measure of a row's deviation x − mean that is averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// ‖x − mean‖.
    Norm,
    /// ‖x − mean‖².
    Squared,
    /// ‖x − mean‖₁.
    Absolute,
}

/// Converts samples to dense rows.
pub(crate) type Dense<S> = fn(&S) -> Result<Cow<'_, DenseMatrix<f32>>>;

/// The weighted mean of the training rows.
pub(crate) fn mean<S: Samples>(training: &Training<'_, S>, dense: Dense<S>) -> Result<Vec<f64>> {
    column_means(training, dense, |_, value| value)
}

/// The weighted mean of (x_j − mean_j)² of each feature.
pub(crate) fn variances<S: Samples>(training: &Training<'_, S>, dense: Dense<S>, mean: &[f64]) -> Result<Vec<f64>> {
    column_means(training, dense, |column, value| (value - mean[column]).powi(2))
}

/// The weighted mean over rows of the measure of x − mean.
pub fn spread<S: Samples>(training: &Training<'_, S>, dense: Dense<S>, measure: Spread) -> Result<f64> {
    let mean = mean(training, dense)?;
    spread_about(training, dense, &mean, measure)
}

/// The same about a center.
pub(crate) fn spread_about<S: Samples>(
    training: &Training<'_, S>,
    dense: Dense<S>,
    center: &[f64],
    measure: Spread,
) -> Result<f64> {
    let mut total = 0.0;
    let work = |samples: S, weights: &[f64]| {
        let matrix = dense(&samples)?;
        let rows = matrix.values.chunks(matrix.n_cols.max(1)).zip(weights).filter(|(_, weight)| **weight > 0.0);
        let sum = rows.map(|(row, weight)| {
            let deviations = row.iter().zip(center).map(|(x, center)| f64::from(*x) - center);
            weight
                * match measure {
                    Spread::Norm => deviations.map(|d| d * d).sum::<f64>().sqrt(),
                    Spread::Squared => deviations.map(|d| d * d).sum(),
                    Spread::Absolute => deviations.map(f64::abs).sum(),
                }
        });
        Ok(sum.sum::<f64>())
    };
    training.fold("describe", CHUNK_ROWS, work, |part| total += part)?;
    Ok(total / training.weights.iter().sum::<f64>())
}

/// The weighted mean over rows of f of each column.
fn column_means<S: Samples>(
    training: &Training<'_, S>,
    dense: Dense<S>,
    f: impl Fn(usize, f64) -> f64 + Sync,
) -> Result<Vec<f64>> {
    let mut total: Vec<f64> = Vec::new();
    let work = |samples: S, weights: &[f64]| {
        let matrix = dense(&samples)?;
        let mut sums = vec![0.0; matrix.n_cols];
        for (row, weight) in matrix.values.chunks(matrix.n_cols.max(1)).zip(weights) {
            if *weight > 0.0 {
                let columns = sums.iter_mut().zip(row).enumerate();
                columns.for_each(|(column, (sum, value))| *sum += weight * f(column, f64::from(*value)));
            }
        }
        Ok(sums)
    };
    let add = |part: Vec<f64>| {
        if total.len() < part.len() {
            total.resize(part.len(), 0.0);
        }
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    };
    training.fold("describe", CHUNK_ROWS, work, add)?;
    let weight = training.weights.iter().sum::<f64>();
    Ok(total.into_iter().map(|sum| sum / weight).collect())
}
