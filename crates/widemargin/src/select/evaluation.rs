//! Evaluation of predictions: accuracy and scores per class.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::Label;

/// Counts of correct and incorrect predictions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    weight: f64,
    right: f64,
    classes: BTreeMap<Label, Counts>,
}

/// Sums of the samples' weights.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    /// Of the samples of this class, by prediction.
    predicted_as: BTreeMap<Label, f64>,
    n_samples: u64,
    actual: f64,
    predicted: f64,
    right: f64,
}

/// Scores of one class; `None` if the denominator is 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScore {
    /// The class.
    pub label: Label,
    /// Number of samples of the class.
    #[serde(skip)]
    pub n_samples: u64,
    /// The sum of the weights of the samples of the class (their number, without weights).
    #[serde(serialize_with = "whole_or_not")]
    pub support: f64,
    /// Correct predictions of the class / predictions of the class.
    pub precision: Option<f64>,
    /// Correct predictions of the class / samples of the class.
    pub recall: Option<f64>,
    /// 2 correct predictions / (samples + predictions of the class).
    pub f1: Option<f64>,
}

/// The counts of predicted classes for each actual class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfusionMatrix {
    /// The actual and predicted classes, sorted.
    pub labels: Vec<Label>,
    /// The weights of the samples (their number, without weights): a row for each class of the samples, a column for
    /// each predicted class.
    pub counts: Vec<Vec<f64>>,
}

impl Evaluation {
    /// Counts one sample.
    pub fn add(&mut self, actual: &Label, predicted: &Label) {
        self.add_weighted(actual, predicted, 1.0);
    }

    /// Counts one sample with a weight, as `weight` samples in all scores.
    pub fn add_weighted(&mut self, actual: &Label, predicted: &Label, weight: f64) {
        let right = if actual == predicted { weight } else { 0.0 };
        self.weight += weight;
        self.right += right;
        let counts = self.entry(actual);
        counts.n_samples += 1;
        counts.actual += weight;
        counts.right += right;
        // Looked up first, as below.
        match counts.predicted_as.get_mut(predicted) {
            Some(sum) => *sum += weight,
            None => drop(counts.predicted_as.insert(predicted.clone(), weight)),
        }
        self.entry(predicted).predicted += weight;
    }

    /// Number of counted samples.
    pub fn n_samples(&self) -> u64 {
        self.classes.values().map(|counts| counts.n_samples).sum()
    }

    /// Correct predictions / samples; 0 without samples.
    pub fn accuracy(&self) -> f64 {
        if self.weight > 0.0 { self.right / self.weight } else { 0.0 }
    }

    /// The mean recall of the classes that have samples; 0 without samples.
    pub fn balanced_accuracy(&self) -> f64 {
        mean(self.class_scores().into_iter().filter_map(|class| class.recall)).unwrap_or(0.0)
    }

    /// The mean of 2 right / (actual + predicted) over the classes that have samples or were predicted; 0 without
    /// samples.
    pub fn f1_macro(&self) -> f64 {
        mean(self.class_scores().into_iter().map(|class| class.f1.unwrap_or(0.0))).unwrap_or(0.0)
    }

    /// Scores of the observed classes, sorted.
    pub fn class_scores(&self) -> Vec<ClassScore> {
        self.classes.keys().map(|label| self.class_score(label)).collect()
    }

    /// The scores of one class, observed or not.
    pub(super) fn class_score(&self, label: &Label) -> ClassScore {
        let none = Counts::default();
        let counts = self.classes.get(label).unwrap_or(&none);
        let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        ClassScore {
            label: label.clone(),
            n_samples: counts.n_samples,
            support: counts.actual,
            precision: ratio(counts.right, counts.predicted),
            recall: ratio(counts.right, counts.actual),
            f1: ratio(2.0 * counts.right, counts.actual + counts.predicted),
        }
    }

    /// The confusion matrix of the observed classes.
    pub fn confusion_matrix(&self) -> ConfusionMatrix {
        let of = |counts: &Counts, label| counts.predicted_as.get(label).copied().unwrap_or(0.0);
        let row = |counts: &Counts| self.classes.keys().map(|label| of(counts, label)).collect();
        ConfusionMatrix {
            labels: self.classes.keys().cloned().collect(),
            counts: self.classes.values().map(row).collect(),
        }
    }

    fn entry(&mut self, label: &Label) -> &mut Counts {
        // Looked up first, so that a label is cloned once per class and not once per sample.
        if !self.classes.contains_key(label) {
            self.classes.insert(label.clone(), Counts::default());
        }
        self.classes.get_mut(label).expect("it was there or has just been put there")
    }
}

/// A whole number without its point.
fn whole_or_not<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match number.fract() == 0.0 && *number < 9.0e15 {
        true => serializer.serialize_u64(*number as u64),
        false => serializer.serialize_f64(*number),
    }
}

/// The mean of numbers; none of no numbers.
pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = numbers.fold((0.0, 0u64), |(sum, n), number| (sum + number, n + 1));
    (n > 0).then(|| sum / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_a_small_table() {
        let mut evaluation = Evaluation::default();
        for (actual, predicted) in [(1i64, 1i64), (1, 2), (2, 2), (2, 2), (3, 1)] {
            evaluation.add(&actual.into(), &predicted.into());
        }
        assert_eq!(evaluation.accuracy(), 0.6);
        let scores = evaluation.class_scores();
        assert_eq!((scores[0].precision, scores[0].recall, scores[0].support), (Some(0.5), Some(0.5), 2.0));
        assert_eq!((scores[1].precision, scores[1].recall), (Some(2.0 / 3.0), Some(1.0)));
        assert_eq!((scores[2].precision, scores[2].recall), (None, Some(0.0)));
        assert_eq!((scores[0].f1, scores[2].f1), (Some(0.5), Some(0.0)));
        let confusion = evaluation.confusion_matrix();
        assert_eq!(confusion.counts, [[1.0, 1.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]);
        assert_eq!(confusion.labels, [1i64, 2, 3].map(Label::from));
    }

    #[test]
    fn the_support_is_the_sum_of_the_confusion_matrix() {
        let mut evaluation = Evaluation::default();
        for (actual, predicted, weight) in [(1i64, 1i64, 2.0), (1, 2, 0.5), (2, 2, 3.0), (2, 1, 0.0)] {
            evaluation.add_weighted(&actual.into(), &predicted.into(), weight);
        }
        let (scores, confusion) = (evaluation.class_scores(), evaluation.confusion_matrix());
        assert_eq!(scores.iter().map(|score| score.support).collect::<Vec<_>>(), [2.5, 3.0]);
        assert_eq!(scores.iter().map(|score| score.n_samples).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(confusion.counts.iter().map(|row| row.iter().sum::<f64>()).collect::<Vec<_>>(), [2.5, 3.0]);
        let written = serde_json::to_value(&scores).unwrap();
        assert_eq!((&written[0]["support"], &written[1]["support"]), (&2.5.into(), &3.into()));
    }
}
