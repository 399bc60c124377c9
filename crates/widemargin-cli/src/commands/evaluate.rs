//! `widemargin evaluate`: evaluates a model on labeled samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use serde_json::json;
use widemargin::model::AnyModel;

use crate::args::Input;
use crate::commands::evaluate_classes::{evaluate_classes, evaluate_outliers};
use crate::commands::evaluate_labels::evaluate_labels;
use crate::commands::evaluate_numbers::evaluate_numbers;
use crate::commands::evaluation::Evaluation;
use crate::context::Context;
use crate::model::load_for;
use crate::output::{joined, print, print_json};
use crate::report::Failure;
use crate::scoring::AnyScoring;

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// Model file
    model: PathBuf,
    /// Scores that must be defined, with commas between: roc-auc, r2, ...
    ///
    /// As scikit-learn defines them: accuracy, balanced-accuracy, f1-macro, roc-auc, average-precision, neg-log-loss,
    /// neg-brier-score; of a regression model r2, neg-mean-absolute-error, neg-root-mean-squared-error,
    /// neg-mean-pinball-loss:quantile=0.9; of an outlier detector, on labels 1 and -1, the first five. All but that of
    /// quantiles are printed where they are defined. The last four of classes need the decision values of all samples, and
    /// are left out of more than 10 million values unless they are requested.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    metrics: Vec<AnyScoring>,
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
        let (input, start) = (&self.input, Instant::now());
        let evaluation = Evaluation { context, input, model: &*model, metrics: &self.metrics };
        let evaluated = match &model {
            AnyModel::Classifier(model) if model.is_multilabel() => evaluate_labels(&evaluation, &**model),
            AnyModel::Classifier(model) => evaluate_classes(&evaluation, &**model),
            AnyModel::Regressor(model) => evaluate_numbers(&evaluation, &**model),
            AnyModel::OneClass(model) => evaluate_outliers(&evaluation, &**model),
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
}
