//! The spectrum of a similarity: how far it is from being a kernel.

use std::sync::Arc;

use super::BasisExpansion;
use super::part_map::SymmetricPart;
use crate::data::{Samples, Source};
use crate::error::{Error, Result};
use crate::linalg::eigen;
use crate::monitor::{Monitor, Progress};
use crate::similarity::Similarity;

/// Maximum number of samples: the matrix S of similarities between all pairs is n × n, and a few copies are stored.
const MAX_SPECTRUM_SAMPLES: usize = 10_000;

/// Single-precision similarities that differ by less than this fraction of the largest are equal up to rounding.
const SYMMETRY_TOL: f64 = 1e-5;

/// Eigenvalues of one similarity on some samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// The spec of the similarity.
    pub similarity: String,
    /// Of the symmetric part (S + Sᵀ)/2, in descending order.
    pub symmetric: Vec<f64>,
    /// Of S itself, by descending real part: real and imaginary parts. Equal to those of the symmetric part if S is
    /// symmetric.
    pub raw: Vec<(f64, f64)>,
    /// The largest |S_ij − S_ji| over the largest |S_ij|: 0 for a symmetric similarity.
    pub asymmetry: f64,
    /// A bound on the effect of rounding on an eigenvalue: n ε max |S_ij|, where ε is that of single precision, in
    /// which similarities are computed. (A symmetric perturbation with entries of at most ε max |S_ij| has a norm of at
    /// most n times that.) Eigenvalues up to this size count as zero.
    pub rounding: f64,
}

/// How much of a spectrum is negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Negative {
    /// Fraction of the eigenvalues that are negative beyond [rounding](Spectrum::rounding) (NgRat of the paper).
    pub ratio: f64,
    /// Σ |negative eigenvalues| / Σ positive eigenvalues, ignoring those that are zero within rounding (NgEng).
    pub energy: f64,
}

impl Negative {
    fn of(values: impl Iterator<Item = f64> + Clone, rounding: f64) -> Self {
        let n = values.clone().count().max(1) as f64;
        let negative = values.clone().filter(|value| *value < -rounding);
        let below_0: f64 = negative.clone().map(f64::abs).sum();
        let above_0: f64 = values.filter(|value| *value > rounding).sum();
        // With negative eigenvalues only, the ratio is infinite.
        let energy = if below_0 > 0.0 { below_0 / above_0 } else { 0.0 };
        Negative { ratio: negative.count() as f64 / n, energy }
    }
}

impl Spectrum {
    /// For the symmetric part.
    pub fn negative(&self) -> Negative {
        Negative::of(self.symmetric.iter().copied(), self.rounding)
    }

    /// For the real parts of the eigenvalues of S itself.
    pub fn negative_raw(&self) -> Negative {
        Negative::of(self.raw.iter().map(|(re, _)| *re), self.rounding)
    }

    /// Number of eigenvalues of S with an imaginary part beyond [rounding](Spectrum::rounding).
    pub fn n_complex(&self) -> usize {
        self.raw.iter().filter(|(_, im)| im.abs() > self.rounding).count()
    }

    /// Whether the similarity is a kernel on these samples: symmetric, and without negative eigenvalues, within
    /// rounding.
    pub fn is_kernel(&self) -> bool {
        self.asymmetry < SYMMETRY_TOL && self.negative().ratio == 0.0
    }
}

/// The spectra of a fitted similarity, one per part, on these samples; about 10 n³ flops if it is not symmetric. The
/// monitor may cancel between chunks of samples and before each decomposition (time limits are ignored).
///
/// # Errors
/// Errors of the similarity; [`Error::Parameter`] for no samples or more than 10,000; [`Error::Cancelled`].
pub fn spectrum<S: Similarity>(
    similarity: Arc<S>,
    samples: &S::Samples,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<Vec<Spectrum>> {
    let n = samples.len();
    if n == 0 || n > MAX_SPECTRUM_SAMPLES {
        let expected = format!("from 1 to {MAX_SPECTRUM_SAMPLES}: the matrix of all pairs is stored and decomposed");
        return Err(Error::parameter("samples", n, expected));
    }
    let raw = BasisExpansion::raw(similarity.clone(), samples.clone())?;
    if raw.n_columns() != n {
        let problem = "a spectrum needs the similarities between the samples themselves";
        return Err(Error::similarity(similarity.spec(), problem));
    }
    let between = raw.transform_with(samples as &dyn Source<Samples = S::Samples>, threads, monitor)?;
    let n_parts = similarity.n_parts();
    (0..n_parts)
        .map(|part| {
            monitor.go_on("eigenvalues")?;
            monitor.tell(Progress { stage: "eigenvalues", done: part as u64, total: n_parts as u64, gap: None });
            let rows = between.values.chunks(between.n_cols);
            let matrix: Vec<f64> =
                rows.flat_map(|row| &row[part * n..(part + 1) * n]).map(|&value| f64::from(value)).collect();
            of_matrix(&matrix, n, similarity.part(part))
        })
        .collect()
}

fn of_matrix(matrix: &[f64], n: usize, similarity: String) -> Result<Spectrum> {
    let failed = || Error::similarity(similarity.clone(), "its eigenvalues could not be computed");
    let SymmetricPart { matrix: symmetric, largest, asymmetry } = SymmetricPart::of(n, |i, j| matrix[i * n + j]);
    let mut values = eigen::symmetric(symmetric.values(), n, false).ok_or_else(failed)?.values;
    values.reverse();
    let rounding = n as f64 * f64::from(f32::EPSILON) * largest;
    let raw = if asymmetry < SYMMETRY_TOL {
        values.iter().map(|&value| (value, 0.0)).collect()
    } else {
        let (re, im) = eigen::general(matrix, n).ok_or_else(failed)?;
        let mut raw: Vec<(f64, f64)> = re.into_iter().zip(im).collect();
        raw.sort_by(|a, b| b.0.total_cmp(&a.0));
        raw
    };
    Ok(Spectrum { similarity, symmetric: values, raw, asymmetry, rounding })
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
        assert!(!found.is_kernel());
    }

    #[test]
    fn rounding_of_a_kernel_is_not_negative() {
        // x·y of 300 points in the plane, rounded to single precision: 298 eigenvalues are zero but for rounding.
        let n = 300;
        let points: Vec<(f64, f64)> = (0..n).map(|i| ((0.37 * i as f64).sin(), (0.73 * i as f64).cos())).collect();
        let product = |i: usize, j: usize| points[i].0 * points[j].0 + points[i].1 * points[j].1;
        let single = |value: f64| f64::from(value as f32);
        let matrix: Vec<f64> = (0..n * n).map(|at| single(product(at / n, at % n))).collect();
        let found = of_matrix(&matrix, n, "linear".into()).unwrap();
        assert!(found.symmetric.iter().any(|value| *value < 0.0), "no rounding to distinguish");
        assert_eq!(found.negative(), Negative { ratio: 0.0, energy: 0.0 });
        assert!(found.is_kernel());
        // Eigenvalues that are negative by more than rounding count: here one is 1e-3 lower on one sample.
        let shifted: Vec<f64> =
            matrix.iter().enumerate().map(|(at, value)| if at == 0 { value - 1e-3 } else { *value }).collect();
        let found = of_matrix(&shifted, n, "shifted".into()).unwrap();
        assert_eq!((found.negative().ratio, found.is_kernel()), (1.0 / n as f64, false));
    }
}
