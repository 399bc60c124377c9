//! The string subsequence kernel: `subsequence:n=3,decay=0.5`.
//!
//! K(x, y) = Σ_u Σ_i Σ_j decay^(l(i) + l(j)) over the strings u of n characters and the places i in x and j in y where
//! u is read, perhaps with gaps; l is how many characters lie from the first of them to the last. Lodhi, Saunders,
//! Shawe-Taylor, Cristianini and Watkins, *Text classification using string kernels*, JMLR 2002, by their recursion, in
//! O(n · |x| · |y|). s(x, y) = K(x, y) / √(K(x, x) K(y, y)) is positive semi-definite, from 0 to 1.
//!
//! Strings of fewer than n characters have no such u: they are like their equals alone.

use super::Similarity;
use super::ngram::NGRAM;
use super::row::{SimilarityRow, built};
use super::term_index::{cells_per_pair, cosines};
use crate::data::{Unit, UnitCodes};
use crate::error::Result;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(super) const SUBSEQUENCE: SimilarityRow = SimilarityRow {
    name: "subsequence",
    class: "Subsequence",
    parameters: &[
        Parameter::new("n", Values::Whole(1, 16), "The length of a subsequence.").or("3").written(),
        Parameter::new(
            "decay",
            Values::Number { least: 0.01, most: 1.0, range: "from 0.01 to 1" },
            "The weight of each spanned character.",
        )
        .or("0.5"),
        Unit::PARAMETER,
    ],
    examples: &["subsequence", "subsequence:n=1", "subsequence:n=2,decay=0.8", "subsequence:n=4,decay=1"],
    build: |step| built(Subsequence::from_step(step)),
    ..NGRAM
};

/// The normalized string subsequence kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Subsequence {
    n: usize,
    decay: f64,
    unit: Unit,
    step: Step,
}

/// A multiply-add for each of the two recursions, one of them dependent on the one before it.
const SECONDS_PER_CELL: f64 = 2e-9;

impl Subsequence {
    /// The similarity of a spec such as `subsequence` or `subsequence:n=4,decay=0.7`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`].
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = SUBSEQUENCE.arguments(step)?;
        let (n, decay, unit) = (arguments.value("n")?, arguments.value("decay")?, arguments.value("unit")?);
        Ok(Subsequence { n, decay, unit, step: step.clone() })
    }

    /// K(x, y). `tables` are those of two successive lengths, reused between calls.
    fn kernel(&self, x: &[u32], y: &[u32], tables: &mut [Vec<f64>; 2]) -> f64 {
        let (width, decay) = (y.len() + 1, self.decay);
        let [shorter, longer] = tables;
        // K′ of the first a characters of x and b of y: spans reach to the ends of both.
        shorter.clear();
        shorter.resize(width * (x.len() + 1), 1.0);
        longer.clear();
        longer.resize(width * (x.len() + 1), 0.0);
        for _ in 1..self.n {
            longer[..width].fill(0.0);
            for (a, letter) in x.iter().enumerate() {
                let (before, after) = longer.split_at_mut((a + 1) * width);
                let mut ended = 0.0;
                for (b, other) in y.iter().enumerate() {
                    let matched = if letter == other { decay * decay * shorter[a * width + b] } else { 0.0 };
                    ended = decay * ended + matched;
                    after[b + 1] = decay * before[a * width + b + 1] + ended;
                }
                after[0] = 0.0;
            }
            std::mem::swap(shorter, longer);
        }
        let last = |a: usize| y.iter().enumerate().filter(move |(_, other)| x[a] == **other).map(move |(b, _)| (a, b));
        (0..x.len()).flat_map(last).map(|(a, b)| decay * decay * shorter[a * width + b]).sum()
    }
}

impl Similarity for Subsequence {
    type Samples = Vec<String>;

    crate::macros::symmetric_step!();

    fn seconds_per_pair(&self, bases: &Vec<String>) -> f64 {
        SECONDS_PER_CELL * self.n as f64 * cells_per_pair(bases)
    }

    fn block(&self, bases: &Vec<String>, samples: &Vec<String>, block: &mut [f32]) -> Result<()> {
        let mut tables = [Vec::new(), Vec::new()];
        let mut codes = UnitCodes::new(self.unit);
        let (bases, samples) = (codes.of_all(bases), codes.of_all(samples));
        cosines(&bases, &samples, block, |x, y| self.kernel(x, y, &mut tables));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::similarity::pairwise;
    use crate::similarity::sequence_tests::of;

    use super::Subsequence;

    #[test]
    fn the_papers_example() {
        // "cat" and "car" share c-a alone: decay⁴ / (2 decay⁴ + decay⁶).
        let words = |word: &str| vec![word.to_owned()];
        let s = of("subsequence:n=2,decay=0.5", Subsequence::from_step);
        let found = pairwise(&s, &words("cat"), &words("car")).unwrap()[0];
        assert!((f64::from(found) - 1.0 / 2.25).abs() < 1e-6, "{found}");
    }
}
