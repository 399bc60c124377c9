//! Finds the columns that are not features: those named by the options, and those of the training table.

use widemargin::Error;
use widemargin::data::{ColumnRoles, RoleColumn, column_order};

use super::header::Header;
use crate::error::Problem;
use crate::options::{LabelColumn, ReadOptions, TrainedTable};

/// The positions of columns that are not features.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// The label column.
    pub label: Option<usize>,
    /// The indicator columns of multilabel samples.
    pub indicators: Vec<usize>,
    pub id: Option<usize>,
    pub weight: Option<usize>,
    pub group: Option<usize>,
    pub dropped: Vec<usize>,
    /// Features whose numbers are categories.
    pub categorical: Vec<usize>,
    /// The column of the samples, if they are strings.
    pub text: Option<usize>,
}

impl Roles {
    /// The columns that the caller names.
    pub fn named(header: &Header, options: &ReadOptions) -> Result<Roles, Problem> {
        let indicators = indicators(header, &options.label)?;
        let mut roles = Roles { label: header.label(&options.label)?, indicators, ..Roles::default() };
        for (flag, column) in options.other_columns() {
            let at = header.find(column).map_err(|reason| column.refused_as(flag, &reason))?;
            if !roles.is_free(at) {
                let is_label = roles.label == Some(at) || roles.indicators.contains(&at);
                let reason = if is_label { "it is also the label column" } else { "it is named twice" };
                return Err(column.refused_as(flag, reason));
            }
            match flag {
                "--id" => roles.id = Some(at),
                "--weight-column" => roles.weight = Some(at),
                "--group" => roles.group = Some(at),
                "--categorical" => roles.categorical.push(at),
                _ => roles.dropped.push(at),
            }
        }
        Ok(roles)
    }

    /// Adds the columns of the training table: found by name if both have names, otherwise by position if there are as many
    /// columns, with the labels or without. Label columns only if `may_be_added`.
    pub fn add_trained(&mut self, trained: &ColumnRoles, header: &Header, may_be_added: bool) {
        let at = |column: &RoleColumn| position(trained, header, column).filter(|at| self.is_free(*at));
        let mut labels: Vec<usize> = trained.labels.iter().filter_map(at).collect();
        if let (Some(named), [RoleColumn { name, .. }]) = (header.label_by_name(), &trained.labels[..])
            && name.is_empty()
            && self.is_free(named)
        {
            // In a table without a header the label had no name.
            labels = vec![named];
        }
        let (id, weight) = (trained.id.as_ref().and_then(at), trained.weight.as_ref().and_then(at));
        let mut dropped: Vec<usize> = trained.dropped.iter().filter_map(at).collect();
        // These are not features even if the caller names other columns.
        dropped.extend(id.filter(|_| self.id.is_some()).into_iter().chain(weight.filter(|_| self.weight.is_some())));
        if !may_be_added {
            // Without names, another label column, or none, makes this one a feature.
            dropped.extend(labels.drain(..).filter(|_| header.names.is_some()));
        }
        match trained.labels.len() {
            1 => self.label = self.label.or(labels.pop()),
            _ => self.indicators.append(&mut labels),
        }
        (self.id, self.weight) = (self.id.or(id), self.weight.or(weight));
        self.dropped.append(&mut dropped);
    }

    /// Leaves labels and weights out.
    pub fn skip_labels(&mut self) {
        self.dropped.extend(self.label.take().into_iter().chain(self.weight.take()));
        self.dropped.append(&mut self.indicators);
    }

    /// Whether a column may be a feature.
    pub fn is_free(&self, column: usize) -> bool {
        ![self.label, self.id, self.weight, self.group].contains(&Some(column))
            && !self.indicators.contains(&column)
            && !self.dropped.contains(&column)
    }
}

/// The indicator columns; empty unless the labels are indicators columns.
fn indicators(header: &Header, labels: &LabelColumn) -> Result<Vec<usize>, Problem> {
    let LabelColumn::Indicators(columns) = labels else { return Ok(Vec::new()) };
    let mut found: Vec<usize> = Vec::with_capacity(columns.len());
    for column in columns {
        let at = header.find(column).map_err(|reason| column.refused(&reason))?;
        if found.contains(&at) {
            return Err(column.refused("it is named twice"));
        }
        found.push(at);
    }
    Ok(found)
}

fn position(roles: &ColumnRoles, header: &Header, column: &RoleColumn) -> Option<usize> {
    if let (Some(names), false) = (&header.names, column.name.is_empty()) {
        return names.iter().rposition(|name| *name == column.name);
    }
    if header.n == roles.n_columns {
        return Some(column.position);
    }
    let is_label = roles.labels.contains(column);
    let labels_before = roles.labels.iter().filter(|label| label.position < column.position).count();
    (header.n + roles.labels.len() == roles.n_columns && !is_label).then(|| column.position - labels_before)
}

/// The label column of a table, among the `free` columns: by its name, or the only column of text; for training the first
/// of a table without names. The model of a trained table has not stored it.
///
/// # Errors
/// If there is one column more than the model has features, and it is not clear which is the label.
pub(super) fn label_column(
    trained: Option<&TrainedTable>,
    header: &Header,
    only_text: Option<usize>,
    free: &[usize],
) -> Result<Option<usize>, Problem> {
    let is_feature = |column: &usize| match (&header.names, trained.and_then(|trained| trained.names.as_ref())) {
        (Some(names), Some(trained)) => trained.contains(&names[*column]),
        _ => false,
    };
    let is_open = |column: &usize| free.contains(column) && !is_feature(column);
    // A model of numbers has no features of text, whatever the number of columns.
    let may_be_text = trained.is_none_or(|trained| trained.columns.is_none());
    let text = only_text.filter(|column| may_be_text && is_open(column));
    let clear = header.label_by_name().filter(is_open).or(text);
    let is_unclear = clear.is_none() && header.names.is_none();
    match trained.map(|trained| trained.n_columns) {
        None if is_unclear => Ok(free.first().copied()),
        Some(expected) if free.len() == expected && text.is_none() => Ok(None),
        Some(expected) if free.len() == expected + 1 && is_unclear => {
            let text = format!("{} columns, the model has {expected} features", free.len());
            let problem = Problem::new(format!("{text}: the label column cannot be determined"));
            Err(problem.help("name it with --label COLUMN: 1 is the first column, -1 the last"))
        }
        _ => Ok(clear),
    }
}

/// The columns of features in the order of training, by their names if both have names.
///
/// # Errors
/// [`Error::FeatureNames`] for a name that is missing or unknown, [`Error::FeatureCount`] for another number of columns.
pub(super) fn in_order(
    trained: &TrainedTable,
    header: &Header,
    features: Vec<usize>,
) -> widemargin::Result<Vec<usize>> {
    if let (Some(names), Some(trained)) = (&header.names, &trained.names) {
        let found: Vec<String> = features.iter().map(|&column| names[column].clone()).collect();
        let order = column_order(trained, &found)?;
        return Ok(order.map_or(features.clone(), |order| order.iter().map(|&at| features[at]).collect()));
    }
    if features.len() != trained.n_columns {
        return Err(Error::FeatureCount { found: features.len(), trained: trained.n_columns, hint: "" });
    }
    Ok(features)
}
