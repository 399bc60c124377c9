//! Which rows are held out of a second fit, which starts at the solution: their decision values calibrate probabilities.
//!
//! The rows are in random order, so that any range of them is a random sample. One range is enough of many rows; of few,
//! several are held out one after the other.

use std::ops::Range;

use crate::problem::UnseenScores;
use crate::solve::dual::DualSolution;

/// Decision values wanted, and the most fits for them.
const WANTED: usize = 500;
const MOST_FITS: usize = 5;

/// Rows held out at a time, at most: a tenth of many rows, a fifth of few.
const MOST: usize = 2000;

/// Decision values of one range, at most: of many classes fewer rows tell as much, and a fit takes milliseconds.
const MOST_VALUES: usize = 10_000;

/// The ranges of rows to hold out.
pub(super) fn held_out_ranges(n_rows: usize, n_problems: usize) -> Vec<Range<usize>> {
    let n_fits = (10 * WANTED / n_rows.max(1)).clamp(1, MOST_FITS);
    let size = (n_rows / if n_fits == MOST_FITS { MOST_FITS } else { 10 })
        .min(MOST)
        .min((MOST_VALUES / n_problems).max(WANTED / 2));
    (0..n_fits).map(|at| at * size..(at + 1) * size).filter(|range| !range.is_empty()).collect()
}

/// The decision values that a solver has found for these ranges, with the classes and weights of the rows.
pub(super) fn unseen_scores(
    solution: &DualSolution,
    ranges: &[Range<usize>],
    codes: &[u32],
    weights: &[f64],
) -> UnseenScores {
    let rows = || ranges.iter().cloned().flatten();
    let of_problem = |values: &Vec<f32>| values.iter().map(|&value| f64::from(value)).collect();
    let values: Vec<Vec<f64>> = solution.held_out.iter().map(of_problem).collect();
    let codes: Vec<u32> = rows().map(|row| codes[row]).collect();
    let weights: Vec<f64> = rows().map(|row| weights[row]).collect();
    UnseenScores::of_problems(&values, &codes, &weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_held_out_in_turn_and_many_in_part() {
        assert_eq!(held_out_ranges(11, 1), [0..2, 2..4, 4..6, 6..8, 8..10]);
        assert_eq!(held_out_ranges(2500, 10), [0..250, 250..500]);
        for (n_problems, size) in [(1, 2000), (10, 1000), (1000, 250)] {
            assert_eq!(held_out_ranges(50_000, n_problems), std::iter::once(0..size).collect::<Vec<_>>());
        }
        assert!(held_out_ranges(4, 1).is_empty() && held_out_ranges(0, 1).is_empty());
    }
}
