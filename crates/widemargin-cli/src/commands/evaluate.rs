//! `widemargin evaluate`: evaluates a model on labeled samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use serde_json::{Map, Value, json};
use widemargin::data::{Label, Labels, SamplesView};
use widemargin::model::{AnyModel, BasisExpansionOneClass, Classifier, Model, Regressor};
use widemargin::monitor::Monitor;
use widemargin::select::{
    ClassScore, ConfusionMatrix, Evaluation as CountedPredictions, LabelScore, LabelScores, Scoring,
};
use widemargin::similarity::AnySimilarity;

use crate::args::Input;
use crate::context::Context;
use crate::model::load_for;
use crate::output::{joined, print, print_json};
use crate::report::{Failure, refused, shown};
use crate::scoring::check_task;
use crate::stream::through;
use crate::task::{in_order, require_indicators, targets_of};
use crate::text_table::{fixed, percent, support_text, text_table};

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// Model file
    model: PathBuf,
    /// Scores that must be defined, comma-separated: roc-auc, r2, ...
    ///
    /// Scores are defined as in scikit-learn: accuracy, balanced-accuracy, f1-macro, roc-auc, average-precision,
    /// neg-log-loss and neg-brier-score; for a regression model r2, neg-mean-absolute-error,
    /// neg-root-mean-squared-error and neg-mean-pinball-loss:quantile=0.9; for an outlier detector, with labels 1 and
    /// -1, the first five. By default, all scores that are defined are printed, except the pinball loss. The last four
    /// classification scores need the decision values of all samples; with more than 10 million values, they are
    /// omitted unless they are requested.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    metrics: Vec<Scoring>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: Input,
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let model = load_for(&self.model, &self.input)?;
        let is_regression = matches!(model, AnyModel::Regressor(_));
        self.metrics.iter().try_for_each(|&scoring| check_task(scoring, is_regression))?;
        let start = Instant::now();
        let evaluated = match &model {
            AnyModel::Classifier(model) if model.is_multilabel() => evaluate_labels(&self, context, &**model),
            AnyModel::Classifier(model) => evaluate_classes(&self, context, &**model),
            AnyModel::Regressor(model) => evaluate_numbers(&self, context, &**model),
            AnyModel::OneClass(model) => evaluate_outliers(&self, context, model),
        }?;
        let (n_samples, seconds) = (evaluated.n_samples, start.elapsed().as_secs_f64());
        let rate = n_samples as f64 / seconds;
        if !self.json {
            let (n_samples, rate) = (HumanCount(n_samples), HumanCount(rate as u64));
            return print(&format!("{}{n_samples} samples in {seconds:.2} s, {rate} per second\n", evaluated.text));
        }
        let object = json!({
            "model": self.model.display().to_string(),
            "method": model.method(),
            "n_samples": n_samples,
            "scores": evaluated.scores,
            "seconds": seconds,
            "rows_per_second": rate,
        });
        print_json(&joined(object, evaluated.json))
    }

    /// The requested scores by name; those that there are.
    fn requested(
        &self,
        score: impl Fn(Scoring) -> Option<widemargin::Result<f64>>,
    ) -> widemargin::Result<Map<String, Value>> {
        let found = self.metrics.iter().filter_map(|&scoring| Some((scoring.to_string(), score(scoring)?)));
        found.map(|(name, score)| Ok((name, json!(score?)))).collect()
    }
}

/// The scores of a model of some kind.
pub struct Evaluated {
    pub n_samples: u64,
    /// The requested scores.
    pub scores: Map<String, Value>,
    /// What is printed of this kind of models, as JSON and as text.
    pub json: Value,
    pub text: String,
}

/// The scores, or why there are none.
pub type Outcome = Result<Evaluated, Failure>;

