//! `widemargin evaluate` for classes, one of each sample: those of a classifier, or outliers and usual samples.

use serde_json::{Map, json};
use widemargin::Result;
use widemargin::data::{Label, Labels, SamplesView};
use widemargin::model::{Classifier, OneClass};
use widemargin::monitor::Monitor;
use widemargin::select::{self as counts, ClassScore, ConfusionMatrix, Scoring};

use crate::commands::evaluate::{Evaluated, Evaluation, Outcome};
use crate::report::{Failure, shown};
use crate::text_table::{percent, support_text, text_table};

/// What outlier detectors predict: outliers, and usual samples.
static OUTLIERS: [Label; 2] = [Label::Integer(-1), Label::Integer(1)];

/// Classes beyond which a confusion matrix is too wide to print; JSON has it all the same.
const MAX_PRINTED: usize = 12;

/// Decision values that are stored without being requested: 40 MB.
const MAX_STORED: usize = 10_000_000;

/// The predicted class of each sample, and the decision values.
type Predicted<'a> = (Vec<&'a Label>, Vec<f32>);

/// Labels, weights and decision values of all samples.
#[derive(Default)]
struct Stored {
    labels: Vec<Label>,
    /// As many as samples, or none.
    weights: Vec<f64>,
    values: Vec<f32>,
}

/// Compares the predictions of a classifier with the labels of samples.
pub fn evaluate_classes(evaluation: &Evaluation<'_>, model: &dyn Classifier) -> Outcome {
    let scoring = evaluation.of_classes()?;
    let predict = |view: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>| {
        let scores = model.decision_function(view, threads, monitor)?;
        Ok((scores.decide(model.classes()), scores.values().to_vec()))
    };
    let check = |_: &Labels, _: usize| Ok(());
    evaluated(evaluation, model.classes(), &scoring, predict, check, |scoring, labels, weights, values| {
        scoring.score_model(model, labels, weights, values)
    })
}

/// Compares the predictions of an outlier detector with labels 1 and -1.
pub fn evaluate_outliers(evaluation: &Evaluation<'_>, model: &dyn OneClass) -> Outcome {
    let (scoring, input) = (evaluation.of_classes()?, evaluation.input);
    if let Some(scoring) = scoring.iter().find(|scoring| scoring.needs_probabilities()) {
        let failure = format!("{scoring} is a score of probabilities, which an outlier detector does not predict");
        return Err(Failure::input(failure).help("name one of decision values, such as roc-auc or average-precision"));
    }
    let predict = |view: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>| {
        let values = model.decision_function(view, threads, monitor)?;
        let predicted = values.iter().map(|value| &OUTLIERS[usize::from(*value >= 0.0)]);
        Ok((predicted.collect(), values.iter().map(|value| *value as f32).collect()))
    };
    let check =
        |labels: &Labels, first_row: usize| match (0..labels.len()).find(|&row| !OUTLIERS.contains(labels.get(row))) {
            None => Ok(()),
            Some(row) => {
                let (file, at) = (shown(&input.data), first_row + row + 1);
                let failure = Failure::input(format!("{file}: sample {at} has the label '{}'", labels.get(row)));
                Err(failure.help("an outlier detector is evaluated on labels 1, of usual samples, and -1, of outliers"))
            }
        };
    evaluated(evaluation, &OUTLIERS, &scoring, predict, check, |scoring, labels, weights, values| {
        scoring.score(labels, weights, &OUTLIERS, values)
    })
}

