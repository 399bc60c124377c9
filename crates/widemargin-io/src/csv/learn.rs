//! Learns the kinds of the columns of a file from all its rows, then reads the rows.
//!
//! Missing values of a numeric column become its median. A column of words is Boolean if all words are true or false,
//! otherwise categorical, with categories in the order of their first appearance; among mostly numbers a word is an error.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use widemargin::data::{ColumnKind, TableColumn, TableColumns, as_boolean};

use super::cell::text_of;
use super::number::Numbers;
use super::read::{Reader, unreadable};
use crate::error::{IoError, Result};
use crate::options::ReadOptions;
use crate::problem::{CsvProblem, shown};
use crate::reader::SampleReader;
use crate::table::{Samples, Table};
use crate::text_input::open_text;

/// Maximum number of categories of a column.
pub(super) const MAX_CATEGORIES: usize = 1000;

/// A column of text that differs in each row names the samples if there are at least this many rows.
const MIN_NAMED_ROWS: usize = 10;

/// There is a warning for a table of at least this many rows and a column with more categories than this share of them.
const MIN_WARNING_ROWS: usize = 20;
const MAX_CATEGORY_SHARE: f64 = 0.25;

/// Statistics of the cells of a column.
#[derive(Default)]
pub(super) struct Statistics {
    n_numbers: usize,
    n_words: usize,
    pub(super) n_missing: usize,
    all_boolean: bool,
    /// The first word: its line and itself.
    first_word: Option<(usize, String)>,
    /// Words that look like numbers, and the first of them.
    n_lookalikes: usize,
    first_lookalike: Option<(usize, CsvProblem)>,
    /// Texts in the order of their first appearance, until there are too many.
    values: Vec<String>,
    known: HashSet<String>,
}

impl Statistics {
    pub(super) fn new() -> Self {
        Statistics { all_boolean: true, ..Statistics::default() }
    }

    pub(super) fn add(&mut self, cell: Option<&str>, line: usize, numbers: Numbers, column: usize) {
        let Some(text) = cell else {
            self.n_missing += 1;
            return;
        };
        if numbers.number(text.as_bytes()).is_some() {
            self.n_numbers += 1;
        } else {
            self.n_words += 1;
            self.first_word.get_or_insert_with(|| (line, shown(text.as_bytes())));
            if let Some(problem) = unreadable(text, numbers, column) {
                self.n_lookalikes += 1;
                self.first_lookalike.get_or_insert((line, problem));
            }
        }
        self.all_boolean &= as_boolean(text).is_some();
        self.add_value(text);
    }

    /// A number; NaN is a missing one.
    pub(super) fn add_number(&mut self, number: f64) {
        self.n_missing += usize::from(number.is_nan());
        self.n_numbers += usize::from(!number.is_nan());
    }

    /// A cell that is a category, whatever it looks like.
    pub(super) fn add_category(&mut self, cell: Option<&str>) {
        self.n_missing += usize::from(cell.is_none());
        self.n_words += usize::from(cell.is_some());
        if let Some(text) = cell {
            self.add_value(text);
        }
    }

    fn add_value(&mut self, text: &str) {
        if self.values.len() <= MAX_CATEGORIES && !self.known.contains(text) {
            self.known.insert(text.to_owned());
            self.values.push(text.to_owned());
        }
    }

    /// A warning of many rare categories.
    fn remark(&self, called: &str, column: usize) -> Option<String> {
        let (n, categories) = (self.n_numbers + self.n_words, self.values.len());
        let is_category = self.n_words >= self.n_numbers && self.n_words > 0 && !self.all_boolean;
        let are_many = n >= MIN_WARNING_ROWS && categories as f64 > MAX_CATEGORY_SHARE * n as f64;
        (is_category && are_many).then(|| {
            format!(
                "column {called} has {categories} categories in {n} rows, and each category is a feature: if it names the \
                 samples, pass --id {}; if it is not a feature, --drop {}",
                column + 1,
                column + 1
            )
        })
    }

    /// The kind of the column, without its median.
    pub(super) fn kind(
        self,
        column: usize,
        is_label_specified: bool,
    ) -> Result<ColumnKind, (Option<usize>, CsvProblem)> {
        let n = self.n_numbers + self.n_words;
        match (self.n_numbers, self.n_words) {
            (0, 0) => Err((None, CsvProblem::NoValue)),
            (_, 0) => Ok(ColumnKind::Number { median: 0.0 }),
            (numbers, words) if 2 * self.n_lookalikes >= words || (numbers > words && self.n_lookalikes > 0) => {
                let (line, problem) = self.first_lookalike.unwrap_or((0, CsvProblem::NoValue));
                Err((Some(line), problem))
            }
            (0, _) if self.all_boolean => Ok(ColumnKind::Boolean { median: 0.0 }),
            (numbers, words) if numbers > words => {
                let (line, cell) = self.first_word.unwrap_or_default();
                Err((
                    Some(line),
                    CsvProblem::WordAmongNumbers { cell: cell.into(), column: column + 1, numbers, is_label_specified },
                ))
            }
            _ if n >= MIN_NAMED_ROWS && self.values.len() == n => self.categories(column, 0),
            _ => self.categories(column, MAX_CATEGORIES),
        }
    }