/// Compares the predictions of a regression model with the targets of samples.
fn evaluate_numbers(command: &Evaluate, context: &Context, model: &dyn Regressor) -> Outcome {
    let input = &command.input;
    if model.n_outputs() != 1 {
        let failure = format!("evaluate compares one target a sample, the model has {}", model.n_outputs());
        return refused(failure, "predict prints a column a target");
    }
    let (mut targets, mut predicted, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let predict = |view: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>| model.predict(view, threads, monitor);
    through(context, model, input, predict, |block, found| {
        targets.extend(targets_of(block.table.require_labels(&input.data)?, &input.data, block.first_row as u64)?);
        predicted.extend_from_slice(&found.values);
        weights.extend(block.table.weights.iter().flatten().copied());
        Ok(())
    })?;
    let weights = (!weights.is_empty()).then_some(&weights[..]);
    let score = |scoring: Scoring| scoring.score_numbers(&targets, &predicted, weights);
    let scores = command.requested(|scoring| Some(score(scoring)))?;
    let r2 = score(Scoring::R2).ok();
    let mae = -score(Scoring::NegMeanAbsoluteError)?;
    let rmse = -score(Scoring::NegRootMeanSquaredError)?;
    let shown = fixed(r2, 4);
    let text = format!("R² {shown}\nmean absolute error {mae:.6}\nroot mean squared error {rmse:.6}\n");
    let json = json!({ "r2": r2, "mean_absolute_error": mae, "root_mean_squared_error": rmse });
    Ok(Evaluated { n_samples: targets.len() as u64, scores, json, text })
}

/// Compares the predictions of each label with what is known.
fn evaluate_labels(command: &Evaluate, context: &Context, model: &dyn Classifier) -> Outcome {
    let input = &command.input;
    command.metrics.iter().try_for_each(|&one| LabelScores::check(one))?;
    let names = model.classes();
    let (mut truth, mut values, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let predict =
        |view: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>| model.decision_function(view, threads, monitor);
    through(context, model, input, predict, |block, scores| {
        truth.extend(in_order(require_indicators(&block.table.indicators, input)?, names, input)?);
        values.extend_from_slice(scores.values());
        weights.extend(block.table.weights.iter().flatten());
        Ok(())
    })?;
    let truth = Labels::multilabel(names.to_vec(), &truth)?;
    let scores = LabelScores::of(&truth, &values, (!weights.is_empty()).then_some(&weights[..]))?;
    let (f1, subset_accuracy, hamming_loss) = (scores.f1(), scores.subset_accuracy, scores.hamming_loss());
    let (roc_auc, average_precision) = (scores.roc_auc(), scores.average_precision());
    let row = |label: &LabelScore| {
        let LabelScore { name, evaluation, has, roc_auc, average_precision } = label;
        let counts = [HumanCount(evaluation.n_samples()).to_string(), support_text(has.support)];
        let of_classes = [Some(evaluation.accuracy()), has.precision, has.recall, has.f1].map(percent);
        let of_values = [roc_auc, average_precision].map(|score| fixed(*score, 4));
        [name.to_string()].into_iter().chain(counts).chain(of_classes).chain(of_values).collect()
    };
    let heads =
        ["label", "known", "have it", "accuracy %", "precision %", "recall %", "F1 %", "ROC AUC", "av. precision"];
    let means = [("ROC AUC", roc_auc), ("average precision", average_precision)];
    let means = means.map(|(name, mean)| mean.map_or_else(String::new, |mean| format!(", {name} {mean:.4}"))).concat();
    let table = text_table(&heads, scores.labels.iter().map(row));
    let [f1_percent, right, wrong] = [f1, subset_accuracy, hamming_loss].map(|share| 100.0 * share);
    Ok(Evaluated {
        n_samples: truth.len() as u64,
        scores: command.requested(|scoring| Some(scores.score(scoring)))?,
        text: format!(
            "{table}\nF1 {f1_percent:.2} %{means} (means of the labels)\n\
             {right:.2} % of the samples have all known labels right, {wrong:.2} % of the labels are wrong\n"
        ),
        json: json!({
            "subset_accuracy": subset_accuracy,
            "hamming_loss": hamming_loss,
            "f1_macro": f1,
            "roc_auc": roc_auc,
            "average_precision": average_precision,
            "labels": scores.labels.iter().map(label_json).collect::<Vec<_>>(),
        }),
    })
}

fn label_json(label: &LabelScore) -> Value {
    let own = json!({
        "label": label.name,
        "known": label.evaluation.n_samples(),
        "accuracy": label.evaluation.accuracy(),
        "roc_auc": label.roc_auc,
        "average_precision": label.average_precision,
    });
    joined(json!(label.has), own)
}

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
fn evaluate_classes(command: &Evaluate, context: &Context, model: &dyn Classifier) -> Outcome {
    let predict = |view: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>| {
        let scores = model.decision_function(view, threads, monitor)?;
        Ok((scores.decide(model.classes()), scores.values().to_vec()))
    };
    evaluated((command, context, model), (model.classes(), false), predict, |scoring, labels, weights, values| {
        scoring.score_model(model, labels, weights, values)
    })
}

/// Compares the predictions of an outlier detector with labels 1 and -1.
fn evaluate_outliers(command: &Evaluate, context: &Context, model: &BasisExpansionOneClass<AnySimilarity>) -> Outcome {
    if let Some(scoring) = command.metrics.iter().find(|scoring| scoring.needs_probabilities()) {
        let failure = format!("{scoring} is a score of probabilities, which an outlier detector does not predict");
        return refused(failure, "name one of decision values, such as roc-auc or average-precision");
    }
    let predict = |view: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>| {
        let values = model.decision_function(view, threads, monitor)?;
        let predicted = values.iter().map(|value| &OUTLIERS[usize::from(*value >= 0.0)]);
        Ok((predicted.collect(), values.iter().map(|value| *value as f32).collect()))
    };
    evaluated((command, context, model), (&OUTLIERS, true), predict, |scoring, labels, weights, values| {
        scoring.score(labels, weights, &OUTLIERS, (values, None))
    })
}

/// The scores of a model of these classes: the predictions are counted block by block, and stored for scores that are not
/// counts, which `score` has.
fn evaluated<'a>(
    (command, context, model): (&Evaluate, &Context, &dyn Model),
    (classes, detects_outliers): (&'a [Label], bool),
    predict: impl Fn(&SamplesView<'_>, usize, &Monitor<'_>) -> widemargin::Result<Predicted<'a>>,
    score: impl Fn(Scoring, &Labels, Option<&[f64]>, &[f32]) -> widemargin::Result<f64>,
) -> Outcome {
    let (mut counted, mut stored) = (CountedPredictions::default(), Some(Stored::default()));
    let must_store = command.metrics.iter().any(|one| one.needs_decision_values());
    through(context, model, &command.input, predict, |block, (predicted, values)| {
        let labels = block.table.require_labels(&command.input.data)?.as_classes(classes);
        if detects_outliers && let Some(row) = (0..labels.len()).find(|&row| !classes.contains(labels.get(row))) {
            let (file, at) = (shown(&command.input.data), block.first_row + row + 1);
            let failure = format!("{file}: sample {at} has the label '{}'", labels.get(row));
            let help = "an outlier detector is evaluated on labels 1, of usual samples, and -1, of outliers";
            return refused(failure, help);
        }
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
        let of_stored = |(labels, weights, values): &(Labels, Vec<f64>, Vec<f32>)| {
            score(scoring, labels, (!weights.is_empty()).then_some(weights), values)
        };
        scoring.of_evaluation(&counted).map(Ok).or_else(|| stored.as_ref().map(of_stored))
    };
    let scores = command.requested(score_of)?;
    let class_scores = counted.class_scores();
    let unknown: Vec<_> = class_scores.iter().filter(|score| !classes.contains(&score.label)).collect();
    let n_unknown: u64 = unknown.iter().map(|score| score.n_samples).sum();
    if let Some(ClassScore { label, .. }) = unknown.first() {
        let warning = format!("{n_unknown} samples have a label that the model does not know, such as '{label}'");
        context.warn(&warning);
    }
    let row = |score: &ClassScore| {
        let shares = [score.precision, score.recall, score.f1].map(percent);
        [score.label.to_string(), support_text(score.support)].into_iter().chain(shares).collect()
    };
    let heads = ["label", "support", "precision %", "recall %", "F1 %"];
    let table = text_table(&heads, class_scores.iter().map(row));
    let mut json = json!({
        "n_unknown": n_unknown,
        "confusion_matrix": counted.confusion_matrix(),
        "classes": class_scores,
    });
    let mut lines = String::new();
    for scoring in Scoring::all().filter(|scoring| !scoring.is_of_numbers()) {
        // Where it is defined.
        let score = score_of(scoring).and_then(Result::ok).map(|score| scoring.unsigned(score));
        json[scoring.key()] = json!(score);
        if let Some(score) = score.filter(|_| scoring.needs_decision_values()) {
            lines += &format!("{} {score:.4}\n", scoring.title());
        }
    }
    let [balanced, f1, accuracy] =
        [counted.balanced_accuracy(), counted.f1_macro(), counted.accuracy()].map(|share| 100.0 * share);
    let text = format!(
        "{table}\n{}{lines}balanced accuracy {balanced:.2} %, F1 {f1:.2} % (means of the classes)\naccuracy {accuracy:.2} %\n",
        confusion_text(&counted.confusion_matrix()),
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
