//! Strings as hashed sets or counts of character n-grams: `ngrams:n=4,bits=2048`.
//!
//! Each substring of n characters is hashed to one of `bits` positions. The set of positions is a fingerprint for
//! [`tanimoto`](crate::similarity::SetMeasure), as for molecules written as text (SMILES): Vidal, Thormann and Pons,
//! *LINGO, an efficient holographic text based method to calculate biophysical properties and intermolecular
//! similarities*, 2005 (n = 4, exact). The counts are a sparse vector for any similarity of vectors.

use std::collections::BTreeMap;

use super::Descriptor;
use super::row::DescriptorRow;
use crate::data::{AnySamples, BitSets, CsrMatrix, Kind, Unit, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

const SETS: DescriptorRow = DescriptorRow {
    name: "ngrams",
    class: "NGrams",
    samples: &["strings"],
    parameters: &[
        Parameter::new("n", Values::Whole(1, 64), "Substring length.").or("3").written(),
        Parameter::new("bits", Values::Whole(1, 1 << 24), "The number of hash buckets.").or("2048"),
        Unit::PARAMETER,
    ],
    usual: "tanimoto",
    build: |step| Ok(vec![Box::new(NGrams::from_step(step)?)]),
};

const COUNTS: DescriptorRow = DescriptorRow { name: "ngram-counts", class: "NGramCounts", usual: "rbf", ..SETS };

pub(crate) const ROWS: &[DescriptorRow] = &[SETS, COUNTS];

/// Strings to sets (`ngrams`) or counts (`ngram-counts`) of n-grams. A string of fewer than n characters has one
/// n-gram, itself; the empty string has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NGrams {
    n: usize,
    bits: usize,
    counted: bool,
    unit: Unit,
}

impl NGrams {
    /// The descriptor of a step `ngrams` or `ngram-counts`, whose parameters are `n` (default 3),
    /// `bits` (2048) and `unit` (character).
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let counted = step.name() == COUNTS.name;
        let arguments = if counted { COUNTS.arguments(step)? } else { SETS.arguments(step)? };
        let (n, bits, unit) = (arguments.value("n")?, arguments.value("bits")?, arguments.value("unit")?);
        Ok(NGrams { n, bits, counted, unit })
    }

    /// The set of n-grams of each string.
    ///
    /// # Errors
    /// Errors of [`BitSets::new`], which the words made here never cause.
    pub fn sets(&self, strings: &[String]) -> Result<BitSets> {
        let a_set = self.bits.div_ceil(64);
        let mut words = vec![0u64; a_set * strings.len()];
        for (string, set) in strings.iter().zip(words.chunks_mut(a_set)) {
            self.each_gram(string, |place, _| set[place / 64] |= 1 << (place % 64));
        }
        BitSets::new(words, strings.len(), self.bits)
    }

    /// The count of each n-gram in each string.
    pub fn counts(&self, strings: &[String]) -> Vectors {
        let mut matrix = CsrMatrix::empty(self.bits);
        let mut places = Vec::new();
        for string in strings {
            places.clear();
            self.each_gram(string, |place, _| places.push(place as u32));
            places.sort_unstable();
            for same in places.chunk_by(|a, b| a == b) {
                matrix.indices.push(same[0]);
                matrix.values.push(same.len() as f32);
            }
            matrix.indptr.push(matrix.values.len());
        }
        Vectors::Sparse(matrix)
    }

    /// Calls `gram` with each n-gram and its position.
    fn each_gram<'s>(&self, string: &'s str, mut gram: impl FnMut(usize, &'s str)) {
        if string.is_empty() {
            return;
        }
        // The start of each character, and the end: an n-gram is the bytes between two of these.
        let mut starts = vec![0];
        self.unit.each(string, |unit| starts.push(starts.last().copied().unwrap_or(0) + unit.len()));
        let n = self.n.min(starts.len() - 1);
        for bounds in starts.windows(n + 1) {
            let text = &string[bounds[0]..bounds[n]];
            gram((hash(text.as_bytes()) % self.bits as u64) as usize, text);
        }
    }
}

impl Descriptor for NGrams {
    fn spec(&self) -> String {
        let name = if self.counted { "ngram-counts" } else { "ngrams" };
        let unit = if self.unit == Unit::Character { "" } else { ",unit=grapheme" };
        format!("{name}:n={},bits={}{unit}", self.n, self.bits)
    }

