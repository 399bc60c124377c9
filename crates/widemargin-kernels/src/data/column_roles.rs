//! The columns of a table that are no features: labels, names, weights, and those left out.

use serde::{Deserialize, Serialize};

/// A column of the training table.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleColumn {
    /// Its name; empty in a table without a header.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its position, from 0.
    pub position: usize,
}

/// The columns of the training table that are not features of the model.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnRoles {
    /// The number of columns of the table, features and others.
    pub n_columns: usize,
    /// The columns of the labels: one, or several for multilabel targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<RoleColumn>,
    /// The column with the name of each sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RoleColumn>,
    /// The column with the weight of each sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<RoleColumn>,
    /// Columns that were excluded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<RoleColumn>,
}

impl ColumnRoles {
    /// All columns that are not features.
    pub fn columns(&self) -> impl Iterator<Item = &RoleColumn> {
        self.labels.iter().chain(&self.id).chain(&self.weight).chain(&self.dropped)
    }

    /// Number of columns that are features.
    pub fn n_features(&self) -> usize {
        self.n_columns.saturating_sub(self.columns().count())
    }

    /// Why they are not those of a table.
    pub fn problem(&self) -> Option<String> {
        let mut positions: Vec<usize> = self.columns().map(|column| column.position).collect();
        positions.sort_unstable();
        if positions.windows(2).any(|pair| pair[0] == pair[1]) {
            return Some("a column has two roles".into());
        }
        let last = positions.last().filter(|last| **last >= self.n_columns)?;
        Some(format!("column {} of {}", last + 1, self.n_columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_as_they_were_written() {
        let text = r#"{"n_columns":4,"labels":[{"name":"y","position":3}],"id":{"position":0}}"#;
        let roles: ColumnRoles = serde_json::from_str(text).unwrap();
        assert_eq!((roles.n_features(), roles.problem()), (2, None));
        assert_eq!(serde_json::to_string(&roles).unwrap(), text);
        let with =
            |position| ColumnRoles { weight: Some(RoleColumn { position, ..Default::default() }), ..roles.clone() };
        assert!(
            with(3).problem().unwrap().contains("two roles")
                && with(4).problem().is_some()
                && with(1).problem().is_none()
        );
    }
}
