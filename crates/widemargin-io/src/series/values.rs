//! Series being read, and their values and labels.

use widemargin::data::Label;

use crate::problem::{Problem, excerpt};
use crate::table::RowLines;

/// The series read so far.
#[derive(Debug, Default)]
pub(super) struct ReadSeries {
    /// \[series\]\[time\]\[channel\].
    pub values: Vec<f32>,
    pub lengths: Vec<usize>,
    pub labels: Vec<Label>,
    pub lines: RowLines,
}

/// A value, or its problem; `position` counts from 0, and `channel` is named if there are several.
pub(super) fn value(text: &str, position: usize, channel: Option<usize>) -> Result<f32, Problem> {
    let text = text.trim();
    let place = || {
        let channel = channel.map(|channel| format!(" of channel {}", channel + 1)).unwrap_or_default();
        format!("value {}{channel}", position + 1)
    };
    if is_missing(text) {
        let problem = Problem::new(format!("{}: missing", place()));
        return Err(problem.help("interpolate it, or remove the series"));
    }
    let number = text.parse().ok().filter(|number: &f32| number.is_finite());
    number.ok_or_else(|| format!("{}: '{}' is not a finite single-precision number", place(), excerpt(text)).into())
}

pub(super) fn is_missing(text: &str) -> bool {
    text.is_empty() || text == "?" || text.eq_ignore_ascii_case("nan")
}

/// The label of a series.
pub(super) fn label(text: &str) -> Result<Label, Problem> {
    match text.trim() {
        "" => Err(label_missing()),
        text => Ok(Label::parse(text)),
    }
}

pub(super) fn label_missing() -> Problem {
    Problem::new("label missing").help("begin each line with a label and a tab, or pass --label none")
}
