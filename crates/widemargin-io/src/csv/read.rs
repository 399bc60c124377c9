//! Reads a CSV file in blocks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use widemargin::data::{AnySamples, DenseMatrix, Label, Labels, Notation, TableColumns};

use super::cell::{encode, feature, indicator, label, not_finite, unless_missing};
use super::columns::Columns;
use super::header::Header;
use super::records::Records;
use super::roles::Roles;
use super::statistics::{Statistics, fill, remarks_on};
use crate::error::{Failure, Problem, ProblemKind, excerpt, shown};
use crate::indicators::Indicators;
use crate::options::ReadOptions;
use crate::reader::{Layout, SampleReader};
use crate::table::{RowLines, Samples, Table};

/// Reads tables of successive lines.
pub(crate) struct Reader {
    records: Records,
    columns: Columns,
    /// How cells become features, if they are more than numbers.
    known: Option<Arc<TableColumns>>,
    /// The file, its usual delimiter and the options, if a model is trained on the table.
    training: Option<(PathBuf, u8, ReadOptions)>,
    /// Whether all rows were read together.
    has_ended: bool,
}

/// The rows read so far.
#[derive(Debug, Default)]
struct ReadRows {
    values: Vec<f64>,
    strings: Vec<String>,
    labels: Vec<Label>,
    ids: Vec<String>,
    weights: Vec<f64>,
    groups: Vec<Label>,
    /// Rows × labels of multilabel samples.
    indicators: Vec<f64>,
    /// One line per category.
    remarks: BTreeSet<String>,
    lines: RowLines,
}

/// Maximum number of remarks on a block.
const MAX_REMARKS: usize = 20;

impl Reader {
    pub fn new(path: &Path, delimiter: u8, options: &ReadOptions) -> Result<Reader, Failure> {
        let mut records = Records::open(path, delimiter, true, options)?;
        let columns = Columns::from_first_lines(&mut records, options)?;
        let known = options.trained.as_ref().and_then(|trained| trained.columns.clone());
        let training = options.learn.then(|| (path.to_owned(), delimiter, options.clone()));
        Ok(Reader { records, columns, known, training, has_ended: false })
    }

    /// Reads columns of strings or labels, without features.
    pub(super) fn without_features(records: Records, header: Header, roles: Roles) -> Reader {
        let columns = Columns { header, roles, is_label_known: true, features: Vec::new() };
        Reader { records, columns, known: None, training: None, has_ended: false }
    }

    fn table(&self, rows: ReadRows) -> Table {
        let Columns { header, roles, features, .. } = &self.columns;
        let Roles { label, indicators, id, weight, group, text, .. } = roles;
        let (labels, label_column) = (label.map(|_| Labels::new(rows.labels)), label.map(|label| header.called(label)));
        if text.is_some() {
            let samples = Samples::Other(AnySamples::Strings(rows.strings));
            // Of one column an empty string is a blank line.
            let remark = "blank lines are left out; an empty string is written as \"\" in a CSV file";
            let remarks = if header.n == 1 && self.records.has_blank { vec![remark.into()] } else { Vec::new() };
            return Table { samples, labels, label_column, remarks, lines: Some(rows.lines), ..Table::default() };
        }
        let known = self.known.as_deref();
        let n_cols = known.map_or(features.len(), TableColumns::n_features);
        let feature_names = known.map_or_else(|| self.columns.names(), TableColumns::feature_names);
        Table {
            samples: Samples::DenseF64(DenseMatrix { values: rows.values, n_rows: rows.lines.n_rows, n_cols }),
            labels,
            indicators: (!indicators.is_empty()).then(|| {
                // A label without a name is called by the number of its column.
                let name = |&at: &usize| header.name(at).map_or(Label::Integer(at as i64 + 1), Label::from);
                Indicators { names: indicators.iter().map(name).collect(), values: rows.indicators, are_listed: false }
            }),
            label_column,
            feature_names,
            roles: Some(self.columns.roles()),
            notation: self.notation(),
            columns: known.cloned(),
            ids: id.map(|_| rows.ids),
            weights: weight.map(|_| rows.weights),
            groups: group.map(|_| Labels::new(rows.groups)),
            remarks: rows.remarks.into_iter().collect(),
            lines: Some(rows.lines),
            ..Table::default()
        }
    }

