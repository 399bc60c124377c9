//! `widemargin inspect`: shows what a model file contains, and how far its similarity is from being a kernel.

use std::path::PathBuf;

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::{Value, json};
use widemargin::model::{AnyModel, Classifier};
use widemargin::solve::{CalibratedOn, Report};

use crate::args::Input;
use crate::commands::spectrum;
use crate::context::Context;
use crate::details::details;
use crate::model::{json_of, size_of_file};
use crate::output::{joined, print, print_json};
use crate::readable::{plain, rounded, wrapped};
use crate::report::Failure;
use crate::summary::expected;
use crate::text_table::beginning;

const SPECTRUM: &str = "Measure the negative eigenvalues of the similarity on samples";
const LONG_SPECTRUM: &str = "Measure the negative eigenvalues of the model's similarity on these samples, at most 1000 of \
                             them: a similarity without any is a kernel";

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(mut_arg("data", |data| data.required(false).long("spectrum").help(SPECTRUM).long_help(LONG_SPECTRUM)))]
pub struct Inspect {
    /// Model file
    model: PathBuf,
    /// Print one JSON object instead of lines; its rows count from 0
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    spectrum: Option<Input>,
}

impl Inspect {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        if let Some(input) = &self.spectrum {
            return spectrum::run(context, &self.model, input, self.json);
        }
        let model = AnyModel::load(&self.model)?;
        match self.json {
            true => print_json(&self.json_of(&model)),
            false => print(&text(&model, size_of_file(&self.model))),
        }
    }

    fn json_of(&self, model: &AnyModel) -> Value {
        let mut object = joined(
            json_of(model, &self.model),
            json!({
                "parameters": model.parameters(),
                "feature_names": model.feature_names(),
                "n_weights": model.n_weights(),
            }),
        );
        match model {
            AnyModel::Classifier(model) => {
                object["margins"] = json!(margins(&**model));
                object["calibration"] = json!(model.calibration());
                if let Some((name, json, _)) = details(&**model) {
                    object[name] = json;
                }
            }
            AnyModel::Regressor(model) => {
                // Of the squared loss, or of another.
                object["path"] = match model.loss_path() {
                    [] => json!(model.path()),
                    path => json!(path),
                };
            }
            AnyModel::OneClass(model) => object["n_samples"] = json!(model.loo_scores().len()),
        }
        object
    }
}

fn text(model: &AnyModel, size: u64) -> String {
    let mut lines = vec![("method".to_owned(), model.method().to_owned())];
    let mut add = |name: &str, value: String| lines.push((name.to_owned(), value));
    if let Value::Object(parameters) = json!(model.parameters()) {
        let is_set = |value: &Value| !value.is_null() && value.as_array().is_none_or(|values| !values.is_empty());
        parameters.iter().filter(|(_, value)| is_set(value)).for_each(|(name, value)| add(name, plain(value)));
    }
    model.n_features().into_iter().for_each(|n| add("features", HumanCount(n as u64).to_string()));
    model.feature_names().into_iter().for_each(|names| add("columns", beginning(names)));
    match model {
        AnyModel::Classifier(model) => {
            add("classes", format!("{}: {}", model.classes().len(), beginning(model.classes())));
        }
        AnyModel::Regressor(model) => add("targets", model.n_outputs().to_string()),
        AnyModel::OneClass(model) => {
            add("samples trained on", HumanCount(model.loo_scores().len() as u64).to_string());
        }
    }
    add("weights", format!("{} in a file of {}", HumanCount(model.n_weights() as u64), DecimalBytes(size)));
    if let AnyModel::Classifier(model) = model {
        let report = model.report();
        let (steps, iterations) = (report.max_iterations(), model.iterations());
        add("training", format!("{} after {steps} {iterations}", report.status.as_str()));
        add("gap", format!("{:.1e} relative duality gap, objective {:.6e}", report.gap(), report.objective));
        if let Some(margins) = margins(&**model) {
            add("margins", beginning(&margins.iter().map(|margin| format!("{margin:.4e}")).collect::<Vec<_>>()));
        }
        add("probabilities", probabilities(&**model));
    }
    expected(model).into_iter().for_each(|expected| add("expected", expected));
    lines.extend(remarks(model.report()));
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, value): &(String, String)| format!("{name:<width$}  {}\n", wrapped(value, width + 2));
    let mut text: String = lines.iter().map(line).collect();
    if let AnyModel::Classifier(model) = model
        && let Some((_, _, table)) = details(&**model)
    {
        text += &format!("\n{table}");
    }
    text
}

/// The notes and warnings of a fit.
fn remarks(report: &Report) -> impl Iterator<Item = (String, String)> + '_ {
    let notes = report.notes.iter().map(|note| ("note".to_owned(), rounded(note)));
    notes.chain(report.warnings.iter().map(|warning| ("warning".to_owned(), warning.clone())))
}

/// On what they are calibrated, if they are.
fn probabilities(model: &dyn Classifier) -> String {
    let Some(calibration) = model.calibration() else { return "none: train again to have them".into() };
    let slopes: Vec<String> = calibration.slopes().iter().map(|slope| format!("{slope:.3}")).collect();
    let on = match calibration.on() {
        CalibratedOn::LeaveOneOut => "leave-one-out decision values",
        CalibratedOn::HeldOut => "held-out decision values",
        _ => return "not calibrated: there are no held-out decision values".into(),
    };
    format!("calibrated on {} {on}, slopes {}", HumanCount(calibration.n_samples() as u64), slopes.join(", "))
}

/// 1/‖f‖² of each two-class problem, where the model has such a norm that is above 0.
fn margins(model: &dyn Classifier) -> Option<Vec<f64>> {
    let norms = model.squared_norms(0).ok()?;
    norms.iter().all(|norm| *norm > 0.0).then(|| norms.iter().map(|norm| 1.0 / norm).collect())
}
