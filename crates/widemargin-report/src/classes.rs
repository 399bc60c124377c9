//! The sections of a report on a classifier.

use maud::{Markup, html};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::model::{BasisExpansionSvc, Classifier, Model, PowerMeanSvc, ThinPlateSvc, TriedKernel, as_method};
use widemargin::select::Answers;
use widemargin::similarity::AnySimilarity;
use widemargin::solve::CalibratedOn;

use crate::charts;
use crate::measured::{Measured, Mistake};
use crate::multilabel::MeasuredLabels;
use crate::samples::{descending, listed, number};
use crate::sections::{Cases, MAX_BASES, MAX_TERMS, Sections, probabilities, unsuitable};
use crate::tiles::{bars, more, percent, share, table, tile};

/// Maximum number of classes with listed scores.
const MAX_CLASSES: usize = 40;

/// The sections of a classifier, with or without labeled samples.
///
/// # Errors
/// Errors of the model on the samples.
pub fn sections(model: &dyn Classifier, cases: Option<Cases<'_>>) -> Result<Sections> {
    let classes = model.classes();
    let named = if model.is_multilabel() { "labels" } else { "classes" };
    let names = format!("{}: {}", classes.len(), listed(classes, 30));
    let further = vec![(named, names), ("probabilities", calibration(model))];
    let of_model = Sections { further, selection: selection(model), ..Sections::default() };
    let Some((cases, answers)) = cases.and_then(|cases| Some((cases, cases.data.answers?))) else {
        return Ok(of_model);
    };
    let Answers::Labels(labels) = answers else { return Err(unsuitable("labels")) };
    model.check_samples(cases.data.samples)?;
    let data = (cases.data.samples, &**labels, cases.data.weights);
    let (scores, details, mistakes) = if model.is_multilabel() {
        let measured = MeasuredLabels::new(model, data, cases.threads, cases.monitor)?;
        (measured.summary(cases), measured.details(), measured.mistakes)
    } else {
        labels.check_one_class("a model that has one")?;
        let measured = Measured::new(model, data, cases.threads, cases.monitor)?;
        (scores(model, cases, &measured), details(model, &measured), measured.mistakes)
    };
    Ok(Sections { scores, details, cases: explained_mistakes(model, cases, labels, &mistakes)?, ..of_model })
}

fn scores(model: &dyn Classifier, cases: Cases<'_>, measured: &Measured) -> Markup {
    let evaluation = &measured.evaluation;
    let inside = html! {
        @if measured.n_unknown > 0 {
            p class="wm-warning" { (measured.n_unknown) " samples have a label that is not a class of the model." }
        }
        div class="wm-tiles" {
            (tile(percent(evaluation.accuracy()), "accuracy"))
            (tile(percent(evaluation.balanced_accuracy()), "balanced accuracy"))
            (tile(percent(evaluation.f1_macro()), "F1, mean of the classes"))
            @for (scoring, score) in &measured.of_values {
                (tile(format!("{:.4}", scoring.unsigned(*score)), scoring.title()))
            }
        }
        @if let Some(estimate) = &model.report().estimate {
            p class="wm-small wm-soft" {
                "The fit itself estimated an error of " (percent(estimate.error)) " (" (estimate.method.named()) ")."
            }
        }
    };
    cases.scores("Scores", "samples", &inside)
}

/// The mistakes that the model was most confident about.
fn explained_mistakes(
    model: &dyn Classifier,
    cases: Cases<'_>,
    labels: &Labels,
    mistakes: &[Mistake],
) -> Result<Markup> {
    let (of, right) = if model.is_multilabel() { ("labels of", "right prediction") } else { ("of", "right class") };
    let case = |mistake: &Mistake| {
        let explanation = model.explain(cases.data.samples, mistake.row, Some(mistake.class), MAX_TERMS)?;
        let class = &model.classes()[mistake.class];
        let prediction = match (model.is_multilabel(), explanation.decision_value(mistake.class) > 0.0) {
            (false, _) => format!("{}, predicted {class}", labels.get(mistake.row)),
            (true, true) => format!("predicted to have {class}, which it does not have"),
            (true, false) => format!("predicted not to have {class}, which it has"),
        };
        let title = html! {
            (prediction)
            @if let Some(p) = mistake.probability { span class="wm-soft" { " — probability of the " (right) " " (number(p)) } }
        };
        Ok((mistake.row, title, explanation))
    };
    let about = html! {
        @if mistakes.is_empty() { "No sample is predicted wrongly." } @else {
            (mistakes.len()) " " (of) " " (labels.len()) " samples are predicted wrongly"
            "; these are the ones that the model was most confident about, and why; samples are numbered from 0."
        }
    };
    cases.section("Worst mistakes", &about, mistakes.iter().map(case))
}

