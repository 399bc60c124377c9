//! Decision values of samples that refits at the same C do not see: they estimate the error and calibrate probabilities
//! where leave-one-out on all samples has not.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::choose_c::LabeledSamples;
use super::solver::Solver;
use crate::data::Vectors;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::HeldOutScores;
use crate::problem::{Block, OneVsRest, Penalty, count};
use crate::tuning::{
    COMPARISON_TOL, HELD_OUT_VALUES, MAX_HELD_OUT, MAX_REFITS, SLOW_COMPARISON_TOL, SLOW_HELD_OUT_VALUES,
};

/// How many of `n` samples of `k` classes are held out of a fit: each of few classes has one at least.
pub(super) fn n_held_out(n: usize, k: usize) -> usize {
    MAX_HELD_OUT.min(n / 10).max((2 * k).min(n / 2))
}

/// Held-out samples: rows, each with the share of its weight that is held out.
pub(super) struct HeldOut(Vec<(usize, f64)>);

impl HeldOut {
    /// Disjoint random sets of about `size` samples each, in which every class has its share, as in the population. Of
    /// each class rows that are to be `spared`, the bases, come last. A row may stand for several independent samples,
    /// which are held out one by one.
    pub fn sets(
        samples: LabeledSamples<'_>,
        spared: impl Fn(usize) -> bool,
        (size, n_sets): (usize, usize),
        seed: u64,
    ) -> Vec<Self> {
        let LabeledSamples { labels, weights, units } = samples;
        let n_copies = |row: usize| (count(weights[row], units[row]) as usize).min(MAX_HELD_OUT);
        let (codes, n_classes) = labels.strata();
        let mut by_class: Vec<Vec<usize>> = vec![Vec::new(); n_classes];
        for row in (0..weights.len()).filter(|&row| weights[row] > 0.0) {
            by_class[codes[row] as usize].extend(std::iter::repeat_n(row, n_copies(row)));
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
            let share = |same: &[usize]| (same[0], same.len() as f64 / n_copies(same[0]) as f64);
            HeldOut(held_out.chunk_by(|a, b| a == b).map(share).collect())
        };
        (0..n_sets).map(|_| draw()).filter(|set| !set.0.is_empty()).collect()
    }

    /// How many rows they are of.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The costs of the others.
    pub fn rest(&self, mut costs: Vec<f64>) -> Vec<f64> {
        for &(row, share) in &self.0 {
            costs[row] = if share < 1.0 { costs[row] * (1.0 - share) } else { 0.0 };
        }
        costs
    }

    /// The rows that are held out completely.
    fn whole_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter(|(_, share)| *share >= 1.0).map(|(row, _)| *row)
    }
}

/// The fit on all samples.
pub(super) struct FitOnAll<'a> {
    pub phi: &'a Vectors,
    pub samples: LabeledSamples<'a>,
    /// C times their weights.
    pub costs: &'a [f64],
    /// For each row of φ the features that compare with it, if it is a basis: a sample's similarity to itself is not
    /// that of a new sample, so that these are excluded with it.
    pub own_features: &'a dyn Fn(usize) -> Vec<usize>,
    /// Rows that are bases.
    pub is_basis: &'a dyn Fn(usize) -> bool,
}

/// Whether a solver takes few passes.
fn is_quick(solver: &Solver) -> bool {
    solver.loss.is_smooth() && solver.penalty == Penalty::L2
}

