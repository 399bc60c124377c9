//! `widemargin evaluate` for classes, one of each sample: those of a classifier, or outliers and usual samples.

use serde_json::{Map, json};
use widemargin::Result;
use widemargin::data::Label;
use widemargin::model::{Classifier, OneClass};
use widemargin::select::{ClassScore, ConfusionMatrix, Scoring};

use crate::commands::evaluation::{Evaluated, Evaluation, percent};
use crate::report::{Failure, shown};
use crate::scored::{OfAll, Scored};
use crate::text_table::{support_text, text_table};

/// What outlier detectors predict: outliers, and usual samples.
static OUTLIERS: [Label; 2] = [Label::Integer(-1), Label::Integer(1)];

/// Classes beyond which a confusion matrix is too wide to print; JSON has it all the same.
const MAX_PRINTED: usize = 12;

/// Compares the predictions of a classifier with the labels of samples.
pub fn evaluate_classes(
    evaluation: &Evaluation<'_>,
    model: &dyn Classifier,
) -> std::result::Result<Evaluated, Failure> {
    let (scoring, input) = (evaluation.of_classes()?, evaluation.input);
    let (mut scored, must_store) = (Scored::new(), scoring.iter().any(|one| one.needs_decision_values()));
    evaluation.through(
        |view, threads, monitor| model.decision_function(view, threads, monitor),
        |block, scores| {
            let labels = block.table.require_labels(&input.data)?.as_classes(model.classes());
            let predicted = scores.decide(model.classes());
            let weights = block.table.weights.as_deref();
            scored.add(&labels, |row| predicted[row], weights, scores.values(), must_store);
            Ok(())
        },
    )?;
    evaluated(evaluation, model.classes(), scored, &scoring, |scoring, (labels, weights, values)| {
        scoring.score_model(model, labels, weights.as_deref(), values)
    })
}

/// Compares the predictions of an outlier detector with labels 1 and -1.
pub fn evaluate_outliers(evaluation: &Evaluation<'_>, model: &dyn OneClass) -> std::result::Result<Evaluated, Failure> {
    let (scoring, input) = (evaluation.of_classes()?, evaluation.input);
    if let Some(scoring) = scoring.iter().find(|scoring| scoring.needs_probabilities()) {
        let failure = format!("{scoring} is a score of probabilities, which an outlier detector does not predict");
        return Err(Failure::input(failure).help("name one of decision values, such as roc-auc or average-precision"));
    }
    let (mut scored, must_store) = (Scored::new(), scoring.iter().any(|one| one.needs_decision_values()));
    evaluation.through(
        |view, threads, monitor| model.decision_function(view, threads, monitor),
        |block, values| {
            let labels = block.table.require_labels(&input.data)?.as_classes(&OUTLIERS);
            if let Some(row) = (0..labels.len()).find(|&row| !OUTLIERS.contains(labels.get(row))) {
                let at = block.first_row + row + 1;
                let failure = format!("{}: sample {at} has the label '{}'", shown(&input.data), labels.get(row));
                return Err(Failure::input(failure)
                    .help("an outlier detector is evaluated on labels 1, of usual samples, and -1, of outliers"));
            }
            let predicted = |row: usize| &OUTLIERS[usize::from(values[row] >= 0.0)];
            let narrow: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            scored.add(&labels, predicted, block.table.weights.as_deref(), &narrow, must_store);
            Ok(())
        },
    )?;
    evaluated(evaluation, &OUTLIERS, scored, &scoring, |scoring, (labels, weights, values)| {
        scoring.score(labels, weights.as_deref(), &OUTLIERS, values)
    })
}

/// The scores of a model of these classes; `score` has what is not counted.
fn evaluated(
    evaluation: &Evaluation<'_>,
    classes: &[Label],
    scored: Scored,
    requested: &[Scoring],
    score: impl Fn(Scoring, &OfAll) -> Result<f64>,
) -> std::result::Result<Evaluated, Failure> {
    let (counted, stored) = scored.split();
    let of_values = |scoring: Scoring| Some(score(scoring, stored.as_ref()?));
    let mut scores = Map::new();
    for scoring in requested {
        if let Some(score) = scoring.of_evaluation(&counted).map(Ok).or_else(|| of_values(*scoring)) {
            scores.insert(scoring.to_string(), json!(score?));
        }
    }
    // Where they are defined.
    let [roc_auc, average_precision] =
        [Scoring::RocAuc, Scoring::AveragePrecision].map(|scoring| of_values(scoring)?.ok());
    let [log_loss, brier_score] =
        [Scoring::NegLogLoss, Scoring::NegBrierScore].map(|scoring| Some(-of_values(scoring)?.ok()?));
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
    let table = text_table(
        &["label", "support", "precision %", "recall %", "F1 %"],
        &class_scores.iter().map(row).collect::<Vec<_>>(),
    );
    let of_values = [
        ("ROC AUC", roc_auc),
        ("average precision", average_precision),
        ("log loss", log_loss),
        ("Brier score", brier_score),
    ];
    let of_values = of_values.map(|(name, score)| score.map_or_else(String::new, |s| format!("{name} {s:.4}\n")));
    let [balanced, f1, accuracy] =
        [counted.balanced_accuracy(), counted.f1_macro(), counted.accuracy()].map(|share| 100.0 * share);
    Ok(Evaluated {
        n_samples: counted.n_samples(),
        scores,
        text: format!(
            "{table}\n{}{}balanced accuracy {balanced:.2} %, F1 {f1:.2} % (means of the classes)\naccuracy {accuracy:.2} %\n",
            confusion_text(&counted.confusion_matrix()),
            of_values.concat(),
        ),
        json: json!({
            "n_unknown": n_unknown,
            "accuracy": counted.accuracy(),
            "balanced_accuracy": counted.balanced_accuracy(),
            "f1_macro": counted.f1_macro(),
            "roc_auc": roc_auc,
            "average_precision": average_precision,
            "log_loss": log_loss,
            "brier_score": brier_score,
            "confusion_matrix": counted.confusion_matrix(),
            "classes": class_scores,
        }),
    })
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
    let rows: Vec<Vec<String>> = names.iter().zip(&confusion.counts).map(row).collect();
    text_table(&heads, &rows) + "\n"
}
