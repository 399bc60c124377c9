//! The differences between fits of a spline to labels and to targets.

use std::borrow::Cow;

use super::basis_plan::{BasisPlan, PartLift};
use super::params::SplineParams;
use super::spline::Coefficients;
use super::spline_basis::{ReadRows, SplineBasis};
use super::spline_model::{SplineModel, SplineTask};
use crate::data::{About, AnySamples, ClassWeight, Distinct, Fingerprint};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::model::clock::Clock;
use crate::model::known::Known;
use crate::model::manifest::Manifest;
use crate::model::origin::TrainingSettings;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::Workers;
use crate::search::LeftOut;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::Stage;
use crate::solve::thin_plate::memory::{self, BasisBytes};
use crate::solve::thin_plate::{BlockStorage, FirstSums};

/// The samples of a fit in this process, besides their features.
pub(crate) struct Problem<'a, T: SplineFit> {
    pub params: &'a SplineParams<T>,
    /// Their labels or targets.
    pub known: &'a T::Known,
    pub weights: &'a [f64],
    /// The part of each weight that leave-one-out removes.
    pub units: &'a [f64],
    /// The samples in the caller's order, where bases may be the first ones.
    pub first_come: &'a [usize],
    pub n_features: usize,
    pub pool: &'a Pool,
}

/// Functions on bases.
pub(crate) struct Solution<T: SplineFit> {
    pub basis: SplineBasis,
    /// The samples that are bases, if bases are samples.
    pub basis_rows: Vec<usize>,
    pub coefficients: Coefficients,
    pub found: T::Found,
    /// Warnings about how it was done.
    pub warnings: Vec<String>,
}

/// The result of a solver.
pub(crate) type Solved<T> = Result<(Coefficients, <T as SplineFit>::Found)>;

/// The kernel and the polynomials at all samples.
pub(crate) struct AtSamples<'a> {
    pub gram: Matrix,
    pub polynomials: Matrix,
    pub space: &'a PolynomialSpace,
}

/// Bases, and samples in blocks.
pub(crate) struct OnBases<'a, 'k, T: SplineFit> {
    pub basis: &'a SplineBasis,
    pub read: &'a ReadRows<'a>,
    pub known: &'a T::Weighted<'k>,
    /// The samples that leave-one-out does not judge, since they are bases.
    pub not_judged: &'a [usize],
    pub storage: BlockStorage<'a>,
}

/// Bases, and samples of workers.
pub(crate) struct OnWorkers<'a, 'k, T: SplineFit, W> {
    pub params: &'a SplineParams<T>,
    pub plan: &'a BasisPlan,
    pub sums: FirstSums,
    pub known: &'a T::Weighted<'k>,
    /// Has the workers make features of their samples.
    pub features: &'a mut dyn FnMut(PartLift) -> Result<W>,
}

/// Distinct samples in memory.
pub(crate) struct InMemory<'a, T: SplineFit> {
    /// Row-major, scaled.
    pub rows: &'a [f64],
    /// The factors of the columns, if they are standardized.
    pub scale: Option<Vec<f64>>,
    pub distinct: &'a Distinct,
    /// The solution, if it is known.
    pub solved: Option<Solution<T>>,
}

/// The contents of a model besides its solution.
pub(crate) struct Finish<'a, T> {
    pub params: &'a SplineParams<T>,
    /// The factors of the columns, if they are standardized.
    pub scale: Option<Vec<f64>>,
    pub training: TrainingSettings,
    pub stages: Vec<Stage>,
}

/// The model of a task.
pub(crate) type ModelOf<T> = Result<SplineModel<<T as SplineData>::Task>>;

/// A kernel that is compared, with columns as they are or standardized.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPoint {
    /// The kernel.
    pub kernel: ConditionalKernel,
    /// Whether each column is divided by its standard deviation.
    pub standardized: bool,
    /// The R² of leave-one-out predictions, for a regression.
    pub r2: Option<f64>,
}

/// The data of a task, and its model.
pub trait SplineData: Clone {
    /// The labels or targets of samples.
    type Known: Known + Clone;

