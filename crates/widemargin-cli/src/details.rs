//! The details of models of some methods: the bases and their weights, the path to the solution.

use std::path::Path;

use indicatif::HumanCount;
use serde_json::{Value, json};
use widemargin::data::{AnySamples, Label};
use widemargin::model::{
    AnyModel, BasisExpansionSvc, ClassPath, Classifier, PowerMeanChoice, PowerMeanSvc, ThinPlateSvc, TriedC,
    TriedKernel, as_method,
};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::thin_plate::PathPoint;

use crate::report::{Failure, shown};
use crate::text_table::{fixed, percent, text_table};

/// Bases that a table shows.
const BASES_SHOWN: usize = 20;

/// Characters that it shows of a basis that is a string.
const CHARACTERS_SHOWN: usize = 40;

/// The model as a basis expansion SVM.
///
/// # Errors
/// A model of another method.
pub fn basis_expansion<'a>(path: &Path, model: &'a AnyModel) -> Result<&'a BasisExpansionSvc<AnySimilarity>, Failure> {
    as_method(&**model).ok_or_else(|| {
        let (path, method) = (shown(path), model.method());
        Failure::input(format!("{path}: the model is of '{method}', this is for basis-expansion classifiers"))
    })
}

/// What `inspect` prints below the other lines: its name, its JSON, and its text.
pub fn details(model: &dyn Classifier) -> Option<(&'static str, Value, String)> {
    if let Some(model) = as_method(model) {
        let (json, table) = bases(model);
        return Some(("bases", json, table));
    }
    if let Some(choice) = as_method(model).and_then(PowerMeanSvc::choice) {
        return Some(("choice", json!(choice), choice_tables(model.c(0), choice)));
    }
    let model: &ThinPlateSvc = as_method(model)?;
    if model.per_class().is_empty() {
        return Some(("path", json!(model.path()), path_table(model.c(), model.path())));
    }
    let of_class = |(label, one): (&Label, &ClassPath)| format!("class {label}\n{}", path_table(one.c, &one.path));
    let tables: Vec<String> = model.classes().iter().zip(model.per_class()).map(of_class).collect();
    Some(("per_class", json!(model.per_class()), tables.join("\n")))
}

/// What a power mean SVM tried: kernels, and values of C.
fn choice_tables(c: f64, choice: &PowerMeanChoice) -> String {
    let kernel = |tried: &TriedKernel| {
        let nodes = tried.n_nodes.map_or("exact".into(), |n_nodes| n_nodes.to_string());
        let c = tried.c.map_or("-".into(), |c| format!("{c:.3e}"));
        let problem = tried.problem.clone().unwrap_or_default();
        vec![tried.kernel.clone(), nodes, c, fixed(tried.loo_squared_hinge, 5), percent(tried.loo_error), problem]
    };
    let [loss, error] = ["leave-one-out loss", "leave-one-out error %"];
    let mut tables = text_table(&["kernel", "nodes", "C", loss, error, ""], choice.tried.iter().map(kernel));
    if !choice.path.is_empty() {
        let row = |point: &TriedC| {
            let (loss, error) = (fixed(Some(point.loo_squared_hinge), 5), percent(Some(point.loo_error)));
            vec![format!("{:.3e}", point.c), loss, error, mark(point.c == c)]
        };
        tables += &format!("\n{}", text_table(&["C", loss, error, ""], choice.path.iter().map(row)));
    }
    tables
}

/// What marks the line of the selected value.
fn mark(is_selected: bool) -> String {
    if is_selected { "* chosen".into() } else { String::new() }
}

/// The path, a line a C.
fn path_table(c: f64, path: &[PathPoint]) -> String {
    let row = |point: &PathPoint| {
        vec![
            format!("{:.3e}", point.c),
            format!("{:.1e}", point.lambda),
            fixed(point.unseen_squared_hinge(), 5),
            percent(point.refit_error()),
            HumanCount(point.n_support).to_string(),
            point.steps.to_string(),
            mark(point.c == c),
        ]
    };
    let is_held_out = path.iter().any(|point| point.held_out_squared_hinge.is_some());
    let loss = if is_held_out { "held-out loss" } else { "leave-one-out loss" };
    let heads = ["C", "lambda", loss, "error of refits %", "support vectors", "steps", ""];
    text_table(&heads, path.iter().map(row))
}

/// The beginning of a long text, on one line, and how long it is.
fn excerpt(text: &str) -> String {
    let length = text.chars().count();
    let plain = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let shown: String = plain.take(CHARACTERS_SHOWN).collect();
    if length > CHARACTERS_SHOWN { format!("{shown}… ({} characters)", HumanCount(length as u64)) } else { shown }
}

/// A sample that a line can hold, such as a string.
pub fn sample_text(samples: &AnySamples, at: usize) -> Option<String> {
    match samples {
        AnySamples::Strings(strings) => strings.get(at).map(|text| excerpt(text)),
        _ => None,
    }
}

/// The bases with their weights: JSON of all, and a table of the most important.
fn bases(model: &BasisExpansionSvc<AnySimilarity>) -> (Value, String) {
    let (n, rows) = (model.n_bases(), model.basis_rows());
    // Some maps mix the bases: their weights are not columns any more.
    let weights = model.weights_of_bases();
    let weight = |basis: usize| weights.as_ref().map(|weights| weights[basis]);
    let describe = |basis: usize| match model.expansion().bases() {
        AnySamples::Strings(strings) => Some(strings[basis].clone()),
        AnySamples::Series(series) => Some(format!("{} steps", series.length(basis))),
        _ => None,
    };
    let json = |basis: usize| {
        json!({
            "basis": basis,
            "row": rows.get(basis),
            "weight": weight(basis),
            "sample": describe(basis),
        })
    };
    let json = (0..n).map(json).collect();
    let mixed = format!("{n} bases; the features mix them, so that a basis has no weight of its own\n");
    if weights.is_none() && (n == 0 || describe(0).is_none()) {
        return (json, mixed);
    }
    let (head, heads) = match weights {
        None => (mixed, &["basis", "row", ""][..]),
        Some(_) if n > BASES_SHOWN => {
            (format!("the {BASES_SHOWN} most important of {n} bases\n"), &["basis", "row", "weight", ""][..])
        }
        Some(_) => (format!("{n} bases\n"), &["basis", "row", "weight", ""][..]),
    };
    let cells = |&basis: &usize| {
        let row = rows.get(basis).map_or("-".to_owned(), |row| (row + 1).to_string());
        let weight = weight(basis).map(|weight| format!("{weight:.4}"));
        let sample = excerpt(&describe(basis).unwrap_or_default());
        [(basis + 1).to_string(), row].into_iter().chain(weight).chain([sample]).collect()
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| weight(*b).unwrap_or(0.0).total_cmp(&weight(*a).unwrap_or(0.0)));
    (json, head + &text_table(heads, order.iter().take(BASES_SHOWN).map(cells)))
}
