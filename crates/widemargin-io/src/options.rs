//! Options for reading a file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use widemargin::data::{ColumnRoles, Decimal, Notation, TableColumns};

use crate::Format;
use crate::error::{Problem, ProblemKind};
use crate::text_input::MAX_LINE;

/// How to read a file. The defaults suit self-describing files.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, if it cannot be determined from the file name.
    pub format: Option<Format>,
    /// Which column holds the labels.
    pub label: LabelColumn,
    /// A file with the label of each sample: text, one per line, or a `.npy` vector; for multilabel samples a CSV or
    /// TSV file with a header and one column per label, or a `.npy` matrix. The file of the samples then has no labels.
    pub label_file: Option<PathBuf>,
    /// Which column of a file of strings holds the strings; automatic is the only suitable column: the one called
    /// `text`, `string`, `sequence`, `smiles`, `sentence` or `message`, otherwise the one called `word` or `name`,
    /// otherwise the only one that is neither the label nor numeric. Of two columns without a header, the last that is
    /// not the label.
    pub text: LabelColumn,
    /// Whether a CSV or TSV file has a header; by default determined from its first lines.
    pub header: Option<bool>,
    /// What separates the cells of a CSV or TSV file: an ASCII character. By default determined from the text: a comma,
    /// or a tab in a file whose name ends in `.tsv`, unless another separator makes a table of it.
    pub delimiter: Option<u8>,
    /// The decimal mark of a CSV or TSV file; by default that of `notation`.
    pub decimal: Option<Decimal>,
    /// How the file writes numbers and indices, as in the training of the model that it is read for; by default
    /// determined from its first lines.
    pub notation: Notation,
    /// The number of features of a LIBSVM file; by default the largest index in it. An index above it is an error.
    pub n_features: Option<usize>,
    /// Whether a model is trained on the samples: by [`crate::read`], of a CSV or TSV file that can be read twice,
    /// columns of words are booleans or categories, and missing values become the median, as
    /// [`Table::columns`](crate::Table::columns) tells. Otherwise, and in blocks, they are errors.
    pub learn: bool,
    /// The column of a CSV or TSV file that names the samples, and is not a feature.
    pub id: Option<LabelColumn>,
    /// The column of a CSV or TSV file with the weight of each sample.
    pub weight: Option<LabelColumn>,
    /// The column of a CSV or TSV file with the group of each sample.
    pub group: Option<LabelColumn>,
    /// Columns of a CSV or TSV file that are left out.
    pub drop: Vec<LabelColumn>,
    /// Columns of a CSV or TSV file whose numbers are categories, where columns are learned.
    pub categorical: Vec<LabelColumn>,
    /// The table that the model of these samples was trained on; the columns of a CSV or TSV file are then found as
    /// they were there, in any order if they have names, and hold the same.
    pub trained: Option<Arc<TrainedTable>>,
    /// Whether the labels and weights of a CSV or TSV file are left out, whatever they are.
    pub skip_labels: bool,
    /// The approximate number of bytes of the file per block of [`crate::Blocks`]; by default 8 MiB.
    pub block_bytes: Option<usize>,
    /// The maximum length of a line of text, in bytes; by default 1 GiB.
    pub max_line_bytes: Option<usize>,
}

impl ReadOptions {
    /// Refuses options that do not apply to a format.
    pub(crate) fn check(&self, file: &Path, format: Format) -> Result<(), Problem> {
        let is_table = matches!(format, Format::Csv | Format::Tsv);
        for (flag, column) in self.other_columns() {
            let reason = match is_table {
                true if flag == "--categorical" && !file.is_file() => {
                    "categories are learned from one file, which is read twice"
                }
                true => continue,
                false => "it is for the columns of a CSV or TSV file",
            };
            return Err(column.refused_as(flag, reason));
        }
        let strings = format == Format::Strings;
        for (flag, is_set, applies) in [
            ("--header", self.header.is_some(), is_table || strings),
            ("--delimiter", self.delimiter.is_some(), is_table || strings),
            ("--decimal", self.decimal.is_some(), is_table),
        ] {
            if is_set && !applies {
                let problem = Problem::new(format!("{flag} is for CSV and TSV files, and this is {format}"));
                return Err(problem.help("if it is a table, add --format csv"));
            }
        }
        if matches!(&self.label, LabelColumn::Indicators(_)) && (file.is_dir() || !is_table) {
            let reason = "indicator columns are for CSV and TSV files; pass the labels of other multilabel samples in a \
                          separate file (--label-file)";
            return Err(self.label.refused(reason));
        }
        if self.text == LabelColumn::Auto || strings {
            return Ok(());
        }
        Err(self.text.refused_as_text(&format!("the samples of {format} are {}, not strings", format.kind())))
    }

    /// The columns other than the label's that the options name, with the flags of the command line that name them.
    pub(crate) fn other_columns(&self) -> impl Iterator<Item = (&'static str, &LabelColumn)> {
        let named = [("--id", &self.id), ("--weight-column", &self.weight), ("--group", &self.group)];
        let named = named.into_iter().filter_map(|(flag, column)| Some((flag, column.as_ref()?)));
        let dropped = self.drop.iter().map(|column| ("--drop", column));
        let categorical = self.categorical.iter().map(|column| ("--categorical", column));
        named.chain(dropped).chain(categorical)
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.block_bytes.unwrap_or(BLOCK_BYTES).max(1)
    }

