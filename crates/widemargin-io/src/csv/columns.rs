//! Interpretation of the columns of a table: header and label.

use std::path::Path;
use std::sync::Arc;

use csv::ByteRecord;
use widemargin::data::{TableColumns, column_order};

use super::first_line::{self, FirstLine};
use super::header::{Header, LABEL_NAMES};
use super::number::Numbers;
use super::records::Records;
use crate::error::{IoError, Result};
use crate::options::{ColumnRule, LabelColumn, ReadOptions};
use crate::problem::{CsvProblem, shown};

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct Columns {
    pub header: Header,
    /// The label column.
    pub label: Option<usize>,
    /// The columns of several labels.
    pub several: Vec<usize>,
    /// Whether the caller specified the label column, or that there is none.
    pub is_label_given: bool,
    /// The columns of names, weights and groups.
    pub id: Option<usize>,
    pub weight: Option<usize>,
    pub group: Option<usize>,
    /// The columns of features, in the order of the file; of known columns in theirs.
    pub features: Vec<usize>,
}

impl Columns {
    /// Determines the columns from the first lines.
    pub fn tell(records: &Records, options: &ReadOptions) -> Result<Columns> {
        let (first, others) = records.first();
        let others: Vec<&ByteRecord> = others.collect();
        let names = if has_header(records, first, &others, options)? {
            let name = |cell: &[u8]| String::from_utf8(cell.trim_ascii().to_vec());
            let names = first.iter().map(name).collect::<Result<Vec<_>, _>>();
            Some(names.map_err(|_| records.first_problem(CsvProblem::NotText))?)
        } else {
            None
        };
        let header = Header { names, n: records.n };
        let other = |flag: &'static str, column: &Option<LabelColumn>| {
            column
                .as_ref()
                .map(|column| {
                    let found = match column {
                        LabelColumn::Number(number) => header.numbered(*number),
                        LabelColumn::Name(name) => header.named(name),
                        LabelColumn::Auto | LabelColumn::None | LabelColumn::Several(_) => {
                            Err("a name or a number is needed".into())
                        }
                    };
                    let refused = |reason: String| refused(records, flag, column, reason);
                    found.map_err(refused)
                })
                .transpose()
        };
        let (id, weight) = (other("--id", &options.id)?, other("--weight", &options.weight)?);
        let group = other("--group", &options.group)?;
        let several = several(&records.file, &header, &options.label)?;
        let taken = |column: &usize| [id, weight, group].contains(&Some(*column));
        let known = match &options.columns {
            ColumnRule::Known(columns) => Some(columns),
            _ => None,
        };
        let label = match options.label {
            LabelColumn::Auto => {
                let samples = others.iter().copied().chain(header.names.is_none().then_some(first));
                let free = |column: &usize| !taken(column) && !is_known(known, &header, *column);
                match known.filter(|known| header.n - (0..header.n).filter(taken).count() == known.0.len()) {
                    // All are features.
                    Some(_) => None,
                    None => guess_label(&header, samples, records.numbers, free),
                }
            }
            _ => header.label(&records.file, &options.label)?,
        };
        if let Some(column) = label.into_iter().chain(several.iter().copied()).find(taken) {
            let reason = "it is taken for the labels too".to_owned();
            let flags = [("--id", id, &options.id), ("--weight", weight, &options.weight)];
            let flag = flags.into_iter().find(|(_, at, _)| *at == Some(column));
            let (flag, _, given) = flag.unwrap_or(("--group", group, &options.group));
            return Err(refused(records, flag, given.as_ref().unwrap_or(&LabelColumn::None), reason));
        }
        let mut features: Vec<usize> = (0..header.n)
            .filter(|column| Some(*column) != label && !several.contains(column) && !taken(column))
            .collect();
        if features.is_empty() {
            return Err(match several.is_empty() {
                true => records.one_column(),
                false => {
                    IoError::Empty { file: records.file.clone(), what: "no feature columns: all columns are labels" }
                }
            });
        }
        if options.columns != ColumnRule::Numbers {
            header.check_names(&features).map_err(|problem| records.first_problem(problem))?;
        }
        if let Some(known) = known {
            features = in_order(known, &header, features)?;
        }
        let is_label_given = options.label != LabelColumn::Auto;
        Ok(Columns { header, label, several, is_label_given, id, weight, group, features })
    }

    /// The names of the columns of features.
    pub fn names(&self) -> Option<Vec<String>> {
        let names = self.header.names.as_ref()?;
        Some(self.features.iter().map(|&column| names[column].clone()).collect())
    }
}

/// The columns of several labels; none where one column has the labels, or no column.
fn several(file: &Path, header: &Header, asked: &LabelColumn) -> Result<Vec<usize>> {
    let LabelColumn::Several(columns) = asked else { return Ok(Vec::new()) };
    let mut found: Vec<usize> = Vec::with_capacity(columns.len());
    for column in columns {
        let at = header.label(file, column)?;
        match at.filter(|at| !found.contains(at)) {
            Some(at) => found.push(at),
            None => {
                return Err(column.refused(file, if at.is_some() { "it is named twice" } else { "it is no column" }));
            }
        }
    }
    Ok(found)
}

