//! The mismatch kernel of strings: `mismatch:k=5,m=1`.
//!
//! A k-mer (a substring of k characters) counts for every string of k letters that differs from it in at most m places.
//! s(x, y) is the cosine of these counts: Leslie, Eskin, Cohen, Weston and Noble, *Mismatch string kernels for
//! discriminative protein classification*, Bioinformatics 2004. It is positive semi-definite, from 0 to 1.
//!
//! Two k-mers that differ in d places share as many such strings as any others that do. Over an alphabet of a letters
//!
//! > I(d) = Σ_{i, j, t} d! / (i! j! (d − i − j)!) · (a − 2)^(d − i − j) · C(k − d, t) · (a − 1)^t,
//!
//! where i of the d places are as in the one, j as in the other, and t of the rest are changed, with d − i + t ≤ m and
//! d − j + t ≤ m. So K(x, y) = Σ_d I(d) · (pairs of k-mers that differ in d places), and d ≤ 2m counts alone. The pairs
//! are counted in O(|x| · |y|), whatever k: along a diagonal a window loses one pair of characters and gains another.
//!
//! A string shorter than k matches only identical strings.

use std::collections::BTreeSet;

use super::Similarity;
use super::ngram::NGRAM;
use super::row::{SimilarityRow, built};
use super::term_index::{cells_per_pair, cosines};
use crate::data::{Training, Unit, UnitCodes};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(super) const MISMATCH: SimilarityRow = SimilarityRow {
    name: "mismatch",
    class: "Mismatch",
    parameters: &[
        Parameter::new("k", Values::Whole(1, 64), "Substring length.").or("5").written(),
        Parameter::new("m", Values::Whole(0, 8), "The largest number of mismatches, at most k.").or("1").written(),
        Parameter::new(
            "alphabet",
            Values::Whole(2, 1 << 20),
            "The alphabet size; by default, and at least, the number of different letters in the training strings.",
        )
        .optional(),
        Unit::PARAMETER,
    ],
    examples: &["mismatch:k=3,m=1", "mismatch:k=2,m=0", "mismatch:k=4,m=2", "mismatch:k=3,m=3,alphabet=5"],
    build: |step| built(Mismatch::from_step(step)),
    ..NGRAM
};

/// The normalized mismatch kernel of strings.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    k: usize,
    m: usize,
    /// The parameter, or learned from the training samples.
    alphabet: Option<usize>,
    unit: Unit,
    step: Step,
}

/// A comparison, an addition and a subtraction, and a comparison for each distance that counts, of bytes.
const SECONDS_PER_CELL: f64 = 0.5e-9;

impl Mismatch {
    /// The similarity of a spec such as `mismatch` (k = 5, m = 1) or `mismatch:k=6,m=2,alphabet=4`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`], and [`Error::Parameter`] for m above k.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = MISMATCH.arguments(step)?;
        let (k, m) = (arguments.value("k")?, arguments.value("m")?);
        if m > k {
            return Err(arguments.wrong("m", format!("a whole number from 0 to k = {k}")));
        }
        let (alphabet, unit) = (arguments.get("alphabet")?, arguments.value("unit")?);
        Ok(Mismatch { k, m, alphabet, unit, step: step.clone() })
    }

    /// I(d) / I(0) for d = 0 … min(2m, k).
    fn shares(&self) -> Result<Vec<f64>> {
        let unlearned = || Error::similarity(self.spec(), "its alphabet has not been learned yet: give one, or fit it");
        let a = self.alphabet.ok_or_else(unlearned)? as f64;
        let (k, m) = (self.k, self.m);
        let choose = |n: usize, r: usize| (0..r).fold(1.0, |c, at| c * (n - at) as f64 / (at + 1) as f64);
        let shared = |d: usize| {
            let mut sum = 0.0;
            for (i, j) in (0..=d).flat_map(|i| (0..=d - i).map(move |j| (i, j))) {
                let places = choose(d, i) * choose(d - i, j) * (a - 2.0).powi((d - i - j) as i32);
                // d − i + t ≤ m and d − j + t ≤ m.
                let Some(most) = (m + i.min(j)).checked_sub(d) else { continue };
                sum += places * (0..=most.min(k - d)).map(|t| choose(k - d, t) * (a - 1.0).powi(t as i32)).sum::<f64>();
            }
            sum
        };
        let of_equals = shared(0);
        Ok((0..=k.min(2 * m)).map(|d| shared(d) / of_equals).collect())
    }

    /// K(x, y) / I(0). `rows` are the distances of a k-mer of x to all of y, and of the one before it.
    fn kernel(&self, shares: &[f64], x: &[u32], y: &[u32], rows: &mut [Vec<u8>; 2]) -> f64 {
        let k = self.k;
        if x.len() < k || y.len() < k {
            return 0.0;
        }
        let n = y.len() - k + 1;
        let mut pairs = vec![0u64; shares.len()];
        let [before, row] = rows;
        for first in 0..=x.len() - k {
            let window = &x[first..first + k];
            let differing = |other: &[u32]| window.iter().zip(other).filter(|(a, b)| a != b).count() as u8;
            row.clear();
            if first == 0 {
                row.extend(y.windows(k).map(differing));
            } else {
                let (lost, gained) = (x[first - 1], window[k - 1]);
                row.push(differing(&y[..k]));
                let along = before[..n - 1].iter().zip(&y[..n - 1]).zip(&y[k..]);
                row.extend(along.map(|((d, old), new)| d - u8::from(*old != lost) + u8::from(*new != gained)));
            }
            for (d, pairs) in pairs.iter_mut().enumerate() {
                // A byte holds the count of 255.
                let counts = row.chunks(255).map(|some| some.iter().map(|x| u8::from(*x == d as u8)).sum::<u8>());
                *pairs += counts.map(u64::from).sum::<u64>();
            }
            std::mem::swap(before, row);
        }
        pairs.iter().zip(shares).map(|(pairs, share)| *pairs as f64 * share).sum()
    }
}

