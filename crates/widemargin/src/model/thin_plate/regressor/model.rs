//! A trained smoothing spline.

use super::super::spline::Spline;
use crate::data::{DenseMatrix, Rows};
use crate::error::Result;
use crate::macros::getters;
use crate::model::RegressionPoint;
use crate::model::origin::{Origin, tells_origin};
use crate::monitor::Monitor;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::Report;

/// A trained smoothing spline: f(x) = Σ α_j φ(‖x − z_j‖) + Σ β_m p_m(x) for each output.
#[derive(Clone, Debug, PartialEq)]
pub struct ThinPlateRegressor {
    pub(super) kernel: ConditionalKernel,
    pub(crate) c: f64,
    pub(super) lambda: f64,
    pub(super) rank: usize,
    pub(super) n_features: usize,
    pub(super) n_outputs: usize,
    /// The factor of each feature, if features were standardized.
    pub(super) scale: Option<Vec<f64>>,
    /// Row-major, bases × features, scaled.
    pub(super) bases: Vec<f64>,
    /// Rows of the bases among the training samples; empty if bases are means of samples.
    pub(super) support: Vec<u64>,
    /// α, outputs × bases.
    pub(super) coefficients: Vec<f64>,
    pub(super) space: PolynomialSpace,
    /// β, outputs × monomials.
    pub(super) polynomial: Vec<f64>,
    pub(crate) path: Vec<RegressionPoint>,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
}

impl ThinPlateRegressor {
    tells_origin!(|model| Some(model.n_features));

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
        let values = self.spline().values(samples, threads, monitor)?;
        Ok(DenseMatrix { values, n_rows: samples.n_rows(), n_cols: self.n_outputs })
    }

    pub(in crate::model) fn spline(&self) -> Spline<'_> {
        Spline {
            kernel: self.kernel,
            n_features: self.n_features,
            scale: self.scale.as_deref(),
            bases: &self.bases,
            coefficients: &self.coefficients,
            space: &self.space,
            polynomial: &self.polynomial,
            n_functions: self.n_outputs,
        }
    }

    /// Number of bases: training samples, or bases.
    pub fn n_bases(&self) -> usize {
        self.spline().n_bases()
    }

    /// A basis with its original features.
    pub fn basis(&self, basis: usize) -> Vec<f64> {
        self.spline().basis(basis)
    }

    /// The factor by which each feature is first multiplied (one over its standard deviation), if features were
    /// standardized.
    pub fn scale(&self) -> Option<&[f64]> {
        self.scale.as_deref()
    }

    getters! {
        /// The kernel.
        copy kernel: ConditionalKernel;
        /// The weight C of the losses, fixed or selected.
        copy c: f64;
        /// λ = 1/(2C) in scale-free units: relative to the mean diagonal of the projected kernel.
        copy lambda: f64;
        /// Rank of the polynomials at the training samples.
        copy rank: usize;
        /// Number of features of the training samples.
        copy n_features: usize;
        /// Number of targets of each sample.
        copy n_outputs: usize;
        /// Row of each basis among the training samples; empty if bases are means of samples.
        support: &[u64];
        /// The bases, row-major, bases × features; their features multiplied by [`ThinPlateRegressor::scale`].
        bases: &[f64];
        /// α, row-major, outputs × bases.
        coefficients: &[f64];
        /// β, row-major, outputs × monomials of the centered and scaled features: the constant, the features, their
        /// products of degree two, and so on.
        polynomial: &[f64];
        /// The leave-one-out results of each C that was evaluated, by ascending C; only one for a fixed C.
        path: &[RegressionPoint];
        /// The report of the fit.
        report: &Report;
    }
}
