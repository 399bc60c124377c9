//! Scores of predictions by name, as defined by scikit-learn.

use std::fmt;
use std::mem::discriminant;
use std::str::FromStr;

use self::Measure::{Counts, Numbers, Probabilities, Ranks};
use super::{Evaluation, Ranking};
use crate::data::Labels;
use crate::error::{Error, Result};

/// A score of predictions; higher is better. The best value is 1, or 0 for the negated losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Scoring {
    /// The fraction of correct predictions.
    #[default]
    Accuracy,
    /// The mean recall of the classes that occur.
    BalancedAccuracy,
    /// The mean over the classes that occur or are predicted of 2 right / (actual + predicted).
    F1Macro,
    /// The area under the ROC curve of the decision values: the probability that a sample of the second class has a
    /// larger value than a sample of the first, with ties counted as ½. With more classes, the mean of each class
    /// against the rest, by the class probabilities (scikit-learn's `roc_auc_ovr`), or by the decision values of a
    /// model without probabilities.
    RocAuc,
    /// Σ (Rᵢ − Rᵢ₋₁) Pᵢ over the distinct decision values in descending order, with the precision P and the recall R of
    /// the second class of two among the samples down to each.
    AveragePrecision,
    /// The mean of ln p over the samples, where p is the probability of the true class, at least the smallest step of
    /// double precision above 0.
    NegLogLoss,
    /// The negated mean of Σ (p_k − y_k)² over the samples, where p_k is the probability of a class and y_k is 1 for the
    /// class of the sample and 0 otherwise; for two classes half of that, (p − y)².
    NegBrierScore,
    /// 1 − Σ w (y − f)² / Σ w (y − ȳ)²: 1 is the best value, and 0 the value of the mean. For constant targets, 1 if
    /// predictions are exact, otherwise 0.
    R2,
    /// The negative mean of |y − f|.
    NegMeanAbsoluteError,
    /// The negative root of the mean of (y − f)².
    NegRootMeanSquaredError,
    /// The negative mean of the pinball loss: q (y − f) if the target is above the prediction, (1 − q) (f − y) if it is
    /// below.
    NegMeanPinballLoss {
        /// q, above 0 and below 1: which quantile is predicted.
        quantile: f64,
    },
}

/// What a score is computed from, and how.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    /// The counts of predicted classes.
    Counts(fn(&Evaluation) -> f64),
    /// The samples in the order of a decision value.
    Ranks(fn(&Ranking) -> f64),
    /// The score of a sample by its class and the probabilities of all classes.
    Probabilities(fn(usize, &[f64]) -> f64),
    /// Targets and predicted numbers.
    Numbers,
}

/// A score with its name, its title where it is printed, and how it is computed.
type Row = (Scoring, &'static str, &'static str, Measure);

/// All scores, with the quantile ½.
const ROWS: [Row; 11] = [
    (Scoring::Accuracy, "accuracy", "accuracy", Counts(Evaluation::accuracy)),
    (Scoring::BalancedAccuracy, "balanced-accuracy", "balanced accuracy", Counts(Evaluation::balanced_accuracy)),
    (Scoring::F1Macro, "f1-macro", "F1", Counts(Evaluation::f1_macro)),
    (Scoring::RocAuc, "roc-auc", "ROC AUC", Ranks(Ranking::roc_auc)),
    (Scoring::AveragePrecision, "average-precision", "average precision", Ranks(Ranking::average_precision)),
    (Scoring::NegLogLoss, "neg-log-loss", "log loss", Probabilities(neg_log_loss)),
    (Scoring::NegBrierScore, "neg-brier-score", "Brier score", Probabilities(neg_brier_score)),
    (Scoring::R2, "r2", "R²", Numbers),
    (Scoring::NegMeanAbsoluteError, "neg-mean-absolute-error", "mean absolute error", Numbers),
    (Scoring::NegRootMeanSquaredError, "neg-root-mean-squared-error", "root mean squared error", Numbers),
    (Scoring::NegMeanPinballLoss { quantile: 0.5 }, PINBALL, "mean pinball loss", Numbers),
];

/// The name of the score of quantiles, and the suffix where the quantile is not ½.
const PINBALL: &str = "neg-mean-pinball-loss";
const QUANTILE: &str = ":quantile=";

