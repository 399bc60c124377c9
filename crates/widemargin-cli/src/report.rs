//! How the command fails: one `error:` line, a `help:` line where we can say what to do, and the exit code.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

use widemargin::Error;
use widemargin::data::AnySamples;
use widemargin_io::{IoError, Samples, Table};

use crate::parameters::name_of;
use crate::readable::number_text;

/// The process's exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Success = 0,
    /// The work failed: a time limit, a full disk, no threads.
    WorkFailed = 1,
    /// Wrong usage or input.
    WrongInput = 2,
    /// Stopped by a signal, as shells tell of it.
    Interrupted = 130,
}

/// Why the command failed.
#[derive(Debug)]
pub struct Failure {
    /// One line.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The exit code.
    pub exit: Exit,
}

impl Failure {
    /// The caller's input is wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Failure { message: message.into(), help: None, exit: Exit::WrongInput }
    }

    /// The work failed.
    pub fn work(message: impl Into<String>) -> Self {
        Failure { message: message.into(), help: None, exit: Exit::WorkFailed }
    }

    /// With what to do about it.
    pub fn help(self, help: impl Into<String>) -> Self {
        Failure { help: Some(help.into()), ..self }
    }

    /// What a refused write to standard output means: nothing where the reader has had enough.
    pub fn stdout(error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure { message: String::new(), help: None, exit: Exit::Success },
            _ => Failure::work(format!("standard output: cannot write: {error}")),
        }
    }

    /// Prints the lines, if there is something to say.
    pub fn print(&self) {
        if self.message.is_empty() {
            return;
        }
        eprintln!("error: {}", one_line(&self.message));
        if let Some(help) = &self.help {
            eprintln!("help: {}", one_line(help));
        }
    }
}

/// Refuses the caller's input, and says what to do about it.
pub fn refused<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::input(message).help(help))
}

/// A text without line ends and other control characters, which a file's name or contents may have brought in.
fn one_line(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

impl From<IoError> for Failure {
    fn from(error: IoError) -> Self {
        if let IoError::Library(error) = error {
            return Failure::from(error);
        }
        let exit = if error.is_input() { Exit::WrongInput } else { Exit::WorkFailed };
        Failure { message: error.to_string(), help: error.help(), exit }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if let Error::Cancelled { .. } = error {
            return cancelled();
        }
        let absent = matches!(&error, Error::Io { source, .. } if is_about_path(source.kind()));
        let exit = if error.is_input() || absent { Exit::WrongInput } else { Exit::WorkFailed };
        let message = match &error {
            // Nobody passed these values, and the problem is another.
            Error::Parameter { name: "n_basis", value, expected } if value == "none" => expected.clone(),
            Error::Parameter { name: "methods", expected, .. } if expected.starts_with(NO_METHOD) => {
                expected.replacen(NO_METHOD, "no method can be fitted", 1)
            }
            Error::Parameter { name, value, expected } => {
                format!("{} {value} is not allowed: {expected}", called(name))
            }
            // What to do is a line of its own.
            Error::Memory { hint, .. } => {
                let text = error.to_string();
                text.strip_suffix(&format!(": {hint}")).unwrap_or(&text).to_owned()
            }
            _ => error.to_string(),
        };
        Failure { message, help: help(&error).map(str::to_owned), exit }
    }
}

/// The beginning of the library's message when no method could be fitted.
const NO_METHOD: &str = "a method that can be fitted";

/// True where the path is to blame, false where the system underneath is.
fn is_about_path(kind: ErrorKind) -> bool {
    use ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(kind, NotFound | PermissionDenied | IsADirectory | NotADirectory)
}

/// What is wrong with the value of a parameter, which is written as `option`.
pub fn in_option(error: Error, (name, option): (&str, &str), text: &str) -> Failure {
    match error {
        Error::UnknownName { what, name, expected } => {
            Failure::input(format!("{option} {text}: unknown {what} '{name}'")).help(expected)
        }
        Error::Parameter { name: of, value, expected } if of == name.replace('-', "_") => {
            Failure::input(format!("{option} {value} is not allowed: {expected}"))
        }
        Error::Parameter { name, value, expected } => {
            let value = value.split(" in '").next().unwrap_or_default();
            Failure::input(format!("{option} {text}: {name} {value} is not allowed: {expected}"))
        }
        error => Failure::from(error),
    }
}

/// What a parameter of the library is called here: an option, or a setting in the spec of a method.
fn called(name: &str) -> String {
    match name {
        "n_nodes" => "nodes".into(),
        "folds" | "threads" => format!("--{name}"),
        _ => name_of(&name.replace('_', "-")),
    }
}

fn help(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Memory { hint, .. } => hint,
        Error::OneClass { .. } => "check that the label column is the right one (--label), and that the file is whole",
        Error::ModelVersion { .. } => "update widemargin, or train the model again with this version",
        Error::ModelFile { .. } => "give a file that `widemargin train` wrote; if it was copied, copy it again",
        Error::Parameter { name: "n_basis", value, .. } if value == "none" => {
            "give the number of bases, such as --n-basis 1000: memory and time then grow linearly with the samples"
        }
        Error::Output { hint, .. } => hint,
        Error::Threads { .. } => "ask for fewer threads with --threads",
        _ => return None,
    })
}

