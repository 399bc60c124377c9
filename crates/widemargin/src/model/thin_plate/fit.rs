//! The fit of a thin plate SVM: weights, column scaling, kernel matrix, solver.

use std::borrow::Cow;
use std::ops::Range;

use super::bases::{Placed, choose};
use super::choose::{Choice, KernelPoint};
use super::kernel_blocks::{dense_rows, merged, scale_rows, weighted_gram, weighted_polynomials};
use super::model::{SplineClassification, ThinPlateSvc};
use super::params::ThinPlateParams;
use super::per_class::joined;
use super::remarks::{crowded, dependent};
use super::remote::ModelMetadata;
use super::spline::Spline;
use super::spline_basis::SplineBasis;
use crate::data::{
    Distinct, Label, Labels, PickedRows, Rows, WeightedCodes, check_costs, effective_weights, fingerprints,
};
use crate::error::{Error, Result, bytes_text, require};
use crate::model::clock::Clock;
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::within_limit::{Part, TrainingSet, fit_samples};
use crate::model::{Model, report_estimate};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::problem::{HeldOutScores, Loss, OneVsRest, count, typical_weight, without_bases};
use crate::search::{LeftOut, Tried};
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::thin_plate::{
    BLOCK, BlockStorage, FitSettings, Fitted, LossSettings, PathOptions, Polynomials, Problems, Run, Solved, Stop,
    WhyNotFree, fit_exact, memory,
};
use crate::solve::{CalibratedOn, Calibration, ErrorEstimate, EstimateMethod, ProblemReport, Report, Stage, Status};
use crate::tuning::{LAMBDA_PATH_LOWEST, MAX_SOLVED_GAP, SAMPLES_PER_FREE_POLYNOMIAL, TRANSFERABLE_LAMBDAS};

/// Fraction of the objective of f = 0 below which an objective counts as 0.
const MIN_OBJECTIVE: f64 = 1e-9;

