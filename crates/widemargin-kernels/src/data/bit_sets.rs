//! Sets as bit vectors, such as molecular fingerprints.

use super::{Fingerprint, Samples};
use crate::error::{Error, Result};
use crate::macros::getters;

/// Sets over `n_bits` elements, 64 elements per word, lowest bit first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BitSets {
    words: Vec<u64>,
    n_bits: usize,
    n_sets: usize,
}

impl BitSets {
    /// Sets whose `words` are \[set\]\[word\], ⌈n_bits / 64⌉ words per set.
    ///
    /// # Errors
    /// [`Error::Shape`] if the words do not make `n_sets` sets, or a bit beyond `n_bits` is set.
    pub fn new(words: Vec<u64>, n_sets: usize, n_bits: usize) -> Result<Self> {
        let a_set = n_bits.div_ceil(64);
        let wrong = |found: String, expected: String| Error::shape("bit sets", found, expected);
        if n_sets.checked_mul(a_set) != Some(words.len()) {
            return Err(wrong(format!("{} words", words.len()), format!("{n_sets} sets of {a_set} words")));
        }
        let rest = n_bits % 64;
        let stray = |set: &[u64]| rest > 0 && set.last().is_some_and(|last| last >> rest != 0);
        if let Some(at) = words.chunks(a_set.max(1)).position(stray) {
            return Err(wrong(format!("set {at} (from 0) has a bit beyond the last"), format!("{n_bits} bits")));
        }
        Ok(BitSets { words, n_bits, n_sets })
    }

    /// The words of one set.
    #[doc(hidden)]
    pub fn set(&self, at: usize) -> &[u64] {
        let a_set = self.n_bits.div_ceil(64);
        &self.words[at * a_set..(at + 1) * a_set]
    }

    getters! {
        /// All words.
        hidden words: &[u64];
        /// Number of possible elements.
        hidden copy n_bits: usize;
    }
}

impl Samples for BitSets {
    fn len(&self) -> usize {
        self.n_sets
    }

    fn select(&self, rows: &[usize]) -> Self {
        let words = rows.iter().map(|&row| self.set(row)).collect::<Vec<_>>().concat();
        BitSets { words, n_bits: self.n_bits, n_sets: rows.len() }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        let mut fingerprint = Fingerprint::default();
        self.set(at).iter().enumerate().for_each(|(at, word)| fingerprint.add(at, *word));
        Some(fingerprint.finish())
    }
}
