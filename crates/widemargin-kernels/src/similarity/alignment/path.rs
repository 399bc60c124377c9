//! The best alignment itself, by the recursion of Gotoh.

use super::lanes::Gaps;
use super::scores::Mode;
use crate::similarity::comparison::{MAX_CELLS, PathStep};

/// Minus infinity, from which no score can come back.
const NEVER: i64 = i64::MIN / 4;

/// The score of swapped neighbors.
const SWAPPED: i64 = -1;

/// The path of the best alignment of a basis x and a sample y of these lengths, from its first pair or gap to its last;
/// `None` where the tables would be too large. The shares are scores: the first character of a gap has the score of
/// opening one. `gaps` are those of characters of x alone, and of y alone. `pair` is the score of a pair, and the last two
/// characters of the first i of x and of the first j of y may be paired crosswise where `is_swapped(i, j)`.
pub(in crate::similarity) fn path(
    mode: Mode,
    gaps: [Gaps; 2],
    pair: impl Fn(usize, usize) -> i64,
    is_swapped: impl Fn(usize, usize) -> bool,
    [m, n]: [usize; 2],
) -> Option<Vec<PathStep>> {
    let (width, is_affine) = (n + 1, gaps.iter().any(|gaps| gaps.open != gaps.extend));
    let size = (m + 1).saturating_mul(width);
    if size > if is_affine { MAX_CELLS / 4 } else { MAX_CELLS } {
        return None;
    }
    // The best scores of alignments that end in any way, and of those that end in a gap of either kind, if the first
    // character of a gap has another score than the others.
    let mut best = vec![NEVER; size];
    let mut of_gaps = gaps.map(|_| vec![NEVER; if is_affine { size } else { 0 }]);
    let with_gap = |best: &[i64], of_gap: &[i64], before: usize, gaps: Gaps| {
        let opened = best[before] + i64::from(gaps.open);
        of_gap.get(before).map_or(opened, |longer| opened.max(longer + i64::from(gaps.extend)))
    };
    for i in 0..=m {
        for j in 0..=n {
            let at = i * width + j;
            let is_free = match mode {
                Mode::Local => true,
                Mode::Global => i + j == 0,
                Mode::Semiglobal => i == 0 || j == 0,
            };
            let mut value = if is_free { 0 } else { NEVER };
            let before = [(i > 0).then(|| at - width), (j > 0).then(|| at - 1)];
            for ((before, of_gap), gaps) in before.into_iter().zip(&mut of_gaps).zip(gaps) {
                let Some(before) = before else { continue };
                let score = with_gap(&best, of_gap, before, gaps);
                value = value.max(score);
                if let Some(of_gap) = of_gap.get_mut(at) {
                    *of_gap = score;
                }
            }
            if i > 0 && j > 0 {
                value = value.max(best[at - width - 1] + pair(i - 1, j - 1));
            }
            if is_swapped(i, j) {
                value = value.max(best[at - 2 * (width + 1)] + SWAPPED);
            }
            best[at] = value;
        }
    }
    let ends: Box<dyn Iterator<Item = (usize, usize)>> = match mode {
        Mode::Global => Box::new(std::iter::once((m, n))),
        Mode::Local => Box::new((0..=m).flat_map(|i| (0..=n).map(move |j| (i, j)))),
        Mode::Semiglobal => Box::new((0..=m).map(|i| (i, n)).chain((0..=n).map(|j| (m, j)))),
    };
    let (mut i, mut j) = ends.max_by_key(|(i, j)| best[i * width + j])?;
    // The gap that the path is in: 0 of x, 1 of y.
    let (mut in_gap, mut path) = (None, Vec::new());
    loop {
        let at = i * width + j;
        let is_start = match mode {
            Mode::Local => best[at] == 0,
            Mode::Global => i + j == 0,
            Mode::Semiglobal => (i == 0 || j == 0) && best[at] == 0,
        };
        let mut step = |basis, sample, share: i64| path.push(PathStep { basis, sample, share: share as f64 });
        match in_gap {
            None if is_start => break,
            None if i > 0 && j > 0 && best[at] == best[at - width - 1] + pair(i - 1, j - 1) => {
                (i, j) = (i - 1, j - 1);
                step(Some(i), Some(j), pair(i, j));
            }
            None if is_swapped(i, j) && best[at] == best[at - 2 * (width + 1)] + SWAPPED => {
                (i, j) = (i - 2, j - 2);
                step(Some(i + 1), Some(j), 0);
                step(Some(i), Some(j + 1), SWAPPED);
            }
            None => {
                let is_basis = i > 0 && best[at] == with_gap(&best, &of_gaps[0], at - width, gaps[0]);
                in_gap = Some(usize::from(!is_basis));
            }
            Some(gap) => {
                let (Gaps { open, extend }, before) = (gaps[gap], at - [width, 1][gap]);
                let is_opened = of_gaps[gap].get(at).is_none_or(|score| *score == best[before] + i64::from(open));
                (i, j) = (before / width, before % width);
                let share = i64::from(if is_opened { open } else { extend });
                step((gap == 0).then_some(i), (gap == 1).then_some(j), share);
                in_gap = in_gap.filter(|_| !is_opened);
            }
        }
    }
    path.reverse();
    Some(path)
}
