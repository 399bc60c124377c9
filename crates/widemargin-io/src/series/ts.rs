//! The `.ts` format of sktime and aeon: a header of `@` lines, then one series per line.
//!
//! Channels are separated by `:`, their values by `,`, and the label follows the last `:`. The header lines used are
//! `@classLabel` (or `@targetLabel`), for whether there are labels, `@dimensions` and `@timeStamps`. Trailing
//! time steps at which every channel is missing (`?` or NaN) mark the end of a series; missing values elsewhere are
//! refused.

use widemargin::data::Label;

use super::lines::Lines;
use super::{ReadSeries, is_missing, value};
use crate::error::{IoError, Result};
use crate::options::ReadOptions;
use crate::problem::excerpt;
use crate::reader::SampleReader;
use crate::sample_problem::SeriesProblem;
use crate::table::Table;
use crate::text_input::TextInput;

/// Reads consecutive lines.
#[derive(Debug)]
pub(crate) struct Reader {
    lines: Lines,
    /// Whether each line ends with a label, and whether it is used.
    has_label: bool,
    wanted: bool,
    /// From the header or the first series.
    channels: Option<usize>,
}

impl Reader {
    pub fn new(input: TextInput, options: &ReadOptions) -> Result<Reader> {
        let wanted = options.wants_labels(&input.file, "in .ts files it is what comes last")?;
        let mut reader = Reader { lines: Lines::new(input), has_label: false, wanted, channels: None };
        loop {
            if !reader.lines.advance()? {
                return Err(IoError::Empty { file: reader.lines.file, what: "no line @data, after which series come" });
            }
            let line = reader.lines.text()?.trim().to_owned();
            if line.eq_ignore_ascii_case("@data") {
                return Ok(reader);
            }
            reader.header(&line).map_err(|problem| reader.lines.problem(problem))?;
        }
    }

    fn header(&mut self, line: &str) -> Result<(), SeriesProblem> {
        if line.starts_with('#') {
            return Ok(());
        }
        let Some(entry) = line.strip_prefix('@') else { return Err(SeriesProblem::Header(excerpt(line))) };
        let mut words = entry.split_whitespace();
        let (key, first) = (words.next().unwrap_or("").to_ascii_lowercase(), words.next().unwrap_or(""));
        let is_true = first.eq_ignore_ascii_case("true");
        match key.as_str() {
            "timestamps" if is_true => return Err(SeriesProblem::Unread("time stamps")),
            "classlabel" | "targetlabel" => self.has_label |= is_true,
            "univariate" if is_true => self.channels = Some(1),
            "dimensions" | "dimension" => {
                self.channels = first.parse().ok().filter(|channels| *channels > 0);
                if self.channels.is_none() {
                    return Err(SeriesProblem::Header(excerpt(line)));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn read_line(&self, series: &mut ReadSeries) -> Result<usize> {
        let problem = |problem| self.lines.problem(problem);
        let mut line = self.lines.text()?;
        if self.has_label {
            let (values, label) = line.rsplit_once(':').ok_or_else(|| problem(SeriesProblem::LabelMissing))?;
            if label.trim().is_empty() {
                return Err(problem(SeriesProblem::LabelMissing));
            }
            series.labels.push(Label::parse(label.trim()));
            line = values;
        }
        let channels = line.split(':').count();
        if let Some(expected) = self.channels.filter(|expected| *expected != channels) {
            return Err(problem(SeriesProblem::Channels { found: channels, expected }));
        }
        let length = line.split(':').next().map_or(0, |first| first.split(',').count());
        if line.trim().is_empty() {
            return Err(problem(SeriesProblem::NoValues));
        }
        // Lengths are checked before memory is allocated: the text has as many commas.
        for (channel, text) in line.split(':').enumerate() {
            let found = text.split(',').count();
            if found != length {
                let channel = channel + 1;
                return Err(problem(SeriesProblem::ChannelLength { channel, found, expected: length }));
            }
        }
        let end = |text: &str| text.split(',').rev().skip_while(|text| is_missing(text.trim())).count();
        let length = line.split(':').map(end).max().unwrap_or(0);
        if length == 0 {
            return Err(problem(SeriesProblem::NoValues));
        }
        let start = series.values.len();
        series.values.resize(start + length * channels, 0.0);
        let values = &mut series.values[start..];
        for (channel, text) in line.split(':').enumerate() {
            let named = (channels > 1).then_some(channel + 1);
            for (time, text) in text.split(',').take(length).enumerate() {
                values[time * channels + channel] = value(text, time, named).map_err(problem)?;
            }
        }
        series.lengths.push(length);
        series.lines.push(self.lines.number);
        Ok(channels)
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let mut series = ReadSeries::default();
        let start = self.lines.bytes;
        while (series.lengths.is_empty() || self.lines.bytes - start < bytes as u64) && self.lines.advance()? {
            self.channels = Some(self.read_line(&mut series)?);
        }
        series.finish(self.channels.unwrap_or(1), self.has_label && self.wanted, table)
    }
}
