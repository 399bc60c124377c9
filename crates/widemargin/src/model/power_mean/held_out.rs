//! Which rows are held out of a second fit: their decision values calibrate probabilities and estimate the accuracy.
//!
//! The rows are in random order, so that any range of them is a random sample. One range is enough of many rows; of
//! few, several are held out one after the other.

use std::ops::Range;

use crate::problem::{HeldOutScores, OneVsRest};
use crate::solve::dual::DualSolution;

/// Rows wanted for a sigmoid of one problem, and for the slopes that many classes share, since each row has a decision
/// value for each class; and the largest number of fits for them.
const WANTED: usize = 500;
const WANTED_IF_SHARED: usize = 250;
const MAX_FITS: usize = 5;

/// Rows held out at a time, at most: a tenth of many rows, a fifth of few.
const MAX_ROWS: usize = 2000;

/// Decision values of one range, at most: with many classes fewer rows are as informative, and a fit takes
/// milliseconds.
const MAX_VALUES: usize = 10_000;

/// The ranges of rows to hold out.
pub(super) fn held_out_ranges(n_rows: usize, targets: OneVsRest<'_>) -> Vec<Range<usize>> {
    let is_shared = targets.n_problems() > 1 && !targets.is_multilabel();
    ranges(n_rows, targets.n_problems(), if is_shared { WANTED_IF_SHARED } else { WANTED })
}

fn ranges(n_rows: usize, n_problems: usize, wanted: usize) -> Vec<Range<usize>> {
    let most = MAX_ROWS.min((MAX_VALUES / n_problems).max(wanted));
    let size = (n_rows / 10).max(wanted).min(n_rows / MAX_FITS).min(most);
    if size == 0 {
        return Vec::new();
    }
    (0..wanted.div_ceil(size).min(MAX_FITS)).map(|at| at * size..(at + 1) * size).collect()
}

/// The decision values that a solver has found for these ranges, with the classes and weights of the rows.
pub(super) fn held_out_scores(
    solution: &DualSolution,
    ranges: &[Range<usize>],
    codes: &[u32],
    weights: &[f64],
) -> HeldOutScores {
    let rows = || ranges.iter().cloned().flatten();
    let of_problem = |values: &Vec<f32>| values.iter().map(|&value| f64::from(value)).collect();
    let values: Vec<Vec<f64>> = solution.held_out.iter().map(of_problem).collect();
    let codes: Vec<u32> = rows().map(|row| codes[row]).collect();
    let weights: Vec<f64> = rows().map(|row| weights[row]).collect();
    HeldOutScores::of_problems(&values, &codes, &weights, &weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_held_out_in_turn_and_many_in_part() {
        assert_eq!(ranges(11, 1, WANTED), [0..2, 2..4, 4..6, 6..8, 8..10]);
        assert_eq!(ranges(900, 1, WANTED), [0..180, 180..360, 360..540]);
        assert_eq!(ranges(900, 10, WANTED_IF_SHARED), [0..180, 180..360]);
        for (n_problems, size) in [(1, 2000), (10, 1000), (1000, 250)] {
            assert_eq!(ranges(50_000, n_problems, WANTED_IF_SHARED), std::iter::once(0..size).collect::<Vec<_>>());
        }
        assert!(ranges(4, 1, WANTED).is_empty() && ranges(0, 1, WANTED).is_empty());
    }
}
