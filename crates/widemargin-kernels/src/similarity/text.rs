//! Edit-based similarities of strings: `edit:metric=levenshtein`, on characters.
//!
//! | metric | one edit | largest distance of lengths m, n | source |
//! |---|---|---|---|
//! | `levenshtein` | insert, delete or replace a character | max(m, n) | Levenshtein 1966 |
//! | `osa` | and swap two neighbors, no part edited twice | max(m, n) | optimal string alignment |
//! | `damerau` | and swap two neighbors | max(m, n) | Damerau 1964 |
//! | `indel` | insert or delete | m + n | 2 × common subsequence = m + n − distance |
//! | `lcs` | the longest common subsequence is the rest | max(m, n) | |
//! | `jaro`, `jaro-winkler` | not by edits: common characters near each other | | Jaro 1989, Winkler 1990 |
//!
//! s(x, y) = 1 − distance / largest distance is 1 for equal strings (including two empty ones) and 0 for those that
//! share nothing; with `gamma` it is exp(−gamma (1 − s)). None is positive definite in general.
//!
//! `insert`, `delete` and `substitute` are the costs of Levenshtein's edits, from the basis x to the sample y: the
//! largest distance of lengths m, n is then the less of m · delete + n · insert and min(m, n) · substitute + the rest
//! deleted or inserted.

use rapidfuzz::distance::{damerau_levenshtein, indel, jaro, jaro_winkler, lcs_seq, levenshtein, osa};

use super::Similarity;
use super::alignment::{Gaps, Mode, path};
use super::comparison::{Comparison, PathStep, Pieces};
use super::ngram::NGRAM;
use super::row::{Definite, SimilarityRow, built};
use super::term_index::cells_per_pair;
use crate::data::{Unit, UnitCodes};
use crate::error::Result;
use crate::macros::named;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(super) const EDIT: SimilarityRow = SimilarityRow {
    name: "edit",
    class: "Edit",
    parameters: &[
        Parameter::new(
            "metric",
            Values::Words(&["levenshtein", "osa", "damerau", "indel", "lcs", "jaro", "jaro-winkler"]),
            "The edits that are counted.",
        )
        .or("levenshtein"),
        Parameter::new("gamma", Values::POSITIVE, "If not set, the similarity is 1 − d / d_max.").optional(),
        Parameter::new("insert", COST, "The cost of an insertion, for `levenshtein`.").or("1"),
        Parameter::new("delete", COST, "The cost of a deletion.").or("1"),
        Parameter::new("substitute", COST, "The cost of a substitution.").or("1"),
        Unit::PARAMETER,
    ],
    examples: &[
        "edit",
        "edit:metric=osa",
        "edit:metric=indel",
        "edit:metric=lcs",
        "edit:gamma=3",
        "edit:metric=damerau",
        "edit:substitute=2",
        "edit:insert=2,delete=3,substitute=4",
        "edit:insert=1,delete=3,substitute=9,gamma=2",
    ],
    definite: Definite::No,
    build: |step| built(Edit::from_step(step)),
    ..NGRAM
};

/// The possible costs of an edit.
const COST: Values = Values::Whole(1, 1000);

/// The edits that a distance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditMetric {
    /// Insertions, deletions and substitutions.
    Levenshtein,
    /// Levenshtein with transpositions of adjacent characters, where no part of the string is edited twice.
    Osa,
    /// Levenshtein with transpositions of adjacent characters.
    Damerau,
    /// Insertions and deletions.
    Indel,
    /// The characters of the longer string outside the longest common subsequence.
    Lcs,
    /// Jaro: the proportion of common characters.
    Jaro,
    /// Jaro with a bonus of 0.1 each for up to four common first characters, if it is above 0.7.
    JaroWinkler,
}

named!("metric": EditMetric {
    "levenshtein" = EditMetric::Levenshtein,
    "osa" = EditMetric::Osa,
    "damerau" = EditMetric::Damerau,
    "indel" = EditMetric::Indel,
    "lcs" = EditMetric::Lcs,
    "jaro" = EditMetric::Jaro,
    "jaro-winkler" = EditMetric::JaroWinkler,
});

/// The names of the costs.
const COSTS: [&str; 3] = ["insert", "delete", "substitute"];

/// Edit-based similarity of strings, from 0 to 1; see the table of metrics above.
///
/// Levenshtein, OSA, indel, LCS and Jaro are bit-parallel: about ⌈m / 64⌉ · n steps per pair. Damerau takes m · n,
/// and so does Levenshtein unless all edits cost the same, or a substitution no less than an insertion and a deletion
/// that cost the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    metric: EditMetric,
    gamma: Option<f64>,
    /// To insert, to delete, to substitute.
    costs: [usize; 3],
    unit: Unit,
    step: Step,
}

