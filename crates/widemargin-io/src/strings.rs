//! Labelled strings, one per line.
//!
//! If there is a header, columns are identified by name: [`TextColumn`] selects the strings, and [`LabelColumn`] the
//! labels. If several columns qualify, the caller must choose. A file of one column has no labels. By default, the
//! first line is a header if it contains a name of a label or string column, or a name given by the caller.
//!
//! Columns are separated by tabs, without quoting; tabs beyond those of the first line belong to the last column, so
//! that strings may contain them. In a file named `.csv` the separator is a comma, and cells may be quoted.

use std::io::Read;
use std::path::PathBuf;

use csv::ByteRecord;
use widemargin::data::{AnySamples, Label, Labels};

use crate::csv::{Bytes, LABEL_NAMES, label, next_line, number};
use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::{LabelColumn, ReadOptions, TextColumn};
use crate::problem::{CsvProblem, excerpt};
use crate::sample_reader::SampleReader;
use crate::table::{RowLines, Samples, Table};

/// Names of a string column.
const STRING_NAMES: [&str; 6] = ["text", "string", "sequence", "smiles", "sentence", "message"];

/// Names of a string column that are used only if no other qualifies, since they may be names of the samples.
const WEAK_NAMES: [&str; 2] = ["word", "name"];

/// Reads consecutive lines.
#[derive(Debug)]
pub(crate) struct Reader {
    file: PathBuf,
    csv: csv::Reader<Bytes>,
    /// The first lines, which were read to determine the columns and are returned again as samples.
    ahead: std::vec::IntoIter<(ByteRecord, usize)>,
    record: ByteRecord,
    columns: Columns,
    quoted: bool,
    first_line: usize,
}

#[derive(Debug)]
struct Columns {
    label: Option<usize>,
    /// The name of the label column in messages.
    label_called: Option<String>,
    string: usize,
    n: usize,
}

impl Reader {
    pub fn new(input: Input, options: &ReadOptions) -> Result<Reader> {
        let file = input.file.clone();
        let name = file.to_string_lossy().to_ascii_lowercase();
        let quoted = name.trim_end_matches(".gz").ends_with(".csv");
        let mut csv = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .quoting(quoted)
            .delimiter(if quoted { b',' } else { b'\t' })
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_reader(input.chain(b"\n".as_slice()));
        let mut ahead = Vec::new();
        while ahead.len() < 2 {
            let mut record = ByteRecord::new();
            match next_line(&file, &mut csv, &mut record)? {
                Some(line) => ahead.push((record, line)),
                None => break,
            }
        }
        let Some((first, first_line)) = ahead.first() else {
            return Err(IoError::Empty { file, what: "no samples in the file" });
        };
        let first_line = *first_line;
        let named = |names: &[&str]| first.iter().any(|cell| is_one_of(cell, names));
        let given = |name: &str| first.iter().any(|cell| cell.trim_ascii() == name.as_bytes());
        let has_given_name = matches!(&options.label, LabelColumn::Name(name) if given(name))
            || matches!(&options.text, TextColumn::Name(name) if given(name));
        let header = options
            .header
            .unwrap_or_else(|| has_given_name || named(&LABEL_NAMES) || named(&STRING_NAMES) || named(&WEAK_NAMES));
        let sample = if header { ahead.get(1) } else { ahead.first() };
        let guess = Guess { file: &file, first, header, sample: sample.map(|(record, _)| record) };
        let columns = guess.columns(options)?;
        if header {
            ahead.remove(0);
        }
        let (ahead, record) = (ahead.into_iter(), ByteRecord::new());
        Ok(Reader { file, csv, ahead, record, columns, quoted, first_line })
    }

    fn problem(&self, line: usize, column: Option<usize>, problem: CsvProblem) -> IoError {
        let column = column.map(|column| (column + 1).to_string());
        IoError::Csv { file: self.file.clone(), line, column, problem }
    }

