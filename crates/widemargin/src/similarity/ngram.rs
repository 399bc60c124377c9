//! The cosine of the counts of character n-grams: `ngram:n=3`.
//!
//! s(x, y) = Σ_g c_g(x) c_g(y) / √(Σ c_g(x)² · Σ c_g(y)²) over the substrings g of n characters, where c_g is the
//! number of occurrences of g: the spectrum kernel of Leslie, Eskin and Noble, *The spectrum kernel: a string kernel
//! for SVM protein classification* (PSB 2002), normalised. It is positive semi-definite, from 0 to 1, and needs no
//! alignment.
//!
//! A string of fewer than n characters counts as one n-gram, itself; so s(x, x) = 1 for every string.

use rustc_hash::FxHashMap;

use super::Similarity;
use super::row::{Definite, Definition, Onnx, SimilarityRow, built};
use crate::error::Result;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

const NGRAM: SimilarityRow = SimilarityRow {
    name: "ngram",
    class: "NGram",
    samples: &["strings"],
    formula: "cosine of how often each substring of n characters occurs",
    about: "A shorter string counts as one such substring.",
    parameters: &[Parameter::new("n", Values::Whole(1, 64), "").or("3").written()],
    examples: &["ngram", "ngram:n=1", "ngram:n=2"],
    definite: Definite::Positive,
    definition: Some(Definition::Strings(|arguments, x, y| {
        let n: usize = arguments.value("n")?;
        fn list(s: &[char], n: usize) -> Vec<&[char]> {
            if s.len() < n { vec![s] } else { s.windows(n).collect() }
        }
        // Each gram of one string beside each of the other.
        let product = |x: &[&[char]], y: &[&[char]]| {
            x.iter().map(|gram| y.iter().filter(|other| *other == gram).count()).sum::<usize>() as f64
        };
        let (x, y) = (list(x, n), list(y, n));
        Ok(product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt())
    })),
    onnx: Onnx::NO_VECTORS,
    build: |step| built(NGram::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[NGRAM];

/// The normalised spectrum kernel of strings, on exact n-grams of characters (no hash collisions).
#[derive(Clone, Debug, PartialEq)]
pub struct NGram {
    n: usize,
    step: Step,
}

impl NGram {
    /// The similarity of a spec such as `ngram` (n = 3) or `ngram:n=5`.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for unknown parameters or an n outside 1 to 64, and
    /// [`Error::UnknownName`](crate::Error::UnknownName) for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        Ok(NGram { n: NGRAM.arguments(step)?.value("n")?, step: step.clone() })
    }
}

/// The n-grams of a string, with repeats.
fn grams(characters: &[char], n: usize) -> impl Iterator<Item = &[char]> {
    // One window of all characters if there are fewer than n; otherwise the empty string would be similar to nothing.
    let short = characters.len() < n;
    let windows = if short { [].windows(1) } else { characters.windows(n) };
    windows.chain(short.then_some(characters))
}

/// The count of each n-gram, and the sum of the squared counts.
fn counts(characters: &[char], n: usize) -> (FxHashMap<&[char], u32>, f64) {
    let mut counts: FxHashMap<&[char], u32> = FxHashMap::default();
    grams(characters, n).for_each(|gram| *counts.entry(gram).or_default() += 1);
    let squares: u64 = counts.values().map(|&count| u64::from(count).pow(2)).sum();
    (counts, squares as f64)
}

impl Similarity for NGram {
    type Samples = Vec<String>;

    fn spec(&self) -> String {
        self.step.to_string()
    }

    /// The bases' n-grams form an inverted index: a sample visits only the bases that share an n-gram with it. Sums are
    /// of integers, so that their order does not matter.
    fn block(&self, bases: &Vec<String>, samples: &Vec<String>, block: &mut [f32]) -> Result<()> {
        let bases: Vec<Vec<char>> = bases.iter().map(|basis| basis.chars().collect()).collect();
        let mut index: FxHashMap<&[char], Vec<(u32, u32)>> = FxHashMap::default();
        let mut squares = Vec::with_capacity(bases.len());
        for (number, basis) in bases.iter().enumerate() {
            let (counts, sum) = counts(basis, self.n);
            counts.into_iter().for_each(|(gram, count)| index.entry(gram).or_default().push((number as u32, count)));
            squares.push(sum);
        }
        let mut products = vec![0u64; bases.len()];
        for (sample, row) in samples.iter().zip(block.chunks_mut(bases.len().max(1))) {
            let sample: Vec<char> = sample.chars().collect();
            let (counts, sum) = counts(&sample, self.n);
            products.fill(0);
            for (gram, count) in counts {
                for &(basis, of_basis) in index.get(gram).into_iter().flatten() {
                    products[basis as usize] += u64::from(count) * u64::from(of_basis);
                }
            }
            for ((value, &product), squares) in row.iter_mut().zip(&products).zip(&squares) {
                *value = (product as f64 / (sum * squares).sqrt()) as f32;
            }
        }
        Ok(())
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::sequence_tests::{agrees, of};

    #[test]
    fn short_and_empty_strings_equal_themselves_alone() {
        let s = of("ngram", NGram::from_step);
        let words: Vec<String> = ["", "a", "ab", "abc"].map(str::to_owned).into();
        agrees(&s, &words, &words, |x, y| f64::from(x == y));
    }
}
