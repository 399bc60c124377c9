//! The task of a regression on a basis expansion, with its solution.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::expansion_model::{ExpansionModel, ExpansionTask};
use crate::data::{DenseMatrix, SamplesView, Source};
use crate::error::{Error, Result};
use crate::macros::getters;
use crate::model::explanation::Decided;
use crate::model::file::{Array, Reader, array, by_name};
use crate::model::origin::Origin;
use crate::model::regression_path::RegressionPoint;
use crate::model::{LossPoint, Model, Regressor};
use crate::monitor::Monitor;
use crate::problem::{Intercept, Loss};
use crate::similarity::Similarity;
use crate::solve::EstimateMethod;

/// The task of a regression on a basis expansion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Regression {
    #[serde(rename = "C")]
    pub(crate) c: f64,
    pub(crate) path: Vec<RegressionPoint>,
    #[serde(serialize_with = "name_of_loss", deserialize_with = "loss_of_name")]
    pub(crate) loss: Loss,
    /// ε of each output, of the losses that have one.
    #[serde(rename = "epsilon", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) epsilons: Vec<f64>,
    /// Of the quantile loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) quantile: Option<f64>,
    /// Of losses that are not squared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) loss_path: Vec<LossPoint>,
    #[serde(with = "by_name")]
    pub(crate) intercept: Intercept,
    pub(super) n_outputs: usize,
    /// `[output][feature]`.
    #[serde(skip)]
    pub(crate) weights: Vec<f64>,
    #[serde(skip)]
    pub(crate) intercepts: Vec<f64>,
}

fn name_of_loss<S: Serializer>(loss: &Loss, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(loss.name())
}

/// The loss without its parameters.
fn loss_of_name<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Loss, D::Error> {
    Loss::of_targets(&String::deserialize(deserializer)?, None, None).map_err(D::Error::custom)
}

impl Regression {
    /// A solution without a path.
    pub(super) fn new(loss: Loss, c: f64, has_intercept: bool, weights: Vec<f64>, intercepts: Vec<f64>) -> Self {
        Regression {
            c,
            path: Vec::new(),
            loss,
            epsilons: Vec::new(),
            quantile: loss.quantile(),
            loss_path: Vec::new(),
            intercept: if has_intercept { Intercept::Free } else { Intercept::None },
            n_outputs: intercepts.len(),
            weights,
            intercepts,
        }
    }

    /// The loss, with ε if it is the same for all outputs.
    fn complete_loss(&self) -> Result<Loss> {
        let of_all =
            self.epsilons.first().copied().filter(|first| self.epsilons.iter().all(|epsilon| epsilon == first));
        let loss = Loss::of_targets(self.loss.name(), of_all, self.quantile)?;
        let has_epsilon = !matches!(loss, Loss::SquaredError | Loss::Quantile { .. });
        if self.epsilons.len() != if has_epsilon { self.n_outputs } else { 0 } {
            let found = format!("{} values of epsilon for {} outputs", self.epsilons.len(), self.n_outputs);
            return Err(Error::shape(loss.name(), found, "one for each output of a loss that has one"));
        }
        Ok(loss)
    }
}

impl ExpansionTask for Regression {
    const METHOD: &'static str = "basis-expansion-regression";
    const WEIGHTS_ARE_IMPORTANCES: bool = false;
    type Weight = f64;

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn n_problems(&self) -> usize {
        self.n_outputs
    }

    fn decide<S: Similarity>(model: &BasisExpansionRegressor<S>, sample: &S::Samples) -> Result<Decided> {
        let values = model.predict_with(sample, 1, &Monitor::none())?.values;
        Ok(Decided::outputs(values, model.task.intercepts.clone()))
    }

    fn arrays(&self, n_features: usize) -> [Array<'_>; 2] {
        let k = self.n_outputs;
        [array("weights", vec![k, n_features], &self.weights), array("intercepts", vec![k], &self.intercepts)]
    }

