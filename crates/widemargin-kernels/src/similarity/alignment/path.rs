//! The best alignment itself, by the recursion of Gotoh with its three tables.

use super::lanes::Gaps;
use super::scores::{Mode, Scores};
use crate::similarity::comparison::{Comparison, MAX_CELLS, PathStep, Pieces};

/// Which table a path is in: a pair, a gap in the sample, or one in the basis.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Pair,
    Basis,
    Sample,
}

/// Minus infinity, from which no score can come back.
const NEVER: i64 = i64::MIN / 4;

/// The path of the best alignment of a basis x and a sample y, from its first pair or gap to its last; `None` where the
/// tables would be too large. The shares are scores: the first character of a gap has the score of opening one.
pub(super) fn path(mode: Mode, scores: &Scores, gaps: Gaps, x: &[i32], y: &[i32]) -> Option<Comparison> {
    let (m, n) = (x.len(), y.len());
    let width = n + 1;
    if (m + 1).saturating_mul(width) > MAX_CELLS / 4 {
        return None;
    }
    let pair = |i: usize, j: usize| match scores {
        Scores::Equal { same, other } => i64::from(if x[i] == y[j] { *same } else { *other }),
        Scores::Matrix(matrix) => i64::from(matrix.score(x[i], y[j])),
    };
    let (open, extend) = (i64::from(gaps.open), i64::from(gaps.extend));
    // The best scores of alignments that end in any way, with a character of x alone, and with one of y alone.
    let [mut best, mut of_x, mut of_y] = std::array::from_fn(|_| vec![NEVER; (m + 1) * width]);
    for i in 0..=m {
        for j in 0..=n {
            let at = i * width + j;
            let is_free = match mode {
                Mode::Local => true,
                Mode::Global => i + j == 0,
                Mode::Semiglobal => i == 0 || j == 0,
            };
            if i > 0 {
                of_x[at] = (best[at - width] + open).max(of_x[at - width] + extend);
            }
            if j > 0 {
                of_y[at] = (best[at - 1] + open).max(of_y[at - 1] + extend);
            }
            let paired = if i > 0 && j > 0 { best[at - width - 1] + pair(i - 1, j - 1) } else { NEVER };
            best[at] = paired.max(of_x[at]).max(of_y[at]).max(if is_free { 0 } else { NEVER });
        }
    }
    let ends: Box<dyn Iterator<Item = (usize, usize)>> = match mode {
        Mode::Global => Box::new(std::iter::once((m, n))),
        Mode::Local => Box::new((0..=m).flat_map(|i| (0..=n).map(move |j| (i, j)))),
        Mode::Semiglobal => Box::new((0..=m).map(|i| (i, n)).chain((0..=n).map(|j| (m, j)))),
    };
    let (mut i, mut j) = ends.max_by_key(|(i, j)| best[i * width + j])?;
    let (mut state, mut path) = (State::Pair, Vec::new());
    loop {
        let at = i * width + j;
        let is_start = match mode {
            Mode::Local => best[at] == 0,
            Mode::Global => i + j == 0,
            Mode::Semiglobal => (i == 0 || j == 0) && best[at] == 0,
        };
        match state {
            State::Pair if is_start => break,
            State::Pair if i > 0 && j > 0 && best[at] == best[at - width - 1] + pair(i - 1, j - 1) => {
                let share = pair(i - 1, j - 1) as f64;
                path.push(PathStep { basis: Some(i - 1), sample: Some(j - 1), share });
                (i, j) = (i - 1, j - 1);
            }
            State::Pair if best[at] == of_x[at] => state = State::Basis,
            State::Pair => state = State::Sample,
            State::Basis | State::Sample => {
                let is_basis = state == State::Basis;
                let (of_gap, before) = if is_basis { (&of_x, at - width) } else { (&of_y, at - 1) };
                let is_opened = of_gap[at] == best[before] + open;
                let share = if is_opened { open } else { extend } as f64;
                (i, j) = (before / width, before % width);
                path.push(PathStep { basis: is_basis.then_some(i), sample: (!is_basis).then_some(j), share });
                state = if is_opened { State::Pair } else { state };
            }
        }
    }
    path.reverse();
    Some(Comparison::of("score of the alignment", Pieces::Characters { path }))
}
