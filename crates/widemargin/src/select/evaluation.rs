//! Evaluation of predictions: accuracy and scores per class.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::Label;

/// Counts of correct and incorrect predictions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    n_samples: u64,
    n_right: u64,
    classes: BTreeMap<Label, Counts>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    actual: u64,
    predicted: u64,
    right: u64,
}

/// Scores of one class; `None` if the denominator is 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScore {
    /// The class.
    pub label: Label,
    /// Number of samples of the class.
    pub support: u64,
    /// Correct predictions of the class / predictions of the class.
    pub precision: Option<f64>,
    /// Correct predictions of the class / samples of the class.
    pub recall: Option<f64>,
}

impl Evaluation {
    /// Counts one sample.
    pub fn add(&mut self, actual: &Label, predicted: &Label) {
        let right = actual == predicted;
        self.n_samples += 1;
        self.n_right += u64::from(right);
        let counts = self.entry(actual);
        counts.actual += 1;
        counts.right += u64::from(right);
        self.entry(predicted).predicted += 1;
    }

    /// Samples counted.
    pub fn n_samples(&self) -> u64 {
        self.n_samples
    }

    /// Correct predictions / samples; 0 without samples.
    pub fn accuracy(&self) -> f64 {
        self.n_right as f64 / self.n_samples.max(1) as f64
    }

    /// Scores of the observed classes, sorted.
    pub fn class_scores(&self) -> Vec<ClassScore> {
        let ratio = |a: u64, b: u64| (b > 0).then(|| a as f64 / b as f64);
        let score = |(label, counts): (&Label, &Counts)| ClassScore {
            label: label.clone(),
            support: counts.actual,
            precision: ratio(counts.right, counts.predicted),
            recall: ratio(counts.right, counts.actual),
        };
        self.classes.iter().map(score).collect()
    }

    fn entry(&mut self, label: &Label) -> &mut Counts {
        // Looked up first, so that a label is cloned once per class and not once per sample.
        if !self.classes.contains_key(label) {
            self.classes.insert(label.clone(), Counts::default());
        }
        self.classes.get_mut(label).expect("it was there or has just been put there")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_small_table() {
        let mut evaluation = Evaluation::default();
        for (actual, predicted) in [(1i64, 1i64), (1, 2), (2, 2), (2, 2), (3, 1)] {
            evaluation.add(&actual.into(), &predicted.into());
        }
        assert_eq!(evaluation.accuracy(), 0.6);
        let scores = evaluation.class_scores();
        assert_eq!((scores[0].precision, scores[0].recall, scores[0].support), (Some(0.5), Some(0.5), 2));
        assert_eq!((scores[1].precision, scores[1].recall), (Some(2.0 / 3.0), Some(1.0)));
        assert_eq!((scores[2].precision, scores[2].recall), (None, Some(0.0)));
    }
}
