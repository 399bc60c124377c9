//! The sections of a report on a regression model or an outlier detector.

use maud::{Markup, html};
use widemargin::Result;
use widemargin::data::{DenseMatrix, Targets};
use widemargin::model::{BasisExpansionOneClass, Model, Regressor};
use widemargin::select::{Answers, Scoring};
use widemargin::similarity::AnySimilarity;

use crate::charts;
use crate::samples::{descending, number};
use crate::sections::{Cases, MAX_TERMS, Sections, unsuitable};
use crate::tiles::{percent, tile};

/// The sections of a regression model, with or without samples that have targets.
///
/// # Errors
/// Errors of the model on the samples.
pub fn of_targets(model: &dyn Regressor, cases: Option<Cases<'_>>) -> Result<Sections> {
    let further = vec![("outputs", model.n_outputs().to_string())];
    let of_model = Sections { further, selection: selection(model), ..Sections::default() };
    let Some((cases, answers)) = cases.and_then(|cases| Some((cases, cases.data.answers?))) else {
        return Ok(of_model);
    };
    let Answers::Targets(targets) = answers else { return Err(unsuitable("targets")) };
    let predicted = model.predict(cases.data.samples, cases.threads, cases.monitor)?;
    let scores = scores(cases, targets, &predicted)?;
    Ok(Sections { scores, cases: largest_errors(model, cases, targets, &predicted)?, ..of_model })
}

fn scores(cases: Cases<'_>, targets: &Targets, predicted: &DenseMatrix<f64>) -> Result<Markup> {
    let k = targets.n_outputs();
    let of_output = |output: usize| {
        let of: Vec<f64> = predicted.values.iter().skip(output).step_by(k).copied().collect();
        let score = |scoring: Scoring| scoring.score_numbers(&targets.output(output), &of, cases.data.weights);
        let (r2, rmse) = (score(Scoring::R2)?, -score(Scoring::NegRootMeanSquaredError)?);
        let mae = -score(Scoring::NegMeanAbsoluteError)?;
        Ok(html! {
            @if k > 1 { h3 { "Target " (output) } }
            div class="wm-tiles" {
                (tile(format!("{r2:.4}"), "R²"))
                (tile(number(rmse), "root mean squared error"))
                (tile(number(mae), "mean absolute error"))
            }
        })
    };
    let outputs = (0..k).map(of_output).collect::<Result<Vec<_>>>()?;
    Ok(cases.scores("Scores", "samples", &html! { @for output in outputs { (output) } }))
}

/// How C was selected.
fn selection(model: &dyn Regressor) -> Markup {
    let squared = model.chosen().map(|point| ("R²", point.loo_r2, point.loo_r2_std));
    let estimate = squared.or(model.chosen_loss().map(|point| ("D²", point.d2, point.d2_std)));
    let mut points: Vec<(f64, f64)> = model.path().iter().map(|point| (point.c, 1.0 - point.loo_r2)).collect();
    points.extend(model.loss_path().iter().map(|point| (point.c, 1.0 - point.d2)));
    html! {
        @match estimate {
            Some((measure, score, std)) => p {
                (measure) " of left-out samples " b { (format!("{score:.4}")) } " ± " (format!("{std:.4}")) "."
            },
            None => p { "The fit made no estimate of the error." },
        }
        (charts::selection_of_c(&points, model.c(), "1 − R² or 1 − D² of left-out samples for each C."))
    }
}

/// The samples whose prediction is worst, and why it is so.
fn largest_errors(
    model: &dyn Regressor,
    cases: Cases<'_>,
    targets: &Targets,
    predicted: &DenseMatrix<f64>,
) -> Result<Markup> {
    let k = targets.n_outputs();
    let order = descending(predicted.values.len(), |at| (targets.values()[at] - predicted.values[at]).abs());
    let case = |&at: &usize| {
        let (target, value) = (number(targets.values()[at]), number(predicted.values[at]));
        let explanation = model.explain(cases.data.samples, at / k, Some(at % k), MAX_TERMS)?;
        Ok((at / k, html! { (target) ", predicted " (value) }, explanation))
    };
    let about = "The samples whose prediction is farthest from the target, and why; samples are numbered from 0.";
    cases.section("Largest errors", &html! { (about) }, order.iter().map(case))
}

/// The sections of an outlier detector, with or without samples.
///
/// # Errors
/// Errors of the model on the samples.
pub fn of_outliers(model: &BasisExpansionOneClass<AnySimilarity>, cases: Option<Cases<'_>>) -> Result<Sections> {
    let scores = cases.map(|cases| outliers(model, cases)).transpose()?.unwrap_or_default();
    let further = vec![("threshold", number(model.threshold()))];
    let selection = html! {
        p {
            "Of samples like the training ones a share of " b { (percent(model.quantile())) }
            " is expected below the threshold, by leave-one-out."
        }
    };
    Ok(Sections { scores, further, selection, ..Sections::default() })
}

/// The share of outliers, and the samples that are least like the training ones.
fn outliers(model: &BasisExpansionOneClass<AnySimilarity>, cases: Cases<'_>) -> Result<Markup> {
    let values = model.decision_function(cases.data.samples, cases.threads, cases.monitor)?;
    let n_outliers = values.iter().filter(|value| **value < 0.0).count();
    let order = descending(values.len(), |row| -values[row]);
    let case = |&row: &usize| {
        let title = if values[row] < 0.0 { "an outlier" } else { "no outlier" };
        Ok((row, html! { (title) }, model.explain(cases.data.samples, row, None, MAX_TERMS)?))
    };
    let about = html! { "The samples with the smallest scores, and why; samples are numbered from 0." };
    let tiles = html! {
        div class="wm-tiles" {
            (tile(n_outliers.to_string(), "outliers"))
            (tile(percent(n_outliers as f64 / values.len().max(1) as f64), "of the samples"))
        }
    };
    Ok(html! {
        (cases.scores("Outliers", "samples", &tiles))
        (cases.section("Samples that are least like the training ones", &about, order.iter().map(case))?)
    })
}
