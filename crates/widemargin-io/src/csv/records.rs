//! The lines of a file of separated cells, with their numbers.

use std::collections::VecDeque;
use std::io::{self, Chain, Read};
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder, Terminator};
use widemargin::data::Decimal;

use super::cell::trimmed;
use super::delimiter::{delimiter_of, in_every_line, is_comment, without_sign};
use super::first_line::{self, FirstLine, is_same};
use super::number::Numbers;
use super::quotes::{BadQuote, Checked};
use crate::error::{Failure, Problem};
use crate::options::ReadOptions;
use crate::text_input::TextInput;
use crate::tuning::TYPE_LINES;

/// The cells of a line.
#[derive(Debug, Default)]
struct Line {
    record: ByteRecord,
    /// From 1.
    number: usize,
    /// The bytes of the file up to its end.
    end: u64,
}

/// Lines, with the first ones read ahead.
pub(crate) struct Records {
    /// The file followed by a newline, so that every line ends with one.
    csv: csv::Reader<Chain<Checked<TextInput>, &'static [u8]>>,
    /// The first lines with their numbers; those that are not skipped are returned again.
    ahead: VecDeque<Line>,
    /// What separates the cells.
    delimiter: u8,
    /// A delimiter that the file may have instead, where its lines have one cell.
    other_delimiter: Option<u8>,
    /// How numbers are written.
    pub numbers: Numbers,
    /// The number of cells of the first line, and its number.
    pub n: usize,
    first_line: usize,
    /// The names of the columns, if the first line has been skipped as their header.
    header: Option<ByteRecord>,
    current: Line,
    /// Whether there was a blank line before another line.
    pub has_blank: bool,
    /// Whether lines are rows of a table, rather than of free text, which may contain the delimiter.
    is_table: bool,
}

