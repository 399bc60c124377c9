//! A report on a model as one page.

use std::any::Any;
use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use widemargin::data::{AnySamples, Labels, SamplesView};
use widemargin::model::{BasisExpansionSvc, Classifier, Model, PowerMeanSvc, ThinPlateRegressor, ThinPlateSvc};
use widemargin::monitor::Monitor;
use widemargin::select::Labeled;
use widemargin::similarity::AnySimilarity;
use widemargin::solve::thin_plate::PathPoint;
use widemargin::solve::{CalibratedOn, Report as FitReport};
use widemargin::{Error, Result};

use crate::STYLE;
use crate::charts;
use crate::comparison::bar;
use crate::explanation::{Cases, MAX_TERMS};
use crate::measured::{Measured, Mistake};
use crate::multilabel::MeasuredLabels;
use crate::samples::{Shown, descending, number, vectors};
use crate::tiles::{percent, tile};

/// Maximum number of bases.
const MAX_BASES: usize = 18;

/// Maximum number of explained mistakes.
const MAX_MISTAKES: usize = 5;

/// Maximum number of classes with listed scores.
const MAX_CLASSES: usize = 40;

/// A report on a classifier, with or without labeled samples.
#[derive(Debug)]
pub struct ClassReport<'a> {
    /// The model.
    pub model: &'a dyn Classifier,
    /// Its name, such as the name of its file.
    pub title: String,
    /// Labeled samples, and their name.
    pub data: Option<(Labeled<'a>, String)>,
}

impl ClassReport<'_> {
    /// The page: HTML with inline style and pictures, without external requests.
    ///
    /// # Errors
    /// Errors of the model on the samples.
    pub fn html(&self, threads: usize, monitor: &Monitor<'_>) -> Result<String> {
        let model = self.model;
        let bases = bases_of(model);
        let names = model.feature_names();
        let shown = bases.as_deref().map(|samples| Shown { samples, names });
        let measure = |(data, _): &(Labeled<'_>, String)| -> Result<(Scores, Markup)> {
            model.check_samples(data.0)?;
            let measured = match model.is_multilabel() {
                true => Scores::Labels(MeasuredLabels::new(model, *data, threads, monitor)?),
                false => {
                    data.1.check_one_class("a model that has one")?;
                    Scores::Classes(Measured::new(model, *data, threads, monitor)?)
                }
            };
            let mistakes = self.mistakes(data.0, data.1, &measured, shown)?;
            Ok((measured, mistakes))
        };
        let measured = self.data.as_ref().map(measure).transpose()?;
        let body = html! {
            @match &measured {
                Some((Scores::Classes(measured), _)) => (self.scores(measured)),
                Some((Scores::Labels(measured), _)) => (measured.summary(self.data_name())),
                None => {}
            }
            (model_table(model, title_of(model.method()), &further(model)))
            (selection(model))
            @match &measured {
                Some((Scores::Classes(measured), _)) => (details(model, measured)),
                Some((Scores::Labels(measured), _)) => (measured.details()),
                None => {}
            }
            (bases_by_weight(model, shown)?)
            @if let Some((_, mistakes)) = &measured { (mistakes) }
        };
        Ok(page(&self.title, &model.report().warnings, &body))
    }

    /// The name of the samples.
    fn data_name(&self) -> &str {
        self.data.as_ref().map_or("", |(.., name)| name.as_str())
    }

    fn scores(&self, measured: &Measured) -> Markup {
        let (evaluation, name) = (&measured.evaluation, self.data_name());
        html! {
            section id="scores" {
                h2 { "Scores" }
                p { "Measured on " (evaluation.n_samples()) " samples: " b { (name) } "." }
                @if measured.n_unknown > 0 {
                    p class="wm-warning" { (measured.n_unknown) " samples have a label that is not a class of the model." }
                }
                div class="wm-tiles" {
                    (tile(percent(evaluation.accuracy()), "accuracy"))
                    (tile(percent(evaluation.balanced_accuracy()), "balanced accuracy"))
                    (tile(percent(evaluation.f1_macro()), "F1, mean of the classes"))
                    @if let Some(loss) = measured.log_loss { (tile(format!("{loss:.4}"), "log loss")) }
                    @if let Some(area) = measured.roc_auc { (tile(format!("{area:.4}"), "ROC AUC")) }
                    @if let Some(area) = measured.average_precision { (tile(format!("{area:.4}"), "average precision")) }
                }
                @if let Some(estimate) = &self.model.report().estimate {
                    p class="wm-small wm-soft" {
                        "The fit itself estimated an error of " (percent(estimate.error)) " (" (estimate.method.named()) ")."
                    }
                }
            }
        }
    }

    fn mistakes(
        &self,
        samples: &SamplesView<'_>,
        labels: &Labels,
        measured: &Scores,
        bases: Option<Shown<'_>>,
    ) -> Result<Markup> {
        let model = self.model;
        let (mistakes, of_all, right) = match measured {
            Scores::Classes(measured) => (
                &measured.mistakes,
                format!("of {} samples are predicted wrongly", measured.evaluation.n_samples()),
                "right class",
            ),
            Scores::Labels(measured) => (
                &measured.mistakes,
                format!("labels of {} samples are predicted wrongly", measured.n_samples),
                "right prediction",
            ),
        };
        let case = |mistake: &Mistake| {
            let explanation = model.explain(samples, mistake.row, Some(mistake.class), MAX_TERMS)?;
            let class = &model.classes()[mistake.class];
            let prediction = match (measured, explanation.decision_value(mistake.class) > 0.0) {
                (Scores::Classes(_), _) => format!("{}, predicted {class}", labels.get(mistake.row)),
                (Scores::Labels(_), true) => format!("predicted to have {class}, which it does not have"),
                (Scores::Labels(_), false) => format!("predicted not to have {class}, which it has"),
            };
            let title = html! {
                (prediction)
                @if let Some(p) = mistake.probability { span class="wm-soft" { " — probability of the " (right) " " (number(p)) } }
            };
            Ok((mistake.row, title, explanation))
        };
        let cases = mistakes.iter().take(MAX_MISTAKES).map(case).collect::<Result<Vec<_>>>()?;
        let about = html! {
            @if cases.is_empty() { "No sample is predicted wrongly." } @else {
                (mistakes.len()) " " (of_all)
                "; these are the ones that the model was most confident about, and why; samples are numbered from 0."
            }
        };
        Cases { samples, names: model.feature_names(), bases }.section("Worst mistakes", &about, &cases)
    }
}

