//! Strings as sparse vectors of their n-grams, the rarer ones weighing more: `tfidf:n=1-3,by=characters`.
//!
//! The weight of a term (an n-gram) that occurs t times in a string is t · idf, with idf = ln((1 + N) / (1 + df)) + 1
//! for a term that df of the N training samples have; `sublinear` takes 1 + ln t in the place of t. Rows have the
//! Euclidean norm 1, or 0 where a string has no known term.
//!
//! Salton and Buckley, *Term-weighting approaches in automatic text retrieval*, 1988; the weights are those of
//! scikit-learn's `TfidfVectorizer` as it is (`smooth_idf`, `norm="l2"`), and so are the terms, with two exceptions:
//! case is preserved, and words may have one character. `by=positions` is ours.
//!
//! Terms are known by a hash of 48 bits, so that a model has 12 bytes for each, whatever its length.

mod terms;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::terms::each_term;
use super::Descriptor;
use super::row::{DescriptorRow, fitted};
use super::term_columns::{Columns, Counts, columns_of, halves_of};
use crate::data::{CsrMatrix, Training, Unit};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Span, Values};
use crate::spec::Step;

pub use self::terms::TermsBy;

/// The longest n-gram.
const LONGEST: i64 = 64;

pub(crate) const TFIDF: DescriptorRow = DescriptorRow {
    name: "tfidf",
    class: "Tfidf",
    samples: &["strings"],
    parameters: &[
        Parameter::new("n", Values::Span(1, LONGEST), "The number of characters or words of an n-gram.")
            .or("1-3")
            .written(),
        Parameter::new(
            "by",
            Values::Words(&["characters", "words-padded", "words", "positions"]),
            "The source of the n-grams: the string, each word with a space before and after it, the words, or the \
             string with different n-grams at each position, for strings of one length.",
        )
        .or("characters"),
        Parameter::new("sublinear", Values::Flag, "Whether an n-gram that occurs t times counts 1 + ln t.").or("false"),
        Parameter::new("min_df", Values::Whole(1, 1 << 24), "The minimum number of training samples with an n-gram.")
            .or("1"),
        Unit::PARAMETER,
    ],
    usual: "features",
    build: |step| Ok(vec![Box::new(Tfidf::from_step(step)?)]),
};

/// Strings cut at a time.
const CHUNK_STRINGS: usize = 512;

/// Strings to sparse vectors of weighted n-grams, which are learned from the training samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Tfidf {
    lengths: Span,
    by: TermsBy,
    unit: Unit,
    sublinear: bool,
    min_df: usize,
    /// The column of each term; columns ascend with the hashes.
    columns: Columns,
    /// The hashes in two halves and the idf of each column, for the model file.
    state: [Vec<f32>; 3],
}

/// The names of the arrays of the state.
const STATE: [&str; 3] = ["high", "low", "idf"];