impl Edit {
    /// The similarity of a spec such as `edit`, `edit:metric=osa` or `edit:gamma=4`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`], and [`Error::Parameter`](crate::Error::Parameter) for costs of another
    /// metric than `levenshtein`.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = EDIT.arguments(step)?;
        let metric = arguments.value("metric")?;
        let costs = [arguments.value("insert")?, arguments.value("delete")?, arguments.value("substitute")?];
        if let Some(name) = COSTS.into_iter().find(|name| step.values().any(|(key, _)| key == *name))
            && metric != EditMetric::Levenshtein
        {
            return Err(arguments.wrong(name, "nothing: only metric=levenshtein has costs of its own".into()));
        }
        Ok(Edit { metric, gamma: arguments.get("gamma")?, costs, unit: arguments.value("unit")?, step: step.clone() })
    }
}

impl Similarity for Edit {
    type Samples = Vec<String>;

    fn spec(&self) -> String {
        self.step.to_string()
    }

    fn seconds_per_pair(&self, bases: &Vec<String>) -> f64 {
        // The others process 64 cells at once, or only neighboring characters.
        let [insert, delete, substitute] = self.costs;
        let is_bit_parallel = insert == delete && (substitute == insert || substitute >= insert + delete);
        let is_slow = self.metric == EditMetric::Damerau || !is_bit_parallel;
        let a_cell = if is_slow { 2e-9 } else { 0.1e-9 };
        a_cell * cells_per_pair(bases)
    }

    fn block(&self, bases: &Vec<String>, samples: &Vec<String>, block: &mut [f32]) -> Result<()> {
        let n = bases.len();
        // Decoded once, since each sample is compared with every basis.
        let mut codes = UnitCodes::new(self.unit);
        let (bases, samples) = (codes.of_all(bases), codes.of_all(samples));
        let gamma = self.gamma;
        let [insertion_cost, deletion_cost, substitution_cost] = self.costs;
        let weights = levenshtein::WeightTable { insertion_cost, deletion_cost, substitution_cost };
        let weighted = levenshtein::Args::default().weights(&weights);
        let value = |s: f64| gamma.map_or(s, |gamma| (-gamma * (1.0 - s)).exp()) as f32;
        for (column, basis) in bases.into_iter().enumerate() {
            // A comparator stores the character positions of its basis, and is reused for all samples.
            macro_rules! compare {
                ($metric:ident) => { compare!($metric, normalized_similarity()) };
                ($metric:ident, $similarity:ident($($weights:expr)?)) => {{
                    let comparator = $metric::BatchComparator::new(basis);
                    for (row, sample) in samples.iter().enumerate() {
                        let s = comparator.$similarity(sample.iter().copied() $(, $weights)?);
                        block[row * n + column] = value(s);
                    }
                }};
            }
            match self.metric {
                EditMetric::Levenshtein => compare!(levenshtein, normalized_similarity_with_args(&weighted)),
                EditMetric::Osa => compare!(osa),
                EditMetric::Damerau => compare!(damerau_levenshtein),
                EditMetric::Indel => compare!(indel),
                EditMetric::Lcs => compare!(lcs_seq),
                EditMetric::Jaro => compare!(jaro),
                EditMetric::JaroWinkler => compare!(jaro_winkler),
            }
        }
        Ok(())
    }

    fn comparison(&self, _part: usize, basis: &Vec<String>, sample: &Vec<String>) -> Result<Option<Comparison>> {
        let costs = match self.metric {
            EditMetric::Levenshtein => self.costs.map(|cost| cost as i32),
            EditMetric::Osa => [1; 3],
            EditMetric::Indel | EditMetric::Lcs => [1, 1, 2],
            // Damerau's may insert between swapped characters, and Jaro has no path.
            EditMetric::Damerau | EditMetric::Jaro | EditMetric::JaroWinkler => return Ok(None),
        };
        let mut codes = UnitCodes::new(self.unit);
        let (x, y) = (codes.of(&basis[0]), codes.of(&sample[0]));
        let path = edits(costs, self.metric == EditMetric::Osa, &x, &y);
        Ok(path.map(|mut path| {
            if self.metric != EditMetric::Lcs {
                return Comparison::of("cost of the edits", Pieces::Characters { path });
            }
            let is_pair = |step: &PathStep| step.basis.is_some() && step.sample.is_some();
            path.iter_mut().for_each(|step| step.share = f64::from(u8::from(is_pair(step))));
            Comparison::of("characters in common", Pieces::Characters { path })
        }))
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        // Jaro takes common characters from the left, of one string in the order of the other.
        !matches!(self.metric, EditMetric::Jaro | EditMetric::JaroWinkler) && self.costs[0] == self.costs[1]
    }
}

