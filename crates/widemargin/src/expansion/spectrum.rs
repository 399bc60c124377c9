//! The spectrum of a similarity: how far it is from being a kernel.

use super::BasisExpansion;
use crate::data::{Samples, Source};
use crate::error::{Error, Result};
use crate::linalg::eigen;
use crate::similarity::Similarity;
use crate::watch::{Progress, Watch};

/// The matrix S of similarities between all pairs of some samples is n × n, of which a few copies are held.
const MOST_SAMPLES: usize = 10_000;

/// Eigenvalues of one similarity on some samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// The spec of the similarity.
    pub similarity: String,
    /// Of the symmetric part (S + Sᵀ)/2, falling.
    pub symmetric: Vec<f64>,
    /// Of S itself, by falling real part: real and imaginary parts. The same as those of the symmetric part where S is
    /// symmetric.
    pub raw: Vec<(f64, f64)>,
    /// The largest |S_ij − S_ji| over the largest |S_ij|: 0 for a symmetric similarity.
    pub asymmetry: f64,
}

/// How much of a spectrum is negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Negative {
    /// Share of the eigenvalues that are negative (NgRat of the paper).
    pub ratio: f64,
    /// Σ |negative eigenvalues| / Σ positive eigenvalues (NgEng).
    pub energy: f64,
}

impl Negative {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count().max(1) as f64;
        // What rounding leaves of a 0 is not negative.
        let cut = 1e-10 * values.clone().map(f64::abs).fold(0.0, f64::max);
        let negative = values.clone().filter(|value| *value < -cut);
        let lost: f64 = negative.clone().map(f64::abs).sum();
        let kept: f64 = values.filter(|value| *value > 0.0).sum();
        // Nothing but negative eigenvalues has an infinite share.
        let energy = if lost > 0.0 { lost / kept } else { 0.0 };
        Negative { ratio: negative.count() as f64 / n, energy }
    }
}

impl Spectrum {
    /// Of the symmetric part.
    pub fn negative(&self) -> Negative {
        Negative::of(self.symmetric.iter().copied())
    }

    /// Of the real parts of the eigenvalues of S itself.
    pub fn negative_raw(&self) -> Negative {
        Negative::of(self.raw.iter().map(|(re, _)| *re))
    }

    /// Eigenvalues of S with an imaginary part.
    pub fn n_complex(&self) -> usize {
        let cut = 1e-10 * self.raw.iter().map(|(re, im)| re.hypot(*im)).fold(0.0, f64::max);
        self.raw.iter().filter(|(_, im)| im.abs() > cut).count()
    }
}

/// The spectra of a fitted similarity, one a part, on the given samples; about 10 n³ flops where it is not symmetric.
///
/// # Errors
/// What the similarity meets; [`Error::Parameter`] for no sample or more than 10,000.
pub fn spectrum<S: Similarity>(similarity: &S, samples: &S::Samples, threads: usize) -> Result<Vec<Spectrum>> {
    spectrum_with(similarity, samples, threads, &Watch::none())
}

/// The same with a watch, which may cancel between chunks of samples and before each decomposition (a time limit is
/// not heard).
///
/// # Errors
/// As for [`spectrum`]; [`Error::Cancelled`].
pub fn spectrum_with<S: Similarity>(
    similarity: &S,
    samples: &S::Samples,
    threads: usize,
    watch: &Watch<'_>,
) -> Result<Vec<Spectrum>> {
    let n = samples.len();
    if n == 0 || n > MOST_SAMPLES {
        let expected = format!("from 1 to {MOST_SAMPLES}: the matrix of all pairs is held and decomposed");
        return Err(Error::Parameter { name: "samples", value: n.to_string(), expected });
    }
    let raw = BasisExpansion::raw(similarity, samples.clone())?;
    if raw.n_columns() != n {
        let problem = "a spectrum needs the similarities between the samples themselves".into();
        return Err(Error::Similarity { similarity: similarity.spec(), problem });
    }
    let between = raw.transform_with(samples as &dyn Source<Samples = S::Samples>, threads, watch)?;
    let n_parts = similarity.n_parts();
    (0..n_parts)
        .map(|part| {
            watch.go_on("eigenvalues")?;
            watch.tell(Progress { stage: "eigenvalues", done: part as u64, total: n_parts as u64, gap: None });
            let rows = between.values.chunks(between.n_cols);
            let matrix: Vec<f64> =
                rows.flat_map(|row| &row[part * n..(part + 1) * n]).map(|&value| f64::from(value)).collect();
            of_matrix(&matrix, n, similarity.part(part))
        })
        .collect()
}

fn of_matrix(matrix: &[f64], n: usize, similarity: String) -> Result<Spectrum> {
    let failed = || Error::Similarity {
        similarity: similarity.clone(),
        problem: "its eigenvalues could not be computed".into(),
    };
    let largest = matrix.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    let mut symmetric = vec![0.0; n * n];
    let mut difference = 0.0f64;
    for i in 0..n {
        for j in 0..=i {
            let (a, b) = (matrix[i * n + j], matrix[j * n + i]);
            difference = difference.max((a - b).abs());
            (symmetric[i * n + j], symmetric[j * n + i]) = (0.5 * (a + b), 0.5 * (a + b));
        }
    }
    let asymmetry = if largest > 0.0 { difference / largest } else { 0.0 };
    let mut values = eigen::symmetric(&symmetric, n, false).ok_or_else(failed)?.values;
    values.reverse();
    // Single precision similarities that differ by rounding are equal.
    let raw = if asymmetry < 1e-5 {
        values.iter().map(|&value| (value, 0.0)).collect()
    } else {
        let (re, im) = eigen::general(matrix, n).ok_or_else(failed)?;
        let mut raw: Vec<(f64, f64)> = re.into_iter().zip(im).collect();
        raw.sort_by(|a, b| b.0.total_cmp(&a.0));
        raw
    };
    Ok(Spectrum { similarity, symmetric: values, raw, asymmetry })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_spectra() {
        // Eigenvalues 3 and −1.
        let found = of_matrix(&[1.0, 2.0, 2.0, 1.0], 2, "a".into()).unwrap();
        assert_eq!(found.negative().ratio, 0.5);
        assert!((found.negative().energy - 1.0 / 3.0).abs() < 1e-12 && found.n_complex() == 0);
        // A rotation has none but complex ones, its symmetric part is 0.
        let found = of_matrix(&[0.0, -1.0, 1.0, 0.0], 2, "b".into()).unwrap();
        assert_eq!((found.n_complex(), found.negative().ratio, found.asymmetry), (2, 0.0, 2.0));
    }
}
