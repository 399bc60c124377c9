//! Aligns one string with a group of others, one per lane.
//!
//! | a step of a cell in each lane | |
//! |---|---|
//! | operations | 5 additions, 4 maxima (6 where local), and a comparison and choice where scores go by equality |
//! | memory | 3 vectors read (H and E of the row above, the codes or the scores), 2 written |
//!
//! With 16 lanes a step moves 320 bytes, all in the first-level cache up to some 150 characters. F depends on its left
//! neighbor: an addition and two maxima.

use super::matrices::NOTHING;
use super::scores::{Mode, Scores};
use crate::isa::{Isa, dispatch};
use crate::simd::Simd;

/// The score of a gap's first character and of each further one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::similarity) struct Gaps {
    pub open: i32,
    pub extend: i32,
}

impl Gaps {
    pub fn score(self, length: usize) -> i32 {
        if length == 0 { 0 } else { self.open + self.extend * (length as i32 - 1) }
    }
}

/// Far below any score, and far from overflow.
const NEVER: i32 = i32::MIN / 2;

/// As many strings as lanes, or fewer; shorter ones are padded with [`NOTHING`].
#[derive(Debug)]
pub(super) struct Group {
    lengths: Vec<usize>,
    longest: usize,
    lanes: usize,
    pairs: Pairs,
}

/// The scores of a character with each position of the strings.
#[derive(Debug)]
enum Pairs {
    /// \[position\]\[lane\] of the codes, compared with the character.
    Equal { codes: Vec<i32>, same: i32, other: i32 },
    /// \[character\], then \[position\]\[lane\].
    Profile(Vec<Vec<i32>>),
}

impl Group {
    pub fn new(isa: Isa, scores: &Scores, strings: &[&[i32]]) -> Group {
        let lanes = isa.lanes();
        let lengths: Vec<usize> = strings.iter().map(|string| string.len()).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut codes = vec![NOTHING; longest * lanes];
        for (lane, string) in strings.iter().enumerate().take(lanes) {
            string.iter().enumerate().for_each(|(place, &code)| codes[place * lanes + lane] = code);
        }
        let pairs = match *scores {
            Scores::Equal { same, other } => Pairs::Equal { codes, same, other },
            Scores::Matrix(matrix) => {
                let profile = |letter| codes.iter().map(|&code| matrix.score(letter, code).into()).collect();
                Pairs::Profile((0..matrix.letters.len() as i32).map(profile).collect())
            }
        };
        Group { lengths, longest, lanes, pairs }
    }

    /// The score of the best alignment of `sample` with each string.
    pub fn scores<'w>(&self, isa: Isa, mode: Mode, gaps: Gaps, sample: &[i32], work: &'w mut Work) -> &'w [i32] {
        let (edge, places) = (|length| if mode == Mode::Global { gaps.score(length) } else { 0 }, self.longest + 1);
        work.best.clear();
        work.best.extend((0..places * self.lanes).map(|at| edge(at / self.lanes)));
        work.down.clear();
        work.down.resize(self.longest * self.lanes, NEVER);
        work.highest.clear();
        work.highest.resize(self.lanes, 0);
        // SAFETY: the memory was laid out for the lanes of the instruction set.
        dispatch!(isa, simd => simd.compiled(#[inline(always)] || unsafe {
            match mode {
                Mode::Local => fill::<_, true>(simd, self, mode, gaps, sample, work),
                _ => fill::<_, false>(simd, self, mode, gaps, sample, work),
            }
        }));
        for (lane, &length) in self.lengths.iter().enumerate() {
            // H of a lane's positions in the last row, and before them.
            let last = |place: usize| work.best[place * self.lanes + lane];
            match mode {
                Mode::Local => {}
                Mode::Global => work.highest[lane] = last(length),
                Mode::Semiglobal => work.highest[lane] = (0..=length).map(last).fold(work.highest[lane], i32::max),
            }
        }
        &work.highest[..self.lengths.len()]
    }
}

