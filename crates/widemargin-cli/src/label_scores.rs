//! Scores of models with several labels a sample.

use widemargin::data::{Label, Labels};
use widemargin::select::{ClassScore, Evaluation, Scoring};
use widemargin::{Error, Result};
use widemargin_io::Indicators;

use crate::args::Input;
use crate::report::{Failure, shown};

/// Indicators, decision values (both samples × labels, in the order of the model's labels) and weights of all samples.
#[derive(Default)]
pub struct KeptLabels {
    truth: Vec<f64>,
    values: Vec<f32>,
    pub weights: Vec<f64>,
}

impl KeptLabels {
    /// Adds rows of the indicators, whose columns have the order of the model's labels, and the decision values of these
    /// rows; `weights` has those of all rows of the indicators.
    pub fn add(
        &mut self,
        several: &Indicators,
        order: &[usize],
        rows: impl IntoIterator<Item = usize>,
        values: &[f32],
        weights: Option<&[f64]>,
    ) {
        let k = several.names.len();
        for row in rows {
            self.truth.extend(order.iter().map(|&at| several.values[row * k + at]));
            self.weights.push(weights.map_or(1.0, |weights| weights[row]));
        }
        self.values.extend_from_slice(values);
    }
}

/// What is counted of one label, over the samples of which it is known.
pub struct OfLabel {
    pub name: Label,
    pub evaluation: Evaluation,
    /// Of the samples that have it.
    pub has: ClassScore,
    pub roc_auc: widemargin::Result<f64>,
    pub average_precision: widemargin::Result<f64>,
}

/// What is counted of all labels.
pub struct LabelScores {
    pub labels: Vec<OfLabel>,
    /// The share of the samples, by weight, of which every known label is right.
    pub subset_accuracy: f64,
}

impl LabelScores {
    pub fn of(kept: &KeptLabels, names: &[Label]) -> Self {
        let labels = names.iter().enumerate().map(|(at, name)| of_label(kept, at, name)).collect();
        LabelScores { labels, subset_accuracy: subset_accuracy(kept, names.len()) }
    }

    /// The mean of the labels. As of scikit-learn, a label without samples and predictions has an F1 of 0.
    pub fn f1(&self) -> f64 {
        mean(self.labels.iter().map(|label| Some(label.has.f1.unwrap_or(0.0)))).unwrap_or(0.0)
    }

    /// The mean share of the labels that are wrong.
    pub fn hamming_loss(&self) -> f64 {
        mean(self.labels.iter().map(|label| Some(1.0 - label.evaluation.accuracy()))).unwrap_or(0.0)
    }

    /// The mean of the labels that have one.
    pub fn roc_auc(&self) -> Option<f64> {
        mean(self.labels.iter().map(|label| label.roc_auc.as_ref().ok().copied()))
    }

    /// The mean of the labels that have one.
    pub fn average_precision(&self) -> Option<f64> {
        mean(self.labels.iter().map(|label| label.average_precision.as_ref().ok().copied()))
    }

    /// One of the scores that [`check_scoring`] admits.
    ///
    /// # Errors
    /// [`Error::Score`] where it is not defined for a label.
    pub fn score(&self, scoring: Scoring) -> Result<f64> {
        let every = |of: fn(&OfLabel) -> &Result<f64>| -> Result<f64> {
            let mut sum = 0.0;
            for label in &self.labels {
                sum += of(label).as_ref().map_err(|error| {
                    let problem = match error {
                        Error::Score { problem, .. } => problem.clone(),
                        error => error.to_string(),
                    };
                    Error::Score { scoring: scoring.to_string(), problem: format!("label '{}': {problem}", label.name) }
                })?;
            }
            Ok(sum / self.labels.len() as f64)
        };
        match scoring {
            Scoring::F1Macro => Ok(self.f1()),
            Scoring::RocAuc => every(|label| &label.roc_auc),
            Scoring::AveragePrecision => every(|label| &label.average_precision),
            _ => Ok(self.subset_accuracy),
        }
    }
}

/// Refuses a score that samples with several labels do not have.
pub fn check_scoring(scoring: Scoring) -> Result<(), Failure> {
    match scoring {
        Scoring::Accuracy | Scoring::F1Macro | Scoring::RocAuc | Scoring::AveragePrecision => Ok(()),
        other => {
            let failure = Failure::input(format!("--scoring {other} is of samples with one class each"));
            Err(failure.help("of several labels there are accuracy, f1-macro, roc-auc and average-precision"))
        }
    }
}

/// The column of each of the model's labels: by name, or by place where a matrix has no names.
pub fn order_of(several: &Indicators, names: &[Label], input: &Input) -> Result<Vec<usize>, Failure> {
    let are_numbers = several.names.iter().enumerate().all(|(at, name)| *name == Label::Integer(at as i64));
    if are_numbers && several.names.len() == names.len() {
        return Ok((0..names.len()).collect());
    }
    let place = |name: &Label| {
        several.names.iter().position(|given| given == name).ok_or_else(|| {
            let failure = format!("{}: there is no label '{name}', which the model predicts", shown(&input.data));
            Failure::input(failure).help("give the columns of all labels of the model")
        })
    };
    names.iter().map(place).collect()
}

fn of_label(kept: &KeptLabels, at: usize, name: &Label) -> OfLabel {
    let k = kept.values.len() / kept.weights.len().max(1);
    let known: Vec<usize> = (0..kept.weights.len()).filter(|&row| !kept.truth[row * k + at].is_nan()).collect();
    let answer = |has: bool| Label::Integer(i64::from(has));
    let truth = |row: usize| answer(kept.truth[row * k + at] == 1.0);
    let mut evaluation = Evaluation::default();
    for &row in &known {
        evaluation.add_weighted(&truth(row), &answer(kept.values[row * k + at] > 0.0), kept.weights[row]);
    }
    let labels = Labels::new(known.iter().map(|&row| truth(row)));
    let weights: Vec<f64> = known.iter().map(|&row| kept.weights[row]).collect();
    let values: Vec<f32> = known.iter().map(|&row| kept.values[row * k + at]).collect();
    let classes = [answer(false), answer(true)];
    let score = |scoring: Scoring| scoring.score(&labels, Some(&weights), &classes, &values);
    let (roc_auc, average_precision) = (score(Scoring::RocAuc), score(Scoring::AveragePrecision));
    let has = evaluation.class_scores().into_iter().find(|score| score.label == answer(true));
    let none = ClassScore { label: answer(true), support: 0, precision: None, recall: None, f1: None };
    OfLabel { name: name.clone(), evaluation, has: has.unwrap_or(none), roc_auc, average_precision }
}

/// The share of the samples, by weight, of which every known label is right.
fn subset_accuracy(kept: &KeptLabels, k: usize) -> f64 {
    let is_right = |row: &usize| {
        let range = row * k..(row + 1) * k;
        let pairs = kept.truth[range.clone()].iter().zip(&kept.values[range]);
        pairs.filter(|(truth, _)| !truth.is_nan()).all(|(truth, value)| (*truth == 1.0) == (*value > 0.0))
    };
    let right: f64 = (0..kept.weights.len()).filter(is_right).map(|row| kept.weights[row]).sum();
    right / kept.weights.iter().sum::<f64>()
}

/// The mean of those that are defined.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let defined: Vec<f64> = values.flatten().collect();
    (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64)
}
