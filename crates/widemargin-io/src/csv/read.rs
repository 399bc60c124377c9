//! Reads a CSV file in blocks.

use std::borrow::Cow;
use std::sync::Arc;

use widemargin::data::{ColumnKind, DenseMatrix, Encoded, Label, Labels, TableColumns};

use super::cell::{is_missing, text_of};
use super::columns::Columns;
use super::header::Header;
use super::number::{Lookalike, Numbers};
use super::records::Records;
use super::remarks::of_features;
use crate::error::{IoError, Result};
use crate::indicators::{Indicators, indicator};
use crate::options::{ColumnRule, Decimal, ReadOptions};
use crate::problem::{CsvProblem, excerpt, shown};
use crate::reader::SampleReader;
use crate::shards::Layout;
use crate::table::{RowLines, Samples, Table};
use crate::text_input::TextInput;

/// Reads tables of successive lines.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(super) records: Records,
    pub(super) columns: Columns,
    /// How cells become features, if they are more than numbers.
    pub(super) known: Option<Arc<TableColumns>>,
    /// Whether a model is trained on the table.
    is_training: bool,
}

/// The rows read so far.
#[derive(Debug, Default)]
struct ReadRows {
    values: Vec<f64>,
    labels: Vec<Label>,
    ids: Vec<String>,
    weights: Vec<f64>,
    groups: Vec<Label>,
    /// Rows × labels of multilabel samples.
    indicators: Vec<f64>,
    remarks: Vec<String>,
    lines: RowLines,
    n: usize,
}

/// Maximum number of remarks on a block.
const MAX_REMARKS: usize = 20;

impl Reader {
    pub fn new(input: TextInput, delimiter: u8, options: &ReadOptions) -> Result<Reader> {
        let mut records = Records::new(input, delimiter, options)?;
        let columns = Columns::from_first_lines(&records, options)?;
        if columns.header.names.is_some() {
            records.skip_header();
        }
        let known = match &options.columns {
            ColumnRule::Known(columns) => Some(columns.clone()),
            ColumnRule::Numbers | ColumnRule::Learn => None,
        };
        Ok(Reader { records, columns, known, is_training: options.columns == ColumnRule::Learn })
    }

    fn table(&self, rows: ReadRows) -> Table {
        let Columns { header, label, indicators, id, weight, group, features, .. } = &self.columns;
        let n_cols = self.known.as_ref().map_or(features.len(), |columns| columns.n_features());
        let feature_names = match &self.known {
            Some(columns) => columns.feature_names(),
            None => self.columns.names(),
        };
        Table {
            samples: Samples::DenseF64(DenseMatrix { values: rows.values, n_rows: rows.n, n_cols }),
            labels: label.map(|_| Labels::new(rows.labels)),
            indicators: (!indicators.is_empty()).then(|| {
                let name = |&column: &usize| header.name_or_number(column);
                Indicators { names: indicators.iter().map(name).collect(), values: rows.indicators, are_listed: false }
            }),
            label_column: label.map(|label| header.called(label)),
            feature_names,
            roles: Some(self.columns.roles()),
            columns: self.known.as_deref().cloned(),
            ids: id.map(|_| rows.ids),
            weights: weight.map(|_| rows.weights),
            groups: group.map(|_| Labels::new(rows.groups)),
            remarks: rows.remarks,
            lines: Some(rows.lines),
            ..Table::default()
        }
    }

    fn read_row(&mut self, rows: &mut ReadRows) -> Result<bool> {
        let Some(line) = self.records.next()? else { return Ok(false) };
        if self.records.record.len() != self.records.n {
            return Err(self.records.ragged(line));
        }
        let (columns, numbers) = (&self.columns, self.records.numbers);
        let problem = |column, p| self.records.problem(line, Some(columns.header.called(column)), p);
        let cell = |column: usize| self.records.record[column].trim_ascii();
        for (at, &column) in columns.features.iter().enumerate() {
            match &self.known {
                None => {
                    let value = feature(cell(column), numbers, column, columns.is_label_specified);
                    rows.values.push(value.map_err(|p| problem(column, p))?);
                }
                Some(known) => {
                    let text = text_of(cell(column)).map_err(|p| problem(column, p))?;
                    let is_number = matches!(known.0[at].kind, ColumnKind::Number { .. });
                    let plain = text.map(|text| if is_number { plain(text, numbers) } else { text.into() });
                    let encoded = known.0[at].encode(plain.as_deref(), &mut rows.values).map_err(|expected| {
                        let cell = shown(cell(column));
                        let found = text.filter(|_| is_number).and_then(|text| unreadable(text, numbers, column));
                        problem(column, found.unwrap_or(CsvProblem::OtherKind { cell, expected }))
                    })?;
                    if encoded == Encoded::UnknownCategory && rows.remarks.len() < MAX_REMARKS {
                        let (name, value) = (columns.header.called(column), shown(cell(column)));
                        rows.remarks.push(unknown_category(&name, &value));
                    }
                }
            }
        }
        // One line per category.
        rows.remarks.sort();
        rows.remarks.dedup();
        if let Some(column) = columns.label {
            rows.labels.push(label(cell(column)).map_err(|p| problem(column, p))?);
        }
        for &column in &columns.indicators {
            rows.indicators.push(indicator(cell(column), numbers).map_err(|p| problem(column, p))?);
        }
        if let Some(column) = columns.id {
            let id = std::str::from_utf8(cell(column)).map_err(|_| problem(column, CsvProblem::NotText))?;
            rows.ids.push(id.to_owned());
        }
        if let Some(column) = columns.weight {
            let weight = numbers.number(cell(column)).filter(|weight| weight.is_finite() && *weight >= 0.0);
            let refused = || problem(column, CsvProblem::Weight(shown(cell(column))));
            rows.weights.push(weight.ok_or_else(refused)?);
        }
        if let Some(column) = columns.group {
            // As text: `1` and `01` are two groups.
            let group = text_of(cell(column)).map_err(|p| problem(column, p))?;
            let group = group.ok_or_else(|| problem(column, CsvProblem::Missing))?;
            rows.groups.push(Label::Text(group.to_owned()));
        }
        rows.lines.push(line);
        rows.n += 1;
        Ok(true)
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let mut rows = ReadRows::default();
        if let Samples::DenseF64(matrix) = &mut table.samples {
            rows.values = std::mem::take(&mut matrix.values);
            rows.values.clear();
        }
        let start = self.records.bytes();
        while self.records.bytes() - start < bytes as u64 && self.read_row(&mut rows)? {}
        let any = rows.n > 0;
        *table = self.table(rows);
        Ok(any)
    }

