//! 128-bit fingerprints of the content of samples.
//!
//! Among n different samples two have the same fingerprint by chance with probability n² / 2¹²⁹: 10⁻²¹ for 10⁹ samples.
//! The hash is fast, not collision-resistant against an adversary.

use super::Rows;
use crate::draw::mixed;

/// An odd constant and two others, without a pattern (digits of π).
const PLACE: u64 = 0x243F_6A88_85A3_08D3;
const KEYS: [u64; 2] = [0xA409_3822_299F_31D0, 0x082E_FA98_EC4E_6C89];

/// A hash of a sample's content: the same content gives the same 128 bits in any layout.
///
/// Content is a set of pairs (place, value), each place at most once, in any order. Zeros are skipped, so that a sparse
/// row and its dense copy have the same fingerprint. Use it to implement
/// [`Samples::fingerprint`](super::Samples::fingerprint) for your own collections.
///
/// ```
/// # extern crate widemargin_kernels as widemargin;
/// use widemargin::data::Fingerprint;
///
/// let of = |pairs: [(usize, f64); 2]| {
///     let mut fingerprint = Fingerprint::default();
///     pairs.into_iter().for_each(|(place, value)| fingerprint.add(place, value.to_bits()));
///     fingerprint.finish()
/// };
/// assert_eq!(of([(3, 1.5), (8, 2.0)]), of([(8, 2.0), (3, 1.5)]));
/// assert_ne!(of([(3, 1.5), (8, 2.0)]), of([(3, 2.0), (8, 1.5)]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    sum: u128,
}

impl Fingerprint {
    /// Adds the bits of the value at a place.
    ///
    /// A pair becomes a product of 64 × 64 bits, each factor depending on both parts, and the products are summed, so
    /// that no pair waits for the previous one. With two multiplications a pair takes at most 2 ns: 20 ms of one core
    /// for 20,000 rows of 500 numbers.
    #[inline]
    pub fn add(&mut self, place: usize, bits: u64) {
        let place = (place as u64).wrapping_add(1).wrapping_mul(PLACE);
        let (a, b) = (bits ^ place ^ KEYS[0], bits.rotate_left(32) ^ place.rotate_left(23) ^ KEYS[1]);
        self.sum = self.sum.wrapping_add(u128::from(a) * u128::from(b));
    }

    /// The fingerprint of the values of both.
    pub fn together(self, other: Fingerprint) -> Fingerprint {
        Fingerprint { sum: self.sum.wrapping_add(other.sum) }
    }

    /// The fingerprint of everything added.
    pub fn finish(self) -> u128 {
        u128::from(mixed((self.sum >> 64) as u64)) << 64 | u128::from(mixed(self.sum as u64))
    }

    /// Hashes bytes, eight at a time, and their number.
    pub(crate) fn of_bytes(bytes: &[u8]) -> u128 {
        let mut fingerprint = Fingerprint::default();
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().enumerate().for_each(|(at, word)| fingerprint.add(at, u64::from_le_bytes(*word)));
        let last = rest.iter().rev().fold(0, |last, &byte| last << 8 | u64::from(byte));
        fingerprint.add(words.len(), last);
        fingerprint.add(usize::MAX, bytes.len() as u64);
        fingerprint.finish()
    }

    /// Hashes a dense row of single precision numbers.
    pub(crate) fn of_singles(values: &[f32]) -> u128 {
        let mut fingerprint = Fingerprint::default();
        values.iter().enumerate().for_each(|(at, value)| fingerprint.add_number(at, f64::from(*value)));
        fingerprint.finish()
    }

    /// Hashes a row in double precision; a single precision row has the same fingerprint.
    #[doc(hidden)]
    pub fn of_row(rows: &impl Rows, row: usize) -> u128 {
        let mut fingerprint = Fingerprint::default();
        rows.for_each_nonzero(row, |column, value| fingerprint.add_number(column, value));
        fingerprint.finish()
    }

    /// Hashes a row rounded to single precision.
    pub(crate) fn of_single_row(rows: &impl Rows, row: usize) -> u128 {
        let mut fingerprint = Fingerprint::default();
        rows.for_each_nonzero(row, |column, value| fingerprint.add_number(column, f64::from(value as f32)));
        fingerprint.finish()
    }

