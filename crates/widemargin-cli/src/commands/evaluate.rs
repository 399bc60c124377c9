//! `widemargin evaluate`: evaluates a model on labeled samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use serde_json::{Map, Value, json};
use widemargin::data::SamplesView;
use widemargin::model::{AnyModel, Model, Regressor};
use widemargin::monitor::Monitor;
use widemargin::select::{RegressionScoring, Scoring};
use widemargin_io::Block;

use crate::args::Input;
use crate::commands::evaluate_classes::{evaluate_classes, evaluate_outliers};
use crate::commands::evaluate_labels::evaluate_labels;
use crate::context::Context;
use crate::model::load_for;
use crate::output::{joined, print, print_json};
use crate::report::Failure;
use crate::scoring::AnyScoring;
use crate::stream::through;
use crate::task::targets_of;
use crate::text_table::fixed;

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

/// What is evaluated: a model on samples.
pub struct Evaluation<'a> {
    pub context: &'a Context,
    pub input: &'a Input,
    pub model: &'a dyn Model,
    /// The requested scores.
    pub metrics: &'a [AnyScoring],
}

impl Evaluation<'_> {
    /// The requested scores, which must be of classes.
    pub fn of_classes(&self) -> Result<Vec<Scoring>, Failure> {
        self.metrics.iter().map(|one| one.of_classes()).collect()
    }

    /// Calls `each` with every block of the input and its predictions by `of`.
    pub fn through<T>(
        &self,
        of: impl Fn(&SamplesView<'_>, usize, &Monitor<'_>) -> widemargin::Result<T>,
        each: impl FnMut(&Block, &T) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let Evaluation { context, input, model, .. } = self;
        let label = input.label.clone().unwrap_or_default();
        through(context, *model, input, label, |view, monitor| of(view, context.common.threads, monitor), each)
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
fn evaluate_numbers(evaluation: &Evaluation<'_>, model: &dyn Regressor) -> Outcome {
    let Evaluation { input, metrics, .. } = evaluation;
    let scoring = metrics.iter().map(|one| one.of_numbers()).collect::<Result<Vec<_>, _>>()?;
    if model.n_outputs() != 1 {
        let failure = format!("evaluate compares one target a sample, the model has {}", model.n_outputs());
        return Err(Failure::input(failure).help("predict prints a column a target"));
    }
    let (mut targets, mut predicted, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    evaluation.through(
        |view, threads, monitor| model.predict(view, threads, monitor),
        |block, found| {
            targets.extend(targets_of(block.table.require_labels(&input.data)?, &input.data, block.first_row as u64)?);
            predicted.extend_from_slice(&found.values);
            weights.extend(block.table.weights.iter().flatten().copied());
            Ok(())
        },
    )?;
    let weights = (!weights.is_empty()).then_some(&weights[..]);
    let score = |scoring: RegressionScoring| scoring.score(&targets, &predicted, weights);
    let scores = scoring
        .iter()
        .map(|&one| Ok((one.to_string(), json!(score(one)?))))
        .collect::<widemargin::Result<Map<_, _>>>()?;
    let r2 = score(RegressionScoring::R2).ok();
    let mae = -score(RegressionScoring::NegMeanAbsoluteError)?;
    let rmse = -score(RegressionScoring::NegRootMeanSquaredError)?;
    let shown = fixed(r2, 4);
    Ok(Evaluated {
        n_samples: targets.len() as u64,
        scores,
        text: format!("R² {shown}\nmean absolute error {mae:.6}\nroot mean squared error {rmse:.6}\n"),
        json: json!({ "r2": r2, "mean_absolute_error": mae, "root_mean_squared_error": rmse }),
    })
}
