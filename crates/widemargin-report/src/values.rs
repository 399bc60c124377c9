//! Reports on regression models and outlier detectors.

use maud::{Markup, html};
use widemargin::Result;
use widemargin::data::{DenseMatrix, SamplesView, Targets};
use widemargin::model::{OneClass, Regressor};
use widemargin::monitor::Monitor;
use widemargin::select::RegressionScoring;

use crate::charts;
use crate::explanation::{Cases, MAX_TERMS};
use crate::page::{bases_of, cards_of_bases, model_table, notes_of, page, training};
use crate::samples::{Shown, descending, number};
use crate::tiles::{percent, tile};

/// Samples that are explained.
const MAX_CASES: usize = 5;

/// A report on a regression, with or without samples that have targets.
#[derive(Debug)]
pub struct RegressionReport<'a> {
    /// The model.
    pub model: &'a dyn Regressor,
    /// Its name.
    pub title: String,
    /// Samples with targets and weights, and their name.
    pub data: Option<(&'a SamplesView<'a>, &'a Targets, Option<&'a [f64]>, String)>,
}

impl RegressionReport<'_> {
    /// The page: HTML with inline style and pictures, without external requests.
    ///
    /// # Errors
    /// Errors of the model on the samples.
    pub fn html(&self, threads: usize, monitor: &Monitor<'_>) -> Result<String> {
        let (model, report) = (self.model, self.model.report());
        let method = if model.method().starts_with("thin-plate") { "Smoothing spline" } else { "Basis expansion" };
        let outputs = ("outputs", model.n_outputs().to_string());
        let further = [outputs, ("training", training(report, "Newton steps"))];
        let bases = bases_of(model);
        let shown = bases.as_deref().map(|samples| Shown { samples, names: model.feature_names() });
        let (weights, rows) = model.weights_of_bases();
        let measured = match &self.data {
            Some((samples, targets, weights, name)) => {
                let predicted = model.predict(samples, threads, monitor)?;
                Some((
                    self.scores(targets, &predicted, *weights, name)?,
                    self.cases(samples, targets, &predicted, shown)?,
                ))
            }
            None => None,
        };
        let body = html! {
            @if let Some((scores, _)) = &measured { (scores) }
            (model_table(model, method, &further))
            (self.chosen())
            (cards_of_bases(&weights, &rows, shown))
            @if let Some((_, cases)) = &measured { (cases) }
        };
        Ok(page(&self.title, &report.warnings, &body))
    }

    fn scores(
        &self,
        targets: &Targets,
        predicted: &DenseMatrix<f64>,
        weights: Option<&[f64]>,
        name: &str,
    ) -> Result<Markup> {
        let k = targets.n_outputs();
        let mut rows = Vec::new();
        for output in 0..k {
            let of: Vec<f64> = predicted.values.iter().skip(output).step_by(k).copied().collect();
            let score = |scoring: RegressionScoring| scoring.score(&targets.output(output), &of, weights);
            rows.push([
                score(RegressionScoring::R2)?,
                -score(RegressionScoring::NegRootMeanSquaredError)?,
                -score(RegressionScoring::NegMeanAbsoluteError)?,
            ]);
        }
        Ok(html! {
            section id="scores" {
                h2 { "Scores" }
                p { "Measured on " (targets.len()) " samples: " b { (name) } "." }
                @for (output, [r2, rmse, mae]) in rows.iter().enumerate() {
                    @if k > 1 { h3 { "Target " (output) } }
                    div class="wm-tiles" {
                        (tile(format!("{r2:.4}"), "R²"))
                        (tile(number(*rmse), "root mean squared error"))
                        (tile(number(*mae), "mean absolute error"))
                    }
                }
            }
        })
    }

    /// How C was selected.
    fn chosen(&self) -> Markup {
        let model = self.model;
        let squared = model.chosen().map(|point| ("R²", point.loo_r2, point.loo_r2_std));
        let estimate = squared.or(model.chosen_loss().map(|point| ("D²", point.d2, point.d2_std)));
        let mut points: Vec<(f64, f64)> = model.path().iter().map(|point| (point.c, 1.0 - point.loo_r2)).collect();
        points.extend(model.loss_path().iter().map(|point| (point.c, 1.0 - point.d2)));
        html! {
            section id="choice" {
                h2 { "Parameter selection" }
                @match estimate {
                    Some((measure, score, std)) => p {
                        (measure) " of left-out samples " b { (format!("{score:.4}")) } " ± " (format!("{std:.4}")) "."
                    },
                    None => p { "The fit made no estimate of the error." },
                }
                @if points.len() > 1 {
                    p class="wm-small wm-soft" { "1 − R² or 1 − D² of left-out samples for each C." }
                    (charts::path(&points, model.c()))
                } @else { p { "C = " (number(model.c())) "." } }
                (notes_of(model.report()))
            }
        }
    }

    /// The samples whose prediction is worst, and why it is so.
    fn cases(
        &self,
        samples: &SamplesView<'_>,
        targets: &Targets,
        predicted: &DenseMatrix<f64>,
        bases: Option<Shown<'_>>,
    ) -> Result<Markup> {
        let k = targets.n_outputs();
        let order = descending(predicted.values.len(), |at| (targets.values()[at] - predicted.values[at]).abs());
        let case = |&at: &usize| {
            let (target, value) = (number(targets.values()[at]), number(predicted.values[at]));
            let explanation = self.model.explain(samples, at / k, Some(at % k), MAX_TERMS)?;
            Ok((at / k, html! { (target) ", predicted " (value) }, explanation))
        };
        let cases = order.iter().take(MAX_CASES).map(case).collect::<Result<Vec<_>>>()?;
        let about = "The samples whose prediction is farthest from the target, and why; samples are numbered from 0.";
        let names = self.model.feature_names();
        Cases { samples, names, bases }.section("Largest errors", &html! { (about) }, &cases)
    }
}