    fn read(&mut self, reader: &Reader<'_>, _origin: &Origin, n_features: usize) -> Result<()> {
        reader.require(self.n_outputs > 0, "0 outputs cannot be")?;
        self.loss = self.complete_loss().map_err(|error| reader.caused(&error))?;
        let is_known = self.intercept != Intercept::Penalized;
        reader.require(is_known, format_args!("'{}' is no intercept", self.intercept))?;
        self.weights = reader.tensor("weights", &[self.n_outputs, n_features])?;
        self.intercepts = reader.tensor("intercepts", &[self.n_outputs])?;
        Ok(())
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "C": self.c, "loss": self.loss.name(), "intercept": self.intercept.to_string() });
        if let Some(quantile) = self.quantile {
            parameters["quantile"] = quantile.into();
        }
        if !self.epsilons.is_empty() {
            parameters["epsilon"] = self.epsilons.clone().into();
        }
        let chosen = self.path.iter().find(|point| point.c == self.c);
        let estimated = self.loss_path.iter().find(|point| point.c == self.c);
        let (errors, scores) = match (self.loss, chosen.map(|point| point.method)) {
            (Loss::SquaredError, Some(EstimateMethod::Folds)) => ("fold_rmse", "fold_r2"),
            (Loss::SquaredError, _) => ("loo_rmse", "loo_r2"),
            (Loss::Quantile { .. }, _) => ("fold_loss", "fold_d2"),
            _ => ("loo_loss", "loo_d2"),
        };
        parameters[errors] = json!(chosen.map(|point| &point.loo_rmse).or(estimated.map(|point| &point.loss)));
        parameters[scores] = json!(chosen.map(|point| point.loo_r2).or(estimated.map(|point| point.d2)));
        parameters
    }
}

/// A regression on a basis expansion. It stores its bases, and compares samples with them only.
pub type BasisExpansionRegressor<S> = ExpansionModel<S, Regression>;

impl<S: Similarity> BasisExpansionRegressor<S> {
    /// The predicted targets of samples: samples × outputs.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it.
    ///
    /// # Errors
    /// Errors of the similarity; [`Error::Similarity`] for a non-finite value, naming the pair.
    pub fn predict(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<DenseMatrix<f64>> {
        self.predict_with(samples, threads, &Monitor::none())
    }

    /// The same with a monitor, which receives progress and may cancel (time limits are ignored).
    ///
    /// # Errors
    /// As for [`BasisExpansionRegressor::predict`]; [`Error::Cancelled`].
    pub(crate) fn predict_with(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<DenseMatrix<f64>> {
        let k = self.task.intercepts.len();
        let mut values = self.precise_products(samples, threads, monitor)?;
        values.iter_mut().enumerate().for_each(|(at, value)| *value += self.task.intercepts[at % k]);
        Ok(DenseMatrix { values, n_rows: samples.n_samples(), n_cols: k })
    }

    /// The same model with another estimate at its C, and its warning if it is no better than the mean.
    pub(crate) fn with_estimate(mut self, estimate: RegressionPoint, warning: Option<String>) -> Self {
        self.task.path.iter_mut().filter(|point| point.c == estimate.c).for_each(|point| *point = estimate.clone());
        self.report.warnings.retain(|warning| !warning.starts_with("no better than the mean"));
        self.report.warnings.extend(warning);
        let note = "the estimate is that of five folds, each with a search of its own";
        self.report.notes.push(note.into());
        self
    }

    /// Whether there is an intercept.
    #[doc(hidden)]
    pub fn has_intercept(&self) -> bool {
        self.task.intercept != Intercept::None
    }

    getters! {
        task =>
        /// Number of targets of each sample.
        hidden copy n_outputs: usize;
        /// The weights, `[output][feature]`.
        weights: &[f64];
        /// The intercepts, one per output.
        intercepts: &[f64];
        /// The weight C of the losses, fixed or selected.
        hidden copy c: f64;
        /// The leave-one-out results of each C that was evaluated, by ascending C; only one for a fixed C. For the
        /// squared error only.
        hidden path: &[RegressionPoint];
        /// The requested loss.
        hidden copy loss: Loss;
        /// ε of each output, fixed or selected, in the unit of its targets; empty for losses that have none.
        hidden epsilons: &[f64];
        /// The estimated loss on new samples at each C that was evaluated, by ascending C; only one for a fixed C. For
        /// losses that are not squared.
        hidden loss_path: &[LossPoint];
    }
}

impl<S: Similarity> Regressor for BasisExpansionRegressor<S> {
    fn c(&self) -> f64 {
        self.task.c
    }

    fn path(&self) -> &[RegressionPoint] {
        &self.task.path
    }

    fn n_outputs(&self) -> usize {
        self.task.n_outputs
    }

    fn loss(&self) -> Loss {
        self.task.loss
    }

    fn loss_path(&self) -> &[LossPoint] {
        &self.task.loss_path
    }

    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>> {
        self.check_samples(samples)?;
        self.predict_with(S::source(samples)?, threads, monitor)
    }
}
