//! Scores of predictions by name, as defined by scikit-learn.

use super::{Evaluation, Ranking, brier_score, log_loss};
use crate::data::{Label, Labels};
use crate::error::{Error, Result};
use crate::macros::named;
use crate::model::Classifier;
use crate::problem::{OneVsRest, n_problems};

/// A score of predictions; higher is better. The best value is 1, or 0 for the two negated losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// The mean of ln p over the samples, where p is the probability of the true class ([`log_loss`]).
    NegLogLoss,
    /// The negated mean squared error of the probabilities ([`brier_score`]).
    NegBrierScore,
}

named!("scoring": Scoring, all "All of them." {
    "accuracy" = Scoring::Accuracy,
    "balanced-accuracy" = Scoring::BalancedAccuracy,
    "f1-macro" = Scoring::F1Macro,
    "roc-auc" = Scoring::RocAuc,
    "average-precision" = Scoring::AveragePrecision,
    "neg-log-loss" = Scoring::NegLogLoss,
    "neg-brier-score" = Scoring::NegBrierScore,
});

impl Scoring {
    /// Whether it is computed from decision values or probabilities, not from predicted classes.
    #[doc(hidden)]
    pub fn needs_decision_values(self) -> bool {
        matches!(self, Scoring::RocAuc | Scoring::AveragePrecision) || self.needs_probabilities()
    }

    /// Whether it is computed from probabilities.
    #[doc(hidden)]
    pub fn needs_probabilities(self) -> bool {
        matches!(self, Scoring::NegLogLoss | Scoring::NegBrierScore)
    }

    /// Whether it is computed from the probabilities of a calibrated model with `n_classes` classes.
    pub(crate) fn prefers_probabilities(self, n_classes: usize) -> bool {
        self.needs_probabilities() || (self == Scoring::RocAuc && n_classes > 2)
    }

    /// Whether it is defined for samples with these labels and a model with these classes.
    ///
    /// # Errors
    /// [`Error::Score`] for no samples; where decision values or probabilities are judged, for a label that is none of
    /// the classes; where decision values are, for a class without samples (of the average precision, for the second
    /// class); for an average precision of more than two classes.
    pub fn check(self, labels: &Labels, classes: &[Label]) -> Result<()> {
        if labels.is_empty() {
            return Err(self.undefined("there are no samples"));
        }
        if !self.needs_decision_values() {
            return Ok(());
        }
        if self == Scoring::AveragePrecision && classes.len() != 2 {
            let n = classes.len();
            return Err(self.undefined(format!("it is defined for two classes, not for {n}: roc-auc takes any number")));
        }
        let mut counts = vec![0usize; classes.len()];
        for code in self.codes(labels, classes)? {
            counts[code as usize] += 1;
        }
        if self.needs_probabilities() {
            return Ok(());
        }
        // The precision of all samples is 1 where there are no others.
        let first = usize::from(self == Scoring::AveragePrecision);
        match (first..classes.len()).find(|&class| counts[class] == 0) {
            Some(class) => Err(self.undefined(format!("there is no sample of class '{}'", classes[class]))),
            None => Ok(()),
        }
    }

