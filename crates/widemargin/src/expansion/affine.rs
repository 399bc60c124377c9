//! Statistics of the mean-norm and z-score normalizations: sums over rows, in double precision, in chunks.
//!
//! First the means of all columns; then, about those, the mean row norm of each part or the variance of each column.

use super::Normalization;
use super::part_map::PartMap;

/// The statistics that a normalization needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    /// Columns of one part.
    pub n_columns: usize,
    pub n_parts: usize,
    /// Whether each column has its own factor.
    pub z_score: bool,
}

impl Affine {
    /// The statistics of a normalization; `None` if it needs none.
    pub fn of(normalization: Normalization, n_columns: usize, n_parts: usize) -> Option<Affine> {
        match normalization {
            Normalization::MeanNorm => Some(Affine { n_columns, n_parts, z_score: false }),
            Normalization::ZScore => Some(Affine { n_columns, n_parts, z_score: true }),
            _ => None,
        }
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

    /// Σ weight · ‖x − mean‖ per part, or Σ weight · (x − mean)² per column.
    pub fn spreads(&self, rows: &[f32], weights: &[f64], mean: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0f64; if self.z_score { self.width() } else { self.n_parts }];
        for (row, weight) in present(rows, weights, self.width()) {
            let squares = row.iter().zip(mean).map(|(x, mean)| (f64::from(*x) - mean).powi(2));
            if self.z_score {
                sums.iter_mut().zip(squares).for_each(|(sum, square)| *sum += weight * square);
            } else {
                let squares: Vec<f64> = squares.collect();
                let norms = squares.chunks(self.n_columns.max(1)).map(|part| part.iter().sum::<f64>().sqrt());
                sums.iter_mut().zip(norms).for_each(|(sum, norm)| *sum += weight * norm);
            }
        }
        sums
    }

    /// The maps of all parts, from the means, the spreads and the sum of all weights. A constant column or part becomes
    /// 0.
    pub fn maps(&self, mean: &[f64], spread: &[f64], total: f64) -> Vec<PartMap> {
        let inverse = |spread: f64| if spread > 0.0 { (1.0 / spread) as f32 } else { 0.0 };
        let map = |part: usize| {
            let columns = part * self.n_columns..(part + 1) * self.n_columns;
            let centre = mean[columns.clone()].iter().map(|mean| *mean as f32).collect();
            let factors = if self.z_score {
                let constant = |variance: f64, mean: f64| variance.sqrt() <= 1e-6 * mean.abs();
                let deviations = spread[columns.clone()].iter().map(|sum| sum / total).zip(&mean[columns]);
                deviations.map(|(v, mean)| if constant(v, *mean) { 0.0 } else { inverse(v.sqrt()) }).collect()
            } else {
                vec![inverse(spread[part] / total)]
            };
            PartMap::Affine { centre, factors }
        };
        (0..self.n_parts).map(map).collect()
    }
}

/// The rows with non-zero weight.
fn present<'a>(rows: &'a [f32], weights: &'a [f64], width: usize) -> impl Iterator<Item = (&'a [f32], f64)> {
    rows.chunks(width.max(1)).zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0)
}
