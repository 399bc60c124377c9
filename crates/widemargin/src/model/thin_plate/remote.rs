//! A thin plate fit on bases of samples that workers hold.
//!
//! In order: bases selected from a sample ([`choose_bases`]); the [`ColumnMoments`] of all samples; a [`BasisPlan`] with
//! both, and its [`FirstSums`]; the treatment of the polynomials ([`Settled::new`]); the features of all samples
//! ([`PartLift`]); the path over the sums of their rows, and the model.

use serde::{Deserialize, Serialize};

use super::bases::{Placed, SAMPLES_PER_BASIS, ThinPlateBasis, choose};
use super::kernel_blocks::dense_rows;
use super::model::ThinPlateSvc;
use super::params::ThinPlateParams;
use super::spline_basis::SplineBasis;
use super::stream::{ColumnMoments, draw_rows};
use crate::data::{Label, Labels, Rows};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::model::clock::Clock;
use crate::model::on_workers::WeightedLabels;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Kind, Query, Remote, SampleRows, Workers, from_bytes, part_query, to_bytes};
use crate::problem::OneVsRest;
use crate::similarity::ConditionalKernel;
use crate::solve::Stage;
use crate::solve::thin_plate::{
    FeatureMap, FirstSums, Polynomials, RemoteRowSums, RowsShape, Run, Settled, fit_rows, rows_separate,
};
use crate::tuning::FIRST_SAMPLES_PER_BASIS;

part_query! {
    /// [`ColumnMoments::of`] as a query.
    pub(crate) SampleRows: ColumnSumsOf "column_sums" {} -> ColumnMoments {}
    |_, part, _| ColumnMoments::of(&part.rows(), part.weights), |_, total, next| total.merge(&next)
}

part_query! {
    /// [`BasisPlan::first_sums`] as a query.
    pub(crate) SampleRows: FirstSumsOf "first_sums" {
        /// The plan, as bytes that any machine makes it of.
        plan: Vec<u8>
    } -> FirstSums {}
    |query, part, _| BasisPlan::from_bytes(&query.plan)?.first_sums(&part.rows(), part.weights),
    |_, total, next| total.add(next)
}

/// The rows of weight above 0 that bases are chosen among, ascending: the first few a basis for `index`, since
/// some may be equal, else `SAMPLES_PER_BASIS` drawn for each.
pub fn basis_candidates(weights: &[f64], choice: ThinPlateBasis, n_basis: usize, seed: u64) -> Vec<usize> {
    match choice {
        ThinPlateBasis::Index => {
            let present = (0..weights.len()).filter(|&row| weights[row] > 0.0);
            present.take(n_basis.saturating_mul(FIRST_SAMPLES_PER_BASIS)).collect()
        }
        _ => draw_rows(weights, n_basis.saturating_mul(SAMPLES_PER_BASIS), seed),
    }
}

/// Selects at most `n_basis` distinct bases among some samples, all of weight above 0: row-major, and the indices
/// of these samples (empty for k-means).
///
/// # Errors
/// [`Error::Value`] for a non-finite number.
pub fn choose_bases(
    samples: &impl Rows,
    weights: &[f64],
    choice: ThinPlateBasis,
    n_basis: usize,
    seed: u64,
    threads: usize,
) -> Result<(Vec<f64>, Vec<usize>)> {
    let all: Vec<usize> = (0..samples.n_rows()).collect();
    let rows = dense_rows(samples, &all, samples.n_cols())?;
    let placed = Placed { rows: &rows, n_features: samples.n_cols(), weights, first_come: &all };
    choose(choice, n_basis, placed, seed, &Pool::new(threads)?)
}

/// A kernel on bases, with its polynomials.
#[derive(Clone, Debug)]
pub struct BasisPlan {
    pub(super) basis: SplineBasis,
    columns: ColumnMoments,
    /// Of the polynomials.
    degree: Option<u32>,
    pub(super) feature_map: FeatureMap,
}

/// The coefficients that turn kernel values and polynomials of samples into features.
#[derive(Clone, Debug)]
pub struct PartLift {
    /// Number of penalized features, which come first: the bases and the penalized polynomials.
    pub n_penalized: usize,
    /// S of the penalized polynomials Sᵀp, column-major.
    pub penalized: Vec<f64>,
    /// T of the unpenalized features Tᵀp, column-major.
    pub columns: Vec<f64>,
    /// The multiples of each unpenalized feature that are subtracted from the others, column-major, or none of them;
    /// `None` for the unpenalized features alone.
    pub cross: Option<Vec<f64>>,
}

