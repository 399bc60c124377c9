//! Class labels: integers or strings. Multilabel targets are in `label_sets.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::label_sets::LabelSets;
use crate::error::{Error, Result};
use crate::macros::getters;

/// A class label. Integers sort before texts, integers by value and texts by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Label {
    /// A whole number.
    Integer(i64),
    /// Any other label.
    Text(String),
}

impl Label {
    /// Parses a label: a whole number in any usual notation (`3`, `+1`, `-1.0`) becomes an integer, so that files with
    /// different notations agree; anything else is text, as are digits with leading zeros (`007`, a postal code).
    pub fn parse(text: &str) -> Label {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
        if matches!(digits, [b'0', second, ..] if second.is_ascii_digit()) {
            return Label::Text(text.to_owned());
        }
        if let Ok(integer) = text.parse::<i64>() {
            return Label::Integer(integer);
        }
        let looks_numeric = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        match text.parse::<f64>() {
            // Up to 2^53 every whole f64 represents the integer exactly.
            Ok(number) if looks_numeric && number.fract() == 0.0 && number.abs() < 9.0e15 => {
                Label::Integer(number as i64)
            }
            _ => Label::Text(text.to_owned()),
        }
    }

    /// The class that a label of a file is: itself, or the only class that is spelled like it, such as the text `1` for
    /// the integer 1. None of the classes if it is a label of its own.
    #[doc(hidden)]
    pub fn class_among<'a>(&self, classes: &'a [Label]) -> Option<&'a Label> {
        if let Some(same) = classes.iter().find(|class| *class == self) {
            return Some(same);
        }
        let value = Label::parse(&self.to_string());
        let mut alike = classes.iter().filter(|class| Label::parse(&class.to_string()) == value);
        alike.next().filter(|_| alike.next().is_none())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Integer(integer) => integer.fmt(f),
            Label::Text(text) => text.fmt(f),
        }
    }
}

impl From<i64> for Label {
    fn from(integer: i64) -> Self {
        Label::Integer(integer)
    }
}

macro_rules! labels_from_integers {
    ($($integer:ty)+) => {$(
        impl From<$integer> for Label {
            fn from(integer: $integer) -> Self {
                i64::from(integer).into()
            }
        }
    )+};
}
labels_from_integers! { i8 i16 i32 u8 u16 u32 bool }

impl From<usize> for Label {
    /// An integer, or text beyond the range of `i64`.
    fn from(integer: usize) -> Self {
        i64::try_from(integer).map_or_else(|_| Label::Text(integer.to_string()), Label::Integer)
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Label::Text(text)
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Label::Text(text.to_owned())
    }
}

/// The labels of a set of samples: the ordered classes, and for each sample the index of its class. Of multilabel
/// targets ([`Labels::multilabel`]) the classes are the labels, and the codes number the sets of them that occur.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    pub(super) classes: Vec<Label>,
    pub(super) codes: Vec<u32>,
    /// The label sets that the codes number, for multilabel targets.
    pub(super) sets: Option<LabelSets>,
}

/// The labels of consecutive parts, each with its own classes.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct LabelParts {
    /// The number of each class in order of occurrence.
    numbers: BTreeMap<Label, u32>,
    codes: Vec<u32>,
}

impl LabelParts {
    fn number(&mut self, class: Label) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(class).or_insert(next)
    }

    /// Appends labels: equal labels are the same class, whatever their codes.
    pub fn append(&mut self, labels: &Labels) {
        let numbers: Vec<u32> = labels.classes.iter().map(|class| self.number(class.clone())).collect();
        self.codes.extend(labels.codes.iter().map(|&code| numbers[code as usize]));
    }

    /// All labels, with sorted classes.
    pub fn finish(self) -> Labels {
        let LabelParts { numbers, mut codes } = self;
        let mut sorted = vec![0u32; numbers.len()];
        for (position, &number) in numbers.values().enumerate() {
            sorted[number as usize] = position as u32;
        }
        codes.iter_mut().for_each(|code| *code = sorted[*code as usize]);
        codes.shrink_to_fit();
        Labels { classes: numbers.into_keys().collect(), codes, sets: None }
    }
}

impl Labels {
    /// Encodes one label per sample; the classes are those that occur, sorted.
    pub fn new<L: Into<Label>>(labels: impl IntoIterator<Item = L>) -> Labels {
        let mut parts = LabelParts::default();
        for label in labels {
            let number = parts.number(label.into());
            parts.codes.push(number);
        }
        parts.finish()
    }