fn neg_log_loss(code: usize, probabilities: &[f64]) -> f64 {
    probabilities[code].clamp(f64::EPSILON, 1.0 - f64::EPSILON).ln()
}

pub(super) fn neg_brier_score(code: usize, probabilities: &[f64]) -> f64 {
    let scale = if probabilities.len() == 2 { 0.5 } else { 1.0 };
    let one = |(class, p): (usize, &f64)| (p - f64::from(u8::from(class == code))).powi(2);
    -scale * probabilities.iter().enumerate().map(one).sum::<f64>()
}

impl fmt::Display for Scoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().1)?;
        match self {
            Scoring::NegMeanPinballLoss { quantile } if *quantile != 0.5 => write!(f, "{QUANTILE}{quantile}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for Scoring {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some(quantile) = text.strip_prefix(PINBALL).and_then(|rest| rest.strip_prefix(QUANTILE)) else {
            return Scoring::among(text, |_| true);
        };
        let quantile = quantile.parse().ok().filter(|q| (0.0..1.0).contains(q) && *q > 0.0).ok_or_else(|| {
            let expected = "a number above 0 and below 1, as in neg-mean-pinball-loss:quantile=0.9";
            Error::parameter("scoring", text, expected)
        })?;
        Ok(Scoring::NegMeanPinballLoss { quantile })
    }
}

impl Scoring {
    /// All scores, with the quantile ½.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.into_iter().map(|(scoring, ..)| scoring)
    }

    /// One of the scores that are admitted, by its name.
    pub(super) fn among(text: &str, admits: impl Fn(&Self) -> bool) -> Result<Self> {
        let found = Scoring::all().filter(&admits).find(|scoring| scoring.row().1 == text);
        found.ok_or_else(|| Error::unknown("scoring", text, Scoring::all().filter(admits).map(|one| one.row().1)))
    }

    /// What it is computed from, and how.
    pub(super) fn measure(self) -> Measure {
        self.row().3
    }

    fn row(self) -> Row {
        let is_mine = |row: &Row| discriminant(&row.0) == discriminant(&self);
        ROWS.into_iter().find(is_mine).expect("each score has a row")
    }

    /// The title of the score where it is printed, without its sign.
    #[doc(hidden)]
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// The name of the score without its sign, with underscores.
    #[doc(hidden)]
    pub fn key(self) -> String {
        self.row().1.trim_start_matches("neg-").replace('-', "_")
    }

    /// A score without its sign: a loss of a negated one.
    #[doc(hidden)]
    pub fn unsigned(self, score: f64) -> f64 {
        if self.row().1.starts_with("neg-") { -score } else { score }
    }

    /// Whether it is computed from targets and predicted numbers, not from classes.
    pub fn is_of_numbers(self) -> bool {
        matches!(self.measure(), Numbers)
    }

    /// Whether it is computed from decision values or probabilities, not from predicted classes.
    #[doc(hidden)]
    pub fn needs_decision_values(self) -> bool {
        matches!(self.measure(), Ranks(_) | Probabilities(_))
    }

    /// Whether it is computed from probabilities.
    #[doc(hidden)]
    pub fn needs_probabilities(self) -> bool {
        matches!(self.measure(), Probabilities(_))
    }

    /// Whether it is computed from the probabilities of a calibrated model for these labels.
    pub(super) fn prefers_probabilities(self, labels: &Labels, n_classes: usize) -> bool {
        !labels.is_multilabel() && (self.needs_probabilities() || (self == Scoring::RocAuc && n_classes > 2))
    }

    pub(super) fn undefined(self, problem: impl Into<String>) -> Error {
        Error::Score { scoring: self.to_string(), problem: problem.into() }
    }
}

/// The problem of samples that do not count.
pub(super) const NO_SAMPLES: &str = "there are no samples, or none with a weight";

/// Rejects another number of values than `n_cols` for each of the samples, and of weights than one.
pub(super) fn check_shape(
    (found, values): (usize, &str),
    n_cols: usize,
    (n, answers): (usize, &str),
    weights: Option<&[f64]>,
) -> Result<()> {
    if found == n * n_cols && weights.is_none_or(|weights| weights.len() == n) {
        return Ok(());
    }
    let each = if n_cols == 1 { "one".to_owned() } else { n_cols.to_string() };
    Err(Error::shape("scores", format!("{found} {values}"), format!("{each} for each of {n} {answers} and weights")))
}
