//! The error type of this crate.

use std::io;
use std::path::{Path, PathBuf};

use crate::problem::{ArrayProblem, CsvProblem, LibsvmProblem, ParquetProblem};
use crate::sample_problem::{ImageProblem, SeriesProblem};

/// `Result` with the crate's [`IoError`].
pub type Result<T, E = IoError> = std::result::Result<T, E>;

/// Everything that can go wrong between a file and a table.
///
/// Every variant names the file; where applicable also line or row, and column. [`IoError::help`] suggests a remedy, if
/// there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system refused to open or read a file.
    #[error("{}: {action}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The operating system refused to write a file.
    #[error("{}: {action}: {source} ({outcome})", .file.display())]
    Write {
        /// The file to be written.
        file: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
        /// What happened to the file.
        outcome: &'static str,
    },
    /// An unknown format name.
    #[error("unknown format '{name}': expected {}", crate::Format::names())]
    UnknownFormat {
        /// The unknown name.
        name: String,
    },
    /// The format cannot be determined from the file name.
    #[error("{}: cannot tell the format from the name: known endings are {}", .file.display(), crate::Format::endings())]
    UnknownEnding {
        /// The file.
        file: PathBuf,
    },
    /// An error in LIBSVM text.
    #[error("{}: line {line}, column {column}: {problem}", .file.display())]
    Libsvm {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The byte in the line, from 1.
        column: usize,
        /// What is wrong.
        problem: LibsvmProblem,
    },
    /// An error in CSV or TSV.
    #[error("{}: line {line}{}: {problem}", .file.display(), .column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default())]
    Csv {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column's number, from 1, or its name in quotes; `None` if the whole line is meant.
        column: Option<String>,
        /// What is wrong.
        problem: CsvProblem,
    },
    /// An error in an NPY array, alone or inside an NPZ archive.
    #[error("{}: {}{problem}", .file.display(), .array.as_ref().map(|a| format!("array '{a}': ")).unwrap_or_default())]
    Array {
        /// The file.
        file: PathBuf,
        /// The name of the array in the archive.
        array: Option<String>,
        /// What is wrong.
        problem: ArrayProblem,
    },
    /// An error of an NPZ archive as a whole.
    #[error("{}: {problem}", .file.display())]
    Archive {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
        /// What is expected.
        help: Option<&'static str>,
    },
    /// An error in a Parquet file.
    #[error("{}: {}{}{problem}", .file.display(),
        .row.map(|row| format!("row {row} (from 0){}", if column.is_some() { ", " } else { ": " })).unwrap_or_default(),
        .column.as_ref().map(|column| format!("column '{}': ", crate::problem::excerpt(column))).unwrap_or_default())]
    Parquet {
        /// The file.
        file: PathBuf,
        /// The row in the file, from 0, if a row is meant.
        row: Option<usize>,
        /// The column's name, if a column is meant.
        column: Option<String>,
        /// What is wrong.
        problem: ParquetProblem,
    },
    /// A format that this build does not support.
    #[error("{}: this build does not read {format}", .file.display())]
    NotBuilt {
        /// The file.
        file: PathBuf,
        /// Its format.
        format: crate::Format,
    },
    /// An error in a line of time series.
    #[error("{}: line {line}: {problem}", .file.display())]
    Series {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: SeriesProblem,
    },
    /// An error in a file of the samples' groups.
    #[error("{}: line {line}: {problem}", .file.display())]
    Group {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// An error in an image, or in a file or folder of images.
    #[error("{}: {problem}", .file.display())]
    Images {
        /// The file or folder.
        file: PathBuf,
        /// What is wrong.
        problem: ImageProblem,
    },
    /// Files of a folder that cannot be read as one input.
    #[error("{}: {found}, but {} {expected}", .file.display(), .first.display())]
    Shards {
        /// The file that does not match the first.
        file: PathBuf,
        /// What it contains.
        found: String,
        /// The first file of the input.
        first: PathBuf,
        /// What the first file contains.
        expected: String,
    },
    /// A value that is not finite in single precision, in which samples larger than memory are stored.
    #[error("{}: {place}, column {column}: {value:?} is not a finite number in single precision", .file.display())]
    TooLarge {
        /// The file, or the folder of shards.
        file: PathBuf,
        /// The location of the row: its shard, and its line or number.
        place: String,
        /// The feature's number, from 1, or its name in quotes.
        column: String,
        /// The value found.
        value: f64,
    },
    /// An error of the library about the samples read.
    #[error(transparent)]
    Library(#[from] widemargin::Error),
    /// There is nothing to read.
    #[error("{}: {what}", .file.display())]
    Empty {
        /// The file.
        file: PathBuf,
        /// What is missing.
        what: &'static str,
    },
    /// The requested label column does not exist, or the format has none.
    #[error("{}: no label column {column}: {reason}", .file.display())]
    LabelColumn {
        /// The file.
        file: PathBuf,
        /// The requested column.
        column: String,
        /// The reason.
        reason: String,
    },
    /// One column more than the features of the model: any of them may be the label.
    #[error("{}: {found} columns, the model has {expected} features: the label column cannot be determined", .file.display())]
    UnclearLabel {
        /// The file.
        file: PathBuf,
        /// The number of columns that may be features.
        found: usize,
        /// The number of features.
        expected: usize,
    },
    /// Labels of another number than the samples.
    #[error("{}: {labels} labels for {relation}{} samples", .file.display(), .samples)]
    LabelCount {
        /// The file of the labels.
        file: PathBuf,
        /// How many there are.
        labels: usize,
        /// The number of samples, or how many were read when the labels ended.
        samples: usize,
        /// Which of the two it is: "at least " or nothing.
        relation: &'static str,
    },
    /// Multilabel samples where one label per sample is needed.
    #[error("{}: multilabel samples, where one label per sample is needed: train on them in memory, with a named method", .file.display())]
    Multilabel {
        /// The file with the labels.
        file: PathBuf,
    },
    /// A column of a CSV or TSV file as a whole.
    #[error("{}: column {column}: {problem}", .file.display())]
    Column {
        /// The file.
        file: PathBuf,
        /// The column's name in quotes, or its number from 1.
        column: String,
        /// What is wrong with it.
        problem: CsvProblem,
    },
    /// The requested column of names, weights or groups does not exist, is another's, or the format has none.
    #[error("{}: {flag} {column}: {reason}", .file.display())]
    OtherColumn {
        /// The file.
        file: PathBuf,
        /// The flag of the command line that names it.
        flag: &'static str,
        /// The requested column.
        column: String,
        /// The reason.
        reason: String,
    },
    /// An option of tables for a file of another format.
    #[error("{}: {flag} is for CSV and TSV files, and this is {format}", .file.display())]
    NotATable {
        /// The file.
        file: PathBuf,
        /// The flag of the command line.
        flag: &'static str,
        /// The format of the file.
        format: crate::Format,
    },
    /// The requested text column does not exist, or is the label column.
    #[error("{}: no text column {column}: {reason}", .file.display())]
    TextColumn {
        /// The file.
        file: PathBuf,
        /// The requested column.
        column: String,
        /// The reason.
        reason: String,
    },
    /// Several columns qualify, and the caller must choose.
    #[error("{}: several columns may hold the {what}: {}", .file.display(), .candidates.join(", "))]
    WhichColumn {
        /// The file.
        file: PathBuf,
        /// What the column should contain: strings or labels.
        what: &'static str,
        /// The qualifying columns, by name in quotes or by number from 1.
        candidates: Vec<String>,
    },
    /// The samples have no labels, but the task needs them.
    #[error("{}: no labels", .file.display())]
    NoLabels {
        /// The file.
        file: PathBuf,
        /// The names of its columns, if it has some.
        columns: Option<Vec<String>>,
    },
    /// The table cannot be written in the requested format.
    #[error("{}: cannot be written as {format}: {reason}", .file.display())]
    NotInFormat {
        /// The file to be written.
        file: PathBuf,
        /// The requested format.
        format: crate::Format,
        /// What the format cannot represent.
        reason: String,
        /// What to do about it.
        help: &'static str,
    },
}

impl IoError {
    /// A suggested remedy, if there is one: one sentence for a separate line.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            IoError::Libsvm { problem, .. } => return problem.help().map(str::to_owned),
            IoError::Csv { problem, .. } | IoError::Column { problem, .. } => return problem.help(),
            IoError::Array { problem, .. } => return problem.help().map(str::to_owned),
            IoError::Parquet { problem, .. } => return problem.help().map(str::to_owned),
            IoError::NotBuilt { format, .. } => {
                return Some(format!(
                    "build it with the cargo feature '{format}' (--features {format}), or write the samples as .npy or .csv"
                ));
            }
            IoError::Series { problem, .. } => return problem.help().map(str::to_owned),
            IoError::LabelCount { .. } => {
                "the file has the label of one sample on each line, in the order of the samples and without a header"
            }
            IoError::Group { .. } => "the file has the group of one sample on each line",
            IoError::Images { problem, .. } => return problem.help().map(str::to_owned),
            IoError::Archive { help, .. } => return help.map(str::to_owned),
            IoError::NotInFormat { help, .. } => help,
            IoError::UnknownEnding { .. } => {
                return Some(format!("name the format with --format {}", crate::Format::names()));
            }
            IoError::LabelColumn { .. } => "--label takes a name or a number: 1 is the first column, -1 the last",
            IoError::UnclearLabel { .. } => "name it with --label COLUMN: 1 is the first column, -1 the last",
            IoError::OtherColumn { .. } => "it takes a name or a number: 1 is the first column, -1 the last",
            IoError::NotATable { .. } => "if it is a table, add --format csv",
            IoError::TextColumn { .. } => {
                "--format strings:COLUMN takes a name or a number: 1 is the first column, -1 the last"
            }
            IoError::WhichColumn { what: "labels", .. } => {
                "name the label column with --label; --label none if there is none"
            }
            IoError::WhichColumn { .. } => "name the column of strings with --format strings:COLUMN",
            IoError::Shards { .. } => {
                "the files of a folder are read as one input, but for those whose names begin with . or _"
            }
            IoError::TooLarge { .. } => "rescale the column, or remove the row",
            IoError::NoLabels { columns: Some(columns), .. } => {
                return Some(format!("name the label column with --label: {}", crate::problem::list(columns)));
            }
            IoError::NoLabels { .. } => "name the label column with --label, or use a format that has them",
            IoError::Multilabel { .. } => "name one column with --label, or train a model on all of them",
            IoError::Read { .. }
            | IoError::Write { .. }
            | IoError::UnknownFormat { .. }
            | IoError::Library(_)
            | IoError::Empty { .. } => return None,
        };
        Some(text.to_owned())
    }

    /// True if the cause is the caller's input (a path, a file's contents, an option), false if it is the system (a
    /// failing or full disk).
    pub fn is_input(&self) -> bool {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
        // The error kinds of a damaged gzip file; a failing disk reports none of them.
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match self {
            IoError::Read { source, .. } if matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof) => true,
            IoError::Read { source, .. } | IoError::Write { source, .. } => {
                matches!(source.kind(), NotFound | PermissionDenied | IsADirectory | NotADirectory)
            }
            IoError::Library(error) => error.is_input(),
            _ => true,
        }
    }

    /// LIBSVM text without features.
    pub(crate) fn no_pairs(file: &Path) -> IoError {
        let what = "no index:value pair in the file; if this is another format, name it with --format";
        IoError::Empty { file: file.to_owned(), what }
    }

    pub(crate) fn reading(file: &Path) -> impl FnOnce(io::Error) -> IoError {
        let file = file.to_owned();
        move |source| IoError::Read { file, action: "cannot read", source }
    }
}
