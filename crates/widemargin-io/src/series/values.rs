//! Series being read, and their values and labels.

use widemargin::data::Label;

use crate::error::{Problem, excerpt};
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

impl ReadSeries {
    /// Adds a series with its label: the cells of each channel, up to the last time step at which one has a value.
    pub fn push(&mut self, label: Option<&str>, channels: &[Vec<&str>]) -> Result<(), Problem> {
        match label.map(str::trim) {
            Some("") => return Err(label_missing()),
            label => self.labels.extend(label.map(Label::parse)),
        }
        let expected = channels.first().map_or(0, Vec::len);
        if let Some((channel, cells)) = channels.iter().enumerate().find(|(_, cells)| cells.len() != expected) {
            let text = format!("channel {} has {} values, channel 1 has {expected}", channel + 1, cells.len());
            return Err(Problem::new(text).help("the channels of a series are sampled together: cut or resample"));
        }
        let has_value = |time: &usize| channels.iter().any(|cells| !is_missing(cells[*time]));
        let length = (0..expected).rfind(has_value).map_or(0, |last| last + 1);
        if length == 0 {
            return Err("no values".into());
        }
        for time in 0..length {
            for (channel, cells) in channels.iter().enumerate() {
                self.values.push(value(cells[time], time, (channels.len() > 1).then_some(channel))?);
            }
        }
        self.lengths.push(length);
        Ok(())
    }
}

/// A value, or its problem; `position` counts from 0, and `channel` is named if there are several.
fn value(text: &str, position: usize, channel: Option<usize>) -> Result<f32, Problem> {
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

fn is_missing(text: &str) -> bool {
    text.is_empty() || text == "?" || text.eq_ignore_ascii_case("nan")
}

pub(super) fn label_missing() -> Problem {
    Problem::new("label missing").help("begin each line with a label and a tab, or pass --label none")
}
