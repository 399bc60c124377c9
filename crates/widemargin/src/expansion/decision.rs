//! Decision values of similarities, without the features where a map is a projection.
//!
//! Features φ = Mᵀs of similarities s have the decision value w·φ = (Mw)·s. With v = Mw made once, a sample costs
//! bases × problems, where φ would cost bases × features before that: with a thousand bases and ten problems a hundredth.

use std::borrow::Cow;

use super::part_map::PartMap;

/// Weights on what the maps that are no projections make of similarities.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    /// Those of the expansion, but for projections: what these would take stays as it is.
    pub maps: Vec<PartMap>,
    /// `[problem][column of any part]`.
    pub weights: Vec<f32>,
}

impl Decision {
    /// From the maps of an expansion of so many columns a part, and weights on its features.
    pub fn new(maps: &[PartMap], n_columns: usize, weights: &[f32]) -> Self {
        let n_features: usize = maps.iter().map(|map| map.n_features(n_columns)).sum();
        let mut folded = Vec::with_capacity(weights.len() / n_features.max(1) * n_columns * maps.len());
        for mut of_problem in weights.chunks(n_features.max(1)) {
            for map in maps {
                let (own, others) = of_problem.split_at(map.n_features(n_columns));
                folded.extend_from_slice(&weights_on_columns(map, own));
                of_problem = others;
            }
        }
        let maps = maps.iter().map(|map| match map {
            PartMap::Projection { .. } => PartMap::identity(n_columns),
            affine => affine.clone(),
        });
        Decision { maps: maps.collect(), weights: folded }
    }
}

/// M·w for a projection M, in double precision.
fn weights_on_columns<'a>(map: &PartMap, weights: &'a [f32]) -> Cow<'a, [f32]> {
    let PartMap::Projection { matrix, n_features } = map else { return Cow::Borrowed(weights) };
    let on_column =
        |row: &[f32]| row.iter().zip(weights).map(|(m, w)| f64::from(*m) * f64::from(*w)).sum::<f64>() as f32;
    Cow::Owned(matrix.chunks((*n_features).max(1)).map(on_column).collect())
}
