//! Alignment scores of strings as a similarity: `align:mode=local,match=2,mismatch=-1,open=-2,extend=-1`.
//!
//! An alignment writes two strings below each other with gaps. A pair of characters scores `match`, `mismatch` or the
//! entry of a substitution matrix ([`matrices`]), a gap of k characters `open` + (k − 1)·`extend` (as in EMBOSS and
//! Biopython; BLAST's costs 11 and 1 are open=-12,extend=-1). The score is that of the best `global` alignment
//! (Needleman and Wunsch 1970) or, over all pairs of substrings, `local` alignment (Smith and Waterman 1981), or
//! `semiglobal`, where gaps at either end of either string are free (for strings that overlap, or where one is part of
//! the other); by the recursion of Gotoh (1982):
//!
//! > E = max(E↑ + extend, H↑ + open), F = max(F← + extend, H← + open), H = max(H↖ + score, E, F), and 0 if local.
//!
//! H is 0 on the upper and left edges unless global; the score is the last H if global, the largest of the last row and
//! column if semi-global, and of the whole table if local.
//!
//! s(x, y) = score(x, y) / √(score(x, x)·score(y, y)) is 1 for equal strings, and at least 0 unless global; with
//! `normalize=false` it is the raw score. Neither is positive definite in general (Saigo et al. 2004 sum over
//! alignments instead).

mod lanes;
mod matrices;
mod path;
mod scores;

pub(super) use self::lanes::Gaps;
use self::lanes::{Group, Work};
use self::matrices::Matrix;
pub(super) use self::path::path;
pub(super) use self::scores::Mode;
use self::scores::Scores;
use super::ngram::NGRAM;
use super::row::{Definite, SimilarityRow, built};
use super::term_index::cells_per_pair;
use super::{Comparison, Pieces, Similarity};
use crate::data::{Unit, UnitCodes};
use crate::error::{Error, Result};
use crate::isa::Isa;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(super) const ALIGN: SimilarityRow = SimilarityRow {
    name: "align",
    class: "Align",
    parameters: &[
        Parameter::new(
            "mode",
            Values::Words(&["local", "global", "semiglobal"]),
            "The kind of alignment; in `semiglobal`, gaps at the ends of either string are free.",
        )
        .or("local"),
        Parameter::new("match", Values::Whole(1, 1000), "The score of a pair of equal characters.").or("2"),
        Parameter::new("mismatch", Values::Whole(-1000, 0), "The score of a pair of different characters.").or("-1"),
        Parameter::new(
            "matrix",
            Values::Words(matrices::NAMES),
            "Scores of pairs of amino acids or, for `nuc44`, nucleotides, which replace `match` and `mismatch`; case \
             is ignored, and gaps, stops and unknown letters count as X, or N for `nuc44`.",
        )
        .optional(),
        Parameter::new("open", Values::Whole(-1000, 0), "By default −2, or −11 with a matrix.").optional(),
        Parameter::new("extend", Values::Whole(-1000, 0), "At least `open`; by default −1.").optional(),
        Parameter::new("normalize", Values::Flag, "Whether to divide by √(score(x, x) score(y, y)).").or("true"),
        Unit::PARAMETER,
    ],
    examples: &[
        "align",
        "align:mode=global",
        "align:match=3,mismatch=-2,open=-4,extend=0,normalize=false",
        "align:mode=global,normalize=false",
        "align:mode=semiglobal",
        "align:mode=semiglobal,open=-3,extend=-1,normalize=false",
    ],
    definite: Definite::No,
    build: |step| built(Alignment::from_step(step)),
    ..NGRAM
};

/// Similarity of strings by their best alignment, character by character. Scores are whole numbers and exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Alignment {
    mode: Mode,
    scores: Scores,
    gaps: Gaps,
    normalized: bool,
    unit: Unit,
    step: Step,
}

