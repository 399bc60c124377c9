//! The steps of a distributed thin plate fit on bases: the sums computed by each partition, and their use.
//!
//! In order: the merged [`ColumnSums`] of all partitions; bases selected from a sample ([`choose_bases`]); a
//! [`BasisPlan`] with these, whose [`BasisPlan::first_sums`] are summed over the partitions; the treatment of the
//! polynomials ([`BasisPlan::settle`]); the features of every partition; the path over the partitions' sums, and the
//! model.

use serde::{Deserialize, Serialize};

use super::bases::{Placed, ThinPlateBasis, choose};
use super::kernel_blocks::{dense_rows, weighted_block, weighted_gram, weighted_polynomials};
use super::model::ThinPlateSvc;
use super::params::ThinPlateParams;
use super::stream::{ColumnMoments, drawn};
use crate::data::{Label, Labels, Rows};
use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Kind, Query, SampleRows, from_bytes, part_query, to_bytes};
use crate::problem::OneVsRest;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::Stage;
use crate::solve::thin_plate::{
    FeatureMap, FirstSums, Polynomials, RowSums, Settled, WhyNotFree, feature_map_of, first_sums, fit_remote,
};
use crate::tuning::FIRST_SAMPLES_PER_BASIS;

/// Samples that k-means uses per basis.
pub use super::bases::SAMPLES_PER_BASIS;

/// Weight, mean and squared deviations of the columns of some samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnSums {
    /// Σ w.
    pub total: f64,
    /// Σ w x / Σ w of each column.
    pub mean: Vec<f64>,
    /// Σ w (x − mean)² of each column.
    pub squares: Vec<f64>,
}

impl ColumnSums {
    /// Sums over the samples of weight above 0; `weights` has one number per sample.
    ///
    /// # Errors
    /// [`Error::Value`] for a non-finite number.
    pub fn of(samples: &impl Rows, weights: &[f64]) -> Result<Self> {
        let d = samples.n_cols();
        let mut look = ColumnMoments::new(d);
        for row in (0..weights.len()).filter(|&row| weights[row] > 0.0) {
            look.add(weights[row], &dense_rows(samples, &[row], d)?);
        }
        let ColumnMoments { total, mean, squares, .. } = look;
        Ok(ColumnSums { total, mean, squares })
    }

    /// Merges both.
    pub fn merged(&self, other: &ColumnSums) -> ColumnSums {
        let look = |sums: &ColumnSums| {
            let ColumnSums { total, mean, squares } = sums.clone();
            ColumnMoments { total, mean, squares, ..ColumnMoments::new(0) }
        };
        let mut both = look(self);
        both.merge(look(other));
        ColumnSums { total: both.total, mean: both.mean, squares: both.squares }
    }
}

part_query! {
    /// [`ColumnSums::of`] as a query.
    pub SampleRows: ColumnSumsOf "column_sums" {} -> ColumnSums {}
    |_, part, _| ColumnSums::of(&part.rows(), part.weights), |_, total, next| *total = total.merged(&next)
}

part_query! {
    /// [`BasisPlan::first_sums`] as a query.
    pub SampleRows: FirstSumsOf "first_sums" {
        /// The plan, as bytes that any machine makes it of.
        plan: Vec<u8>
    } -> FirstSums {}
    |query, part, _| BasisPlan::from_bytes(&query.plan)?.first_sums(&part.rows(), part.weights),
    |_, total, next| *total = total.merged(&next)
}

/// `most` rows of weight above 0 drawn without replacement, or all there are: ascending.
pub fn draw_rows(weights: &[f64], most: usize, seed: u64) -> Vec<usize> {
    drawn(weights, most, seed)
}

/// The rows of weight above 0 that bases are chosen among, ascending: the first few a basis for `index`, since
/// some may be equal, else [`SAMPLES_PER_BASIS`] drawn for each.
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
    pub(super) kernel: ConditionalKernel,
    pub(super) n_features: usize,
    /// Row-major.
    pub(super) bases: Vec<f64>,
    columns: ColumnSums,
    /// Of the polynomials.
    degree: Option<u32>,
    pub(super) space: PolynomialSpace,
    pub(super) feature_map: FeatureMap,
}

/// The treatment of the polynomials, determined from the first sums.
#[derive(Clone, Debug)]
pub struct SettledPolynomials {
    polynomials: Polynomials,
    why: Option<WhyNotFree>,
    pub(super) settled: Settled,
}

/// Metadata of a fit that its model stores.
#[derive(Clone, Debug)]
pub struct ModelMetadata<'a> {
    /// The classes, in the order of the problems.
    pub classes: Vec<Label>,
    /// The sum of the samples' weights, averaged over the problems.
    pub total_weight: f64,
    /// For multilabel targets, whose labels are the classes.
    pub several: Option<OneVsRest<'a>>,
    /// The labels of the samples and their weights without class weights, by which the error is estimated; none where
    /// the caller does that.
    pub evaluated_on: Option<(&'a Labels, &'a [f64])>,
    /// Row of each basis among the samples; empty if bases are means of samples.
    pub support: Vec<u64>,
    /// Stages before the path, which appends its own.
    pub stages: Vec<Stage>,
}

