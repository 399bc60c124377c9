//! Precomputed similarities: a sample is its row of values, a column is a basis.

use super::Similarity;
use super::row::{Definite, Onnx, SimilarityRow, built};
use crate::data::{Rows, Samples, Vectors};
use crate::error::{Error, Result};

const PRECOMPUTED: SimilarityRow = SimilarityRow {
    name: "precomputed",
    class: "Precomputed",
    samples: &["vectors"],
    formula: "column x of row y",
    about: "Samples are rows of similarities, one column a basis.",
    parameters: &[],
    examples: &["precomputed"],
    definite: Definite::No,
    definition: None,
    onnx: Onnx::Expression("x"),
    build: |step| built(PRECOMPUTED.arguments(step).map(|_| Precomputed)),
};

pub(super) const ROWS: &[SimilarityRow] = &[PRECOMPUTED];

/// `precomputed`: samples are rows of similarities to the bases, which it never sees; every column is a basis.
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
