//! Which rows are held out of a second fit: their decision values calibrate probabilities and estimate the accuracy.
//!
//! The rows are in random order, so that any range of them is a random sample. One range is enough of many rows; of
//! few, several are held out one after the other.

use std::ops::Range;

use crate::problem::{HeldOutScores, OneVsRest};
use crate::solve::dual::DualSolution;
use crate::tuning::{MAX_HELD_OUT, MAX_HELD_OUT_FITS, MAX_HELD_OUT_VALUES, SHARED_SIGMOID_ROWS, SIGMOID_ROWS};

/// The ranges of rows to hold out.
pub(super) fn held_out_ranges(n_rows: usize, targets: OneVsRest<'_>) -> Vec<Range<usize>> {
    let is_shared = targets.n_problems() > 1 && !targets.is_multilabel();
    ranges(n_rows, targets.n_problems(), if is_shared { SHARED_SIGMOID_ROWS } else { SIGMOID_ROWS })
}

fn ranges(n_rows: usize, n_problems: usize, wanted: usize) -> Vec<Range<usize>> {
    let most = MAX_HELD_OUT.min((MAX_HELD_OUT_VALUES / n_problems).max(wanted));
    let size = (n_rows / 10).max(wanted).min(n_rows / MAX_HELD_OUT_FITS).min(most);
    if size == 0 {
        return Vec::new();
    }
    (0..wanted.div_ceil(size).min(MAX_HELD_OUT_FITS)).map(|at| at * size..(at + 1) * size).collect()
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
        assert_eq!(ranges(11, 1, SIGMOID_ROWS), [0..2, 2..4, 4..6, 6..8, 8..10]);
        assert_eq!(ranges(900, 1, SIGMOID_ROWS), [0..180, 180..360, 360..540]);
        assert_eq!(ranges(900, 10, SHARED_SIGMOID_ROWS), [0..180, 180..360]);
        for (n_problems, size) in [(1, 2000), (10, 1000), (1000, 250)] {
            assert_eq!(ranges(50_000, n_problems, SHARED_SIGMOID_ROWS), std::iter::once(0..size).collect::<Vec<_>>());
        }
        assert!(ranges(4, 1, SIGMOID_ROWS).is_empty() && ranges(0, 1, SIGMOID_ROWS).is_empty());
    }
}
