//! The interface of regression models of all methods.

use std::any::Any;
use std::fmt;
use std::path::Path;

use super::classifier::Parameters;
use super::file::{self, Array};
use super::{
    BasisExpansionRegressor, Explanation, LossPoint, RegressionPoint, ThinPlateRegressor, TrainingSettings,
    basis_expansion, thin_plate,
};
use crate::data::{AnySamples, ColumnRoles, DenseMatrix, Kind, SamplesView, TableColumns, Vectors};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::RegressionLoss;
use crate::similarity::AnySimilarity;
use crate::solve::Report;

/// A trained regression model of any method: [`Classifier`](super::Classifier) with numbers in place of classes.
pub trait Regressor: Any + fmt::Debug + Send + Sync {
    /// The method, as model files and the command line name it.
    fn method(&self) -> &'static str;

    /// The kind of samples it takes, as messages name it.
    fn kind(&self) -> &'static str;

    /// Number of targets of each sample.
    fn n_outputs(&self) -> usize;

    /// The account of the fit.
    fn report(&self) -> &Report;

    /// Number of features of the training samples; none where they are no vectors.
    fn n_features(&self) -> Option<usize>;

    /// Number of weights.
    fn n_weights(&self) -> usize;

    /// The parameters that the model stores, and those selected automatically.
    fn parameters(&self) -> Parameters;

    /// The weight C of the losses.
    fn c(&self) -> f64;

    /// The leave-one-out results of each C that was evaluated, by ascending C; only one for a fixed C. For the squared
    /// loss only.
    fn path(&self) -> &[RegressionPoint];

    /// The selected point of the path; none where leave-one-out is undetermined.
    fn chosen(&self) -> Option<&RegressionPoint> {
        self.path().iter().find(|point| point.c == self.c())
    }

    /// The loss.
    fn loss(&self) -> RegressionLoss {
        RegressionLoss::Squared
    }

    /// The same of losses that are not squared: the loss that is expected of other samples.
    fn loss_path(&self) -> &[LossPoint] {
        &[]
    }

    /// The selected point of this path; none without an estimate.
    fn chosen_loss(&self) -> Option<&LossPoint> {
        self.loss_path().iter().find(|point| point.c == self.c())
    }

    /// The parameters that the model was fitted with and does not show otherwise.
    fn training(&self) -> Option<&TrainingSettings>;

    /// The names of the features, where the training samples had names.
    fn feature_names(&self) -> Option<&[String]>;

    /// The model with the names of its features, or without names.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for another number of names than features.
    fn with_feature_names(self: Box<Self>, names: Option<Vec<String>>) -> Result<Box<dyn Regressor>>;

    /// How the columns of a table become features, where they are more than numbers.
    fn table_columns(&self) -> Option<&TableColumns>;

    /// The model with columns of a table that become its features, and with the names of these; or without.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if they do not become the features of the model.
    fn with_table_columns(self: Box<Self>, columns: Option<TableColumns>) -> Result<Box<dyn Regressor>>;

    /// Which columns of the training table are no features, if the model was trained on a table.
    fn column_roles(&self) -> Option<&ColumnRoles>;

    /// The model with the columns of the training table that are no features, or without.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the others are not as many as those of the model.
    fn with_column_roles(self: Box<Self>, roles: Option<ColumnRoles>) -> Result<Box<dyn Regressor>>;

    /// The model with more notes and warnings in its report.
    fn with_remarks(self: Box<Self>, notes: Vec<String>, warnings: Vec<String>) -> Box<dyn Regressor>;

    /// The model marked as trained on a part of the samples, with a note in its report.
    fn of_part(self: Box<Self>) -> Box<dyn Regressor>;

    /// The samples that it compares others with, where it keeps them as a collection.
    fn bases(&self) -> Option<&AnySamples> {
        None
    }

    /// The predicted targets of samples: samples × outputs.
    ///
    /// `threads` work in parallel, 0 for one per core; the values do not depend on it. The number of finished samples
    /// is reported to the monitor, which may cancel (a time limit is ignored).
    ///
    /// # Errors
    /// Samples of another kind or shape, and values that cannot be used, with their names and the expected values;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>>;

    /// The prediction for one sample as a sum of terms; the `compared` strongest for an output (by default the first)
    /// are split into their parts; see [`Explanation`].
    ///
    /// # Errors
    /// As for [`Regressor::predict`]; [`Error::Parameter`](crate::Error::Parameter) for a row beyond the samples, and
    /// for a position beyond the outputs.
    fn explain(
        &self,
        samples: &SamplesView<'_>,
        row: usize,
        output: Option<usize>,
        compared: usize,
    ) -> Result<Explanation>;

    /// The norm over all outputs of the weights on each basis, and the training rows of the bases, as far as they are
    /// known.
    fn weights_of_bases(&self) -> (Vec<f64>, Vec<usize>);

    /// The JSON header of its file, with the fields in `docs/model-file.md`, except the checksum.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for a report whose numbers overflowed in the fit.
    fn header(&self) -> Result<String>;

