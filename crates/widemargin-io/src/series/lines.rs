//! Lines of text with line numbers.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use crate::error::{IoError, Result};
use crate::sample_problem::SeriesProblem;
use crate::text_input::TextInput;

/// An input, line by line.
#[derive(Debug)]
pub(super) struct Lines {
    pub file: PathBuf,
    input: BufReader<TextInput>,
    buffer: Vec<u8>,
    /// The number of the last line read, from 1.
    pub number: usize,
    /// Bytes read.
    pub bytes: u64,
}

impl Lines {
    pub fn new(input: TextInput) -> Lines {
        let file = input.file.clone();
        Lines { file, input: BufReader::with_capacity(1 << 16, input), buffer: Vec::new(), number: 0, bytes: 0 }
    }

    /// Advances to the next non-blank line, without trailing white space; false at the end.
    ///
    /// The line is then available as [`Lines::text`], so that errors can be created while it is borrowed.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            self.buffer.clear();
            let read = self.input.read_until(b'\n', &mut self.buffer).map_err(IoError::reading(&self.file))?;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            self.bytes += read as u64;
            if !self.buffer.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    /// The line.
    pub fn text(&self) -> Result<&str> {
        // Trimmed at the end only: a label may be empty, and then the line begins with a separator.
        let text = std::str::from_utf8(self.buffer.trim_ascii_end());
        text.map_err(|_| self.problem(SeriesProblem::NotText))
    }

    /// An error at the current line.
    pub fn problem(&self, problem: SeriesProblem) -> IoError {
        IoError::Series { file: self.file.clone(), line: self.number, problem }
    }
}