impl Alignment {
    /// The similarity of a spec such as `align` or `align:mode=global,matrix=blosum62`.
    ///
    /// `mode` is local (default), global or semiglobal; `match` (default 2) is above 0, `mismatch` (−1) at most 0;
    /// `matrix` is blosum45, blosum62, blosum80, pam250 or nuc44, instead of these two; `open` (−2, with a matrix −11)
    /// and `extend` (−1) are at most 0, and opening a gap costs at least as much as extending one. `normalize` is true
    /// (default) or false.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters it does not know or that are outside their domain, and
    /// [`Error::UnknownName`] for another name.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = ALIGN.arguments(step)?;
        let scores = match arguments.text("matrix") {
            None => Scores::Equal { same: arguments.value("match")?, other: arguments.value("mismatch")? },
            Some(matrix) => {
                let is_set = |name: &&str| step.values().any(|(key, _)| key == *name);
                if let Some(unused) = ["match", "mismatch", "unit"].into_iter().find(is_set) {
                    return Err(arguments.wrong(unused, format!("it is not known where matrix={matrix} scores pairs")));
                }
                let unknown = || Error::unknown("matrix", matrix, matrices::NAMES.iter().copied());
                Scores::Matrix(Matrix::named(matrix).ok_or_else(unknown)?)
            }
        };
        let open = arguments.get("open")?.unwrap_or(if matches!(scores, Scores::Matrix(_)) { -11 } else { -2 });
        let extend = arguments.get("extend")?.unwrap_or(open.max(-1));
        if extend < open {
            return Err(arguments.wrong("extend", format!("a whole number from open = {open} to 0")));
        }
        let (mode, normalized) = (arguments.value("mode")?, arguments.value("normalize")?);
        let (gaps, unit) = (Gaps { open, extend }, arguments.value("unit")?);
        Ok(Alignment { mode, scores, gaps, normalized, unit, step: step.clone() })
    }

    /// Encodes the strings for scoring.
    fn encode<'s>(&self, is_basis: bool, strings: &'s [String], codes: &mut UnitCodes<'s>) -> Result<Vec<Vec<i32>>> {
        let code = |(number, string): (usize, &'s String)| {
            let wrong = |problem| Error::Sample { similarity: self.spec(), is_basis, number, problem };
            // Scores of longer strings could overflow 32 bits; their tables would take hours.
            if string.len() > 1 << 19 {
                return Err(wrong("has more than 2^19 bytes".into()));
            }
            let Scores::Matrix(matrix) = self.scores else {
                return Ok(codes.of(string).into_iter().map(|code| code as i32).collect());
            };
            let of_letter = |letter: char| {
                matrix.code(letter).ok_or_else(|| {
                    let (letter, Matrix { name, letters, .. }) = (letter.escape_default(), matrix);
                    wrong(format!("has '{letter}', which is not a letter of {name}: {letters}"))
                })
            };
            string.chars().map(of_letter).collect()
        };
        strings.iter().enumerate().map(code).collect()
    }

    /// The score of each string with itself.
    fn with_itself(&self, isa: Isa, strings: &[Vec<i32>], work: &mut Work) -> Vec<f64> {
        let score = |string: &Vec<i32>| match self.scores {
            // Matching every character is optimal.
            Scores::Equal { same, .. } => f64::from(same) * string.len() as f64,
            // No pair of residues scores more than the mean of their self-scores; only those that stand for several,
            // such as X, have a negative self-score.
            Scores::Matrix(matrix) if string.iter().all(|&code| matrix.score(code, code) > 0) => {
                string.iter().map(|&code| f64::from(matrix.score(code, code))).sum()
            }
            Scores::Matrix(_) => {
                let group = Group::new(isa, &self.scores, &[string.as_slice()]);
                f64::from(group.scores(isa, self.mode, self.gaps, string, work)[0])
            }
        };
        strings.iter().map(score).collect()
    }
}

/// With eight lanes or more.
const SECONDS_PER_CELL: f64 = 0.5e-9;

impl Similarity for Alignment {
    type Samples = Vec<String>;

    crate::macros::symmetric_step!();

    fn seconds_per_pair(&self, bases: &Vec<String>) -> f64 {
        SECONDS_PER_CELL * cells_per_pair(bases)
    }

    fn block(&self, bases: &Vec<String>, samples: &Vec<String>, block: &mut [f32]) -> Result<()> {
        let (isa, n, mut work) = (Isa::best(), bases.len(), Work::default());
        let mut codes = UnitCodes::new(self.unit);
        let (bases, samples) = (self.encode(true, bases, &mut codes)?, self.encode(false, samples, &mut codes)?);
        let of_bases = self.with_itself(isa, &bases, &mut work);
        let of_samples = self.with_itself(isa, &samples, &mut work);
        // Sorted by length, so that the strings of a group end together. Integer scores do not depend on the lane.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&basis| bases[basis].len());
        for members in order.chunks(isa.lanes()) {
            let strings: Vec<&[i32]> = members.iter().map(|&basis| bases[basis].as_slice()).collect();
            let group = Group::new(isa, &self.scores, &strings);
            for (row, sample) in samples.iter().enumerate() {
                let scores = group.scores(isa, self.mode, self.gaps, sample, &mut work);
                for (&basis, &score) in members.iter().zip(scores) {
                    let size = (of_bases[basis] * of_samples[row]).sqrt();
                    block[row * n + basis] = match self.normalized {
                        false => score as f32,
                        true if size > 0.0 => (f64::from(score) / size) as f32,
                        // An empty string, or one of unknown residues, is similar only to itself.
                        true => f32::from(bases[basis] == *sample),
                    };
                }
            }
        }
        Ok(())
    }

    fn comparison(&self, _part: usize, basis: &Vec<String>, sample: &Vec<String>) -> Result<Option<Comparison>> {
        let mut codes = UnitCodes::new(self.unit);
        let x = self.encode(true, basis, &mut codes)?.remove(0);
        let y = self.encode(false, sample, &mut codes)?.remove(0);
        let pair = |i: usize, j: usize| match self.scores {
            Scores::Equal { same, other } => i64::from(if x[i] == y[j] { same } else { other }),
            Scores::Matrix(matrix) => i64::from(matrix.score(x[i], y[j])),
        };
        let path = path(self.mode, [self.gaps; 2], pair, |_, _| false, [x.len(), y.len()]);
        Ok(path.map(|path| Comparison::of("score of the alignment", Pieces::Characters { path })))
    }
}

#[cfg(test)]
mod tests;