impl ThinPlateParams {
    /// Trains on samples and their labels.
    ///
    /// # Errors
    /// See [`ThinPlateParams::fit_with`].
    pub fn fit(&self, samples: &impl Rows, labels: &Labels) -> Result<ThinPlateSvc> {
        self.fit_with(samples, labels, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out, and the order of the samples does not matter (except for
    /// [`ThinPlateBasis::Index`](crate::model::ThinPlateBasis::Index)): all bit for bit.
    ///
    /// A fit that does not converge has a status and a warning in its report; it is not an error. If a time limit does
    /// not allow a fit on all samples, the model is fitted to a subset, as noted in the report.
    ///
    /// # Errors
    /// Invalid parameters, shapes, values or labels, with their names and the expected values; [`Error::Parameter`] on
    /// `n_basis`, with the size, if the kernel matrix does not fit in memory; [`Error::Cancelled`] if the monitor
    /// cancelled; [`Error::TooShort`] if its time limit passed before a fit on few samples.
    pub fn fit_with(
        &self,
        samples: &impl Rows,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateSvc> {
        Ok(self.fit_tried(samples, labels, sample_weight, monitor)?.0)
    }

    /// The same, with the results of each kernel and scaling, if there was a choice.
    ///
    /// # Errors
    /// As for [`ThinPlateParams::fit_with`].
    pub(crate) fn fit_tried(
        &self,
        samples: &impl Rows,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateSvc, Vec<Tried<KernelPoint>>)> {
        self.check()?;
        labels.check(samples.n_rows())?;
        let weights = effective_weights(labels, sample_weight, &self.task.class_weight)?;
        let n_basis = self.basis_size(labels.len(), OneVsRest::of(labels).n_problems());
        let fit = |part: Option<Part<'_, Labels>>, monitor: &Monitor<'_>| {
            let Some(Part { rows, known, sample_weight }) = part else {
                return self.fit_rows(TrainingSet { samples, known: labels, sample_weight }, monitor);
            };
            let (samples, sample_weight) = (&PickedRows { source: samples, rows }, sample_weight.as_deref());
            let set = TrainingSet { samples, known: &known, sample_weight };
            let (mut model, tried) = self.clone().n_basis(n_basis).fit_rows(set, monitor)?;
            model.of_picked(rows);
            Ok((model, tried))
        };
        let weights = (&weights[..], sample_weight);
        fit_samples(labels, weights, (n_basis, self.seed), monitor, fit, |(model, _)| &mut model.report)
    }

    fn fit_rows<R: Rows>(
        &self,
        set: TrainingSet<'_, R, Labels>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateSvc, Vec<Tried<KernelPoint>>)> {
        let TrainingSet { samples, known: labels, sample_weight } = set;
        if samples.n_cols() == 0 {
            return Err(Error::shape("samples", "no features", "at least one column"));
        }
        let effective = effective_weights(labels, sample_weight, &self.task.class_weight)?;
        check_costs(self.c.or_one(), &effective, labels.classes().len())?;
        let clock = &mut Clock::start(monitor);

        // Samples of weight 0 are ignored everywhere, including the scaling of the polynomials. Copies are merged.
        let weighted = WeightedCodes { codes: labels.codes(), weights: sample_weight, effective: &effective };
        let read = |rows: &[usize]| Ok(Some(fingerprints(samples, rows)));
        let distinct = Distinct::find(read, weighted, 0, self.threads, monitor)?;
        let (labels, weights) = distinct.labeled(labels, &self.task.class_weight)?;
        let units = distinct.removed_weights(&weights);
        let problems = Problems { targets: OneVsRest::of(&labels), weights: &weights, units: &units };
        let pool = &Pool::new(self.threads)?;
        let n_features = samples.n_cols();
        let mut rows = dense_rows(samples, &distinct.rows, n_features)?;
        let first_come = distinct.in_callers_order();
        let mut fit = Fit { params: self, problems: &problems, first_come: &first_come, n_features, pool, clock };
        let Choice { kernel, factors, solved, tried, warnings, note } =
            fit.choose(&rows, fit.space(&rows)?, &labels)?;
        scale_rows(&mut rows, factors.as_deref());
        // Where all samples were compared, the same fit has been solved.
        let near = solved.filter(|_| fit.n_basis().is_none() && !self.task.per_class);
        let chosen = self.clone().kernel(kernel).with(|task| task.path.near = near);
        let prepared = PreparedSamples { rows: &rows, factors, distinct: &distinct, labels: &labels };
        let mut model = Fit { params: &chosen, ..fit }.fitted_classes(&prepared)?;
        model.report.warnings.splice(0..0, warnings);
        model.report.notes.extend(note);
        Ok((model, tried))
    }
}

impl Fit<'_, '_> {
    /// The model of all classes.
    fn fitted_classes(self, prepared: &PreparedSamples<'_>) -> Result<ThinPlateSvc> {
        let mut fit = self;
        let Problems { targets, weights, units } = *fit.problems;
        let PreparedSamples { labels, distinct, .. } = *prepared;
        let classes = labels.classes();
        if !fit.params.task.per_class || targets.n_problems() == 1 {
            let (model, validation) = fit.fitted(prepared, classes.to_vec())?;
            return Ok(validation.assess(model, fit.problems, labels, &distinct.weights));
        }
        let expected = "auto or a number for multilabel targets, whose labels share C";
        require(!labels.is_multilabel(), "C", "auto-per-class", expected)?;
        let n_classes = targets.n_classes();
        let (mut models, mut validation) = (Vec::with_capacity(n_classes), Validation::default());
        for class in 0..n_classes as u32 {
            let codes: Vec<u32> = targets.codes().iter().map(|&code| u32::from(code == class)).collect();
            let problems = Problems { targets: OneVsRest::new(&codes, 2), weights, units };
            let mut of_class = Fit { problems: &problems, clock: &mut *fit.clock, ..fit };
            let (model, of_model) = of_class.fitted(prepared, [0, 1].map(Label::Integer).to_vec())?;
            models.push(model);
            validation.loo_values.push(of_model.loo_values.into_iter().next().unwrap_or_default());
            validation.refitted.push(of_model.refitted.into_iter().next().unwrap_or_default());
            validation.units = of_model.units;
        }
        let model = joined(models, classes).ok_or(Error::NoSamples(""))?;
        Ok(validation.assess(model, fit.problems, labels, &distinct.weights))
    }
}

impl ThinPlateParams {
    /// The model of a fit on bases; without leave-one-out decision values.
    ///
    /// # Errors
    /// As for [`ThinPlateParams::report`].
    pub(crate) fn model(
        &self,
        fitted: Fitted,
        basis: SplineBasis,
        scale: Option<Vec<f64>>,
        metadata: ModelMetadata<'_>,
        warnings: Vec<String>,
    ) -> Result<ThinPlateSvc> {
        let ModelMetadata { classes, targets, total_weight, evaluated_on, basis_rows, stages } = metadata;
        let mut report = self.report(&fitted, stages, total_weight)?;
        report.warnings.splice(0..0, warnings);
        let point = &fitted.outcome.best.point;
        let calibration = Calibration::of(&fitted.outcome.best.some, targets, CalibratedOn::LeaveOneOut);
        if let Some((labels, weights)) = evaluated_on {
            let n = weights.iter().filter(|weight| **weight > 0.0).count();
            report_folds(&mut report, &fitted.outcome.best.fold_sums, labels, weights, n as f64);
        }
        let (coefficients, polynomial, n_functions) = (fitted.alpha.concat(), fitted.beta.concat(), fitted.alpha.len());
        let spline = Spline { basis, scale, basis_rows, coefficients, polynomial, n_functions };
        let task = SplineClassification {
            c: point.c,
            lambda: point.lambda,
            polynomials: fitted.polynomials,
            rank: fitted.rank,
            classes,
            loo_values: Vec::new(),
            loss: self.task.loss,
            path: fitted.outcome.path,
            per_class: Vec::new(),
        };
        let origin = Origin { multilabel: targets.is_multilabel(), ..Origin::of(self.training(true)) };
        let origin = origin.calibrated(calibration);
        Ok(ThinPlateSvc { spline, task, report, origin })
    }

    /// The settings stored in the model.
    pub(crate) fn training(&self, on_bases: bool) -> TrainingSettings {
        TrainingSettings {
            class_weight: self.task.class_weight.clone(),
            tol: self.task.tol,
            max_iter: self.task.max_steps,
            seed: self.seed,
            basis: Some(if on_bases { self.basis.to_string() } else { "none".into() }),
            ..TrainingSettings::default()
        }
    }

    pub(crate) fn settings(&self, units: &[f64]) -> FitSettings {
        FitSettings {
            polynomials: self.task.polynomials,
            path: PathOptions { c: self.c.value(), ..self.task.path },
            lowest: LAMBDA_PATH_LOWEST,
            stop: Stop { max_steps: self.task.max_steps, tol: self.task.tol },
            typical_weight: typical_weight(units),
            start: Vec::new(),
            losses: LossSettings::of_classes(self.task.loss),
        }
    }

    /// The report of a fit; `total` is the sum of the samples' weights, averaged over the problems.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the objective is not finite.
    pub(crate) fn report(&self, fitted: &Fitted, stages: Vec<Stage>, total: f64) -> Result<Report> {
        let best = &fitted.outcome.best;
        let c = best.point.c;
        // The objective of a problem at f = 0: the scale for an objective that is itself about 0.
        let nothing = MIN_OBJECTIVE * c * total;
        let gap = |solution: &Solved| (c * solution.objective - solution.dual) / (c * solution.objective).max(nothing);
        let gaps: Vec<f64> = best.solutions.iter().map(gap).collect();
        if let Some(problem) = gaps.iter().position(|gap| !gap.is_finite()) {
            let expected = format!(
                "numbers whose products are finite: the objective of problem {problem} is {}, lower C or the weights",
                c * best.solutions[problem].objective,
            );
            return Err(Error::parameter("C", format!("{c:e} with weights of {total:e}"), expected));
        }
        let status = |(solution, gap): (&Solved, &f64)| match solution.status {
            Status::Converged if gap.abs() > MAX_SOLVED_GAP => Status::PrecisionLimit,
            status => status,
        };
        let problem = |(solution, gap): (&Solved, &f64)| ProblemReport {
            status: status((solution, gap)),
            iterations: solution.steps,
            primal: c * solution.objective,
            dual: solution.dual,
            n_support: solution.n_inside as u32,
        };
        let problems: Vec<ProblemReport> = best.solutions.iter().zip(&gaps).map(problem).collect();
        let mut report = Report::of(&problems, stages);
        report.gaps = gaps;
        let solved = report.status;
        if fitted.outcome.cut {
            report.status = Status::TimeLimit;
        }
        report.warnings.extend(warnings(fitted, self.kernel));
        if fitted.why == Some(WhyNotFree::FewSamples) {
            report.notes.push(format!(
                "there are fewer than {SAMPLES_PER_FREE_POLYNOMIAL} samples for each of {} polynomials, which would fit the \
                 noise if they were free: {}",
                fitted.rank,
                instead(fitted.polynomials),
            ));
        }
        if report.status == Status::TimeLimit && solved == Status::Converged {
            report.warnings.push(format!(
                "not converged when the time limit passed: the search over C ended after {} values, from small to large; \
                 C = {c:.3e} has the least leave-one-out loss of those",
                fitted.outcome.path.len(),
            ));
        } else {
            let at_limit = format!("after {} Newton steps (raise max_iter)", self.task.max_steps);
            report.warn_unless_converged(&at_limit, None);
        }
        Ok(report)
    }
}

/// Shared by all attempts at a fit.
pub(crate) struct Fit<'a, 'w> {
    pub params: &'a ThinPlateParams,
    pub problems: &'a Problems<'a>,
    /// The samples in the caller's order.
    pub first_come: &'a [usize],
    pub n_features: usize,
    pub pool: &'a Pool,
    pub clock: &'a mut Clock<'w>,
}

/// The samples as the problems use them.
struct PreparedSamples<'a> {
    /// Row-major, scaled.
    rows: &'a [f64],
    factors: Option<Vec<f64>>,
    distinct: &'a Distinct,
    labels: &'a Labels,
}

/// A fit with one scaling of the rows.
struct Attempt {
    fitted: Fitted,
    basis: SplineBasis,
    /// The samples that are bases, if bases are samples.
    basis_rows: Vec<usize>,
    /// Warnings about how it was done.
    warnings: Vec<String>,
}

impl Fit<'_, '_> {
    /// The model of the problems, and its held-out scores.
    fn fitted(&mut self, prepared: &PreparedSamples<'_>, classes: Vec<Label>) -> Result<(ThinPlateSvc, Validation)> {
        let PreparedSamples { rows, factors, distinct, .. } = prepared;
        let (n_basis, space) = (self.n_basis(), self.space(rows)?);
        let attempt = match n_basis {
            None => self.exact(rows, space)?,
            Some(n_basis) => self.on_bases(n_basis, rows, space)?,
        };
        let Fit { params, problems, .. } = *self;
        let Problems { targets, weights, units } = *problems;
        let Attempt { mut fitted, basis, basis_rows, warnings } = attempt;
        let best = &mut fitted.outcome.best;
        let mut validation = Validation {
            loo_values: std::mem::take(&mut best.loo_values),
            refitted: std::mem::take(&mut best.refitted),
            fold_sums: std::mem::take(&mut best.fold_sums),
            units: units.to_vec(),
        };
        if n_basis.is_some_and(|n_basis| n_basis < weights.len()) {
            let is_draw = |row: usize| units[row] < weights[row];
            validation.units = without_bases((validation.units, weights), &basis_rows, is_draw, |_| 0).units;
        }
        let loo_values = validation.loo_values.iter().flat_map(|values| distinct.of_present(values)).collect();
        let metadata = ModelMetadata {
            classes,
            targets,
            total_weight: targets.total(weights),
            evaluated_on: None,
            basis_rows: basis_rows.iter().map(|&i| distinct.rows[i] as u64).collect(),
            stages: self.clock.stages.clone(),
        };
        let model = params.model(fitted, basis, factors.clone(), metadata, warnings)?;
        let training = params.training(n_basis.is_some());
        let (multilabel, calibration) = (model.origin.multilabel, model.origin.calibration);
        let origin = Origin { multilabel, calibration, ..Origin::of(training) };
        let task = SplineClassification { loo_values, ..model.task };
        Ok((ThinPlateSvc { task, origin, ..model }, validation))
    }

    /// Selects the kernel and the scaling of the columns, if they are automatic, with λ in scale-free units.
    pub fn choose(&mut self, rows: &[f64], space: PolynomialSpace, labels: &Labels) -> Result<Choice<f64>> {
        let Fit { params, problems, first_come, n_features, .. } = *self;
        let bytes = |n, threads| memory::exact_bytes(n, 1, problems.targets.n_problems(), threads);
        let compared = params.compared(labels, problems.weights, space, bytes);
        let part = |all: &[f64]| -> Vec<f64> { compared.rows.iter().map(|&i| all[i]).collect() };
        let codes: Vec<u32> = compared.rows.iter().map(|&i| problems.targets.code(i)).collect();
        let (weights, units) = (part(problems.weights), part(problems.units));
        let problems = &Problems { targets: problems.targets.with_codes(&codes), weights: &weights, units: &units };
        let rows: Vec<f64> =
            compared.rows.iter().flat_map(|&i| &rows[i * n_features..(i + 1) * n_features]).copied().collect();
        let pool = &Pool::new(compared.threads)?;
        let mut last = None;
        let choice = params.choose(&compared, self.clock.monitor, |point, factors, quiet| {
            // λ of another kernel says little: without errors in training it may be any small one.
            let is_same = |(of, lambda): &(_, f64)| *of == point.kernel && TRANSFERABLE_LAMBDAS.contains(lambda);
            let near = last.filter(is_same).map(|(_, lambda)| lambda);
            let looking = params.clone().kernel(point.kernel).with(|task| {
                task.path = PathOptions { near, refines: false, confirms: false, ..task.path };
                // The exact solver has no hinge.
                task.loss = if task.loss.is_smooth() { task.loss } else { Loss::SquaredHinge };
            });
            let mut scaled = rows.clone();
            scale_rows(&mut scaled, factors);
            let mut fit =
                Fit { params: &looking, problems, first_come, n_features, pool, clock: &mut Clock::start(quiet) };
            let attempt = fit.exact(&scaled, fit.space(&scaled)?)?;
            let best = &attempt.fitted.outcome.best.point;
            last = Some((point.kernel, best.lambda));
            let without = "no C of the path has a leave-one-out loss (if polynomials are free, set them to penalized, or \
                           take more samples)";
            let loss = best.loo_squared_hinge.ok_or_else(|| without.to_owned());
            Ok((LeftOut::of(loss, best.loo_error), best.lambda))
        })?;
        if !choice.tried.is_empty() {
            self.clock.end("choice")?;
        }
        Ok(choice)
    }

    pub fn space(&self, rows: &[f64]) -> Result<PolynomialSpace> {
        PolynomialSpace::fit(rows, self.problems.weights, self.n_features, self.params.kernel.degree())
    }

    /// The number of bases; `None` for the exact solver.
    fn n_basis(&self) -> Option<usize> {
        self.params.n_bases(self.problems.weights.len(), self.problems.targets.n_problems())
    }

    /// The exact fit. Samples at the same point share a basis; samples without a coefficient have none.
    fn exact(&mut self, rows: &[f64], space: PolynomialSpace) -> Result<Attempt> {
        let Fit { params, problems, n_features, pool, .. } = *self;
        let (n, k) = (problems.weights.len(), problems.targets.n_problems());
        let needed = memory::exact_bytes(n, space.n_monomials(), k, pool.threads());
        memory::check(needed, params.memory_limit, n, None, "take bases (n_basis)")?;
        let roots = problems.roots();
        let gram = weighted_gram(params.kernel, rows, n_features, &roots, pool, self.clock.monitor)?;
        let polynomials = weighted_polynomials(&space, rows, n_features, &roots);
        self.clock.end("kernel")?;
        let spreads = space.spreads(params.kernel.dilation_exponent());
        let polynomials = (&polynomials, &spreads[..]);
        let run = Run { settings: &params.settings(problems.units), pool, monitor: self.clock.monitor };
        let mut fitted = fit_exact(gram, polynomials, problems, run)?;
        self.clock.end_solved("solve")?;

        let (firsts, alpha) = merged(&fitted.alpha, rows, n_features);
        let used: Vec<usize> = (0..firsts.len()).filter(|&at| alpha.iter().any(|alpha| alpha[at] != 0.0)).collect();
        fitted.alpha = alpha.iter().map(|alpha| used.iter().map(|&at| alpha[at]).collect()).collect();
        let basis_rows: Vec<usize> = used.into_iter().map(|at| firsts[at]).collect();
        let bases = basis_rows.iter().flat_map(|&i| &rows[i * n_features..(i + 1) * n_features]).copied().collect();
        let basis = SplineBasis { kernel: params.kernel, bases, space };
        Ok(Attempt { fitted, basis, basis_rows, warnings: Vec::new() })
    }

    fn on_bases(&mut self, n_basis: usize, rows: &[f64], space: PolynomialSpace) -> Result<Attempt> {
        let Fit { params, problems, n_features, pool, .. } = *self;
        let (n, k) = (problems.weights.len(), problems.targets.n_problems());
        let mut warnings = Vec::new();
        if params.n_basis.is_none() && n_basis < n {
            warnings.push(crowded((n, k), memory::exact_bytes(n, space.n_monomials(), k, pool.threads())));
        }
        self.clock.monitor.tell(Progress { stage: "bases", done: 0, total: 1, gap: None });
        let needed = memory::basis_bytes(n, n_basis, space.n_monomials(), k, pool.threads());
        memory::check(needed.least, params.memory_limit, n, Some(n_basis), "take fewer bases")?;
        let samples = Placed { rows, n_features, weights: problems.weights, first_come: self.first_come };
        let (bases, basis_rows) = match n_basis == n {
            true => (rows.to_vec(), (0..n).collect()),
            false => choose(params.basis, n_basis, samples, params.seed, pool)?,
        };
        self.clock.end("bases")?;
        let roots = problems.roots();
        let n_blocks = n.div_ceil(BLOCK);
        let (n_cached, free) = needed.cached_blocks(n_blocks, params.memory_limit);
        let basis = SplineBasis { kernel: params.kernel, bases, space };
        let storage = BlockStorage { n_cached, lifts: true, checkpoint: None };
        let read = |some: Range<usize>| Ok(Cow::Borrowed(&rows[some.start * n_features..some.end * n_features]));
        let (rows, of_rows) = ((&read as _, &roots[..]), (problems.targets, problems.units));
        let settings = &params.settings(problems.units);
        // Where all samples are bases, the others need no basis of one that is left out.
        let not_judged = if n_basis == n { &[][..] } else { &basis_rows };
        let fitted = basis.fit(rows, of_rows, not_judged, settings, storage, (pool, self.clock))?;
        warnings.extend(free.map(|free| {
            format!(
                "the features of {n} samples on {n_basis} bases take {} and {} are free: {:.0} % of them \
                 were cached, the others recomputed at every pass, which takes longer (fewer bases would fit)",
                bytes_text(needed.features),
                bytes_text(free),
                100.0 * n_cached as f64 / n_blocks as f64,
            )
        }));
        Ok(Attempt { fitted, basis, basis_rows, warnings })
    }
}

/// Why a fit may have no estimate of its error.
const NO_REFITS: &str = "refits, without each sample or without each fifth of them, were not possible at this C or in this \
                         time; hold some samples back to know it";

/// Leave-one-out and held-out scores of a fit.
#[derive(Default)]
pub(super) struct Validation {
    /// The decision value of each distinct sample when it is left out in closed form, by problem.
    loo_values: Vec<Vec<f64>>,
    /// The same by refits, if there were any.
    refitted: Vec<Vec<f64>>,
    /// By refits without each fold, the weight of the wrong and of all samples of each class or label.
    fold_sums: Vec<[f64; 2]>,
    /// The part of each weight that leave-one-out removes.
    units: Vec<f64>,
}

impl Validation {
    /// The model with its probabilities, calibrated on the leave-one-out decision values, and with the estimate of its
    /// error. `weights` are those of the distinct samples without class weights.
    fn assess(self, model: ThinPlateSvc, problems: &Problems<'_>, labels: &Labels, weights: &[f64]) -> ThinPlateSvc {
        let (Problems { targets, weights: effective, .. }, units) = (*problems, &self.units);
        let scores = |values: &[Vec<f64>]| HeldOutScores::of_problems(values, targets.codes(), effective, units);
        let mut model = model;
        let (refitted, population) = (scores(&self.refitted), labels.population(weights));
        // Where the closed form is undetermined, the refits are used; of folds the model has it already.
        let calibrated = scores(if self.loo_values.is_empty() { &self.refitted } else { &self.loo_values });
        if !calibrated.codes.is_empty() || !model.task.per_class.is_empty() {
            model.origin = model.origin.calibrated(Calibration::of(&calibrated, targets, CalibratedOn::LeaveOneOut));
        }
        let exact = ErrorEstimate::of(&refitted, targets, &population, EstimateMethod::LeaveOneOut);
        if exact.is_some() {
            report_estimate(&mut model.report, exact, labels, weights, NO_REFITS);
        } else {
            let judged = effective.iter().zip(units).filter(|(_, unit)| **unit > 0.0);
            let n: f64 = judged.map(|(weight, unit)| count(*weight, *unit)).sum();
            report_folds(&mut model.report, &self.fold_sums, labels, weights, n);
        }
        model
    }
}

/// Stores the estimate by refits without each fold of `n` samples.
fn report_folds(report: &mut Report, fold_sums: &[[f64; 2]], labels: &Labels, weights: &[f64], n: f64) {
    let estimate = ErrorEstimate::of_folds(fold_sums, labels.is_multilabel(), &labels.population(weights), n);
    report_estimate(report, estimate, labels, weights, NO_REFITS);
}

fn instead(polynomials: Polynomials) -> String {
    let done = match polynomials {
        Polynomials::Constant => "all but the constant were dropped, for the lower leave-one-out loss",
        _ => "they are penalized",
    };
    format!("{done} (polynomials = {polynomials})")
}

/// The warnings of a fit.
fn warnings(fitted: &Fitted, kernel: ConditionalKernel) -> Vec<String> {
    let mut warnings = Vec::new();
    let (rank, columns) = (fitted.rank, fitted.beta.first().map_or(0, Vec::len));
    warnings.extend(dependent(kernel, columns, rank));
    if fitted.flat {
        let effect = if fitted.polynomials == Polynomials::Penalized { "" } else { ", and C has no effect" };
        warnings.push(format!(
            "the polynomials reach every sample, nothing is left for the kernel: the classifier is a polynomial{effect}",
        ));
    }
    if fitted.why == Some(WhyNotFree::Separated) {
        warnings.push(format!(
            "the polynomials alone separate a class from the others, so that free ones would ignore C: {}",
            instead(fitted.polynomials),
        ));
    }
    let best = &fitted.outcome.best;
    let converged = best.solutions.iter().all(|solution| solution.status == Status::Converged);
    if converged && best.point.loo_error.is_none() {
        warnings.push(
            "leave-one-out is undetermined: the samples inside the margin leave the polynomials open, so that C was not chosen by \
             it, nor is the error estimated (polynomials = penalized closes them)"
                .into(),
        );
    }
    if let Some(requested) = fitted.outcome.raised {
        warnings.push(format!(
            "C is beyond double precision on these samples (λ = {requested:.1e} in units of the kernel's mean diagonal): \
             C = {:.3e} was used",
            fitted.outcome.best.point.c,
        ));
    }
    warnings
}
