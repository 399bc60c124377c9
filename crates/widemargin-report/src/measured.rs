//! Scores of a model with one class per sample on labeled samples.

use std::cmp::Ordering;

use widemargin::data::Source;
use widemargin::model::Classifier;
use widemargin::monitor::Monitor;
use widemargin::problem::OneVsRest;
use widemargin::select::{Evaluation, Labeled, Ranking, Scoring};
use widemargin::{Error, Result};

/// Scores of a model on labeled samples, as `evaluate` computes them.
#[derive(Debug)]
pub struct Measured {
    /// The counts.
    pub evaluation: Evaluation,
    /// The number of samples with a label that is not a class of the model.
    pub n_unknown: usize,
    /// The scores of probabilities and decision values that are defined: the negated log loss, the area under the ROC curve and
    /// the average precision.
    pub of_values: Vec<(Scoring, f64)>,
    /// Of two classes.
    pub ranking: Option<Ranking>,
    /// Of ten equal ranges of probability, those with samples; empty without probabilities.
    pub reliability: Vec<Reliability>,
    /// Rows whose prediction is wrong, the most confident first.
    pub mistakes: Vec<Mistake>,
}

/// Samples whose probability is in a range: that of the second of two classes, or of the predicted class.
#[derive(Clone, Copy, Debug)]
pub struct Reliability {
    /// The mean probability.
    pub predicted: f64,
    /// The share that is of the class.
    pub observed: f64,
    /// The number of samples, or their weight.
    pub weight: f64,
}

/// A wrong prediction.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// The row of the sample.
    pub row: usize,
    /// The position of the predicted class, or of the label on which the prediction is wrong.
    pub class: usize,
    /// By how much the decision value of the predicted class is above that of the right one; of a label the size of its decision
    /// value.
    pub margin: f64,
    /// The probability of the right class or indicator, if there are probabilities and it is known.
    pub probability: Option<f64>,
}

impl Mistake {
    /// The more confident first.
    pub(crate) fn by_confidence(&self, other: &Self) -> Ordering {
        match (self.probability, other.probability) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => other.margin.total_cmp(&self.margin),
        }
    }
}

/// Sums over equal ranges of probability: of probabilities, of hits, and of weights.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ranges([(f64, f64, f64); 10]);

impl Ranges {
    /// Adds a probability and the outcome.
    pub fn add(&mut self, probability: f64, is_hit: bool, weight: f64) {
        let n = self.0.len();
        let range = &mut self.0[((probability * n as f64) as usize).min(n - 1)];
        let hit = f64::from(u8::from(is_hit));
        *range = (range.0 + weight * probability, range.1 + weight * hit, range.2 + weight);
    }

    /// The ranges with samples.
    pub fn filled(&self) -> Vec<Reliability> {
        let filled = self.0.into_iter().filter(|(_, _, weight)| *weight > 0.0);
        filled.map(|(p, hits, weight)| Reliability { predicted: p / weight, observed: hits / weight, weight }).collect()
    }
}

impl Measured {
    /// Measures a model.
    ///
    /// # Errors
    /// Errors of the model on the samples; [`Error::Shape`] for another number of labels or weights.
    pub fn new(model: &dyn Classifier, data: Labeled<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Self> {
        let (samples, labels, weights) = data;
        let (n, classes) = (samples.n_samples(), model.classes());
        let wrong =
            weights.map_or(labels.len(), |weights| if weights.len() == n { labels.len() } else { weights.len() });
        if wrong != n {
            return Err(Error::shape("samples", format!("{wrong} labels or weights"), n.to_string()));
        }
        let scores = model.decision_function(samples, threads, monitor)?;
        let values: Vec<f64> = scores.values().iter().map(|&value| f64::from(value)).collect();
        let k = classes.len();
        let probabilities = model.calibration().map(|calibration| calibration.probabilities(&values, k));
        let code = |row: usize| classes.iter().position(|class| class == labels.get(row));
        let codes: Vec<Option<usize>> = (0..n).map(code).collect();
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let (mut evaluation, mut mistakes) = (Evaluation::default(), Vec::new());
        let mut ranges = Ranges::default();
        for (row, &code) in codes.iter().enumerate() {
            let of_row = scores.row(row);
            let predicted = OneVsRest::decide(of_row);
            evaluation.add_weighted(labels.get(row), &classes[predicted], weight(row));
            let of_class = |class: usize| match of_row {
                [one] => f64::from(if class == 0 { -one } else { *one }),
                all => f64::from(all[class]),
            };
            if code != Some(predicted) {
                let against = code.map_or(0.0, of_class);
                let probability = code.and_then(|code| Some(probabilities.as_ref()?[row * k + code]));
                mistakes.push(Mistake { row, class: predicted, margin: of_class(predicted) - against, probability });
            }
            if let Some(probabilities) = &probabilities {
                let class = if k == 2 { 1 } else { predicted };
                ranges.add(probabilities[row * k + class], code == Some(class), weight(row));
            }
        }
        mistakes.sort_by(Mistake::by_confidence);
        let mut of_values = Vec::new();
        for scoring in [Scoring::NegLogLoss, Scoring::RocAuc, Scoring::AveragePrecision] {
            let score = scoring.score_model(model, labels, weights, scores.values());
            of_values.extend(score.map(|score| (scoring, score)));
        }
        // The area is that of a curve.
        let is_ranked = of_values.iter().any(|(scoring, _)| *scoring == Scoring::RocAuc);
        let ranking = (k == 2 && is_ranked).then(|| {
            let sample = |row: usize| (scores.values()[row], codes[row] == Some(1), weight(row));
            Ranking::new((0..n).map(sample))
        });
        let n_unknown = codes.iter().filter(|code| code.is_none()).count();
        Ok(Measured { evaluation, n_unknown, of_values, ranking, reliability: ranges.filled(), mistakes })
    }
}
