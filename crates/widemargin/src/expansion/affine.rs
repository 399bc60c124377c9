//! Statistics of the mean-norm, z-score and covariance normalizations: sums over rows, in double precision, in chunks.
//!
//! First the mean of each column; then, about those, the mean row norm of each part, the variance of each column, or
//! the covariance of the columns of each part.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Normalization;
use super::part_map::PartMap;
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::factor::{Matrix, Side, product};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Entry, Executor, Kind, Query, add_answer, part_query};

/// Rows compared at a time by one thread: enough for an efficient matrix product, few enough to stay in the cache.
pub(crate) const CHUNK_ROWS: usize = 256;

/// Similarities of samples to the bases, not normalized, with the samples' weights.
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

/// Features in memory, a chunk of rows at a time.
pub(crate) struct FeatureChunks<'a> {
    /// Row-major.
    pub values: &'a [f32],
    pub weights: &'a [f64],
    pub width: usize,
    pub pool: &'a Pool,
}

impl FeatureChunks<'_> {
    /// Adds the answers of all chunks, in their order.
    pub fn add_to<Q: Query<Of = FeatureRows>>(
        &self,
        total: &mut Option<Q::Answer>,
        query: &Q,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let chunk = |rows: Range<usize>| {
            monitor.go_on("normalize")?;
            let values = &self.values[rows.start * self.width..rows.end * self.width];
            query.answer(&mut FeaturePart { values, weights: &self.weights[rows] }, monitor)
        };
        self.pool.fold_chunks(self.weights.len(), CHUNK_ROWS, chunk, |next| add_answer(query, total, next))
    }
}

impl Executor<FeatureRows> for FeatureChunks<'_> {
    fn reduce<Q: Query<Of = FeatureRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let mut total = None;
        self.add_to(&mut total, query, monitor)?;
        total.ok_or(Error::NoSamples(""))
    }
}

/// The queries that workers answer about features.
pub const FEATURE_QUERIES: &[Entry<FeatureRows>] = &[Entry::of::<Sums>(), Entry::of::<Spreads>()];

part_query! { FeatureRows: Sums "sums" { affine: Affine } -> Vec<f64> {}
|at, part, _| Ok(at.affine.sums(part.values, part.weights)), |_, total, next| linalg::add(total, &next) }

part_query! { FeatureRows: Spreads "spreads" { affine: Affine, mean: Vec<f64> } -> Vec<f64> {}
|at, part, _| Ok(at.affine.spreads(part.values, part.weights, &at.mean)), |_, total, next| linalg::add(total, &next) }

/// The statistics that a normalization needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Affine {
    /// Columns of each part.
    widths: Vec<usize>,
    /// The factor of each part's features.
    weights: Vec<f64>,
    /// The parts that are not centered, so that sparse features stay sparse.
    uncentered: Vec<bool>,
    spread: Spread,
}

