//! Time series, one on each line: the UCR archive's lines, and the `.ts` format.

mod lines;

use std::io::{BufRead, BufReader};
use std::path::Path;

use widemargin::data::{AnySamples, Labels, Series};

use lines::{Header, ReadSeries, split_ts, split_ucr};

use crate::Format;
use crate::error::{Failure, Problem};
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::table::{Samples, Table};
use crate::text_input::TextInput;

/// Reads consecutive lines.
pub(crate) struct Reader {
    input: BufReader<TextInput>,
    /// The number of the last line read, from 1.
    number: usize,
    /// Bytes read.
    bytes: u64,
    format: Format,
    /// Whether labels are requested.
    labeled: bool,
    header: Header,
}

impl Reader {
    pub fn new(path: &Path, format: Format, options: &ReadOptions) -> Result<Reader, Failure> {
        let reason = match format {
            Format::Ts => "in .ts files it is what comes last",
            _ => "in lines of the UCR archive it is what comes first",
        };
        let labeled = options.wants_labels(reason)?;
        let header = Header { has_label: labeled, channels: Some(1) };
        let input = BufReader::with_capacity(1 << 16, TextInput::open(path, options.max_line_bytes())?);
        let mut reader = Reader { input, number: 0, bytes: 0, format, labeled, header };
        if format == Format::Ts {
            reader.header = reader.read_header()?;
        }
        Ok(reader)
    }

    /// Reads the lines of a `.ts` file up to `@data`.
    fn read_header(&mut self) -> Result<Header, Failure> {
        let mut header = Header::default();
        while let Some(line) = self.next_line()? {
            let line = line.trim();
            if line.eq_ignore_ascii_case("@data") {
                return Ok(header);
            }
            header.add(line).map_err(|problem| self.located(problem))?;
        }
        Err(Problem::new("no line @data, after which series come").into())
    }

    /// The next line that is not blank, without white space at its end: a label at its start may be empty. `None` at the
    /// end.
    fn next_line(&mut self) -> Result<Option<String>, Failure> {
        loop {
            let mut line = Vec::new();
            let n_bytes = self.input.read_until(b'\n', &mut line)?;
            self.number += 1;
            self.bytes += n_bytes as u64;
            line.truncate(line.trim_ascii_end().len());
            if n_bytes == 0 || !line.is_empty() {
                let text = String::from_utf8(line).map_err(|_| self.located("not UTF-8 text".into()))?;
                return Ok(Some(text).filter(|text| !text.is_empty()));
            }
        }
    }

    /// A failure at the current line.
    fn located(&self, problem: Problem) -> Failure {
        problem.at(format!("line {}", self.number))
    }

    /// Adds the series of a line.
    fn add(&mut self, text: &str, series: &mut ReadSeries) -> Result<(), Problem> {
        let has_label = self.header.has_label;
        let is_ts = self.format == Format::Ts;
        let (label, channels) = if is_ts { split_ts(text, has_label) } else { split_ucr(text, has_label) }?;
        let n_channels = channels.len();
        if let Some(expected) = self.header.channels.filter(|expected| *expected != n_channels) {
            return Err(format!("{n_channels} channels, expected {expected}").into());
        }
        series.push(label, &channels)?;
        self.header.channels = Some(n_channels);
        series.lines.push((), self.number, 1);
        Ok(())
    }
}

impl SampleReader for Reader {
    fn next(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure> {
        drop(spent);
        let (mut series, start) = (ReadSeries::default(), self.bytes);
        while series.lengths.is_empty() || self.bytes - start < bytes as u64 {
            let Some(line) = self.next_line()? else { break };
            self.add(&line, &mut series).map_err(|problem| self.located(problem))?;
        }
        if series.lengths.is_empty() {
            return Ok(None);
        }
        let labels = (self.labeled && self.header.has_label).then(|| Labels::new(series.labels));
        // The lengths were counted while reading, so that this fails only because of a bug.
        let all = Series::new(series.values, &series.lengths, self.header.channels.unwrap_or(1))?;
        let samples = Samples::Other(AnySamples::Series(all));
        Ok(Some(Table { lines: Some(series.lines), ..Table::new(samples, labels) }))
    }
}
