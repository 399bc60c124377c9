//! Time series, one on each line: the UCR archive's lines, and the `.ts` format.

mod ts;
mod ucr;
mod values;

use std::io::{self, BufRead, BufReader};

use widemargin::data::{AnySamples, Labels, Series};

use values::ReadSeries;

use crate::Format;
use crate::error::{Failure, Problem};
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::table::{Samples, Table};
use crate::text_input::TextInput;

/// Reads consecutive lines.
pub(crate) struct Reader {
    input: BufReader<TextInput>,
    line: Vec<u8>,
    /// The number of the last line read, from 1.
    number: usize,
    /// Bytes read.
    bytes: u64,
    /// The header of the `.ts` format.
    header: Option<ts::Header>,
    /// Whether labels are requested.
    labeled: bool,
    /// From the header or the first series.
    channels: Option<usize>,
}

impl Reader {
    pub fn new(input: TextInput, format: Format, options: &ReadOptions) -> Result<Reader, Failure> {
        let reason = match format {
            Format::Ts => "in .ts files it is what comes last",
            _ => "in lines of the UCR archive it is what comes first",
        };
        let labeled = options.wants_labels(reason)?;
        let channels = (format != Format::Ts).then_some(1);
        let input = BufReader::with_capacity(1 << 16, input);
        let mut reader = Reader { input, line: Vec::new(), number: 0, bytes: 0, header: None, labeled, channels };
        if format == Format::Ts {
            reader.read_header()?;
        }
        Ok(reader)
    }

    /// Reads the lines of a `.ts` file up to `@data`.
    fn read_header(&mut self) -> Result<(), Failure> {
        let mut header = ts::Header::default();
        while self.advance()? {
            let line = self.text().map(str::trim).map_err(|problem| self.located(problem))?;
            if line.eq_ignore_ascii_case("@data") {
                self.channels = header.channels;
                self.header = Some(header);
                return Ok(());
            }
            header.add(line).map_err(|problem| self.located(problem))?;
        }
        Err(Problem::new("no line @data, after which series come").into())
    }

    /// Advances to the next line that is not blank, which is then [`Reader::text`]; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        loop {
            self.line.clear();
            let read = self.input.read_until(b'\n', &mut self.line)?;
            self.number += 1;
            self.bytes += read as u64;
            if read == 0 || !self.line.trim_ascii().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    /// The line without white space at its end: a label at its start may be empty.
    fn text(&self) -> Result<&str, Problem> {
        std::str::from_utf8(self.line.trim_ascii_end()).map_err(|_| "not UTF-8 text".into())
    }

    /// A failure at the current line.
    fn located(&self, problem: Problem) -> Failure {
        problem.at(format!("line {}", self.number))
    }

    fn read_line(&mut self, series: &mut ReadSeries) -> Result<(), Problem> {
        let text = self.text()?;
        let (label, channels) = match &self.header {
            None => ucr::split(text, self.labeled)?,
            Some(header) => ts::split(text, header.has_label)?,
        };
        let n_channels = channels.len();
        if let Some(expected) = self.channels.filter(|expected| *expected != n_channels) {
            return Err(format!("{n_channels} channels, expected {expected}").into());
        }
        series.push(label, &channels)?;
        self.channels = Some(n_channels);
        series.lines.push((), self.number, 1);
        Ok(())
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool, Failure> {
        let (mut series, start) = (ReadSeries::default(), self.bytes);
        while (series.lengths.is_empty() || self.bytes - start < bytes as u64) && self.advance()? {
            self.read_line(&mut series).map_err(|problem| self.located(problem))?;
        }
        if series.lengths.is_empty() {
            return Ok(false);
        }
        let labeled = self.labeled && self.header.as_ref().is_none_or(|header| header.has_label);
        let labels = labeled.then(|| Labels::new(series.labels));
        // The lengths were counted while reading, so that this fails only because of a bug.
        let all = Series::new(series.values, &series.lengths, self.channels.unwrap_or(1))?;
        let samples = Samples::Other(AnySamples::Series(all));
        *table = Table { samples, labels, lines: Some(series.lines), ..Table::default() };
        Ok(true)
    }
}