/// The statistic that is summed about the mean of each column.
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
    pub fn of(
        normalization: Normalization,
        widths: Vec<usize>,
        weights: Vec<f64>,
        uncentered: Vec<bool>,
    ) -> Option<Affine> {
        let spread = match normalization {
            Normalization::MeanNorm => Spread::Norm,
            Normalization::ZScore => Spread::Variance,
            Normalization::Covariance => Spread::Covariance,
            _ => return None,
        };
        Some(Affine { widths, weights, uncentered, spread })
    }

    /// How many numbers [`Affine::spreads`] sums for a part.
    fn n_spreads_of(&self, width: usize) -> usize {
        match self.spread {
            Spread::Norm => 1,
            Spread::Variance => width,
            Spread::Covariance => width * width,
        }
    }

    /// How many numbers [`Affine::spreads`] sums.
    pub fn n_spreads(&self) -> usize {
        self.widths.iter().map(|&width| self.n_spreads_of(width)).sum()
    }

    /// The columns of each part.
    pub fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let mut first = 0;
        self.widths.iter().map(move |&width| {
            first += width;
            first - width..first
        })
    }

    /// The maps of all parts for rows wherever they are, whose weights sum to `total`.
    pub fn learn(
        &self,
        rows: &mut impl Executor<FeatureRows>,
        total: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<PartMap>> {
        let mean = self.mean(rows.reduce(&Sums { affine: self.clone() }, monitor)?, total);
        let query = Spreads { affine: self.clone(), mean };
        let spread = rows.reduce(&query, monitor)?;
        self.maps(&query.mean, &spread, total)
    }

    /// The center, from the sums of the columns: their averages, or 0 where they are not centered.
    pub fn mean(&self, mut sums: Vec<f64>, total: f64) -> Vec<f64> {
        sums.iter_mut().for_each(|sum| *sum /= total);
        for (columns, _) in self.parts().zip(&self.uncentered).filter(|(_, uncentered)| **uncentered) {
            sums[columns].fill(0.0);
        }
        sums
    }

    /// Numbers per row.
    pub fn width(&self) -> usize {
        self.widths.iter().sum()
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
    /// (row-major; 2·columns² flops a row).
    pub fn spreads(&self, rows: &[f32], weights: &[f64], mean: &[f64]) -> Vec<f64> {
        if self.spread == Spread::Covariance {
            return self.parts().flat_map(|columns| self.products(columns, rows, weights, mean)).collect();
        }
        let mut sums = vec![0.0f64; self.n_spreads()];
        for (row, weight) in present(rows, weights, self.width()) {
            let squares = row.iter().zip(mean).map(|(x, mean)| (f64::from(*x) - mean).powi(2));
            if self.spread == Spread::Variance {
                sums.iter_mut().zip(squares).for_each(|(sum, square)| *sum += weight * square);
            } else {
                let squares: Vec<f64> = squares.collect();
                let norms = self.parts().map(|columns| squares[columns].iter().sum::<f64>().sqrt());
                sums.iter_mut().zip(norms).for_each(|(sum, norm)| *sum += weight * norm);
            }
        }
        sums
    }

    /// Σ weight · (x − mean)(x − mean)ᵀ of one part.
    fn products(&self, columns: Range<usize>, rows: &[f32], weights: &[f64], mean: &[f64]) -> Vec<f64> {
        let mut centered = Vec::new();
        for (row, weight) in present(rows, weights, self.width()) {
            let of_part = row[columns.clone()].iter().zip(&mean[columns.clone()]);
            centered.extend(of_part.map(|(x, mean)| weight.sqrt() * (f64::from(*x) - mean)));
        }
        let (n_columns, n_numbers) = (columns.len(), centered.len());
        let centered = Matrix::from_columns(centered, n_columns, n_numbers / n_columns.max(1));
        product(Side::Plain(&centered), Side::Transposed(&centered)).into_values()
    }

    /// The maps of all parts, from the centers, the spreads and the sum of all weights. A constant column or part
    /// becomes 0.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] for a covariance that is not finite.
    pub fn maps(&self, mean: &[f64], spread: &[f64], total: f64) -> Result<Vec<PartMap>> {
        let inverse = |spread: f64| if spread > 0.0 { (1.0 / spread) as f32 } else { 0.0 };
        let mut rest = spread;
        let map = |(columns, weight): (Range<usize>, &f64)| {
            let own;
            (own, rest) = rest.split_at(self.n_spreads_of(columns.len()));
            let mean = &mean[columns];
            let factors = match self.spread {
                Spread::Norm => vec![inverse(own[0] / total)],
                Spread::Variance => {
                    let constant = |variance: f64, mean: f64| variance.sqrt() <= 1e-6 * mean.abs();
                    let deviations = own.iter().map(|sum| sum / total).zip(mean);
                    deviations.map(|(v, mean)| if constant(v, *mean) { 0.0 } else { inverse(v.sqrt()) }).collect()
                }
                Spread::Covariance => {
                    let covariance: Vec<f64> = own.iter().map(|sum| sum / total).collect();
                    return Ok(PartMap::whitening(&covariance, mean)?.scaled(*weight));
                }
            };
            let center = mean.iter().map(|mean| *mean as f32).collect();
            Ok(PartMap::affine(center, factors).scaled(*weight))
        };
        self.parts().zip(&self.weights).map(map).collect()
    }
}

/// The rows with non-zero weight.
fn present<'a>(rows: &'a [f32], weights: &'a [f64], width: usize) -> impl Iterator<Item = (&'a [f32], f64)> {
    rows.chunks(width.max(1)).zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0)
}
