//! The weights and terms of a few strings, compared with the definition, implemented again without a hash.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::data::{AnySamples, Vectors};
use crate::monitor::Monitor;
use crate::similarity::{AnySimilarity, Similarity};

fn owned(strings: &[&str]) -> Vec<String> {
    strings.iter().map(|&string| string.to_owned()).collect()
}

fn fitted(spec: &str, strings: &[String], weights: &[f64]) -> Result<Tfidf> {
    let spec: crate::similarity::Spec = spec.parse().unwrap();
    let mut tfidf = Tfidf::from_step(&spec.steps[0])?;
    let samples = strings.to_vec();
    tfidf.fit_strings(&Training { samples: &samples, weights, threads: 2, monitor: &Monitor::none() })?;
    Ok(tfidf)
}

/// The n-grams of a string by its definition.
fn grams(string: &str, by: TermsBy, lengths: Span) -> Vec<String> {
    let windows = |pieces: &[String], between: &str, first: usize| -> Vec<String> {
        let of = |n: usize| pieces.windows(n).map(|window| window.join(between)).collect::<Vec<_>>();
        (first..=lengths.last as usize).flat_map(of).collect()
    };
    let characters = |string: &str| string.chars().map(String::from).collect::<Vec<_>>();
    let first = lengths.first as usize;
    match by {
        TermsBy::Characters => windows(&characters(string), "", first),
        TermsBy::PaddedWords => {
            let padded = |word: &str| {
                let pieces = characters(&format!(" {word} "));
                windows(&pieces, "", first.min(pieces.len()))
            };
            string.split(' ').filter(|word| !word.is_empty()).flat_map(padded).collect()
        }
        TermsBy::Words => {
            let words: Vec<String> =
                string.split([' ', '-', '.']).filter(|word| !word.is_empty()).map(String::from).collect();
            windows(&words, " ", first)
        }
        TermsBy::Positions => {
            let all = characters(string);
            let of = |n: usize| all.windows(n).enumerate().map(|(at, window)| format!("{} at {at}", window.concat()));
            (first..=lengths.last as usize).flat_map(of).collect()
        }
    }
}

/// The Gram matrix of the vectors by their definition.
fn gram_matrix(strings: &[String], tfidf: &Tfidf) -> Vec<f64> {
    let all: Vec<Vec<String>> = strings.iter().map(|string| grams(string, tfidf.by, tfidf.lengths)).collect();
    let n = strings.len() as f64;
    let vector = |terms: &Vec<String>| -> BTreeMap<String, f64> {
        let mut values = BTreeMap::new();
        for term in terms {
            let t = terms.iter().filter(|other| *other == term).count() as f64;
            let df = all.iter().filter(|other| other.contains(term)).count() as f64;
            if df >= tfidf.min_df as f64 {
                let t = if tfidf.sublinear { 1.0 + t.ln() } else { t };
                values.insert(term.clone(), t * (((1.0 + n) / (1.0 + df)).ln() + 1.0));
            }
        }
        let norm = values.values().map(|value| value * value).sum::<f64>().sqrt();
        values.values_mut().for_each(|value| *value /= norm);
        values
    };
    let vectors: Vec<_> = all.iter().map(vector).collect();
    let product = |a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>| -> f64 {
        a.iter().filter_map(|(term, value)| Some(value * b.get(term)?)).sum()
    };
    vectors.iter().flat_map(|a| vectors.iter().map(|b| product(a, b)).collect::<Vec<_>>()).collect()
}

fn dense(matrix: &CsrMatrix<f32>) -> Vec<f32> {
    Vectors::Sparse(matrix.clone()).dense().unwrap().values.clone()
}