    /// Adds a non-zero number.
    #[inline]
    pub(super) fn add_number(&mut self, place: usize, value: f64) {
        if value != 0.0 {
            self.add(place, value.to_bits());
        }
    }
}

/// The fingerprints of some rows.
#[doc(hidden)]
pub fn fingerprints(samples: &impl Rows, rows: &[usize]) -> Vec<u128> {
    let one = |(at, &row): (usize, &usize)| {
        if let Some(&soon) = rows.get(at + 4) {
            samples.prefetch(soon);
        }
        Fingerprint::of_row(samples, row)
    };
    rows.iter().enumerate().map(one).collect()
}

/// A pseudo-random sort key determined by the seed; different fingerprints have different keys.
pub(super) fn shuffled(fingerprint: u128, seed: u64) -> u128 {
    let high = (fingerprint >> 64) as u64 ^ mixed(seed);
    u128::from(mixed(high)) << 64 | u128::from(fingerprint as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::data::{CsrView, DenseView};

    #[test]
    fn layout_and_precision_make_no_difference() {
        let single = [0.0f32, 1.5, -0.0, -2.25, 0.1, 0.0];
        let double = single.map(f64::from);
        let dense = DenseView::new(&double, 1, 6).unwrap();
        let narrow = DenseView::new(&single[..5], 1, 5).unwrap();
        let (columns, values) = ([1u32, 2, 3, 4], [1.5f32, 0.0, -2.25, 0.1]);
        let sparse = CsrView::new(&[0usize, 4], &columns, &values, 100).unwrap();
        let right = Fingerprint::of_row(&dense, 0);
        assert_eq!(right, Fingerprint::of_row(&narrow, 0));
        assert_eq!(right, Fingerprint::of_row(&sparse, 0));
        assert_eq!(right, Fingerprint::of_singles(&single));
        assert_eq!(right, Fingerprint::of_single_row(&dense, 0));
        // In double precision 0.1 is another number.
        let tenth = DenseView::new(&[0.1], 1, 1).unwrap();
        assert_ne!(Fingerprint::of_row(&tenth, 0), Fingerprint::of_single_row(&tenth, 0));
        assert_eq!(Fingerprint::of_single_row(&tenth, 0), Fingerprint::of_singles(&[0.1]));
    }

    #[test]
    fn different_samples_have_different_fingerprints() {
        let mut all = HashSet::new();
        let mut halves = [HashSet::new(), HashSet::new()];
        let mut add = |fingerprint: u128| {
            assert!(halves[0].insert(fingerprint as u64) && halves[1].insert((fingerprint >> 64) as u64));
            assert!(all.insert(fingerprint));
        };
        // All sets of 16 columns; one number in every place; numbers that differ in one bit; their exchange.
        for set in 1..1u32 << 16 {
            add(Fingerprint::of_singles(&(0..16).map(|bit| (set >> bit & 1) as f32).collect::<Vec<_>>()));
        }
        for place in 16..5000 {
            let mut fingerprint = Fingerprint::default();
            fingerprint.add(place, 1.0f64.to_bits());
            add(fingerprint.finish());
        }
        for bit in 0..32 {
            let value = f32::from_bits(3.0f32.to_bits() ^ 1 << bit);
            add(Fingerprint::of_singles(&[value, 7.5]));
            add(Fingerprint::of_singles(&[7.5, value]));
        }
        for length in 0..40 {
            add(Fingerprint::of_bytes(&vec![0; length]));
            add(Fingerprint::of_bytes(&[vec![7], vec![0; length]].concat()));
        }
    }

    #[test]
    fn each_seed_has_its_own_order() {
        let prints: Vec<u128> = (0..1000).map(|i| Fingerprint::of_singles(&[i as f32 + 1.0])).collect();
        let order = |seed: u64| {
            let mut order: Vec<usize> = (0..prints.len()).collect();
            order.sort_by_key(|&at| shuffled(prints[at], seed));
            order
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        // By chance: half of all neighbors ascend.
        let ascents = order(0).windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((440..560).contains(&ascents), "{ascents}");
        let places: HashSet<u128> = prints.iter().map(|&print| shuffled(print, 5)).collect();
        assert_eq!(places.len(), prints.len());
    }
}
