//! Lines of series: their labels, channels and values.
//!
//! In lines of the UCR archive, the label ends at the first tab or, without a tab, at the first comma or white space;
//! values are separated by tabs, commas or white space. In the `.ts` format of sktime and aeon, channels are separated by
//! `:`, their values by `,`, and the label follows the last `:`. Of its header the lines `@classLabel` (or
//! `@targetLabel`), for whether there are labels, `@dimensions` and `@timeStamps` are used. In both, trailing time steps at
//! which every channel is missing (empty, `?` or NaN) mark the end of a series, as the archive pads shorter series; missing
//! values elsewhere are refused.

use widemargin::data::Label;

use crate::error::{Problem, excerpt};
use crate::table::RowLines;

/// What is known of the lines before they are read.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Whether each line has a label.
    pub has_label: bool,
    /// The number of channels, from the header or the first series.
    pub channels: Option<usize>,
}

impl Header {
    /// Adds a line of the header of a `.ts` file.
    pub fn add(&mut self, line: &str) -> Result<(), Problem> {
        if line.starts_with('#') {
            return Ok(());
        }
        let other = || {
            let text = format!("'{}' is not of a .ts header: expected a line that starts with @", excerpt(line));
            Problem::new(text).help("if this is another format, name it with --format")
        };
        let mut words = line.strip_prefix('@').ok_or_else(other)?.split_whitespace();
        let (key, first) = (words.next().unwrap_or("").to_ascii_lowercase(), words.next().unwrap_or(""));
        let is_true = first.eq_ignore_ascii_case("true");
        match key.as_str() {
            "timestamps" if is_true => {
                let problem = Problem::new("time stamps are not read");
                return Err(problem.help("resample to even times and leave the times out"));
            }
            "classlabel" | "targetlabel" => self.has_label |= is_true,
            "univariate" if is_true => self.channels = Some(1),
            "dimensions" | "dimension" => {
                self.channels = Some(first.parse().ok().filter(|channels| *channels > 0).ok_or_else(other)?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The label of a line, and the cells of each channel.
pub(super) type Split<'a> = (Option<&'a str>, Vec<Vec<&'a str>>);

/// Splits a line of a `.ts` file.
pub(super) fn split_ts(line: &str, has_label: bool) -> Result<Split<'_>, Problem> {
    let (values, label) = match has_label {
        true => line.rsplit_once(':').map(|(values, label)| (values, Some(label))).ok_or_else(label_missing)?,
        false => (line, None),
    };
    Ok((label, values.split(':').map(|text| text.split(',').map(str::trim).collect()).collect()))
}

/// Splits a line of the UCR archive, which has one channel.
pub(super) fn split_ucr(line: &str, has_label: bool) -> Result<Split<'_>, Problem> {
    let parts = || match line.contains('\t') {
        true => line.split_once('\t'),
        false => line.trim_start().split_once(|c: char| c == ',' || c.is_whitespace()),
    };
    let (label, values) = match has_label {
        true => parts().map(|(label, values)| (Some(label), values)).ok_or("no values")?,
        false => (None, line),
    };
    // A cell between two tabs or commas may be empty; white space next to a separator is part of it.
    let cells = values.trim().split([',', '\t']).flat_map(|cell| {
        let mut words = cell.split_whitespace().peekable();
        let empty = words.peek().is_none().then_some("");
        words.chain(empty)
    });
    Ok((label, vec![cells.collect()]))
}

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

fn label_missing() -> Problem {
    Problem::new("label missing").help("begin each line with a label and a tab, or pass --label none")
}