proptest! {
    #[test]
    fn vectors_are_those_of_the_definition(
        strings in proptest::collection::vec("([abé]|[ab] [ab]|-|\\.|[aé]{3}){0,5}", 1..8),
        by in proptest::sample::select(vec!["characters", "words-padded", "words", "positions"]),
        (first, more, min_df, sublinear) in (1usize..4, 0usize..3, 1usize..3, any::<bool>()),
    ) {
        let spec = format!("tfidf:n={first}-{},by={by},sublinear={sublinear},min_df={min_df}", first + more);
        // Strings without any terms are an error.
        if let Ok(tfidf) = fitted(&spec, &strings, &vec![1.0; strings.len()]) {
            let matrix = tfidf.vectors(&strings).unwrap();
            prop_assert!(matrix.view().is_ok());
            let rows = dense(&matrix);
            let row = |at: usize| &rows[at * matrix.n_cols..(at + 1) * matrix.n_cols];
            let expected = gram_matrix(&strings, &tfidf);
            for (at, expected) in expected.iter().enumerate() {
                let (a, b) = (row(at / strings.len()), row(at % strings.len()));
                let found: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                prop_assert!((found - expected).abs() < 1e-6, "{found} {expected} {strings:?}");
            }
        }
    }

    #[test]
    fn a_weight_counts_as_copies(strings in proptest::collection::vec("[abc]{1,4}", 2..6)) {
        let weights: Vec<f64> = (0..strings.len()).map(|row| (row % 3) as f64).collect();
        let copies: Vec<String> =
            strings.iter().zip(&weights).flat_map(|(string, &k)| vec![string.clone(); k as usize]).collect();
        let weighted = fitted("tfidf", &strings, &weights).unwrap();
        let copied = fitted("tfidf", &copies, &vec![1.0; copies.len()]).unwrap();
        prop_assert_eq!(weighted.state(), copied.state());
    }
}

#[test]
fn white_space_of_several_characters_is_one_space() {
    let tfidf = fitted("tfidf:n=3", &owned(&["a b", "a\tb"]), &[1.0, 1.0]).unwrap();
    let rows = dense(&tfidf.vectors(&owned(&["a \n b", "a  b", "a\tb", "a\u{2003}b"])).unwrap());
    assert_eq!(tfidf.state[2].len(), 2);
    assert!(rows[0..2] == rows[2..4] && rows[4..6] != rows[0..2] && rows[6..8] == [0.0, 0.0], "{rows:?}");
}

#[test]
fn terms_by_positions_are_named_with_them() {
    let strings = owned(&["aab", "aba"]);
    let tfidf = fitted("tfidf:n=1-2,by=positions", &strings, &[1.0; 2]).unwrap();
    let mut names: Vec<String> = tfidf.terms(&strings).unwrap().into_values().collect();
    names.sort();
    assert_eq!(names, ["a at 1", "a at 2", "a at 3", "aa at 1", "ab at 1", "ab at 2", "b at 2", "b at 3", "ba at 2"]);
}

#[test]
fn a_model_stores_the_fitted_state() {
    let strings = owned(&["abc", "abd", "", "xyz"]);
    let mut similarity = AnySimilarity::new(&["tfidf:n=1-2,min_df=1/linear"]).unwrap();
    let samples = AnySamples::Strings(strings);
    similarity.fit(&Training { samples: &samples, weights: &[1.0; 4], threads: 1, monitor: &Monitor::none() }).unwrap();
    assert_eq!(similarity.takes(), ["strings"]);
    let mut again = AnySimilarity::new(&similarity.specs()).unwrap();
    let state: BTreeMap<String, Vec<f32>> =
        similarity.state().into_iter().map(|(name, values)| (name, values.to_vec())).collect();
    again.restore(&mut |name| Ok(state[name].clone())).unwrap();
    let described = |similarity: &AnySimilarity| format!("{:?}", similarity.describe(samples.clone()).unwrap());
    assert_eq!(described(&again), described(&similarity));
    // Damaged arrays are refused.
    for (name, wrong) in [("descriptor.0.idf", vec![1.0]), ("descriptor.0.high", vec![-1.0; state.len()])] {
        let take = &mut |array: &str| Ok(if array == name { wrong.clone() } else { state[array].clone() });
        assert!(again.restore(take).unwrap_err().to_string().contains("ascending"));
    }
}

#[test]
fn rejects_wrong_parameters_and_samples() {
    let message = |result: Result<Tfidf>| result.unwrap_err().to_string();
    assert!(fitted("tfidf:n=0-2", &[], &[]).is_err() && fitted("tfidf:n=1-65", &[], &[]).is_err());
    assert!(message(fitted("tfidf:n=3-2", &[], &[])).contains("1-3"));
    assert!(message(fitted("tfidf:n=5", &owned(&["abc"]), &[1.0])).contains("no n-gram"));
    let spec: crate::similarity::Spec = "tfidf".parse().unwrap();
    let unfitted = Tfidf::from_step(&spec.steps[0]).unwrap();
    assert!(unfitted.vectors(&owned(&["a"])).unwrap_err().to_string().contains("fit it first"));
    let images = AnySamples::Vectors(Vectors::Dense(crate::data::DenseMatrix::default()));
    assert!(unfitted.describe(images).unwrap_err().to_string().contains("cuts strings"));
}