    /// The categories of a column, at most this number.
    pub(super) fn categories(self, column: usize, at_most: usize) -> Result<ColumnKind, (Option<usize>, CsvProblem)> {
        let (n, n_rows) = (self.values.len(), self.n_words + self.n_numbers + self.n_missing);
        match n {
            0 => Err((None, CsvProblem::NoValue)),
            _ if n > at_most => Err((None, CsvProblem::TooManyCategories { n, n_rows, column: column + 1 })),
            _ => Ok(ColumnKind::Category { values: self.values }),
        }
    }
}

/// Whether a file with this problem may have columns that are not numeric.
pub(crate) fn is_worth_learning(error: &IoError) -> bool {
    matches!(
        error,
        IoError::Csv {
            problem: CsvProblem::Missing
                | CsvProblem::NotANumber { .. }
                | CsvProblem::NoMeasure { .. }
                | CsvProblem::DecimalMark { .. },
            ..
        }
    )
}

/// Reads a file twice: the kinds of its columns, then its rows.
pub(crate) fn learn(path: &Path, delimiter: u8, options: &ReadOptions) -> Result<Table> {
    let mut reader = Reader::new(open_text(path)?, delimiter, options)?;
    let features = reader.columns.features.clone();
    let mut statistics: Vec<Statistics> = features.iter().map(|_| Statistics::new()).collect();
    let numbers = reader.records.numbers;
    while let Some(line) = reader.records.next()? {
        if reader.records.record.len() != reader.records.n {
            return Err(reader.records.ragged(line));
        }
        for (&column, statistics) in features.iter().zip(&mut statistics) {
            let name = || Some(reader.columns.header.called(column));
            let cell = reader.records.record[column].trim_ascii();
            let text = text_of(cell).map_err(|problem| reader.records.problem(line, name(), problem))?;
            if reader.columns.categorical.contains(&column) {
                statistics.add_category(text);
                continue;
            }
            if text.and_then(|text| numbers.number(text.as_bytes())).is_some_and(|number| !number.is_finite()) {
                return Err(reader.records.problem(line, name(), CsvProblem::NotFinite(shown(cell))));
            }
            statistics.add(text, line, numbers, column);
        }
    }
    let names = reader.columns.names().unwrap_or_else(|| vec![String::new(); features.len()]);
    let (mut columns, mut remarks) = (Vec::with_capacity(features.len()), Vec::new());
    for ((statistics, name), &column) in statistics.into_iter().zip(names).zip(&features) {
        let has_missing = statistics.n_missing > 0;
        remarks.extend(statistics.remark(&reader.columns.header.called(column), column));
        let kind = match reader.columns.categorical.contains(&column) {
            true => statistics.categories(column, MAX_CATEGORIES),
            false => statistics.kind(column, reader.columns.is_label_specified),
        };
        let kind = kind.map_err(|(line, problem)| {
            let called = reader.columns.header.called(column);
            match line {
                Some(line) => reader.records.problem(line, Some(called), problem),
                None => IoError::Column { file: reader.records.file.clone(), column: called, problem },
            }
        })?;
        columns.push(TableColumn { name, kind, has_missing });
    }
    let mut reader = Reader::new(open_text(path)?, delimiter, options)?;
    reader.known = Some(Arc::new(TableColumns(columns.clone())));
    let empty = || IoError::Empty { file: path.to_owned(), what: "no samples in the file" };
    let mut table = reader.read_all()?.ok_or_else(empty)?;
    if let Samples::DenseF64(matrix) = &mut table.samples {
        fill(&mut columns, &mut matrix.values, matrix.n_cols);
    }
    table.remarks.extend(remarks);
    table.columns = Some(TableColumns(columns));
    Ok(table)
}

/// Puts the median of each column in the place of its missing values.
pub(super) fn fill(columns: &mut [TableColumn], values: &mut [f64], n_cols: usize) {
    let mut start = 0;
    for column in columns {
        let (at, width) = (start, column.n_features());
        start += width;
        let (ColumnKind::Number { median } | ColumnKind::Boolean { median }) = &mut column.kind else { continue };
        let is_missing = |row: &[f64]| column.has_missing && row[at + 1] != 0.0;
        let rows = values.chunks_exact(n_cols);
        let mut known: Vec<f64> = rows.filter(|row| !is_missing(row)).map(|row| row[at]).collect();
        let (n, middle) = (known.len(), known.len() / 2);
        let upper = *known.select_nth_unstable_by(middle, f64::total_cmp).1;
        let lower = if n % 2 == 1 { upper } else { known[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max) };
        *median = lower + 0.5 * (upper - lower);
        for row in values.chunks_exact_mut(n_cols).filter(|row| is_missing(row)) {
            row[at] = *median;
        }
    }
}
