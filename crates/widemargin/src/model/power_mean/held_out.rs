//! Which samples are held out of a second fit: their decision values calibrate probabilities and estimate the accuracy.
//!
//! One set is enough of many samples; of few, several are held out one after the other.

use crate::data::Labels;
use crate::problem::{HeldOutRows, HeldOutScores, OneVsRest, count, n_independent};
use crate::solve::dual::DualSolution;
use crate::tuning::{MAX_HELD_OUT, MAX_HELD_OUT_FITS, MAX_HELD_OUT_VALUES, SHARED_SIGMOID_ROWS, SIGMOID_ROWS};

/// The sets of samples to hold out; `units` are the weights of single samples.
pub(super) fn held_out_sets(labels: &Labels, weights: &[f64], units: &[f64], seed: u64) -> Vec<HeldOutRows> {
    let n_problems = OneVsRest::of(labels).n_problems();
    let is_shared = n_problems > 1 && !labels.is_multilabel();
    let sizes =
        sizes(n_independent(weights, units), n_problems, if is_shared { SHARED_SIGMOID_ROWS } else { SIGMOID_ROWS });
    HeldOutRows::sets(labels, (weights, units), |_| false, sizes, seed)
}

/// The size of a set, and the number of sets.
fn sizes(n_samples: usize, n_problems: usize, wanted: usize) -> (usize, usize) {
    let most = MAX_HELD_OUT.min((MAX_HELD_OUT_VALUES / n_problems).max(wanted));
    let size = (n_samples / 10).max(wanted).min(n_samples / MAX_HELD_OUT_FITS).min(most);
    if size == 0 { (0, 0) } else { (size, wanted.div_ceil(size).min(MAX_HELD_OUT_FITS)) }
}

/// The decision values that a solver has found for these sets, with the classes and weights of the samples.
pub(super) fn held_out_scores(
    solution: &DualSolution,
    sets: &[HeldOutRows],
    codes: &[u32],
    (weights, units): (&[f64], &[f64]),
) -> HeldOutScores {
    let mut found = HeldOutScores::default();
    let n: usize = sets.iter().map(HeldOutRows::len).sum();
    // None if time was up.
    if solution.held_out.is_empty() || solution.held_out.iter().any(|values| values.len() != n) {
        return found;
    }
    for (at, (row, share)) in sets.iter().flat_map(HeldOutRows::shares).enumerate() {
        let values = solution.held_out.iter().map(|values| f64::from(values[at]));
        found.push(values, codes[row], share * weights[row], (share * count(weights[row], units[row])).max(1.0));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_are_held_out_in_turn_and_many_in_part() {
        assert_eq!(sizes(11, 1, SIGMOID_ROWS), (2, 5));
        assert_eq!(sizes(900, 1, SIGMOID_ROWS), (180, 3));
        assert_eq!(sizes(900, 10, SHARED_SIGMOID_ROWS), (180, 2));
        for (n_problems, size) in [(1, 2000), (10, 1000), (1000, 250)] {
            assert_eq!(sizes(50_000, n_problems, SHARED_SIGMOID_ROWS), (size, 1));
        }
        assert!(sizes(4, 1, SIGMOID_ROWS).1 == 0 && sizes(0, 1, SIGMOID_ROWS).1 == 0);
    }
}