/// The whole page.
pub(crate) fn page(title: &str, warnings: &[String], body: &Markup) -> String {
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
                        @for warning in warnings { p class="wm-warning" { (warning) } }
                    }
                    (body)
                }
            }
        }
    };
    page.into_string()
}

/// What the table of a classifier shows besides its parameters: a name and a text each.
fn further(model: &dyn Classifier) -> [(&'static str, String); 3] {
    let classes = model.classes();
    let first: Vec<String> = classes.iter().take(30).map(ToString::to_string).collect();
    let more = if classes.len() > first.len() { ", …" } else { "" };
    let named = if model.is_multilabel() { "labels" } else { "classes" };
    [
        (named, format!("{}: {}{more}", classes.len(), first.join(", "))),
        ("probabilities", calibration(model)),
        ("training", training(model.report(), model.iterations())),
    ]
}

/// Scores of classes, or of multilabel samples.
enum Scores {
    Classes(Measured),
    Labels(MeasuredLabels),
}

/// The model as one of a method, where it is.
fn as_method<M: Any>(model: &dyn Classifier) -> Option<&M> {
    (model as &dyn Any).downcast_ref()
}

/// The bases of a model, as samples.
pub(crate) fn bases_of(model: &dyn Model) -> Option<Cow<'_, AnySamples>> {
    let any = model as &dyn Any;
    let (rows, n_features): (Vec<Vec<f64>>, usize) = if let Some(model) = any.downcast_ref::<ThinPlateSvc>() {
        ((0..model.n_bases()).map(|basis| model.basis(basis)).collect(), model.n_features())
    } else if let Some(model) = any.downcast_ref::<ThinPlateRegressor>() {
        ((0..model.n_bases()).map(|basis| model.basis(basis)).collect(), model.n_features())
    } else {
        return model.bases().map(Cow::Borrowed);
    };
    Some(Cow::Owned(vectors(rows, n_features)))
}

/// The path over C of a model that selected it.
fn path_of(model: &dyn Classifier) -> &[PathPoint] {
    let basis_expansion = as_method(model).map(BasisExpansionSvc::<AnySimilarity>::path);
    basis_expansion.or(as_method(model).map(ThinPlateSvc::path)).unwrap_or_default()
}

fn title_of(method: &str) -> &str {
    match method {
        "basis-expansion" => "Basis expansion SVM",
        "power-mean" => "Power mean SVM",
        "thin-plate" => "Thin plate SVM",
        other => other,
    }
}

/// The start of a list of weights in the spec of a similarity.
const WEIGHTS: &str = "weights=";

