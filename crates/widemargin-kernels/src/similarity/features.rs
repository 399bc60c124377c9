//! The features of a sample themselves, for a linear model on them.

use super::precomputed::fill;
use super::row::{Definite, Onnx, SimilarityRow, built};
use super::shared_features::check_widths;
use super::{Extension, Metadata, Similarity};
use crate::data::{CsrMatrix, Vectors};
use crate::error::Result;
use crate::spec::Step;

pub(super) const FEATURES: SimilarityRow = SimilarityRow {
    name: "features",
    class: "Features",
    samples: &["vectors"],
    parameters: &[],
    examples: &[],
    definite: Definite::No,
    onnx: Onnx::Expression("x"),
    build: |step| built(Features::from_step(step)),
};

/// `features`: a column is a feature of the sample, whatever the bases.
///
/// `linear` with all samples as bases and a Nyström normalization is the same model; which is cheaper depends on
/// whether there are fewer features or fewer samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features;

impl Features {
    /// The similarity of a step `features`, which has no parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a parameter, and
    /// [`Error::UnknownName`](crate::Error::UnknownName) for another name.
    pub(crate) fn from_step(step: &Step) -> Result<Self> {
        FEATURES.arguments(step).map(|_| Features)
    }
}

impl Similarity for Features {
    type Samples = Vectors;

    fn spec(&self) -> String {
        FEATURES.name.into()
    }

    fn n_columns(&self, bases: &Vectors) -> usize {
        bases.n_cols()
    }

    /// A shift of columns far from 0 is left to the centering of a normalization, or to the intercept.
    fn metadata(&self) -> Metadata {
        Metadata { n_polynomials: 0, brings_columns: true, has_own_features: true, depends_on_differences: true }
    }

    fn extension(&self, _part: usize, bases: &Vectors, samples: &Vectors, wanted: Extension<'_>) -> Result<bool> {
        let Extension::Sparse(rows) = wanted else { return Ok(false) };
        check_widths(bases, samples)?;
        let (Vectors::Sparse(bases), Vectors::Sparse(samples)) = (bases, samples) else { return Ok(false) };
        *rows = CsrMatrix { n_cols: bases.n_cols, ..samples.clone() };
        Ok(true)
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        fill(bases, samples, "", block)
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{AnySamples, CsrMatrix, DenseMatrix, Vectors};
    use crate::similarity::{AnySimilarity, pairwise};

    fn rows(values: &[f32], n_cols: usize) -> AnySamples {
        let matrix = DenseMatrix { values: values.to_vec(), n_rows: values.len() / n_cols, n_cols };
        AnySamples::Vectors(Vectors::Dense(matrix))
    }

    #[test]
    fn columns_are_the_samples_own() {
        let features = AnySimilarity::new(&["features"]).unwrap();
        let samples = rows(&[1.0, -2.0, 0.0, 4.0, 0.5, 6.0], 3);
        let one = rows(&[7.0, 8.0, 9.0], 3);
        assert_eq!(pairwise(&features, &one, &samples).unwrap(), [1.0, -2.0, 0.0, 4.0, 0.5, 6.0]);
        let sparse = CsrMatrix { indptr: vec![0, 1, 2], indices: vec![1, 0], values: vec![5.0, 3.0], n_cols: 2 };
        let sparse = AnySamples::Vectors(Vectors::Sparse(sparse));
        assert_eq!(pairwise(&features, &one, &sparse).unwrap(), [0.0, 5.0, 0.0, 3.0, 0.0, 0.0]);
        let message = pairwise(&features, &one, &rows(&[1.0, 2.0], 2)).unwrap_err().to_string();
        assert!(message.contains('2') && message.contains('3'), "{message}");
    }
}
