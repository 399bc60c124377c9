//! Which samples are held out of a refit.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::held_out_scores::count;
use crate::data::Labels;
use crate::tuning::MAX_HELD_OUT;

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
}
