//! What a model knows of the samples that it takes, whatever it predicts.

use widemargin::data::{AnySamples, TableColumns};
use widemargin::model::{Classifier, OneClass, Regressor};

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

/// The same of models of every kind.
macro_rules! takes {
    ($($kind:ident),+) => {$(
        impl<'a> From<&'a dyn $kind> for Takes<'a> {
            fn from(model: &'a dyn $kind) -> Self {
                Takes {
                    n_features: model.n_features(),
                    feature_names: model.feature_names(),
                    table_columns: model.table_columns(),
                    bases: model.bases(),
                }
            }
        }
    )+};
}
takes!(Classifier, Regressor, OneClass);
