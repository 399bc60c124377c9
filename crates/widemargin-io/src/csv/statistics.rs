//! What the cells of a column have in common, and what the column holds accordingly.
//!
//! Missing values of a numeric column become its median. A column of words is Boolean if all words are true or false,
//! otherwise categorical, with sorted categories, so that the order of the rows does not matter. Among mostly numbers a
//! word is an error, and so are a few words for however many cells, such as `-`, among more numbers than words.

use std::collections::HashSet;

use widemargin::data::{ColumnKind, DenseMatrix, TableColumn, TableColumns, as_boolean};

use super::cell::unreadable;
use super::columns::Columns;
use super::number::Numbers;
use crate::error::{Problem, excerpt};
use crate::tuning::{MAX_CATEGORIES, MAX_CATEGORY_SHARE, MAX_WORDS, MIN_CATEGORY_ROWS, MIN_DISTINCT_ROWS};

/// Names that hardly occur but for label columns.
const LABELS: [&str; 3] = ["label", "class", "target"];

/// Names of columns that identify samples.
const IDS: [&str; 5] = ["", "id", "index", "row", "unnamed: 0"];

/// Statistics of the cells of a column.
#[derive(Default)]
pub(super) struct Statistics {
    /// The position of the column.
    column: usize,
    /// Whether the cells are categories, whatever they look like.
    pub(super) is_category: bool,
    n_numbers: usize,
    n_words: usize,
    n_missing: usize,
    all_boolean: bool,
    /// The first word: its line and itself.
    first_word: Option<(usize, String)>,
    /// Words that look like numbers, and the first of them.
    n_lookalikes: usize,
    first_lookalike: Option<(usize, Problem)>,
    /// The different texts, until there are too many.
    values: HashSet<String>,
    /// How many of them are numbers.
    n_number_values: usize,
}

impl Statistics {
    pub(super) fn new(column: usize, is_category: bool) -> Self {
        Statistics { column, is_category, all_boolean: true, ..Statistics::default() }
    }

    pub(super) fn add(&mut self, cell: Option<&str>, line: usize, numbers: Numbers) {
        let Some(text) = cell else {
            self.n_missing += 1;
            return;
        };
        let is_new = self.add_value(text);
        if !self.is_category && numbers.number(text).is_some() {
            self.n_numbers += 1;
            self.n_number_values += usize::from(is_new);
        } else {
            self.n_words += 1;
            self.first_word.get_or_insert_with(|| (line, excerpt(text)));
            if !self.is_category
                && let Some(problem) = unreadable(text, numbers, self.column)
            {
                self.n_lookalikes += 1;
                self.first_lookalike.get_or_insert((line, problem));
            }
        }
        self.all_boolean &= as_boolean(text).is_some();
    }

    /// A number; NaN is a missing one.
    pub(super) fn add_number(&mut self, number: f64) {
        self.n_missing += usize::from(number.is_nan());
        self.n_numbers += usize::from(!number.is_nan());
    }

    /// True for a text that did not occur before.
    fn add_value(&mut self, text: &str) -> bool {
        self.values.len() <= MAX_CATEGORIES && !self.values.contains(text) && self.values.insert(text.to_owned())
    }

    /// Whether the words are so few that the column is one of numbers.
    fn has_few_words(&self) -> bool {
        let n_word_values = self.values.len() - self.n_number_values;
        self.n_numbers > self.n_words || n_word_values <= MAX_WORDS && n_word_values < self.n_number_values
    }

    /// A warning of many rare categories.
    pub(super) fn remark(&self, called: &str) -> Option<String> {
        let (n, categories, number) = (self.n_numbers + self.n_words, self.values.len(), self.column + 1);
        let are_words = self.n_words >= self.n_numbers && self.n_words > 0 && !self.all_boolean;
        let are_many = n >= MIN_CATEGORY_ROWS && categories as f64 > MAX_CATEGORY_SHARE * n as f64;
        (are_words && are_many && !self.is_category).then(|| {
            format!(
                "column {called} has {categories} categories in {n} rows, and each category is a feature: if it names the \
                 samples, pass --id {number}; if it is not a feature, --drop {number}; if its texts are the samples, --format strings:{number}"
            )
        })
    }

    /// The column of this name, without its median; or what is wrong with it, and in which line.
    pub(super) fn column(self, name: String, is_label_known: bool) -> Result<TableColumn, (Option<usize>, Problem)> {
        let has_missing = self.n_missing > 0;
        Ok(TableColumn { name, kind: self.kind(is_label_known)?, has_missing })
    }

    fn kind(self, is_label_known: bool) -> Result<ColumnKind, (Option<usize>, Problem)> {
        let n = self.n_numbers + self.n_words;
        match (self.n_numbers, self.n_words) {
            _ if self.is_category => self.categories(MAX_CATEGORIES),
            (0, 0) => Err((None, no_value())),
            (_, 0) => Ok(ColumnKind::Number { median: 0.0 }),
            (numbers, words) if 2 * self.n_lookalikes >= words || (numbers > words && self.n_lookalikes > 0) => {
                let (line, problem) = self.first_lookalike.unwrap_or_else(|| (0, no_value()));
                Err((Some(line), problem))
            }
            (0, _) if self.all_boolean => Ok(ColumnKind::Boolean { median: 0.0 }),
            (numbers, _) if self.has_few_words() => {
                let (line, cell) = self.first_word.unwrap_or_default();
                let problem = format!("'{cell}' is not a number, as {numbers} other cells of the column are");
                let labels = match is_label_known {
                    true => String::new(),
                    false => format!("; if the column holds the labels, pass --label {}", self.column + 1),
                };
                let help = format!(
                    "correct it, leave the cell empty if '{cell}' means a missing value, or pass --categorical {} if the \
                     numbers are categories{labels}",
                    self.column + 1
                );
                Err((Some(line), Problem::new(problem).help(help)))
            }
            _ if n >= MIN_DISTINCT_ROWS && self.values.len() == n => self.categories(0),
            _ => self.categories(MAX_CATEGORIES),
        }
    }