impl Records {
    /// The lines of a table, at least one, whose cells may be in quotes if `quoting`. They are separated by `usual`
    /// unless the options or the text specify otherwise.
    pub fn open(path: &Path, usual: u8, quoting: bool, options: &ReadOptions) -> Result<Records, Failure> {
        let input = TextInput::open(path, options.max_line_bytes())?;
        let declared = declared_delimiter(input.start()).filter(|_| quoting);
        let found = || declared.unwrap_or_else(|| delimiter_of(input.start(), usual, quoting));
        let delimiter = options.delimiter.unwrap_or_else(found);
        let other_delimiter = in_every_line(input.start()).filter(|other| *other != delimiter);
        // This crate checks row lengths and headers itself, to report the line. The carriage return of a line end is
        // white space of the last cell, so that line counts remain correct.
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).quoting(quoting).buffer_capacity(1 << 18);
        builder.has_headers(false).flexible(true).terminator(Terminator::Any(b'\n'));
        let checked = Checked::new(input, delimiter, quoting);
        let csv = builder.from_reader(checked.chain(b"\n".as_slice()));
        let mut records = Records {
            csv,
            ahead: VecDeque::new(),
            delimiter,
            other_delimiter,
            numbers: Numbers::USUAL,
            n: 0,
            first_line: 0,
            header: None,
            current: Line::default(),
            has_blank: false,
            is_table: quoting,
        };
        if declared.is_some() {
            records.read()?;
        }
        records.read_ahead()?;
        let cells = || records.ahead.iter().flat_map(|ahead| ahead.record.iter()).map(trimmed);
        // Between commas there are no decimal commas, unless cells are in quotes.
        let may_be = |decimal: &Decimal| {
            *decimal == Decimal::Point || delimiter != b',' || cells().any(|cell| cell.contains(','))
        };
        let decimal = options.decimal.or(options.notation.decimal.filter(may_be));
        records.numbers = Numbers::of(decimal, cells(), delimiter);
        Ok(records)
    }

    /// The first line, and the others that have been read; after the header has been skipped those behind it.
    pub fn first(&self) -> (&ByteRecord, Vec<&ByteRecord>) {
        (&self.ahead[0].record, self.ahead.iter().skip(1).map(|ahead| &ahead.record).collect())
    }

    /// Whether the first line has names.
    pub fn has_names(&self) -> bool {
        let (first, others) = self.first();
        first_line::of(first, &others, self.numbers) == FirstLine::Names
    }

    /// The names in the first line.
    pub fn names(&self) -> Result<Vec<String>, Failure> {
        let name = |cell: &[u8]| String::from_utf8(cell.trim_ascii().to_vec());
        let names = self.first().0.iter().map(name).collect::<Result<Vec<_>, _>>();
        names.map_err(|_| self.first_problem(Problem::not_text()))
    }

    /// Skips the first line, which is a header.
    pub fn skip_header(&mut self) {
        self.header = self.ahead.pop_front().map(|ahead| ahead.record);
    }

    /// Skips the first line, which is a comment above the table.
    pub fn skip_comment(&mut self) {
        self.ahead.pop_front();
        self.first_line = self.ahead.front().map_or(self.first_line, |first| first.number);
    }

    /// Leaves the comment sign in front of the names in the first line out.
    pub fn uncomment(&mut self) {
        if let Some(first) = self.ahead.front_mut() {
            first.record = without_sign(&first.record);
        }
    }

    /// Bytes of the file read so far.
    pub fn bytes(&self) -> u64 {
        self.current.end
    }

    /// A cell of the current line.
    pub fn cell(&self, column: usize) -> &[u8] {
        self.current.record[column].trim_ascii()
    }

    /// A cell of the current line with its white space, but for a carriage return that ends the line.
    pub fn text(&self, column: usize) -> &[u8] {
        let cell = &self.current.record[column];
        cell.strip_suffix(b"\r").unwrap_or(cell)
    }

    /// Advances to the next line, which must have as many cells as the first, and not the same as the header.
    pub fn next_row(&mut self) -> Result<Option<usize>, Failure> {
        if !self.advance()? {
            return Ok(None);
        }
        let Line { record, number, .. } = &self.current;
        if record.len() != self.n {
            return Err(self.ragged());
        }
        if self.n > 1 && self.header.as_ref().is_some_and(|header| is_same(header, record)) {
            let problem = format!("repeats the names of the columns in line {}", self.first_line);
            let help = "remove the line: where tables are joined, only the first keeps its header";
            return Err(Problem::new(problem).help(help).at(format!("line {number}")));
        }
        Ok(Some(*number))
    }

    /// Advances to the next line; false at the end.
    fn advance(&mut self) -> Result<bool, Failure> {
        if let Some(line) = self.ahead.pop_front() {
            self.current = line;
            return Ok(true);
        }
        while self.read()? {
            let record = &mut self.current.record;
            if record.len() == self.n || !self.is_table || !is_comment(record) {
                fit(record, self.n, (!self.is_table).then_some(self.delimiter));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The failure of a number of cells that is not that of the first line.
    fn ragged(&self) -> Failure {
        let (found, expected) = (self.current.record.len(), self.n);
        let problem = Problem::new(format!("{found} cells, expected {expected} as in line {}", self.first_line));
        let help = match expected {
            1 => "if the first line is a title, remove it; name what separates cells with --delimiter".into(),
            _ => format!(
                "complete the line, put cells that contain {} in quotes, or name another separator with --delimiter",
                named(self.delimiter)
            ),
        };
        problem.help(help).at(format!("line {}", self.current.number))
    }

    /// A failure in the first line.
    pub fn first_problem(&self, problem: Problem) -> Failure {
        problem.at(format!("line {}", self.first_line))
    }

    /// The failure of a file of one column that needs more.
    pub fn one_column(&self) -> Failure {
        let help = match self.other_delimiter {
            Some(b'\t') => "if tabs separate the cells, pass --delimiter tab".to_owned(),
            Some(b' ') => "if blanks separate the cells, pass --delimiter space".to_owned(),
            Some(other) => format!("if {0} separates the cells, pass --delimiter {0}", named(other)),
            None => "name what separates the cells with --delimiter".to_owned(),
        };
        let text =
            format!("no feature columns: the lines have one cell where {} separates cells", named(self.delimiter));
        self.first_problem(Problem::new(text).help(help))
    }

    /// Reads the first lines, without comments before the table.
    fn read_ahead(&mut self) -> Result<(), Failure> {
        while self.ahead.len() < TYPE_LINES && self.read()? {
            self.ahead.push_back(std::mem::take(&mut self.current));
        }
        let table = self.ahead.iter().position(|ahead| !is_comment(&ahead.record));
        if let Some(table) = table.filter(|_| self.is_table) {
            // Only the line right above the table can have its names, as NumPy writes them.
            let (n, mut at) = (self.ahead[table].record.len(), 0);
            self.ahead.retain(|ahead| {
                at += 1;
                !is_comment(&ahead.record) || (ahead.record.len() == n && at >= table)
            });
        }
        let Some(first) = self.ahead.front() else {
            return Err(Problem::no_samples().into());
        };
        (self.n, self.first_line) = (first.record.len(), first.number);
        if self.is_table {
            self.drop_empty_ends();
            self.name_row_names();
        }
        let (n, delimiter) = (self.n, (!self.is_table).then_some(self.delimiter));
        self.ahead.iter_mut().for_each(|ahead| fit(&mut ahead.record, n, delimiter));
        Ok(())
    }

    /// Leaves out columns at the end that are empty in all of the first lines.
    fn drop_empty_ends(&mut self) {
        let is_empty_at = |at: usize| self.ahead.iter().all(|ahead| is_empty_at(&ahead.record, at));
        while self.n > 1 && self.ahead.len() > 1 && is_empty_at(self.n - 1) {
            self.n -= 1;
        }
    }

    /// Names the row names of R, whose header has a cell less than the other lines.
    fn name_row_names(&mut self) {
        let (n, [first, others @ ..]) = (self.n, self.ahead.make_contiguous()) else { return };
        let has_one_more = |ahead: &Line| ahead.record.len() == n + 1 && !is_empty_at(&ahead.record, n);
        let are_names = first.record.iter().all(|cell| Numbers::USUAL.number(trimmed(cell)).is_none());
        if others.len() > 1 && are_names && others.iter().all(has_one_more) {
            first.record = [&b""[..]].into_iter().chain(first.record.iter().take(n)).collect();
            self.n += 1;
        }
    }

    /// Advances to the next non-blank line; false at the end.
    fn read(&mut self) -> Result<bool, Failure> {
        let (csv, Line { record, number, end }) = (&mut self.csv, &mut self.current);
        let next = csv.position().line() as usize;
        // With flexible rows of bytes only reading can fail.
        while csv.read_byte_record(record).map_err(unreadable)? {
            // Without white space a single empty cell is one in quotes.
            let cells = record.as_slice();
            if record.len() > 1 || cells.is_empty() || !cells.trim_ascii().is_empty() {
                // A record's position is before the preceding blank lines, so lines are counted from its end.
                let within = memchr::memchr_iter(b'\n', record.as_slice()).count();
                let start = record.position().map_or(1, |position| position.line());
                *number = csv.position().line().saturating_sub(1 + within as u64).max(start) as usize;
                *end = csv.position().byte();
                self.has_blank |= *number > next;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The failure of a read: of the file, or of a quote in it.
fn unreadable(error: csv::Error) -> Failure {
    let error = io_error(error);
    match error.get_ref().and_then(|inner| inner.downcast_ref::<BadQuote>()) {
        Some(BadQuote { line }) => Problem::new("a quote begins a cell and is not closed")
            .help(
                "close the quote, or double it (\"\") if it is part of the text: otherwise the lines behind it would be \
                 read as one cell",
            )
            .at(format!("line {line}")),
        None => error.into(),
    }
}

/// The system's error behind one of the `csv` crate.
pub(super) fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// A delimiter in messages.
fn named(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tabs".into(),
        b' ' => "blanks".into(),
        other => format!("'{}'", char::from(other)),
    }
}

/// Whether a line has no content in a cell, or no such cell.
fn is_empty_at(line: &ByteRecord, at: usize) -> bool {
    line.get(at).is_none_or(|cell| cell.trim_ascii().is_empty())
}

/// Leaves out cells behind the `n`-th if they have no content. The `delimiter` is part of free text: what is behind it
/// then belongs to the `n`-th cell.
fn fit(line: &mut ByteRecord, n: usize, delimiter: Option<u8>) {
    if line.len() <= n {
        return;
    }
    if let Some(delimiter) = delimiter {
        let last = line.iter().skip(n - 1).collect::<Vec<_>>().join(&delimiter);
        *line = line.iter().take(n - 1).chain([&last[..]]).collect();
    } else if line.iter().skip(n).all(|cell| cell.trim_ascii().is_empty()) {
        line.truncate(n);
    }
}

/// The delimiter in a first line `sep=;`, as written for Excel.
fn declared_delimiter(start: &[u8]) -> Option<u8> {
    let end = memchr::memchr(b'\n', start)?;
    let line = start[..end].trim_ascii().to_ascii_lowercase();
    match line.strip_prefix(b"sep=")? {
        // A tab is white space, and trimmed.
        [] => Some(b'\t'),
        &[delimiter] => Some(delimiter),
        _ => None,
    }
}
