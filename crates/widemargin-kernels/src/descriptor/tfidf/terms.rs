//! The terms of a string: n-grams of its characters or of its words, hashed.

use super::super::ngrams::Fnv;
use super::super::term_columns::cut;
use crate::data::Unit;
use crate::macros::named;
use crate::parameters::Span;

/// The source of n-grams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TermsBy {
    /// The characters of the string, white space of several characters being one space.
    #[default]
    Characters,
    /// The characters of each word (separated by white space) with a space before and after it. A word shorter than
    /// the shortest n-gram is one itself.
    PaddedWords,
    /// The words: runs of letters, digits and underscores.
    Words,
    /// The characters of the string, where an n-gram is a different one at each position: of strings whose positions
    /// correspond, such as DNA around splice sites (the weighted degree kernel: Rätsch and Sonnenburg, *Accurate splice
    /// site prediction for Caenorhabditis elegans*, 2004).
    Positions,
}

named!("by": TermsBy {
    "characters" = TermsBy::Characters,
    "words-padded" = TermsBy::PaddedWords,
    "words" = TermsBy::Words,
    "positions" = TermsBy::Positions,
});

/// Calls `term` with the hash of each n-gram of a string, its characters or words, and the position of the first of
/// them, n being any of `lengths`, as often as it occurs. A string of fewer characters or words than the least n has
/// none.
pub(super) fn each_term(
    string: &str,
    by: TermsBy,
    unit: Unit,
    lengths: Span,
    mut term: impl FnMut(u64, &[&[u8]], usize),
) {
    let anywhere = |_| Fnv::default();
    match by {
        TermsBy::Characters => {
            let spaced = one_space(string);
            each_gram(pieces(spaced.as_deref().unwrap_or(string), unit), lengths, "", anywhere, &mut term);
        }
        TermsBy::Positions => {
            let there = |first: usize| Fnv::default().with(&(first as u64).to_le_bytes());
            each_gram(pieces(string, unit), lengths, "", there, &mut term);
        }
        TermsBy::PaddedWords => {
            let mut padded = String::new();
            for word in string.split_whitespace() {
                padded.clear();
                padded.extend([" ", word, " "]);
                let pieces = pieces(&padded, unit);
                let n = pieces.len() as i64;
                // Too short a word is an n-gram itself.
                let lengths = Span { first: lengths.first.min(n), ..lengths };
                each_gram(pieces, lengths, "", anywhere, &mut term);
            }
        }
        TermsBy::Words => {
            let words = string.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
            each_gram(words.map(str::as_bytes).collect(), lengths, " ", anywhere, &mut term);
        }
    }
}

/// The units of a string as bytes.
fn pieces(string: &str, unit: Unit) -> Vec<&[u8]> {
    let mut all = Vec::with_capacity(string.len());
    unit.each(string, |piece| all.push(piece.as_bytes()));
    all
}

/// The string with one space where there is white space of several characters; none where there is no such place.
fn one_space(string: &str) -> Option<String> {
    let mut before = false;
    let is_second = |c: char| std::mem::replace(&mut before, c.is_whitespace()) && c.is_whitespace();
    string.contains(is_second).then(|| {
        let mut out = String::with_capacity(string.len());
        let mut rest = string;
        while let Some(at) = rest.find(char::is_whitespace) {
            let after = rest[at..].trim_start();
            let blank = &rest[at..rest.len() - after.len()];
            out.push_str(&rest[..at]);
            out.push_str(if blank.chars().nth(1).is_some() { " " } else { blank });
            rest = after;
        }
        out + rest
    })
}

/// The n-grams that begin at a piece continue each other, so that each piece is hashed once for each length: 2 integer
/// operations per byte and length, and a table's look-up per term in the caller. `start` is the hash of nothing at a
/// position.
fn each_gram(
    pieces: Vec<&[u8]>,
    lengths: Span,
    between: &str,
    start: impl Fn(usize) -> Fnv,
    term: &mut impl FnMut(u64, &[&[u8]], usize),
) {
    for first in 0..pieces.len() {
        let mut hash = start(first);
        for (before, piece) in pieces[first..].iter().take(lengths.last as usize).enumerate() {
            if before > 0 {
                hash = hash.with(between.as_bytes());
            }
            hash = hash.with(piece);
            if before as i64 + 1 >= lengths.first {
                term(cut(hash.mixed()), &pieces[first..=first + before], first);
            }
        }
    }
}
