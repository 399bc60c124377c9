//! Decision values of similarities, without the features where a map is a projection.
//!
//! Features φ = Mᵀs of similarities s have the decision value w·φ = (Mw)·s. With v = Mw made once, a sample costs
//! bases × problems, where φ would cost bases × features before that: with a thousand bases and ten problems a hundredth.
//! In double precision: M divides by roots of eigenvalues, small ones too, so that v is large and its terms cancel.

use super::part_map::{PartMap, n_joined};
use crate::linalg;

/// Weights on what the maps that are no projections make of similarities.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    /// Those of the expansion, but for projections: what these would take stays as it is.
    pub maps: Vec<PartMap>,
    /// `[problem][column of any part]`.
    weights: Vec<f64>,
    n_problems: usize,
}

impl Decision {
    /// From the maps of an expansion of so many columns a part, and weights on its features.
    pub fn new(maps: &[PartMap], n_columns: usize, weights: &[f32], n_problems: usize) -> Self {
        let mut folded = Vec::with_capacity(n_problems * n_columns * maps.len());
        let n_features = n_joined(maps, n_columns);
        for problem in 0..n_problems {
            let mut of_problem = &weights[problem * n_features..][..n_features];
            for map in maps {
                let own;
                (own, of_problem) = of_problem.split_at(map.n_features(n_columns));
                match map {
                    PartMap::Affine { .. } => folded.extend(own.iter().map(|w| f64::from(*w))),
                    PartMap::Projection { matrix, n_features } => {
                        folded.extend(
                            (0..n_columns).map(|column| dot(&matrix[column * n_features..][..*n_features], own)),
                        );
                    }
                }
            }
        }
        let maps = maps.iter().map(|map| match map {
            PartMap::Projection { .. } => PartMap::identity(n_columns),
            affine => affine.clone(),
        });
        Decision { maps: maps.collect(), weights: folded, n_problems }
    }

    /// Columns of all parts.
    pub fn width(&self) -> usize {
        self.weights.len() / self.n_problems
    }

    /// Weights times rows of what `maps` made, row-major rows × problems.
    pub fn values(&self, rows: &[f32], out: &mut [f32]) {
        let wide: Vec<f64> = rows.iter().map(|x| f64::from(*x)).collect();
        let mut sums = vec![0.0; out.len()];
        linalg::outer(&mut sums, &wide, &self.weights, self.width());
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum as f32);
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}
