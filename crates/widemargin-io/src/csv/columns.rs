//! Interpretation of the columns of a table: header and label.

use csv::ByteRecord;
use widemargin::data::{ColumnRoles, RoleColumn};

use super::cell::{is_missing, trimmed};
use super::delimiter::{is_comment, without_sign};
use super::first_line::{self, FirstLine};
use super::header::{Header, LABEL_NAMES, is_one_of};
use super::number::Numbers;
use super::records::Records;
use super::roles::{Roles, in_order, label_column};
use crate::error::{Failure, Problem, shown};
use crate::options::{LabelColumn, ReadOptions};

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Columns {
    pub header: Header,
    /// The columns that are not features.
    pub roles: Roles,
    /// Whether the label column of training data is known: the caller specified it, or a header names the columns.
    pub is_label_known: bool,
    /// The columns of features, in the order of the file; of known columns in theirs.
    pub features: Vec<usize>,
}

impl Columns {
    /// Determines the columns from the first lines, and skips the names of the columns.
    pub fn from_first_lines(records: &mut Records, options: &ReadOptions) -> Result<Columns, Failure> {
        let is_skipped = is_comment(records.first().0) && !comment_has_names(records, options)?;
        if is_skipped {
            records.skip_comment()
        } else {
            records.uncomment()
        }
        let (first, others) = records.first();
        let trained = options.trained.as_deref();
        let names = if has_header(records, first, &others, options)? { Some(records.names()?) } else { None };
        let header = Header { names, n: records.n };
        let mut roles = Roles::named(&header, options)?;
        let is_auto = options.label == LabelColumn::Auto;
        if let Some(trained) = trained.and_then(|trained| trained.roles.as_ref()) {
            roles.add_trained(trained, &header, is_auto);
        }
        if is_auto && roles.label.is_none() && roles.indicators.is_empty() {
            let may_be_label = |column: &usize| roles.is_free(*column) && !roles.categorical.contains(column);
            let free: Vec<usize> = (0..header.n).filter(may_be_label).collect();
            let samples = others.iter().copied().chain(header.names.is_none().then_some(first));
            let text = only_text(&header, samples, records.numbers, &free);
            roles.label = label_column(trained, &header, text, &free)?;
        }
        if options.skip_labels {
            roles.skip_labels();
        }
        let mut features: Vec<usize> = (0..header.n).filter(|&column| roles.is_free(column)).collect();
        if features.is_empty() {
            if let Some(problem) = nothing_left(&header, options) {
                return Err(problem.into());
            }
            return Err(match roles.indicators.is_empty() {
                true => records.one_column(),
                false => Problem::new("no feature columns: all columns are labels").into(),
            });
        }
        if options.learn || trained.is_some_and(|trained| trained.columns.is_some()) {
            header.check_names(&features).map_err(|problem| records.first_problem(problem))?;
        }
        if let Some(trained) = trained {
            features = in_order(trained, &header, features)?;
        }
        if header.names.is_some() {
            records.skip_header();
        }
        let is_label_known = !is_auto || (trained.is_none() && header.names.is_some() && roles.label.is_some());
        Ok(Columns { header, roles, is_label_known, features })
    }

    /// The columns that are not features, as a model stores them.
    pub fn roles(&self) -> ColumnRoles {
        let name = |column: usize| self.header.name(column).unwrap_or_default().to_owned();
        let column = |position: usize| RoleColumn { name: name(position), position };
        ColumnRoles {
            n_columns: self.header.n,
            labels: self.roles.label.iter().chain(&self.roles.indicators).map(|&at| column(at)).collect(),
            id: self.roles.id.map(column),
            weight: self.roles.weight.map(column),
            dropped: self.roles.dropped.iter().chain(&self.roles.group).map(|&at| column(at)).collect(),
        }
    }

    /// The help for a text in a column of numbers.
    pub fn cure_of_text(&self, column: usize) -> String {
        let number = column + 1;
        let cause = match self.is_label_known {
            true => format!(
                "features read in blocks (--memory-limit, or a folder of files) are numbers: leave the column out with \
                 --drop {}, or train in memory, on one file without --memory-limit",
                self.header.flag_value(column)
            ),
            false => format!("if this column holds the labels, pass --label {number}"),
        };
        format!("{cause}; if the samples are strings, pass --format strings:{number}")
    }

    /// The names of the columns of features.
    pub fn names(&self) -> Option<Vec<String>> {
        let names = self.header.names.as_ref()?;
        Some(self.features.iter().map(|&column| names[column].clone()).collect())
    }
}