/// The scores of a model of these classes: the predictions are counted block by block, and stored for scores that are not
/// counts, which `score` has.
fn evaluated<'a>(
    evaluation: &Evaluation<'_>,
    classes: &'a [Label],
    requested: &[Scoring],
    predict: impl Fn(&SamplesView<'_>, usize, &Monitor<'_>) -> Result<Predicted<'a>>,
    check: impl Fn(&Labels, usize) -> std::result::Result<(), Failure>,
    score: impl Fn(Scoring, &Labels, Option<&[f64]>, &[f32]) -> Result<f64>,
) -> Outcome {
    let (mut counted, mut stored) = (counts::Evaluation::default(), Some(Stored::default()));
    let must_store = requested.iter().any(|one| one.needs_decision_values());
    evaluation.through(predict, |block, (predicted, values)| {
        let labels = block.table.require_labels(&evaluation.input.data)?.as_classes(classes);
        check(&labels, block.first_row)?;
        let weights = block.table.weights.as_deref();
        for (row, predicted) in predicted.iter().enumerate() {
            counted.add_weighted(labels.get(row), predicted, weights.map_or(1.0, |weights| weights[row]));
        }
        if let Some(stored) = &mut stored {
            stored.labels.extend((0..labels.len()).map(|row| labels.get(row).clone()));
            stored.weights.extend(weights.into_iter().flatten());
            stored.values.extend_from_slice(values);
        }
        stored = stored.take().filter(|stored| must_store || stored.values.len() <= MAX_STORED);
        Ok(())
    })?;
    let stored = stored.map(|Stored { labels, weights, values }| (Labels::new(labels), weights, values));
    let score_of = |scoring: Scoring| {
        let (labels, weights, values) = stored.as_ref()?;
        Some(score(scoring, labels, (!weights.is_empty()).then_some(weights), values))
    };
    let mut scores = Map::new();
    for scoring in requested {
        if let Some(score) = scoring.of_evaluation(&counted).map(Ok).or_else(|| score_of(*scoring)) {
            scores.insert(scoring.to_string(), json!(score?));
        }
    }
    let class_scores = counted.class_scores();
    let unknown: Vec<_> = class_scores.iter().filter(|score| !classes.contains(&score.label)).collect();
    let n_unknown: u64 = unknown.iter().map(|score| score.n_samples).sum();
    if let Some(ClassScore { label, .. }) = unknown.first() {
        let warning = format!("{n_unknown} samples have a label that the model does not know, such as '{label}'");
        evaluation.context.warn(&warning);
    }
    let row = |score: &ClassScore| {
        let shares = [score.precision, score.recall, score.f1].map(percent);
        [score.label.to_string(), support_text(score.support)].into_iter().chain(shares).collect()
    };
    let heads = ["label", "support", "precision %", "recall %", "F1 %"];
    let table = text_table(&heads, class_scores.iter().map(row));
    let of_values = [
        ("ROC AUC", "roc_auc", Scoring::RocAuc, 1.0),
        ("average precision", "average_precision", Scoring::AveragePrecision, 1.0),
        ("log loss", "log_loss", Scoring::NegLogLoss, -1.0),
        ("Brier score", "brier_score", Scoring::NegBrierScore, -1.0),
    ];
    // Where they are defined.
    let of_values = of_values.map(|(name, key, scoring, sign)| {
        (name, key, score_of(scoring).and_then(Result::ok).map(|score| sign * score))
    });
    let lines =
        of_values.map(|(name, _, score)| score.map_or_else(String::new, |score| format!("{name} {score:.4}\n")));
    let [balanced, f1, accuracy] =
        [counted.balanced_accuracy(), counted.f1_macro(), counted.accuracy()].map(|share| 100.0 * share);
    let mut json = json!({
        "n_unknown": n_unknown,
        "accuracy": counted.accuracy(),
        "balanced_accuracy": counted.balanced_accuracy(),
        "f1_macro": counted.f1_macro(),
        "confusion_matrix": counted.confusion_matrix(),
        "classes": class_scores,
    });
    of_values.into_iter().for_each(|(_, key, score)| json[key] = json!(score));
    let text = format!(
        "{table}\n{}{}balanced accuracy {balanced:.2} %, F1 {f1:.2} % (means of the classes)\naccuracy {accuracy:.2} %\n",
        confusion_text(&counted.confusion_matrix()),
        lines.concat(),
    );
    Ok(Evaluated { n_samples: counted.n_samples(), scores, text, json })
}

fn confusion_text(confusion: &ConfusionMatrix) -> String {
    if confusion.labels.len() > MAX_PRINTED {
        return String::new();
    }
    let names: Vec<String> = confusion.labels.iter().map(ToString::to_string).collect();
    let heads: Vec<&str> = ["actual \\ predicted"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let row = |(name, counts): (&String, &Vec<f64>)| {
        [name.clone()].into_iter().chain(counts.iter().map(|count| support_text(*count))).collect()
    };
    text_table(&heads, names.iter().zip(&confusion.counts).map(row)) + "\n"
}