    /// The score of a model with these classes on samples with these labels; `decision_values` are row-major, with one
    /// column for two classes and otherwise one per class.
    ///
    /// # Errors
    /// As for [`Scoring::check`]; [`Error::Shape`] for arrays that are inconsistent; [`Error::Score`] for a class with
    /// a weight of 0, for decision values that are NaN, and for a score of probabilities ([`Scoring::score_model`]).
    pub fn score(
        self,
        labels: &Labels,
        weights: Option<&[f64]>,
        classes: &[Label],
        decision_values: &[f32],
    ) -> Result<f64> {
        let (n, n_cols) = (labels.len(), n_problems(classes.len()));
        if decision_values.len() != n * n_cols || weights.is_some_and(|weights| weights.len() != n) {
            let found = format!("{} decision values", decision_values.len());
            return Err(Error::shape("scores", found, format!("{n_cols} for each of {n} labels and weights")));
        }
        self.check(labels, classes)?;
        if self.needs_probabilities() {
            return Err(self.undefined("it judges probabilities, not decision values"));
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        if !self.needs_decision_values() {
            let mut evaluation = Evaluation::default();
            for (row, values) in decision_values.chunks_exact(n_cols).enumerate() {
                evaluation.add_weighted(labels.get(row), &classes[OneVsRest::decide(values)], weight(row));
            }
            return Ok(self.of_evaluation(&evaluation).expect("it judges predicted classes"));
        }
        self.of_rankings(&self.codes(labels, classes)?, weights, (n_cols, classes.len()), decision_values)
    }

    /// The mean score of the rankings of the samples by each column of values.
    fn of_rankings<V: Copy + Into<f64>>(
        self,
        codes: &[u32],
        weights: Option<&[f64]>,
        (n_cols, n_classes): (usize, usize),
        values: &[V],
    ) -> Result<f64> {
        if values.iter().any(|&value| value.into().is_nan()) {
            return Err(self.undefined("a decision value is NaN"));
        }
        let targets = OneVsRest::new(codes, n_classes);
        let mut sum = 0.0;
        for problem in 0..n_cols {
            let ranked = (0..codes.len()).map(|row| {
                let is_positive = targets.sign(row, problem) > 0.0;
                (values[row * n_cols + problem], is_positive, weights.map_or(1.0, |weights| weights[row]))
            });
            let ranking = Ranking::new(ranked);
            sum += if self == Scoring::RocAuc { ranking.roc_auc() } else { ranking.average_precision() };
        }
        let score = sum / n_cols as f64;
        if score.is_finite() { Ok(score) } else { Err(self.undefined("the samples of a class have no weight")) }
    }

    /// The score of probabilities of a model with these classes, samples × classes, on samples with these labels.
    ///
    /// # Errors
    /// As for [`Scoring::check`]; [`Error::Shape`] for arrays that are inconsistent; [`Error::Score`] for values that
    /// are not probabilities, and for a score that does not judge them.
    pub(crate) fn score_probabilities(
        self,
        labels: &Labels,
        weights: Option<&[f64]>,
        classes: &[Label],
        probabilities: &[f64],
    ) -> Result<f64> {
        self.check(labels, classes)?;
        let (codes, k) = (self.codes(labels, classes)?, classes.len());
        // All scores reject arrays that are inconsistent, and values that are not probabilities.
        let brier = brier_score(&codes, k, probabilities, weights);
        match self {
            Scoring::NegLogLoss => Ok(-log_loss(&codes, k, probabilities, weights)?),
            Scoring::NegBrierScore => Ok(-brier?),
            _ if self.prefers_probabilities(k) => {
                brier?;
                self.of_rankings(&codes, weights, (k, k), probabilities)
            }
            _ => Err(self.undefined("it does not judge probabilities")),
        }
    }

    /// The score of a model on samples with these labels, by its decision values, as for [`Scoring::score`].
    ///
    /// # Errors As for [`Scoring::score`], but a score of probabilities is an error only for a model without them,
    /// [`Error::NotCalibrated`].
    pub fn score_model(
        self,
        model: &dyn Classifier,
        labels: &Labels,
        weights: Option<&[f64]>,
        decision_values: &[f32],
    ) -> Result<f64> {
        let calibration = model.calibration().filter(|_| self.prefers_probabilities(model.classes().len()));
        let Some(calibration) = calibration else {
            if self.needs_probabilities() {
                return Err(Error::NotCalibrated);
            }
            return self.score(labels, weights, model.classes(), decision_values);
        };
        let values: Vec<f64> = decision_values.iter().map(|&value| f64::from(value)).collect();
        let probabilities = calibration.probabilities(&values, model.classes().len());
        self.score_probabilities(labels, weights, model.classes(), &probabilities)
    }

    /// The score of counted predictions; `None` if it is computed from decision values or probabilities.
    #[doc(hidden)]
    pub fn of_evaluation(self, evaluation: &Evaluation) -> Option<f64> {
        match self {
            Scoring::Accuracy => Some(evaluation.accuracy()),
            Scoring::BalancedAccuracy => Some(evaluation.balanced_accuracy()),
            Scoring::F1Macro => Some(evaluation.f1_macro()),
            _ => None,
        }
    }

    /// The class of each sample among those of the model.
    fn codes(self, labels: &Labels, classes: &[Label]) -> Result<Vec<u32>> {
        let place = |label: &Label| classes.iter().position(|class| class == label).map(|at| at as u32);
        let places: Vec<Option<u32>> = labels.classes().iter().map(place).collect();
        let code = |&code: &u32| {
            let unknown = || format!("the model was not trained with class '{}'", labels.classes()[code as usize]);
            places[code as usize].ok_or_else(|| self.undefined(unknown()))
        };
        labels.codes().iter().map(code).collect()
    }

    fn undefined(self, problem: impl Into<String>) -> Error {
        Error::Score { scoring: self.to_string(), problem: problem.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that do not judge probabilities.
    fn of_values() -> impl Iterator<Item = Scoring> {
        Scoring::ALL.into_iter().filter(|scoring| !scoring.needs_probabilities())
    }

    fn all(labels: &Labels, weights: Option<&[f64]>, classes: &[Label], values: &[f32]) -> Vec<Result<f64>> {
        of_values().map(|scoring| scoring.score(labels, weights, classes, values)).collect()
    }

    #[track_caller]
    fn agree(found: &[Result<f64>], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            let found = found.as_ref().unwrap();
            assert!((found - expected).abs() < 1e-15, "{found} instead of {expected}");
        }
    }

    // Expected values: scikit-learn 1.9.1, `accuracy_score`, `balanced_accuracy_score`, `f1_score(average="macro")`,
    // `roc_auc_score`, `average_precision_score`.

    #[test]
    fn two_classes_with_ties_agree_with_scikit_learn() {
        let labels = Labels::new([0i64, 1, 1, 0, 1, 0, 1, 0]);
        let values = [-0.5, 0.25, 1.0, 0.25, -0.5, -2.0, 0.25, 1.5];
        let weights = [1.0, 2.0, 0.5, 3.0, 1.0, 0.0, 1.5, 0.25];
        let classes = labels.classes();
        let expected = [0.625, 0.625, 0.6190476190476191, 0.59375, 0.5678571428571428];
        agree(&all(&labels, None, classes, &values), &expected);
        let expected =
            [0.5405405405405406, 0.5176470588235295, 0.4865306122448979, 0.5294117647058824, 0.5609816713264989];
        agree(&all(&labels, Some(&weights), classes, &values), &expected);
        // The positive class is the model's second, whatever the order.
        let turned = [classes[1].clone(), classes[0].clone()];
        let negated: Vec<f32> = values.iter().map(|value| -value).collect();
        let auc = Scoring::RocAuc.score(&labels, None, &turned, &negated).unwrap();
        assert!((auc - 0.59375).abs() < 1e-15);
    }

    #[test]
    fn three_classes_agree_with_scikit_learn() {
        let labels = Labels::new([0i64, 1, 2, 0, 1, 2, 2]);
        let rows: [[f32; 3]; 7] = [
            [1.0, 0.0, -1.0],
            [0.5, 0.5, 0.0],
            [0.0, 0.25, 0.25],
            [-1.0, 0.0, -1.0],
            [0.0, 2.0, 1.0],
            [0.0, 0.5, 1.0],
            [2.0, 1.0, 0.25],
        ];
        let weights = [1.0, 2.0, 0.5, 3.0, 1.0, 0.75, 1.5];
        let classes = labels.classes();
        let expected = [0.42857142857142855, 0.4444444444444444, 0.43333333333333335, 0.6805555555555557];
        agree(&all(&labels, None, classes, rows.as_flattened())[..4], &expected);
        let expected = [0.28205128205128205, 0.2853535353535353, 0.31017740429505136, 0.6254069333779478];
        let found = all(&labels, Some(&weights), classes, rows.as_flattened());
        agree(&found[..4], &expected);
        let refused = found[4].as_ref().unwrap_err().to_string();
        assert!(refused.contains("average-precision") && refused.contains("two classes, not for 3"), "{refused}");
    }

    #[test]
    fn the_area_of_three_classes_is_that_of_probabilities() {
        let labels = Labels::new([0i64, 1, 2, 0, 1, 2, 2]);
        let p: [[f64; 3]; 7] = [
            [0.5, 0.25, 0.25],
            [0.375, 0.375, 0.25],
            [0.25, 0.375, 0.375],
            [0.125, 0.5, 0.375],
            [0.0, 0.75, 0.25],
            [0.125, 0.375, 0.5],
            [0.5, 0.25, 0.25],
        ];
        let area = |weights: Option<&[f64]>| {
            Scoring::RocAuc.score_probabilities(&labels, weights, labels.classes(), p.as_flattened()).unwrap()
        };
        assert!((area(None) - 0.7166666666666667).abs() < 1e-15);
        assert!((area(Some(&[1.0, 2.0, 0.5, 3.0, 1.0, 0.75, 1.5])) - 0.5367143368351097).abs() < 1e-15);
    }

    #[test]
    fn weights_count_as_copies() {
        let values = [0.5f32, -1.0, 0.5, 2.0, -0.25];
        let (labels, weights) = (Labels::new([0i64, 0, 1, 1, 1]), [2.0, 1.0, 3.0, 0.0, 1.0]);
        let rows: Vec<usize> = (0..5).flat_map(|row| vec![row; weights[row] as usize]).collect();
        let copies: Vec<f32> = rows.iter().map(|&row| values[row]).collect();
        let weighted = all(&labels, Some(&weights), labels.classes(), &values);
        for (scoring, weighted) in of_values().zip(weighted) {
            let copied = scoring.score(&labels.select(&rows), None, labels.classes(), &copies).unwrap();
            assert!((weighted.unwrap() - copied).abs() < 1e-15, "{scoring}");
        }
    }

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        // All pairs, one by one.
        let values: Vec<f32> = (0..60).map(|i| ((i * 37) % 11) as f32 - 5.0).collect();
        let positive = |row: usize| (row * row) % 7 < 3;
        let labels = Labels::new((0..60).map(|row| i64::from(positive(row))));
        let (mut in_order, mut pairs) = (0.0, 0.0);
        for (a, b) in (0..60).flat_map(|a| (0..60).map(move |b| (a, b))).filter(|&(a, b)| positive(a) && !positive(b)) {
            pairs += 1.0;
            in_order += if values[a] > values[b] {
                1.0
            } else if values[a] == values[b] {
                0.5
            } else {
                0.0
            };
        }
        let found = Scoring::RocAuc.score(&labels, None, labels.classes(), &values).unwrap();
        assert!((found - in_order / pairs).abs() < 1e-14, "{found}");
    }

    #[test]
    fn probabilities_are_judged_by_their_own_scores() {
        let classes = [Label::from("bee"), Label::from("wasp")];
        let labels = Labels::new(["wasp", "wasp"]);
        let p = [0.25, 0.75, 0.5, 0.5];
        // A class without samples has no part in a loss.
        let loss = Scoring::NegLogLoss.score_probabilities(&labels, None, &classes, &p).unwrap();
        assert!((loss - (0.75f64.ln() + 0.5f64.ln()) / 2.0).abs() < 1e-15);
        let brier = Scoring::NegBrierScore.score_probabilities(&labels, Some(&[3.0, 1.0]), &classes, &p).unwrap();
        assert!((brier + (3.0 * 0.0625 + 0.25) / 4.0).abs() < 1e-15);
        let refused = |error: Result<f64>| error.unwrap_err().to_string();
        let message = refused(Scoring::NegLogLoss.score(&labels, None, &classes, &[1.0, 2.0]));
        assert_eq!(message, "scoring 'neg-log-loss': it judges probabilities, not decision values");
        let message = refused(Scoring::RocAuc.score_probabilities(&Labels::new(["bee", "wasp"]), None, &classes, &p));
        assert_eq!(message, "scoring 'roc-auc': it does not judge probabilities");
        let message = refused(Scoring::NegLogLoss.score_probabilities(&Labels::new(["fly"]), None, &classes, &p));
        assert_eq!(message, "scoring 'neg-log-loss': the model was not trained with class 'fly'");
    }

    #[test]
    fn rejects_undefined_scores_by_name() {
        let classes = [Label::from("bee"), Label::from("wasp")];
        let refused = |scoring: Scoring, labels: &[&str], values: &[f32]| {
            let labels = Labels::new(labels.iter().copied());
            scoring.score(&labels, None, &classes, values).unwrap_err().to_string()
        };
        let message = refused(Scoring::RocAuc, &["bee", "bee"], &[1.0, 2.0]);
        assert_eq!(message, "scoring 'roc-auc': there is no sample of class 'wasp'");
        let message = refused(Scoring::AveragePrecision, &["bee", "bee"], &[1.0, 2.0]);
        assert_eq!(message, "scoring 'average-precision': there is no sample of class 'wasp'");
        let message = refused(Scoring::RocAuc, &["bee", "fly"], &[1.0, 2.0]);
        assert_eq!(message, "scoring 'roc-auc': the model was not trained with class 'fly'");
        assert!(refused(Scoring::RocAuc, &["bee", "wasp"], &[1.0, f32::NAN]).contains("NaN"));
        assert!(refused(Scoring::Accuracy, &["bee", "wasp"], &[1.0]).contains("1 decision values"));
        assert!(refused(Scoring::Accuracy, &[], &[]).contains("no samples"));
        // A precision is that of the positive samples alone.
        let only = Labels::new(["wasp", "wasp"]);
        assert_eq!(Scoring::AveragePrecision.score(&only, None, &classes, &[1.0, -1.0]).unwrap(), 1.0);
        // Labels that the model does not know are wrong, and no more.
        let other = Labels::new(["wasp", "fly"]);
        assert_eq!(Scoring::Accuracy.score(&other, None, &classes, &[1.0, -1.0]).unwrap(), 0.5);
        let weightless = Scoring::RocAuc.score(&Labels::new(["bee", "wasp"]), Some(&[1.0, 0.0]), &classes, &[1.0, 2.0]);
        assert!(weightless.unwrap_err().to_string().contains("no weight"));
        for scoring in Scoring::ALL {
            assert_eq!(scoring.to_string().parse::<Scoring>().unwrap(), scoring);
        }
        assert!("auc".parse::<Scoring>().unwrap_err().to_string().contains("known are accuracy, balanced-accuracy"));
    }
}
