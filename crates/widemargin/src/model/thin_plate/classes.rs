//! The task of a thin plate SVM: how labels are fitted, and the report and the estimates of that.

use std::borrow::Cow;

use super::basis_plan::PartLift;
use super::model::{SplineClassification, ThinPlateSvc};
use super::params::{ClassificationParams, ThinPlateParams};
use super::per_class::joined;
use super::remarks::dependent;
use super::spline::{Coefficients, Spline};
use super::spline_model::SplineTask;
use super::task::{
    AtSamples, Finish, InMemory, KernelPoint, ModelOf, OnBases, OnWorkers, Problem, Solution, Solved, SplineData,
    SplineFit,
};
use crate::data::{About, AnySamples, ClassWeight, Fingerprint, Label, Labels};
use crate::error::{Error, Result, require};
use crate::model::clock::Clock;
use crate::model::manifest::Manifest;
use crate::model::on_workers::WeightedLabels;
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::report_estimate;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Remote, Workers};
use crate::problem::{HeldOutScores, Loss, OneVsRest, count, typical_weight, without_bases};
use crate::search::LeftOut;
use crate::similarity::ConditionalKernel;
use crate::solve::ridge::roots;
use crate::solve::thin_plate::{
    self, BlockStorage, FitSettings, Fitted, LossSettings, PathOptions, Polynomials, Problems, RowData, RowsShape, Run,
    Settled, Stop, WhyNotFree, fit_blocks, fit_exact, fit_rows, rows_separate,
};
use crate::solve::{CalibratedOn, Calibration, ErrorEstimate, EstimateMethod, ProblemReport, Report, Stage, Status};
use crate::tuning::{LAMBDA_PATH_LOWEST, MAX_SOLVED_GAP, SAMPLES_PER_FREE_POLYNOMIAL};

/// Fraction of the objective of f = 0 below which an objective counts as 0.
const MIN_OBJECTIVE: f64 = 1e-9;

impl SplineData for ClassificationParams {
    type Known = Labels;
    type Weighted<'a> = WeightedLabels<'a>;
    type Task = SplineClassification;
}

impl SplineFit for ClassificationParams {
    type Found = Fitted;
    const WEIGHTS_KERNEL: bool = true;
    /// The error of a compared fit was not estimated.
    const IS_REUSED: bool = false;

    fn check(&self) -> Result<()> {
        self.loss.check_among(&[Loss::SquaredHinge, Loss::SquaredError, Loss::Hinge])?;
        require((0.0..1.0).contains(&self.tol), "tol", self.tol, "at least 0 and below 1")?;
        require(self.max_steps > 0, "max_iter", "0", "at least 1")
    }

    fn has_exact_solver(&self) -> bool {
        self.loss.is_smooth()
    }

    fn training(&self) -> TrainingSettings {
        let (class_weight, tol, max_iter) = (self.class_weight.clone(), self.tol, self.max_steps);
        TrainingSettings { class_weight, tol, max_iter, ..TrainingSettings::default() }
    }

    fn n_problems(known: &Labels) -> usize {
        OneVsRest::of(known).n_problems()
    }

    fn class_weight(&self) -> &ClassWeight {
        &self.class_weight
    }

