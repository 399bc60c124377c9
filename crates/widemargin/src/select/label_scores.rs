//! Scores of multilabel targets, with the values of scikit-learn.

use super::evaluation::mean;
use super::scores::check_shape;
use super::{ClassScore, Evaluation, Ranking, Scoring};
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
    /// The area under its ROC curve; `None` where all samples have the label or all are without it.
    pub roc_auc: Option<f64>,
    /// Its average precision; `None` where no sample has it.
    pub average_precision: Option<f64>,
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
        let targets = OneVsRest::of(labels);
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let mut are_all_right = vec![true; n];
        let mut of_label = |(at, name): (usize, &Label)| {
            let (mut evaluation, mut samples) = (Evaluation::default(), Vec::new());
            for row in (0..n).filter(|&row| targets.weight(row, at) != 0.0) {
                let (has, value) = (targets.sign(row, at) > 0.0, values[row * k + at]);
                evaluation.add_weighted(&class_of(has), &class_of(value > 0.0), weight(row));
                are_all_right[row] &= has == (value > 0.0);
                samples.push((value, has, weight(row)));
            }
            LabelScore::new(name, evaluation, samples)
        };
        let labels = labels.classes().iter().enumerate().map(&mut of_label).collect();
        let right: f64 = (0..n).filter(|&row| are_all_right[row]).map(weight).sum();
        Ok(LabelScores { labels, subset_accuracy: right / (0..n).map(weight).sum::<f64>() })
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
        mean(self.labels.iter().filter_map(|label| label.roc_auc))
    }

    /// The mean over the labels for which it is defined.
    pub fn average_precision(&self) -> Option<f64> {
        mean(self.labels.iter().filter_map(|label| label.average_precision))
    }

    /// One of the scores that [`LabelScores::check`] admits: for accuracies that of whole label sets, for others the
    /// mean over the labels.
    ///
    /// # Errors
    /// [`Error::Score`] for another, and where it is not defined for a label.
    pub fn score(&self, scoring: Scoring) -> Result<f64> {
        LabelScores::check(scoring)?;
        let every = |of: fn(&LabelScore) -> Option<f64>| match self.labels.iter().find(|label| of(label).is_none()) {
            None => Ok(mean(self.labels.iter().filter_map(of)).unwrap_or(0.0)),
            Some(label) => {
                let problem = "no sample is known to have it, or none to be without it, or a value is NaN";
                Err(scoring.undefined(format!("label '{}': {problem}", label.name)))
            }
        };
        match scoring {
            Scoring::F1Macro => Ok(self.f1()),
            Scoring::RocAuc => every(|label| label.roc_auc),
            Scoring::AveragePrecision => every(|label| label.average_precision),
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

/// The class of a sample with or without a label.
fn class_of(has: bool) -> Label {
    Label::Integer(i64::from(has))
}

impl LabelScore {
    /// Of the decision value of each sample, whether it has the label, and its weight.
    fn new(name: &Label, evaluation: Evaluation, samples: Vec<(f32, bool, f64)>) -> Self {
        let is_ordered = samples.iter().all(|(value, ..)| !value.is_nan());
        let ranking = Ranking::new(samples);
        let defined = |score: f64| (is_ordered && score.is_finite()).then_some(score);
        let (roc_auc, average_precision) = (defined(ranking.roc_auc()), defined(ranking.average_precision()));
        let has = evaluation.class_score(&class_of(true));
        LabelScore { name: name.clone(), evaluation, has, roc_auc, average_precision }
    }
}
