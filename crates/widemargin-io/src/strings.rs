//! Strings with labels, one of each a line.
//!
//! Columns are told by their names where there is a header: the string is in the last column called `text`, `string`,
//! `sequence`, `smiles`, `sentence`, `message`, `word` or `name`, otherwise in the last that is not the label's. The
//! label is in the column that [`LabelColumn`] says, or one called `label`, `class`, `target` or `y`, otherwise the
//! first that is not the string's; a file of one column has none. Without being told, a first line with one of these
//! names is a header.
//!
//! Between columns is a tab, nothing is quoted, and tabs beyond the first line's are of the last column: a string may
//! have them. In a file that ends in `.csv` it is a comma, and cells may be quoted.

use std::io::Read;
use std::path::PathBuf;

use csv::ByteRecord;
use widemargin::data::{AnySamples, Label, Labels};

use crate::blocks::SampleReader;
use crate::csv::{Bytes, LABEL_NAMES, label, next_line};
use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::{LabelColumn, ReadOptions};
use crate::problem::CsvProblem;
use crate::table::{RowLines, Samples, Table};

/// Names that a column of strings goes by.
const STRING_NAMES: [&str; 8] = ["text", "string", "sequence", "smiles", "sentence", "message", "word", "name"];

/// Reads successive lines.
#[derive(Debug)]
pub(crate) struct Reader {
    file: PathBuf,
    csv: csv::Reader<Bytes>,
    /// The first line, where it is a sample.
    ahead: Option<(ByteRecord, usize)>,
    record: ByteRecord,
    columns: Columns,
    quoted: bool,
    first_line: usize,
}

#[derive(Debug)]
struct Columns {
    label: Option<usize>,
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
        let mut first = ByteRecord::new();
        let Some(first_line) = next_line(&file, &mut csv, &mut first)? else {
            return Err(IoError::Empty { file, what: "no samples in the file" });
        };
        let named = |names: &[&str]| first.iter().any(|cell| is_one_of(cell, names));
        let header = options.header.unwrap_or_else(|| named(&LABEL_NAMES) || named(&STRING_NAMES));
        let columns = tell(&first, header, &options.label).map_err(|reason| IoError::LabelColumn {
            file: file.clone(),
            given: options.label.to_string(),
            reason,
        })?;
        let ahead = (!header).then_some((first, first_line));
        Ok(Reader { file, csv, ahead, record: ByteRecord::new(), columns, quoted, first_line })
    }

    fn problem(&self, line: usize, column: Option<usize>, problem: CsvProblem) -> IoError {
        let column = column.map(|column| (column + 1).to_string());
        IoError::Csv { file: self.file.clone(), line, column, problem }
    }

    fn next_record(&mut self) -> Result<Option<usize>> {
        if let Some((record, line)) = self.ahead.take() {
            self.record = record;
            return Ok(Some(line));
        }
        next_line(&self.file, &mut self.csv, &mut self.record)
    }

    /// The cell of a column; the last column of unquoted text goes on to the end of the line.
    fn cell(&self, column: usize, line: usize) -> Result<String> {
        let bytes = if !self.quoted && column + 1 == self.columns.n {
            let rest: Vec<&[u8]> = self.record.iter().skip(column).collect();
            rest.join(&b'\t')
        } else {
            self.record.get(column).unwrap_or_default().to_vec()
        };
        let text = String::from_utf8(bytes).map_err(|_| self.problem(line, Some(column), CsvProblem::NotText))?;
        // A line's end of two characters leaves one of them in the last cell.
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
            lines: Some(lines),
            ..Table::default()
        }))
    }
}

fn is_one_of(cell: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| cell.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
}

/// Which column is which, or why the label asked for is none of them.
fn tell(first: &ByteRecord, header: bool, wanted: &LabelColumn) -> Result<Columns, String> {
    let n = first.len();
    let named = |names: &[&str]| first.iter().rposition(|cell| header && is_one_of(cell, names));
    let mut label = match wanted {
        LabelColumn::None => None,
        LabelColumn::Auto => named(&LABEL_NAMES),
        LabelColumn::Number(number) => {
            Some(LabelColumn::position(*number, n).ok_or_else(|| format!("there are {n} columns"))?)
        }
        LabelColumn::Name(_) if !header => return Err("the file has no header".into()),
        LabelColumn::Name(name) => {
            let found = first.iter().rposition(|cell| cell.trim_ascii() == name.as_bytes());
            Some(found.ok_or("no column of the header has that name")?)
        }
    };
    let string = named(&STRING_NAMES).filter(|column| Some(*column) != label);
    let string = string.or_else(|| (0..n).rev().find(|column| Some(*column) != label));
    let Some(string) = string else { return Err("it is the only column, and the strings need one".into()) };
    if *wanted == LabelColumn::Auto && label.is_none() {
        label = (0..n).find(|column| *column != string);
    }
    Ok(Columns { label, string, n })
}