    fn in_blocks<'a>(&self, known: &'a Labels, weights: &[f64]) -> Result<Cow<'a, Labels>> {
        let expected = "auto or a number for samples in blocks: C for each class needs all samples in memory";
        require(!self.per_class, "C", "auto-per-class", expected)?;
        Ok(Cow::Owned(known.clone().weighted(&self.class_weight, weights)))
    }

    fn manifest(fit: &Problem<'_, Self>, samples: &About<'_, AnySamples>, content: Fingerprint) -> Result<Manifest> {
        let ClassificationParams { loss, polynomials, tol, max_steps, .. } = &fit.params.task;
        let own = [
            ("loss", loss.to_string()),
            ("polynomials", polynomials.to_string()),
            ("tol", tol.to_string()),
            ("max_iter", max_steps.to_string()),
        ];
        let parameters = fit.params.identity(content, own);
        Manifest::new(SplineClassification::METHOD, &parameters, samples, fit.known, fit.weights)
    }

    fn comparing(&self, near: Option<f64>) -> Self {
        let path = PathOptions { near, refines: false, confirms: false, ..self.path };
        // The exact solver has no hinge.
        let loss = if self.loss.is_smooth() { self.loss } else { Loss::SquaredHinge };
        ClassificationParams { path, loss, ..self.clone() }
    }

    fn compared(found: &Fitted, _point: &mut KernelPoint) -> (LeftOut, f64) {
        let best = &found.outcome.best.point;
        let without = "no C of the path has a leave-one-out loss (if polynomials are free, set them to penalized, or \
                       take more samples)";
        (LeftOut::of(best.loo_squared_hinge.ok_or_else(|| without.to_owned()), best.loo_error), best.lambda)
    }

    fn start_near(&mut self, lambda: f64) {
        self.path.near = Some(lambda).filter(|_| !self.per_class);
    }

    fn weighted<'a>(fit: &Problem<'a, Self>, sample_weights: &'a [f64]) -> Result<WeightedLabels<'a>> {
        Ok(WeightedLabels { labels: fit.known, weights: fit.weights, sample_weights })
    }

    fn solve_exact(fit: &Problem<'_, Self>, at: AtSamples<'_>, monitor: &Monitor<'_>) -> Solved<Self> {
        let Problem { params, known, weights, units, pool, .. } = *fit;
        let problems = Problems { targets: OneVsRest::of(known), weights, units };
        let spreads = at.space.spreads(params.kernel.dilation_exponent());
        let run = Run { settings: &params.settings(units), pool, monitor };
        Ok(parted(fit_exact(at.gram, (&at.polynomials, &spreads), &problems, run)?))
    }

    fn solve_on_bases(fit: &Problem<'_, Self>, on: OnBases<'_, '_, Self>, clock: &mut Clock<'_>) -> Solved<Self> {
        let Problem { params, known, weights, units, pool, .. } = *fit;
        let feature_map = on.basis.feature_map(pool, clock.monitor)?;
        let (roots, spreads) = (roots(weights), on.basis.spreads());
        let run = Run { settings: &params.settings(units), pool, monitor: clock.monitor };
        let is_draw = |row: usize| units[row] < (1.0 - f64::EPSILON * 4.0) * weights[row];
        let units = &without_bases((units.to_vec(), weights), on.not_judged, is_draw, |_| 0).units;
        let rows = (RowData { targets: OneVsRest::of(known).into(), roots: &roots, units }, &spreads[..]);
        // The multipliers of a rounded loss are no part of a log.
        let checkpoint = on.storage.checkpoint.filter(|_| params.task.loss.is_smooth());
        let (raw, storage) = (&on.basis.raw(on.read, &roots), BlockStorage { checkpoint, ..on.storage });
        Ok(parted(fit_blocks(raw, feature_map, rows, storage, run, || clock.end("features"))?))
    }

    fn solve_on_workers<W: Workers>(on: OnWorkers<'_, '_, Self, W>, clock: &mut Clock<'_>) -> Solved<Self> {
        let OnWorkers { params, plan, sums, known, features } = on;
        let WeightedLabels { labels, weights, .. } = *known;
        let (targets, total, pool) = (OneVsRest::of(labels), weights.iter().sum(), Pool::new(params.threads)?);
        let mut rows_of = |n_free: usize, lift: PartLift| {
            let (n_penalized, n_problems) = (lift.n_penalized, targets.n_problems());
            let shape = RowsShape { n_penalized, n_free, n_problems, shares_first_hessian: targets.is_even() };
            Ok::<_, Error>((Remote::new(features(lift)?), shape))
        };
        let treated = (params.task.polynomials, &plan.basis.spreads()[..]);
        let settled = Settled::new(&sums, &plan.feature_map, (known.n_present(), total), treated, |free| {
            let (penalized, columns) = (Vec::new(), free.values().to_vec());
            let only = PartLift { n_penalized: 0, penalized, columns, cross: None };
            let (mut rows, shape) = rows_of(free.n_cols(), only)?;
            rows_separate((&mut rows, shape), total, (&pool, clock.monitor))
        })?;
        clock.end("polynomials")?;
        let (mut rows, shape) = rows_of(settled.n_free(), PartLift::of(&settled))?;
        clock.end("features")?;
        let feature_map = settled.feature_map(plan.feature_map.clone());
        let run = Run { settings: &params.settings(weights), pool: &pool, monitor: clock.monitor };
        Ok(parted(fit_rows((&mut rows, shape), (&settled, &feature_map), None, run)?))
    }

    fn model_of_parts(of: Solution<Self>, known: &WeightedLabels<'_>, finish: Finish<'_, Self>) -> ModelOf<Self> {
        let (model, held_out) = finish.model(of, (known.labels, known.weights))?;
        Ok(held_out.assess(model, known, known.weights))
    }

    fn model_in_memory(fit: &Problem<'_, Self>, memory: InMemory<'_, Self>, clock: &mut Clock<'_>) -> ModelOf<Self> {
        let (labels, targets) = (fit.known, OneVsRest::of(fit.known));
        let known = &Self::weighted(fit, &memory.distinct.weights)?;
        if !fit.params.task.per_class || targets.n_problems() == 1 {
            let (model, held_out, units) = fit.model(&memory, clock)?;
            return Ok(held_out.assess(model, known, &units));
        }
        let expected = "auto or a number for multilabel targets, whose labels share C";
        require(!labels.is_multilabel(), "C", "auto-per-class", expected)?;
        let n_classes = targets.n_classes();
        let (mut models, mut all, mut units) = (Vec::with_capacity(n_classes), HeldOut::default(), Vec::new());
        for class in 0..n_classes as u32 {
            let codes = targets.codes().iter().map(|&code| u32::from(code == class)).collect();
            let known = &Labels::from_codes([0, 1].map(Label::Integer).to_vec(), codes)?;
            let (model, mut of_class, of_units) = Problem { known, ..*fit }.model(&memory, clock)?;
            models.push(model);
            all.loo_values.push(of_class.loo_values.pop().unwrap_or_default());
            all.refitted.push(of_class.refitted.pop().unwrap_or_default());
            units = of_units;
        }
        let model = joined(models, labels.classes()).ok_or(Error::NoSamples(""))?;
        Ok(all.assess(model, known, &units))
    }
}

