//! The features of a sample themselves, for a linear machine on them.

use super::Similarity;
use super::precomputed::fill;
use super::row::{Definite, Onnx, SimilarityRow, built};
use crate::data::Vectors;
use crate::error::Result;
use crate::spec::Step;

const FEATURES: SimilarityRow = SimilarityRow {
    name: "features",
    class: "Features",
    samples: &["vectors"],
    formula: "y itself: its features, on which the machine is linear",
    about: "It needs no bases; normalise it by mean-norm, z-score, covariance or none.",
    parameters: &[],
    examples: &["features"],
    definite: Definite::No,
    definition: None,
    onnx: Onnx::Expression("x"),
    build: |step| built(Features::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[FEATURES];

/// `features`: a column is a feature of the sample, whatever the bases.
///
/// `linear` with all samples as bases and a Nyström normalization is the same machine; which is cheaper depends on
/// whether there are fewer features or fewer samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features;

impl Features {
    /// The similarity of a step `features`, which has no parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a parameter, and
    /// [`Error::UnknownName`](crate::Error::UnknownName) for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
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

    fn brings_columns(&self) -> bool {
        true
    }

    fn compares(&self) -> bool {
        false
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        fill(bases, samples, "", block)
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{AnySamples, CsrMatrix, DenseMatrix, Labels, Vectors};
    use crate::expansion::Normalization;
    use crate::model::BasisExpansionParams;
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
        let told = pairwise(&features, &one, &rows(&[1.0, 2.0], 2)).unwrap_err().to_string();
        assert!(told.contains('2') && told.contains('3'), "{told}");
    }

    /// On features, and on all samples as bases of `linear`, it is one machine.
    #[test]
    fn is_the_linear_machine() {
        let (n, d) = (60, 4);
        let values: Vec<f32> = (0..n * d).map(|at| ((at * at * 37 + at * 11) % 101) as f32 / 50.0 - 1.0).collect();
        let labels = Labels::new((0..n).map(|row| i64::from(values[row * d] + 0.5 * values[row * d + 1] > 0.2)));
        let samples = rows(&values, d);
        let scores = |spec: &str, normalization: &str| {
            let normalization: Normalization = normalization.parse().unwrap();
            let params = BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap());
            let params = params.n_basis(n).normalization(normalization).c(1.0).tol(1e-8);
            params.fit(&samples, &labels).unwrap().decision_function(&samples, 1).unwrap().values().to_vec()
        };
        let (features, linear) = (scores("features", "none"), scores("linear", "nystrom-clip"));
        for (features, linear) in features.iter().zip(linear) {
            assert!((features - linear).abs() < 1e-3, "{features}, {linear}");
        }
    }

    #[test]
    fn what_it_cannot_be_is_refused() {
        let values: Vec<f32> = (0..16).map(|at| (at % 5) as f32).collect();
        let labels = Labels::new([0, 1, 0, 1]);
        // As many features as samples, which could be taken for similarities between them.
        for normalization in ["nystrom-clip", "centered-clip"] {
            let params = BasisExpansionParams::new(AnySimilarity::new(&["features"]).unwrap());
            let params = params.normalization(normalization.parse().unwrap());
            let told = params.fit(&rows(&values, 4), &labels).unwrap_err().to_string();
            assert!(told.contains("z-score") && told.contains("no similarities"), "{told}");
        }
        for specs in [&["features", "rbf"][..], &["features:weight=2"], &["features", "z-score/features"]] {
            let told = AnySimilarity::new(specs).unwrap_err().to_string();
            assert!(told.contains("stand alone"), "{told}");
        }
    }
}
