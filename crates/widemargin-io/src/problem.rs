//! Possible problems at a location in a file, by format.

/// A problem at a location in LIBSVM text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LibsvmProblem {
    /// The line starts with a pair.
    #[error("label missing: the line starts with '{0}'")]
    LabelMissing(String),
    /// The label is not text.
    #[error("the label is not UTF-8 text")]
    LabelNotText,
    /// A word that is not a pair.
    #[error("'{0}' is not an index:value pair")]
    NotAPair(String),
    /// A ranking group.
    #[error("'{0}': ranking groups are not read")]
    RankingGroup(String),
    /// Index 0.
    #[error("index 0: the indices of this file start at 1")]
    IndexZero,
    /// Row numbers in index 0.
    #[error("the values of index 0 number the rows, as in LIBSVM's files of precomputed kernels")]
    PrecomputedKernel,
    /// The index is not a valid integer.
    #[error("index '{0}' is not a whole number from 1 to {max}", max = u32::MAX)]
    BadIndex(String),
    /// The index is above the number of features that the caller specified.
    #[error("index {index}: there are only {n_features} features")]
    IndexTooLarge {
        /// The index in the file.
        index: u32,
        /// The number of features.
        n_features: usize,
    },
    /// The same index twice in a line.
    #[error("index {0} occurs twice")]
    DuplicateIndex(u32),
    /// Indices are not ascending.
    #[error("index {index} after {previous}: indices must ascend")]
    OutOfOrder {
        /// The index in the file.
        index: u32,
        /// The previous index.
        previous: u32,
    },
    /// The value is not a number.
    #[error("value '{0}' is not a number")]
    BadValue(String),
    /// The value is infinite, NaN, or too large for `f32`.
    #[error("value '{0}' is not a finite single-precision number")]
    NotFinite(String),
}

impl LibsvmProblem {
    /// A suggested remedy, if there is one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            LibsvmProblem::LabelMissing(_) => {
                Some("begin each line with a label, or pass --label none if the samples have none")
            }
            LibsvmProblem::NotAPair(_) => Some("if this is another format, name it with --format"),
            LibsvmProblem::RankingGroup(_) => Some("remove the qid entries"),
            LibsvmProblem::IndexZero => Some(
                "indices count from 1 here, and from 0 only where the first lines have index 0: write the file with \
                 dump_svmlight_file(…, zero_based=False), or add 1 to every index",
            ),
            LibsvmProblem::PrecomputedKernel => Some(
                "remove the pairs 0:1, 0:2, … and pass --similarity precomputed: the other columns are the similarities to \
                 the training samples",
            ),
            LibsvmProblem::DuplicateIndex(_) | LibsvmProblem::OutOfOrder { .. } => {
                Some("sort the pairs of each line by index and sum those that share one")
            }
            LibsvmProblem::NotFinite(_) => Some("remove or impute it"),
            _ => None,
        }
    }
}

/// A problem at a location in CSV or TSV.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvProblem {
    /// A different number of cells than the first line.
    #[error("{found} cells, expected {expected} as in line {as_in_line}")]
    Ragged {
        /// Cells in this line.
        found: usize,
        /// Cells in the first line.
        expected: usize,
        /// The first line with cells.
        as_in_line: usize,
        /// What separates the cells.
        delimiter: char,
    },
    /// One column, where labels and features are needed.
    #[error("no feature columns: the lines have one cell where {} separates cells", named(*.delimiter))]
    OneColumn {
        /// What separates the cells.
        delimiter: char,
        /// What occurs in every line, and may separate cells.
        other: Option<char>,
    },
    /// A quoted cell without an end.
    #[error("a quote begins a cell and is not closed")]
    UnclosedQuote,
    /// A first line that could be a header or a sample.
    #[error("{0} could be the names of the columns, or a sample")]
    UnclearHeader(String),
    /// Two columns with one name.
    #[error("columns {} and {} are both called '{name}'", .columns.0, .columns.1)]
    SameName {
        /// The name.
        name: String,
        /// Their numbers, from 1.
        columns: (usize, usize),
    },
    /// A date or a time.
    #[error("'{cell}' is a {kind}, not a number or a category")]
    NoMeasure {
        /// The cell's text.
        cell: String,
        /// Date or time.
        kind: &'static str,
        /// The column's number, from 1.
        column: usize,
    },
    /// A number with another decimal mark than the others of the file, or one that may have either.
    #[error("'{cell}' {}", .problem[0])]
    DecimalMark {
        /// The cell's text.
        cell: String,
        /// What is wrong, and what to do.
        problem: &'static [&'static str; 2],
    },
    /// An empty cell, or one that denotes a missing value.
    #[error("missing value")]
    Missing,
    /// A label that is missing, or a word that denotes a missing value.
    #[error("the label is missing{}", spelled(.0))]
    MissingLabel(String),
    /// A cell that is not a number.
    #[error("'{cell}' is not a number")]
    NotANumber {
        /// The cell's text.
        cell: String,
        /// The column's number, from 1.
        column: usize,
        /// Whether the caller specified a label column other than this one.
        is_label_specified: bool,
    },
    /// A word in a column of numbers.
    #[error("'{cell}' is not a number, as {numbers} other cells of the column are")]
    WordAmongNumbers {
        /// The cell's text.
        cell: Box<str>,
        /// The column's number, from 1.
        column: usize,
        /// How many numbers the column has.
        numbers: usize,
        /// Whether the caller specified a label column other than this one.
        is_label_specified: bool,
    },
    /// An infinite value, or NaN.
    #[error("'{0}' is not a finite number")]
    NotFinite(String),
    /// A cell of another kind than the column in training.
    #[error("'{cell}' is not {expected}, as the column was in training")]
    OtherKind {
        /// The cell's text.
        cell: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A column of text with too many values to be categories.
    #[error("{n} different texts in {n_rows} rows: they cannot be categories")]
    TooManyCategories {
        /// How many there are, at least.
        n: usize,
        /// The number of rows.
        n_rows: usize,
        /// The column's number, from 1.
        column: usize,
    },
    /// A column without any value.
    #[error("no value in any row")]
    NoValue,
    /// A weight that is not a number of at least 0.
    #[error("'{0}' is not a weight, which is a number of at least 0")]
    Weight(String),
    /// An invalid cell of an indicator column.
    #[error("'{0}' is not an indicator: 1 if the sample has the label, 0 if not, empty if unknown")]
    Indicator(String),
    /// A table of indicators whose first line has no names.
    #[error("'{0}' in the first line is not a name: a header with the names of the labels is needed")]
    NoHeader(String),
    /// Bytes that are not UTF-8 where text is needed.
    #[error("not UTF-8 text")]
    NotText,
}

