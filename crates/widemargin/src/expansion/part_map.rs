//! The normalization of one similarity's features, learned from the training samples.

use super::{Definite, Normalization};
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::eigen;

/// Eigenvalues below this fraction of the largest are dropped as rounding errors.
const EIGENVALUE_CUT: f64 = 1e-6;

/// Maps similarities to features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartMap {
    /// (φ̃ − centre) · factors; one factor for all columns or one each.
    Affine { centre: Vec<f32>, factors: Vec<f32> },
    /// φ̃ · matrix, row-major bases × features.
    Projection { matrix: Vec<f32>, n_features: usize },
}

/// Total number of features of several similarities with this number of columns each.
pub(crate) fn n_joined(maps: &[PartMap], n_columns: usize) -> usize {
    maps.iter().map(|map| map.n_features(n_columns)).sum()
}

impl PartMap {
    /// Number of features, given the number of columns.
    pub fn n_features(&self, n_columns: usize) -> usize {
        match self {
            PartMap::Affine { .. } => n_columns,
            PartMap::Projection { n_features, .. } => *n_features,
        }
    }

    /// φ̃ unchanged.
    pub fn identity(n_columns: usize) -> Self {
        PartMap::Affine { centre: vec![0.0; n_columns], factors: vec![1.0] }
    }

    /// The affine map of a row, in place.
    pub fn apply_in_place(&self, row: &mut [f32]) {
        if let PartMap::Affine { centre, factors } = self {
            let centred = row.iter_mut().zip(centre);
            match factors.as_slice() {
                [one] => centred.for_each(|(x, centre)| *x = (*x - centre) * one),
                all => centred.zip(all).for_each(|((x, centre), factor)| *x = (*x - centre) * factor),
            }
        }
    }

    /// Maps rows of `n_columns` similarities each to features, into rows of `width` numbers from column `first` on.
    pub fn apply(&self, block: &mut [f32], n_columns: usize, out: &mut [f32], width: usize, first: usize) {
        let n_features = self.n_features(n_columns);
        let place = |out: &mut [f32], rows: &[f32]| {
            for (out, row) in out.chunks_mut(width).zip(rows.chunks(n_features.max(1))) {
                out[first..first + n_features].copy_from_slice(row);
            }
        };
        match self {
            PartMap::Affine { .. } => {
                block.chunks_mut(n_columns.max(1)).for_each(|row| self.apply_in_place(row));
                place(out, block);
            }
            PartMap::Projection { matrix, .. } => {
                let mut features = vec![0.0; block.len() / n_columns.max(1) * n_features];
                linalg::times(&mut features, block, matrix, n_columns);
                place(out, &features);
            }
        }
    }

    /// S^(−½) as a projection onto eigenvectors: U Λ^(−½) for the similarities S = U Λ Uᵀ between the bases, made
    /// definite. This is a rotation of S^(−½), which does not affect a linear SVM.
    pub fn nystrom(
        between: &[f32],
        n: usize,
        normalization: Normalization,
        spec: &str,
        is_symmetric: bool,
    ) -> Result<Self> {
        let (definite, symmetrise) = match normalization {
            Normalization::Nystrom(definite) => (definite, false),
            Normalization::NystromOfSymmetricPart(definite) => (definite, true),
            _ => return Ok(PartMap::identity(n)),
        };
        let at = |i: usize, j: usize| f64::from(between[i * n + j]);
        let largest = between.iter().fold(0.0f32, |largest, s| largest.max(s.abs()));
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                if !symmetrise && !is_symmetric && (at(i, j) - at(j, i)).abs() > 1e-4 * f64::from(largest) {
                    return Err(Error::Similarity {
                        similarity: spec.to_owned(),
                        problem: format!(
                            "it is not symmetric (s of bases {i} and {j} is {} one way and {} the other), and {normalization} \
                             needs a symmetric matrix: {} takes the symmetric part (S + Sᵀ)/2, mean-norm needs none",
                            at(j, i),
                            at(i, j),
                            Normalization::NystromOfSymmetricPart(definite),
                        ),
                    });
                }
                let value = 0.5 * (at(i, j) + at(j, i));
                (matrix[i * n + j], matrix[j * n + i]) = (value, value);
            }
        }
        let eigen = eigen::symmetric(&matrix, n, true).ok_or_else(|| Error::Similarity {
            similarity: spec.to_owned(),
            problem: "its similarities between the bases have no eigenvalues: they are not finite".into(),
        })?;
        let least = eigen.values.first().copied().unwrap_or(0.0).min(0.0);
        let made = |value: f64| match definite {
            Definite::Clip => value.max(0.0),
            Definite::Flip => value.abs(),
            Definite::Shift => value - least,
            Definite::Square => value * value,
        };
        let values: Vec<f64> = eigen.values.iter().map(|&value| made(value)).collect();
        let cut = EIGENVALUE_CUT * values.iter().copied().fold(0.0, f64::max);
        let kept: Vec<usize> = (0..n).rev().filter(|&k| values[k] > cut).collect();
        let n_features = kept.len();
        let mut projection = vec![0.0f32; n * n_features];
        for (feature, &k) in kept.iter().enumerate() {
            let factor = 1.0 / values[k].sqrt();
            for (basis, x) in eigen.vectors[k * n..(k + 1) * n].iter().enumerate() {
                projection[basis * n_features + feature] = (factor * x) as f32;
            }
        }
        Ok(PartMap::Projection { matrix: projection, n_features })
    }
}
