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

    /// Multiplies the weight of each row by the factor of its sample.
    pub(crate) fn weigh(&mut self, judged: &Judged) {
        let factors = judged.units.iter().zip(&judged.factors).filter(|(unit, _)| **unit > 0.0);
        self.weights.iter_mut().zip(factors).for_each(|(weight, (_, factor))| *weight *= factor);
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

/// The samples that leave-one-out judges.
pub(crate) struct Judged {
    /// The part of each weight that is removed; 0 for a sample that is not judged.
    pub units: Vec<f64>,
    /// How often each judged sample counts, as it stands for others that are not.
    pub factors: Vec<f64>,
}

/// Leave-one-out without bases: a basis is predicted from its similarity to itself, which no new sample has. The others
/// of its class stand for it. Where they are less than a quarter, too few for an estimate, bases are judged, and so are
/// independent draws of a content that remains without one of them (`is_draw`).
pub(crate) fn without_bases(
    (units, weights): (Vec<f64>, &[f64]),
    bases: &[usize],
    is_draw: impl Fn(usize) -> bool,
    class: impl Fn(usize) -> u32,
) -> Judged {
    // Of each class the number and the weight of samples that are no draws, and the same of those that are bases.
    let mut sizes: HashMap<u32, [(usize, f64); 2]> = HashMap::new();
    let mut add = |row: usize, which: usize| {
        let (n, weight) = &mut sizes.entry(class(row)).or_default()[which];
        (*n, *weight) = (*n + 1, *weight + weights[row]);
    };
    (0..units.len()).filter(|&row| !is_draw(row)).for_each(|row| add(row, 0));
    bases.iter().filter(|&&row| !is_draw(row)).for_each(|&row| add(row, 1));
    let factor = |row: usize| match sizes.get(&class(row)) {
        Some(&[(n, all), (n_bases, of_bases)]) if !is_draw(row) && 4 * n_bases <= 3 * n => all / (all - of_bases),
        _ => 1.0,
    };
    let mut judged = Judged { factors: (0..units.len()).map(factor).collect(), units };
    bases.iter().filter(|&&row| judged.factors[row] > 1.0).for_each(|&row| judged.units[row] = 0.0);
    judged
}

/// How many independent samples of weight `unit` a row of this weight stands for: at least 1.
pub(crate) fn count(weight: f64, unit: f64) -> f64 {
    (weight / unit.max(f64::MIN_POSITIVE)).round().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_samples_represent_the_bases_of_their_class() {
        // Class 0: a draw that is a basis, a basis, and three others of weights 1, 1, 2. Class 1: two bases of two.
        let weights = [5.0, 4.0, 1.0, 1.0, 2.0, 1.0, 3.0];
        let units = vec![1.0, 4.0, 1.0, 1.0, 2.0, 1.0, 3.0];
        let class = |row: usize| u32::from(row > 4);
        let judged = without_bases((units, &weights), &[0, 1, 5, 6], |row| row == 0, class);
        assert_eq!(judged.units, [1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 3.0]);
        assert_eq!(judged.factors, [1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]);
        let mut scores = HeldOutScores::of_problems(&[vec![0.0; 7]], &[0, 0, 0, 0, 0, 1, 1], &weights, &judged.units);
        scores.weigh(&judged);
        assert_eq!(scores.weights, [5.0, 2.0, 2.0, 4.0, 1.0, 3.0]);
    }
}