/// An error of the library about the rows of a table, in the words of the file they came from.
///
/// `first_row` rows of the file came before the table.
pub fn in_file(error: Error, file: &Path, table: &Table, first_row: usize) -> Failure {
    let file = shown(file);
    let (found, (problem, help)) = match &error {
        Error::OneClass { label, n_samples }
            if table.labels.as_ref().is_some_and(|labels| labels.classes().len() > 1) =>
        {
            let message = format!("all {n_samples} samples with a weight above 0 have the label '{label}'");
            return Failure::input(message)
                .help("give another class a weight above 0 (--class-weight, --weight-column)");
        }
        Error::Value { row, column, value, problem } => {
            let (row, column) = (place_of(table, *row, first_row), called_column(table, *column));
            (format!("{row}, {column}: {} ", number_text(*value)), short(problem))
        }
        Error::Sample { similarity, is_basis: false, number, problem } => {
            let row = place_of(table, *number, first_row);
            (format!("{row}: similarity '{similarity}': it "), short(problem))
        }
        Error::Similarity { similarity, problem } => (format!("similarity '{similarity}': "), short_at_end(problem)),
        _ => {
            let is_about_file = matches!(&error, Error::FeatureCount { .. } | Error::FeatureNames { .. })
                || matches!(&error, Error::Kind { .. } | Error::OneClass { .. })
                || matches!(&error, Error::NoSamples(_) | Error::Shape { .. });
            let help = columns_help(&error, table.labels.is_some()).map(str::to_owned);
            let failure = Failure::from(error);
            let help = help.or(failure.help).or_else(|| cells_help(&failure.message, table));
            let message = if is_about_file { format!("{file}: {}", failure.message) } else { failure.message };
            return Failure { message, help, exit: failure.exit };
        }
    };
    Failure { help: help.map(str::to_owned), ..Failure::input(format!("{file}: {found}{problem}")) }
}

/// An error about a row of some rows, as one about a row of all.
pub fn in_whole(error: Error, rows: &[usize]) -> Error {
    match error {
        Error::Value { row, column, value, problem } => Error::Value { row: rows[row], column, value, problem },
        Error::Sample { similarity, number, problem, .. } => {
            Error::Sample { similarity, is_basis: false, number: rows[number], problem }
        }
        error => error,
    }
}

/// What to do about columns that do not fit the model.
fn columns_help(error: &Error, labeled: bool) -> Option<&'static str> {
    match error {
        Error::FeatureCount { found, trained, .. } if *found == trained + 1 && !labeled => {
            Some("if one of the columns holds the labels, name it with --label COLUMN")
        }
        Error::FeatureNames { problem } if problem.contains("unknown") => Some(
            "leave out columns that the model does not know with --drop NAMES; if one of them names the samples, pass it as \
             --id, if it holds the labels, as --label",
        ),
        Error::FeatureNames { problem } if problem.contains("missing") => {
            Some("add the columns that are missing; the order makes no difference")
        }
        Error::FeatureCount { found, trained, .. } if found + 1 == *trained && labeled => {
            Some("a column was taken for the labels; if there are none, pass --label none")
        }
        _ => None,
    }
}

/// The same of an error while a file is read, which may be about columns that are not those of a model.
pub fn while_reading(error: IoError, file: &Path) -> Failure {
    match error {
        IoError::Library(error) => in_file(error, file, &Table::default(), 0),
        error => Failure::from(error),
    }
}

/// Splits what is wrong from what to do about it: in parentheses, or behind a colon.
fn short(problem: &str) -> (&str, Option<&str>) {
    let parts = problem.split_once(" (").or_else(|| problem.split_once(": "));
    parts.map_or((problem, None), |(problem, help)| (problem, Some(help.trim_end_matches(')'))))
}

/// The same where what to do stands in parentheses at the very end.
fn short_at_end(problem: &str) -> (&str, Option<&str>) {
    let parts = problem.strip_suffix(')').and_then(|problem| problem.rsplit_once(" ("));
    parts.map_or((problem, None), |(problem, help)| (problem, Some(help)))
}

/// Which cells fit the images that a descriptor refused.
fn cells_help(message: &str, table: &Table) -> Option<String> {
    let Samples::Other(AnySamples::Images(images)) = &table.samples else { return None };
    let fits = |cell: &usize| images.height().is_multiple_of(*cell) && images.width().is_multiple_of(*cell);
    let cells: Vec<String> = (2..=images.height()).filter(fits).take(8).map(|cell| cell.to_string()).collect();
    let about_cells = message.contains("cell size") && !cells.is_empty();
    about_cells.then(|| format!("cells that fit these images: {}", cells.join(", ")))
}

/// What messages call a row of a table, behind `first_row` others of its file.
fn place_of(table: &Table, row: usize, first_row: usize) -> String {
    match table.shards.is_some() || table.lines.is_some() || table.files.is_some() {
        true => table.place(row),
        false => format!("row {}", first_row + row + 1),
    }
}

/// What messages call a column of a table.
fn called_column(table: &Table, column: usize) -> String {
    match (&table.feature_names, table.notation.first_index) {
        (Some(names), _) if !names[column].is_empty() => format!("column '{}'", names[column]),
        (_, Some(first)) => format!("index {}", column + first as usize),
        _ if table.lines.is_some() => format!("feature {} (the label column not counted)", column + 1),
        _ => format!("column {}", column + 1),
    }
}

/// What messages call an input.
pub fn shown(file: &Path) -> impl Display + '_ {
    let stdin = file.as_os_str() == "-";
    if stdin { Path::new("standard input") } else { file }.display()
}

/// The failure of work that a signal stopped.
pub fn interrupted(message: &str) -> Failure {
    Failure { message: message.to_owned(), help: None, exit: Exit::Interrupted }
}

/// The same where nothing was written.
pub fn cancelled() -> Failure {
    interrupted("cancelled: nothing was written")
}