impl Similarity for Mismatch {
    type Samples = Vec<String>;

    crate::macros::symmetric_step!();

    /// Counts the distinct letters of the training strings; a larger alphabet stays.
    fn fit(&mut self, training: &Training<'_, Vec<String>>) -> Result<()> {
        let work = |strings: Vec<String>, weights: &[f64]| {
            let mut letters = BTreeSet::new();
            for (string, _) in strings.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
                self.unit.each(string, |letter| {
                    if !letters.contains(letter) {
                        letters.insert(letter.to_owned());
                    }
                });
            }
            Ok(letters)
        };
        let mut letters = BTreeSet::new();
        training.fold("similarity", CHUNK_STRINGS, work, |some| letters.extend(some))?;
        // An alphabet that was learned on some of the strings may be too small for all of them.
        let alphabet = letters.len().max(self.alphabet.unwrap_or(2));
        if self.alphabet != Some(alphabet) {
            self.alphabet = Some(alphabet);
            self.step.set("alphabet", alphabet);
        }
        Ok(())
    }

    fn seconds_per_pair(&self, bases: &Vec<String>) -> f64 {
        SECONDS_PER_CELL * cells_per_pair(bases)
    }

    fn block(&self, bases: &Vec<String>, samples: &Vec<String>, block: &mut [f32]) -> Result<()> {
        let (shares, mut codes) = (self.shares()?, UnitCodes::new(self.unit));
        let (bases, samples) = (codes.of_all(bases), codes.of_all(samples));
        let mut rows = [Vec::new(), Vec::new()];
        cosines(&bases, &samples, block, |x, y| self.kernel(&shares, x, y, &mut rows));
        Ok(())
    }
}

/// Strings whose letters are counted at a time.
const CHUNK_STRINGS: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::definitions::{self, Definition};
    use crate::similarity::sequence_tests::{agrees, chunks_change_nothing, of};
    use crate::similarity::{NGram, Spec, pairwise};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// By counting the strings that are near, one by one.
        #[test]
        fn agrees_with_the_definition(
            words in prop::collection::vec("[abc]{0,9}", 2..6), k in 1usize..5, m in 0usize..3, alphabet in 3usize..5,
        ) {
            let spec: Spec = format!("mismatch:k={k},m={},alphabet={alphabet}", m.min(k)).parse().unwrap();
            let s = Mismatch::from_step(&spec.steps[0]).unwrap();
            let Some(Definition::Strings(definition)) = definitions::of("mismatch") else { panic!() };
            let arguments = MISMATCH.arguments(&spec.steps[0]).unwrap();
            agrees(&s, &words, &words, |x, y| {
                let characters = |s: &str| s.chars().collect::<Vec<char>>();
                definition(&arguments, &characters(x), &characters(y)).unwrap()
            });
            chunks_change_nothing(&s, &words, &words);
        }
    }

    #[test]
    fn without_mismatches_it_is_the_spectrum_kernel() {
        let words: Vec<String> = ["abab", "abcabc", "bcab", "éaé"].map(str::to_owned).into();
        let s = of("mismatch:k=2,m=0,alphabet=4", Mismatch::from_step);
        assert_eq!(
            pairwise(&s, &words, &words).unwrap(),
            pairwise(&of("ngram:n=2", NGram::from_step), &words, &words).unwrap()
        );
    }

    #[test]
    fn rejects_wrong_parameters() {
        let spec: Spec = "mismatch:k=2,m=3".parse().unwrap();
        let message = Mismatch::from_step(&spec.steps[0]).unwrap_err().to_string();
        assert!(message.contains("from 0 to k = 2"), "{message}");
        let words = vec!["abcd".to_owned()];
        let unfitted = pairwise(&of("mismatch", Mismatch::from_step), &words, &words).unwrap_err().to_string();
        assert!(unfitted.contains("alphabet has not been learned"), "{unfitted}");
        let mut s = of("mismatch:alphabet=3", Mismatch::from_step);
        let monitor = crate::monitor::Monitor::none();
        let training = Training { samples: &words, weights: &[1.0], threads: 1, monitor: &monitor };
        s.fit(&training).unwrap();
        assert_eq!(s.spec(), "mismatch:alphabet=4");
    }
}