    fn layout(&self) -> Layout {
        let Header { names, n } = &self.columns.header;
        let Columns { label, id, weight, group, dropped, .. } = &self.columns;
        let others = [id, weight, group].into_iter().flatten().chain(dropped).copied().collect();
        Layout { n: Some(*n), label: *label, has_separate_labels: false, names: names.clone(), others, sparse: false }
    }

    fn read_all(&mut self) -> Result<Option<Table>> {
        let mut rows = ReadRows::default();
        while self.read_row(&mut rows)? {}
        if rows.n == 0 {
            return Err(IoError::Empty { file: self.records.file.clone(), what: "a header and no samples" });
        }
        rows.values.shrink_to_fit();
        if self.is_training {
            rows.remarks.extend(of_features(&self.columns, self.known.as_deref(), &rows.values, rows.n));
        }
        Ok(Some(self.table(rows)))
    }
}

fn feature(cell: &[u8], numbers: Numbers, column: usize, is_label_specified: bool) -> Result<f64, CsvProblem> {
    match numbers.number(cell) {
        Some(value) if value.is_finite() => Ok(value),
        _ if is_missing(cell) => Err(CsvProblem::Missing),
        Some(_) => Err(CsvProblem::NotFinite(shown(cell))),
        None => {
            let text = std::str::from_utf8(cell).map_err(|_| CsvProblem::NotText)?;
            let not_a_number = CsvProblem::NotANumber { cell: shown(cell), column: column + 1, is_label_specified };
            Err(unreadable(text, numbers, column).unwrap_or(not_a_number))
        }
    }
}

/// The remark on a category that did not occur in training.
pub(super) fn unknown_category(column: &str, cell: &str) -> String {
    format!("column {column}: '{cell}' did not occur in training and is treated as no category")
}

/// A number as it is spelled without signs; other text as it is.
pub(super) fn plain(text: &str, numbers: Numbers) -> Cow<'_, str> {
    match numbers.number(text.as_bytes()) {
        Some(number) if text.parse() != Ok(number) => Cow::Owned(number.to_string()),
        _ => Cow::Borrowed(text),
    }
}

/// What is wrong with a cell that looks like a number, and is none of the file's.
pub(super) fn unreadable(text: &str, numbers: Numbers, column: usize) -> Option<CsvProblem> {
    let cell = excerpt(text);
    Some(match numbers.lookalike(text)? {
        Lookalike::Date => CsvProblem::NoMeasure { cell, kind: "date", column: column + 1 },
        Lookalike::Time => CsvProblem::NoMeasure { cell, kind: "time", column: column + 1 },
        Lookalike::OtherDecimal(Decimal::Comma) => CsvProblem::DecimalMark {
            cell,
            problem: &[
                "has a decimal comma, other numbers of the file a decimal point",
                "write all numbers in one way, or pass --decimal , if the file has commas and points separate thousands",
            ],
        },
        Lookalike::OtherDecimal(Decimal::Point) => CsvProblem::DecimalMark {
            cell,
            problem: &[
                "has a decimal point, other numbers of the file a decimal comma",
                "write all numbers in one way, or pass --decimal . if the file has points and commas separate thousands",
            ],
        },
        Lookalike::Ambiguous => CsvProblem::DecimalMark {
            cell,
            problem: &[
                "may have a comma that separates thousands, or a decimal comma",
                "pass --decimal . if commas separate thousands, --decimal , if they are decimal marks",
            ],
        },
    })
}

pub(crate) fn label(cell: &[u8]) -> Result<Label, CsvProblem> {
    match std::str::from_utf8(cell) {
        // A class may be called 'none'.
        Ok(text) if is_missing(cell) && !text.eq_ignore_ascii_case("none") => {
            Err(CsvProblem::MissingLabel(shown(cell)))
        }
        Ok(text) => Ok(Label::parse(text)),
        Err(_) => Err(CsvProblem::NotText),
    }
}
