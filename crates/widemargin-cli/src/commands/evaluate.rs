//! `widemargin evaluate`: evaluates a model on labeled samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use serde_json::{Map, json};
use widemargin::Result;
use widemargin::data::Label;
use widemargin::model::{AnyModel, OneClass};
use widemargin::select::{ConfusionMatrix, Evaluation, Scoring};

use crate::args::Input;
use crate::commands::evaluate_labels::evaluate_labels;
use crate::commands::evaluate_numbers::evaluate_numbers;
use crate::commands::evaluate_one_class::{check_scoring, score_one_class};
use crate::context::Context;
use crate::model::load_any_for;
use crate::one_class::answers;
use crate::output::{print, print_json};
use crate::report::Failure;
use crate::scored::{OfAll, Scored};
use crate::scoring::AnyScoring;
use crate::stream::score;
use crate::text_table::{support_text, text_table};

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// The model file
    model: PathBuf,
    #[command(flatten)]
    input: Input,
    /// Scores that must be defined for these samples, as scikit-learn defines them, separated by commas: accuracy,
    /// balanced-accuracy, f1-macro, roc-auc, average-precision, neg-log-loss, neg-brier-score; of a regression model r2,
    /// neg-mean-absolute-error, neg-root-mean-squared-error, neg-mean-pinball-loss:quantile=0.9; of a model of one class, on
    /// labels 1 and -1, the first five. All but that of quantiles are printed where they are defined; the last four of classes
    /// keep the decision values of all samples, and without being asked for are left out of more than 10 million values
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scoring: Vec<AnyScoring>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Scores of decision values and probabilities; none where they are undefined, or of too many samples to keep them.
#[derive(Clone, Copy)]
struct OfValues {
    roc_auc: Option<f64>,
    average_precision: Option<f64>,
    log_loss: Option<f64>,
    brier_score: Option<f64>,
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let model = match load_any_for(&self.model, &self.input)? {
            AnyModel::Classifier(model) => model,
            AnyModel::Regressor(model) => {
                let scoring = self.scoring.iter().map(|one| one.of_numbers()).collect::<Result<Vec<_>, _>>()?;
                return evaluate_numbers(context, &self.model, &*model, &self.input, &scoring, self.json);
            }
            AnyModel::OneClass(model) => return self.one_class(context, &*model),
        };
        let scoring = self.scoring.iter().map(|one| one.of_classes()).collect::<Result<Vec<_>, _>>()?;
        if model.is_multilabel() {
            return evaluate_labels(context, &self.model, &*model, &self.input, &scoring, self.json);
        }
        let start = Instant::now();
        let mut scored = Scored::new();
        let must_keep = scoring.iter().any(|scoring| scoring.needs_decision_values());
        let label = self.input.label.clone().unwrap_or_default();
        score(context, &*model, &self.input, label, |block, scores| {
            let labels = block.table.require_labels(&self.input.data)?.as_classes(model.classes());
            let told = scores.decide(model.classes());
            let weights = block.table.weights.as_deref();
            scored.add(&labels, |row| told[row], weights, scores.values(), must_keep);
            Ok(())
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let score = |scoring: Scoring, (labels, weights, values): &OfAll| {
            scoring.score_model(&*model, labels, weights.as_deref(), values)
        };
        self.tell(context, (model.method(), model.classes()), scored, &scoring, score, seconds)
    }

    /// Evaluates a model of one class.
    fn one_class(&self, context: &Context, model: &dyn OneClass) -> Result<(), Failure> {
        let scoring = self.scoring.iter().map(|one| one.of_classes()).collect::<Result<Vec<_>, _>>()?;
        check_scoring(&scoring)?;
        let must_keep = scoring.iter().any(|scoring| scoring.needs_decision_values());
        let (scored, seconds) = score_one_class(context, model, &self.input, must_keep)?;
        let answers = answers();
        let score = |scoring: Scoring, (labels, weights, values): &OfAll| {
            scoring.score(labels, weights.as_deref(), &answers, values)
        };
        self.tell(context, (model.method(), &answers), scored, &scoring, score, seconds)
    }

    /// Prints the scores of a model of these classes; `score` has what is not counted.
    fn tell(
        &self,
        context: &Context,
        (method, classes): (&str, &[Label]),
        scored: Scored,
        scoring: &[Scoring],
        score: impl Fn(Scoring, &OfAll) -> Result<f64>,
        seconds: f64,
    ) -> Result<(), Failure> {
        let (evaluation, kept) = scored.split();
        let of_values = |scoring: Scoring| Some(score(scoring, kept.as_ref()?));
        let score = |&scoring: &Scoring| match scoring.of_evaluation(&evaluation) {
            Some(score) => Some(Ok((scoring, score))),
            None => of_values(scoring).map(|score| Ok((scoring, score?))),
        };
        let asked = scoring.iter().filter_map(score).collect::<Result<Vec<_>>>()?;
        // Where they are defined.
        let [roc_auc, average_precision] =
            [Scoring::RocAuc, Scoring::AveragePrecision].map(|scoring| of_values(scoring)?.ok());
        let [log_loss, brier_score] =
            [Scoring::NegLogLoss, Scoring::NegBrierScore].map(|scoring| Some(-of_values(scoring)?.ok()?));
        let of_values = OfValues { roc_auc, average_precision, log_loss, brier_score };
        self.print(context, (method, classes), &evaluation, &asked, of_values, seconds)
    }

    fn print(
        &self,
        context: &Context,
        (method, classes): (&str, &[Label]),
        evaluation: &Evaluation,
        asked: &[(Scoring, f64)],
        of_values: OfValues,
        seconds: f64,
    ) -> Result<(), Failure> {
        let scores = evaluation.class_scores();
        let unknown: Vec<_> = scores.iter().filter(|score| !classes.contains(&score.label)).collect();
        let n_unknown: u64 = unknown.iter().map(|score| score.n_samples).sum();
        if let Some(first) = unknown.first() {
            context.warn(&format!(
                "{n_unknown} samples have a label that the model does not know, such as '{}'",
                first.label
            ));
        }
        let rate = evaluation.n_samples() as f64 / seconds;
        if self.json {
            return print_json(&json!({
                "model": self.model.display().to_string(),
                "method": method,
                "n_samples": evaluation.n_samples(),
                "n_unknown": n_unknown,
                "accuracy": evaluation.accuracy(),
                "balanced_accuracy": evaluation.balanced_accuracy(),
                "f1_macro": evaluation.f1_macro(),
                "roc_auc": of_values.roc_auc,
                "average_precision": of_values.average_precision,
                "log_loss": of_values.log_loss,
                "brier_score": of_values.brier_score,
                "confusion_matrix": evaluation.confusion_matrix(),
                "scores": asked.iter().map(|(name, score)| (name.to_string(), json!(score))).collect::<Map<_, _>>(),
                "classes": scores,
                "seconds": seconds,
                "rows_per_second": rate,
            }));
        }
        let percent = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{:.2}", 100.0 * ratio));
        let rows: Vec<_> = scores
            .iter()
            .map(|score| {
                let support = support_text(score.support);
                vec![
                    score.label.to_string(),
                    support,
                    percent(score.precision),
                    percent(score.recall),
                    percent(score.f1),
                ]
            })
            .collect();
        // The others are told in any case.
        let of_values = [
            ("ROC AUC", of_values.roc_auc),
            ("average precision", of_values.average_precision),
            ("log loss", of_values.log_loss),
            ("Brier score", of_values.brier_score),
        ];
        let of_values = of_values.map(|(name, score)| score.map_or_else(String::new, |s| format!("{name} {s:.4}\n")));
        print(&format!(
            "{}\n{}{}balanced accuracy {:.2} %, F1 {:.2} % (means of the classes)\n\
             accuracy {:.2} % of {} samples; {seconds:.2} s, {} rows/s\n",
            text_table(&["label", "support", "precision %", "recall %", "F1 %"], &rows),
            confusion_text(&evaluation.confusion_matrix()),
            of_values.concat(),
            100.0 * evaluation.balanced_accuracy(),
            100.0 * evaluation.f1_macro(),
            100.0 * evaluation.accuracy(),
            HumanCount(evaluation.n_samples()),
            HumanCount(rate as u64),
        ))
    }
}

/// Classes beyond which a confusion matrix is too wide to print; JSON has it all the same.
const MOST_PRINTED: usize = 12;

fn confusion_text(confusion: &ConfusionMatrix) -> String {
    if confusion.labels.len() > MOST_PRINTED {
        return String::new();
    }
    let names: Vec<String> = confusion.labels.iter().map(ToString::to_string).collect();
    let heads: Vec<&str> = ["actual \\ predicted"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let row = |(name, counts): (&String, &Vec<f64>)| {
        let count = |count: &f64| if count.fract() == 0.0 { format!("{count}") } else { format!("{count:.2}") };
        [name.clone()].into_iter().chain(counts.iter().map(count)).collect()
    };
    let rows: Vec<Vec<String>> = names.iter().zip(&confusion.counts).map(row).collect();
    text_table(&heads, &rows) + "\n"
}
