//! Which samples are held out of a refit, and decision values of samples that were not part of the fit, on which
//! probabilities are calibrated.

use std::collections::HashMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::data::Labels;
use crate::tuning::MAX_HELD_OUT;

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

/// Samples that are held out: rows in ascending order, each with the share of its weight that is held out.
#[derive(Clone, Debug)]
pub(crate) struct HeldOutRows(Vec<(usize, f64)>);

impl HeldOutRows {
    /// Disjoint random sets of about `size` samples each, in which every class has its share, as in the population. Of
    /// each class rows that are to be `spared`, the bases, come last. A row may stand for several independent samples,
    /// which are held out one by one: `units` are the weights of single ones.
    pub fn sets(
        labels: &Labels,
        (weights, units): (&[f64], &[f64]),
        spared: impl Fn(usize) -> bool,
        (size, n_sets): (usize, usize),
        seed: u64,
    ) -> Vec<Self> {
        let (codes, n_classes) = labels.strata();
        let mut by_class: Vec<Vec<usize>> = vec![Vec::new(); n_classes];
        for row in (0..weights.len()).filter(|&row| weights[row] > 0.0) {
            by_class[codes[row] as usize].extend(std::iter::repeat_n(row, n_of_row(weights[row], units[row])));
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(1));
        for rows in &mut by_class {
            rows.shuffle(&mut rng);
            // The next to be drawn are at the end.
            rows.sort_by_key(|&row| !spared(row));
        }
        let n: usize = by_class.iter().map(Vec::len).sum();
        let shares: Vec<f64> = by_class.iter().map(|rows| (rows.len() * size) as f64 / n.max(1) as f64).collect();
        let mut draw = || {
            let mut held_out = Vec::with_capacity(size + n_classes);
            for (rows, share) in by_class.iter_mut().zip(&shares) {
                // Rounded at random, so that rare classes have their share on average.
                let n_drawn = share.floor() as usize + usize::from(rng.random::<f64>() < share.fract());
                held_out.extend(rows.split_off(rows.len().saturating_sub(n_drawn)));
            }
            held_out.sort_unstable();
            let share =
                |same: &[usize]| (same[0], same.len() as f64 / n_of_row(weights[same[0]], units[same[0]]) as f64);
            HeldOutRows(held_out.chunk_by(|a, b| a == b).map(share).collect())
        };
        (0..n_sets).map(|_| draw()).filter(|set| !set.0.is_empty()).collect()
    }

    /// These rows, each held out completely.
    #[cfg(test)]
    pub fn whole(rows: impl IntoIterator<Item = usize>) -> Self {
        HeldOutRows(rows.into_iter().map(|row| (row, 1.0)).collect())
    }

    /// How many rows they are of.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The rows, each with the share of its weight.
    pub fn shares(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0.iter().copied()
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|(row, _)| *row)
    }

    /// The rows that are held out completely.
    pub fn whole_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter(|(_, share)| *share >= 1.0).map(|(row, _)| *row)
    }

    /// The costs of the others.
    pub fn rest(&self, mut costs: Vec<f64>) -> Vec<f64> {
        for &(row, share) in &self.0 {
            costs[row] = if share < 1.0 { costs[row] * (1.0 - share) } else { 0.0 };
        }
        costs
    }
}

/// How many independent samples there are from which sets are drawn.
pub(crate) fn n_independent(weights: &[f64], units: &[f64]) -> usize {
    let present = weights.iter().zip(units).filter(|(weight, _)| **weight > 0.0);
    present.map(|(weight, unit)| n_of_row(*weight, *unit)).sum()
}

fn n_of_row(weight: f64, unit: f64) -> usize {
    (count(weight, unit) as usize).min(MAX_HELD_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_disjoint_and_have_the_classes_of_the_population() {
        let labels = Labels::new((0..4000).map(|i| i64::from(i % 10 == 0)));
        let ones = &vec![1.0; 4000][..];
        // All but 40 of the rare class are bases.
        let is_basis = |row: usize| row.is_multiple_of(10) && row >= 400;
        let sets = HeldOutRows::sets(&labels, (ones, ones), is_basis, (400, 3), 7);
        let mut drawn = vec![false; 4000];
        for (at, set) in sets.iter().enumerate() {
            assert!((398..=402).contains(&set.len()));
            let rare: Vec<usize> = set.rows().filter(|row| row.is_multiple_of(10)).collect();
            assert_eq!(rare.len(), 40);
            // Bases are held out only when there are no others left.
            assert_eq!(rare.iter().filter(|row| is_basis(**row)).count(), if at == 0 { 0 } else { 40 });
            set.shares().for_each(|(row, share)| {
                assert!(!std::mem::replace(&mut drawn[row], true) && share == 1.0);
            });
        }
    }

    #[test]
    fn classes_of_one_sample_are_held_out_as_often_as_others() {
        let labels = Labels::new((0..300).map(|i| i64::from(i / 2)));
        let ones = &vec![1.0; 300][..];
        let n = |seed| HeldOutRows::sets(&labels, (ones, ones), |_| false, (30, 1), seed)[0].len();
        let n: usize = (0..40).map(n).sum();
        assert!((1100..1300).contains(&n), "{n} of 1200");
    }

    #[test]
    fn independent_copies_are_held_out_in_part() {
        let labels = Labels::new([0, 1]);
        let (weights, units) = ([60.0, 40.0], [1.0, 1.0]);
        let set = &HeldOutRows::sets(&labels, (&weights, &units), |_| false, (10, 1), 3)[0];
        let rest = set.rest(weights.to_vec());
        assert!((rest[0] - 54.0).abs() < 1e-9 && (rest[1] - 36.0).abs() < 1e-9, "{rest:?}");
        assert_eq!((n_independent(&weights, &units), n_independent(&weights, &weights)), (100, 2));
        // A weight that is no number of copies is held out whole.
        let sets = HeldOutRows::sets(&labels, (&weights, &weights), |_| false, (1, 2), 3);
        assert!(sets.iter().all(|set| set.shares().all(|(_, share)| share == 1.0)));
    }

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
