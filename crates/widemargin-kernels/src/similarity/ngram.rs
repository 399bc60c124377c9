//! The cosine of the counts of character n-grams: `ngram:n=3`.
//!
//! s(x, y) = Σ_g c_g(x) c_g(y) / √(Σ c_g(x)² · Σ c_g(y)²) over the substrings g of n characters, where c_g is the
//! number of occurrences of g: the spectrum kernel of Leslie, Eskin and Noble, *The spectrum kernel: a string kernel
//! for SVM protein classification* (PSB 2002), normalized. It is positive semi-definite, from 0 to 1, and needs no
//! alignment.
//!
//! A string of fewer than n characters counts as one n-gram, itself; so s(x, x) = 1 for every string.

use super::row::{Definite, Onnx, SimilarityRow, built};
use super::term_index::TermIndex;
use super::{Comparison, Similarity};
use crate::data::{Unit, UnitCodes};
use crate::error::Result;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(super) const NGRAM: SimilarityRow = SimilarityRow {
    name: "ngram",
    class: "NGram",
    samples: &["strings"],
    parameters: &[Parameter::new("n", Values::Whole(1, 64), "Substring length.").or("3").written(), Unit::PARAMETER],
    examples: &["ngram", "ngram:n=1", "ngram:n=2"],
    definite: Definite::Positive,
    onnx: Onnx::NO_VECTORS,
    build: |step| built(NGram::from_step(step)),
};

/// The normalized spectrum kernel of strings, on exact n-grams of characters (no hash collisions).
#[derive(Clone, Debug, PartialEq)]
pub struct NGram {
    n: usize,
    unit: Unit,
    step: Step,
}

impl NGram {
    /// The similarity of a spec such as `ngram` (n = 3) or `ngram:n=5`.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for unknown parameters or an n outside 1 to 64, and
    /// [`Error::UnknownName`](crate::Error::UnknownName) for another name.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = NGRAM.arguments(step)?;
        Ok(NGram { n: arguments.value("n")?, unit: arguments.value("unit")?, step: step.clone() })
    }
}

/// The n-grams of a string, with repeats.
fn grams(units: &[u32], n: usize) -> impl Iterator<Item = &[u32]> {
    // One window of all units if there are fewer than n; otherwise the empty string would be similar to nothing.
    let short = units.len() < n;
    let windows = if short { [].windows(1) } else { units.windows(n) };
    windows.chain(short.then_some(units))
}

impl Similarity for NGram {
    type Samples = Vec<String>;

    crate::macros::symmetric_step!();

    fn block(&self, bases: &Vec<String>, samples: &Vec<String>, block: &mut [f32]) -> Result<()> {
        let mut codes = UnitCodes::new(self.unit);
        let (bases, samples) = (codes.of_all(bases), codes.of_all(samples));
        TermIndex::new(bases.iter().map(|basis| grams(basis, self.n)))
            .cosines(samples.iter().map(|sample| grams(sample, self.n)), block);
        Ok(())
    }

    fn comparison(&self, _part: usize, basis: &Vec<String>, sample: &Vec<String>) -> Result<Option<Comparison>> {
        let grams = |string: &str| {
            let units = self.unit.split(string);
            let n = self.n.min(units.len());
            let first = if n == 0 { 0..1 } else { 0..units.len() + 1 - n };
            first.map(|at| units[at..at + n].concat()).collect::<Vec<String>>().into_iter()
        };
        Ok(Some(Comparison::of_terms(grams(&basis[0]), grams(&sample[0]))))
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
