//! Explanations of predictions and reports on models as HTML: one file without requests, for screens and paper.
//!
//! [`explanation_html`] is a fragment, [`report_html`] a whole page. All text that comes from data is escaped by the templates.
#![deny(missing_docs)]

mod charts;
mod classes;
mod comparison;
mod explanation;
mod measured;
mod multilabel;
mod report;
mod samples;
mod sections;
mod tiles;
mod values;

pub use explanation::explanation_html;
pub use report::report_html;
pub use sections::Measurement;

/// The style of the fragments and the page: light and dark, on screens and on paper.
pub const STYLE: &str = include_str!("style.css");
