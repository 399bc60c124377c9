//! A trained smoothing spline.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::spline_model::{SplineModel, SplineTask};
use crate::data::{DenseMatrix, Rows, SamplesView};
use crate::error::Result;
use crate::macros::getters;
use crate::model::file::{Reader, by_name};
use crate::model::origin::Origin;
use crate::model::{RegressionPoint, Regressor};
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::solve::Report;

/// A trained smoothing spline: f(x) = Σ α_j φ(‖x − z_j‖) + Σ β_m p_m(x) for each output.
pub type ThinPlateRegressor = SplineModel<SplineRegression>;

/// The task of a smoothing spline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplineRegression {
    /// The squared error.
    #[serde(with = "by_name")]
    pub(super) loss: Loss,
    #[serde(rename = "C")]
    pub(crate) c: f64,
    pub(super) lambda: f64,
    pub(super) rank: usize,
    pub(super) n_outputs: usize,
    pub(crate) path: Vec<RegressionPoint>,
}

impl SplineTask for SplineRegression {
    const METHOD: &'static str = "thin-plate-regression";
    const NAME: &'static str = "the smoothing spline";
    const MIN_DEGREE: Option<u32> = Some(0);

    fn check(&self, reader: &Reader<'_>, _origin: &Origin) -> Result<usize> {
        reader.require(self.n_outputs > 0, "0 outputs cannot be")?;
        let is_known = self.loss == Loss::SquaredError;
        reader.require(is_known, format_args!("the loss '{}' is not known", self.loss))?;
        Ok(self.n_outputs)
    }

    fn parameters(&self, _n_polynomials: usize, _report: &Report) -> Value {
        let chosen = self.path.iter().find(|point| point.c == self.c);
        json!({
            "C": self.c,
            "C_by_leave_one_out": self.path.len() > 1,
            "lambda": self.lambda,
            "loss": self.loss.to_string(),
            "rank": self.rank,
            "loo_rmse": chosen.map(|point| &point.loo_rmse),
            "loo_r2": chosen.map(|point| point.loo_r2),
        })
    }
}

impl ThinPlateRegressor {
    /// The predicted targets of samples, samples × outputs, computed by `threads` threads, 0 meaning one per core.
    ///
    /// # Errors
    /// [`Error::FeatureCount`](crate::Error::FeatureCount) for more features than in training (for dense samples: a
    /// different number), [`Error::Value`](crate::Error::Value) for a non-finite value.
    pub fn predict(&self, samples: &impl Rows, threads: usize) -> Result<DenseMatrix<f64>> {
        self.predict_with(samples, threads, &Monitor::none())
    }

    /// The same with a monitor, which receives progress and may cancel (time limits are ignored).
    ///
    /// # Errors
    /// As for [`ThinPlateRegressor::predict`]; [`Error::Cancelled`](crate::Error::Cancelled).
    #[doc(hidden)]
    pub fn predict_with(&self, samples: &impl Rows, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>> {
        let values = self.spline.values(samples, threads, monitor)?;
        Ok(DenseMatrix { values, n_rows: samples.n_rows(), n_cols: self.n_outputs() })
    }

    getters! {
        task =>
        /// Number of targets of each sample.
        hidden copy n_outputs: usize;
        /// The weight C of the losses, fixed or selected.
        hidden copy c: f64;
        /// λ = 1/(2C) in scale-free units: relative to the mean diagonal of the projected kernel.
        hidden copy lambda: f64;
        /// Rank of the polynomials at the training samples.
        hidden copy rank: usize;
        /// The leave-one-out results of each C that was evaluated, by ascending C; only one for a fixed C.
        hidden path: &[RegressionPoint];
    }
}

impl Regressor for ThinPlateRegressor {
    fn c(&self) -> f64 {
        self.task.c
    }

    fn path(&self) -> &[RegressionPoint] {
        &self.task.path
    }

    fn n_outputs(&self) -> usize {
        self.task.n_outputs
    }

    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>> {
        self.predict_with(&samples.rows(SplineRegression::NAME)?, threads, monitor)
    }
}