/// A cell in brackets; nothing for an empty one.
fn spelled(cell: &str) -> String {
    if cell.is_empty() { String::new() } else { format!(" ('{cell}')") }
}

impl CsvProblem {
    /// A suggested remedy, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            CsvProblem::Missing | CsvProblem::NotFinite(_) => Some("remove the row or impute the value".into()),
            CsvProblem::MissingLabel(cell) if cell.is_empty() => Some("remove the rows without a label".into()),
            CsvProblem::MissingLabel(_) => {
                Some("remove the rows without a label; a class of this name needs another one, such as 'none'".into())
            }
            CsvProblem::NotANumber { column, is_label_specified, .. } => {
                let strings = format!("if the samples are strings, pass --format strings:{column}");
                Some(if *is_label_specified {
                    format!("features are numbers: leave the column out, or write its values as numbers; {strings}")
                } else {
                    format!("if this column holds the labels, pass --label {column}; {strings}")
                })
            }
            CsvProblem::WordAmongNumbers { cell, column, is_label_specified, .. } => Some(format!(
                "correct it, or leave the cell empty if '{cell}' means a missing value{}",
                if *is_label_specified { String::new() } else { format!("; if the column holds the labels, pass --label {column}") }
            )),
            CsvProblem::OneColumn { other, .. } => Some(match other {
                Some(other) => {
                    format!("if {} separates the cells, pass --delimiter {}", named(*other), argument(*other))
                }
                None => "name what separates the cells with --delimiter".into(),
            }),
            CsvProblem::UnclosedQuote => Some(
                "close the quote, or double it (\"\") if it is part of the text: otherwise the lines behind it would be \
                 read as one cell"
                    .into(),
            ),
            CsvProblem::UnclearHeader(_) => {
                Some("pass --header yes if they are names, --header no if they are a sample".into())
            }
            CsvProblem::SameName { .. } => Some("rename one of them: columns are matched by their names".into()),
            CsvProblem::NoMeasure { column, .. } => Some(format!(
                "leave the column out with --drop {column}, or replace it by numbers, such as the year, the month or the \
                 days since a date"
            )),
            CsvProblem::DecimalMark { problem: [_, help], .. } => Some((*help).into()),
            CsvProblem::TooManyCategories { column, .. } => Some(format!(
                "if they name the samples, pass --id {column}; if they are the samples, --format strings:{column}"
            )),
            CsvProblem::NoValue => Some("leave the column out".into()),
            CsvProblem::OtherKind { .. } | CsvProblem::Weight(_) => None,
            CsvProblem::Indicator(_) | CsvProblem::NoHeader(_) => None,
            CsvProblem::Ragged { expected: 1, .. } => {
                Some("if the first line is a title, remove it; name what separates cells with --delimiter".into())
            }
            CsvProblem::Ragged { delimiter, .. } => Some(format!(
                "complete the line, put cells that contain {} in quotes, or name another separator with --delimiter",
                named(*delimiter)
            )),
            CsvProblem::NotText => Some(NOT_UTF_8.into()),
        }
    }
}

/// The remedy for text in an encoding without a mark.
pub(crate) const NOT_UTF_8: &str =
    "convert the file to UTF-8; if it is in Latin-1 (Windows), with: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW";

/// A delimiter in messages.
fn named(delimiter: char) -> String {
    match delimiter {
        '\t' => "tabs".into(),
        ' ' => "blanks".into(),
        other => format!("'{other}'"),
    }
}