/// Metadata of a fit that its model stores.
#[derive(Clone, Debug)]
pub(crate) struct ModelMetadata<'a> {
    /// The classes, in the order of the problems.
    pub classes: Vec<Label>,
    /// Those of the problems.
    pub targets: OneVsRest<'a>,
    /// The sum of the samples' weights, averaged over the problems.
    pub total_weight: f64,
    /// The labels of the samples and their weights without class weights, by which the error is estimated; none where
    /// the caller does that.
    pub evaluated_on: Option<(&'a Labels, &'a [f64])>,
    /// Row of each basis among the samples; empty if bases are means of samples.
    pub basis_rows: Vec<u64>,
    /// Stages before the path, which appends its own.
    pub stages: Vec<Stage>,
}

impl BasisPlan {
    /// Built from bases (row-major), the column sums of all samples, and the degree of the polynomials. About bases³ / 3
    /// flops.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the kernel or its polynomials cannot be used on these bases.
    pub(super) fn new(
        kernel: ConditionalKernel,
        degree: Option<u32>,
        bases: Vec<f64>,
        columns: ColumnMoments,
    ) -> Result<Self> {
        let basis = SplineBasis { kernel, bases, space: columns.space(degree)? };
        let feature_map = basis.feature_map(&Pool::new(1)?, &Monitor::none())?;
        Ok(BasisPlan { basis, columns, degree, feature_map })
    }

    /// As bytes, for another machine.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(&(self.kernel().to_string(), self.degree, &self.basis.bases, &self.columns))
    }

    /// The plan of these bytes.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bytes that are no plan, or of bases that the kernel cannot be used on.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (kernel, degree, bases, columns): (String, Option<u32>, Vec<f64>, ColumnMoments) = from_bytes(bytes)?;
        BasisPlan::new(kernel.parse()?, degree, bases, columns)
    }

    /// The plan for bases (row-major) and the samples that workers hold, and their sums for the polynomials.
    pub(super) fn of_workers(
        (kernel, degree): (ConditionalKernel, Option<u32>),
        bases: Vec<f64>,
        workers: impl Workers,
        monitor: &Monitor<'_>,
    ) -> Result<(Self, FirstSums)> {
        let mut samples = Remote::<SampleRows, _>::new(workers);
        let plan = BasisPlan::new(kernel, degree, bases, samples.reduce(&ColumnSumsOf {}, monitor)?)?;
        let sums = samples.reduce(&FirstSumsOf { plan: plan.to_bytes()? }, monitor)?;
        Ok((plan, sums))
    }

    /// The kernel.
    pub fn kernel(&self) -> ConditionalKernel {
        self.basis.kernel
    }

    /// Number of bases.
    pub fn n_bases(&self) -> usize {
        self.basis.n_bases()
    }

    /// Kernel values, if requested, and polynomials of the samples of weight above 0, times √w, one column per sample, in
    /// blocks.
    fn for_blocks(
        &self,
        samples: &impl Rows,
        weights: &[f64],
        with_kernel: bool,
        mut visit: impl FnMut(Matrix, Matrix),
    ) -> Result<()> {
        let present: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        for some in present.chunks(crate::solve::thin_plate::BLOCK) {
            let rows = dense_rows(samples, some, self.basis.n_features())?;
            let roots: Vec<f64> = some.iter().map(|&row| weights[row].sqrt()).collect();
            let (phi, polynomials) = self.basis.weighted(&rows, &roots, with_kernel);
            visit(phi, polynomials);
        }
        Ok(())
    }

    /// Sums over some samples for deciding about the polynomials.
    pub(super) fn first_sums(&self, samples: &impl Rows, weights: &[f64]) -> Result<FirstSums> {
        let mut all = FirstSums::default();
        self.for_blocks(samples, weights, true, |phi, polynomials| all.add(FirstSums::of(&phi, &polynomials)))?;
        Ok(all)
    }

    /// The free polynomials of a regression on `n` samples of weight above 0, whose sum is `total`.
    pub(super) fn free_polynomials(&self, sums: &FirstSums, n: usize, total: f64) -> Result<Settled> {
        let treated = (Polynomials::Free, &self.basis.spreads()[..]);
        Settled::new(sums, &self.feature_map, (n, total), treated, |_| Ok(false))
    }

    /// The features of the samples of weight above 0, times √w, penalized ones first: row-major.
    ///
    /// # Errors
    /// [`Error::Value`] for a non-finite number, [`Error::Shape`] for coefficients of another plan.
    pub fn features(&self, samples: &impl Rows, weights: &[f64], lift: &PartLift) -> Result<Vec<f64>> {
        let (penalized, columns) =
            (self.columns("penalized", &lift.penalized)?, self.columns("columns", &lift.columns)?);
        let Some(cross) = &lift.cross else {
            return self.lifted(samples, weights, &self.feature_map.only_polynomials(columns));
        };
        let (b, q) = (self.n_bases(), columns.n_cols());
        if !cross.is_empty() && cross.len() != b * q {
            return Err(misfit("cross", cross.len(), b * q));
        }
        let cross = (!cross.is_empty()).then(|| Matrix::from_columns(cross.to_vec(), b, q));
        let feature_map = FeatureMap { penalized, columns, cross, ..self.feature_map.clone() };
        self.lifted(samples, weights, &feature_map)
    }

    fn columns(&self, what: &str, columns: &[f64]) -> Result<Matrix> {
        let m = self.basis.space.n_monomials();
        let q = columns.len().checked_div(m).unwrap_or(0);
        if m * q != columns.len() {
            return Err(misfit(what, columns.len(), m * q));
        }
        Ok(Matrix::from_columns(columns.to_vec(), m, q))
    }

    /// The same by a map: row-major.
    pub(super) fn lifted(&self, samples: &impl Rows, weights: &[f64], map: &FeatureMap) -> Result<Vec<f64>> {
        let mut features = Vec::new();
        self.for_blocks(samples, weights, map.n_bases() > 0, |phi, polynomials| {
            features.extend(map.features(phi, &polynomials).into_values());
        })?;
        Ok(features)
    }
}

