//! `widemargin evaluate` for a model with several labels a sample.

use std::path::Path;
use std::time::Instant;

use indicatif::HumanCount;
use serde_json::{Map, Value, json};
use widemargin::model::Classifier;
use widemargin::select::{LabelScore, LabelScores, Scoring};

use crate::args::Input;
use crate::context::Context;
use crate::label_scores::{KeptLabels, no_labels, order_of};
use crate::output::{print, print_json};
use crate::report::Failure;
use crate::stream::score;
use crate::text_table::{support_text, text_table};

/// Compares what a model says of each label with what is known.
pub fn evaluate_labels(
    context: &Context,
    file: &Path,
    model: &dyn Classifier,
    input: &Input,
    scoring: &[Scoring],
    as_json: bool,
) -> Result<(), Failure> {
    scoring.iter().try_for_each(|&one| LabelScores::check(one))?;
    let (start, names) = (Instant::now(), model.classes());
    let mut kept = KeptLabels::default();
    score(context, model, input, input.label.clone().unwrap_or_default(), |block, scores| {
        let several = block.table.indicators.as_ref().ok_or_else(|| no_labels(input))?;
        let order = order_of(several, names, input)?;
        let n = block.table.samples.n_rows();
        kept.add(several, &order, 0..n, scores.values(), block.table.weights.as_deref());
        Ok(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let scores = kept.scores(names)?;
    let (f1, subset_accuracy, hamming_loss) = (scores.f1(), scores.subset_accuracy, scores.hamming_loss());
    let (roc_auc, average_precision) = (scores.roc_auc(), scores.average_precision());
    let labels = &scores.labels;
    let mut asked = Map::new();
    for &one in scoring {
        asked.insert(one.to_string(), json!(scores.score(one)?));
    }
    let n = kept.weights.len();
    let rate = n as f64 / seconds;
    if as_json {
        return print_json(&json!({
            "model": file.display().to_string(),
            "method": model.method(),
            "n_samples": n,
            "subset_accuracy": subset_accuracy,
            "hamming_loss": hamming_loss,
            "f1_macro": f1,
            "roc_auc": roc_auc,
            "average_precision": average_precision,
            "scores": asked,
            "labels": labels.iter().map(json_of).collect::<Vec<_>>(),
            "seconds": seconds,
            "rows_per_second": rate,
        }));
    }
    let percent = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.2}", 100.0 * ratio));
    let number =
        |score: &widemargin::Result<f64>| score.as_ref().map_or_else(|_| "-".to_owned(), |s| format!("{s:.4}"));
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
    print(&format!(
        "{}\nF1 {:.2} %{} (means of the labels)\n\
         {:.2} % of {} samples have all known labels right, {:.2} % of the labels are wrong; {seconds:.2} s, {} rows/s\n",
        text_table(&heads, &labels.iter().map(row).collect::<Vec<_>>()),
        100.0 * f1,
        means.concat(),
        100.0 * subset_accuracy,
        HumanCount(n as u64),
        100.0 * hamming_loss,
        HumanCount(rate as u64),
    ))
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
