//! Scores of multilabel targets, with the values of scikit-learn.

use super::evaluation::mean;
use super::scores::check_shape;
use super::{ClassScore, Evaluation, Scoring};
use crate::data::{Label, Labels};
use crate::error::{Error, Result};
use crate::problem::OneVsRest;

/// The scores of one label, over the samples with a known value.
#[derive(Debug)]
pub struct LabelScore {
    /// The label.
    pub name: Label,
    /// The evaluation of its two classes, 0 and 1.
    pub evaluation: Evaluation,
    /// The scores of the class of samples with the label.
    pub has: ClassScore,
    /// The area under its ROC curve, or the reason why it is undefined.
    pub roc_auc: Result<f64, String>,
    /// Its average precision, or the reason why it is undefined.
    pub average_precision: Result<f64, String>,
}

/// The scores of all labels.
#[derive(Debug)]
pub struct LabelScores {
    /// The scores of each label.
    pub labels: Vec<LabelScore>,
    /// The weighted fraction of samples whose known labels are all predicted correctly.
    pub subset_accuracy: f64,
}

impl LabelScores {
    /// Scores of multilabel targets and decision values, samples × labels: above 0 for a label that is predicted.
    ///
    /// # Errors
    /// [`Error::Shape`] for other numbers of values or weights, and for targets that are not multilabel.
    pub fn of(labels: &Labels, values: &[f32], weights: Option<&[f64]>) -> Result<Self> {
        let (n, k) = (labels.len(), labels.classes().len());
        if !labels.is_multilabel() {
            return Err(Error::shape("scores of labels", "labels of one class each", "multilabel targets"));
        }
        check_shape((values.len(), "decision values"), k, (n, "samples"), weights)?;
        let predictions = Predictions { targets: OneVsRest::of(labels), values, weights };
        let names = labels.classes().iter().enumerate();
        let labels = names.map(|(at, name)| predictions.of_label(at, name)).collect();
        Ok(LabelScores { labels, subset_accuracy: predictions.subset_accuracy() })
    }

    /// The mean over the labels. As in scikit-learn, a label without samples and predictions has an F1 of 0.
    pub fn f1(&self) -> f64 {
        mean(self.labels.iter().map(|label| label.has.f1.unwrap_or(0.0))).unwrap_or(0.0)
    }

    /// The mean fraction of wrong labels.
    pub fn hamming_loss(&self) -> f64 {
        mean(self.labels.iter().map(|label| 1.0 - label.evaluation.accuracy())).unwrap_or(0.0)
    }

    /// The mean over the labels for which it is defined.
    pub fn roc_auc(&self) -> Option<f64> {
        mean(self.labels.iter().filter_map(|label| label.roc_auc.as_ref().ok().copied()))
    }

    /// The mean over the labels for which it is defined.
    pub fn average_precision(&self) -> Option<f64> {
        mean(self.labels.iter().filter_map(|label| label.average_precision.as_ref().ok().copied()))
    }

    /// One of the scores that [`LabelScores::check`] admits: for accuracies that of whole label sets, for others the
    /// mean over the labels.
    ///
    /// # Errors
    /// [`Error::Score`] for another, and where it is not defined for a label.
    pub fn score(&self, scoring: Scoring) -> Result<f64> {
        LabelScores::check(scoring)?;
        let every = |of: fn(&LabelScore) -> &Result<f64, String>| -> Result<f64> {
            let of_label = |label: &LabelScore| {
                let undefined = |problem| scoring.undefined(format!("label '{}': {problem}", label.name));
                of(label).clone().map_err(undefined)
            };
            Ok(self.labels.iter().map(of_label).sum::<Result<f64>>()? / self.labels.len() as f64)
        };
        match scoring {
            Scoring::F1Macro => Ok(self.f1()),
            Scoring::RocAuc => every(|label| &label.roc_auc),
            Scoring::AveragePrecision => every(|label| &label.average_precision),
            _ => Ok(self.subset_accuracy),
        }
    }

    /// Rejects a score that is undefined for multilabel targets.
    ///
    /// # Errors
    /// [`Error::Score`] naming those that are defined.
    pub fn check(scoring: Scoring) -> Result<()> {
        match scoring {
            Scoring::Accuracy | Scoring::F1Macro | Scoring::RocAuc | Scoring::AveragePrecision => Ok(()),
            other => Err(other.undefined(
                "it is of samples with one class each: multilabel targets have accuracy, f1-macro, roc-auc and \
                 average-precision",
            )),
        }
    }
}

/// Targets and decision values.
struct Predictions<'a> {
    targets: OneVsRest<'a>,
    values: &'a [f32],
    weights: Option<&'a [f64]>,
}

impl Predictions<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// Whether a sample has a label and whether it is predicted; `None` where it is unknown.
    fn answers(&self, row: usize, label: usize) -> Option<(bool, bool)> {
        let value = self.values[row * self.targets.n_problems() + label];
        (self.targets.weight(row, label) != 0.0).then(|| (self.targets.sign(row, label) > 0.0, value > 0.0))
    }

    fn of_label(&self, at: usize, name: &Label) -> LabelScore {
        let answer = |has: bool| Label::Integer(i64::from(has));
        let (mut evaluation, mut truth, mut weights, mut values) = (Evaluation::default(), vec![], vec![], vec![]);
        for row in 0..self.targets.n_samples() {
            if let Some((has, is_predicted)) = self.answers(row, at) {
                evaluation.add_weighted(&answer(has), &answer(is_predicted), self.weight(row));
                truth.push(answer(has));
                weights.push(self.weight(row));
                values.push(self.values[row * self.targets.n_problems() + at]);
            }
        }
        let (labels, classes) = (Labels::new(truth), [answer(false), answer(true)]);
        let score = |scoring: Scoring| match scoring.score(&labels, Some(&weights), &classes, (&values, None)) {
            Err(Error::Score { problem, .. }) => Err(problem),
            score => score.map_err(|error| error.to_string()),
        };
        let (roc_auc, average_precision) = (score(Scoring::RocAuc), score(Scoring::AveragePrecision));
        let has = evaluation.class_scores().into_iter().find(|score| score.label == answer(true));
        let none =
            ClassScore { label: answer(true), n_samples: 0, support: 0.0, precision: None, recall: None, f1: None };
        LabelScore { name: name.clone(), evaluation, has: has.unwrap_or(none), roc_auc, average_precision }
    }

    fn subset_accuracy(&self) -> f64 {
        let is_right = |row: usize| {
            let mut known = (0..self.targets.n_problems()).filter_map(|label| self.answers(row, label));
            known.all(|(has, is_said)| has == is_said)
        };
        let (mut right, mut all) = (0.0, 0.0);
        for row in 0..self.targets.n_samples() {
            all += self.weight(row);
            right += if is_right(row) { self.weight(row) } else { 0.0 };
        }
        right / all
    }
}