/// The error of a column of names, weights or groups.
fn refused(records: &Records, flag: &'static str, given: &LabelColumn, reason: String) -> IoError {
    IoError::OtherColumn { file: records.file.clone(), flag, given: given.to_string(), reason }
}

/// Whether a column has the name of one that is known.
fn is_known(known: Option<&Arc<TableColumns>>, header: &Header, column: usize) -> bool {
    let name = header.names.as_ref().map(|names| &names[column]);
    known.zip(name).is_some_and(|(known, name)| known.0.iter().any(|column| column.name == *name))
}

/// The columns of features in the order of training, by their names where both have some.
fn in_order(known: &TableColumns, header: &Header, features: Vec<usize>) -> Result<Vec<usize>> {
    if let (Some(names), Some(trained)) = (&header.names, known.names()) {
        let given: Vec<String> = features.iter().map(|&column| names[column].clone()).collect();
        let order = column_order(&trained, &given)?;
        return Ok(order.map_or(features.clone(), |order| order.iter().map(|&at| features[at]).collect()));
    }
    if features.len() != known.0.len() {
        let (found, trained) = (features.len(), known.0.len());
        return Err(widemargin::Error::FeatureCount { found, trained, hint: "" }.into());
    }
    Ok(features)
}

/// True for an empty cell and for words that denote missing values.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    ["", "na", "n/a", "nan", "null", "none", "?"].iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// The text of a cell; none where it is missing.
pub(crate) fn text_of(cell: &[u8]) -> Result<Option<&str>, CsvProblem> {
    if is_missing(cell) {
        return Ok(None);
    }
    std::str::from_utf8(cell).map(Some).map_err(|_| CsvProblem::NotText)
}

/// Whether the first line has the names of the columns.
fn has_header(records: &Records, first: &ByteRecord, others: &[&ByteRecord], options: &ReadOptions) -> Result<bool> {
    if let Some(has_header) = options.header {
        return Ok(has_header);
    }
    if has_asked_name(first, options) {
        return Ok(true);
    }
    match first_line::of(first, others, records.numbers) {
        FirstLine::Names => Ok(true),
        FirstLine::Sample => Ok(false),
        // A model knows the names that its tables have.
        FirstLine::Unclear if matches!(options.columns, ColumnRule::Known(_)) => Ok(false),
        FirstLine::Unclear => {
            let cells: Vec<String> = first.iter().take(4).map(|cell| format!("'{}'", shown(cell))).collect();
            let more = if first.len() > cells.len() { ", …" } else { "" };
            Err(records.first_problem(CsvProblem::UnclearHeader(cells.join(", ") + more)))
        }
    }
}

/// Whether a cell is the name of a column that was asked for, or of one that is known.
fn has_asked_name(first: &ByteRecord, options: &ReadOptions) -> bool {
    let has = |name: &str| !name.is_empty() && first.iter().any(|cell| cell.trim_ascii() == name.as_bytes());
    let asked = [Some(&options.label), options.id.as_ref(), options.weight.as_ref(), options.group.as_ref()];
    let is_known = match &options.columns {
        ColumnRule::Known(columns) => columns.0.iter().any(|column| has(&column.name)),
        ColumnRule::Numbers | ColumnRule::Learn => false,
    };
    let has_name = |column: &LabelColumn| matches!(column, LabelColumn::Name(name) if has(name));
    let is_asked = |column: &LabelColumn| match column {
        LabelColumn::Several(columns) => columns.iter().any(has_name),
        column => has_name(column),
    };
    is_known || asked.into_iter().flatten().any(is_asked)
}

/// The label column, among those that are free: by its name, or as the only one of text.
fn guess_label<'a>(
    header: &Header,
    samples: impl Iterator<Item = &'a ByteRecord>,
    numbers: Numbers,
    is_free: impl Fn(&usize) -> bool,
) -> Option<usize> {
    if let Some(named) = header.last_of(&LABEL_NAMES).filter(&is_free) {
        return Some(named);
    }
    // Of each column cells of text, less those of other kinds.
    let mut excess = vec![0_i64; header.n];
    for line in samples {
        for (excess, cell) in excess.iter_mut().zip(line.iter().map(<[u8]>::trim_ascii)) {
            if !is_missing(cell) {
                *excess += if is_word(cell, numbers) { 1 } else { -1 };
            }
        }
    }
    let mut texts = (0..header.n).filter(|&column| excess[column] > 0).filter(&is_free);
    match (texts.next(), texts.next()) {
        (Some(only), None) => Some(only),
        _ => (0..header.n).find(&is_free).filter(|_| header.names.is_none()),
    }
}

/// Whether a cell that is not missing is neither a number nor looks like one.
fn is_word(cell: &[u8], numbers: Numbers) -> bool {
    numbers.number(cell).is_none() && std::str::from_utf8(cell).is_ok_and(|text| numbers.lookalike(text).is_none())
}