/// The table of a model: `further` has a name and a text each.
pub(crate) fn model_table(model: &dyn Model, method: &str, further: &[(&str, String)]) -> Markup {
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
                        tr { th { "columns" } td { (names.iter().take(30).cloned().collect::<Vec<_>>().join(", ")) @if names.len() > 30 { ", …" } } }
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
        Value::Array(all) => {
            let shown: Vec<String> = all.iter().take(12).map(plain).collect();
            shown.join(", ") + if all.len() > 12 { ", …" } else { "" }
        }
        Value::Null => "–".into(),
        other => other.to_string(),
    }
}

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

fn calibration(model: &dyn Classifier) -> String {
    match model.calibration() {
        None => "none".into(),
        Some(calibration) => match calibration.on() {
            CalibratedOn::LeaveOneOut => {
                format!("calibrated on {} leave-one-out decision values", calibration.n_samples())
            }
            CalibratedOn::HeldOut => format!("calibrated on {} held-out decision values", calibration.n_samples()),
            _ => "not calibrated: there are no decision values of held-out samples".into(),
        },
    }
}

pub(crate) fn training(report: &FitReport, iterations: &str) -> String {
    format!(
        "{} after {} {iterations} in {} s; relative duality gap {} at most",
        report.status.as_str(),
        report.max_iterations(),
        number(report.seconds()),
        number(report.gap()),
    )
}

/// The notes of a fit.
pub(crate) fn notes_of(report: &FitReport) -> Markup {
    html! {
        @if !report.notes.is_empty() {
            h3 { "Notes of the fit" }
            ul { @for note in &report.notes { li { (abridged(note)) } } }
        }
    }
}

fn selection(model: &dyn Classifier) -> Markup {
    let c = model.c(0);
    let choice = as_method(model).and_then(PowerMeanSvc::choice);
    let points: Vec<(f64, f64)> = match choice {
        Some(choice) => choice.path.iter().map(|point| (point.c, point.loo_squared_hinge)).collect(),
        None => path_of(model).iter().filter_map(|point| Some((point.c, point.loo_squared_hinge?))).collect(),
    };
    html! {
        section id="choice" {
            h2 { "Parameter selection" }
            @match &model.report().estimate {
                Some(estimate) => p {
                    "Estimated error " b { (percent(estimate.error)) } " ± " (percent(estimate.standard_error))
                    " (" (estimate.method.named()) ")."
                },
                None => p { "There is no estimate of the error; the reason is in the notes below." },
            }
            @if points.len() > 1 {
                p class="wm-small wm-soft" { "Leave-one-out loss for each C." }
                (charts::path(&points, c))
            } @else { p { "C = " (number(c)) "." } }
            @if let Some(choice) = choice {
                @if choice.tried.len() > 1 {
                    h3 { "Compared kernels" }
                    div class="wm-scroll" { table class="wm-table" {
                        thead { tr { th class="wm-left" { "kernel" } th { "nodes" } th { "C" } th { "leave-one-out loss" } th { "leave-one-out error" } } }
                        tbody { @for tried in &choice.tried { tr {
                            td class="wm-left" { (tried.kernel) }
                            td { @match tried.n_nodes { Some(n) => (n), None => "exact" } }
                            td { @if let Some(c) = tried.c { (number(c)) } }
                            td { @if let Some(loss) = tried.loo_squared_hinge { (number(loss)) } @else if let Some(problem) = &tried.problem { (problem) } }
                            td { @if let Some(error) = tried.loo_error { (percent(error)) } }
                        } } }
                    } }
                }
            }
            (notes_of(model.report()))
        }
    }
}

