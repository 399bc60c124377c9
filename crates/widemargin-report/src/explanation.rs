//! An explanation as a fragment of HTML.

use maud::{Markup, html};
use widemargin::data::AnySamples;
use widemargin::model::{Explanation, Term, TermSource};

use crate::STYLE;
use crate::comparison::{Side, comparison};
use crate::samples::{Shown, descending, number};
use crate::tiles::bar;

/// Maximum number of classes with a listed decision value.
const MAX_CLASSES: usize = 12;

/// An explanation as HTML with its style: the strongest `n_terms` terms for or against the explained class, and the pieces
/// of their similarities. `bases` are those of the model and `sample` is the only sample, if available; `names` are the
/// names of their columns.
pub fn explanation_html(
    explanation: &Explanation,
    bases: Option<&AnySamples>,
    sample: Option<&AnySamples>,
    names: Option<&[String]>,
    n_terms: usize,
) -> String {
    let shown = |samples| Shown { samples, names };
    html! {
        style { (maud::PreEscaped(STYLE)) }
        div class="wm-explanation" {
            (explained(explanation, bases.map(shown), sample.map(|sample| (shown(sample), 0)), n_terms, n_terms.min(4)))
        }
    }
    .into_string()
}

/// The same within a page.
pub fn explained(
    explanation: &Explanation,
    bases: Option<Shown<'_>>,
    sample: Side<'_>,
    n_terms: usize,
    n_compared: usize,
) -> Markup {
    let (class, values) = (explanation.explained, explanation.is_of_values);
    let order = explanation.strongest(class);
    let (strongest, rest) = order.split_at(n_terms.min(order.len()));
    let of = |at: &usize| explanation.contribution(&explanation.terms[*at], class);
    let largest = strongest.first().map_or(1.0, |at| of(at).abs()).max(f64::MIN_POSITIVE);
    let (pro, contra): (Vec<f64>, Vec<f64>) = rest.iter().map(of).partition(|value| *value > 0.0);
    let compared =
        strongest.iter().map(|&at| &explanation.terms[at]).filter_map(|term| Some((term, term.comparison.as_ref()?)));
    let has_weights = explanation.terms.iter().any(|term| !term.weights.is_empty());
    let has_means = explanation.terms.iter().any(|term| term.reference != 0.0);
    let n_columns = 4 + usize::from(has_weights) + usize::from(has_means);
    let total_row = |name: String, value: f64| {
        html! { tr { td class="wm-left wm-soft" colspan=(n_columns - 2) { (name) } td { (bar(value / largest)) } td { (signed(value)) } } }
    };
    html! {
        (head(explanation, sample))
        div class="wm-scroll" {
            table class="wm-table" {
                thead {
                    tr {
                        th class="wm-left" { "term" }
                        th { "value" }
                        @if has_means { th { "mean" } }
                        @if has_weights { th { "weight" } }
                        th class="wm-left" colspan="2" {
                            @if values { "contribution to the " } @else { "for or against " }
                            (explanation.classes[class].to_string())
                        }
                    }
                }
                tbody {
                    @for at in strongest {
                        @let term = &explanation.terms[*at];
                        tr {
                            td class="wm-left" { (source(explanation, term, bases)) }
                            td { (number(term.value)) }
                            @if has_means { td { @if term.reference != 0.0 { (number(term.reference)) } } }
                            @if has_weights { td { (weight(explanation, term, class)) } }
                            td { (bar(of(at) / largest)) }
                            td { (signed(of(at))) }
                        }
                    }
                    @if !pro.is_empty() { (total_row(format!("{} more {}", pro.len(), if values { "above 0" } else { "for it" }), pro.iter().sum())) }
                    @if !contra.is_empty() { (total_row(format!("{} more {}", contra.len(), if values { "not above 0" } else { "against it" }), contra.iter().sum())) }
                    @if explanation.intercept(class) != 0.0 { (total_row("intercept".into(), explanation.intercept(class))) }
                    tr { th class="wm-left" colspan=(n_columns - 2) { @if values { "sum" } @else { "decision value" } } th {} th { (signed(explanation.decision_value(class))) } }
                }
            }
        }
        @for (term, pieces) in compared.take(n_compared) {
            h3 { (source_name(term)) @if explanation.parts.len() > 1 { " by " code { (explanation.parts[term.part]) } } }
            @let basis = match (&term.source, bases) {
                (TermSource::Basis { index, .. }, Some(bases)) => Some((bases, *index)),
                _ => None,
            };
            (comparison(pieces, basis, sample))
        }
    }
}

fn head(explanation: &Explanation, sample: Side<'_>) -> Markup {
    let (class, n) = (explanation.explained, explanation.classes.len());
    let order = descending(n, |class| explanation.decision_value(class));
    let predicted: Vec<String> = explanation.predicted_labels().into_iter().map(ToString::to_string).collect();
    let is_other = explanation.multilabel || class != explanation.predicted;
    let probability = html! {
        @if let Some(probabilities) = &explanation.probabilities { ", probability " (format!("{:.3}", probabilities[class])) }
    };
    html! {
        div class="wm-row" {
            @if let Some((shown, at)) = sample { div style="min-width:8rem;max-width:16rem" { (shown.small(at)) } }
            div class="wm-grow" {
                @if explanation.is_of_values {
                    p { (explanation.classes[class].to_string()) ": " b { (number(explanation.decision_value(class))) } }
                } @else { p { "Predicted: " b { @if predicted.is_empty() { "no label" } @else { (predicted.join(", ")) } }
                    @if !is_other { (probability) } } }
                @if is_other { p { "Explained: " b { (explanation.classes[class].to_string()) } (probability) } }
                @if n > 2 || (explanation.multilabel && n > 1) {
                    p class="wm-small wm-soft" {
                        "Decision values: "
                        @for (at, other) in order.iter().take(MAX_CLASSES).enumerate() {
                            @if at > 0 { ", " }
                            (explanation.classes[*other].to_string()) " " (signed(explanation.decision_value(*other)))
                        }
                        @if n > MAX_CLASSES { ", …" }
                    }
                }
                p class="wm-small wm-soft" { "Similarity: " @for part in &explanation.parts { code { (part) } " " } }
            }
        }
    }
}

fn weight(explanation: &Explanation, term: &Term, class: usize) -> String {
    explanation.weight(term, class).map_or_else(String::new, |weight| number(weight).replace('-', "−"))
}

/// The name of a term.
pub fn source_name(term: &Term) -> String {
    match &term.source {
        TermSource::Basis { index, row: None } => format!("basis {index}"),
        TermSource::Basis { index, row: Some(row) } => format!("basis {index}, training row {row}"),
        TermSource::Column { name: Some(name), .. } => name.clone(),
        TermSource::Column { index, .. } => format!("column {index}"),
        TermSource::Polynomial { name } => name.clone(),
        _ => String::new(),
    }
}

fn source(explanation: &Explanation, term: &Term, bases: Option<Shown<'_>>) -> Markup {
    html! {
        @match (&term.source, bases) {
            (TermSource::Basis { index, .. }, Some(bases)) => {
                div style="max-width:11rem" { (bases.small(*index)) }
                span class="wm-small wm-soft" { (source_name(term)) }
            },
            _ => (source_name(term)),
        }
        @if explanation.parts.len() > 1 { div class="wm-small wm-soft" { code { (explanation.parts[term.part]) } } }
    }
}

/// A number with its sign.
pub fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", number(value)) } else { number(value).replace('-', "−") }
}
