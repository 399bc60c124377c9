//! The sections of a report that models of all tasks share.

use maud::{Markup, html};
use widemargin::data::{SamplesView, Source as _};
use widemargin::model::{Explanation, Model};
use widemargin::monitor::Monitor;
use widemargin::select::Answers;
use widemargin::{Error, Result};

use crate::explanation::explained;
use crate::measured::Reliability;
use crate::samples::{Shown, descending, number};

/// Maximum number of bases, or of columns instead of bases.
pub const MAX_BASES: usize = 18;

/// Maximum number of samples that are explained.
const MAX_CASES: usize = 5;

/// Terms of the explanation of a sample.
pub const MAX_TERMS: usize = 6;

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

/// The sections of a page that depend on the task of the model.
#[derive(Default)]
pub struct Sections {
    /// The scores on the samples.
    pub scores: Markup,
    /// Rows of the table of the model: a name and a text each.
    pub further: Vec<(&'static str, String)>,
    /// How parameters were selected.
    pub selection: Markup,
    /// More about the scores.
    pub details: Markup,
    /// Samples that are explained.
    pub cases: Markup,
}

/// The error for labels or targets of another task.
pub fn unsuitable(expected: &str) -> Error {
    Error::parameter("answers", "those of another task", expected)
}

/// The samples of a report with the bases of the model; some samples are explained.
#[derive(Clone, Copy)]
pub struct Cases<'a> {
    pub data: &'a Measurement<'a>,
    /// The names of columns.
    pub names: Option<&'a [String]>,
    pub bases: Option<Shown<'a>>,
    pub threads: usize,
    pub monitor: &'a Monitor<'a>,
}

impl Cases<'_> {
    /// A section of scores; `samples` is what the samples are called.
    pub fn scores(&self, heading: &str, samples: &str, inside: &Markup) -> Markup {
        html! {
            section id="scores" {
                h2 { (heading) }
                p { "Measured on " (self.data.samples.n_samples()) " " (samples) ": " b { (self.data.name) } "." }
                (inside)
            }
        }
    }

    /// A section of samples with their explanations, each under its title. `cases` may be more than are shown.
    pub fn section(
        &self,
        heading: &str,
        about: &Markup,
        cases: impl Iterator<Item = Result<(usize, Markup, Explanation)>>,
    ) -> Result<Markup> {
        let case = |case: Result<(usize, Markup, Explanation)>| -> Result<Markup> {
            let (row, title, explanation) = case?;
            let sample = self.data.samples.chunk(row..row + 1)?;
            let shown = Shown { samples: &sample, names: self.names };
            Ok(html! {
                article class="wm-case" {
                    h3 { "Sample " (row) ": " (title) }
                    (explained(&explanation, self.bases, Some((shown, 0)), MAX_TERMS, 1))
                }
            })
        };
        let cases = cases.take(MAX_CASES).map(case).collect::<Result<Vec<_>>>()?;
        Ok(html! {
            section id="mistakes" {
                h2 { (heading) }
                p { (about) }
                @for case in cases { (case) }
            }
        })
    }
}

/// A section on how reliable probabilities are, with its charts.
pub fn probabilities(reliability: &[Reliability], about: &str, charts: &Markup) -> Markup {
    html! {
        section id="calibration" {
            h2 { "Probabilities" }
            @if reliability.is_empty() { p { "The model gives no probabilities." } } @else {
                p { (about) }
                (charts)
            }
        }
    }
}

/// The bases with the largest weights.
pub fn cards_of_bases(model: &dyn Model, bases: Option<Shown<'_>>) -> Markup {
    let (weights, rows) = model.basis_weights();
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
