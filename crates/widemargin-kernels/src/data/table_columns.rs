//! How the columns of a table become features: numbers, booleans, categories, missing values.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// The kind of a column of a table.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers: one feature. A missing number is replaced by the median of the training samples.
    Number {
        /// The median.
        median: f64,
    },
    /// True or false as words: one feature, 1 or 0. A missing value is replaced by the median.
    Boolean {
        /// The median.
        median: f64,
    },
    /// Text: one feature per category, 1 for the category of the sample. All are 0 for a missing category, and for one
    /// that is not in the training samples.
    Category {
        /// The categories of the training samples, sorted where they are learned.
        values: Vec<String>,
    },
}

/// A column of the tables that a model takes.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableColumn {
    /// Its name; empty in a table without a header.
    pub name: String,
    /// Its kind.
    #[serde(flatten)]
    pub kind: ColumnKind,
    /// Whether values were missing in training samples: an additional feature is then 1 for missing values.
    #[serde(default)]
    pub has_missing: bool,
}

/// The outcome of encoding a cell.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// Features.
    Known,
    /// The value was missing.
    Missing,
    /// A category that is not in the training samples.
    UnknownCategory,
}

/// The columns of the tables that a model takes, in the order of its features.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TableColumns(pub Vec<TableColumn>);

impl TableColumn {
    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.names().len()
    }

    /// Appends the features of a cell, which is `None` if it is missing. `number` is the number that a text spells.
    ///
    /// # Errors
    /// The expected kind, for a text that is not a finite number or a boolean. Nothing is appended.
    pub fn encode(
        &self,
        cell: Option<&str>,
        number: impl Fn(&str) -> Option<f64>,
        features: &mut Vec<f64>,
    ) -> Result<Encoded, &'static str> {
        let mut encoded = if cell.is_some() { Encoded::Known } else { Encoded::Missing };
        match &self.kind {
            ColumnKind::Number { median } => features.push(match cell {
                None => *median,
                Some(text) => number(text).filter(|x| x.is_finite()).ok_or("a number")?,
            }),
            ColumnKind::Boolean { median } => features.push(match cell {
                None => *median,
                Some(text) => f64::from(u8::from(as_boolean(text).or(as_bit(text)).ok_or("true or false")?)),
            }),
            ColumnKind::Category { values } => {
                let at = cell.and_then(|text| values.iter().position(|value| value == text));
                features.extend((0..values.len()).map(|value| f64::from(u8::from(Some(value) == at))));
                if cell.is_some() && at.is_none() {
                    encoded = Encoded::UnknownCategory;
                }
            }
        }
        if self.has_missing {
            features.push(f64::from(u8::from(cell.is_none())));
        }
        Ok(encoded)
    }

    fn names(&self) -> Vec<String> {
        let name = &self.name;
        let mut names = match &self.kind {
            ColumnKind::Number { .. } | ColumnKind::Boolean { .. } => vec![name.clone()],
            ColumnKind::Category { values } => values.iter().map(|value| format!("{name}={value}")).collect(),
        };
        names.extend(self.has_missing.then(|| format!("{name} is missing")));
        names
    }
}

