//! The task of a smoothing spline: how targets are fitted, by ridge regression for all C at once.

use std::ops::Range;

use super::basis_plan::PartLift;
use super::params::{RegressionParams, ThinPlateRegressorParams};
use super::regressor::{SplineRegression, ThinPlateRegressor};
use super::remarks::dependent;
use super::spline::Spline;
use super::spline_basis::{SplineBasis, first_sums, lifted};
use super::spline_model::SplineTask;
use super::task::{
    AtSamples, Finish, InMemory, KernelPoint, ModelOf, OnBases, OnWorkers, Problem, Solution, Solved, SplineData,
    SplineFit,
};
use crate::data::{About, AnySamples, Fingerprint, Label, Labels, Targets};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory::product;
use crate::model::clock::Clock;
use crate::model::manifest::Manifest;
use crate::model::origin::Origin;
use crate::model::regression_path::{StandardTargets, closed_form_report};
use crate::model::{PartedTargets, RegressionSelection};
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::partition::{Executor, Recorded, Remote, Workers};
use crate::problem::{Loss, RowFeatures};
use crate::search::LeftOut;
use crate::similarity::PolynomialSpace;
use crate::solve::ridge::{
    ChunkedRows, Fitted, KernelSolution, PartedRidge, ROWS, Ridge, RidgeRows, TakesFeatures, roots,
};
use crate::solve::thin_plate::memory::BasisBytes;
use crate::solve::thin_plate::{FeatureMap, FirstSums, Polynomials, Settled};
use crate::tuning::MAX_PARTED_FEATURES;

/// The checkpoint name of the sums.
const ANSWERS: &str = "answers";

/// Squares of the features that are in memory at once, in addition to those of chunks of rows: the kernel between the
/// bases and its factor, the products, their eigenvectors, the rotation and its copies.
const SQUARES: usize = 8;

/// Copies of the features of a chunk of rows: kernel values, features, centered ones, rotated ones.
const COPIES: usize = 4;

/// What is found of the standardized targets.
pub(crate) struct Smoothed {
    standard: StandardTargets,
    chosen: RegressionSelection,
    /// λ in units of the mean diagonal of the projected kernel.
    lambda: f64,
    rank: usize,
    /// ½‖f‖² of each output.
    half_norms: Vec<f64>,
}

impl SplineData for RegressionParams {
    type Known = Targets;
    type Weighted<'a> = PartedTargets;
    type Task = SplineRegression;
}

impl SplineFit for RegressionParams {
    type Found = Smoothed;
    const WEIGHTS_KERNEL: bool = false;
    const IS_REUSED: bool = true;
    /// The kernel, projected and decomposed.
    const EXACT_BYTES: fn(usize, usize, usize, usize) -> u64 = |n, _, _, _| product(&[8, n, n, 6]);
    const BASIS_BYTES: fn(usize, usize, usize, usize, usize) -> BasisBytes = |n, b, n_columns, _, _| BasisBytes {
        least: product(&[8, b, b, 6]) + product(&[8, n, 3, n_columns]),
        features: 0,
    };

    /// Blocks are not cached.
    fn streamed_bytes([_, d, n_basis, n_columns, _]: [usize; 5], pool: &Pool) -> (u64, u64) {
        let (width, in_flight) = (n_basis + n_columns, pool.in_flight());
        let squares = product(&[8, width, width, SQUARES + in_flight]);
        (squares.saturating_add(product(&[8, in_flight, ROWS, COPIES * width + d])), u64::MAX)
    }

    fn manifest(fit: &Problem<'_, Self>, samples: &About<'_, AnySamples>, content: Fingerprint) -> Result<Manifest> {
        let mut values = Fingerprint::default();
        fit.known.values().iter().enumerate().for_each(|(at, value)| values.add(at, value.to_bits()));
        let own = [("targets", format!("{} outputs, {:032x}", fit.known.n_outputs(), values.finish()))];
        let all_alike = Labels::from_codes(vec![Label::Integer(0)], vec![0; fit.weights.len()])?;
        let parameters = fit.params.identity(content, own);
        Manifest::new(SplineRegression::METHOD, &parameters, samples, &all_alike, fit.weights)
    }

    fn compared(found: &Smoothed, point: &mut KernelPoint) -> (LeftOut, f64) {
        let r2 = found.chosen.r2();
        point.r2 = Some(r2);
        (LeftOut::of(Ok(1.0 - r2), None), found.lambda)
    }

