//! Cells laid out for the hot loops: the same number of several grids side by side.
//!
//! A number is moved once for each tile of the other side it meets, so the cost is that of one multiply-add in
//! a few thousand.

use std::ops::Range;

use crate::data::Grids;

/// What the words of a packed grid are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Numbers in single precision.
    Single,
    /// Numbers rounded to bfloat16, in single precision, neighbours swapped: the order in which
    /// [`Format::Pairs`] are summed. The product of two of them is exact in single precision, so both formats
    /// round at the same places.
    Rounded,
    /// Pairs of bfloat16, the first in the lower half; an odd depth is filled up with 0.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only x86 has the instruction here"))]
    Pairs,
}

impl Format {
    /// Words of a cell of `depth` numbers.
    pub fn words(self, depth: usize) -> usize {
        match self {
            Format::Single | Format::Rounded => depth,
            Format::Pairs => depth.div_ceil(2),
        }
    }

    /// Writes the words of a cell.
    fn write(self, cell: &[f32], words: &mut [u32]) {
        match self {
            Format::Single => {
                for (word, number) in words.iter_mut().zip(cell) {
                    *word = number.to_bits();
                }
            }
            Format::Rounded => {
                for (words, pair) in words.chunks_mut(2).zip(cell.chunks(2)) {
                    match pair {
                        [first, second] => {
                            (words[0], words[1]) = (bf16(*second) << 16, bf16(*first) << 16);
                        }
                        rest => words[0] = bf16(rest[0]) << 16,
                    }
                }
            }
            Format::Pairs => {
                for (word, pair) in words.iter_mut().zip(cell.chunks(2)) {
                    *word = bf16(pair[0]) | pair.get(1).map_or(0, |second| bf16(*second) << 16);
                }
            }
        }
    }
}

/// The bits of a number rounded to bfloat16, to the nearest and to even where two are level.
fn bf16(number: f32) -> u32 {
    let bits = number.to_bits();
    if number.is_nan() {
        // Rounding could carry its mantissa away.
        return bits >> 16 | 0x40;
    }
    (bits + 0x7fff + (bits >> 16 & 1)) >> 16
}

/// Packs the grids of `rows` as \[cell\]\[word\]\[lane\], `lanes` of them; lanes without a grid are 0.
///
/// `scratch` has room for the words of one grid.
pub(super) fn pack(
    format: Format,
    grids: &Grids,
    rows: Range<usize>,
    lanes: usize,
    scratch: &mut [u32],
    packed: &mut [u32],
) {
    let depth = grids.depth();
    let words = format.words(depth);
    if rows.len() < lanes {
        packed.fill(0);
    }
    for (lane, row) in rows.enumerate() {
        for (cell, words) in grids.grid(row).chunks_exact(depth).zip(scratch.chunks_exact_mut(words)) {
            format.write(cell, words);
        }
        for (place, word) in packed.chunks_exact_mut(lanes).zip(&*scratch) {
            place[lane] = *word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bfloat16_is_the_nearest_and_even_where_level() {
        let rounded = |number: f32| f32::from_bits(bf16(number) << 16);
        assert_eq!(rounded(1.0), 1.0);
        assert_eq!(rounded(1.0 + 1.0 / 256.0), 1.0);
        assert_eq!(rounded(1.0 + 3.0 / 256.0), 1.0 + 2.0 / 128.0);
        assert_eq!(rounded(-1.0 - 1.1 / 256.0), -1.0 - 1.0 / 128.0);
        assert_eq!(rounded(f32::INFINITY), f32::INFINITY);
        assert_eq!(rounded(f32::MAX), f32::INFINITY);
        assert!(rounded(f32::from_bits(0x7f80_0001)).is_nan());
    }
}