/// A report on an outlier detector, with or without samples.
#[derive(Debug)]
pub struct OneClassReport<'a> {
    /// The model.
    pub model: &'a dyn OneClass,
    /// Its name.
    pub title: String,
    /// Samples, and their name.
    pub data: Option<(&'a SamplesView<'a>, String)>,
}

impl OneClassReport<'_> {
    /// The page: HTML with inline style and pictures, without external requests.
    ///
    /// # Errors
    /// Errors of the model on the samples.
    pub fn html(&self, threads: usize, monitor: &Monitor<'_>) -> Result<String> {
        let (model, report) = (self.model, self.model.report());
        let method = "Outlier detection on a basis expansion";
        let further = [("threshold", number(model.threshold())), ("training", training(report, "Newton steps"))];
        let shown = model.bases().map(|samples| Shown { samples, names: model.feature_names() });
        let (weights, rows) = model.weights_of_bases();
        let measured = match &self.data {
            Some((samples, name)) => Some(self.measured(samples, name, shown, threads, monitor)?),
            None => None,
        };
        let body = html! {
            @if let Some(measured) = &measured { (measured) }
            (model_table(model, method, &further))
            section id="choice" {
                h2 { "Parameter selection" }
                p {
                    "Of samples like the training ones a share of " b { (percent(model.contamination())) }
                    " is expected below the threshold, by leave-one-out."
                }
                (notes_of(report))
            }
            (cards_of_bases(&weights, &rows, shown))
        };
        Ok(page(&self.title, &report.warnings, &body))
    }

    /// The share of outliers, and the samples that are least like the training ones.
    fn measured(
        &self,
        samples: &SamplesView<'_>,
        name: &str,
        bases: Option<Shown<'_>>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Markup> {
        let values = self.model.decision_function(samples, threads, monitor)?;
        let n_outliers = values.iter().filter(|value| **value < 0.0).count();
        let order = descending(values.len(), |row| -values[row]);
        let case = |&row: &usize| {
            let title = if values[row] < 0.0 { "an outlier" } else { "no outlier" };
            Ok((row, html! { (title) }, self.model.explain(samples, row, None, MAX_TERMS)?))
        };
        let cases = order.iter().take(MAX_CASES).map(case).collect::<Result<Vec<_>>>()?;
        let about = "The samples with the smallest scores, and why; samples are numbered from 0.";
        let heading = "Samples that are least like the training ones";
        let names = self.model.feature_names();
        let cases = Cases { samples, names, bases }.section(heading, &html! { (about) }, &cases)?;
        Ok(html! {
            section id="scores" {
                h2 { "Outliers" }
                p { "Measured on " (values.len()) " samples: " b { (name) } "." }
                div class="wm-tiles" {
                    (tile(n_outliers.to_string(), "outliers"))
                    (tile(percent(n_outliers as f64 / values.len().max(1) as f64), "of the samples"))
                }
            }
            (cases)
        })
    }
}