impl Tfidf {
    /// The descriptor of a step, whose parameters are `n` (default 1-3), `by` (characters), `sublinear` (false),
    /// `min_df` (1) and `unit` (character).
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = TFIDF.arguments(step)?;
        Ok(Tfidf {
            lengths: arguments.value("n")?,
            by: arguments.value("by")?,
            unit: arguments.value("unit")?,
            sublinear: arguments.value("sublinear")?,
            min_df: arguments.value("min_df")?,
            columns: Columns::default(),
            state: Default::default(),
        })
    }

    /// Learns which terms there are, and how many samples have each. A weight of k counts as k samples.
    ///
    /// # Errors
    /// [`Error::Similarity`] where the training samples have no terms; [`Error::Cancelled`].
    pub fn fit_strings(&mut self, training: &Training<'_, Vec<String>>) -> Result<()> {
        let (counts, spec) = (self.counts(training)?, self.spec());
        let n: f64 = training.weights.iter().sum();
        let mut terms: Vec<(u64, f64)> = counts.into_iter().filter(|(_, df)| *df >= self.min_df as f64).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        if terms.is_empty() {
            let problem = format!("no n-gram of it is in at least {} of the training samples", self.min_df);
            return Err(Error::similarity(spec, problem));
        }
        let [high, low] = halves_of(terms.iter().map(|(term, _)| *term));
        let idf = terms.iter().map(|(_, df)| (((1.0 + n) / (1.0 + df)).ln() + 1.0) as f32).collect();
        self.set([high, low, idf])
    }

    /// In how many samples each term is: the sums are in the order of the samples, a chunk at a time.
    fn counts(&self, training: &Training<'_, Vec<String>>) -> Result<Counts> {
        let mut all = Counts::default();
        let work = |strings: Vec<String>, weights: &[f64]| {
            let (mut counts, mut terms) = (Counts::default(), Vec::new());
            for (string, &weight) in strings.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
                terms.clear();
                each_term(string, self.by, self.unit, self.lengths, |term, _, _| terms.push(term));
                terms.sort_unstable();
                terms.dedup();
                terms.iter().for_each(|&term| *counts.entry(term).or_default() += weight);
            }
            Ok(counts)
        };
        training.fold("describe", CHUNK_STRINGS, work, |counts| {
            counts.into_iter().for_each(|(term, count)| *all.entry(term).or_default() += count);
        })?;
        Ok(all)
    }

    fn set(&mut self, state: [Vec<f32>; 3]) -> Result<()> {
        let [high, low, idf] = &state;
        let found = format!("{} high, {} low, {} idf", high.len(), low.len(), idf.len());
        match columns_of(high, low) {
            Some(columns) if high.len() == idf.len() && idf.iter().all(|idf| idf.is_finite()) => {
                self.columns = columns;
                self.state = state;
                Ok(())
            }
            _ => {
                let what = format!("learned terms of '{}'", self.spec());
                Err(Error::shape(what, found, "as many of each, the terms ascending"))
            }
        }
    }

    /// The vectors of strings. For a string of t terms, t look-ups and t · log t comparisons.
    ///
    /// # Errors
    /// [`Error::Similarity`] where it was not fitted.
    pub fn vectors(&self, strings: &[String]) -> Result<CsrMatrix<f32>> {
        let [.., idf] = &self.state;
        if idf.is_empty() {
            return Err(Error::similarity(self.spec(), "its n-grams have not been learned yet: fit it first"));
        }
        let mut matrix = CsrMatrix::empty(idf.len());
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for string in strings {
            columns.clear();
            each_term(string, self.by, self.unit, self.lengths, |term, _, _| columns.extend(self.columns.get(&term)));
            columns.sort_unstable();
            values.clear();
            for same in columns.chunk_by(|a, b| a == b) {
                let n = same.len() as f64;
                let count = if self.sublinear { 1.0 + n.ln() } else { n };
                matrix.indices.push(same[0]);
                values.push(count * f64::from(idf[same[0] as usize]));
            }
            let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
            matrix.values.extend(values.iter().map(|value| (value / norm) as f32));
            matrix.indptr.push(matrix.values.len());
        }
        Ok(matrix)
    }
}

impl Descriptor for Tfidf {
    fn spec(&self) -> String {
        let mut spec = format!("tfidf:n={}", self.lengths);
        if self.by != TermsBy::Characters {
            spec += &format!(",by={}", self.by);
        }
        if self.sublinear {
            spec += ",sublinear=true";
        }
        if self.min_df > 1 {
            spec += &format!(",min_df={}", self.min_df);
        }
        if self.unit != Unit::Character {
            spec += &format!(",unit={}", self.unit);
        }
        spec
    }

    fitted!(Vec<String>, "cuts strings", fit: fit_strings, vectors: Sparse(vectors), restore: set);

    fn terms(&self, strings: &[String]) -> Option<BTreeMap<usize, String>> {
        let (mut all, between) = (BTreeMap::new(), if self.by == TermsBy::Words { " " } else { "" });
        for string in strings {
            each_term(string, self.by, self.unit, self.lengths, |term, pieces, first| {
                if let Some(&column) = self.columns.get(&term) {
                    let gram =
                        || pieces.iter().map(|piece| String::from_utf8_lossy(piece)).collect::<Vec<_>>().join(between);
                    all.entry(column as usize).or_insert_with(|| match self.by {
                        TermsBy::Positions => format!("{} at {}", gram(), first + 1),
                        _ => gram(),
                    });
                }
            });
        }
        Some(all)
    }
}