/// The problem of a table whose columns are all named as something else than features.
fn nothing_left(header: &Header, options: &ReadOptions) -> Option<Problem> {
    let mut flags: Vec<&str> = options.other_columns().map(|(flag, _)| flag).collect();
    flags.dedup();
    if header.n == 1 || flags.is_empty() {
        return None;
    }
    let flags = flags.join(" and ");
    let problem = Problem::new(format!("no feature columns are left after {flags}"));
    Some(problem.help(format!("name fewer of the {} columns with {flags}", header.n)))
}

/// The first cells of a line in messages.
fn first_cells(line: &ByteRecord) -> String {
    let cells: Vec<String> = line.iter().take(4).map(|cell| format!("'{}'", shown(cell.trim_ascii()))).collect();
    format!("{}{}", cells.join(", "), if line.len() > cells.len() { ", …" } else { "" })
}

/// Whether the first line has the names of the columns.
fn has_header(
    records: &Records,
    first: &ByteRecord,
    others: &[&ByteRecord],
    options: &ReadOptions,
) -> Result<bool, Failure> {
    if let Some(has_header) = options.header {
        return Ok(has_header);
    }
    if has_known_name(first, options) {
        return Ok(true);
    }
    let found = first_line::of(first, others, records.numbers);
    // A model knows the names that its tables have.
    if found == FirstLine::Unclear && options.trained.is_none() {
        let text = format!("{} could be the names of the columns, or a sample", first_cells(first));
        let help = "pass --header yes if they are names, --header no if they are a sample";
        return Err(records.first_problem(Problem::new(text).help(help)));
    }
    Ok(found == FirstLine::Names)
}

/// Whether the comment right above the table has the names of its columns, as NumPy writes them.
///
/// # Errors
/// For one that could be either.
fn comment_has_names(records: &Records, options: &ReadOptions) -> Result<bool, Failure> {
    let (comment, rows) = records.first();
    let [first, others @ ..] = &rows[..] else { return Ok(true) };
    let is_header = |line: &ByteRecord, others: &[&ByteRecord]| {
        has_known_name(line, options) || first_line::of(line, others, records.numbers) == FirstLine::Names
    };
    if options.header == Some(false) || is_header(first, others) {
        return Ok(false);
    }
    let names = without_sign(comment);
    let is_known = has_known_name(comment, options) || has_known_name(&names, options);
    if options.header == Some(true) || is_known || names.iter().any(|cell| is_one_of(trimmed(cell), &LABEL_NAMES)) {
        return Ok(true);
    }
    // A model knows the names that its tables have. A row that is left out has numbers, and values of other rows.
    let has_number = || names.iter().any(|cell| records.numbers.number(trimmed(cell)).is_some());
    if options.trained.is_some() || has_number() || first_line::of(&names, &rows, records.numbers) == FirstLine::Sample
    {
        return Ok(false);
    }
    if names.iter().all(|cell| !cell.trim_ascii().contains(&b' ')) {
        return Ok(true);
    }
    let text = format!("{} could be the names of the columns, or a comment", first_cells(comment));
    let help = "pass --header yes if they are names, --header no if the line is a comment";
    Err(records.first_problem(Problem::new(text).help(help)))
}

/// Whether a cell is the name of a column in the options, or of a column of the training table.
pub(super) fn has_known_name(first: &ByteRecord, options: &ReadOptions) -> bool {
    let has = |name: &str| !name.is_empty() && first.iter().any(|cell| cell.trim_ascii() == name.as_bytes());
    let mut columns = options.other_columns().map(|(_, column)| column).chain([&options.label, &options.text]);
    let is_known = options.trained.as_ref().is_some_and(|trained| {
        let roles = trained.roles.iter().flat_map(|roles| roles.columns()).map(|column| &column.name);
        trained.names.iter().flatten().chain(roles).any(|name| has(name))
    });
    let has_name = |column: &LabelColumn| matches!(column, LabelColumn::Name(name) if has(name));
    let has_any_name = |column: &LabelColumn| match column {
        LabelColumn::Indicators(columns) => columns.iter().any(has_name),
        column => has_name(column),
    };
    is_known || columns.any(has_any_name)
}

/// The only free column whose cells in the first lines are mostly text.
fn only_text<'a>(
    header: &Header,
    samples: impl Iterator<Item = &'a ByteRecord>,
    numbers: Numbers,
    free: &[usize],
) -> Option<usize> {
    // For each column, the number of text cells minus that of other cells.
    let mut excess = vec![0_i64; header.n];
    for line in samples {
        for (excess, cell) in excess.iter_mut().zip(line.iter().map(trimmed)) {
            if !is_missing(cell) {
                let is_word = numbers.number(cell).is_none() && numbers.lookalike(cell).is_none();
                *excess += if is_word { 1 } else { -1 };
            }
        }
    }
    let mut texts = free.iter().copied().filter(|&column| excess[column] > 0);
    texts.next().filter(|_| texts.next().is_none())
}
