//! A trained smoothing spline.

use super::super::spline::{Spline, tells_spline};
use crate::data::{DenseMatrix, Rows};
use crate::error::Result;
use crate::macros::getters;
use crate::model::RegressionPoint;
use crate::model::origin::{Origin, tells_origin};
use crate::monitor::Monitor;
use crate::solve::Report;

/// A trained smoothing spline: f(x) = Σ α_j φ(‖x − z_j‖) + Σ β_m p_m(x) for each output.
#[derive(Clone, Debug, PartialEq)]
pub struct ThinPlateRegressor {
    pub(crate) spline: Spline,
    pub(crate) c: f64,
    pub(super) lambda: f64,
    pub(super) rank: usize,
    pub(crate) path: Vec<RegressionPoint>,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
}

impl ThinPlateRegressor {
    tells_origin!(|model| Some(model.spline.n_features));
    tells_spline!();

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
    pub fn predict_with(&self, samples: &impl Rows, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>> {
        let values = self.spline.values(samples, threads, monitor)?;
        Ok(DenseMatrix { values, n_rows: samples.n_rows(), n_cols: self.n_outputs() })
    }

    /// Number of targets of each sample.
    pub fn n_outputs(&self) -> usize {
        self.spline.n_functions
    }

    getters! {
        /// The weight C of the losses, fixed or selected.
        copy c: f64;
        /// λ = 1/(2C) in scale-free units: relative to the mean diagonal of the projected kernel.
        copy lambda: f64;
        /// Rank of the polynomials at the training samples.
        copy rank: usize;
        /// The leave-one-out results of each C that was evaluated, by ascending C; only one for a fixed C.
        path: &[RegressionPoint];
        /// The report of the fit.
        report: &Report;
    }
}