    fn weighted<'a>(fit: &Problem<'a, Self>, _sample_weights: &'a [f64]) -> Result<PartedTargets> {
        PartedTargets::of(fit.known, fit.weights.to_vec(), fit.units.to_vec(), true)
    }

    fn solve_exact(fit: &Problem<'_, Self>, at: AtSamples<'_>, monitor: &Monitor<'_>) -> Solved<Self> {
        let Problem { params, known, weights, units, .. } = *fit;
        let standard = StandardTargets::new(known, (weights, units), true)?;
        let fitted = Fitted::new(&standard.values, weights.to_vec(), units.to_vec());
        let not_finite = || Error::NotFinite { what: "a kernel value of the samples".into(), value: f64::NAN };
        let ridge = Ridge::of_kernel(at.gram, at.polynomials, fitted).ok_or_else(not_finite)?;
        let problem = (&ridge.parted, &mut ridge.rows());
        let chosen = params.select(&standard, at.space, problem, monitor)?;
        let KernelSolution { alphas, betas } = ridge.solution(chosen.lambda);
        // αᵀΦα = αᵀ(f − Pβ) = αᵀf, and λα = w(y − f).
        let half_norm = |output: usize| {
            let numbers = alphas.col(output).iter().zip(standard.values.col(output)).zip(weights);
            0.5 * numbers.map(|((a, y), weight)| a * (y - chosen.lambda * a / weight)).sum::<f64>().max(0.0)
        };
        let half_norms = (0..alphas.n_cols()).map(half_norm).collect();
        let lambda = chosen.lambda / (ridge.parted.spectrum.unit() * standard.typical_weight);
        let found = Smoothed { standard, chosen, lambda, rank: ridge.n_free(), half_norms };
        Ok(((columns(&alphas), columns(&betas)), found))
    }

    fn solve_on_bases(fit: &Problem<'_, Self>, on: OnBases<'_, '_, Self>, clock: &mut Clock<'_>) -> Solved<Self> {
        let (OnBases { basis, read, known, storage, .. }, n, pool) = (on, fit.weights.len(), fit.pool);
        let (roots, feature_map) = (roots(fit.weights), basis.feature_map(pool, clock.monitor)?);
        let raw = &basis.raw(read, &roots);
        let (mut sums, count) = (FirstSums::default(), RowCount::new(clock.monitor, "polynomials", n));
        let some = |rows: Range<usize>| {
            count.go_on()?;
            let found = first_sums(raw, rows.clone())?;
            count.add(rows.len());
            Ok::<_, Error>(found)
        };
        pool.fold_chunks(n, ROWS, some, |next| {
            sums.add(next);
            Ok::<_, Error>(())
        })?;
        let settled = settled(basis, &feature_map, &sums, known)?;
        clock.end("polynomials")?;
        let map = &settled.feature_map(feature_map);
        let with = |rows: Range<usize>, take: &mut TakesFeatures<'_>| {
            let (values, n_penalized) = (lifted(raw, rows, map)?, map.n_penalized());
            take(RowFeatures::Weighted { values: &values, width: n_penalized + map.n_free(), n_penalized })
        };
        let rows = ChunkedRows { fitted: &known.fitted, pool, with };
        let rows = &mut Recorded::new(rows, storage.checkpoint.map(|named| named.0), ANSWERS)?;
        fit.params.smoothed(basis, (&settled, map), known, (rows, usize::MAX), clock.monitor)
    }

    fn solve_on_workers<W: Workers>(on: OnWorkers<'_, '_, Self, W>, clock: &mut Clock<'_>) -> Solved<Self> {
        let OnWorkers { params, plan, sums, known, features } = on;
        let settled = settled(&plan.basis, &plan.feature_map, &sums, known)?;
        clock.end("polynomials")?;
        let rows = &mut Remote::new(features(PartLift::of(&settled))?);
        clock.end("features")?;
        let map = settled.feature_map(plan.feature_map.clone());
        params.smoothed(&plan.basis, (&settled, &map), known, (rows, MAX_PARTED_FEATURES), clock.monitor)
    }

    fn model_of_parts(of: Solution<Self>, _known: &PartedTargets, finish: Finish<'_, Self>) -> ModelOf<Self> {
        Ok(finished(of, finish))
    }

    fn model_in_memory(fit: &Problem<'_, Self>, memory: InMemory<'_, Self>, clock: &mut Clock<'_>) -> ModelOf<Self> {
        let InMemory { rows, scale, distinct, solved } = memory;
        let mut solution = solved.map_or_else(|| fit.solve(rows, clock), Ok)?;
        solution.basis_rows.iter_mut().for_each(|row| *row = distinct.rows[*row]);
        let (params, training) = (fit.params, fit.params.training(fit.n_basis().is_some()));
        Ok(finished(solution, Finish { params, scale, training, stages: std::mem::take(&mut clock.stages) }))
    }
}