    fn next_record(&mut self) -> Result<Option<usize>> {
        if let Some((record, line)) = self.ahead.next() {
            self.record = record;
            return Ok(Some(line));
        }
        next_line(&self.file, &mut self.csv, &mut self.record)
    }

    /// The cell of a column; the last column of unquoted text extends to the end of the line.
    fn cell(&self, column: usize, line: usize) -> Result<String> {
        let bytes = if !self.quoted && column + 1 == self.columns.n {
            let rest: Vec<&[u8]> = self.record.iter().skip(column).collect();
            rest.join(&b'\t')
        } else {
            self.record.get(column).unwrap_or_default().to_vec()
        };
        let text = String::from_utf8(bytes).map_err(|_| self.problem(line, Some(column), CsvProblem::NotText))?;
        // A CRLF line end leaves a carriage return in the last cell.
        Ok(text.strip_suffix('\r').map(str::to_owned).unwrap_or(text))
    }
}

impl SampleReader for Reader {
    fn next(&mut self, bytes: usize) -> Result<Option<Table>> {
        let (mut strings, mut labels, mut lines) = (Vec::new(), Vec::<Label>::new(), RowLines::default());
        let start = self.csv.position().byte();
        while strings.is_empty() || self.csv.position().byte() - start < bytes as u64 {
            let Some(line) = self.next_record()? else { break };
            let (found, expected) = (self.record.len(), self.columns.n);
            if found < expected || (self.quoted && found > expected) {
                let problem = CsvProblem::Ragged { found, expected, as_in_line: self.first_line };
                return Err(self.problem(line, None, problem));
            }
            if let Some(column) = self.columns.label {
                let text = self.cell(column, line)?;
                labels.push(label(text.trim().as_bytes()).map_err(|p| self.problem(line, Some(column), p))?);
            }
            strings.push(self.cell(self.columns.string, line)?);
            lines.push(line);
        }
        if strings.is_empty() {
            return Ok(None);
        }
        let labels = self.columns.label.map(|_| Labels::new(labels));
        Ok(Some(Table {
            samples: Samples::Other(AnySamples::Strings(strings)),
            labels,
            label_column: self.columns.label_called.clone(),
            lines: Some(lines),
            ..Table::default()
        }))
    }
}

fn is_one_of(cell: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| cell.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
}

/// The basis for determining the columns.
struct Guess<'a> {
    file: &'a std::path::Path,
    first: &'a ByteRecord,
    /// Whether the first line is a header.
    header: bool,
    /// The first line of samples.
    sample: Option<&'a ByteRecord>,
}