impl ThinPlateParams {
    /// Trains on bases (row-major) of samples that workers hold, without merging equal ones: first sums over `samples`,
    /// then the path over their `features`, of the kernel given. Of the parameters only C, tolerance, steps and threads
    /// are used.
    ///
    /// # Errors
    /// Errors of the workers; [`Error::Parameter`] where the kernel or its polynomials cannot be used on these bases;
    /// [`Error::Cancelled`].
    #[doc(hidden)]
    pub fn fit_on_workers<W: Workers>(
        &self,
        (kernel, polynomials): (ConditionalKernel, Polynomials),
        bases: Vec<f64>,
        (samples, mut features): (W, impl FnMut(&BasisPlan, PartLift) -> Result<W>),
        labeled: WeightedLabels<'_>,
        (basis_rows, mut stages): (Vec<u64>, Vec<Stage>),
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateSvc> {
        let mut clock = Clock::start(monitor);
        let (plan, sums) = BasisPlan::of_workers((kernel, kernel.degree()), bases, samples, monitor)?;
        let WeightedLabels { labels, weights, sample_weights } = labeled;
        let (targets, total) = (OneVsRest::of(labels), weights.iter().sum());
        let mut rows_of = |n_free: usize, lift: PartLift| {
            let (n_penalized, n_problems) = (lift.n_penalized, targets.n_problems());
            let shares_first_hessian = targets.is_even() && self.task.loss.is_smooth();
            let shape = RowsShape { n_penalized, n_free, n_problems, shares_first_hessian };
            Ok::<_, Error>(RemoteRowSums::new(features(&plan, lift)?, shape))
        };
        let treated = (polynomials, &plan.basis.spreads()[..]);
        let settled = Settled::new(&sums, &plan.feature_map, (labeled.n_present(), total), treated, |free| {
            let (penalized, columns) = (Vec::new(), free.values().to_vec());
            let only = PartLift { n_penalized: 0, penalized, columns, cross: None };
            rows_separate(&mut rows_of(free.n_cols(), only)?, total, self.threads, monitor)
        })?;
        clock.end("polynomials")?;
        let mut rows = rows_of(settled.n_free(), PartLift::of(&settled))?;
        clock.end("features")?;
        let BasisPlan { basis, feature_map, .. } = plan;
        let feature_map = settled.feature_map(feature_map);
        let pool = Pool::new(self.threads)?;
        let run = Run { settings: &self.settings(weights), pool: &pool, monitor };
        let fitted = fit_rows(&mut rows, (&settled, &feature_map), None, run)?;
        clock.end_solved("solve")?;
        stages.extend(clock.stages);
        let metadata = ModelMetadata {
            classes: labeled.classes(),
            targets,
            total_weight: targets.total(weights),
            evaluated_on: Some((labels, sample_weights)),
            basis_rows,
            stages,
        };
        let warnings = basis.space.warnings();
        self.model(fitted, basis, None, metadata, warnings)
    }
}

impl PartLift {
    /// That of the settled polynomials.
    pub(super) fn of(settled: &Settled) -> Self {
        PartLift {
            n_penalized: settled.n_penalized(),
            penalized: settled.penalized.values().to_vec(),
            columns: settled.columns.values().to_vec(),
            cross: Some(if settled.is_free { settled.cross.values().to_vec() } else { Vec::new() }),
        }
    }
}

fn misfit(what: &str, found: usize, expected: usize) -> Error {
    Error::shape(what, format!("{found} numbers"), expected.to_string())
}