/// The free polynomials of a spline.
fn settled(basis: &SplineBasis, map: &FeatureMap, sums: &FirstSums, known: &PartedTargets) -> Result<Settled> {
    let treated = (Polynomials::Free, &basis.spreads()[..]);
    Settled::new(sums, map, (known.n_present(), known.total()), treated, |_| Ok(false))
}

impl ThinPlateRegressorParams {
    /// C by leave-one-out, or an error with the number of polynomials.
    fn select(
        &self,
        standard: &StandardTargets,
        space: &PolynomialSpace,
        problem: (&PartedRidge, &mut impl Executor<RidgeRows>),
        monitor: &Monitor<'_>,
    ) -> Result<RegressionSelection> {
        RegressionSelection::of(self.c, standard, problem, monitor).map_err(|error| match error {
            Error::Parameter { name, value, expected } if name == "C" => {
                let (kernel, p) = (self.kernel, space.n_monomials());
                let expected = format!("{expected}; polynomials of {kernel} that are not penalized: {p}");
                Error::Parameter { name, value, expected }
            }
            other => other,
        })
    }

    /// The spline on features of at most this number.
    fn smoothed(
        &self,
        basis: &SplineBasis,
        (settled, map): (&Settled, &FeatureMap),
        known: &PartedTargets,
        (rows, max_features): (&mut impl Executor<RidgeRows>, usize),
        monitor: &Monitor<'_>,
    ) -> Solved<RegressionParams> {
        let (n_outputs, standard) = (known.n_outputs(), known.standard.clone());
        let ridge = PartedRidge::new(rows, (n_outputs, known.total()), max_features, monitor)?;
        let chosen = self.select(&standard, &basis.space, (&ridge, rows), monitor)?;
        let (weights, free) = (ridge.weights(chosen.lambda), ridge.along());
        let one = |output: usize| map.coefficients(&[weights.col(output), free.col(output)].concat());
        let half_norm = |weights: &Vec<f64>| 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
        let half_norms = columns(&weights).iter().map(half_norm).collect();
        let lambda = chosen.lambda / (ridge.spectrum.unit() * standard.typical_weight);
        let found = Smoothed { standard, chosen, lambda, rank: settled.rank(), half_norms };
        Ok(((0..n_outputs).map(one).unzip(), found))
    }
}

/// The model of a solution, in the unit of the targets.
fn finished(solution: Solution<RegressionParams>, finish: Finish<'_, RegressionParams>) -> ThinPlateRegressor {
    let Solution { basis, basis_rows, mut coefficients, found, warnings } = solution;
    let (Smoothed { standard, chosen, .. }, Finish { scale, training, stages, .. }) = (&found, finish);
    let mut report = closed_form_report(&found.half_norms, standard.values.n_rows(), stages);
    report.warnings.splice(0..0, warnings);
    report.warnings.extend(dependent(basis.kernel, basis.space.n_monomials(), found.rank));
    report.warnings.extend(chosen.warning(standard));
    let functions = coefficients.0.iter_mut().zip(&mut coefficients.1);
    for ((alpha, beta), (scale, mean)) in functions.zip(standard.scales.iter().zip(&standard.means)) {
        alpha.iter_mut().chain(&mut *beta).for_each(|x| *x *= scale);
        // The first monomial is the constant.
        beta[0] += mean;
    }
    let task = SplineRegression {
        loss: Loss::SquaredError,
        c: chosen.c(),
        lambda: found.lambda,
        rank: found.rank,
        n_outputs: standard.scales.len(),
        path: found.chosen.path,
    };
    let spline = Spline::new(basis, scale, &basis_rows, &coefficients);
    ThinPlateRegressor { spline, task, report, origin: Origin::of(training) }
}

fn columns(matrix: &Matrix) -> Vec<Vec<f64>> {
    (0..matrix.n_cols()).map(|at| matrix.col(at).to_vec()).collect()
}
