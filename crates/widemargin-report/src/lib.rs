//! Explanations of predictions and reports on models as HTML: one file without requests, for screens and paper.
//!
//! [`explanation_html`] is a fragment, [`Report`] a whole page. All text that comes from data is escaped by the templates.
#![deny(missing_docs)]

mod charts;
mod comparison;
mod explanation;
mod measured;
mod page;
mod samples;
mod several_labels;
mod tiles;

pub use explanation::explanation_html;
pub use measured::Measured;
pub use page::Report;
pub use several_labels::MeasuredLabels;

/// What the fragments and the page look like: light and dark, on screens and on paper.
pub const STYLE: &str = include_str!("style.css");