/// Decision values of samples held out of refits: of one for many samples, of up to ten for few, each without a tenth.
/// Where bases must be held out, the features that compare with them are too. Fewer, or none, if time is up. A refit
/// starts at 0: at a small C the gap is small at the solution on all already, whose weights know the samples.
///
/// # Errors
/// As for the fit on all samples.
pub(super) fn held_out_scores(
    all: &FitOnAll<'_>,
    solver: &Solver,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<HeldOutScores> {
    let FitOnAll { phi, samples, costs, own_features, is_basis } = all;
    let mut scores = HeldOutScores::default();
    let (tol, wanted) =
        if is_quick(solver) { (COMPARISON_TOL, HELD_OUT_VALUES) } else { (SLOW_COMPARISON_TOL, SLOW_HELD_OUT_VALUES) };
    let n_refits = (wanted / costs.len().max(1)).clamp(1, MAX_REFITS);
    let (size, quiet) = (n_held_out(costs.len(), samples.labels.classes().len()), monitor.without_progress());
    for held_out in HeldOut::sets(*samples, is_basis, (size, n_refits), seed) {
        if monitor.ask().is_err() {
            break;
        }
        let features: Vec<usize> = held_out.whole_rows().flat_map(own_features).collect();
        let without = (!features.is_empty()).then(|| without_features(phi, &features));
        let phi = without.as_ref().unwrap_or(phi);
        let rest = held_out.rest(costs.to_vec());
        let solver = Solver { start: None, tol, ..solver.clone() };
        let solution = solver.solve(phi, samples.labels, &rest, &quiet)?;
        if monitor.ask().is_err() {
            break;
        }
        let rows = Block::of(phi)?;
        scores.extend(judge(rows, *samples, &held_out, (&solution.weights, &solution.intercepts)).scores);
    }
    Ok(scores)
}

/// A copy of the rows in which some features are 0.
fn without_features(phi: &Vectors, features: &[usize]) -> Vectors {
    let mut is_excluded = vec![false; phi.n_cols()];
    features.iter().for_each(|&feature| is_excluded[feature] = true);
    let mut phi = phi.clone();
    match &mut phi {
        Vectors::Dense(matrix) => {
            for row in matrix.values.chunks_mut(is_excluded.len().max(1)) {
                row.iter_mut().zip(&is_excluded).filter(|(_, out)| **out).for_each(|(x, _)| *x = 0.0);
            }
        }
        Vectors::Sparse(matrix) => {
            let entries = matrix.values.iter_mut().zip(&matrix.indices);
            entries.filter(|(_, column)| is_excluded[**column as usize]).for_each(|(x, _)| *x = 0.0);
        }
    }
    phi
}

/// How good a fit is on samples that it did not see.
pub(super) struct Judged {
    /// Their mean squared hinge, over samples and problems.
    pub squared_hinge: f64,
    /// Their decision values.
    pub scores: HeldOutScores,
}

/// Judges weights and intercepts by samples that were held out.
pub(super) fn judge(
    rows: Block<'_>,
    samples: LabeledSamples<'_>,
    held_out: &HeldOut,
    (all_weights, intercepts): (&[f32], &[f64]),
) -> Judged {
    let LabeledSamples { labels, weights, units } = samples;
    let (targets, d) = (OneVsRest::of(labels), rows.n_features());
    let (mut hinge, mut total) = (0.0, 0.0);
    let mut found = HeldOutScores::default();
    for &(row, share) in &held_out.0 {
        let of = |(problem, intercept): (usize, &f64)| rows.dot(row, &all_weights[problem * d..][..d]) + intercept;
        let scores: Vec<f64> = intercepts.iter().enumerate().map(of).collect();
        let slack = |(problem, score): (usize, &f64)| {
            targets.weight(row, problem) * (1.0 - targets.sign(row, problem) * score).max(0.0).powi(2)
        };
        let weight = share * weights[row];
        total += weight * targets.mean_weight(row);
        hinge += weight * scores.iter().enumerate().map(slack).sum::<f64>() / scores.len() as f64;
        found.push(scores, labels.codes()[row], weight, (share * count(weights[row], units[row])).max(1.0));
    }
    Judged { squared_hinge: hinge / total, scores: found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;

    #[test]
    fn sets_are_disjoint_and_have_the_classes_of_the_population() {
        let labels = Labels::new((0..4000).map(|i| i64::from(i % 10 == 0)));
        let ones = vec![1.0; 4000];
        let samples = LabeledSamples { labels: &labels, weights: &ones, units: &ones };
        // All but 40 of the rare class are bases.
        let is_basis = |row: usize| row.is_multiple_of(10) && row >= 400;
        let sets = HeldOut::sets(samples, is_basis, (400, 3), 7);
        let mut drawn = vec![false; 4000];
        for (at, set) in sets.iter().enumerate() {
            assert!((398..=402).contains(&set.len()));
            let rare = set.0.iter().filter(|(row, _)| row.is_multiple_of(10));
            assert_eq!(rare.clone().count(), 40);
            // Bases are held out only when there are no others left.
            assert_eq!(rare.filter(|(row, _)| is_basis(*row)).count(), if at == 0 { 0 } else { 40 });
            set.0.iter().for_each(|&(row, share)| {
                assert!(!std::mem::replace(&mut drawn[row], true) && share == 1.0);
            });
        }
    }

    #[test]
    fn classes_of_one_sample_are_held_out_as_often_as_others() {
        let labels = Labels::new((0..300).map(|i| i64::from(i / 2)));
        let ones = vec![1.0; 300];
        let samples = LabeledSamples { labels: &labels, weights: &ones, units: &ones };
        let n: usize = (0..40).map(|seed| HeldOut::sets(samples, |_| false, (30, 1), seed)[0].len()).sum();
        assert!((1100..1300).contains(&n), "{n} of 1200");
    }

    #[test]
    fn independent_copies_are_held_out_in_part() {
        let labels = Labels::new([0, 1]);
        let (weights, units) = ([60.0, 40.0], [1.0, 1.0]);
        let samples = LabeledSamples { labels: &labels, weights: &weights, units: &units };
        let set = &HeldOut::sets(samples, |_| false, (10, 1), 3)[0];
        let rest = set.rest(weights.to_vec());
        assert!((rest[0] - 54.0).abs() < 1e-9 && (rest[1] - 36.0).abs() < 1e-9, "{rest:?}");
        // A weight that is no number of copies is held out whole.
        let whole = LabeledSamples { units: &weights, ..samples };
        let sets = HeldOut::sets(whole, |_| false, (1, 2), 3);
        assert!(sets.iter().all(|set| set.0.iter().all(|(_, share)| *share == 1.0)));
    }
}
