//! Statistics of the mean-norm, z-score and covariance normalizations: sums over rows, in double precision, in chunks.
//!
//! First the means of all columns; then, about those, the mean row norm of each part, the variance of each column, or
//! the covariance of the columns of each part.

use serde::{Deserialize, Serialize};

use super::Normalization;
use super::part_map::PartMap;
use crate::error::Result;
use crate::linalg;
use crate::linalg::factor::{Matrix, Side, product};
use crate::monitor::Monitor;
use crate::partition::{Entry, Executor, Kind, Query, part_query};

/// Similarities of samples to the bases, not normalised, with the samples' weights.
#[derive(Clone, Copy, Debug)]
pub struct FeatureRows;

/// Some of them.
#[derive(Clone, Copy, Debug)]
pub struct FeaturePart<'p> {
    /// Row-major.
    pub values: &'p [f32],
    /// One number a row.
    pub weights: &'p [f64],
}

impl Kind for FeatureRows {
    type Part<'p> = FeaturePart<'p>;

    const NAME: &'static str = "features";
}

/// What workers answer of features.
pub const FEATURE_QUERIES: &[Entry<FeatureRows>] = &[Entry::of::<Sums>(), Entry::of::<Spreads>()];

part_query! { FeatureRows: Sums "sums" { affine: Affine } -> Vec<f64> {}
|at, part, _| Ok(at.affine.sums(part.values, part.weights)), |_, total, next| linalg::add(total, &next) }

part_query! { FeatureRows: Spreads "spreads" { affine: Affine, mean: Vec<f64> } -> Vec<f64> {}
|at, part, _| Ok(at.affine.spreads(part.values, part.weights, &at.mean)), |_, total, next| linalg::add(total, &next) }

/// The statistics that a normalization needs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Affine {
    /// Columns of one part.
    pub n_columns: usize,
    pub n_parts: usize,
    pub spread: Spread,
}

/// What is summed about the means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Spread {
    /// The norm of each part's rows.
    Norm,
    /// The square of each column.
    Variance,
    /// The products of any two columns of a part.
    Covariance,
}

impl Affine {
    /// The statistics of a normalization; `None` if it needs none.
    pub fn of(normalization: Normalization, n_columns: usize, n_parts: usize) -> Option<Affine> {
        let spread = match normalization {
            Normalization::MeanNorm => Spread::Norm,
            Normalization::ZScore => Spread::Variance,
            Normalization::Covariance => Spread::Covariance,
            _ => return None,
        };
        Some(Affine { n_columns, n_parts, spread })
    }

    /// How many numbers [`Affine::spreads`] sums.
    pub fn n_spreads(&self) -> usize {
        self.n_parts
            * match self.spread {
                Spread::Norm => 1,
                Spread::Variance => self.n_columns,
                Spread::Covariance => self.n_columns * self.n_columns,
            }
    }

    /// The maps of all parts for rows wherever they are, whose weights sum to `total`.
    pub fn learn(
        self,
        rows: &mut impl Executor<Of = FeatureRows>,
        total: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<PartMap>> {
        let mut mean = rows.reduce(&Sums { affine: self }, monitor)?;
        mean.iter_mut().for_each(|sum| *sum /= total);
        let query = Spreads { affine: self, mean };
        let spread = rows.reduce(&query, monitor)?;
        self.maps(&query.mean, &spread, total)
    }

    /// Numbers per row.
    pub fn width(&self) -> usize {
        self.n_columns * self.n_parts
    }

    /// Σ weight · x over rows of raw features, for each column.
    pub fn sums(&self, rows: &[f32], weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0f64; self.width()];
        for (row, weight) in present(rows, weights, self.width()) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * f64::from(*x));
        }
        sums
    }

    /// Σ weight · ‖x − mean‖ per part, Σ weight · (x − mean)² per column, or Σ weight · (x − mean)(x − mean)ᵀ per part
    /// (row-major; 2·n_columns² flops a row).
    pub fn spreads(&self, rows: &[f32], weights: &[f64], mean: &[f64]) -> Vec<f64> {
        if self.spread == Spread::Covariance {
            return (0..self.n_parts).flat_map(|part| self.products(part, rows, weights, mean)).collect();
        }
        let mut sums = vec![0.0f64; self.n_spreads()];
        for (row, weight) in present(rows, weights, self.width()) {
            let squares = row.iter().zip(mean).map(|(x, mean)| (f64::from(*x) - mean).powi(2));
            if self.spread == Spread::Variance {
                sums.iter_mut().zip(squares).for_each(|(sum, square)| *sum += weight * square);
            } else {
                let squares: Vec<f64> = squares.collect();
                let norms = squares.chunks(self.n_columns.max(1)).map(|part| part.iter().sum::<f64>().sqrt());
                sums.iter_mut().zip(norms).for_each(|(sum, norm)| *sum += weight * norm);
            }
        }
        sums
    }

    /// Σ weight · (x − mean)(x − mean)ᵀ of one part.
    fn products(&self, part: usize, rows: &[f32], weights: &[f64], mean: &[f64]) -> Vec<f64> {
        let columns = part * self.n_columns..(part + 1) * self.n_columns;
        let mut centred = Vec::new();
        for (row, weight) in present(rows, weights, self.width()) {
            let of_part = row[columns.clone()].iter().zip(&mean[columns.clone()]);
            centred.extend(of_part.map(|(x, mean)| weight.sqrt() * (f64::from(*x) - mean)));
        }
        let n_rows = centred.len() / self.n_columns.max(1);
        let centred = Matrix::from_columns(centred, self.n_columns, n_rows);
        product(Side::Plain(&centred), Side::Transposed(&centred)).into_values()
    }

    /// The maps of all parts, from the means, the spreads and the sum of all weights. A constant column or part becomes
    /// 0.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] for a covariance that is not finite.
    pub fn maps(&self, mean: &[f64], spread: &[f64], total: f64) -> Result<Vec<PartMap>> {
        let inverse = |spread: f64| if spread > 0.0 { (1.0 / spread) as f32 } else { 0.0 };
        let map = |part: usize| {
            let columns = part * self.n_columns..(part + 1) * self.n_columns;
            let mean = &mean[columns.clone()];
            let factors = match self.spread {
                Spread::Norm => vec![inverse(spread[part] / total)],
                Spread::Variance => {
                    let constant = |variance: f64, mean: f64| variance.sqrt() <= 1e-6 * mean.abs();
                    let deviations = spread[columns].iter().map(|sum| sum / total).zip(mean);
                    deviations.map(|(v, mean)| if constant(v, *mean) { 0.0 } else { inverse(v.sqrt()) }).collect()
                }
                Spread::Covariance => {
                    let products = &spread[part * self.n_columns * self.n_columns..];
                    let products = products[..self.n_columns * self.n_columns].iter();
                    return PartMap::whitening(&products.map(|sum| sum / total).collect::<Vec<_>>(), mean);
                }
            };
            Ok(PartMap::Affine { centre: mean.iter().map(|mean| *mean as f32).collect(), factors })
        };
        (0..self.n_parts).map(map).collect()
    }
}

/// The rows with non-zero weight.
fn present<'a>(rows: &'a [f32], weights: &'a [f64], width: usize) -> impl Iterator<Item = (&'a [f32], f64)> {
    rows.chunks(width.max(1)).zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0)
}