impl Guess<'_> {
    /// Determines the columns.
    fn columns(&self, options: &ReadOptions) -> Result<Columns> {
        let n = self.first.len();
        let asked = self.label(&options.label)?;
        let label = asked.or_else(|| self.last_named(&LABEL_NAMES).filter(|_| options.label == LabelColumn::Auto));
        let string = match self.text(&options.text)? {
            Some(string) if asked == Some(string) => {
                return Err(self.no_text(&options.text, "it is the column of the labels".into()));
            }
            Some(string) => string,
            None => self.guess_text(label, options)?,
        };
        // A column with the name of a label may be requested as the string column.
        let label = label.filter(|label| *label != string);
        let label = if options.label == LabelColumn::Auto && label.is_none() {
            let others: Vec<usize> = (0..n).filter(|column| *column != string).collect();
            match others[..] {
                [] => None,
                [other] => Some(other),
                _ => return Err(self.ask("labels", &others)),
            }
        } else {
            label
        };
        Ok(Columns { label, label_called: label.map(|label| self.called(label)), string, n })
    }

    /// The label column, if the caller specified it.
    fn label(&self, wanted: &LabelColumn) -> Result<Option<usize>> {
        let refused = |reason: String| {
            let (file, given) = (self.file.to_owned(), wanted.to_string());
            IoError::LabelColumn { file, given, reason }
        };
        match wanted {
            LabelColumn::None | LabelColumn::Auto => Ok(None),
            LabelColumn::Number(number) => self.numbered(*number).map(Some).map_err(refused),
            LabelColumn::Name(name) => self.with_name(name).map(Some).map_err(refused),
        }
    }

    /// The string column, if the caller specified it.
    fn text(&self, wanted: &TextColumn) -> Result<Option<usize>> {
        match wanted {
            TextColumn::Auto => Ok(None),
            TextColumn::Number(number) => self.numbered(*number).map(Some).map_err(|why| self.no_text(wanted, why)),
            TextColumn::Name(name) => self.with_name(name).map(Some).map_err(|why| self.no_text(wanted, why)),
        }
    }

    /// The only column that can contain the strings.
    fn guess_text(&self, label: Option<usize>, options: &ReadOptions) -> Result<usize> {
        let mut candidates: Vec<usize> = (0..self.first.len()).filter(|column| Some(*column) != label).collect();
        let is_label =
            |column: &usize| self.header && self.first.get(*column).is_some_and(|c| is_one_of(c, &LABEL_NAMES));
        if candidates.iter().any(|column| !is_label(column)) {
            candidates.retain(|column| !is_label(column));
        }
        for names in [&STRING_NAMES[..], &WEAK_NAMES] {
            let has_name = |column: &usize| self.first.get(*column).is_some_and(|cell| is_one_of(cell, names));
            let named: Vec<usize> =
                candidates.iter().copied().filter(|column| self.header && has_name(column)).collect();
            match named[..] {
                [] => {}
                [only] => return Ok(only),
                _ => return Err(self.ask("strings", &named)),
            }
        }
        let is_number = |column: &usize| self.sample.and_then(|row| number(row.get(*column)?.trim_ascii())).is_some();
        let texts: Vec<usize> = candidates.iter().copied().filter(|column| !is_number(column)).collect();
        match (&candidates[..], &texts[..]) {
            ([], _) => {
                let (file, given) = (self.file.to_owned(), options.label.to_string());
                let reason = "it is the only column, and the strings need one".into();
                Err(IoError::LabelColumn { file, given, reason })
            }
            ([only], _) => Ok(*only),
            // The traditional layout: a label and a string.
            ([.., last], _) if !self.header && self.first.len() == 2 => Ok(*last),
            (_, [only]) => Ok(*only),
            (_, []) => Err(self.ask("strings", &candidates)),
            _ => Err(self.ask("strings", &texts)),
        }
    }

    fn numbered(&self, number: i64) -> Result<usize, String> {
        let n = self.first.len();
        LabelColumn::position(number, n).ok_or_else(|| format!("there are {n} columns"))
    }

    fn with_name(&self, name: &str) -> Result<usize, String> {
        if !self.header {
            return Err("the file has no header".into());
        }
        let found = self.first.iter().rposition(|cell| cell.trim_ascii() == name.as_bytes());
        found.ok_or_else(|| "no column of the header has that name".into())
    }

    fn last_named(&self, names: &[&str]) -> Option<usize> {
        self.first.iter().rposition(|cell| self.header && is_one_of(cell, names))
    }

    /// The name of a column in messages: its name in quotes, or its number from 1.
    fn called(&self, column: usize) -> String {
        let name = self.first.get(column).map(|cell| String::from_utf8_lossy(cell.trim_ascii())).unwrap_or_default();
        if self.header && !name.is_empty() { format!("'{}'", excerpt(&name)) } else { (column + 1).to_string() }
    }

    fn no_text(&self, given: &TextColumn, reason: String) -> IoError {
        IoError::TextColumn { file: self.file.to_owned(), given: given.to_string(), reason }
    }

    fn ask(&self, what: &'static str, candidates: &[usize]) -> IoError {
        let candidates = candidates.iter().map(|column| self.called(*column)).collect();
        IoError::WhichColumn { file: self.file.to_owned(), what, candidates }
    }
}
