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
}

impl UnseenScores {
    /// Of all samples, of which each problem has its values; none if one of them has not.
    pub(crate) fn of_problems(values: &[Vec<f64>], codes: &[u32], weights: &[f64]) -> Self {
        let of_row = |row: usize| values.iter().map(move |values| values[row]);
        let complete = values.iter().all(|values| values.len() == codes.len()) && !values.is_empty();
        let values = if complete { (0..codes.len()).flat_map(of_row).collect() } else { Vec::new() };
        let n = if complete { codes.len() } else { 0 };
        UnseenScores { values, codes: codes[..n].to_vec(), weights: weights[..n].to_vec() }
    }

    /// Adds those of other samples.
    pub fn extend(&mut self, other: UnseenScores) {
        self.values.extend(other.values);
        self.codes.extend(other.codes);
        self.weights.extend(other.weights);
    }
}
