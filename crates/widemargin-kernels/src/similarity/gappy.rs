//! The gappy k-mer kernel of strings: `gappy:k=3,g=5`.
//!
//! A window of g characters has each subsequence of k of its characters, with at most g − k gaps, once. s(x, y) is the
//! cosine of how many windows of x and of y have each: Leslie and Kuang, *Fast string kernels using inexact matching
//! for protein sequences*, JMLR 2004, section 3.1. It is positive semi-definite, from 0 to 1; with g = k it is `ngram`.
//!
//! A string of fewer than g characters is one window. One of fewer than k counts as one subsequence, itself.

use super::Similarity;
use super::ngram::NGRAM;
use super::row::{SimilarityRow, built};
use super::term_index::TermIndex;
use crate::data::{Unit, UnitCodes};
use crate::error::Result;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(super) const GAPPY: SimilarityRow = SimilarityRow {
    name: "gappy",
    class: "Gappy",
    parameters: &[
        Parameter::new("k", Values::Whole(1, 12), "The length of a subsequence.").or("3").written(),
        Parameter::new("g", Values::Whole(1, 16), "The length of a window, at least k.").or("5").written(),
        Unit::PARAMETER,
    ],
    examples: &["gappy", "gappy:k=2,g=3", "gappy:k=2,g=2", "gappy:k=1,g=4"],
    build: |step| built(Gappy::from_step(step)),
    ..NGRAM
};

/// The normalized gappy k-mer kernel of strings.
#[derive(Clone, Debug, PartialEq)]
pub struct Gappy {
    k: usize,
    g: usize,
    unit: Unit,
    step: Step,
}

impl Gappy {
    /// The similarity of a spec such as `gappy` (k = 3, g = 5) or `gappy:k=4,g=6`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`], and [`Error::Parameter`](crate::Error::Parameter) for g below k.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = GAPPY.arguments(step)?;
        let (k, g) = (arguments.value("k")?, arguments.value("g")?);
        if g < k {
            return Err(arguments.wrong("g", format!("a whole number from k = {k} to 16")));
        }
        Ok(Gappy { k, g, unit: arguments.value("unit")?, step: step.clone() })
    }

    /// The subsequences of all windows of a string, those of a window once.
    fn terms(&self, units: &[u32]) -> Vec<Box<[u32]>> {
        if units.len() < self.k {
            return vec![units.into()];
        }
        let (mut all, mut of_window) = (Vec::new(), Vec::new());
        let mut places: Vec<usize> = Vec::with_capacity(self.k);
        for window in units.windows(self.g.min(units.len())) {
            // Every choice of k places, ascending, in lexicographic order.
            places.clear();
            places.extend(0..self.k);
            loop {
                of_window.push(places.iter().map(|&at| window[at]).collect::<Box<[u32]>>());
                let last = |at: usize| window.len() - self.k + at;
                let Some(moved) = (0..self.k).rev().find(|&at| places[at] < last(at)) else { break };
                places[moved] += 1;
                (moved + 1..self.k).for_each(|at| places[at] = places[at - 1] + 1);
            }
            of_window.sort_unstable();
            of_window.dedup();
            all.append(&mut of_window);
        }
        all
    }
}

impl Similarity for Gappy {
    type Samples = Vec<String>;

    crate::macros::symmetric_step!();

    fn seconds_per_pair(&self, bases: &Vec<String>) -> f64 {
        // The terms of the sample and of a basis: one hash each.
        let choices = (0..self.k).fold(1.0, |product, at| product * (self.g - at) as f64 / (at + 1) as f64);
        let terms = choices * bases.iter().map(String::len).sum::<usize>() as f64;
        50e-9 * terms / bases.len().max(1) as f64
    }

    fn block(&self, bases: &Vec<String>, samples: &Vec<String>, block: &mut [f32]) -> Result<()> {
        let mut codes = UnitCodes::new(self.unit);
        let (bases, samples) = (codes.of_all(bases), codes.of_all(samples));
        let terms = |units: &Vec<u32>| self.terms(units).into_iter();
        TermIndex::new(bases.iter().map(terms)).cosines(samples.iter().map(terms), block);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::sequence_tests::{chunks_change_nothing, of};
    use crate::similarity::{NGram, Spec, pairwise};

    #[test]
    fn without_gaps_it_is_the_spectrum_kernel() {
        let words: Vec<String> = ["", "ab", "abcabc", "bcab", "éaé"].map(str::to_owned).into();
        let gappy = chunks_change_nothing(&of("gappy:k=2,g=2", Gappy::from_step), &words, &words);
        assert_eq!(gappy, pairwise(&of("ngram:n=2", NGram::from_step), &words, &words).unwrap());
    }

    #[test]
    fn rejects_windows_shorter_than_subsequences() {
        let spec: Spec = "gappy:k=6,g=5".parse().unwrap();
        let message = Gappy::from_step(&spec.steps[0]).unwrap_err().to_string();
        assert!(message.contains("from k = 6 to 16"), "{message}");
    }
}
