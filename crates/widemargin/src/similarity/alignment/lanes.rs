//! Aligns one string with a group of others, one per lane.
//!
//! | a step of a cell in each lane | |
//! |---|---|
//! | operations | 5 additions, 4 maxima (6 where local), and a comparison and choice where scores go by equality |
//! | memory | 3 vectors read (H and E of the row above, the codes or the scores), 2 written |
//!
//! With 16 lanes a step moves 320 bytes, all in the first-level cache up to some 150 characters. F depends on its left
//! neighbour: an addition and two maxima.

use super::scores::{NOTHING, Scores, blosum62};
use super::simd::Simd;
use crate::isa::Isa;

/// Strings per group: the number of lanes of a vector register.
pub(super) fn width(isa: Isa) -> usize {
    match isa {
        Isa::Avx512 => 16,
        Isa::Avx2 | Isa::Portable => 8,
    }
}

/// The score of a gap's first character and of each further one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gaps {
    pub open: i32,
    pub extend: i32,
}

impl Gaps {
    pub fn score(self, length: usize) -> i32 {
        if length == 0 { 0 } else { self.open + self.extend * (length as i32 - 1) }
    }
}

/// Far below any score, and far from overflow.
pub(super) const NEVER: i32 = i32::MIN / 2;

/// As many strings as lanes, or fewer; shorter ones are padded with [`NOTHING`].
#[derive(Debug)]
pub(super) struct Group {
    pub(super) lengths: Vec<usize>,
    pub(super) longest: usize,
    pub(super) lanes: usize,
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
        let lanes = width(isa);
        let lengths: Vec<usize> = strings.iter().map(|string| string.len()).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut codes = vec![NOTHING; longest * lanes];
        for (lane, string) in strings.iter().enumerate().take(lanes) {
            string.iter().enumerate().for_each(|(place, &code)| codes[place * lanes + lane] = code);
        }
        let pairs = match *scores {
            Scores::Equal { same, other } => Pairs::Equal { codes, same, other },
            Scores::Blosum62 => {
                let profile = |letter| codes.iter().map(|&code| blosum62(letter, code).into()).collect();
                Pairs::Profile((0..super::scores::LETTERS.len() as i32).map(profile).collect())
            }
        };
        Group { lengths, longest, lanes, pairs }
    }
}

/// The last row of the table, and memory for reuse.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// H, \[position\]\[lane\], one more than positions.
    pub(super) best: Vec<i32>,
    /// E, \[position\]\[lane\].
    pub(super) down: Vec<i32>,
    /// The maximum of H in each lane, for local alignment.
    pub(super) highest: Vec<i32>,
}

/// The table, row by row.
///
/// # Safety
/// The instruction set must be available, and group and memory must be laid out for its lanes.
#[inline(always)]
pub(super) unsafe fn fill<S: Simd>(group: &Group, local: bool, gaps: Gaps, sample: &[i32], work: &mut Work) {
    let size = group.longest * S::LANES;
    assert!(work.down.len() == size && work.best.len() == size + S::LANES && work.highest.len() == S::LANES);
    for (row, &letter) in sample.iter().enumerate() {
        let edge = if local { 0 } else { gaps.score(row + 1) };
        // SAFETY: the sizes were checked; codes and profiles are of `size` as well.
        unsafe {
            match (&group.pairs, local) {
                (Pairs::Equal { codes, same, other }, _) => {
                    assert!(codes.len() == size);
                    let (letter, same, other) = (S::splat(letter), S::splat(*same), S::splat(*other));
                    let pair = |codes| S::where_equal(codes, letter, same, other);
                    match local {
                        true => fill_row::<S, true>(codes, pair, gaps, edge, work),
                        false => fill_row::<S, false>(codes, pair, gaps, edge, work),
                    }
                }
                (Pairs::Profile(letters), true) => {
                    fill_row::<S, true>(&letters[letter as usize], |score| score, gaps, edge, work);
                }
                (Pairs::Profile(letters), false) => {
                    fill_row::<S, false>(&letters[letter as usize], |score| score, gaps, edge, work);
                }
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
    pairs: &[i32],
    pair: impl Fn(S::V) -> S::V,
    gaps: Gaps,
    edge: i32,
    work: &mut Work,
) {
    let (best, down) = (work.best.as_mut_ptr(), work.down.as_mut_ptr());
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (open, extend, zero) = (S::splat(gaps.open), S::splat(gaps.extend), S::splat(0));
        let (mut diagonal, mut left, mut along) = (S::load(best), S::splat(edge), S::splat(NEVER));
        let mut highest = S::load(work.highest.as_ptr());
        S::store(left, best);
        for at in (0..pairs.len()).step_by(S::LANES) {
            let above = S::load(best.add(at + S::LANES));
            let below = S::maximum(S::add(S::load(down.add(at)), extend), S::add(above, open));
            along = S::maximum(S::add(along, extend), S::add(left, open));
            let pair = pair(S::load(pairs.as_ptr().add(at)));
            let mut value = S::maximum(S::maximum(S::add(diagonal, pair), below), along);
            if LOCAL {
                value = S::maximum(value, zero);
                highest = S::maximum(highest, value);
            }
            S::store(below, down.add(at));
            S::store(value, best.add(at + S::LANES));
            (diagonal, left) = (above, value);
        }
        S::store(highest, work.highest.as_mut_ptr());
    }
}