    fn notation(&self) -> Notation {
        Notation { decimal: self.records.numbers.decimal, first_index: None }
    }

    /// About `bytes` of rows.
    fn next_rows(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure> {
        let mut rows = ReadRows::default();
        if let Samples::DenseF64(matrix) = spent.samples {
            rows.values = matrix.values;
            rows.values.clear();
        }
        let start = self.records.bytes();
        while self.records.bytes() - start < bytes as u64 && self.read_row(&mut rows)? {}
        Ok((rows.lines.n_rows > 0).then(|| self.table(rows)))
    }

    /// All rows.
    fn read_rows(&mut self) -> Result<Option<Table>, Failure> {
        let mut all = self.next_rows(usize::MAX, Table::default())?;
        match &mut all {
            Some(Table { samples: Samples::DenseF64(matrix), remarks, .. }) if self.training.is_some() => {
                remarks.extend(remarks_on(&self.columns, self.known.as_deref(), matrix));
            }
            None if self.columns.roles.text.is_none() => return Err(Problem::new("a header and no samples").into()),
            _ => {}
        }
        Ok(all)
    }

    fn place(&self, line: usize, column: usize) -> String {
        format!("line {line}, column {}", self.columns.header.called(column))
    }

    /// What is read of a cell in the current line.
    fn cell<T>(&self, line: usize, column: usize, read: impl FnOnce(&str) -> Result<T, Problem>) -> Result<T, Failure> {
        let text = std::str::from_utf8(self.records.cell(column)).map_err(|_| Problem::not_text());
        text.and_then(read).map_err(|problem| problem.at(self.place(line, column)))
    }

    fn read_row(&mut self, rows: &mut ReadRows) -> Result<bool, Failure> {
        let Some(line) = self.records.next_row()? else { return Ok(false) };
        let (columns, numbers) = (&self.columns, self.records.numbers);
        for (at, &column) in columns.features.iter().enumerate() {
            let Some(known) = &self.known else {
                let value = |cell: &str| feature(cell, numbers, column, || columns.cure_of_text(column));
                rows.values.push(self.cell(line, column, value)?);
                continue;
            };
            let called = || columns.header.called(column);
            let remark = self.cell(line, column, |cell| {
                encode(&known.0[at], unless_missing(cell), (numbers, column), called, &mut rows.values)
            })?;
            rows.remarks.extend(remark.filter(|_| rows.remarks.len() < MAX_REMARKS));
        }
        if let Some(column) = columns.roles.text {
            let text = String::from_utf8(self.records.text(column).to_vec());
            rows.strings.push(text.map_err(|_| Problem::not_text().at(self.place(line, column)))?);
        }
        if let Some(column) = columns.roles.label {
            rows.labels.push(self.cell(line, column, |cell| label(cell, numbers))?);
        }
        for &column in &columns.roles.indicators {
            rows.indicators.push(self.cell(line, column, |cell| indicator(cell, numbers))?);
        }
        if let Some(column) = columns.roles.id {
            rows.ids.push(self.cell(line, column, |cell| Ok(cell.to_owned()))?);
        }
        if let Some(column) = columns.roles.weight {
            rows.weights.push(self.cell(line, column, |cell| {
                let weight = numbers.number(cell).filter(|weight| weight.is_finite() && *weight >= 0.0);
                let expected = "is not a weight, which is a number of at least 0";
                weight.ok_or_else(|| format!("'{}' {expected}", excerpt(cell)).into())
            })?);
        }
        if let Some(column) = columns.roles.group {
            // As text: `1` and `01` are two groups.
            let group = |cell: &str| unless_missing(cell).map(str::to_owned).ok_or_else(Problem::missing);
            rows.groups.push(Label::Text(self.cell(line, column, group)?));
        }
        rows.lines.push((), line, 1);
        Ok(true)
    }
}

impl SampleReader for Reader {
    fn next(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure> {
        if self.has_ended {
            return Ok(None);
        }
        self.has_ended = bytes == usize::MAX;
        if !self.has_ended {
            return self.next_rows(bytes, spent);
        }
        let training = self.training.clone().filter(|(path, ..)| self.known.is_none() && path.is_file());
        let Some((path, delimiter, options)) = training else { return self.read_rows() };
        if options.categorical.is_empty() {
            match self.read_rows() {
                Err(Failure::Input(_, problem)) if problem.kind == ProblemKind::NotNumeric => {}
                read => return read,
            }
        }
        learn(&path, delimiter, &options).map(Some)
    }

    fn layout(&self) -> Layout {
        let Header { names, n } = &self.columns.header;
        let Roles { label, id, weight, group, dropped, .. } = &self.columns.roles;
        let others = [id, weight, group].into_iter().flatten().chain(dropped).copied().collect();
        Layout {
            n: Some(*n),
            label: *label,
            names: names.clone(),
            others,
            notation: self.notation(),
            ..Layout::default()
        }
    }
}

/// Reads a file of labels and nothing else: one column of classes, with or without a header, or a header with the names
/// of the labels and a column of indicators for each.
pub(crate) fn read_labels(path: &Path, delimiter: u8, options: &ReadOptions) -> Result<Table, Failure> {
    let mut records = Records::open(path, delimiter, true, options)?;
    let (n, numbers) = (records.n, records.numbers);
    let names = if n > 1 || records.has_names() { Some(records.names()?) } else { None };
    let is_value = |name: &String| indicator(name, numbers).is_ok();
    if let Some(column) = names.iter().flatten().position(is_value).filter(|_| n > 1) {
        let name = shown(records.first().0[column].trim_ascii());
        let text = format!("'{name}' in the first line is not a name: a header with the names of the labels is needed");
        return Err(Problem::new(text).at(format!("column {}", column + 1)));
    }
    if names.is_some() {
        records.skip_header();
    }
    let roles = match n {
        1 => Roles { label: Some(0), ..Roles::default() },
        _ => Roles { indicators: (0..n).collect(), ..Roles::default() },
    };
    let mut reader = Reader::without_features(records, Header { names, n }, roles);
    Ok(reader.next(usize::MAX, Table::default())?.unwrap_or_default())
}

/// Reads a file twice: the kinds of its columns, then its rows.
fn learn(path: &Path, delimiter: u8, options: &ReadOptions) -> Result<Table, Failure> {
    let mut first = Reader::new(path, delimiter, options)?;
    let features = first.columns.features.clone();
    let is_category = |column: &usize| first.columns.roles.categorical.contains(column);
    let new = |column: &usize| Statistics::new(*column, is_category(column));
    let mut statistics: Vec<Statistics> = features.iter().map(new).collect();
    let numbers = first.records.numbers;
    while let Some(line) = first.records.next_row()? {
        for (&column, statistics) in features.iter().zip(&mut statistics) {
            first.cell(line, column, |cell| {
                let text = unless_missing(cell);
                let number = text.and_then(|text| numbers.number(text));
                if number.is_some_and(|number| !number.is_finite()) && !statistics.is_category {
                    return Err(not_finite(cell));
                }
                statistics.add(text, line, numbers);
                Ok(())
            })?;
        }
    }
    let names = first.columns.names().unwrap_or_else(|| vec![String::new(); features.len()]);
    let (mut columns, mut remarks) = (Vec::with_capacity(features.len()), Vec::new());
    for ((statistics, name), &column) in statistics.into_iter().zip(names).zip(&features) {
        let called = first.columns.header.called(column);
        remarks.extend(statistics.remark(&called));
        let column = statistics.column(name, first.columns.is_label_known);
        columns.push(column.map_err(|(line, problem)| {
            let line = line.map(|line| format!("line {line}, ")).unwrap_or_default();
            problem.at(format!("{line}column {called}"))
        })?);
    }
    let mut second = Reader::new(path, delimiter, options)?;
    second.known = Some(Arc::new(TableColumns(columns.clone())));
    let mut table = second.next(usize::MAX, Table::default())?.ok_or_else(Problem::no_samples)?;
    if let Samples::DenseF64(matrix) = &mut table.samples {
        fill(&mut columns, &mut matrix.values, matrix.n_cols, table.weights.as_deref());
    }
    table.remarks.extend(remarks);
    table.columns = Some(TableColumns(columns));
    Ok(table)
}