fn details(model: &dyn Classifier, measured: &Measured) -> Markup {
    let confusion = measured.evaluation.confusion_matrix();
    let scores = measured.evaluation.class_scores();
    let share = |value: Option<f64>| value.map_or("–".into(), |value| format!("{:.2}", 100.0 * value));
    let classes = model.classes();
    let of = if classes.len() == 2 { classes[1].to_string() } else { "the predicted class".into() };
    html! {
        section id="confusion" {
            h2 { "Confusion matrix" }
            @if confusion.labels.len() <= charts::MAX_CLASSES { (charts::confusion(&confusion)) } @else {
                p class="wm-soft" { "Not shown for " (confusion.labels.len()) " classes." }
            }
            h3 { "Scores of each class, in percent" }
            div class="wm-scroll" { table class="wm-table" {
                thead { tr { th class="wm-left" { "class" } th { "samples" } th { "precision" } th { "recall" } th { "F1" } } }
                tbody { @for score in scores.iter().take(MAX_CLASSES) { tr {
                    td class="wm-left" { (score.label.to_string()) }
                    td { (score.support) } td { (share(score.precision)) } td { (share(score.recall)) } td { (share(score.f1)) }
                } } }
            } }
            @if scores.len() > MAX_CLASSES { p class="wm-small wm-soft" { (scores.len() - MAX_CLASSES) " more classes" } }
        }
        section id="calibration" {
            h2 { "Probabilities" }
            @if measured.reliability.is_empty() { p { "The model gives no probabilities." } } @else {
                p { "Of samples with a probability of, say, 0.8, 80 % should be of the class: dots on the diagonal. Larger dots stand for more samples." }
                div class="wm-row" {
                    (charts::reliability(&measured.reliability, &of))
                    @if let Some(ranking) = &measured.ranking {
                        (charts::curve("false positive rate", "true positive rate", &ranking.roc_curve(), true))
                        (charts::curve("recall", "precision", &in_steps(&ranking.precision_recall_curve()), false))
                    }
                }
            }
        }
    }
}

/// A precision-recall curve in steps.
fn in_steps(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let steps = curve.windows(2).flat_map(|pair| [(pair[0].0, pair[1].1), pair[1]]);
    curve.first().copied().into_iter().chain(steps).collect()
}

/// The bases or features with the largest norms of weights over all classes.
fn bases_by_weight(model: &dyn Classifier, bases: Option<Shown<'_>>) -> Result<Markup> {
    let (weights, rows): (Vec<f64>, Vec<usize>) = if let Some(model) =
        as_method::<BasisExpansionSvc<AnySimilarity>>(model)
    {
        (model.weights_of_similarities(), model.basis_rows().to_vec())
    } else if let Some(model) = as_method::<ThinPlateSvc>(model) {
        let n = model.n_bases();
        let norm = |basis: usize| model.coefficients().iter().skip(basis).step_by(n).map(|a| a * a).sum::<f64>().sqrt();
        ((0..n).map(norm).collect(), model.support().iter().map(|&row| row as usize).collect())
    } else if let Some(model) = as_method::<PowerMeanSvc>(model) {
        return Ok(columns_by_weight(model));
    } else {
        return Err(Error::Parameter {
            name: "model",
            value: model.method().into(),
            expected: "a known method".into(),
        });
    };
    Ok(cards_of_bases(&weights, &rows, bases))
}

/// The bases with the largest weights; `rows` are their training rows.
pub(crate) fn cards_of_bases(weights: &[f64], rows: &[usize], bases: Option<Shown<'_>>) -> Markup {
    let order = descending(weights.len(), |basis| weights[basis]);
    html! {
        section id="bases" {
            h2 { "Bases with the largest weights" }
            @if order.is_empty() { p { "The model is linear in the samples' own features: it has no bases." } } @else {
                p class="wm-small wm-soft" { (MAX_BASES.min(weights.len())) " of " (weights.len()) " bases, by the norm of the weights of their similarities." }
                div class="wm-cards" {
                    @for &basis in order.iter().take(MAX_BASES) {
                        figure class="wm-card" style="margin:0" {
                            @if let Some(bases) = bases { (bases.small(basis)) }
                            figcaption {
                                "weight " (number(weights[basis]))
                                @match rows.get(basis) { Some(row) => { ", training row " (row) }, None => { ", basis " (basis) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn columns_by_weight(model: &PowerMeanSvc) -> Markup {
    let k = if model.classes().len() == 2 && !model.is_multilabel() { 1 } else { model.classes().len() };
    let feature_weights = model.map().n_nodes() * k;
    let norms: Vec<f64> = model
        .weights()
        .chunks(feature_weights.max(1))
        .map(|weights| weights.iter().map(|&weight| f64::from(weight).powi(2)).sum::<f64>().sqrt())
        .collect();
    let order = descending(norms.len(), |column| norms[column]);
    let largest = order.first().map_or(1.0, |&at| norms[at]).max(f64::MIN_POSITIVE);
    let name =
        |column: usize| model.feature_names().map_or_else(|| format!("column {column}"), |names| names[column].clone());
    html! {
        section id="bases" {
            h2 { "Columns with the largest weights" }
            table class="wm-table" {
                tbody { @for &column in order.iter().take(MAX_BASES) { tr {
                    td class="wm-left" { (name(column)) } td { (bar(norms[column] / largest)) } td { (number(norms[column])) }
                } } }
            }
        }
    }
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