impl BasisPlan {
    /// Built from bases (row-major) and the column sums of all samples. About bases³ / 3 flops.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the kernel or its polynomials cannot be used on these bases.
    pub fn new(kernel: ConditionalKernel, bases: Vec<f64>, columns: ColumnSums) -> Result<Self> {
        BasisPlan::of_degree(kernel, kernel.degree(), bases, columns)
    }

    /// The same for a smoothing spline, whose polynomials are the constant at least.
    ///
    /// # Errors
    /// As for [`BasisPlan::new`].
    pub fn for_regression(kernel: ConditionalKernel, bases: Vec<f64>, columns: ColumnSums) -> Result<Self> {
        BasisPlan::of_degree(kernel, kernel.degree().or(Some(0)), bases, columns)
    }

    fn of_degree(kernel: ConditionalKernel, degree: Option<u32>, bases: Vec<f64>, columns: ColumnSums) -> Result<Self> {
        let n_features = columns.mean.len();
        let variances: Vec<f64> = columns.squares.iter().map(|squares| squares / columns.total).collect();
        let space = PolynomialSpace::of_moments(degree, columns.mean.clone(), &variances)?;
        let ones = vec![1.0; bases.len() / n_features.max(1)];
        let between = weighted_gram(kernel, &bases, n_features, &ones, &Pool::new(1)?)?;
        let feature_map = feature_map_of(between, &weighted_polynomials(&space, &bases, n_features, &ones))?;
        Ok(BasisPlan { kernel, n_features, bases, columns, degree, space, feature_map })
    }

