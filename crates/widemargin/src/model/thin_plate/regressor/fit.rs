//! The fit of a smoothing spline.

use std::borrow::Cow;

use super::super::fit::merged;
use super::super::kernel_blocks::{dense_rows, first_of_equals, weighted_gram, weighted_polynomials};
use super::super::landmarks::{Placed, choose};
use super::super::params::LANDMARKS;
use super::super::remarks::{crowded, dependent};
use super::choose::{Choice, TriedSpline};
use super::file::degree;
use super::landmark_features::{LandmarkFeatures, Places};
use super::{ThinPlateRegressor, ThinPlateRegressorParams};
use crate::data::{Distinct, Given, Rows, Targets, fingerprints};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory;
use crate::model::clock::Clock;
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::scale_rows::scale_rows;
use crate::model::{ChosenRegression, StandardTargets};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::ridge::{Fitted, KernelSolution, Ridge};
use crate::solve::thin_plate::memory as solver_memory;
use crate::solve::{Report, Status};

impl ThinPlateRegressorParams {
    /// Trains on samples and their targets.
    ///
    /// # Errors
    /// See [`ThinPlateRegressorParams::fit_with`].
    pub fn fit(&self, samples: &impl Rows, targets: &Targets) -> Result<ThinPlateRegressor> {
        self.fit_with(samples, targets, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to absence, and the order
    /// of the samples does not matter (except for [`LandmarkChoice::Index`](crate::model::LandmarkChoice::Index)): all bit for
    /// bit.
    ///
    /// The leave-one-out errors in the model are exact: those of refits without one copy of each sample; on landmarks with the
    /// landmarks as they are.
    ///
    /// # Errors
    /// Invalid parameters, shapes, values or targets, each saying which and what is expected; [`Error::Parameter`] on
    /// `n_basis`, with the size, if the kernel matrix does not fit in memory, and on `C` if it is to be selected and each
    /// sample is met whatever the others say; [`Error::Cancelled`] if the monitor cancelled.
    pub fn fit_with(
        &self,
        samples: &impl Rows,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateRegressor> {
        Ok(self.fit_tried(samples, targets, sample_weight, monitor)?.0)
    }

    /// The same, with what was found of each kernel and scaling, if there was a choice.
    ///
    /// # Errors
    /// As for [`ThinPlateRegressorParams::fit_with`].
    pub fn fit_tried(
        &self,
        samples: &impl Rows,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateRegressor, Vec<TriedSpline>)> {
        self.check()?;
        let n_features = samples.n_cols();
        if n_features == 0 {
            return Err(Error::shape("samples", "no features", "at least one column"));
        }
        let weights = targets.weights(samples.n_rows(), sample_weight)?;
        let mut clock = Clock::start(monitor);
        let codes = targets.codes();
        let given = Given { codes: &codes, weights: sample_weight, effective: &weights };
        let read = |rows: &[usize]| Ok(Some(fingerprints(samples, rows)));
        let distinct = Distinct::find(read, given, 0, self.threads, monitor)?;
        let pool = Pool::new(self.threads)?;
        let task = Task {
            params: self,
            rows: dense_rows(samples, &distinct.rows, n_features)?,
            n_features,
            targets: targets.of_rows(&distinct.rows),
            weights: distinct.weights.clone(),
            pool: &pool,
            monitor,
        };
        clock.end("merge")?;
        let Choice { kernel, factors, solved, tried, mut warnings, note } = task.choose()?;
        if !tried.is_empty() {
            clock.end("choice")?;
        }
        let n_basis = task.landmarks();
        let solved = match (n_basis, solved) {
            (None, Some(solved)) => solved,
            (None, None) => task.exact(kernel, factors.as_deref())?,
            (Some(n_basis), _) => {
                task.on_landmarks(kernel, factors.as_deref(), n_basis, &distinct.in_callers_order())?
            }
        };
        clock.end("solve")?;
        let n = task.weights.len();
        if self.n_basis.is_none() && n > self.exact_up_to {
            warnings.push(crowded(n, exact_bytes(n)));
        }
        warnings.extend(dependent(kernel, solved.space.len(), solved.rank));
        warnings.extend(solved.chosen.warning(&solved.standard));
        let landmarks = n_basis.map_or_else(|| "none".into(), |_| self.landmarks.to_string());
        let training = TrainingSettings { seed: self.seed, landmarks: Some(landmarks), ..TrainingSettings::default() };

        let k = targets.n_outputs();
        // The solution is in closed form: there is no gap.
        let (status, n_support) = (vec![Status::Converged; k], vec![u32::try_from(n).unwrap_or(u32::MAX); k]);
        let objectives = (&solved.half_norms[..], &solved.half_norms[..]);
        let mut report = Report::of(&status, vec![1; k], objectives, vec![0.0; k], n_support, clock.stages);
        report.notes.extend(note);
        report.warnings.extend(warnings);
        let StandardTargets { means, scales, .. } = &solved.standard;
        let restored = |functions: &[Vec<f64>]| {
            let one = |(values, scale): (&Vec<f64>, &f64)| values.iter().map(|x| x * scale).collect::<Vec<f64>>();
            functions.iter().zip(scales).flat_map(one).collect::<Vec<f64>>()
        };
        let mut polynomial = restored(&solved.betas);
        // The first monomial is the constant.
        polynomial.iter_mut().step_by(solved.space.len()).zip(means).for_each(|(constant, mean)| *constant += mean);
        let model = ThinPlateRegressor {
            kernel,
            c: solved.chosen.c(),
            lambda: solved.lambda,
            rank: solved.rank,
            n_features,
            n_outputs: k,
            scale: factors,
            coefficients: restored(&solved.alphas),
            bases: solved.bases,
            support: solved.support.iter().map(|&i| distinct.rows[i] as u64).collect(),
            space: solved.space,
            polynomial,
            path: solved.chosen.path,
            report,
            origin: Origin::of(training),
        };
        Ok((model, tried))
    }
}

/// The distinct samples with weights above 0, and what is done with them.
pub(super) struct Task<'a> {
    pub params: &'a ThinPlateRegressorParams,
    /// Row-major, as given.
    pub rows: Vec<f64>,
    pub n_features: usize,
    pub targets: Targets,
    pub weights: Vec<f64>,
    pub pool: &'a Pool,
    pub monitor: &'a Monitor<'a>,
}

/// A spline at the C given or selected, of the standardised targets.
pub(super) struct Solved {
    space: PolynomialSpace,
    standard: StandardTargets,
    pub chosen: ChosenRegression,
    /// λ in units of the mean diagonal of the projected kernel.
    lambda: f64,
    rank: usize,
    /// Row-major.
    bases: Vec<f64>,
    /// The samples that are bases, if bases are samples.
    support: Vec<usize>,
    /// α of each output.
    alphas: Vec<Vec<f64>>,
    /// β of each output.
    betas: Vec<Vec<f64>>,
    /// ½‖f‖² of each output.
    half_norms: Vec<f64>,
}

impl Task<'_> {
    /// The same with some of the samples.
    pub fn of_rows(&self, some: &[usize]) -> Self {
        let d = self.n_features;
        Task {
            rows: some.iter().flat_map(|&row| &self.rows[row * d..(row + 1) * d]).copied().collect(),
            targets: self.targets.of_rows(some),
            weights: some.iter().map(|&row| self.weights[row]).collect(),
            ..*self
        }
    }

    /// The number of landmarks; `None` for the exact solver.
    pub fn landmarks(&self) -> Option<usize> {
        let (params, n) = (self.params, self.weights.len());
        let landmarks = params.n_basis.or((n > params.exact_up_to).then_some(LANDMARKS));
        // With as many landmarks as samples nothing is saved.
        landmarks.filter(|&n_basis| n_basis < n)
    }

    /// The polynomials at the samples.
    ///
    /// # Errors
    /// [`Error::Parameter`] for too many.
    pub fn space(&self, rows: &[f64], kernel: ConditionalKernel) -> Result<PolynomialSpace> {
        PolynomialSpace::fit(rows, &self.weights, self.n_features, degree(kernel))
    }

    fn scaled(&self, factors: Option<&[f64]>) -> Cow<'_, [f64]> {
        let Some(factors) = factors else { return Cow::Borrowed(&self.rows) };
        let mut rows = self.rows.clone();
        scale_rows(&mut rows, factors);
        Cow::Owned(rows)
    }

