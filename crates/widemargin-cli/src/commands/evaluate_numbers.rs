//! `widemargin evaluate` for a regression model.

use std::path::Path;
use std::time::Instant;

use indicatif::HumanCount;
use serde_json::{Map, json};
use widemargin::Result;
use widemargin::model::Regressor;
use widemargin::select::RegressionScoring;

use crate::args::Input;
use crate::context::Context;
use crate::output::{print, print_json};
use crate::report::{Failure, shown};
use crate::stream::predict;
use crate::task::targets_of;

/// Compares what a regression model predicts with the targets of samples.
pub fn evaluate_numbers(
    context: &Context,
    file: &Path,
    model: &dyn Regressor,
    input: &Input,
    scoring: &[RegressionScoring],
    as_json: bool,
) -> Result<(), Failure> {
    if model.n_outputs() != 1 {
        let failure =
            format!("{}: evaluate compares one target a sample, the model has {}", shown(file), model.n_outputs());
        return Err(Failure::input(failure).help("predict prints a column a target"));
    }
    let start = Instant::now();
    let (mut targets, mut predicted, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    predict(context, model, input, input.label.clone().unwrap_or_default(), |block, found| {
        targets.extend(targets_of(block.table.require_labels(&input.data)?, &input.data, block.first_row as u64)?);
        predicted.extend_from_slice(&found.values);
        weights.extend(block.table.weights.iter().flatten().copied());
        Ok(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let weights = (!weights.is_empty()).then_some(&weights[..]);
    let score = |scoring: RegressionScoring| scoring.score(&targets, &predicted, weights);
    let asked = scoring.iter().map(|&one| Ok((one.to_string(), json!(score(one)?)))).collect::<Result<Map<_, _>>>()?;
    let r2 = score(RegressionScoring::R2).ok();
    let [mae, rmse] = [RegressionScoring::NegMeanAbsoluteError, RegressionScoring::NegRootMeanSquaredError]
        .map(|scoring| score(scoring).map(|score| -score));
    let (mae, rmse, n) = (mae?, rmse?, targets.len());
    let rate = n as f64 / seconds;
    if as_json {
        return print_json(&json!({
            "model": file.display().to_string(),
            "method": model.method(),
            "n_samples": n,
            "r2": r2,
            "mean_absolute_error": mae,
            "root_mean_squared_error": rmse,
            "scores": asked,
            "seconds": seconds,
            "rows_per_second": rate,
        }));
    }
    let r2 = r2.map_or_else(|| "-".to_owned(), |r2| format!("{r2:.4}"));
    print(&format!(
        "R² {r2}\nmean absolute error {mae:.6}\nroot mean squared error {rmse:.6}\n{} samples; {seconds:.2} s, {} rows/s\n",
        HumanCount(n as u64),
        HumanCount(rate as u64),
    ))
}
