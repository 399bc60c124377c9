//! Decision values of samples that a fit did not see: what probabilities are calibrated on.

use serde::{Deserialize, Serialize};

/// Decision values of samples that a fit did not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnseenScores {
    /// Samples × problems, row-major.
    pub values: Vec<f64>,
    /// The class of each sample.
    pub codes: Vec<u32>,
    /// Effective weights.
    pub weights: Vec<f64>,
    /// How many independent samples each row stands for.
    pub counts: Vec<f64>,
}

impl UnseenScores {
    /// Of all samples, of which each problem has its values; none if one of them has not. `units` are the weights of
    /// independent samples, of which a row may stand for several; rows without one were not left out.
    pub(crate) fn of_problems(values: &[Vec<f64>], codes: &[u32], weights: &[f64], units: &[f64]) -> Self {
        let mut found = UnseenScores::default();
        let complete = values.iter().all(|values| values.len() == codes.len()) && !values.is_empty();
        if complete {
            for row in (0..codes.len()).filter(|&row| units[row] > 0.0) {
                let of_row = values.iter().map(|values| values[row]);
                found.push(of_row, codes[row], weights[row], count(weights[row], units[row]));
            }
        }
        found
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, values: impl IntoIterator<Item = f64>, code: u32, weight: f64, count: f64) {
        self.values.extend(values);
        self.codes.push(code);
        self.weights.push(weight);
        self.counts.push(count);
    }

    /// Adds those of other samples.
    pub fn extend(&mut self, other: UnseenScores) {
        self.values.extend(other.values);
        self.codes.extend(other.codes);
        self.weights.extend(other.weights);
        self.counts.extend(other.counts);
    }
}

/// How many independent samples of weight `unit` a row of this weight stands for: at least 1.
pub(crate) fn count(weight: f64, unit: f64) -> f64 {
    (weight / unit.max(f64::MIN_POSITIVE)).round().max(1.0)
}
