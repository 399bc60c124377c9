//! The report on a model of any kind.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use widemargin::data::SamplesView;
use widemargin::model::{AnyModel, Model};
use widemargin::monitor::Monitor;
use widemargin::select::Answers;
use widemargin::{Error, Result};

use crate::page::{self, abridged};
use crate::samples::{listed, number};
use crate::{STYLE, values};

/// The sections of a page on a model of some kind, in their order; the table of the model is behind the scores.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub scores: Markup,
    /// The method, and what the table of the model shows besides its parameters: a name and a text each.
    pub method: String,
    pub further: Vec<(&'static str, String)>,
    pub selection: Markup,
    pub details: Markup,
    pub bases: Markup,
    pub cases: Markup,
}

/// Samples on which a model is measured.
#[derive(Debug)]
pub struct Measurement<'a> {
    /// The samples.
    pub samples: &'a SamplesView<'a>,
    /// Their labels or targets; an outlier detector needs none.
    pub answers: Option<&'a Answers<'a>>,
    /// One weight for each sample.
    pub weights: Option<&'a [f64]>,
    /// Their name, such as the name of their file.
    pub name: String,
}

/// The report on a model as a page: HTML with inline style and pictures, without external requests. `title` names the
/// model; without samples, or without their labels or targets, nothing is measured.
///
/// # Errors
/// Errors of the model on the samples; [`Error::Parameter`] for labels or targets of another task.
pub fn report_html(
    model: &AnyModel,
    title: String,
    data: Option<Measurement<'_>>,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<String> {
    let sections = match model {
        AnyModel::Classifier(model) => page::sections(&**model, data, threads, monitor)?,
        AnyModel::Regressor(model) => values::of_regression(&**model, data, threads, monitor)?,
        AnyModel::OneClass(model) => values::of_outliers(&**model, data, threads, monitor)?,
    };
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
                        @for warning in &model.report().warnings { p class="wm-warning" { (warning) } }
                    }
                    (sections.scores)
                    (model_table(&**model, &sections.method, &sections.further))
                    (sections.selection)
                    (sections.details)
                    (sections.bases)
                    (sections.cases)
                }
            }
        }
    };
    Ok(page.into_string())
}

pub(crate) fn unsuitable(expected: &str) -> Error {
    Error::Parameter { name: "answers", value: "those of another task".into(), expected: expected.into() }
}

/// The table of a model: `further` has a name and a text each.
fn model_table(model: &dyn Model, method: &str, further: &[(&str, String)]) -> Markup {
    let parameters = serde_json::to_value(model.parameters()).unwrap_or_default();
    html! {
        section id="model" {
            h2 { "The model" }
            table class="wm-table wm-facts" {
                tbody {
                    tr { th { "method" } td { (method) } }
                    tr { th { "samples" } td { (model.kind()) @if let Some(n) = model.n_features() { ", " (n) " features" } } }
                    @for (name, value) in parameters.as_object().into_iter().flatten() {
                        @if name != "samples" && plain(value) != "–" { tr { th { (name.replace('_', " ")) } td { (plain(value)) } } }
                    }
                    tr { th { "weights" } td { (model.n_weights()) } }
                    @for (name, text) in further { tr { th { (name) } td { (text) } } }
                    @if let Some(names) = model.feature_names() {
                        tr { th { "columns" } td { (listed(names, 30)) } }
                    }
                }
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
