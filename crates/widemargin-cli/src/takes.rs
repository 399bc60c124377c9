//! What a model knows of the samples that it takes, whatever it predicts.

use widemargin::data::{AnySamples, TableColumns};
use widemargin::model::{Classifier, Regressor};

/// What a model knows of the samples that it takes.
#[derive(Clone, Copy)]
pub struct Takes<'a> {
    /// Number of features of vectors.
    pub n_features: Option<usize>,
    /// Their names.
    pub feature_names: Option<&'a [String]>,
    /// How the columns of a table become features.
    pub table_columns: Option<&'a TableColumns>,
    /// The samples that it compares others with.
    pub bases: Option<&'a AnySamples>,
}

impl<'a> From<&'a dyn Classifier> for Takes<'a> {
    fn from(model: &'a dyn Classifier) -> Self {
        Takes {
            n_features: model.n_features(),
            feature_names: model.feature_names(),
            table_columns: model.table_columns(),
            bases: model.bases(),
        }
    }
}

impl<'a> From<&'a dyn Regressor> for Takes<'a> {
    fn from(model: &'a dyn Regressor) -> Self {
        Takes {
            n_features: model.n_features(),
            feature_names: model.feature_names(),
            table_columns: model.table_columns(),
            bases: model.bases(),
        }
    }
}
