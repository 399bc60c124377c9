//! The fit of a spline to samples in memory, for labels and targets: weights, column scaling, kernel, solver.

use std::borrow::Cow;
use std::ops::Range;

use super::bases::{Placed, choose};
use super::choose::Choice;
use super::kernel_blocks::{dense_rows, merged, pick_rows, scale_rows, weighted_gram, weighted_polynomials};
use super::params::SplineParams;
use super::remarks::crowded;
use super::spline_basis::SplineBasis;
use super::spline_model::{SplineModel, SplineTask};
use super::task::{AtSamples, InMemory, KernelPoint, OnBases, Problem, Solution, SplineData, SplineFit};
use crate::data::{PickedRows, Rows, fingerprints};
use crate::error::{Error, Result, bytes_text, require};
use crate::model::Model;
use crate::model::clock::Clock;
use crate::model::known::{Known, Merged};
use crate::model::origin::TrainingSettings;
use crate::model::within_limit::{Part, TrainingSet, fit_samples};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::search::Tried;
use crate::similarity::PolynomialSpace;
use crate::solve::ridge::roots;
use crate::solve::thin_plate::{BLOCK, BlockStorage, memory};
use crate::tuning::DEFAULT_N_BASIS;

/// A model, and the results of each kernel and scaling, if there was a choice.
type FitTried<T> = (SplineModel<<T as SplineData>::Task>, Vec<Tried<KernelPoint>>);