    /// The categories of a column, at most this number.
    fn categories(self, at_most: usize) -> Result<ColumnKind, (Option<usize>, Problem)> {
        let (n, n_rows) = (self.values.len(), self.n_words + self.n_numbers + self.n_missing);
        match n {
            0 => Err((None, no_value())),
            _ if n > at_most => {
                let text = format!("{n} different texts in {n_rows} rows: they cannot be categories");
                let help = format!(
                    "if they name the samples, pass --id {0}; if they are the samples, --format strings:{0}",
                    self.column + 1
                );
                Err((None, Problem::new(text).help(help)))
            }
            _ => {
                let mut values: Vec<String> = self.values.into_iter().collect();
                values.sort();
                Ok(ColumnKind::Category { values })
            }
        }
    }
}

/// The problem of a column without any value.
fn no_value() -> Problem {
    Problem::new("no value in any row").help("leave the column out")
}

/// Puts the median of each column in the place of its missing values: a weight k counts as k rows.
pub(super) fn fill(columns: &mut [TableColumn], values: &mut [f64], n_cols: usize, weights: Option<&[f64]>) {
    let mut start = 0;
    for column in columns {
        let (at, width) = (start, column.n_features());
        start += width;
        let (ColumnKind::Number { median } | ColumnKind::Boolean { median }) = &mut column.kind else { continue };
        let is_missing = |row: &[f64]| column.has_missing && row[at + 1] != 0.0;
        let rows = values.chunks_exact(n_cols).enumerate().filter(|(_, row)| !is_missing(row));
        let known: Vec<f64> = rows.clone().map(|(_, row)| row[at]).collect();
        let of_known = weights.map(|weights| rows.map(|(row, _)| weights[row]).collect::<Vec<f64>>());
        *median = self::median(known, of_known.as_deref());
        for row in values.chunks_exact_mut(n_cols).filter(|row| is_missing(row)) {
            row[at] = *median;
        }
    }
}

/// The median of numbers, where a weight k counts as k numbers; where none has a weight, all count alike. 0 of none.
pub fn median(mut numbers: Vec<f64>, weights: Option<&[f64]>) -> f64 {
    let between = |lower: f64, upper: f64| lower + 0.5 * (upper - lower);
    let Some(weights) = weights.filter(|weights| weights.iter().any(|weight| *weight > 0.0)) else {
        let (n, middle) = (numbers.len(), numbers.len() / 2);
        if n == 0 {
            return 0.0;
        }
        let upper = *numbers.select_nth_unstable_by(middle, f64::total_cmp).1;
        let below = || numbers[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return if n % 2 == 1 { upper } else { between(below(), upper) };
    };
    let mut weighted: Vec<(f64, f64)> =
        numbers.into_iter().zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0).collect();
    weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * weighted.iter().map(|(_, weight)| weight).sum::<f64>();
    let (last, mut sum) = (weighted.len() - 1, 0.0);
    let reaches_half = |(_, weight): &(f64, f64)| {
        sum += weight;
        sum >= half
    };
    let lower = weighted.iter().position(reaches_half).unwrap_or(last);
    let upper = if sum == half { last.min(lower + 1) } else { lower };
    between(weighted[lower].0, weighted[upper].0)
}

/// A line for each column of features that numbers the rows, or has the name of a label. `matrix` has the features.
pub(super) fn remarks_on(columns: &Columns, known: Option<&TableColumns>, matrix: &DenseMatrix<f64>) -> Vec<String> {
    let (mut remarks, mut next) = (Vec::new(), 0);
    for (at, &column) in columns.features.iter().enumerate() {
        let (place, kind) = (next, known.map(|known| &known.0[at]));
        next += kind.map_or(1, |kind| kind.n_features());
        let (called, number) = (columns.header.called(column), column + 1);
        if columns.roles.label.is_some() && columns.header.is_one_of(column, &LABELS) {
            remarks.push(format!(
                "column {called} is a feature, although it is named like a label: leave it out with --drop {number}, or name the \
                 column of the labels with --label"
            ));
        }
        let are_numbers = kind.is_none_or(|kind| matches!(kind.kind, ColumnKind::Number { .. }) && !kind.has_missing);
        let has_names = columns.header.names.is_some();
        if !are_numbers || matrix.n_rows < MIN_DISTINCT_ROWS {
            continue;
        }
        let of_column = || matrix.values.iter().skip(place).step_by(matrix.n_cols).copied();
        let names_samples = has_names && columns.header.is_one_of(column, &IDS) && are_distinct(of_column());
        if counts(of_column()) || names_samples {
            remarks.push(format!(
                "column {called} numbers the rows and is a feature: pass --id {number} if it only names the samples"
            ));
        }
    }
    remarks
}

/// Whether each number is one more than the last.
fn counts(mut numbers: impl Iterator<Item = f64>) -> bool {
    let Some(first) = numbers.next().filter(|first| first.fract() == 0.0) else { return false };
    numbers.zip(1..).all(|(number, row)| number == first + f64::from(row))
}

/// Whether all numbers are whole, and each occurs once.
fn are_distinct(mut numbers: impl Iterator<Item = f64>) -> bool {
    let mut distinct = HashSet::new();
    numbers.all(|number| number.fract() == 0.0 && distinct.insert(number.to_bits()))
}