    /// The same with the weights of all samples.
    type Weighted<'a>;

    /// The task of a model.
    type Task: SplineTask;
}

/// The parameters of a task besides those of a spline.
pub(crate) trait SplineFit: SplineData {
    /// The result of a solver besides the coefficients.
    type Found;

    /// Whether the exact solver gets the kernel times the roots of the samples' weights.
    const WEIGHTS_KERNEL: bool;

    /// Whether a compared fit on the same samples is the fit itself.
    const IS_REUSED: bool;

    /// Peak memory of the exact solver, for samples, polynomials, problems and threads.
    const EXACT_BYTES: fn(usize, usize, usize, usize) -> u64 = memory::exact_bytes;

    /// Peak memory of the solver on bases, for samples, bases, polynomials, problems and threads.
    const BASIS_BYTES: fn(usize, usize, usize, usize, usize) -> BasisBytes = memory::basis_bytes;

    /// The least memory of the solver on bases for samples in blocks, and that of each cached block, for samples,
    /// features, bases, polynomials and problems.
    fn streamed_bytes([n, d, n_basis, n_columns, k]: [usize; 5], pool: &Pool) -> (u64, u64) {
        memory::streamed_bytes(n, d, n_basis, n_columns, k, pool.threads())
    }

    /// Checks the parameters.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether there is a solver for which all samples are bases.
    fn has_exact_solver(&self) -> bool {
        true
    }

    /// The parameters that a model stores.
    fn training(&self) -> TrainingSettings {
        TrainingSettings::default()
    }

    /// The number of two-class problems; 1 of a regression.
    fn n_problems(_known: &Self::Known) -> usize {
        1
    }

    /// The class weights.
    fn class_weight(&self) -> &ClassWeight {
        &ClassWeight::Uniform
    }

    /// The labels or targets of samples in blocks.
    fn in_blocks<'a>(&self, known: &'a Self::Known, _weights: &[f64]) -> Result<Cow<'a, Self::Known>> {
        Ok(Cow::Borrowed(known))
    }

    /// The identity of a fit on samples in blocks, of some content.
    fn manifest(fit: &Problem<'_, Self>, samples: &About<'_, AnySamples>, content: Fingerprint) -> Result<Manifest>;

    /// The same for a fit that is only compared, near the λ of another one.
    fn comparing(&self, _near: Option<f64>) -> Self {
        self.clone()
    }

    /// The leave-one-out loss of a fit with a kernel, and its λ in units of the mean diagonal of the projected kernel.
    fn compared(found: &Self::Found, point: &mut KernelPoint) -> (LeftOut, f64);

    /// Adapts the parameters to the λ of a compared fit on the same samples.
    fn start_near(&mut self, _lambda: f64) {}

    /// The labels or targets of samples and their weights in the fit, with the caller's weights.
    fn weighted<'a>(fit: &Problem<'a, Self>, sample_weights: &'a [f64]) -> Result<Self::Weighted<'a>>;

    /// Solves on all samples as bases.
    fn solve_exact(fit: &Problem<'_, Self>, at: AtSamples<'_>, monitor: &Monitor<'_>) -> Solved<Self>;

    /// Solves on bases.
    fn solve_on_bases(fit: &Problem<'_, Self>, on: OnBases<'_, '_, Self>, clock: &mut Clock<'_>) -> Solved<Self>;

    /// Solves on bases, with features of workers.
    fn solve_on_workers<W: Workers>(on: OnWorkers<'_, '_, Self, W>, clock: &mut Clock<'_>) -> Solved<Self>;

    /// The model of samples in blocks or on workers.
    fn model_of_parts(of: Solution<Self>, known: &Self::Weighted<'_>, finish: Finish<'_, Self>) -> ModelOf<Self>;

    /// The model of samples in memory.
    fn model_in_memory(fit: &Problem<'_, Self>, memory: InMemory<'_, Self>, clock: &mut Clock<'_>) -> ModelOf<Self>;
}
