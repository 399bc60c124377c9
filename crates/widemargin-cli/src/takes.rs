//! What is common to models of all kinds, and what they require of samples.

use widemargin::data::{AnySamples, ColumnRoles, TableColumns};
use widemargin::model::AnyModel;
use widemargin_io::TrainedTable;

/// The same of a model of any kind.
macro_rules! of_any {
    ($any:expr, $model:ident => $value:expr) => {
        match $any {
            widemargin::model::AnyModel::Classifier($model) => $value,
            widemargin::model::AnyModel::Regressor($model) => $value,
            widemargin::model::AnyModel::OneClass($model) => $value,
        }
    };
}
pub(crate) use of_any;

/// What a model requires of samples.
#[derive(Clone, Copy)]
pub struct Takes<'a> {
    /// Number of features of vectors.
    pub n_features: Option<usize>,
    /// Their names.
    pub feature_names: Option<&'a [String]>,
    /// How the columns of a table become features.
    pub table_columns: Option<&'a TableColumns>,
    /// Which columns of the training table are no features.
    pub column_roles: Option<&'a ColumnRoles>,
    /// The samples that it compares others with.
    pub bases: Option<&'a AnySamples>,
}

impl Takes<'_> {
    /// The table that the model was trained on, as far as the model knows it.
    pub fn trained_table(&self) -> Option<TrainedTable> {
        let (names, n_columns) = match self.table_columns {
            Some(columns) => (columns.names(), columns.0.len()),
            None => (self.feature_names.map(<[String]>::to_vec), self.n_features?),
        };
        Some(TrainedTable { names, n_columns, roles: self.column_roles.cloned() })
    }
}

impl<'a> From<&'a AnyModel> for Takes<'a> {
    fn from(model: &'a AnyModel) -> Self {
        of_any!(model, model => Takes {
            n_features: model.n_features(),
            feature_names: model.feature_names(),
            table_columns: model.table_columns(),
            column_roles: model.column_roles(),
            bases: model.bases(),
        })
    }
}
