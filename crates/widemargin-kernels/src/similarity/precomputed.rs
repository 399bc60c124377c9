//! Precomputed similarities or distances: a sample is its row of values, a column is a basis.

use super::exponential::exponentials;
use super::row::{Definite, Onnx, SimilarityRow, built};
use super::{Metadata, Similarity};
use crate::data::{Rows, Samples, Training, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;
use crate::tuning::GAMMA_ROWS;

pub(super) const PRECOMPUTED: SimilarityRow = SimilarityRow {
    name: "precomputed",
    class: "Precomputed",
    samples: &["vectors"],
    parameters: &[
        Parameter::new(
            "distance",
            Values::Words(&["none", "negative", "squared", "exp"]),
            "Transformation of distances: −d, −d² or exp(−gamma d); `none` for similarities.",
        )
        .or("none"),
        Parameter::new("gamma", Values::POSITIVE, "The gamma of `exp`; by default 1 / mean distance.").optional(),
        Parameter::new(
            "polynomials",
            Values::Whole(0, 10_000),
            "The number of columns at the end with values of polynomials, for the normalization `centered`.",
        )
        .or("0"),
    ],
    examples: &[],
    definite: Definite::No,
    onnx: Onnx::Expression("x"),
    build: |step| built(Precomputed::from_step(step)),
};

/// The values of a row, and the transformation of distances.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Content {
    Similarities,
    /// −d.
    Negative,
    /// −d².
    Squared,
    /// exp(−gamma d).
    Exponential {
        gamma: Option<f64>,
    },
}

/// `precomputed`: samples are rows of similarities or distances to the bases, which it does not need; every column is a
/// basis, except for columns of polynomials at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Precomputed {
    content: Content,
    n_polynomials: usize,
    step: Step,
}

impl Precomputed {
    /// The similarity of a step `precomputed`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`].
    pub(crate) fn from_step(step: &Step) -> Result<Self> {
        let arguments = PRECOMPUTED.arguments(step)?;
        let gamma = arguments.get("gamma")?;
        let content = match arguments.text("distance") {
            Some("negative") => Content::Negative,
            Some("squared") => Content::Squared,
            Some("exp") => Content::Exponential { gamma },
            _ => Content::Similarities,
        };
        if gamma.is_some() && !matches!(content, Content::Exponential { .. }) {
            return Err(arguments.wrong("gamma", "no gamma but with distance=exp".into()));
        }
        let n_polynomials = arguments.value("polynomials")?;
        Ok(Precomputed { content, n_polynomials, step: step.clone() })
    }

    /// Rejects values that are not distances.
    fn check_distances(&self, samples: &Vectors, n_distances: usize) -> Result<()> {
        let is_wrong = |column, value| value < 0.0 && column < n_distances;
        let Some((number, column, value)) = samples.find(is_wrong) else { return Ok(()) };
        let problem = format!(
            "has {value} in column {column}, which is no distance: distances are at least 0 (without distance=… the \
             values are similarities)"
        );
        Err(Error::Sample { similarity: self.spec(), is_basis: false, number, problem })
    }
}

impl Similarity for Precomputed {
    type Samples = Vectors;

    fn spec(&self) -> String {
        self.step.to_string()
    }

    fn fit(&mut self, training: &Training<'_, Vectors>) -> Result<()> {
        if self.content != (Content::Exponential { gamma: None }) {
            return Ok(());
        }
        let n = training.samples.n_samples();
        let some: Vec<usize> = (0..n.min(GAMMA_ROWS)).map(|i| i * n / n.min(GAMMA_ROWS)).collect();
        let rows = training.samples.select(&some)?;
        let (mut sum, mut total) = (0.0, 0.0);
        let n_distances = rows.n_cols().saturating_sub(self.n_polynomials);
        let rows = rows.dense()?;
        for (&at, row) in some.iter().zip(rows.values.chunks(rows.n_cols.max(1))) {
            sum += training.weights[at] * row[..n_distances].iter().map(|d| f64::from(*d)).sum::<f64>();
            total += training.weights[at] * n_distances as f64;
        }
        let mean = sum / total;
        if !(mean > 0.0 && mean.is_finite()) {
            let problem = format!("gamma cannot be learned: the mean distance is {mean}, give gamma");
            return Err(Error::similarity(self.spec(), problem));
        }
        self.content = Content::Exponential { gamma: Some(1.0 / mean) };
        self.step.set("gamma", 1.0 / mean);
        Ok(())
    }

