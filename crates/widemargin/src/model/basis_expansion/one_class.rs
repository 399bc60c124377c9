//! A trained outlier detector on a basis expansion.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::expansion_model::{ExpansionModel, ExpansionTask};
use crate::data::{SamplesView, Source};
use crate::error::{Error, Result, require};
use crate::macros::getters;
use crate::model::Model;
use crate::model::explanation::Decided;
use crate::model::file::{Array, Reader, array};
use crate::model::origin::Origin;
use crate::monitor::Monitor;
use crate::similarity::Similarity;

/// An outlier detector on a basis expansion. It stores its bases, and compares samples with them only.
pub type BasisExpansionOneClass<S> = ExpansionModel<S, OneClassTask>;

/// The task of an outlier detector on a basis expansion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OneClassTask {
    pub(crate) quantile: f64,
    pub(crate) shrinkage: f64,
    pub(crate) threshold: f64,
    #[serde(skip)]
    pub(crate) weights: Vec<f64>,
    #[serde(skip)]
    pub(crate) loo_scores: Vec<f64>,
}

/// Refuses a quantile or a shrinkage that cannot be.
pub(super) fn check_numbers(quantile: f64, shrinkage: f64) -> Result<()> {
    let is_share = quantile > 0.0 && quantile < 1.0;
    require(is_share, "quantile", quantile, "a number above 0 and below 1")?;
    require(shrinkage > 0.0 && shrinkage.is_finite(), "shrinkage", shrinkage, "a finite number above 0")
}

impl ExpansionTask for OneClassTask {
    const METHOD: &'static str = "basis-expansion-one-class";
    type Weight = f64;

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn n_problems(&self) -> usize {
        1
    }

    fn decide<S: Similarity>(model: &BasisExpansionOneClass<S>, sample: &S::Samples) -> Result<Decided> {
        let scores = model.score_samples(sample, 1)?;
        Ok(Decided {
            classes: vec!["score".into()],
            is_of_values: true,
            values: scores.into_iter().map(|score| score - model.task.threshold).collect(),
            intercepts: vec![-model.task.threshold],
        })
    }

    fn arrays(&self, n_features: usize) -> [Array<'_>; 2] {
        let n = self.loo_scores.len();
        [array("weights", vec![n_features], &self.weights), array("loo_scores", vec![n], &self.loo_scores)]
    }

    fn read(&mut self, reader: &Reader<'_>, _origin: &Origin, n_features: usize) -> Result<()> {
        check_numbers(self.quantile, self.shrinkage).map_err(|error| reader.caused(&error))?;
        self.weights = reader.tensor("weights", &[n_features])?;
        self.loo_scores = reader.tensor("loo_scores", &[reader.size("loo_scores", 0)])?;
        Ok(())
    }

    fn check_finite(&self) -> Result<()> {
        if self.threshold.is_finite() {
            return Ok(());
        }
        Err(Error::NotFinite { what: "the model's threshold".into(), value: self.threshold })
    }

    fn parameters(&self) -> Value {
        json!({ "quantile": self.quantile, "shrinkage": self.shrinkage, "threshold": self.threshold })
    }

    fn of_picked(&mut self) {
        // Those of the other samples would take as long as a fit on all.
        self.loo_scores = Vec::new();
    }
}

impl<S: Similarity> BasisExpansionOneClass<S> {
    /// The score of each sample: about 1 for samples like the training samples, closer to 0 for others.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it.
    ///
    /// # Errors
    /// Errors of the similarity; [`Error::Similarity`] for a non-finite value, naming the pair.
    pub fn score_samples(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<f64>> {
        self.precise_products(samples, threads, &Monitor::none())
    }

    /// The same of samples in any form. The number of finished samples is reported to the monitor, which may cancel (a time
    /// limit is ignored).
    ///
    /// # Errors
    /// Samples of another kind or shape, and values that cannot be used, with their names and the expected values;
    /// [`Error::Cancelled`].
    pub fn scores(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        self.check_samples(samples)?;
        self.precise_products(S::source(samples)?, threads, monitor)
    }

    /// The scores less the threshold: below 0 for outliers.
    ///
    /// # Errors
    /// As for [`BasisExpansionOneClass::scores`].
    pub fn decision_function(
        &self,
        samples: &SamplesView<'_>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        let scores = self.scores(samples, threads, monitor)?;
        Ok(scores.into_iter().map(|score| score - self.task.threshold).collect())
    }

    /// 1 for samples like those of the training, −1 for outliers.
    ///
    /// # Errors
    /// As for [`BasisExpansionOneClass::scores`].
    pub fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<i8>> {
        let values = self.decision_function(samples, threads, monitor)?;
        Ok(values.into_iter().map(|value| if value < 0.0 { -1 } else { 1 }).collect())
    }

    getters! {
        task =>
        /// The expected share of new samples like the training samples that are below the threshold.
        copy quantile: f64;
        /// The weights of the features.
        weights: &[f64];
        /// κ of the penalty.
        hidden copy shrinkage: f64;
        /// The score below which samples are outliers.
        copy threshold: f64;
        /// The score of each training sample by a fit without it; of a base too, with its similarity to
        /// itself.
        loo_scores: &[f64];
    }
}
