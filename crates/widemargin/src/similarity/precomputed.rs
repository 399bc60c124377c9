//! Precomputed similarities: a sample is its row of values, a column is a basis.

use super::Similarity;
use crate::data::{Rows, Samples, Vectors};
use crate::error::{Error, Result};

/// `precomputed`: samples are rows of similarities to bases that are not available; every column is a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precomputed;

impl Similarity for Precomputed {
    type Samples = Vectors;

    fn spec(&self) -> String {
        "precomputed".into()
    }

    fn n_columns(&self, bases: &Vectors) -> usize {
        bases.n_cols()
    }

    fn brings_columns(&self) -> bool {
        true
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        let (trained, found) = (bases.n_cols(), samples.n_cols());
        if found != trained && !(found < trained && matches!(samples, Vectors::Sparse(_))) {
            let hint = ": a precomputed row has one similarity a basis, in their order";
            return Err(Error::FeatureCount { found, trained, hint });
        }
        match samples {
            Vectors::Dense(matrix) => block.copy_from_slice(&matrix.values),
            Vectors::Sparse(matrix) => {
                let view = matrix.view()?;
                block.fill(0.0);
                for (row, out) in block.chunks_mut(trained.max(1)).enumerate().take(samples.len()) {
                    view.for_each_nonzero(row, |column, value| out[column] = value as f32);
                }
            }
        }
        Ok(())
    }
}
