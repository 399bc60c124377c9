//! The interface of regression models of all methods.

use super::file::Array;
use super::interface::{Model, Parameters, expansion_methods, model_methods};
use super::{
    BasisExpansionRegressor, Explanation, LossPoint, RegressionPoint, ThinPlateRegressor, basis_expansion, thin_plate,
};
use crate::data::{DenseMatrix, SamplesView};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::similarity::AnySimilarity;

/// A trained regression model of any method: [`Classifier`](super::Classifier) with numbers in place of classes.
pub trait Regressor: Model {
    /// Number of targets of each sample.
    fn n_outputs(&self) -> usize;

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
    fn loss(&self) -> Loss {
        Loss::SquaredError
    }

    /// The same of losses that are not squared: the loss that is expected of other samples.
    fn loss_path(&self) -> &[LossPoint] {
        &[]
    }

    /// The selected point of this path; none without an estimate.
    fn chosen_loss(&self) -> Option<&LossPoint> {
        self.loss_path().iter().find(|point| point.c == self.c())
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
}

impl Model for BasisExpansionRegressor<AnySimilarity> {
    model_methods!(basis_expansion::regressor_file::METHOD);
    expansion_methods!();

    fn parameters(&self) -> Parameters {
        let chosen = Regressor::chosen(self);
        let mut parameters = serde_json::json!({
            "similarity": self.expansion.similarity().specs(),
            "samples": self.kind(),
            "normalization": self.expansion.normalization().to_string(),
            "n_basis": self.n_bases(),
            "basis": self.basis,
            "C": self.c,
            "loss": self.loss.name(),
            "intercept": if self.has_intercept { "free" } else { "none" },
        });
        if let Some(quantile) = self.loss.quantile() {
            parameters["quantile"] = quantile.into();
        }
        if !self.epsilons.is_empty() {
            parameters["epsilon"] = self.epsilons.clone().into();
        }
        let estimated = Regressor::chosen_loss(self);
        let (errors, scores) = match self.loss {
            Loss::SquaredError => ("loo_rmse", "loo_r2"),
            Loss::Quantile { .. } => ("fold_loss", "fold_d2"),
            _ => ("loo_loss", "loo_d2"),
        };
        parameters[errors] =
            serde_json::json!(chosen.map(|point| &point.loo_rmse).or(estimated.map(|point| &point.loss)));
        parameters[scores] = serde_json::json!(chosen.map(|point| point.loo_r2).or(estimated.map(|point| point.d2)));
        Parameters::of(parameters)
    }
}

impl Regressor for BasisExpansionRegressor<AnySimilarity> {
    fn c(&self) -> f64 {
        self.c
    }

    fn path(&self) -> &[RegressionPoint] {
        &self.path
    }

    fn n_outputs(&self) -> usize {
        Self::n_outputs(self)
    }

    fn loss(&self) -> Loss {
        self.loss
    }

    fn loss_path(&self) -> &[LossPoint] {
        &self.loss_path
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

impl Model for ThinPlateRegressor {
    model_methods!(thin_plate::regressor::METHOD);

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

    fn n_features(&self) -> Option<usize> {
        Some(Self::n_features(self))
    }

    fn n_weights(&self) -> usize {
        self.bases().len() + self.coefficients().len() + self.polynomial().len()
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        Self::arrays(self)
    }
}

impl Regressor for ThinPlateRegressor {
    fn c(&self) -> f64 {
        self.c
    }

    fn path(&self) -> &[RegressionPoint] {
        &self.path
    }

    fn n_outputs(&self) -> usize {
        Self::n_outputs(self)
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