    fn takes(&self) -> &'static [&'static str] {
        Vec::<String>::TAKES
    }

    fn gives(&self, _kind: &'static str) -> &'static str {
        if self.counted { Vectors::NAME } else { BitSets::NAME }
    }

    fn terms(&self, strings: &[String]) -> Option<BTreeMap<usize, String>> {
        // Several n-grams may have one place.
        let mut all: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for string in strings {
            self.each_gram(string, |place, gram| {
                let there = all.entry(place).or_default();
                if !there.contains(&gram) {
                    there.push(gram);
                }
            });
        }
        Some(all.into_iter().map(|(place, grams)| (place, grams.join(" | "))).collect())
    }

    fn describe(&self, samples: AnySamples) -> Result<AnySamples> {
        match samples {
            AnySamples::Strings(strings) if self.counted => Ok(AnySamples::Vectors(self.counts(&strings))),
            AnySamples::Strings(strings) => Ok(AnySamples::BitSets(self.sets(&strings)?)),
            other => Err(Error::similarity(self.spec(), format!("it cuts strings, not {}", other.kind()))),
        }
    }
}

/// FNV-1a with a final mixing step, since its low bits are poor. Stored models depend on it: this must never change.
fn hash(bytes: &[u8]) -> u64 {
    Fnv::default().with(bytes).mixed()
}

/// The state of this hash after some bytes, to which others can be appended.
#[derive(Clone, Copy)]
pub(super) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xCBF2_9CE4_8422_2325)
    }
}

impl Fnv {
    pub(super) fn with(self, bytes: &[u8]) -> Self {
        Fnv(bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)))
    }

    /// The hash of the bytes so far.
    pub(super) fn mixed(self) -> u64 {
        let hash = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^ (hash >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;
    use crate::descriptor::of;

    #[test]
    fn places_are_stable() {
        // A change here would make every stored model wrong.
        assert_eq!([hash(b""), hash(b"a"), hash(b"CCO")].map(|h| h % 2048), [1139, 802, 1643]);
    }

    #[test]
    fn sets_and_counts_are_of_the_same_places() {
        let strings: Vec<String> = ["abcab", "ab", "", "ééé", "ccccc"].map(str::to_owned).into();
        let ngrams = NGrams { n: 2, bits: 4096, counted: false, unit: Unit::Character };
        let (sets, counts) = (ngrams.sets(&strings).unwrap(), ngrams.counts(&strings));
        let Vectors::Sparse(counts) = counts else { panic!("dense") };
        assert!(counts.view().is_ok());
        let mut totals = Vec::new();
        for row in 0..strings.len() {
            let range = counts.indptr[row]..counts.indptr[row + 1];
            let set = sets.set(row);
            let ones: u32 = set.iter().map(|word| word.count_ones()).sum();
            assert_eq!(ones as usize, range.len());
            for &place in &counts.indices[range.clone()] {
                assert!(set[place as usize / 64] >> (place % 64) & 1 == 1);
            }
            totals.push(counts.values[range].to_vec());
        }
        totals.iter_mut().for_each(|values| values.sort_by(f32::total_cmp));
        assert_eq!(totals, [vec![1.0, 1.0, 2.0], vec![1.0], vec![], vec![2.0], vec![4.0]]);
        assert_eq!((sets.len(), sets.n_bits()), (5, 4096));
    }

    #[test]
    fn graphemes_stay_whole() {
        let strings = vec!["e\u{301}o\u{308}e\u{301}".to_owned()];
        let n_values = |unit| match (NGrams { n: 1, bits: 4096, counted: true, unit }).counts(&strings) {
            Vectors::Sparse(counts) => counts.values,
            Vectors::Dense(_) => panic!("dense"),
        };
        let mut clusters = n_values(Unit::Grapheme);
        clusters.sort_by(f32::total_cmp);
        assert_eq!((clusters, n_values(Unit::Character).len()), (vec![1.0, 2.0], 4));
    }

    #[test]
    fn parameters_are_checked() {
        let read = |n: usize, bits: usize| of(&format!("ngrams:n={n},bits={bits}"), NGrams::from_step);
        let expected = NGrams { n: 4, bits: 1024, counted: false, unit: Unit::Character };
        assert_eq!(read(4, 1024).unwrap(), expected);
        for (n, bits) in [(0, 1), (65, 1), (3, 0), (3, (1 << 24) + 1)] {
            assert!(read(n, bits).is_err());
        }
    }
}