/// α and β of a fit, and the rest of it.
fn parted(mut fitted: Fitted) -> (Coefficients, Fitted) {
    ((std::mem::take(&mut fitted.alpha), std::mem::take(&mut fitted.beta)), fitted)
}

impl Problem<'_, ClassificationParams> {
    /// The model of samples in memory, with held-out scores and the parts of the weights that they judge.
    fn model(
        &self,
        InMemory { rows, scale, distinct, .. }: &InMemory<'_, ClassificationParams>,
        clock: &mut Clock<'_>,
    ) -> Result<(ThinPlateSvc, HeldOut, Vec<f64>)> {
        let Problem { params, known, weights, units, .. } = *self;
        let (n_basis, mut solution) = (self.n_basis(), self.solve(rows, clock)?);
        let bases = if n_basis.is_some_and(|n| n < weights.len()) { &solution.basis_rows[..] } else { &[] };
        let units = without_bases((units.to_vec(), weights), bases, |row| units[row] < weights[row], |_| 0).units;
        solution.basis_rows.iter_mut().for_each(|row| *row = distinct.rows[*row]);
        let (scale, training) = (scale.clone(), params.training(n_basis.is_some()));
        let finish = Finish { params, scale, training, stages: clock.stages.clone() };
        let (mut model, held_out) = finish.model(solution, (known, weights))?;
        let loo_values = held_out.loo_values.iter().flat_map(|values| distinct.of_present(values));
        model.task.loo_values = loo_values.collect();
        Ok((model, held_out, units))
    }
}

impl Finish<'_, ClassificationParams> {
    /// The model of a solution without an estimate of its error, and held-out scores for that.
    ///
    /// # Errors
    /// As for [`ThinPlateParams::report`].
    fn model(
        self,
        Solution { basis, basis_rows, coefficients, mut found, warnings }: Solution<ClassificationParams>,
        (labels, weights): (&Labels, &[f64]),
    ) -> Result<(ThinPlateSvc, HeldOut)> {
        let (Finish { params, scale, training, stages }, targets) = (self, OneVsRest::of(labels));
        let mut report = params.report(&found, basis.space.n_monomials(), stages, targets.total(weights))?;
        report.warnings.splice(0..0, warnings);
        let best = &mut found.outcome.best;
        let calibration = Calibration::of(&best.some, targets, CalibratedOn::LeaveOneOut);
        let held_out = HeldOut {
            loo_values: std::mem::take(&mut best.loo_values),
            refitted: std::mem::take(&mut best.refitted),
            fold_sums: std::mem::take(&mut best.fold_sums),
        };
        let task = SplineClassification {
            c: best.point.c,
            lambda: best.point.lambda,
            polynomials: found.polynomials,
            rank: found.rank,
            classes: labels.classes().to_vec(),
            loo_values: Vec::new(),
            loss: params.task.loss,
            path: found.outcome.path,
            per_class: Vec::new(),
        };
        let spline = Spline::new(basis, scale, &basis_rows, &coefficients);
        let origin = Origin::of(training).labeled(labels).calibrated(calibration);
        Ok((ThinPlateSvc { spline, task, report, origin }, held_out))
    }
}