/// A delimiter as an argument of the command line.
fn argument(delimiter: char) -> String {
    match delimiter {
        '\t' => "tab".into(),
        ' ' => "space".into(),
        other => format!("'{other}'"),
    }
}

/// A problem with a Parquet file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetProblem {
    /// The decoder's message.
    #[error("not a whole Parquet file, or one of a kind that is not read: {0}")]
    Unreadable(String),
    /// Compressed as a whole, or a pipe.
    #[error("Parquet is read from regular files that are not compressed as a whole")]
    NoFile,
    /// Fewer values than stated by the file.
    #[error("the values end here, before the row group does")]
    Truncated,
    /// A list, a map or a structure.
    #[error("nested values are not read")]
    Nested,
    /// A column of a non-numeric type.
    #[error("values of the type {0} are not read, expected numbers or booleans")]
    Kind(String),
    /// A column of text that is not the label.
    #[error("text, and it is not the label")]
    Text {
        /// Whether the caller specified a label column other than this one.
        is_label_specified: bool,
    },
    /// A null, or an empty label.
    #[error("missing value")]
    Missing,
    /// An infinite value, or NaN.
    #[error("{0} is not a finite number")]
    NotFinite(f64),
    /// An integer that double precision cannot represent exactly.
    #[error("{0} cannot be stored exactly as a floating-point number")]
    Inexact(i128),
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
}

impl ParquetProblem {
    /// A suggested remedy, if there is one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            ParquetProblem::Unreadable(_) | ParquetProblem::Truncated => {
                Some("copy the file again, or write it again with snappy, gzip, zstd or no compression")
            }
            ParquetProblem::Nested => Some("write a column for each number"),
            ParquetProblem::Kind(_) => Some("turn the column into numbers, or leave it out"),
            ParquetProblem::Text { is_label_specified: true } => {
                Some("features are numbers: leave the column out, or write its values as numbers")
            }
            ParquetProblem::Text { is_label_specified: false } => {
                Some("if this column holds the labels, name it with --label, or leave it out")
            }
            ParquetProblem::Missing | ParquetProblem::NotFinite(_) => Some("remove the row or impute the value"),
            ParquetProblem::Inexact(_) => Some("if this column numbers the rows, leave it out"),
            ParquetProblem::NoFile | ParquetProblem::NotText => None,
        }
    }
}

/// A problem with an NPY array.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayProblem {
    /// The magic bytes are missing.
    #[error("not an NPY array (it does not start with \\x93NUMPY)")]
    NotNpy,
    /// An invalid header.
    #[error("damaged NPY header: {0}")]
    Header(String),
    /// An unsupported element type.
    #[error("dtype {found} is not read, expected {expected}")]
    Dtype {
        /// The type in the header.
        found: String,
        /// The types supported here.
        expected: &'static str,
    },
    /// The wrong number or size of dimensions.
    #[error("shape {found}, expected {expected}")]
    Shape {
        /// The shape in the header.
        found: String,
        /// The expected shape.
        expected: String,
    },
    /// Less data than the header claims.
    #[error("truncated: the header claims {claimed} bytes of data, there are {found}")]
    Truncated {
        /// Bytes required by the shape and the dtype.
        claimed: u64,
        /// Bytes present.
        found: u64,
    },
    /// More data than the header claims.
    #[error("more data than the {claimed} bytes its header claims")]
    Trailing {
        /// Bytes required by the shape and the dtype.
        claimed: u64,
    },
    /// An infinite value, or NaN.
    #[error("row {row}, column {column} (from 0): {value} is not a finite number")]
    NotFinite {
        /// Row of the sample, from 0.
        row: usize,
        /// Column of the feature, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// An invalid value in a matrix of indicators.
    #[error("row {row}, column {column} (from 0): {value}, expected 1 for a label that the sample has, 0 or NaN")]
    Indicator {
        /// Row of the sample, from 0.
        row: usize,
        /// Column of the label, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// An integer too large to be exact as `f64`.
    #[error("{0} is too large to be exact in double precision")]
    Inexact(i128),
    /// A number outside the required range.
    #[error("{value} at position {position}, expected {expected}")]
    OutOfRange {
        /// The number.
        value: i128,
        /// Its position, from 0.
        position: usize,
        /// The required range.
        expected: String,
    },
    /// An invalid string.
    #[error("the string at position {0} is not Unicode text")]
    NotText(usize),
}

impl ArrayProblem {
    /// A suggested remedy, if there is one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            ArrayProblem::Dtype { .. } => Some("convert the array with .astype() before saving it"),
            ArrayProblem::NotFinite { .. } => Some("remove the row or impute the value"),
            _ => None,
        }
    }
}

/// Text of a file as shown in a message: at most 40 characters, with control characters escaped.
pub(crate) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for (position, character) in text.chars().enumerate() {
        if position == 40 {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Bytes of a file as shown in a message: at most a few, without control characters.
pub(crate) fn shown(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(160)]))
}

/// Names for a message: all of them if there are few.
pub(crate) fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(12).map(|name| excerpt(name)).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
