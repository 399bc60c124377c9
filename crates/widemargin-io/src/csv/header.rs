//! The columns of a table by number and by name.

use std::collections::HashMap;

use widemargin::suggestion;

use crate::error::{Problem, excerpt, list};
use crate::options::LabelColumn;

/// Names of a label column.
pub(super) const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// The columns of a file, with their names if it has any.
#[derive(Debug)]
pub(crate) struct Header {
    pub names: Option<Vec<String>>,
    pub n: usize,
}

impl Header {
    /// The column with a name; or why there is not exactly one.
    fn named(&self, name: &str) -> Result<usize, String> {
        let names = self.names.as_ref().ok_or("the file has no header")?;
        let mut found = names.iter().enumerate().filter(|(_, known)| *known == name).map(|(column, _)| column);
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column),
            (Some(one), Some(other)) => {
                Err(format!("columns {} and {} have this name: give the number of one", one + 1, other + 1))
            }
            (None, _) => {
                let suggestion = suggestion(name, names.iter().map(String::as_str));
                Err(format!("{suggestion}the columns are {}", list(names)))
            }
        }
    }

    /// Rejects duplicate names among some columns.
    pub fn check_names(&self, columns: &[usize]) -> Result<(), Problem> {
        let Some(names) = &self.names else { return Ok(()) };
        let mut column_of = HashMap::new();
        for &column in columns.iter().filter(|column| !names[**column].is_empty()) {
            if let Some(other) = column_of.insert(&names[column], column) {
                let name = excerpt(&names[column]);
                let text = format!("columns {} and {} are both called '{name}'", other + 1, column + 1);
                return Err(Problem::new(text).help("rename one of them: columns are matched by their names"));
            }
        }
        Ok(())
    }

    /// The column with a name or a number; or why there is none.
    pub fn find(&self, column: &LabelColumn) -> Result<usize, String> {
        match column {
            LabelColumn::Number(number) => {
                LabelColumn::position(*number, self.n).ok_or_else(|| format!("there are {} columns", self.n))
            }
            LabelColumn::Name(name) => self.named(name),
            LabelColumn::Auto | LabelColumn::None | LabelColumn::Indicators(_) => {
                Err("a name or a number is needed".into())
            }
        }
    }

    /// The label column, if the caller specified it.
    pub fn label(&self, label: &LabelColumn) -> Result<Option<usize>, Problem> {
        match label {
            LabelColumn::None | LabelColumn::Auto | LabelColumn::Indicators(_) => Ok(None),
            one => self.find(one).map(Some).map_err(|reason| label.refused(&reason)),
        }
    }

    /// The name of a column, if it has any.
    pub fn name(&self, column: usize) -> Option<&str> {
        self.names.as_ref().map(|names| names[column].as_str()).filter(|name| !name.is_empty())
    }

    /// Whether a column has one of these names.
    pub fn is_one_of(&self, column: usize, known: &[&str]) -> bool {
        self.names.as_ref().is_some_and(|names| is_one_of(&names[column], known))
    }

    /// The last column with the name of a label.
    pub fn label_by_name(&self) -> Option<usize> {
        (0..self.n).rfind(|&column| self.is_one_of(column, &LABEL_NAMES))
    }

    /// A column as the value of a flag that names it: its name in quotes, or its number if the name is not found so.
    pub fn flag_value(&self, column: usize) -> String {
        let is_found = |name: &&str| {
            let Ok(value) = name.parse();
            !name.contains('\'') && self.find(&value) == Ok(column)
        };
        self.name(column).filter(is_found).map_or_else(|| (column + 1).to_string(), |name| format!("'{name}'"))
    }

    /// The name of a column in messages: its name in quotes, or its number from 1.
    pub fn called(&self, column: usize) -> String {
        self.name(column).map_or_else(|| (column + 1).to_string(), |name| format!("'{}'", excerpt(name)))
    }
}

/// Whether a cell is one of these names, in capitals or not.
pub(super) fn is_one_of(cell: &str, names: &[&str]) -> bool {
    names.iter().any(|name| cell.trim_ascii().eq_ignore_ascii_case(name))
}