/// The last row of the table, and memory for reuse.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// H, \[position\]\[lane\], one more than positions.
    best: Vec<i32>,
    /// E, \[position\]\[lane\].
    down: Vec<i32>,
    /// The maximum of H in each lane: of the whole table for local alignment, of the last column so far for semi-global.
    highest: Vec<i32>,
}

/// The table, row by row.
///
/// # Safety
/// Group and memory must be laid out for the lanes of the instruction set.
#[inline(always)]
unsafe fn fill<S: Simd, const LOCAL: bool>(
    simd: S,
    group: &Group,
    mode: Mode,
    gaps: Gaps,
    sample: &[i32],
    work: &mut Work,
) {
    let size = group.longest * S::LANES;
    assert!(work.down.len() == size && work.best.len() == size + S::LANES && work.highest.len() == S::LANES);
    for (row, &letter) in sample.iter().enumerate() {
        let edge = if mode == Mode::Global { gaps.score(row + 1) } else { 0 };
        // SAFETY: the sizes were checked; codes and profiles are of `size` as well.
        unsafe {
            match &group.pairs {
                Pairs::Equal { codes, same, other } => {
                    assert!(codes.len() == size);
                    let (letter, same, other) = (simd.splat_i32(letter), simd.splat_i32(*same), simd.splat_i32(*other));
                    let pair = |codes| simd.where_equal_i32(codes, letter, same, other);
                    fill_row::<S, LOCAL>(simd, codes, pair, gaps, edge, work);
                }
                Pairs::Profile(letters) => {
                    fill_row::<S, LOCAL>(simd, &letters[letter as usize], |score| score, gaps, edge, work);
                }
            }
        }
        if mode == Mode::Semiglobal {
            for (lane, length) in group.lengths.iter().enumerate() {
                work.highest[lane] = work.highest[lane].max(work.best[length * S::LANES + lane]);
            }
        }
    }
}

/// One row: `pair` computes scores from `pairs`.
///
/// # Safety
/// As [`fill`], and `pairs` is as long as `work.down`.
#[inline(always)]
unsafe fn fill_row<S: Simd, const LOCAL: bool>(
    simd: S,
    pairs: &[i32],
    pair: impl Fn(S::I32s) -> S::I32s,
    gaps: Gaps,
    edge: i32,
    work: &mut Work,
) {
    let (best, down) = (work.best.as_mut_ptr(), work.down.as_mut_ptr());
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (open, extend, zero) = (simd.splat_i32(gaps.open), simd.splat_i32(gaps.extend), simd.splat_i32(0));
        let (mut diagonal, mut left, mut along) =
            (simd.load_i32_unchecked(best), simd.splat_i32(edge), simd.splat_i32(NEVER));
        let mut highest = simd.load_i32_unchecked(work.highest.as_ptr());
        simd.store_i32_unchecked(left, best);
        for at in (0..pairs.len()).step_by(S::LANES) {
            let above = simd.load_i32_unchecked(best.add(at + S::LANES));
            let below =
                simd.max_i32(simd.add_i32(simd.load_i32_unchecked(down.add(at)), extend), simd.add_i32(above, open));
            along = simd.max_i32(simd.add_i32(along, extend), simd.add_i32(left, open));
            let pair = pair(simd.load_i32_unchecked(pairs.as_ptr().add(at)));
            let mut value = simd.max_i32(simd.max_i32(simd.add_i32(diagonal, pair), below), along);
            if LOCAL {
                value = simd.max_i32(value, zero);
                highest = simd.max_i32(highest, value);
            }
            simd.store_i32_unchecked(below, down.add(at));
            simd.store_i32_unchecked(value, best.add(at + S::LANES));
            (diagonal, left) = (above, value);
        }
        simd.store_i32_unchecked(highest, work.highest.as_mut_ptr());
    }
}
