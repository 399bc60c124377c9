//! Scores of a multilabel model on labeled samples.

use maud::{Markup, html};
use widemargin::data::Source;
use widemargin::model::Classifier;
use widemargin::monitor::Monitor;
use widemargin::select::{LabelScore, LabelScores, Labeled};
use widemargin::{Error, Result};

use crate::charts;
use crate::measured::{Mistake, Ranges, Reliability};
use crate::sections::{Cases, probabilities};
use crate::tiles::{more, percent, share, table, tile};

/// Scores of a model on multilabel samples, as `evaluate` computes them.
#[derive(Debug)]
pub struct MeasuredLabels {
    /// The counts.
    pub scores: LabelScores,
    /// Ten equal ranges of probability over all known indicators, without empty ranges; empty without probabilities.
    pub reliability: Vec<Reliability>,
    /// Wrong predictions, the most confident first.
    pub mistakes: Vec<Mistake>,
}

/// Maximum number of labels with listed scores.
const MAX_LABELS: usize = 100;

impl MeasuredLabels {
    /// Measures a model on samples with labels in the order of the model.
    ///
    /// # Errors
    /// Errors of the model on the samples; [`Error::Shape`] for other labels, and for another number of labels or weights.
    pub fn new(model: &dyn Classifier, data: Labeled<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Self> {
        let (samples, labels, weights) = data;
        let n = samples.n_samples();
        if labels.len() != n || labels.classes() != model.classes() {
            let found = format!("{} labels of {} samples", labels.classes().len(), labels.len());
            let expected = format!("the {} labels of the model, of {n} samples", model.classes().len());
            return Err(Error::shape("labels", found, expected));
        }
        let values = model.decision_function(samples, threads, monitor)?;
        let scores = LabelScores::of(labels, values.values(), weights)?;
        let double: Vec<f64> = values.values().iter().map(|&value| f64::from(value)).collect();
        let probabilities = model.calibration().map(|calibration| calibration.of_labels(&double, false));
        let (k, sets) = (labels.classes().len(), labels.signed_sets().unwrap_or_default());
        let (mut ranges, mut mistakes) = (Ranges::default(), Vec::new());
        for (at, &value) in double.iter().enumerate() {
            let (row, label) = (at / k, at % k);
            let indicator = sets[labels.codes()[row] as usize * k + label];
            if indicator == 0.0 {
                continue;
            }
            let has = indicator > 0.0;
            let of_indicator = |p: f64| if has { p } else { 1.0 - p };
            if (value > 0.0) != has {
                let probability = probabilities.as_ref().map(|all| of_indicator(all[at]));
                mistakes.push(Mistake { row, class: label, margin: value.abs(), probability });
            }
            if let Some(all) = &probabilities {
                ranges.add(all[at], has, weights.map_or(1.0, |weights| weights[row]));
            }
        }
        mistakes.sort_by(Mistake::by_confidence);
        Ok(MeasuredLabels { scores, reliability: ranges.filled(), mistakes })
    }

    /// The scores of all labels together.
    pub fn summary(&self, cases: Cases<'_>) -> Markup {
        let scores = &self.scores;
        let tiles = html! {
            div class="wm-tiles" {
                (tile(percent(scores.f1()), "F1, mean of the labels"))
                @if let Some(area) = scores.roc_auc() { (tile(format!("{area:.4}"), "ROC AUC, mean")) }
                @if let Some(area) = scores.average_precision() { (tile(format!("{area:.4}"), "average precision, mean")) }
                (tile(percent(scores.subset_accuracy), "of samples with all labels right"))
                (tile(percent(scores.hamming_loss()), "of labels wrong"))
            }
        };
        cases.scores("Scores", "multilabel samples", &tiles)
    }

    /// The scores of each label, and the reliability of its probabilities.
    pub fn details(&self) -> Markup {
        let area = |value: &Option<f64>| value.map_or("–".into(), |value| format!("{value:.4}"));
        let labels = &self.scores.labels;
        let row = |label: &LabelScore| {
            let (evaluation, has) = (&label.evaluation, &label.has);
            let [accuracy, precision, recall, f1] =
                [Some(evaluation.accuracy()), has.precision, has.recall, has.f1].map(share);
            let [known, support] = [evaluation.n_samples().to_string(), has.support.to_string()];
            let [roc_auc, average_precision] = [&label.roc_auc, &label.average_precision].map(area);
            [label.name.to_string(), known, support, accuracy, precision, recall, f1, roc_auc, average_precision]
        };
        let heads =
            ["label", "known", "have it", "accuracy", "precision", "recall", "F1", "ROC AUC", "average precision"];
        html! {
            section id="labels" {
                h2 { "Labels" }
                p class="wm-small wm-soft" { "Each over the samples for which it is known; shares in percent." }
                (table(heads, labels.iter().take(MAX_LABELS).map(row)))
                (more(labels.len(), MAX_LABELS, "labels"))
            }
            (probabilities(&self.reliability, "Of samples with a probability of, say, 0.8 of a label, 80 % should have it: dots on the diagonal, of all labels together. Larger dots stand for more predictions.", &charts::reliability(&self.reliability, "the label")))
        }
    }
}
