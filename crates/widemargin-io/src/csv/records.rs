//! The lines of a file of separated cells, with their numbers.

use std::io::{Chain, Read};
use std::path::PathBuf;

use csv::{ByteRecord, ReaderBuilder, Terminator};

use crate::error::{IoError, Result};
use crate::input::Input;
use crate::problem::CsvProblem;

/// Lines, the first two of which are known from the start.
#[derive(Debug)]
pub(crate) struct Records {
    pub file: PathBuf,
    /// The file followed by a newline, so that every line ends with one.
    csv: csv::Reader<Chain<Input, &'static [u8]>>,
    /// The first lines with their numbers; those that are not skipped are returned again.
    ahead: std::collections::VecDeque<(ByteRecord, usize)>,
    /// The number of cells of the first line, and its number.
    pub n: usize,
    first_line: usize,
    /// The cells of the current line.
    pub record: ByteRecord,
}

impl Records {
    /// Lines of cells separated and quoted as `builder` says, at least one.
    pub fn new(input: Input, builder: &mut ReaderBuilder) -> Result<Records> {
        // This crate checks row lengths and headers itself, to report the line. The carriage return of a line end is
        // white space of the last cell, so that line counts remain correct.
        let builder = builder.has_headers(false).flexible(true).terminator(Terminator::Any(b'\n'));
        let (file, csv) = (input.file.clone(), builder.from_reader(input.chain(b"\n".as_slice())));
        let (ahead, record) = (Default::default(), ByteRecord::new());
        let mut records = Records { file, csv, ahead, n: 0, first_line: 0, record };
        while records.ahead.len() < 2 {
            let Some(line) = records.read()? else { break };
            records.ahead.push_back((std::mem::take(&mut records.record), line));
        }
        let Some((first, line)) = records.ahead.front() else {
            return Err(IoError::Empty { file: records.file, what: "no samples in the file" });
        };
        (records.n, records.first_line) = (first.len(), *line);
        Ok(records)
    }

    /// The first line, and the second; after the header has been skipped the lines behind it.
    pub fn first(&self) -> (&ByteRecord, Option<&ByteRecord>) {
        (&self.ahead[0].0, self.ahead.get(1).map(|(record, _)| record))
    }

    /// Skips the first line, which is a header.
    pub fn skip_header(&mut self) {
        self.ahead.pop_front();
    }

    /// Bytes of the file read so far.
    pub fn bytes(&self) -> u64 {
        self.csv.position().byte()
    }

    /// Advances to the next line and returns its number; `None` at the end.
    pub fn next(&mut self) -> Result<Option<usize>> {
        match self.ahead.pop_front() {
            Some((record, line)) => {
                self.record = record;
                Ok(Some(line))
            }
            None => self.read(),
        }
    }

    /// An error in a line, or in a cell of it.
    pub fn problem(&self, line: usize, column: Option<String>, problem: CsvProblem) -> IoError {
        IoError::Csv { file: self.file.clone(), line, column, problem }
    }

    /// The error of a number of cells that is not that of the first line.
    pub fn ragged(&self, line: usize) -> IoError {
        let (found, expected) = (self.record.len(), self.n);
        self.problem(line, None, CsvProblem::Ragged { found, expected, as_in_line: self.first_line })
    }

    /// The error of a header that is not text.
    pub fn header_problem(&self) -> IoError {
        self.problem(self.first_line, None, CsvProblem::NotText)
    }

    /// Reads the next non-blank line, and returns its number.
    fn read(&mut self) -> Result<Option<usize>> {
        let (csv, record) = (&mut self.csv, &mut self.record);
        loop {
            // With flexible rows of bytes only I/O can fail.
            if !csv.read_byte_record(record).map_err(|error| IoError::reading(&self.file)(error.into()))? {
                return Ok(None);
            }
            if record.len() > 1 || !record.as_slice().trim_ascii().is_empty() {
                // A record's position is before the preceding blank lines, so lines are counted from its end.
                let within = memchr::memchr_iter(b'\n', record.as_slice()).count();
                let start = record.position().map_or(1, |position| position.line());
                return Ok(Some(csv.position().line().saturating_sub(1 + within as u64).max(start) as usize));
            }
        }
    }
}
