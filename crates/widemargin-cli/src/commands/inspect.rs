//! `widemargin inspect`: shows what a model file contains.

use std::path::PathBuf;

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::{Value, json};
use widemargin::model::{AnyModel, Classifier, OneClass, Parameters, Regressor};
use widemargin::solve::{CalibratedOn, Report};

use crate::details::details;
use crate::model::report_json;
use crate::output::{print, print_json};
use crate::readable::{number_text, rounded, wrapped};
use crate::report::Failure;

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// The model file
    model: PathBuf,
    /// Print one JSON object instead of lines
    #[arg(long)]
    json: bool,
}

impl Inspect {
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        let model = AnyModel::load(&self.model)?;
        let size = std::fs::metadata(&self.model).map_or(0, |file| file.len());
        let model = match model {
            AnyModel::Classifier(model) => model,
            AnyModel::Regressor(model) => return self.numbers(&*model, size),
            AnyModel::OneClass(model) => return self.one_class(&*model, size),
        };
        if self.json {
            let mut object = json!({
                "model": self.model.display().to_string(),
                "method": model.method(),
                "parameters": model.parameters(),
                "classes": model.classes(),
                "n_features": model.n_features(),
                "feature_names": model.feature_names(),
                "n_weights": model.n_weights(),
                "margins": margins(&*model),
                "calibration": model.calibration(),
                "model_bytes": size,
                "report": report_json(model.report()),
            });
            if let Some((name, json, _)) = details(&*model) {
                object[name] = json;
            }
            return print_json(&object);
        }
        print(&text(&*model, size))
    }

    /// Tells of a regression model.
    fn numbers(&self, model: &dyn Regressor, size: u64) -> Result<(), Failure> {
        let report = model.report();
        if self.json {
            // Of the squared loss, or of another.
            let path = if model.loss_path().is_empty() { json!(model.path()) } else { json!(model.loss_path()) };
            return print_json(&json!({
                "model": self.model.display().to_string(),
                "method": model.method(),
                "parameters": model.parameters(),
                "n_outputs": model.n_outputs(),
                "n_features": model.n_features(),
                "feature_names": model.feature_names(),
                "n_weights": model.n_weights(),
                "path": path,
                "model_bytes": size,
                "report": report_json(report),
            }));
        }
        let mut lines = of_parameters(model.method(), model.parameters(), model.n_features(), model.feature_names());
        lines.push(("targets".to_owned(), model.n_outputs().to_string()));
        print_of_closed_form(lines, model.n_weights(), size, report)
    }

    /// Tells of a model of one class.
    fn one_class(&self, model: &dyn OneClass, size: u64) -> Result<(), Failure> {
        let (report, n) = (model.report(), model.loo_scores().len());
        if self.json {
            return print_json(&json!({
                "model": self.model.display().to_string(),
                "method": model.method(),
                "parameters": model.parameters(),
                "n_samples": n,
                "n_features": model.n_features(),
                "feature_names": model.feature_names(),
                "n_weights": model.n_weights(),
                "model_bytes": size,
                "report": report_json(report),
            }));
        }
        let mut lines = of_parameters(model.method(), model.parameters(), model.n_features(), model.feature_names());
        lines.push(("samples trained on".to_owned(), HumanCount(n as u64).to_string()));
        print_of_closed_form(lines, model.n_weights(), size, report)
    }
}

/// Prints lines, and what is told of all fits in closed form.
fn print_of_closed_form(mut lines: Lines, n_weights: usize, size: u64, report: &Report) -> Result<(), Failure> {
    lines.push(weights(n_weights, size));
    lines.extend(remarks(report));
    print(&aligned(&lines))
}

/// Names and values, line by line.
type Lines = Vec<(String, String)>;

/// The lines of models of classes and of numbers.
fn of_parameters(
    method: &str,
    parameters: Parameters,
    n_features: Option<usize>,
    feature_names: Option<&[String]>,
) -> Lines {
    let mut lines = vec![("method".to_owned(), method.to_owned())];
    if let Value::Object(parameters) = json!(parameters) {
        let is_set = |value: &Value| !value.is_null() && value.as_array().is_none_or(|values| !values.is_empty());
        let set = parameters.into_iter().filter(|(_, value)| is_set(value));
        lines.extend(set.map(|(name, value)| (name, plain(&value))));
    }
    lines.extend(n_features.map(|n| ("features".to_owned(), HumanCount(n as u64).to_string())));
    lines.extend(feature_names.map(|names| ("columns".to_owned(), beginning(names))));
    lines
}

fn weights(n_weights: usize, size: u64) -> (String, String) {
    ("weights".to_owned(), format!("{} in a file of {}", HumanCount(n_weights as u64), DecimalBytes(size)))
}

fn aligned(lines: &Lines) -> String {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.iter().map(|(name, value)| format!("{name:<width$}  {}\n", wrapped(value, width + 2))).collect()
}

fn text(model: &dyn Classifier, size: u64) -> String {
    let report = model.report();
    let mut lines = of_parameters(model.method(), model.parameters(), model.n_features(), model.feature_names());
    lines.extend([
        ("classes".to_owned(), format!("{}: {}", model.classes().len(), beginning(model.classes()))),
        weights(model.n_weights(), size),
        (
            "training".to_owned(),
            format!("{} after {} {}", report.status.as_str(), report.max_iterations(), model.iterations()),
        ),
        ("gap".to_owned(), format!("{:.1e} at most, of the objective {:.6e}", report.gap(), report.objective)),
    ]);
    if let Some(margins) = margins(model) {
        lines.push((
            "margins".to_owned(),
            beginning(&margins.iter().map(|margin| format!("{margin:.4e}")).collect::<Vec<_>>()),
        ));
    }
    lines.push(("probabilities".to_owned(), probabilities(model)));
    lines.extend(remarks(report));
    let mut text = aligned(&lines);
    if let Some((_, _, table)) = details(model) {
        text += &format!("\n{table}");
    }
    text
}

/// The notes and warnings of a fit.
fn remarks(report: &Report) -> Lines {
    let notes = report.notes.iter().map(|note| ("note".to_owned(), rounded(note)));
    notes.chain(report.warnings.iter().map(|warning| ("warning".to_owned(), warning.clone()))).collect()
}

/// On what they are calibrated, if they are.
fn probabilities(model: &dyn Classifier) -> String {
    let Some(calibration) = model.calibration() else { return "none: train again to have them".into() };
    let slopes: Vec<String> = calibration.slopes().iter().map(|slope| format!("{slope:.3}")).collect();
    let on = match calibration.on() {
        CalibratedOn::LeaveOneOut => "left-out decision values",
        CalibratedOn::HeldOut => "held-out decision values",
        _ => return "not calibrated: no decision values of unseen samples were found".into(),
    };
    format!("calibrated on {} {on}, slopes {}", HumanCount(calibration.n_samples() as u64), slopes.join(", "))
}

/// The first of some names.
fn beginning(names: &[impl ToString]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(ToString::to_string).collect();
    shown.join(", ") + if names.len() > shown.len() { ", …" } else { "" }
}

/// A JSON value without quotes and brackets.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => rounded(text),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.into(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Number(number) if number.is_f64() => number_text(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// 1/‖f‖² of each two-class problem, where the model has such a norm that is above 0.
fn margins(model: &dyn Classifier) -> Option<Vec<f64>> {
    let norms = model.squared_norms(0).ok()?;
    norms.iter().all(|norm| *norm > 0.0).then(|| norms.iter().map(|norm| 1.0 / norm).collect())
}