    /// As bytes, for another machine.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(&(self.kernel.to_string(), self.degree, &self.bases, &self.columns))
    }

    /// The plan of these bytes.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bytes that are no plan, and as for [`BasisPlan::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (kernel, degree, bases, columns): (String, Option<u32>, Vec<f64>, ColumnSums) = from_bytes(bytes)?;
        BasisPlan::of_degree(kernel.parse()?, degree, bases, columns)
    }

    /// Sums over all samples for the polynomials, wherever the samples are.
    ///
    /// # Errors
    /// An error of the samples.
    pub fn first_sums_of(
        &self,
        samples: &mut impl Executor<Of = SampleRows>,
        monitor: &Monitor<'_>,
    ) -> Result<FirstSums> {
        samples.reduce(&FirstSumsOf { plan: self.to_bytes()? }, monitor)
    }

    /// The kernel.
    pub fn kernel(&self) -> ConditionalKernel {
        self.kernel
    }

    /// Number of bases.
    pub fn n_bases(&self) -> usize {
        self.bases.len() / self.n_features.max(1)
    }

    /// Kernel values and polynomials of the samples of weight above 0, times √w, one column per sample, in blocks.
    fn for_blocks(&self, samples: &impl Rows, weights: &[f64], mut visit: impl FnMut(Matrix, Matrix)) -> Result<()> {
        let present: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        for some in present.chunks(crate::solve::thin_plate::BLOCK) {
            let rows = dense_rows(samples, some, self.n_features)?;
            let roots: Vec<f64> = some.iter().map(|&row| weights[row].sqrt()).collect();
            let phi = weighted_block(self.kernel, &rows, &self.bases, self.n_features, &roots);
            visit(phi, weighted_polynomials(&self.space, &rows, self.n_features, &roots).transposed());
        }
        Ok(())
    }

    /// A partition's sums for deciding about the polynomials; partitions are combined by [`FirstSums::merged`].
    ///
    /// # Errors
    /// [`Error::Value`] for a non-finite number.
    pub fn first_sums(&self, samples: &impl Rows, weights: &[f64]) -> Result<FirstSums> {
        let mut all = FirstSums::default();
        self.for_blocks(samples, weights, |phi, polynomials| all = all.merged(&first_sums(&phi, &polynomials)))?;
        Ok(all)
    }

    /// Decides on the treatment of the polynomials. For `auto` it must be known whether they alone separate a problem:
    /// the result of [`rows_separate`] on [`BasisPlan::polynomial_features`] for the columns settled as `free`. `n`
    /// is the number of samples of weight above 0, `total` the sum of their weights.
    ///
    /// # Errors
    /// [`Error::Parameter`] for non-finite sums, [`Error::Shape`] for sums of other bases.
    ///
    /// [`rows_separate`]: crate::solve::thin_plate::rows_separate
    pub fn settle(
        &self,
        sums: &FirstSums,
        requested: Polynomials,
        n: usize,
        total: f64,
        separates: bool,
    ) -> Result<SettledPolynomials> {
        let mut settled = Settled::new(sums, &self.feature_map, total)?;
        let spreads = self.space.spreads(self.kernel.dilation_exponent());
        let (polynomials, why) = settled.settle(requested, n, &spreads, || Ok(separates))?;
        Ok(SettledPolynomials { polynomials, why, settled })
    }

    /// Tᵀp of the samples of weight above 0, times √w: row-major.
    ///
    /// # Errors
    /// [`Error::Value`] for a non-finite number, [`Error::Shape`] for a T of another size.
    pub fn polynomial_features(&self, samples: &impl Rows, weights: &[f64], columns: &[f64]) -> Result<Vec<f64>> {
        let feature_map = self.feature_map.only_polynomials(self.columns("columns", columns)?);
        self.lifted(samples, weights, &feature_map, false)
    }

    /// The features of the samples of weight above 0, times √w, penalized ones first: row-major. `penalized`, `columns`
    /// and `cross` are those of [`SettledPolynomials`].
    ///
    /// # Errors
    /// As for [`BasisPlan::polynomial_features`].
    pub fn features(
        &self,
        samples: &impl Rows,
        weights: &[f64],
        penalized: &[f64],
        columns: &[f64],
        cross: &[f64],
    ) -> Result<Vec<f64>> {
        let (penalized, columns) = (self.columns("penalized", penalized)?, self.columns("columns", columns)?);
        let (b, q) = (self.n_bases(), columns.n_cols());
        if !cross.is_empty() && cross.len() != b * q {
            return Err(misfit("cross", cross.len(), b * q));
        }
        let cross = (!cross.is_empty()).then(|| Matrix::from_columns(cross.to_vec(), b, q));
        let feature_map = FeatureMap { penalized, columns, cross, ..self.feature_map.clone() };
        self.lifted(samples, weights, &feature_map, true)
    }

    fn columns(&self, what: &str, columns: &[f64]) -> Result<Matrix> {
        let m = self.space.len();
        let q = columns.len().checked_div(m).unwrap_or(0);
        if m * q != columns.len() {
            return Err(misfit(what, columns.len(), m * q));
        }
        Ok(Matrix::from_columns(columns.to_vec(), m, q))
    }

    pub(super) fn lifted(
        &self,
        samples: &impl Rows,
        weights: &[f64],
        feature_map: &FeatureMap,
        with_kernel: bool,
    ) -> Result<Vec<f64>> {
        let mut features = Vec::new();
        self.for_blocks(samples, weights, |phi, polynomials| {
            let phi = if with_kernel { phi } else { Matrix::zeros(0, phi.n_cols()) };
            features.extend(feature_map.features(phi, &polynomials).into_values());
        })?;
        Ok(features)
    }

    /// Computes the path over the rows of all partitions and builds the model; of `params` only C, tolerance, steps and
    /// threads are used.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the monitor cancelled, and errors of the rows.
    pub fn fit(
        self,
        params: &ThinPlateParams,
        settled: SettledPolynomials,
        rows: &mut dyn RowSums,
        metadata: ModelMetadata<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateSvc> {
        let SettledPolynomials { polynomials, why, settled } = settled;
        let BasisPlan { bases, space, feature_map, .. } = self;
        let pool = Pool::new(params.threads)?;
        let started = Instant::now();
        let fitted = fit_remote(rows, feature_map, settled, (polynomials, why), &params.settings(), (&pool, monitor))?;
        let mut metadata = metadata;
        metadata.stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        let warnings = space.warnings();
        params.model((fitted, bases, space), None, metadata, warnings)
    }
}

impl SettledPolynomials {
    /// S of the penalized polynomials, column-major, as an argument of [`BasisPlan::features`].
    pub fn penalized(&self) -> &[f64] {
        self.settled.penalized.values()
    }

    /// Number of penalized features: the bases and the penalized polynomials.
    pub fn n_penalized(&self) -> usize {
        self.settled.cross.n_rows() + self.settled.penalized.n_cols()
    }

    /// T of the unpenalized features, column-major, as an argument of [`BasisPlan::features`].
    pub fn columns(&self) -> &[f64] {
        self.settled.columns.values()
    }

    /// The multiples of each unpenalized feature that are subtracted from the penalized ones, column-major; may be
    /// empty.
    pub fn cross(&self) -> &[f64] {
        if self.settled.is_free { self.settled.cross.values() } else { &[] }
    }

    /// Number of unpenalized features.
    pub fn n_free(&self) -> usize {
        self.settled.columns.n_cols()
    }
}

fn misfit(what: &str, found: usize, expected: usize) -> Error {
    Error::Shape { what: what.into(), found: format!("{found} numbers"), expected: expected.to_string() }
}