fn calibration(model: &dyn Classifier) -> String {
    match model.calibration() {
        None => "none".into(),
        Some(calibration) if calibration.on() == CalibratedOn::Nothing => {
            "not calibrated: there are no decision values of held-out samples".into()
        }
        Some(calibration) => {
            format!("calibrated on {} {} decision values", calibration.n_samples(), calibration.on())
        }
    }
}

fn selection(model: &dyn Classifier) -> Markup {
    let choice = as_method(model).and_then(PowerMeanSvc::choice);
    let path =
        as_method(model).map(BasisExpansionSvc::<AnySimilarity>::path).or(as_method(model).map(ThinPlateSvc::path));
    let points: Vec<(f64, f64)> = match choice {
        Some(choice) => choice.path.iter().map(|point| (point.c, point.loo_squared_hinge)).collect(),
        None => path.into_iter().flatten().filter_map(|point| Some((point.c, point.unseen_squared_hinge()?))).collect(),
    };
    let optional = |value: Option<f64>| value.map_or_else(String::new, number);
    let kernel = |tried: &TriedKernel| {
        let n_nodes = tried.n_nodes.map_or("exact".into(), |n| n.to_string());
        let loss = tried.loo_squared_hinge.map(number).or(tried.problem.clone()).unwrap_or_default();
        let error = tried.loo_error.map_or_else(String::new, percent);
        [tried.kernel.clone(), n_nodes, optional(tried.c), loss, error]
    };
    html! {
        @match &model.report().estimate {
            Some(estimate) => p {
                "Estimated error " b { (percent(estimate.error)) } " ± " (percent(estimate.standard_error))
                " (" (estimate.method.named()) ")."
            },
            None => p { "There is no estimate of the error; the reason is in the notes below." },
        }
        (charts::selection_of_c(&points, model.c(0), "Leave-one-out loss for each C."))
        @if let Some(choice) = choice.filter(|choice| choice.tried.len() > 1) {
            h3 { "Compared kernels" }
            (table(["kernel", "nodes", "C", "leave-one-out loss", "leave-one-out error"], choice.tried.iter().map(kernel)))
        }
    }
}

fn details(model: &dyn Classifier, measured: &Measured) -> Markup {
    let confusion = measured.evaluation.confusion_matrix();
    let scores = measured.evaluation.class_scores();
    let classes = model.classes();
    let of = if classes.len() == 2 { classes[1].to_string() } else { "the predicted class".into() };
    let rows = scores.iter().take(MAX_CLASSES).map(|score| {
        let [precision, recall, f1] = [score.precision, score.recall, score.f1].map(share);
        [score.label.to_string(), score.support.to_string(), precision, recall, f1]
    });
    let charts = html! {
        div class="wm-row" {
            (charts::reliability(&measured.reliability, &of))
            @if let Some(ranking) = &measured.ranking {
                (charts::curve("false positive rate", "true positive rate", &ranking.roc_curve(), true))
                (charts::curve("recall", "precision", &in_steps(&ranking.precision_recall_curve()), false))
            }
        }
    };
    html! {
        section id="confusion" {
            h2 { "Confusion matrix" }
            @if confusion.labels.len() <= charts::MAX_CLASSES { (charts::confusion(&confusion)) } @else {
                p class="wm-soft" { "Not shown for " (confusion.labels.len()) " classes." }
            }
            h3 { "Scores of each class, in percent" }
            (table(["class", "samples", "precision", "recall", "F1"], rows))
            (more(scores.len(), MAX_CLASSES, "classes"))
        }
        (probabilities(&measured.reliability, "Of samples with a probability of, say, 0.8, 80 % should be of the class: dots on the diagonal. Larger dots stand for more samples.", &charts))
    }
}

/// A precision-recall curve in steps.
fn in_steps(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let steps = curve.windows(2).flat_map(|pair| [(pair[0].0, pair[1].1), pair[1]]);
    curve.first().copied().into_iter().chain(steps).collect()
}

/// The columns with the largest norms of weights over all classes.
pub fn columns_by_weight(model: &PowerMeanSvc) -> Markup {
    let feature_weights = model.weights().len() / model.n_features().max(1);
    let norms: Vec<f64> = model
        .weights()
        .chunks(feature_weights.max(1))
        .map(|weights| weights.iter().map(|&weight| f64::from(weight).powi(2)).sum::<f64>().sqrt())
        .collect();
    let order = descending(norms.len(), |column| norms[column]);
    let name =
        |column: usize| model.feature_names().map_or_else(|| format!("column {column}"), |names| names[column].clone());
    let row = |&column: &usize| (name(column), vec![], norms[column], number(norms[column]));
    html! {
        section id="bases" {
            h2 { "Columns with the largest weights" }
            (bars(&[], order.iter().take(MAX_BASES).map(row)))
        }
    }
}
