//! `widemargin evaluate` for a model with several labels a sample.

use std::path::Path;
use std::time::Instant;

use indicatif::HumanCount;
use serde_json::{Map, Value, json};
use widemargin::data::{Label, Labels};
use widemargin::model::Classifier;
use widemargin::select::{ClassScore, Evaluation, Scoring};
use widemargin_io::Indicators;

use crate::args::Input;
use crate::context::Context;
use crate::output::{print, print_json};
use crate::report::{Failure, shown};
use crate::stream::score;
use crate::text_table::text_table;

/// What is counted of one label, over the samples of which it is known.
struct OfLabel {
    name: Label,
    evaluation: Evaluation,
    /// Of the samples that have it.
    has: ClassScore,
    roc_auc: widemargin::Result<f64>,
    average_precision: widemargin::Result<f64>,
}

/// Indicators, decision values (both samples × labels, in the order of the model's labels) and weights of all samples.
#[derive(Default)]
struct Kept {
    truth: Vec<f64>,
    values: Vec<f32>,
    weights: Vec<f64>,
}

/// Compares what a model says of each label with what is known.
pub fn evaluate_labels(
    context: &Context,
    file: &Path,
    model: &dyn Classifier,
    input: &Input,
    scoring: &[Scoring],
    as_json: bool,
) -> Result<(), Failure> {
    let (start, names) = (Instant::now(), model.classes());
    let mut kept = Kept::default();
    score(context, model, input, input.label.clone().unwrap_or_default(), |block, scores| {
        let several = block.table.several.as_ref().ok_or_else(|| no_labels(input))?;
        let order = order_of(several, names, input)?;
        for row in several.values.chunks_exact(several.names.len()) {
            kept.truth.extend(order.iter().map(|&at| row[at]));
        }
        kept.values.extend_from_slice(scores.values());
        let n = block.table.samples.n_rows();
        kept.weights.extend(block.table.weights.clone().unwrap_or_else(|| vec![1.0; n]));
        Ok(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let labels: Vec<OfLabel> = names.iter().enumerate().map(|(at, name)| of_label(&kept, at, name)).collect();
    let subset_accuracy = subset_accuracy(&kept, names.len());
    let hamming_loss = mean(labels.iter().map(|label| Some(1.0 - label.evaluation.accuracy()))).unwrap_or(0.0);
    // As of scikit-learn, a label without samples and predictions has an F1 of 0.
    let f1 = mean(labels.iter().map(|label| Some(label.has.f1.unwrap_or(0.0)))).unwrap_or(0.0);
    let of_values =
        |of: fn(&OfLabel) -> &widemargin::Result<f64>| mean(labels.iter().map(|l| of(l).as_ref().ok().copied()));
    let (roc_auc, average_precision) = (of_values(|label| &label.roc_auc), of_values(|label| &label.average_precision));
    let mut asked = Map::new();
    for one in scoring {
        let every = |of: fn(&OfLabel) -> &widemargin::Result<f64>| -> Result<f64, Failure> {
            let missing = labels.iter().find_map(|label| of(label).as_ref().err().map(|error| (&label.name, error)));
            match (missing, of_values(of)) {
                (None, Some(mean)) => Ok(mean),
                (Some((name, error)), _) => Err(Failure::input(format!("label '{name}': {error}"))),
                (None, None) => Err(no_labels(input)),
            }
        };
        let found = match one {
            Scoring::Accuracy => subset_accuracy,
            Scoring::F1Macro => f1,
            Scoring::RocAuc => every(|label| &label.roc_auc)?,
            Scoring::AveragePrecision => every(|label| &label.average_precision)?,
            other => {
                let failure = Failure::input(format!("--scoring {other} is of samples with one class each"));
                let help = "of several labels there are accuracy, f1-macro, roc-auc and average-precision";
                return Err(failure.help(help));
            }
        };
        asked.insert(one.to_string(), json!(found));
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
    let row = |label: &OfLabel| {
        let OfLabel { name, evaluation, has, roc_auc, average_precision } = label;
        let counts = [evaluation.n_samples(), has.support].map(|count| HumanCount(count).to_string());
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

fn no_labels(input: &Input) -> Failure {
    let failure =
        format!("{}: the model has several labels a sample, the samples have none of them", shown(&input.data));
    Failure::input(failure).help("name their columns with --label A,B or their file with --labels, as in training")
}

/// The column of each of the model's labels: by name, or by place where a matrix has no names.
fn order_of(several: &Indicators, names: &[Label], input: &Input) -> Result<Vec<usize>, Failure> {
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

fn of_label(kept: &Kept, at: usize, name: &Label) -> OfLabel {
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
fn subset_accuracy(kept: &Kept, k: usize) -> f64 {
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

fn json_of(label: &OfLabel) -> Value {
    json!({
        "label": label.name,
        "known": label.evaluation.n_samples(),
        "support": label.has.support,
        "accuracy": label.evaluation.accuracy(),
        "precision": label.has.precision,
        "recall": label.has.recall,
        "f1": label.has.f1,
        "roc_auc": label.roc_auc.as_ref().ok(),
        "average_precision": label.average_precision.as_ref().ok(),
    })
}