    /// The arrays of its file, without those of [`Regressor::bases`].
    fn arrays(&self) -> Vec<Array<'_>>;

    /// The model as the bytes of its file.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for a model whose numbers overflowed in the fit.
    fn to_bytes(&self) -> Result<Vec<u8>>;

    /// Writes the model to a file, whole or not at all.
    ///
    /// # Errors
    /// As for [`Regressor::to_bytes`]; [`Error::Output`](crate::Error::Output) and [`Error::Io`](crate::Error::Io) with
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

/// Inherent methods with the names of the trait's methods.
macro_rules! own_methods {
    ($method:expr) => {
        crate::macros::model_methods!(Regressor, $method);

        fn c(&self) -> f64 {
            Self::c(self)
        }

        fn path(&self) -> &[RegressionPoint] {
            Self::path(self)
        }

        fn n_outputs(&self) -> usize {
            Self::n_outputs(self)
        }
    };
}

impl Regressor for BasisExpansionRegressor<AnySimilarity> {
    own_methods!(basis_expansion::regressor_file::METHOD);

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

    fn loss(&self) -> RegressionLoss {
        self.loss
    }

    fn loss_path(&self) -> &[LossPoint] {
        &self.loss_path
    }

    fn parameters(&self) -> Parameters {
        let chosen = Regressor::chosen(self);
        let mut parameters = serde_json::json!({
            "similarity": self.expansion.similarity().specs(),
            "samples": self.kind(),
            "normalization": self.expansion.normalization().to_string(),
            "n_basis": self.n_bases(),
            "basis": self.basis,
            "C": self.c,
            "loss": self.loss_name(),
            "intercept": if self.has_intercept { "free" } else { "none" },
        });
        if let RegressionLoss::Quantile { quantile } = self.loss {
            parameters["quantile"] = quantile.into();
        }
        if !self.epsilons.is_empty() {
            parameters["epsilon"] = self.epsilons.clone().into();
        }
        let estimated = Regressor::chosen_loss(self);
        let (errors, scores) = match self.loss {
            RegressionLoss::Squared => ("loo_rmse", "loo_r2"),
            RegressionLoss::Quantile { .. } => ("fold_loss", "fold_d2"),
            _ => ("loo_loss", "loo_d2"),
        };
        parameters[errors] =
            serde_json::json!(chosen.map(|point| &point.loo_rmse).or(estimated.map(|point| &point.loss)));
        parameters[scores] = serde_json::json!(chosen.map(|point| point.loo_r2).or(estimated.map(|point| point.d2)));
        Parameters::of(parameters)
    }

    fn bases(&self) -> Option<&AnySamples> {
        Some(self.expansion.bases())
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        self.all_arrays()
    }

    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>> {
        self.predict_with(samples, threads, monitor)
    }

    fn explain(
        &self,
        samples: &SamplesView<'_>,
        row: usize,
        output: Option<usize>,
        compared: usize,
    ) -> Result<Explanation> {
        Self::explain(self, samples, row, output, compared)
    }

    fn weights_of_bases(&self) -> (Vec<f64>, Vec<usize>) {
        (self.weights_of_similarities(), self.basis_rows.clone())
    }
}

impl Regressor for ThinPlateRegressor {
    own_methods!(thin_plate::regressor::METHOD);

    fn kind(&self) -> &'static str {
        <Vectors as Kind>::NAME
    }

    fn n_features(&self) -> Option<usize> {
        Some(Self::n_features(self))
    }

    fn n_weights(&self) -> usize {
        self.bases().len() + self.coefficients().len() + self.polynomial().len()
    }

    fn parameters(&self) -> Parameters {
        let chosen = Regressor::chosen(self);
        Parameters::of(serde_json::json!({
            "kernel": self.kernel().to_string(),
            "C": self.c(),
            "C_by_leave_one_out": self.path().len() > 1,
            "lambda": self.lambda(),
            "loss": "squared-error",
            "rank": self.rank(),
            "standardized": self.scale().is_some(),
            "n_bases": self.n_bases(),
            "bases": if self.support().is_empty() { "centers" } else { "samples" },
            "loo_rmse": chosen.map(|point| &point.loo_rmse),
            "loo_r2": chosen.map(|point| point.loo_r2),
        }))
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        Self::arrays(self)
    }

    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>> {
        self.predict_with(&samples.rows("the smoothing spline")?, threads, monitor)
    }

    fn explain(
        &self,
        samples: &SamplesView<'_>,
        row: usize,
        output: Option<usize>,
        compared: usize,
    ) -> Result<Explanation> {
        Self::explain(self, &samples.rows("the smoothing spline")?, row, output, compared)
    }

    fn weights_of_bases(&self) -> (Vec<f64>, Vec<usize>) {
        let n = self.n_bases();
        let norm = |basis: usize| self.coefficients().iter().skip(basis).step_by(n).map(|a| a * a).sum::<f64>().sqrt();
        ((0..n).map(norm).collect(), self.support().iter().map(|&row| row as usize).collect())
    }
}
