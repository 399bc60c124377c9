//! Scores of probabilities, as defined by scikit-learn; lower is better.

use crate::error::{Error, Result};

/// The mean of −ln p over the samples, p the probability of the class that the sample has, at least the smallest step
/// of double precision above 0. `codes` are the classes, `probabilities` samples × `n_classes`.
///
/// # Errors
/// As for [`brier_score`].
pub fn log_loss(codes: &[u32], n_classes: usize, probabilities: &[f64], weights: Option<&[f64]>) -> Result<f64> {
    let of = |code: usize, row: &[f64]| -row[code].clamp(f64::EPSILON, 1.0 - f64::EPSILON).ln();
    mean_over("neg-log-loss", (codes, n_classes, probabilities, weights), of)
}

/// The mean of Σ (p_k − y_k)² over the samples, where y_k is 1 for the class of the sample and 0 otherwise; for two
/// classes half of that, (p − y)².
///
/// # Errors
/// [`Error::Shape`] for arrays that are inconsistent; [`Error::Score`] without samples or weight, and for values that
/// are not probabilities: below 0, above 1, or not summing to 1.
pub fn brier_score(codes: &[u32], n_classes: usize, probabilities: &[f64], weights: Option<&[f64]>) -> Result<f64> {
    let scale = if n_classes == 2 { 0.5 } else { 1.0 };
    let of = |code: usize, row: &[f64]| {
        let one = |(class, p): (usize, &f64)| (p - f64::from(u8::from(class == code))).powi(2);
        scale * row.iter().enumerate().map(one).sum::<f64>()
    };
    mean_over("neg-brier-score", (codes, n_classes, probabilities, weights), of)
}

/// The classes, their number, the probabilities and the weights.
type Rated<'a> = (&'a [u32], usize, &'a [f64], Option<&'a [f64]>);

/// The weighted mean of a function of each sample's class and probabilities.
fn mean_over(name: &str, rated: Rated<'_>, of: impl Fn(usize, &[f64]) -> f64) -> Result<f64> {
    let (codes, n_classes, probabilities, weights) = rated;
    let n = codes.len();
    let is_known = codes.iter().all(|&code| (code as usize) < n_classes);
    if probabilities.len() != n * n_classes || weights.is_some_and(|weights| weights.len() != n) || !is_known {
        let found = format!("{} probabilities", probabilities.len());
        return Err(Error::shape("probabilities", found, format!("{n_classes} for each of {n} classes and weights")));
    }
    let undefined = |problem: String| Error::Score { scoring: name.to_owned(), problem };
    let (mut sum, mut total) = (0.0, 0.0);
    for (row, (&code, p)) in codes.iter().zip(probabilities.chunks_exact(n_classes.max(1))).enumerate() {
        if let Some(wrong) = p.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(undefined(format!("{wrong} in row {row} (from 0) is no probability")));
        }
        let whole: f64 = p.iter().sum();
        // The rounding of single precision.
        if (whole - 1.0).abs() > 1e-5 {
            return Err(undefined(format!("the probabilities of row {row} (from 0) sum to {whole}, not to 1")));
        }
        let weight = weights.map_or(1.0, |weights| weights[row]);
        sum += weight * of(code as usize, p);
        total += weight;
    }
    if total > 0.0 { Ok(sum / total) } else { Err(undefined("there are no samples, or none with a weight".into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_scikit_learn() {
        let p = [0.9, 0.1, 0.25, 0.75, 1.0, 0.0];
        // `log_loss` and `brier_score_loss` of scikit-learn 1.9.1.
        let close = |found: Result<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 1e-14);
        close(log_loss(&[0, 1, 0], 2, &p, None), -(0.9f64.ln() + 0.75f64.ln()) / 3.0);
        close(log_loss(&[0, 1, 1], 2, &p, Some(&[0.0, 0.0, 2.0])), -f64::EPSILON.ln());
        close(brier_score(&[0, 1, 1], 2, &p, Some(&[1.0, 3.0, 1.0])), (0.01 + 3.0 * 0.0625 + 1.0) / 5.0);
        close(brier_score(&[2], 3, &[0.5, 0.25, 0.25], None), 0.25 + 0.0625 + 0.5625);
    }

    #[test]
    fn rejects_values_that_are_not_probabilities() {
        let refused = |p: &[f64]| log_loss(&[0, 1], 2, p, None).unwrap_err().to_string();
        assert!(refused(&[0.5, 0.5, 1.5, -0.5]).contains("1.5 in row 1 (from 0) is no probability"));
        assert!(refused(&[0.5, 0.5, 0.5, 0.25]).contains("row 1 (from 0) sum to 0.75"));
        assert!(refused(&[0.5, 0.5, f64::NAN, 0.5]).contains("no probability"));
        assert!(refused(&[0.5]).contains("1 probabilities"));
        assert!(brier_score(&[0], 2, &[1.0, 0.0], Some(&[0.0])).unwrap_err().to_string().contains("weight"));
        assert!(brier_score(&[], 2, &[], None).is_err());
    }
}
