//! The interface of outlier detectors.

use std::any::Any;
use std::fmt;
use std::path::Path;

use super::classifier::Parameters;
use super::file::{self, Array};
use super::{BasisExpansionOneClass, Explanation, TrainingSettings, basis_expansion};
use crate::data::{AnySamples, ColumnRoles, SamplesView, TableColumns};
use crate::error::Result;
use crate::macros::model_methods;
use crate::monitor::Monitor;
use crate::similarity::AnySimilarity;
use crate::solve::Report;

/// A trained outlier detector: [`Classifier`](super::Classifier) without classes.
pub trait OneClass: Any + fmt::Debug + Send + Sync {
    /// The method, as model files and the command line name it.
    fn method(&self) -> &'static str;

    /// The kind of samples it takes, as messages name it.
    fn kind(&self) -> &'static str;

    /// The account of the fit.
    fn report(&self) -> &Report;

    /// Number of features of the training samples; none where they are no vectors.
    fn n_features(&self) -> Option<usize>;

    /// Number of weights.
    fn n_weights(&self) -> usize;

    /// The parameters that the model stores, and those selected automatically.
    fn parameters(&self) -> Parameters;

    /// The score below which samples are outliers.
    fn threshold(&self) -> f64;

    /// The share of samples like the training ones that is expected below the threshold.
    fn quantile(&self) -> f64;

    /// The score of each training sample by a fit without one copy of it.
    fn loo_scores(&self) -> &[f64];

    /// The parameters that the model was fitted with and does not show otherwise.
    fn training(&self) -> Option<&TrainingSettings>;

    /// The names of the features, where the training samples had names.
    fn feature_names(&self) -> Option<&[String]>;

    /// The model with the names of its features, or without names.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for another number of names than features.
    fn with_feature_names(self: Box<Self>, names: Option<Vec<String>>) -> Result<Box<dyn OneClass>>;

    /// How the columns of a table become features, where they are more than numbers.
    fn table_columns(&self) -> Option<&TableColumns>;

    /// The model with columns of a table that become its features, and with the names of these; or without.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if they do not become the features of the model.
    fn with_table_columns(self: Box<Self>, columns: Option<TableColumns>) -> Result<Box<dyn OneClass>>;

    /// Which columns of the training table are no features, if the model was trained on a table.
    fn column_roles(&self) -> Option<&ColumnRoles>;

    /// The model with the columns of the training table that are no features, or without.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the others are not as many as those of the model.
    fn with_column_roles(self: Box<Self>, roles: Option<ColumnRoles>) -> Result<Box<dyn OneClass>>;

    /// The model with more notes and warnings in its report.
    fn with_remarks(self: Box<Self>, notes: Vec<String>, warnings: Vec<String>) -> Box<dyn OneClass>;

    /// The model marked as trained on a part of the samples, with a note in its report.
    fn of_part(self: Box<Self>) -> Box<dyn OneClass>;

    /// The samples that it compares others with, where it keeps them as a collection.
    fn bases(&self) -> Option<&AnySamples> {
        None
    }

    /// The score of each sample: about 1 for those like the training samples, toward 0 for others.
    ///
    /// `threads` work in parallel, 0 for one per core; the values do not depend on it. The number of finished samples
    /// is reported to the monitor, which may cancel (a time limit is ignored).
    ///
    /// # Errors
    /// Samples of another kind or shape, and values that cannot be used, with their names and the expected values;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    fn score_samples(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>>;

    /// The scores less the threshold: below 0 for outliers.
    ///
    /// # Errors
    /// As for [`OneClass::score_samples`].
    fn decision_function(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let scores = self.score_samples(samples, threads, monitor)?;
        Ok(scores.into_iter().map(|score| score - self.threshold()).collect())
    }

    /// 1 for samples like those of the training, −1 for outliers.
    ///
    /// # Errors
    /// As for [`OneClass::score_samples`].
    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<i8>> {
        let values = self.decision_function(samples, threads, monitor)?;
        Ok(values.into_iter().map(|value| if value < 0.0 { -1 } else { 1 }).collect())
    }

    /// The score of one sample less the threshold as a sum of terms; the `compared` strongest are split into their
    /// parts; see [`Explanation`].
    ///
    /// # Errors
    /// As for [`OneClass::score_samples`]; [`Error::Parameter`](crate::Error::Parameter) for a row beyond the samples.
    fn explain(&self, samples: &SamplesView<'_>, row: usize, compared: usize) -> Result<Explanation>;

    /// The weights on each basis, and the training rows of the bases, as far as they are known.
    fn weights_of_bases(&self) -> (Vec<f64>, Vec<usize>);

    /// The JSON header of its file, with the fields in `docs/model-file.md`, except the checksum.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for a report whose numbers overflowed in the fit.
    fn header(&self) -> Result<String>;

    /// The arrays of its file, without those of [`OneClass::bases`].
    fn arrays(&self) -> Vec<Array<'_>>;

    /// The model as the bytes of its file.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for a model whose numbers overflowed in the fit.
    fn to_bytes(&self) -> Result<Vec<u8>>;

    /// Writes the model to a file, whole or not at all.
    ///
    /// # Errors
    /// As for [`OneClass::to_bytes`]; [`Error::Output`](crate::Error::Output) and [`Error::Io`](crate::Error::Io) with
    /// the failed operation.
    fn save(&self, path: &Path) -> Result<()> {
        file::save(path, &self.to_bytes()?)
    }

    /// Refuses a model that cannot be written.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for one whose numbers overflowed in the fit.
    fn check_finite(&self) -> Result<()> {
        self.report().check_finite()?;
        file::check_finite(&self.arrays())
    }
}

impl OneClass for BasisExpansionOneClass<AnySimilarity> {
    model_methods!(OneClass, basis_expansion::one_class_file::METHOD);

    fn kind(&self) -> &'static str {
        AnySamples::kind(self.expansion.bases())
    }

    fn n_features(&self) -> Option<usize> {
        match self.expansion.bases() {
            AnySamples::Vectors(vectors) => Some(vectors.n_cols()),
            AnySamples::Far(vectors) => Some(vectors.differences().n_cols),
            _ => None,
        }
    }

    fn n_weights(&self) -> usize {
        self.weights.len()
    }

    fn explain(&self, samples: &SamplesView<'_>, row: usize, compared: usize) -> Result<Explanation> {
        Self::explain(self, samples, row, compared)
    }

    fn weights_of_bases(&self) -> (Vec<f64>, Vec<usize>) {
        (self.weights_of_similarities(), self.basis_rows.clone())
    }

    fn parameters(&self) -> Parameters {
        Parameters::of(serde_json::json!({
            "similarity": self.expansion.similarity().specs(),
            "samples": self.kind(),
            "normalization": self.expansion.normalization().to_string(),
            "n_basis": self.n_bases(),
            "basis": self.basis,
            "quantile": self.quantile,
            "shrinkage": self.shrinkage,
            "threshold": self.threshold,
        }))
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn quantile(&self) -> f64 {
        self.quantile
    }

    fn loo_scores(&self) -> &[f64] {
        &self.loo_scores
    }

    fn bases(&self) -> Option<&AnySamples> {
        Some(self.expansion.bases())
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        self.all_arrays()
    }

    fn score_samples(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        self.score_samples_with(samples, threads, monitor)
    }
}
