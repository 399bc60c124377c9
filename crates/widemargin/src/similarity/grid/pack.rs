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
                for (word, number) in words.iter_mut().zip(cell) {
                    *word = bf16(*number) << 16;
                }
                for pair in words.chunks_exact_mut(2) {
                    pair.swap(0, 1);
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

/// The bits of a number rounded to bfloat16, to the nearest and to even where two are level. Without a branch:
/// whole vectors are rounded at once.
#[inline(always)]
fn bf16(number: f32) -> u32 {
    let bits = number.to_bits();
    // Rounding could carry the mantissa of what is no number away.
    let exact = bits | 0x40_0000;
    (if number.is_nan() { exact } else { bits.wrapping_add(0x7fff + (bits >> 16 & 1)) }) >> 16
}

/// Packs the grids of `rows` as \[cell\]\[word\]\[lane\], `lanes` of them; lanes without a grid are 0.
///
/// A cell at a time, so that the lines it is spread over (31 of 128 bytes) stay in the first-level cache until
/// all lanes are there.
pub(super) fn pack(format: Format, grids: &Grids, rows: Range<usize>, lanes: usize, packed: &mut [u32]) {
    let depth = grids.depth();
    let mut words = vec![0; format.words(depth)];
    if rows.len() < lanes {
        packed.fill(0);
    }
    for (at, packed) in packed.chunks_exact_mut(lanes * words.len()).enumerate() {
        for (lane, row) in rows.clone().enumerate() {
            format.write(&grids.grid(row)[at * depth..][..depth], &mut words);
            for (place, word) in packed.chunks_exact_mut(lanes).zip(&words) {
                place[lane] = *word;
            }
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
