//! The report on a model as one page.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use widemargin::Result;
use widemargin::model::{AnyModel, Model, as_method};
use widemargin::monitor::Monitor;
use widemargin::solve::Report as FitReport;

use crate::samples::{Shown, listed, number};
use crate::sections::{Cases, Measurement, cards_of_bases};
use crate::tiles::{bars, more};
use crate::{STYLE, classes, values};

/// The report on a model as a page: HTML with inline style and pictures, without external requests. `title` names the
/// model; without samples, or without their labels or targets, nothing is measured.
///
/// # Errors
/// Errors of the model on the samples; [`Error::Parameter`](widemargin::Error::Parameter) for labels or targets of another
/// task.
pub fn report_html(
    model: &AnyModel,
    title: String,
    data: Option<Measurement<'_>>,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<String> {
    let bases = model.basis_samples();
    let names = model.feature_names();
    let shown = bases.as_deref().map(|samples| Shown { samples, names });
    let cases = data.as_ref().map(|data| Cases { data, names, bases: shown, threads, monitor });
    let (sections, iterations) = match model {
        AnyModel::Classifier(model) => (classes::sections(&**model, cases)?, model.iterations()),
        AnyModel::Regressor(model) => (values::of_targets(&**model, cases)?, "Newton steps"),
        AnyModel::OneClass(model) => (values::of_outliers(model, cases)?, "Newton steps"),
    };
    let weights = match as_method(&**model) {
        Some(model) => classes::columns_by_weight(model),
        None => cards_of_bases(&**model, shown),
    };
    let report = model.report();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body class="wm-page" {
                main {
                    header {
                        p class="wm-soft wm-small" style="margin:0" { "Widemargin model report" }
                        h1 { (title) }
                        @for warning in &report.warnings { p class="wm-warning" { (warning) } }
                    }
                    (sections.scores)
                    (model_table(&**model, &sections.further, iterations))
                    section id="choice" {
                        h2 { "Parameter selection" }
                        (sections.selection)
                        @if !report.notes.is_empty() {
                            h3 { "Notes of the fit" }
                            ul { @for note in &report.notes { li { (abridged(note)) } } }
                        }
                    }
                    (sections.details)
                    (columns(&model.column_importances()))
                    (weights)
                    (sections.cases)
                }
            }
        }
    };
    Ok(page.into_string())
}

/// A method, as pages name it.
fn method_of(model: &dyn Model) -> &'static str {
    match model.method() {
        "basis-expansion" => "Basis expansion SVM",
        "power-mean" => "Power mean SVM",
        "thin-plate" => "Thin plate SVM",
        "basis-expansion-regression" => "Basis expansion",
        "thin-plate-regression" => "Smoothing spline",
        "basis-expansion-one-class" => "Outlier detection on a basis expansion",
        other => other,
    }
}

/// The table of a model: `further` has a name and a text each.
fn model_table(model: &dyn Model, further: &[(&str, String)], iterations: &str) -> Markup {
    let parameters = serde_json::to_value(model.parameters()).unwrap_or_default();
    html! {
        section id="model" {
            h2 { "The model" }
            table class="wm-table wm-facts" {
                tbody {
                    tr { th { "method" } td { (method_of(model)) } }
                    tr { th { "samples" } td { (model.kind()) @if let Some(n) = model.n_features() { ", " (n) " features" } } }
                    @for (name, value) in parameters.as_object().into_iter().flatten() {
                        @if name != "samples" && plain(value) != "–" { tr { th { (name.replace('_', " ")) } td { (plain(value)) } } }
                    }
                    tr { th { "weights" } td { (model.n_weights()) } }
                    @for (name, text) in further { tr { th { (name) } td { (text) } } }
                    tr { th { "training" } td { (training(model.report(), iterations)) } }
                    @if let Some(names) = model.feature_names() { tr { th { "columns" } td { (listed(names, 30)) } } }
                }
            }
        }
    }
}

/// Columns in the table of importances, at most.
const MAX_IMPORTANCES: usize = 20;

/// The importance of columns, the most important first; nothing without any.
fn columns(importances: &[(String, f64)]) -> Markup {
    let row = |(name, share): &(String, f64)| (name.clone(), vec![], *share, format!("{:.1}", 100.0 * share));
    html! {
        @if !importances.is_empty() {
            section id="columns" {
                h2 { "Importance of the columns" }
                p class="wm-small wm-soft" { "The share of each column in the column weights of the similarity." }
                (bars(&["column", "importance", "%"], importances.iter().take(MAX_IMPORTANCES).map(row)))
                (more(importances.len(), MAX_IMPORTANCES, "columns"))
            }
        }
    }
}

fn plain(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::String(text) => abridged(text),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.into(),
        Value::Number(value) => value.as_f64().map_or_else(|| value.to_string(), number),
        Value::Array(all) if all.is_empty() => "–".into(),
        Value::Array(all) => listed(&all.iter().map(plain).collect::<Vec<_>>(), 12),
        Value::Null => "–".into(),
        other => other.to_string(),
    }
}

/// The start of a list of weights in the spec of a similarity.
const WEIGHTS: &str = "weights=";

/// Abridges lists of more than six weights of columns in the spec of a similarity: the first three, the last and the number.
fn abridged(text: &str) -> String {
    let mut abridged = String::with_capacity(text.len());
    for (at, piece) in text.split(WEIGHTS).enumerate() {
        if at == 0 {
            abridged.push_str(piece);
            continue;
        }
        let end = piece.find(|c: char| !(c.is_ascii_digit() || ".;e+-".contains(c))).unwrap_or(piece.len());
        let (numbers, rest) = piece.split_at(end);
        let numbers: Vec<&str> = numbers.split(';').collect();
        abridged.push_str(WEIGHTS);
        match numbers[..] {
            [a, b, c, .., last] if numbers.len() > 6 => {
                abridged.push_str(&format!("{a};{b};{c};…;{last} ({} weights)", numbers.len()))
            }
            _ => abridged.push_str(&numbers.join(";")),
        }
        abridged.push_str(rest);
    }
    abridged
}

fn training(report: &FitReport, iterations: &str) -> String {
    let (status, n) = (report.status.as_str(), report.max_iterations());
    let (seconds, gap) = (number(report.seconds()), number(report.gap()));
    format!("{status} after {n} {iterations} in {seconds} s; relative duality gap {gap} at most")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_weights_are_abridged() {
        let text = "z-score:weights=0.1;0.2;.3;4;5e-7;6;7/laplacian:gamma=2 0.02, z-score:weights=1;2/rbf";
        let expected = "z-score:weights=0.1;0.2;.3;…;7 (7 weights)/laplacian:gamma=2 0.02, z-score:weights=1;2/rbf";
        assert_eq!(abridged(text), expected);
        assert_eq!(abridged("edit"), "edit");
        assert_eq!(abridged("weights=1;2;3;4;5;6"), "weights=1;2;3;4;5;6");
    }
}