    fn fitted(&self, standard: &StandardTargets) -> Fitted {
        let units = self.weights.iter().map(|weight| weight.min(1.0)).collect();
        Fitted { targets: standard.values.clone(), weights: self.weights.clone(), units }
    }

    /// The exact fit: every sample is a basis, those at the same place one.
    pub fn exact(&self, kernel: ConditionalKernel, factors: Option<&[f64]>) -> Result<Solved> {
        let (n, d, params) = (self.weights.len(), self.n_features, self.params);
        solver_memory::check(exact_bytes(n), params.memory_limit, n, None, "take landmarks (n_basis)")?;
        let rows = self.scaled(factors);
        let space = self.space(&rows, kernel)?;
        let ones = vec![1.0; n];
        let gram = weighted_gram(kernel, &rows, d, &ones, self.pool)?;
        let polynomials = weighted_polynomials(&space, &rows, d, &ones);
        self.monitor.go_on("solve")?;
        let standard = StandardTargets::new(&self.targets, &self.weights, true)?;
        let not_finite = || Error::NotFinite { what: "a kernel value of the samples".into(), value: f64::NAN };
        let ridge = Ridge::of_kernel(gram, polynomials, self.fitted(&standard)).ok_or_else(not_finite)?;
        let chosen = ChosenRegression::of(&ridge, &standard, params.c, self.monitor)?;
        let KernelSolution { alphas, betas } = ridge.kernel_solution(chosen.lambda).ok_or_else(not_finite)?;
        // αᵀΦα = αᵀ(f − Pβ) = αᵀf, and λα = w(y − f).
        let half_norm = |output: usize| {
            let numbers = alphas.col(output).iter().zip(standard.values.col(output)).zip(&self.weights);
            0.5 * numbers.map(|((a, y), weight)| a * (y - chosen.lambda * a / weight)).sum::<f64>().max(0.0)
        };
        let half_norms = (0..alphas.n_cols()).map(half_norm).collect();
        let first = first_of_equals(&rows, d);
        let alphas = merged(&columns(&alphas), &first);
        let support: Vec<usize> = (0..n).filter(|&i| first[i] == i).collect();
        Ok(Solved {
            lambda: chosen.lambda / ridge.unit(),
            rank: ridge.n_free(),
            bases: support.iter().flat_map(|&i| &rows[i * d..(i + 1) * d]).copied().collect(),
            alphas: alphas.iter().map(|alphas| support.iter().map(|&i| alphas[i]).collect()).collect(),
            betas: columns(&betas),
            half_norms,
            space,
            standard,
            chosen,
            support,
        })
    }