    fn n_columns(&self, bases: &Vectors) -> usize {
        bases.n_cols()
    }

    fn metadata(&self) -> Metadata {
        Metadata { n_polynomials: self.n_polynomials, brings_columns: true, ..Metadata::default() }
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        let trained = bases.n_cols();
        if self.n_polynomials >= trained {
            let expected = format!("fewer than the {trained} columns of the samples");
            return Err(Error::parameter("polynomials", self.n_polynomials, expected));
        }
        fill(bases, samples, ": a precomputed row has one similarity a basis, in their order", block)?;
        if self.content == Content::Similarities {
            return Ok(());
        }
        let n_distances = trained - self.n_polynomials;
        self.check_distances(samples, n_distances)?;
        for row in block.chunks_mut(trained) {
            let distances = &mut row[..n_distances];
            match self.content {
                Content::Similarities => {}
                Content::Negative => distances.iter_mut().for_each(|d| *d = -*d),
                Content::Squared => distances.iter_mut().for_each(|d| *d = -*d * *d),
                Content::Exponential { gamma } => exponentials(-gamma.unwrap_or(1.0) as f32, distances),
            }
        }
        Ok(())
    }
}

/// Fills `block`, row-major, with the rows of the samples, which have the columns of the bases; sparse ones may have
/// fewer.
///
/// # Errors
/// [`Error::FeatureCount`] with this hint.
pub(super) fn fill(bases: &Vectors, samples: &Vectors, hint: &'static str, block: &mut [f32]) -> Result<()> {
    let (trained, found) = (bases.n_cols(), samples.n_cols());
    if found != trained && !(found < trained && matches!(samples, Vectors::Sparse(_))) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseMatrix;
    use crate::monitor::Monitor;
    use crate::similarity::{AnySimilarity, pairwise};

    fn rows(values: &[f32], n_cols: usize) -> crate::data::AnySamples {
        let matrix = DenseMatrix { values: values.to_vec(), n_rows: values.len() / n_cols, n_cols };
        crate::data::AnySamples::Vectors(Vectors::Dense(matrix))
    }

    #[test]
    fn distances_become_similarities() {
        let distances = rows(&[0.0, 1.0, 3.0, 1.0, 0.0, 7.0], 3);
        for (spec, expected) in [
            ("precomputed", [0.0, 1.0, 3.0, 1.0, 0.0, 7.0]),
            ("precomputed:distance=negative", [0.0, -1.0, -3.0, -1.0, 0.0, -7.0]),
            ("precomputed:distance=squared", [0.0, -1.0, -9.0, -1.0, 0.0, -49.0]),
            ("precomputed:distance=negative,polynomials=1", [0.0, -1.0, 3.0, -1.0, 0.0, 7.0]),
            (
                "precomputed:distance=exp,gamma=0.5",
                [1.0, (-0.5f32).exp(), (-1.5f32).exp(), (-0.5f32).exp(), 1.0, (-3.5f32).exp()],
            ),
        ] {
            let similarity = AnySimilarity::new(&[spec]).unwrap();
            let block = pairwise(&similarity, &distances, &distances).unwrap();
            for (found, expected) in block.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{spec}: {block:?}");
            }
        }
    }

    #[test]
    fn gamma_is_one_over_the_mean_distance() {
        let distances = rows(&[0.0, 1.0, 3.0, 1.0, 0.0, 7.0], 3);
        let mut similarity = AnySimilarity::new(&["precomputed:distance=exp"]).unwrap();
        let training = Training { samples: &distances, weights: &[1.0, 1.0], threads: 1, monitor: &Monitor::none() };
        similarity.fit(&training).unwrap();
        assert_eq!(similarity.spec(), "precomputed:distance=exp,gamma=0.5");
    }

    #[test]
    fn rejects_values_that_are_not_distances() {
        let similarity = AnySimilarity::new(&["precomputed:distance=negative"]).unwrap();
        let error = pairwise(&similarity, &rows(&[0.0, 1.0], 2), &rows(&[0.0, 1.0, 2.0, -0.5], 2)).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("-0.5") && message.contains("is no distance") && message.contains("sample 1"),
            "{message}"
        );
        assert!(AnySimilarity::new(&["precomputed:gamma=1"]).unwrap_err().to_string().contains("distance=exp"));
    }
}