/// The path from the basis x to the sample y with the cost of each step; `None` for strings whose table would be too
/// large.
///
/// `costs` are those to insert, to delete and to substitute. If they swap, neighbors may be swapped at a cost of 1.
fn edits([insert, delete, substitute]: [i32; 3], swap: bool, x: &[u32], y: &[u32]) -> Option<Vec<PathStep>> {
    let pair = |i: usize, j: usize| if x[i] == y[j] { 0 } else { -i64::from(substitute) };
    let is_swapped = |i: usize, j: usize| {
        swap && i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] && x[i - 1] != y[j - 1]
    };
    // A cost is a negative score.
    let gaps = [delete, insert].map(|cost| Gaps { open: -cost, extend: -cost });
    let path = path(Mode::Global, gaps, pair, is_swapped, [x.len(), y.len()])?;
    let steps = path.into_iter().flat_map(|PathStep { basis, sample, share }| {
        let step = |basis, sample, cost| PathStep { basis, sample, share: f64::from(cost) };
        let cost = -share as i32;
        match (basis, sample) {
            // A character for which another is deleted and inserted is no pair.
            (Some(_), Some(_)) if cost == 2 && substitute == 2 && insert + delete == 2 => {
                vec![step(basis, None, delete), step(None, sample, insert)]
            }
            _ => vec![step(basis, sample, cost)],
        }
    });
    Some(steps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::sequence_tests::{chunks_change_nothing, of};
    use crate::similarity::{Spec, pairwise};
    use proptest::prelude::*;

    fn edit(spec: &str) -> Edit {
        of(spec, Edit::from_step)
    }

    #[test]
    fn published_values() {
        let value = |metric: &str, x: &str, y: &str| {
            pairwise(&edit(&format!("edit:metric={metric}")), &vec![x.into()], &vec![y.into()]).unwrap()[0]
        };
        // The examples of Winkler's paper, and one whose two distances with swaps differ.
        assert!((value("jaro", "MARTHA", "MARHTA") - 0.944444).abs() < 1e-5);
        assert!((value("jaro", "DWAYNE", "DUANE") - 0.822222).abs() < 1e-5);
        assert!((value("jaro-winkler", "MARTHA", "MARHTA") - 0.961111).abs() < 1e-5);
        assert!((value("osa", "CA", "ABC") - 0.0).abs() < 1e-6);
        assert!((value("damerau", "CA", "ABC") - (1.0 - 2.0 / 3.0)).abs() < 1e-6);
    }

    #[test]
    fn rejects_wrong_parameters() {
        for (wrong, word) in [
            ("edit:metric=hamming", "jaro-winkler"),
            ("edit:gamma=0", "above 0"),
            ("edit:n=1", "'n'"),
            ("edit:insert=0", "1 to 1000"),
            ("edit:metric=osa,insert=2", "only metric=levenshtein"),
        ] {
            let spec: Spec = wrong.parse().unwrap();
            let message = Edit::from_step(&spec.steps[0]).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        assert_eq!(edit("edit:metric=osa,gamma=2.0").spec(), "edit:metric=osa,gamma=2.0");
    }

    #[test]
    fn graphemes_are_edited_whole() {
        // One letter of two code points is replaced by another.
        let (x, y) = (vec!["ne\u{301}e".to_owned()], vec!["no\u{308}e".to_owned()]);
        let value = |spec: &str| pairwise(&edit(spec), &x, &y).unwrap()[0];
        assert_eq!(value("edit"), 0.5);
        assert!((value("edit:unit=grapheme") - 2.0 / 3.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn a_distance_and_the_same_in_any_chunk(
            words in prop::collection::vec("[abé]{0,9}", 3..8), metric in 0usize..EditMetric::NAMES.len(),
        ) {
            let name = EditMetric::NAMES[metric].0;
            let s = edit(&format!("edit:metric={name}"));
            let block = chunks_change_nothing(&s, &words, &words);
            let n = words.len();
            let length = |i: usize| words[i].chars().count() as f32;
            let d = |i: usize, j: usize| (1.0 - block[j * n + i]) * length(i).max(length(j));
            for i in 0..n {
                prop_assert_eq!(block[i * n + i], 1.0);
                for j in 0..n {
                    prop_assert!((0.0..=1.0).contains(&block[i * n + j]));
                    if s.is_symmetric(0) {
                        prop_assert_eq!(block[i * n + j], block[j * n + i]);
                    }
                    for k in 0..n {
                        if ["levenshtein", "damerau"].contains(&name) {
                            prop_assert!(d(i, k) <= d(i, j) + d(j, k) + 1e-4);
                        }
                    }
                }
            }
        }
    }
}