    /// The fit on landmarks, which are fewer than the samples.
    fn on_landmarks(
        &self,
        kernel: ConditionalKernel,
        factors: Option<&[f64]>,
        n_basis: usize,
        first_come: &[usize],
    ) -> Result<Solved> {
        let (n, n_features, params) = (self.weights.len(), self.n_features, self.params);
        let rows = self.scaled(factors);
        let space = self.space(&rows, kernel)?;
        let needed = memory::product(&[8, n_basis, n_basis, 6]) + memory::product(&[8, n, 3, space.len()]);
        solver_memory::check(needed, params.memory_limit, n, Some(n_basis), "take fewer landmarks")?;
        let placed = Placed { rows: &rows, n_features, weights: &self.weights, first_come };
        let (bases, support) = choose(params.landmarks, n_basis, placed, params.seed, self.pool)?;
        let roots: Vec<f64> = self.weights.iter().map(|weight| weight.sqrt()).collect();
        let places = Places { kernel, n_features, samples: &rows, landmarks: &bases };
        let features = LandmarkFeatures::new(places, &space, &roots, self.pool)?;
        let standard = StandardTargets::new(&self.targets, &self.weights, true)?;
        let free = features.free_fit(&standard.values);
        let ridge = Ridge::of_rows(&features, free, self.fitted(&standard), self.pool, self.monitor)?;
        let chosen = ChosenRegression::of(&ridge, &standard, params.c, self.monitor)?;
        let not_finite = || Error::NotFinite { what: "a weight".into(), value: f64::NAN };
        let weights = ridge.weights(chosen.lambda).ok_or_else(not_finite)?;
        let (lambda, rank) = (chosen.lambda / ridge.unit(), ridge.n_free());
        let (alphas, betas) = features.coefficients(&weights, &standard.values);
        let half_norm = |weights: Vec<f64>| 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
        let half_norms = columns(&weights).into_iter().map(half_norm).collect();
        drop(ridge);
        Ok(Solved { lambda, rank, bases, support, alphas, betas, half_norms, space, standard, chosen })
    }
}

/// Peak memory of the exact solver: the kernel, projected and decomposed.
fn exact_bytes(n: usize) -> u64 {
    memory::product(&[8, n, n, 6])
}

fn columns(matrix: &Matrix) -> Vec<Vec<f64>> {
    (0..matrix.n_cols()).map(|at| matrix.col(at).to_vec()).collect()
}
