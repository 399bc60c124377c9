//! `widemargin evaluate` for a multilabel model.

use indicatif::HumanCount;
use serde_json::{Map, Value, json};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::model::Classifier;
use widemargin::select::{LabelScore, LabelScores};

use crate::commands::evaluate::{Evaluated, Evaluation, Outcome};
use crate::label_scores::{in_order, require_indicators};
use crate::text_table::{fixed, percent, support_text, text_table};

/// Compares the predictions of each label with what is known.
pub fn evaluate_labels(evaluation: &Evaluation<'_>, model: &dyn Classifier) -> Outcome {
    let (scoring, input) = (evaluation.of_classes()?, evaluation.input);
    scoring.iter().try_for_each(|&one| LabelScores::check(one))?;
    let names = model.classes();
    let (mut truth, mut values, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    evaluation.through(
        |view, threads, monitor| model.decision_function(view, threads, monitor),
        |block, scores| {
            truth.extend(in_order(require_indicators(&block.table.indicators, input)?, names, input)?);
            values.extend_from_slice(scores.values());
            weights.extend(block.table.weights.iter().flatten());
            Ok(())
        },
    )?;
    let truth = Labels::multilabel(names.to_vec(), &truth)?;
    let scores = LabelScores::of(&truth, &values, (!weights.is_empty()).then_some(&weights[..]))?;
    let (f1, subset_accuracy, hamming_loss) = (scores.f1(), scores.subset_accuracy, scores.hamming_loss());
    let (roc_auc, average_precision) = (scores.roc_auc(), scores.average_precision());
    let requested = scoring.iter().map(|&one| Ok((one.to_string(), json!(scores.score(one)?))));
    let number = |score: &Result<f64>| fixed(score.as_ref().ok().copied(), 4);
    let row = |label: &LabelScore| {
        let LabelScore { name, evaluation, has, roc_auc, average_precision } = label;
        let counts = [HumanCount(evaluation.n_samples()).to_string(), support_text(has.support)];
        let of_classes = [Some(evaluation.accuracy()), has.precision, has.recall, has.f1].map(percent);
        let of_values = [number(roc_auc), number(average_precision)];
        [name.to_string()].into_iter().chain(counts).chain(of_classes).chain(of_values).collect()
    };
    let heads =
        ["label", "known", "have it", "accuracy %", "precision %", "recall %", "F1 %", "ROC AUC", "av. precision"];
    let means = [("ROC AUC", roc_auc), ("average precision", average_precision)];
    let means = means.map(|(name, mean)| mean.map_or_else(String::new, |mean| format!(", {name} {mean:.4}")));
    Ok(Evaluated {
        n_samples: truth.len() as u64,
        scores: requested.collect::<Result<Map<_, _>>>()?,
        text: format!(
            "{}\nF1 {:.2} %{} (means of the labels)\n\
             {:.2} % of the samples have all known labels right, {:.2} % of the labels are wrong\n",
            text_table(&heads, scores.labels.iter().map(row)),
            100.0 * f1,
            means.concat(),
            100.0 * subset_accuracy,
            100.0 * hamming_loss,
        ),
        json: json!({
            "subset_accuracy": subset_accuracy,
            "hamming_loss": hamming_loss,
            "f1_macro": f1,
            "roc_auc": roc_auc,
            "average_precision": average_precision,
            "labels": scores.labels.iter().map(json_of).collect::<Vec<_>>(),
        }),
    })
}

fn json_of(label: &LabelScore) -> Value {
    json!({
        "label": label.name,
        "known": label.evaluation.n_samples(),
        "support": json!(label.has)["support"],
        "accuracy": label.evaluation.accuracy(),
        "precision": label.has.precision,
        "recall": label.has.recall,
        "f1": label.has.f1,
        "roc_auc": label.roc_auc.as_ref().ok(),
        "average_precision": label.average_precision.as_ref().ok(),
    })
}