impl TableColumns {
    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.0.iter().map(TableColumn::n_features).sum()
    }

    /// The names of the columns; none of a table without a header.
    pub fn names(&self) -> Option<Vec<String>> {
        let names: Vec<String> = self.0.iter().map(|column| column.name.clone()).collect();
        names.iter().all(|name| !name.is_empty()).then_some(names)
    }

    /// The names of the features: of a category `column=value`, of the indicator of a missing value `column is
    /// missing`; none of a table without a header.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        self.names()?;
        Some(self.0.iter().flat_map(TableColumn::names).collect())
    }

    /// Notes on the columns for the report: one line for each that is not purely numeric.
    pub fn notes(&self) -> Vec<String> {
        let one = |(at, column): (usize, &TableColumn)| {
            let name = if column.name.is_empty() { (at + 1).to_string() } else { format!("'{}'", column.name) };
            let kind = match &column.kind {
                ColumnKind::Number { .. } if !column.has_missing => return None,
                ColumnKind::Number { .. } => "numbers".to_owned(),
                ColumnKind::Boolean { .. } => "true or false".to_owned(),
                ColumnKind::Category { values } => format!("{} categories, one feature each", values.len()),
            };
            let missing = match (&column.kind, column.has_missing) {
                (_, false) => String::new(),
                (ColumnKind::Category { .. }, true) => "; a feature says which are missing".to_owned(),
                (ColumnKind::Number { median } | ColumnKind::Boolean { median }, true) => {
                    format!("; missing ones became the median {median}, and a feature says which")
                }
            };
            Some(format!("column {name}: {kind}{missing}"))
        };
        self.0.iter().enumerate().filter_map(one).collect()
    }

    /// Why they are not those of a whole file.
    pub fn problem(&self) -> Option<String> {
        let names: HashSet<&str> = self.0.iter().map(|column| column.name.as_str()).collect();
        if names.len() < self.0.len() && !(names.len() == 1 && names.contains("")) {
            return Some("two columns have the same name".into());
        }
        self.0.iter().find_map(|column| match &column.kind {
            ColumnKind::Number { median } | ColumnKind::Boolean { median } if !median.is_finite() => {
                Some(format!("the median of column '{}' is not finite", column.name))
            }
            _ => None,
        })
    }
}

/// The truth of a number in a column that held words in training.
fn as_bit(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// The truth of a word: true or false, yes or no, in capitals or not.
#[doc(hidden)]
pub fn as_boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 2]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["true", "yes"]) { Some(true) } else { is(["false", "no"]).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_features() {
        let column = |kind, has_missing| TableColumn { name: "c".into(), kind, has_missing };
        let encode = |column: &TableColumn, cell: Option<&str>| {
            let mut features = Vec::new();
            column.encode(cell, |text| text.parse().ok(), &mut features).map(|encoded| (features, encoded))
        };
        let number = column(ColumnKind::Number { median: 2.5 }, true);
        assert_eq!(encode(&number, Some("1e2")), Ok((vec![100.0, 0.0], Encoded::Known)));
        assert_eq!(encode(&number, None), Ok((vec![2.5, 1.0], Encoded::Missing)));
        assert_eq!(encode(&number, Some("red")), Err("a number"));
        assert_eq!(encode(&number, Some("inf")), Err("a number"));
        let boolean = column(ColumnKind::Boolean { median: 1.0 }, false);
        assert_eq!(encode(&boolean, Some("NO")), Ok((vec![0.0], Encoded::Known)));
        assert_eq!(encode(&boolean, None), Ok((vec![1.0], Encoded::Missing)));
        let category = column(ColumnKind::Category { values: vec!["b".into(), "a".into()] }, false);
        assert_eq!(encode(&category, Some("a")), Ok((vec![0.0, 1.0], Encoded::Known)));
        assert_eq!(encode(&category, Some("A")), Ok((vec![0.0, 0.0], Encoded::UnknownCategory)));
        let all = TableColumns(vec![number, category]);
        assert_eq!((all.n_features(), all.problem().is_some()), (4, true));
        assert_eq!(all.feature_names().unwrap(), ["c", "c is missing", "c=b", "c=a"]);
        assert_eq!(all.notes()[0], "column 'c': numbers; missing ones became the median 2.5, and a feature says which");
    }

    #[test]
    fn columns_are_read_as_they_were_written() {
        let text = r#"[{"name":"a","kind":"number","median":0.5},{"name":"b","kind":"category","values":["x"],"has_missing":true}]"#;
        let columns: TableColumns = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::from_str::<TableColumns>(&serde_json::to_string(&columns).unwrap()).unwrap(), columns);
        assert_eq!(columns.n_features(), 3);
    }
}
