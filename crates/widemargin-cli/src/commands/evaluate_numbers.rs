//! `widemargin evaluate` for a regression model.

use serde_json::{Map, json};
use widemargin::Result;
use widemargin::model::Regressor;
use widemargin::select::RegressionScoring;

use crate::commands::evaluation::{Evaluated, Evaluation, Outcome};
use crate::report::Failure;
use crate::task::targets_of;
use crate::text_table::fixed;

/// Compares the predictions of a regression model with the targets of samples.
pub fn evaluate_numbers(evaluation: &Evaluation<'_>, model: &dyn Regressor) -> Outcome {
    let Evaluation { input, metrics, .. } = evaluation;
    let scoring = metrics.iter().map(|one| one.of_numbers()).collect::<std::result::Result<Vec<_>, _>>()?;
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
    let scores = scoring.iter().map(|&one| Ok((one.to_string(), json!(score(one)?)))).collect::<Result<Map<_, _>>>()?;
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