    /// Labels that are already encoded: the classes in the caller's order, and for each sample the index of its class.
    /// A class may have no samples.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a repeated class, [`Error::Shape`] for a code that is out of range.
    pub fn from_codes(classes: Vec<Label>, codes: Vec<u32>) -> Result<Labels> {
        let mut distinct = BTreeSet::new();
        if let Some(twice) = classes.iter().find(|label| !distinct.insert(*label)) {
            return Err(Error::parameter("classes", format!("'{twice}', twice"), "each class once"));
        }
        if let Some(row) = codes.iter().position(|&code| code as usize >= classes.len()) {
            let expected = format!("numbers below {}, that of the classes", classes.len());
            return Err(Error::shape("codes of labels", format!("{} at row {row} (from 0)", codes[row]), expected));
        }
        Ok(Labels { classes, codes, sets: None })
    }

    getters! {
        /// The classes: sorted, or in the order of [`Labels::from_codes`].
        classes: &[Label];
        /// The index of each sample's class in [`Labels::classes`], or of its label set for multilabel targets.
        codes: &[u32];
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// True if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The label of one sample.
    ///
    /// # Panics
    /// For multilabel targets.
    pub fn get(&self, row: usize) -> &Label {
        &self.classes[self.codes[row] as usize]
    }

    /// The same with the classes of these samples, in the same order, and with all labels of multilabel targets. Others get
    /// the first class.
    pub(super) fn with_classes_of(mut self, is_one: impl Fn(usize) -> bool) -> Labels {
        if self.sets.is_some() {
            return self;
        }
        let mut is_selected = vec![false; self.classes.len()];
        let samples = self.codes.iter().enumerate().filter(|(sample, _)| is_one(*sample));
        samples.for_each(|(_, &code)| is_selected[code as usize] = true);
        let mut n_before = 0;
        let codes = is_selected.iter().map(|&selected| {
            n_before += u32::from(selected);
            if selected { n_before - 1 } else { 0 }
        });
        let codes: Vec<u32> = codes.collect();
        self.codes.iter_mut().for_each(|code| *code = codes[*code as usize]);
        let mut selected = is_selected.into_iter();
        self.classes.retain(|_| selected.next() == Some(true));
        self
    }
}

#[doc(hidden)]
impl Labels {
    /// The sum of the samples' weights in each class.
    pub fn class_weights(&self, weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        self.codes.iter().zip(weights).for_each(|(&code, weight)| sums[code as usize] += weight);
        sums
    }

    /// The weight of each class; empty for multilabel targets.
    pub fn population(&self, weights: &[f64]) -> Vec<f64> {
        if self.is_multilabel() { Vec::new() } else { self.class_weights(weights) }
    }

    /// The labels of a file as a model's classes: each becomes the class that it is spelled like, if there is one.
    pub fn as_classes(&self, classes: &[Label]) -> Labels {
        if self.sets.is_some() || self.classes.iter().all(|label| classes.contains(label)) {
            return self.clone();
        }
        let named: Vec<Label> =
            self.classes.iter().map(|label| label.class_among(classes).unwrap_or(label).clone()).collect();
        Labels::new(self.codes.iter().map(|&code| named[code as usize].clone()))
    }

    /// The labels of these rows, in this order. Classes without samples are dropped, and the others sorted; all labels
    /// of multilabel targets stay.
    pub fn select(&self, rows: &[usize]) -> Labels {
        if self.sets.is_some() {
            return self.of_rows(rows);
        }
        Labels::new(rows.iter().map(|&row| self.get(row).clone()))
    }

    /// The labels of these rows, with the classes that have a row, in the same order.
    pub fn present(&self, rows: &[usize]) -> Labels {
        self.of_rows(rows).with_classes_of(|_| true)
    }

    /// The labels of these rows, with all classes.
    pub fn of_rows(&self, rows: &[usize]) -> Labels {
        let codes = rows.iter().map(|&row| self.codes[row]).collect();
        Labels { classes: self.classes.clone(), codes, sets: self.sets.clone() }
    }

    /// Checks that there is one label for each of `n_rows` samples and that they have at least two classes, or at least
    /// one label of multilabel targets.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NoSamples`] or [`Error::OneClass`].
    pub fn check(&self, n_rows: usize) -> Result<()> {
        self.check_number(n_rows)?;
        match self.classes.as_slice() {
            [] => Err(Error::NoSamples("")),
            [only] if self.sets.is_none() => Err(Error::OneClass { label: only.to_string(), n_samples: n_rows }),
            _ => Ok(()),
        }
    }

