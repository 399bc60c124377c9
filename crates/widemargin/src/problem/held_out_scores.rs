//! Decision values of samples that were not part of the fit, on which probabilities are calibrated.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Decision values of samples that were not part of the fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOutScores {
    /// Samples × problems, row-major.
    pub values: Vec<f64>,
    /// The class of each sample.
    pub codes: Vec<u32>,
    /// Effective weights.
    pub weights: Vec<f64>,
    /// How many independent samples each row stands for.
    pub counts: Vec<f64>,
}

impl HeldOutScores {
    /// The scores of all samples, or of none if the values of a problem are missing. `units` are the weights of single
    /// samples, since a row may stand for several; rows with a unit of 0 were not left out.
    pub(crate) fn of_problems(values: &[Vec<f64>], codes: &[u32], weights: &[f64], units: &[f64]) -> Self {
        let mut found = HeldOutScores::default();
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
    pub fn extend(&mut self, other: HeldOutScores) {
        self.values.extend(other.values);
        self.codes.extend(other.codes);
        self.weights.extend(other.weights);
        self.counts.extend(other.counts);
    }
}

/// The weight of a typical sample: the mean where all weights are below 1 or all are above 1, and 1 otherwise. The search
/// for C scales 1/C by it. `units` are the weights of single samples; 0 where there is none.
pub(crate) fn typical_weight(units: &[f64]) -> f64 {
    let present = || units.iter().copied().filter(|unit| *unit > 0.0);
    let (least, most) = present().fold((f64::INFINITY, 0.0f64), |(a, b), unit| (a.min(unit), b.max(unit)));
    let n = present().count() as f64;
    if n > 0.0 && (least > 1.0 || most < 1.0) { present().map(|unit| unit / n).sum() } else { 1.0 }
}

/// The part of each weight that leave-one-out removes, 0 for a sample that is a basis: it is predicted from its
/// similarity to itself, which no new sample has. Where less than a quarter of the samples of a class are no bases, too
/// few for an estimate, the bases of the class count.
pub(crate) fn units_of_others(units: &[f64], bases: &[usize], class: impl Fn(usize) -> u32) -> Vec<f64> {
    let mut sizes: HashMap<u32, [usize; 2]> = HashMap::new();
    (0..units.len()).for_each(|row| sizes.entry(class(row)).or_default()[0] += 1);
    bases.iter().for_each(|&row| sizes.entry(class(row)).or_default()[1] += 1);
    let mut units = units.to_vec();
    for &row in bases {
        let [n, n_bases] = sizes[&class(row)];
        if 4 * n_bases <= 3 * n {
            units[row] = 0.0;
        }
    }
    units
}

/// How many independent samples of weight `unit` a row of this weight stands for: at least 1.
pub(crate) fn count(weight: f64, unit: f64) -> f64 {
    (weight / unit.max(f64::MIN_POSITIVE)).round().max(1.0)
}
