//! Weights on features converted to weights on similarities, for the explanation of a decision value.

use super::BasisExpansion;
use super::compared::Compared;
use super::decision::FoldedDecision;
use crate::data::Samples;
use crate::error::Result;
use crate::similarity::Similarity;

/// Similarities of a sample in one part, and the weights of the columns.
///
/// Features are linear in the similarities of a sample, φ = Mᵀ(s − c), so that w·φ = Σ_j v_j (s_j − c_j) with v = Mw,
/// whatever the normalization: c is the mean similarity over the training samples where the normalization subtracts it,
/// and 0 where it does not.
#[derive(Clone, Debug)]
pub(crate) struct WeighedColumns {
    /// Positions among the columns of the part: all, or where features are sparse those that are not 0.
    pub columns: Vec<usize>,
    /// The similarity at each.
    pub values: Vec<f64>,
    /// c at each.
    pub references: Vec<f64>,
    /// v, `[column][problem]`.
    pub weights: Vec<f64>,
}

impl<S: Similarity> BasisExpansion<S> {
    /// The columns of each part for one sample, of weights `[problem][feature]`; `row` is its number in messages.
    ///
    /// # Errors
    /// As for [`BasisExpansion::transform`].
    pub(crate) fn weighed_columns<W: Copy + Into<f64>>(
        &self,
        weights: &[W],
        n_problems: usize,
        sample: S::Samples,
        row: usize,
    ) -> Result<Vec<WeighedColumns>> {
        let compared = self.compared(sample, row, self.is_sparse())?;
        let folded = FoldedDecision::new(&self.maps, weights, n_problems);
        let (mut parts, mut first) = (Vec::with_capacity(self.maps.len()), 0);
        for (map, similarities) in folded.maps.iter().zip(compared) {
            let (columns, values): (Vec<usize>, Vec<f64>) = match similarities {
                Compared::Double(values) => values.into_iter().enumerate().unzip(),
                Compared::Single(values) => values.into_iter().map(f64::from).enumerate().unzip(),
                Compared::Sparse(rows) => {
                    let stored = rows.row(0).filter(|(_, value)| *value != 0.0);
                    stored.map(|(column, value)| (column as usize, f64::from(value))).unzip()
                }
            };
            let center = |&column: &usize| map.center.get(column).map_or(0.0, |&c| f64::from(c));
            let references = columns.iter().map(center).collect();
            let mut weights = Vec::with_capacity(columns.len() * n_problems);
            for &column in &columns {
                weights
                    .extend((0..n_problems).map(|problem| map.factor(column) * folded.weight(problem, first + column)));
            }
            parts.push(WeighedColumns { columns, values, references, weights });
            first += map.n_columns;
        }
        Ok(parts)
    }

    /// √Σ v² of the weights on the similarity to each basis, over all problems and parts that compare; empty where
    /// samples bring the columns.
    pub(crate) fn norms_of_bases<W: Copy + Into<f64>>(&self, weights: &[W], n_problems: usize) -> Vec<f64> {
        let n_bases = self.bases().len();
        if self.similarity.metadata().brings_columns {
            return Vec::new();
        }
        let folded = FoldedDecision::new(&self.maps, weights, n_problems);
        let (mut sums, mut first) = (vec![0.0f64; n_bases], 0);
        for (part, map) in folded.maps.iter().enumerate() {
            if self.similarity.own_features(part, &self.described).is_none() {
                // Polynomials come after the bases.
                for (column, basis) in
                    self.columns_of(part).into_iter().enumerate().filter(|(_, basis)| *basis < n_bases)
                {
                    let of = |problem: usize| (map.factor(column) * folded.weight(problem, first + column)).powi(2);
                    sums[basis] += (0..n_problems).map(of).sum::<f64>();
                }
            }
            first += map.n_columns;
        }
        sums.into_iter().map(f64::sqrt).collect()
    }
}