impl ThinPlateParams {
    fn settings(&self, units: &[f64]) -> FitSettings {
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
    fn report(&self, fitted: &Fitted, n_polynomials: usize, stages: Vec<Stage>, total: f64) -> Result<Report> {
        let best = &fitted.outcome.best;
        let c = best.point.c;
        // The objective of a problem at f = 0: the scale for an objective that is itself about 0.
        let nothing = MIN_OBJECTIVE * c * total;
        let gap = |solution: &thin_plate::Solved| {
            (c * solution.objective - solution.dual) / (c * solution.objective).max(nothing)
        };
        let gaps: Vec<f64> = best.solutions.iter().map(gap).collect();
        if let Some(problem) = gaps.iter().position(|gap| !gap.is_finite()) {
            let expected = format!(
                "numbers whose products are finite: the objective of problem {problem} is {}, lower C or the weights",
                c * best.solutions[problem].objective,
            );
            return Err(Error::parameter("C", format!("{c:e} with weights of {total:e}"), expected));
        }
        let status = |(solution, gap): (&thin_plate::Solved, &f64)| match solution.status {
            Status::Converged if gap.abs() > MAX_SOLVED_GAP => Status::PrecisionLimit,
            status => status,
        };
        let problem = |(solution, gap): (&thin_plate::Solved, &f64)| ProblemReport {
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
        report.warnings.extend(warnings(fitted, self.kernel, n_polynomials));
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

/// Why a fit may have no estimate of its error.
const NO_REFITS: &str = "refits, without each sample or without each fifth of them, were not possible at this C or in this \
                         time; hold some samples back to know it";

/// Leave-one-out and held-out scores of a fit.
#[derive(Default)]
struct HeldOut {
    /// The decision value of each sample when it is left out in closed form, by problem.
    loo_values: Vec<Vec<f64>>,
    /// The same by refits, if there were any.
    refitted: Vec<Vec<f64>>,
    /// By refits without each fold, the weight of the wrong and of all samples of each class or label.
    fold_sums: Vec<[f64; 2]>,
}

impl HeldOut {
    /// The model with its probabilities, calibrated on the leave-one-out decision values, and with the estimate of its
    /// error; `units` are the parts of the weights that leave-one-out removes.
    fn assess(self, model: ThinPlateSvc, known: &WeightedLabels<'_>, units: &[f64]) -> ThinPlateSvc {
        let WeightedLabels { labels, weights, sample_weights } = *known;
        let (targets, population) = (OneVsRest::of(labels), labels.population(sample_weights));
        let mut model = model;
        let scores = |values: &[Vec<f64>]| HeldOutScores::of_problems(values, targets.codes(), weights, units);
        // Where the closed form is undetermined, the refits are used; of folds the model has it already.
        let calibrated = scores(if self.loo_values.is_empty() { &self.refitted } else { &self.loo_values });
        if !calibrated.codes.is_empty() || !model.task.per_class.is_empty() {
            model.origin = model.origin.calibrated(Calibration::of(&calibrated, targets, CalibratedOn::LeaveOneOut));
        }
        let exact = ErrorEstimate::of(&scores(&self.refitted), targets, &population, EstimateMethod::LeaveOneOut);
        let estimate = exact.or_else(|| {
            let judged = weights.iter().zip(units).filter(|(_, unit)| **unit > 0.0);
            let n = judged.map(|(weight, unit)| count(*weight, *unit)).sum();
            ErrorEstimate::of_folds(&self.fold_sums, labels.is_multilabel(), &population, n)
        });
        report_estimate(&mut model.report, estimate, labels, sample_weights, NO_REFITS);
        model
    }
}

fn instead(polynomials: Polynomials) -> String {
    let done = match polynomials {
        Polynomials::Constant => "all but the constant were dropped, for the lower leave-one-out loss",
        _ => "they are penalized",
    };
    format!("{done} (polynomials = {polynomials})")
}

/// The warnings of a fit.
fn warnings(fitted: &Fitted, kernel: ConditionalKernel, n_polynomials: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(dependent(kernel, n_polynomials, fitted.rank));
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
