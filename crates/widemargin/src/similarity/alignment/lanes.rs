//! One string against sixteen at once: the recursion with a string a lane.
//!
//! | a step of sixteen cells | |
//! |---|---|
//! | operations | 5 additions, 4 maxima (6 where local), one comparison and choice or one load for the score |
//! | memory | 2 or 3 vectors of 64 bytes read, 2 written: H and E of the row above, the score |
//!
//! The table's row lies in the first cache up to some 250 characters (128 bytes each), in the second beyond. The
//! loops are over arrays of sixteen, which the compiler turns into one or two vectors.

use super::scores::{NOTHING, Scores, blosum62};
use crate::isa::Isa;

/// Strings of a group.
pub(super) const LANES: usize = 16;

type Lanes = [i32; LANES];

/// The score of a gap's first character and of each further one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gaps {
    pub open: i32,
    pub extend: i32,
}

impl Gaps {
    fn score(self, length: usize) -> i32 {
        if length == 0 { 0 } else { self.open.saturating_add(self.extend.saturating_mul(length as i32 - 1)) }
    }
}

/// Far below any score, and far above the smallest number.
const NEVER: i32 = i32::MIN / 2;

/// Up to sixteen strings, a lane each; shorter ones end with [`NOTHING`].
#[derive(Debug)]
pub(super) struct Group {
    lengths: [usize; LANES],
    longest: usize,
    pairs: Pairs,
}

/// The scores of a character with a place of the strings.
#[derive(Debug)]
enum Pairs {
    /// \[place\] of the codes, compared with the character.
    Equal { codes: Vec<Lanes>, same: i32, other: i32 },
    /// \[character\]\[place\].
    Profile(Vec<Vec<[i8; LANES]>>),
}

impl Group {
    pub fn new(scores: &Scores, strings: &[&[i32]]) -> Group {
        let mut lengths = [0; LANES];
        lengths.iter_mut().zip(strings).for_each(|(length, string)| *length = string.len());
        let longest = lengths.into_iter().max().unwrap_or(0);
        let code = |place: usize, lane: usize| strings.get(lane).and_then(|string| string.get(place)).copied();
        let at = |place| std::array::from_fn(|lane| code(place, lane).unwrap_or(NOTHING));
        let codes: Vec<Lanes> = (0..longest).map(at).collect();
        let pairs = match *scores {
            Scores::Equal { same, other } => Pairs::Equal { codes, same, other },
            Scores::Blosum62 => {
                let profile = |letter| codes.iter().map(|codes| codes.map(|code| blosum62(letter, code))).collect();
                Pairs::Profile((0..super::scores::LETTERS.len() as i32).map(profile).collect())
            }
        };
        Group { lengths, longest, pairs }
    }
}

/// The last row of the table, kept for its memory.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// H, one more than places.
    best: Vec<Lanes>,
    /// E.
    down: Vec<Lanes>,
}

/// The score of the best alignment of `sample` with each string of the group.
pub(super) fn scores(isa: Isa, local: bool, gaps: Gaps, group: &Group, sample: &[i32], work: &mut Work) -> Lanes {
    match isa {
        // SAFETY: the instruction set is there (`Isa::available`).
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { scores_avx512(local, gaps, group, sample, work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { scores_avx2(local, gaps, group, sample, work) },
        _ => scores_anywhere(local, gaps, group, sample, work),
    }
}

/// # Safety
/// AVX-512 is there.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn scores_avx512(local: bool, gaps: Gaps, group: &Group, sample: &[i32], work: &mut Work) -> Lanes {
    scores_anywhere(local, gaps, group, sample, work)
}

/// # Safety
/// AVX2 is there.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn scores_avx2(local: bool, gaps: Gaps, group: &Group, sample: &[i32], work: &mut Work) -> Lanes {
    scores_anywhere(local, gaps, group, sample, work)
}

#[inline(always)]
fn scores_anywhere(local: bool, gaps: Gaps, group: &Group, sample: &[i32], work: &mut Work) -> Lanes {
    match (&group.pairs, local) {
        (Pairs::Equal { codes, same, other }, true) => {
            table::<true, _>(gaps, group, sample, work, |letter| equal(codes, letter, *same, *other))
        }
        (Pairs::Equal { codes, same, other }, false) => {
            table::<false, _>(gaps, group, sample, work, |letter| equal(codes, letter, *same, *other))
        }
        (Pairs::Profile(letters), true) => {
            table::<true, _>(gaps, group, sample, work, |letter| profile(letters, letter))
        }
        (Pairs::Profile(letters), false) => {
            table::<false, _>(gaps, group, sample, work, |letter| profile(letters, letter))
        }
    }
}

#[inline(always)]
fn equal(codes: &[Lanes], letter: i32, same: i32, other: i32) -> impl Iterator<Item = Lanes> {
    codes.iter().map(move |codes| codes.map(|code| if code == letter { same } else { other }))
}

#[inline(always)]
fn profile(letters: &[Vec<[i8; LANES]>], letter: i32) -> impl Iterator<Item = Lanes> {
    letters[letter as usize].iter().map(|scores| scores.map(i32::from))
}

/// The table, row by row; `pairs` gives the scores of a character with each place.
#[inline(always)]
fn table<const LOCAL: bool, P: Iterator<Item = Lanes>>(
    gaps: Gaps,
    group: &Group,
    sample: &[i32],
    work: &mut Work,
    pairs: impl Fn(i32) -> P,
) -> Lanes {
    let edge = |length: usize| if LOCAL { 0 } else { gaps.score(length) };
    work.best.clear();
    work.best.extend((0..=group.longest).map(|place| [edge(place); LANES]));
    work.down.clear();
    work.down.resize(group.longest, [NEVER; LANES]);
    let mut highest = [0; LANES];
    for (row, &letter) in sample.iter().enumerate() {
        let (mut diagonal, mut left) = (work.best[0], [edge(row + 1); LANES]);
        work.best[0] = left;
        let mut along = [NEVER; LANES];
        let cells = work.best[1..].iter_mut().zip(&mut work.down).zip(pairs(letter));
        for ((best, down), pair) in cells {
            // One loop a value: each is a vector operation.
            let above = *best;
            let mut value = [0; LANES];
            for lane in 0..LANES {
                down[lane] = (down[lane] + gaps.extend).max(above[lane] + gaps.open);
                along[lane] = (along[lane] + gaps.extend).max(left[lane] + gaps.open);
                value[lane] = (diagonal[lane] + pair[lane]).max(down[lane]).max(along[lane]);
                if LOCAL {
                    value[lane] = value[lane].max(0);
                    highest[lane] = highest[lane].max(value[lane]);
                }
            }
            (diagonal, left, *best) = (above, value, value);
        }
    }
    if LOCAL { highest } else { std::array::from_fn(|lane| work.best[group.lengths[lane]][lane]) }
}
