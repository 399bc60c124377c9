//! What is told of a trained thin plate SVM.

use indicatif::HumanCount;
use serde_json::{Value, json};
use widemargin::model::ThinPlateSvc;
use widemargin::solve::thin_plate::PathPoint;

use crate::text_table::text_table;

/// What the model keeps of its parameters and of what was chosen, by name.
pub fn parameters(model: &ThinPlateSvc) -> Value {
    let chosen = chosen(model);
    let n_problems = model.report().n_support.len().max(1);
    json!({
        "kernel": model.kernel().to_string(),
        "C": model.c(),
        "C_by_leave_one_out": model.path().len() > 1,
        "lambda": model.lambda(),
        "null_space": model.null_space().to_string(),
        "n_polynomials": model.polynomial().len() / n_problems,
        "rank": model.rank(),
        "standardized": model.scale().is_some(),
        "n_bases": model.n_bases(),
        "bases": if model.support().is_empty() { "centres" } else { "samples" },
        "violators": violators(model),
        "loo_squared_hinge": chosen.and_then(|point| point.loo_squared_hinge),
        "loo_error": chosen.and_then(|point| point.loo_error),
        "loo_exact": chosen.is_some_and(|point| point.loo_exact),
        "fold_error": chosen.and_then(|point| point.fold_error),
    })
}

/// The point of the path that was taken.
fn chosen(model: &ThinPlateSvc) -> Option<&PathPoint> {
    model.path().iter().find(|point| point.c == model.c())
}

fn violators(model: &ThinPlateSvc) -> u64 {
    model.report().n_support.iter().map(|&n| u64::from(n)).sum()
}

/// A line on C, leave-one-out, the polynomials and the violators.
pub fn findings(model: &ThinPlateSvc) -> String {
    let how = match model.path().len() {
        0 | 1 => String::new(),
        n => format!(", the least leave-one-out loss of {n} values"),
    };
    let estimate = chosen(model).and_then(PathPoint::error_estimate);
    let error = estimate.map(|(named, error)| format!("; {named} {:.2} %", 100.0 * error)).unwrap_or_default();
    format!(
        "C = {:.4e}{how}{error}; polynomials of rank {} ({}); {} violators, {} bases{}",
        model.c(),
        model.rank(),
        model.null_space(),
        HumanCount(violators(model)),
        HumanCount(model.n_bases() as u64),
        if model.scale().is_some() { "; standardised columns" } else { "" },
    )
}

/// The path, a line a C.
pub fn path_table(model: &ThinPlateSvc) -> String {
    let number = |value: Option<f64>, factor: f64, digits: usize| {
        value.map_or("-".into(), |value| format!("{:.digits$}", factor * value))
    };
    let row = |point: &PathPoint| {
        vec![
            format!("{:.3e}", point.c),
            format!("{:.1e}", point.lambda),
            number(point.loo_squared_hinge, 1.0, 5),
            number(point.error_estimate().map(|(_, error)| error), 100.0, 2),
            HumanCount(point.violators).to_string(),
            point.steps.to_string(),
            if point.c == model.c() { "* chosen".into() } else { String::new() },
        ]
    };
    let rows: Vec<Vec<String>> = model.path().iter().map(row).collect();
    text_table(&["C", "lambda", "left-out loss", "error of refits %", "violators", "steps", ""], &rows)
}
