//! Scores of classifiers, as defined by scikit-learn.

use super::scores::{Measure, NO_SAMPLES, check_shape, neg_brier_score};
use super::{Evaluation, LabelScores, Ranking, Scoring};
use crate::data::{Label, Labels};
use crate::error::{Error, Result};
use crate::model::Classifier;
use crate::problem::{OneVsRest, n_problems};

impl Scoring {
    /// Whether it is defined for samples with these labels and a model with these classes.
    ///
    /// # Errors
    /// [`Error::Score`] for no samples; for a score of numbers; where decision values or probabilities are judged, for a
    /// label that is none of the classes; where decision values are, for a class without samples (of the average
    /// precision, for the second class); for an average precision of more than two classes; for multilabel targets as
    /// for [`LabelScores::check`].
    pub fn check(self, labels: &Labels, classes: &[Label]) -> Result<()> {
        if labels.is_multilabel() {
            return LabelScores::check(self);
        }
        if labels.is_empty() {
            return Err(self.undefined("there are no samples"));
        }
        if self.is_of_numbers() {
            return Err(self.undefined("it judges numbers, not classes"));
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

    /// The score of a model with these classes on samples with these labels. Decision values are row-major, with one
    /// column for two classes and otherwise one per class, and of multilabel targets one per label; probabilities are
    /// samples × classes.
    ///
    /// # Errors
    /// As for [`Scoring::check`]; [`Error::Shape`] for arrays that are inconsistent; [`Error::Score`] for a class with
    /// a weight of 0, for decision values that are NaN, for values that are not probabilities: below 0, above 1, or not
    /// summing to 1, and for a score of probabilities without them.
    pub fn score(
        self,
        labels: &Labels,
        weights: Option<&[f64]>,
        classes: &[Label],
        (decision_values, probabilities): (&[f32], Option<&[f64]>),
    ) -> Result<f64> {
        if labels.is_multilabel() {
            return LabelScores::of(labels, decision_values, weights)?.score(self);
        }
        let (k, n_cols) = (classes.len(), n_problems(classes.len()));
        check_shape((decision_values.len(), "decision values"), n_cols, (labels.len(), "labels"), weights)?;
        self.check(labels, classes)?;
        if let Measure::Counts(of) = self.measure() {
            let mut evaluation = Evaluation::default();
            for (row, values) in decision_values.chunks_exact(n_cols).enumerate() {
                let weight = weights.map_or(1.0, |weights| weights[row]);
                evaluation.add_weighted(labels.get(row), &classes[OneVsRest::decide(values)], weight);
            }
            return Ok(of(&evaluation));
        }
        let codes = self.codes(labels, classes)?;
        match (self.measure(), probabilities.filter(|_| self.prefers_probabilities(labels, k))) {
            (Measure::Probabilities(of), Some(p)) => self.mean_of_samples(of, (&codes, k), p, weights),
            (Measure::Ranks(of), Some(p)) => {
                // Values that are not probabilities are an error here too.
                self.mean_of_samples(neg_brier_score, (&codes, k), p, weights)?;
                self.of_rankings(of, &codes, weights, (k, k), p)
            }
            (Measure::Ranks(of), None) => self.of_rankings(of, &codes, weights, (n_cols, k), decision_values),
            _ => Err(self.undefined("it judges probabilities, not decision values")),
        }
    }

    /// The mean score of the rankings of the samples by each column of values.
    fn of_rankings<V: Copy + Into<f64>>(
        self,
        of: fn(&Ranking) -> f64,
        codes: &[u32],
        weights: Option<&[f64]>,
        (n_cols, n_classes): (usize, usize),
        values: &[V],
    ) -> Result<f64> {
        if values.iter().any(|&value| value.into().is_nan()) {
            return Err(self.undefined("a decision value is NaN"));
        }
        let targets = OneVsRest::new(codes, n_classes);
        let of_problem = |problem: usize| {
            let ranked = (0..codes.len()).map(|row| {
                let is_positive = targets.sign(row, problem) > 0.0;
                (values[row * n_cols + problem], is_positive, weights.map_or(1.0, |weights| weights[row]))
            });
            of(&Ranking::new(ranked))
        };
        let score = (0..n_cols).map(of_problem).sum::<f64>() / n_cols as f64;
        if score.is_finite() { Ok(score) } else { Err(self.undefined("the samples of a class have no weight")) }
    }

    /// The weighted mean of a function of each sample's class and probabilities.
    fn mean_of_samples(
        self,
        of: fn(usize, &[f64]) -> f64,
        (codes, n_classes): (&[u32], usize),
        probabilities: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<f64> {
        check_shape((probabilities.len(), "probabilities"), n_classes, (codes.len(), "labels"), weights)?;
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, (&code, p)) in codes.iter().zip(probabilities.chunks_exact(n_classes)).enumerate() {
            if let Some(wrong) = p.iter().find(|p| !(0.0..=1.0).contains(*p)) {
                return Err(self.undefined(format!("{wrong} in row {row} (from 0) is no probability")));
            }
            let whole: f64 = p.iter().sum();
            // The rounding of single precision.
            if (whole - 1.0).abs() > 1e-5 {
                return Err(self.undefined(format!("the probabilities of row {row} (from 0) sum to {whole}, not to 1")));
            }
            let weight = weights.map_or(1.0, |weights| weights[row]);
            sum += weight * of(code as usize, p);
            total += weight;
        }
        if total > 0.0 { Ok(sum / total) } else { Err(self.undefined(NO_SAMPLES)) }
    }

    /// The score of a model on samples with these labels, by its decision values, as for [`Scoring::score`].
    ///
    /// # Errors
    /// As for [`Scoring::score`], but a score of probabilities is an error only for a model without them,
    /// [`Error::NotCalibrated`].
    pub fn score_model(
        self,
        model: &dyn Classifier,
        labels: &Labels,
        weights: Option<&[f64]>,
        decision_values: &[f32],
    ) -> Result<f64> {
        let classes = model.classes();
        let prefers_probabilities = self.prefers_probabilities(labels, classes.len());
        let probabilities = model.calibration().filter(|_| prefers_probabilities).map(|calibration| {
            let values: Vec<f64> = decision_values.iter().map(|&value| f64::from(value)).collect();
            calibration.probabilities(&values, classes.len())
        });
        if probabilities.is_none() && prefers_probabilities && self.needs_probabilities() {
            return Err(Error::NotCalibrated);
        }
        self.score(labels, weights, classes, (decision_values, probabilities.as_deref()))
    }

    /// The score of counted predictions; `None` if it is not computed from them.
    #[doc(hidden)]
    pub fn of_evaluation(self, evaluation: &Evaluation) -> Option<f64> {
        if let Measure::Counts(of) = self.measure() { Some(of(evaluation)) } else { None }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_classes() -> impl Iterator<Item = Scoring> {
        Scoring::all().filter(|scoring| !scoring.is_of_numbers())
    }

    /// Those that do not judge probabilities.
    fn of_values() -> impl Iterator<Item = Scoring> {
        of_classes().filter(|scoring| !scoring.needs_probabilities())
    }

    fn all(labels: &Labels, weights: Option<&[f64]>, classes: &[Label], values: &[f32]) -> Vec<Result<f64>> {
        of_values().map(|scoring| scoring.score(labels, weights, classes, (values, None))).collect()
    }

    fn of_p(scoring: Scoring, labels: &Labels, weights: Option<&[f64]>, classes: &[Label], p: &[f64]) -> Result<f64> {
        let values = vec![0.0; labels.len() * n_problems(classes.len())];
        scoring.score(labels, weights, classes, (&values, Some(p)))
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
        let auc = Scoring::RocAuc.score(&labels, None, &turned, (&negated, None)).unwrap();
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
            of_p(Scoring::RocAuc, &labels, weights, labels.classes(), p.as_flattened()).unwrap()
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
            let copied = scoring.score(&labels.select(&rows), None, labels.classes(), (&copies, None)).unwrap();
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
        let found = Scoring::RocAuc.score(&labels, None, labels.classes(), (&values, None)).unwrap();
        assert!((found - in_order / pairs).abs() < 1e-14, "{found}");
    }

    #[test]
    fn probabilities_are_judged_by_their_own_scores() {
        let classes = [Label::from("bee"), Label::from("wasp")];
        let labels = Labels::new(["wasp", "wasp"]);
        let p = [0.25, 0.75, 0.5, 0.5];
        // A class without samples has no part in a loss.
        let loss = of_p(Scoring::NegLogLoss, &labels, None, &classes, &p).unwrap();
        assert!((loss - (0.75f64.ln() + 0.5f64.ln()) / 2.0).abs() < 1e-15);
        let brier = of_p(Scoring::NegBrierScore, &labels, Some(&[3.0, 1.0]), &classes, &p).unwrap();
        assert!((brier + (3.0 * 0.0625 + 0.25) / 4.0).abs() < 1e-15);
        let refused = |error: Result<f64>| error.unwrap_err().to_string();
        let message = refused(Scoring::NegLogLoss.score(&labels, None, &classes, (&[1.0, 2.0], None)));
        assert_eq!(message, "scoring 'neg-log-loss': it judges probabilities, not decision values");
        let message = refused(of_p(Scoring::NegLogLoss, &Labels::new(["fly"]), None, &classes, &p));
        assert_eq!(message, "scoring 'neg-log-loss': the model was not trained with class 'fly'");
    }

    #[test]
    fn rejects_undefined_scores_by_name() {
        let classes = [Label::from("bee"), Label::from("wasp")];
        let refused = |scoring: Scoring, labels: &[&str], values: &[f32]| {
            let labels = Labels::new(labels.iter().copied());
            scoring.score(&labels, None, &classes, (values, None)).unwrap_err().to_string()
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
        assert_eq!(Scoring::AveragePrecision.score(&only, None, &classes, (&[1.0, -1.0], None)).unwrap(), 1.0);
        // Labels that the model does not know are wrong, and no more.
        let other = Labels::new(["wasp", "fly"]);
        assert_eq!(Scoring::Accuracy.score(&other, None, &classes, (&[1.0, -1.0], None)).unwrap(), 0.5);
        let weightless =
            Scoring::RocAuc.score(&Labels::new(["bee", "wasp"]), Some(&[1.0, 0.0]), &classes, (&[1.0, 2.0], None));
        assert!(weightless.unwrap_err().to_string().contains("no weight"));
        for scoring in Scoring::all() {
            assert_eq!(scoring.to_string().parse::<Scoring>().unwrap(), scoring);
        }
        assert!("auc".parse::<Scoring>().unwrap_err().to_string().contains("known are accuracy, balanced-accuracy"));
    }

    fn of_probabilities(scoring: Scoring, codes: &[i64], k: i64, p: &[f64], weights: Option<&[f64]>) -> Result<f64> {
        let classes: Vec<Label> = (0..k).map(Label::from).collect();
        of_p(scoring, &Labels::new(codes.iter().copied()), weights, &classes, p)
    }

    #[test]
    fn scores_of_probabilities_agree_with_scikit_learn() {
        let p = [0.9, 0.1, 0.25, 0.75, 1.0, 0.0];
        let (log_loss, brier_score) = (Scoring::NegLogLoss, Scoring::NegBrierScore);
        // `log_loss` and `brier_score_loss` of scikit-learn 1.9.1.
        let close = |found: Result<f64>, expected: f64| assert!((found.unwrap() + expected).abs() < 1e-14);
        close(of_probabilities(log_loss, &[0, 1, 0], 2, &p, None), -(0.9f64.ln() + 0.75f64.ln()) / 3.0);
        close(of_probabilities(log_loss, &[0, 1, 1], 2, &p, Some(&[0.0, 0.0, 2.0])), -f64::EPSILON.ln());
        let weights = Some(&[1.0, 3.0, 1.0][..]);
        close(of_probabilities(brier_score, &[0, 1, 1], 2, &p, weights), (0.01 + 3.0 * 0.0625 + 1.0) / 5.0);
        close(of_probabilities(brier_score, &[2], 3, &[0.5, 0.25, 0.25], None), 0.25 + 0.0625 + 0.5625);
    }

    #[test]
    fn rejects_values_that_are_not_probabilities() {
        let refused = |p: &[f64]| of_probabilities(Scoring::NegLogLoss, &[0, 1], 2, p, None).unwrap_err().to_string();
        assert!(refused(&[0.5, 0.5, 1.5, -0.5]).contains("1.5 in row 1 (from 0) is no probability"));
        assert!(refused(&[0.5, 0.5, 0.5, 0.25]).contains("row 1 (from 0) sum to 0.75"));
        assert!(refused(&[0.5, 0.5, f64::NAN, 0.5]).contains("no probability"));
        assert!(refused(&[0.5]).contains("1 probabilities"));
        let brier = |codes: &[i64], p: &[f64], weights| of_probabilities(Scoring::NegBrierScore, codes, 2, p, weights);
        assert!(brier(&[0], &[1.0, 0.0], Some(&[0.0])).unwrap_err().to_string().contains("weight"));
        assert!(brier(&[], &[], None).is_err());
    }
}