    pub(crate) fn max_line_bytes(&self) -> usize {
        self.max_line_bytes.unwrap_or(MAX_LINE)
    }

    /// Whether labels are requested of a format without columns; `reason` is the message if a column is.
    pub(crate) fn wants_labels(&self, reason: &str) -> Result<bool, Problem> {
        match &self.label {
            LabelColumn::Auto => Ok(true),
            LabelColumn::None => Ok(false),
            label => Err(label.refused(reason)),
        }
    }
}

/// What a model knows of the table that it was trained on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainedTable {
    /// The names of the columns of features, in the order of training, if they had names.
    pub names: Option<Vec<String>>,
    /// The number of columns of features.
    pub n_columns: usize,
    /// The columns that were no features, if the model was trained on a table.
    pub roles: Option<ColumnRoles>,
    /// How the columns became features, if they are more than numbers.
    pub columns: Option<Arc<TableColumns>>,
}

impl From<TableColumns> for TrainedTable {
    fn from(columns: TableColumns) -> Self {
        let (names, n_columns) = (columns.names(), columns.0.len());
        TrainedTable { names, n_columns, roles: None, columns: Some(Arc::new(columns)) }
    }
}

/// The number of bytes of a block if the caller names none.
pub(crate) const BLOCK_BYTES: usize = 8 << 20;

/// Which column of a table holds the labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LabelColumn {
    /// LIBSVM: the first word of each line. NPZ: the array `labels` or `y`. NPY: none. CSV: the last column named
    /// `label`, `class`, `target` or `y`; otherwise the only column that contains text; otherwise the first column if
    /// there is no header, and none if there is one. Parquet: as CSV with a header. Strings: a column with one of these
    /// names, or the only one besides the strings.
    #[default]
    Auto,
    /// No labels: every column is a feature, and LIBSVM lines may begin with a pair.
    None,
    /// The column with this name in the header.
    Name(String),
    /// The column with this number: 1 is the first, -1 the last.
    Number(i64),
    /// Columns of a CSV or TSV file, one per label of multilabel samples, by name or number: 1 if the sample has the
    /// label, 0 if not, empty if unknown.
    Indicators(Vec<LabelColumn>),
}

impl LabelColumn {
    /// The problem of a label column that does not exist.
    pub(crate) fn refused(&self, reason: &str) -> Problem {
        let problem = Problem::new(format!("no label column {self}: {reason}"));
        let kind = ProblemKind::NoLabelColumn(reason.to_owned());
        problem.help("--label takes a name or a number: 1 is the first column, -1 the last").kind(kind)
    }

    /// The problem of a column of strings that does not exist.
    pub(crate) fn refused_as_text(&self, reason: &str) -> Problem {
        let help = "--format strings:COLUMN takes a name or a number: 1 is the first column, -1 the last";
        Problem::new(format!("no text column {self}: {reason}")).help(help)
    }

    /// The problem of another column, which the flag of the command line names.
    pub(crate) fn refused_as(&self, flag: &str, reason: &str) -> Problem {
        Problem::new(format!("{flag} {self}: {reason}"))
            .help("it takes a name or a number: 1 is the first column, -1 the last")
    }

    /// Position, from 0, of column `number` (from 1, or from the end if negative) among `n_columns`.
    pub(crate) fn position(number: i64, n_columns: usize) -> Option<usize> {
        let n = i64::try_from(n_columns).ok()?;
        let position = if number > 0 { number - 1 } else { n.checked_add(number)? };
        (number != 0 && (0..n).contains(&position)).then_some(position as usize)
    }
}

impl FromStr for LabelColumn {
    type Err = std::convert::Infallible;

    /// `none`, a number, a name, or several of these with commas between.
    fn from_str(text: &str) -> Result<LabelColumn, Self::Err> {
        let one = |text: &str| text.parse().map_or_else(|_| LabelColumn::Name(text.to_owned()), LabelColumn::Number);
        Ok(match text {
            "none" => LabelColumn::None,
            _ if text.contains(',') => LabelColumn::Indicators(text.split(',').map(|text| one(text.trim())).collect()),
            _ => one(text),
        })
    }
}

impl fmt::Display for LabelColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabelColumn::Auto => f.write_str("auto"),
            LabelColumn::None => f.write_str("none"),
            LabelColumn::Name(name) => write!(f, "'{name}'"),
            LabelColumn::Number(number) => write!(f, "{number}"),
            LabelColumn::Indicators(columns) => {
                let all: Vec<String> = columns.iter().map(ToString::to_string).collect();
                f.write_str(&all.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_from_one_and_from_the_end() {
        for (number, position) in
            [(1, Some(0)), (3, Some(2)), (4, None), (0, None), (-1, Some(2)), (-3, Some(0)), (-4, None)]
        {
            assert_eq!(LabelColumn::position(number, 3), position, "{number}");
        }
        assert_eq!(LabelColumn::position(i64::MIN, 3), None);
        assert_eq!("none".parse(), Ok(LabelColumn::None));
        assert_eq!("-1".parse(), Ok(LabelColumn::Number(-1)));
        assert_eq!("species".parse(), Ok(LabelColumn::Name("species".into())));
        let indicators = LabelColumn::Indicators(vec![LabelColumn::Name("a b".into()), LabelColumn::Number(-1)]);
        assert_eq!(indicators.to_string(), "'a b', -1");
        assert_eq!("a b, -1".parse(), Ok(indicators));
    }
}