impl<T: SplineFit> SplineParams<T> {
    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) naming the first that is invalid.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        self.kernel.check()?;
        self.c.check()?;
        require(self.n_basis != Some(0), "n_basis", "0", "at least 1, or none for the exact solver")?;
        self.task.check()
    }

    /// The degree of the polynomials.
    pub(super) fn degree(&self) -> Option<u32> {
        self.kernel.degree().or(T::Task::MIN_DEGREE)
    }

    /// The number of bases for this number of two-class problems, or a regression as one, on `n` samples; none for the
    /// exact solver, which takes n³ operations for each. Where there is none, all samples are bases, which gives the
    /// same function.
    pub(super) fn basis_size(&self, n: usize, n_problems: usize) -> Option<usize> {
        let is_dear = n as f64 * (n_problems.max(1) as f64).cbrt() > self.exact_up_to as f64;
        let bases = self.n_basis.or(is_dear.then_some(DEFAULT_N_BASIS));
        // With as many bases as samples nothing is saved.
        let saving = bases.filter(|&n_basis| n_basis < n);
        saving.or((!self.task.has_exact_solver()).then_some(n))
    }

    /// The most monomials of a candidate for the kernel.
    pub(super) fn max_monomials(&self, n_features: usize) -> Result<usize> {
        let degree = self.open_kernels().iter().filter_map(|kernel| kernel.degree()).max().or(T::Task::MIN_DEGREE);
        let zeros = vec![0.0; n_features];
        Ok(PolynomialSpace::new(degree, zeros.clone(), zeros)?.n_monomials())
    }

    /// Trains on samples and their labels or targets.
    ///
    /// # Errors
    /// See [`SplineParams::fit_with`].
    pub fn fit(&self, samples: &impl Rows, known: &T::Known) -> Result<SplineModel<T::Task>> {
        self.fit_with(samples, known, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out, and the order of the samples does not matter (except for
    /// [`ThinPlateBasis::Index`](crate::model::ThinPlateBasis::Index)): all bit for bit.
    ///
    /// The leave-one-out errors of a regression are exact, as from refits without one copy of each sample; with
    /// `n_basis`, from refits on the same bases. A fit that does not converge has a status and a warning in its report; it
    /// is not an error. If a time limit does not allow a fit on all samples, the model is fitted to a subset, as noted in
    /// the report.
    ///
    /// # Errors
    /// Invalid parameters, shapes, values, labels or targets, with their names and the expected values;
    /// [`Error::Parameter`] on `n_basis`, with the size, if the kernel matrix does not fit in memory, and on `C` of a
    /// regression if it is to be selected and each sample is fitted regardless of the others; [`Error::Cancelled`] if
    /// the monitor cancelled; [`Error::TooShort`] if its time limit passed before a fit on few samples.
    pub fn fit_with(
        &self,
        samples: &impl Rows,
        known: &T::Known,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<SplineModel<T::Task>> {
        Ok(self.fit_tried(samples, known, sample_weight, monitor)?.0)
    }

    /// The same, with the results of each kernel and scaling, if there was a choice.
    ///
    /// # Errors
    /// As for [`SplineParams::fit_with`].
    pub(crate) fn fit_tried(
        &self,
        samples: &impl Rows,
        known: &T::Known,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<FitTried<T>> {
        self.check()?;
        let weights = known.weights(samples.n_rows(), sample_weight, (self.task.class_weight(), self.c))?;
        let n_basis = self.basis_size(weights.len(), T::n_problems(known));
        let fit = |part: Option<Part<'_, T::Known>>, monitor: &Monitor<'_>| {
            let Some(Part { rows, known, sample_weight }) = part else {
                return self.fit_rows(TrainingSet { samples, known, sample_weight }, monitor);
            };
            let (samples, sample_weight) = (&PickedRows { source: samples, rows }, sample_weight.as_deref());
            let set = TrainingSet { samples, known: &known, sample_weight };
            let (mut model, tried) = self.clone().n_basis(n_basis).fit_rows(set, monitor)?;
            model.of_picked(rows);
            Ok((model, tried))
        };
        let weights = (&weights[..], sample_weight);
        fit_samples(known, weights, (n_basis, self.seed), monitor, fit, |(model, _)| &mut model.report)
    }

    fn fit_rows<R: Rows>(&self, set: TrainingSet<'_, R, T::Known>, monitor: &Monitor<'_>) -> Result<FitTried<T>> {
        let TrainingSet { samples, known, sample_weight } = set;
        let n_features = samples.n_cols();
        if n_features == 0 {
            return Err(Error::shape("samples", "no features", "at least one column"));
        }
        let effective = known.weights(samples.n_rows(), sample_weight, (self.task.class_weight(), self.c))?;
        let clock = &mut Clock::start(monitor);

        // Samples of weight 0 are ignored everywhere, including the scaling of the polynomials. Copies are merged.
        let read = |rows: &[usize]| Ok(Some(fingerprints(samples, rows)));
        let (known, of) = ((known, self.task.class_weight()), (sample_weight, &effective[..]));
        let Merged { distinct, known, weights, units, .. } =
            &Merged::find(read, known, of, (0, self.threads), monitor)?;
        let (params, first_come, pool) = (self, &distinct.in_callers_order()[..], &Pool::new(self.threads)?);
        let fit = Problem { params, known, weights, units, first_come, n_features, pool };
        let mut rows = dense_rows(samples, &distinct.rows, n_features)?;
        clock.end("merge")?;

        let Choice { kernel, factors: scale, solved, tried, warnings, note } =
            fit.choose(&rows, &fit.space(&rows)?, clock)?;
        scale_rows(&mut rows, scale.as_deref());
        let mut params = self.clone().kernel(kernel);
        // Where all samples were compared, the same fit has been solved.
        let solved = solved.filter(|_| fit.n_basis().is_none()).and_then(|(lambda, solved)| {
            params.task.start_near(lambda);
            solved
        });
        let memory = InMemory { rows: &rows, scale, distinct, solved };
        let mut model = T::model_in_memory(&Problem { params: &params, ..fit }, memory, clock)?;
        model.report.warnings.splice(0..0, warnings);
        model.report.notes.extend(note);
        Ok((model, tried))
    }

    /// The parameters that a model stores.
    pub(super) fn training(&self, on_bases: bool) -> TrainingSettings {
        let basis = if on_bases { self.basis.to_string() } else { "none".into() };
        TrainingSettings { seed: self.seed, basis: Some(basis), ..self.task.training() }
    }
}

impl<T: SplineFit> Problem<'_, T> {
    /// The number of bases; `None` for the exact solver.
    pub fn n_basis(&self) -> Option<usize> {
        self.params.basis_size(self.weights.len(), T::n_problems(self.known))
    }

    /// The polynomials at the samples.
    ///
    /// # Errors
    /// [`Error::Parameter`] for too many.
    fn space(&self, rows: &[f64]) -> Result<PolynomialSpace> {
        PolynomialSpace::fit(rows, self.weights, self.n_features, self.params.degree())
    }

    /// The solution for samples in memory, row-major.
    pub fn solve(&self, rows: &[f64], clock: &mut Clock<'_>) -> Result<Solution<T>> {
        match self.n_basis() {
            None => self.exact(rows, clock),
            Some(n_basis) => self.on_bases(n_basis, rows, clock),
        }
    }

    /// The exact fit. Samples at the same point share a basis; samples without a coefficient have none.
    pub fn exact(&self, rows: &[f64], clock: &mut Clock<'_>) -> Result<Solution<T>> {
        let Problem { params, known, weights, n_features, pool, .. } = *self;
        let (n, kernel, space) = (weights.len(), params.kernel, self.space(rows)?);
        let needed = T::EXACT_BYTES(n, space.n_monomials(), T::n_problems(known), pool.threads());
        memory::check(needed, params.memory_limit, n, None, "take bases (n_basis)")?;
        let roots = if T::WEIGHTS_KERNEL { roots(weights) } else { vec![1.0; n] };
        let gram = weighted_gram(kernel, rows, n_features, &roots, pool, clock.monitor)?;
        let polynomials = weighted_polynomials(&space, rows, n_features, &roots);
        clock.end("kernel")?;
        let at = AtSamples { gram, polynomials, space: &space };
        let ((alpha, beta), found) = T::solve_exact(self, at, clock.monitor)?;
        clock.end_solved("solve")?;
        let (firsts, alpha) = merged(&alpha, rows, n_features);
        let used: Vec<usize> = (0..firsts.len()).filter(|&at| alpha.iter().any(|alpha| alpha[at] != 0.0)).collect();
        let alpha = alpha.iter().map(|alpha| used.iter().map(|&at| alpha[at]).collect()).collect();
        let basis_rows: Vec<usize> = used.into_iter().map(|at| firsts[at]).collect();
        let basis = SplineBasis { kernel, bases: pick_rows(rows, &basis_rows, n_features), space };
        Ok(Solution { basis, basis_rows, coefficients: (alpha, beta), found, warnings: Vec::new() })
    }

    fn on_bases(&self, n_basis: usize, rows: &[f64], clock: &mut Clock<'_>) -> Result<Solution<T>> {
        let Problem { params, known, weights, first_come, n_features, pool, .. } = *self;
        let (n, k, space) = (weights.len(), T::n_problems(known), self.space(rows)?);
        let (n_columns, limit) = (space.n_monomials(), params.memory_limit);
        let mut warnings = Vec::new();
        if params.n_basis.is_none() && n_basis < n {
            warnings.push(crowded((n, k), T::EXACT_BYTES(n, n_columns, k, pool.threads())));
        }
        clock.monitor.tell(Progress { stage: "bases", done: 0, total: 1, gap: None });
        let needed = T::BASIS_BYTES(n, n_basis, n_columns, k, pool.threads());
        memory::check(needed.least, limit, n, Some(n_basis), "take fewer bases")?;
        let samples = Placed { rows, n_features, weights, first_come };
        let (bases, basis_rows) = match n_basis == n {
            true => (rows.to_vec(), (0..n).collect()),
            false => choose(params.basis, n_basis, samples, params.seed, pool)?,
        };
        clock.end("bases")?;
        let n_blocks = n.div_ceil(BLOCK);
        let (n_cached, free) = needed.cached_blocks(n_blocks, limit);
        let basis = SplineBasis { kernel: params.kernel, bases, space };
        let read = |some: Range<usize>| Ok(Cow::Borrowed(&rows[some.start * n_features..some.end * n_features]));
        let on = OnBases {
            basis: &basis,
            read: &read,
            known: &T::weighted(self, weights)?,
            // Where all samples are bases, the others need no basis of one that is left out.
            not_judged: if n_basis == n { &[] } else { &basis_rows },
            storage: BlockStorage { n_cached, lifts: true, checkpoint: None },
        };
        let (coefficients, found) = T::solve_on_bases(self, on, clock)?;
        clock.end_solved("solve")?;
        warnings.extend(free.map(|free| {
            format!(
                "the features of {n} samples on {n_basis} bases take {} and {} are free: {:.0} % of them \
                 were cached, the others recomputed at every pass, which takes longer (fewer bases would fit)",
                bytes_text(needed.features),
                bytes_text(free),
                100.0 * n_cached as f64 / n_blocks as f64,
            )
        }));
        Ok(Solution { basis, basis_rows, coefficients, found, warnings })
    }
}