    /// Checks that there is one label for each of `n_rows` samples.
    pub fn check_number(&self, n_rows: usize) -> Result<()> {
        if self.len() == n_rows {
            return Ok(());
        }
        Err(Error::shape("labels", format!("{} labels", self.len()), format!("{n_rows}, one a sample")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_without_weight_are_absent() {
        use crate::data::ClassWeight;
        let classes = ["b", "z", "a"].map(Label::from).to_vec();
        let labels = Labels::from_codes(classes, vec![0, 1, 2, 0, 1]).unwrap();
        let weighted = labels.clone().weighted(&ClassWeight::Uniform, &[1.0, 0.0, 0.5, 0.0, 0.0]);
        assert_eq!(weighted.classes(), ["b", "a"].map(Label::from));
        assert_eq!(weighted.codes(), [0, 0, 1, 0, 0]);
        assert_eq!(labels.clone().weighted(&ClassWeight::Uniform, &[1.0; 5]), labels);
        assert_eq!(labels.present(&[4, 2]).classes(), ["z", "a"].map(Label::from));
    }

    #[test]
    fn classes_are_sorted_and_codes_follow() {
        let labels = Labels::new([7i64, -1, 7, 3]);
        assert_eq!(labels.classes(), [Label::Integer(-1), Label::Integer(3), Label::Integer(7)]);
        assert_eq!(labels.codes(), [2, 0, 2, 1]);
        let part = labels.select(&[0, 1]);
        assert_eq!(part.classes(), [Label::Integer(-1), Label::Integer(7)]);
        assert_eq!(part.codes(), [1, 0]);
    }

    #[test]
    fn codes_keep_the_callers_order_of_classes() {
        let classes = vec![Label::from("no"), Label::from("yes"), Label::from("maybe")];
        let labels = Labels::from_codes(classes.clone(), vec![1, 0, 1]).unwrap();
        assert_eq!((labels.classes(), labels.codes(), labels.get(0)), (&classes[..], &[1u32, 0, 1][..], &classes[1]));
        assert!(labels.check(3).is_ok());
        // A part is as if it had been encoded here.
        assert_eq!(labels.select(&[0, 1, 2]), Labels::new(["yes", "no", "yes"]));
        assert_eq!(labels.select(&[2]), Labels::new(["yes"]));
        let wrong = Labels::from_codes(classes.clone(), vec![0, 3]).unwrap_err();
        assert!(matches!(wrong, Error::Shape { .. }) && wrong.to_string().contains("3 at row 1"), "{wrong}");
        let wrong = Labels::from_codes([classes, vec!["yes".into()]].concat(), vec![0]).unwrap_err();
        assert!(wrong.to_string().starts_with("classes = 'yes', twice"), "{wrong}");
    }

    #[test]
    fn one_class_spelled_several_ways_is_one_class() {
        for text in ["1", "+1", "1.0", "1e0"] {
            assert_eq!(Label::parse(text), Label::Integer(1), "{text}");
        }
        for text in ["0", "-0", "0.0"] {
            assert_eq!(Label::parse(text), Label::Integer(0), "{text}");
        }
        for text in ["1.5", "one", "", "inf", "nan", "0x1", "1e300", "01730", "007", "07", "-01", "00", "01.0"] {
            assert_eq!(Label::parse(text), Label::Text(text.into()));
        }
    }

    #[test]
    fn labels_of_a_file_become_the_classes_with_their_spelling() {
        let classes = |texts: &[&str]| texts.iter().map(|text| Label::from(*text)).collect::<Vec<_>>();
        let read = Labels::new([Label::Integer(2), Label::Integer(1), Label::Integer(3)]);
        let of = |classes: &[Label]| {
            let labels = read.as_classes(classes);
            (0..3).map(|row| labels.get(row).clone()).collect::<Vec<_>>()
        };
        let other = Label::Integer(3);
        assert_eq!(of(&classes(&["1", "2"])), [Label::from("2"), Label::from("1"), other.clone()]);
        assert_eq!(of(&classes(&["1.0", "2.0"])), [Label::from("2.0"), Label::from("1.0"), other.clone()]);
        // Two classes are spelled like 1.
        assert_eq!(of(&classes(&["1", "1.0", "2"])), [Label::from("2"), Label::Integer(1), other.clone()]);
        assert_eq!(of(&[Label::Integer(1), Label::from("02")]), [Label::Integer(2), Label::Integer(1), other]);
        assert_eq!(Labels::new(["007"]).as_classes(&[Label::Integer(7)]).get(0), &Label::from("007"));
    }

    #[test]
    fn rejects_one_class_and_missing_labels() {
        assert!(matches!(Labels::new([1i64, 1]).check(2), Err(Error::OneClass { n_samples: 2, .. })));
        assert!(matches!(Labels::new([1i64, 2]).check(3), Err(Error::Shape { .. })));
        assert!(matches!(Labels::new(Vec::<i64>::new()).check(0), Err(Error::NoSamples(_))));
    }
}
