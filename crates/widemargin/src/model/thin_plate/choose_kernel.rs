//! The kernel with the least leave-one-out loss.
//!
//! Each kernel is solved on at most a thousand samples (fewer where memory is limited), exactly, along the path of C, on
//! columns scaled as suits the first; the least mean leave-one-out squared hinge in closed form is its loss. Refits
//! confirm the estimates of the best alone. λ and the loss have no scale, so that kernels of any homogeneity may be
//! compared.

use super::fit::{Fit, PreparedSamples};
use super::model::ThinPlateSvc;
use super::params::ThinPlateParams;
use crate::data::{About, AnySamples, Labels, Rows, SamplesView, Source, VectorSource, effective_weights};
use crate::error::{Error, Result, require};
use crate::model::within_limit::TrainingSet;
use crate::model::{CChoice, choose_rows};
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::problem::OneVsRest;
use crate::search::{LeftOut, Table, Tried};
use crate::similarity::ConditionalKernel;
use crate::solve::thin_plate::{PathOptions, memory};
use crate::tuning::{SELECTION_SAMPLES, SELECTION_TIME_SHARE};

/// Samples that may be read again.
pub(super) type AnySet<'a> = TrainingSet<'a, dyn Source<Samples = AnySamples> + 'a, Labels>;

/// A kernel that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPoint {
    /// The kernel.
    pub kernel: ConditionalKernel,
    /// Whether each column is divided by its standard deviation, where scalings are compared too.
    pub standardized: Option<bool>,
    /// λ at the least loss, in scale-free units; `None` for a regression.
    pub(super) lambda: Option<f64>,
}

/// Kernels with the scores of their losses, for a note.
pub(super) fn listed(tried: &[Tried<KernelPoint>], score: fn(f64) -> f64) -> String {
    let one = |one: &Tried<KernelPoint>| {
        let scaling = if one.point.standardized == Some(true) { " standardized" } else { "" };
        match &one.loss {
            Ok(loss) => format!("{}{scaling} {:.4}", one.point.kernel, score(*loss)),
            Err(problem) => format!("{}{scaling} failed: {problem}", one.point.kernel),
        }
    };
    tried.iter().map(one).collect::<Vec<String>>().join(", ")
}

impl ThinPlateParams {
    /// Trains with the best of some kernels, by leave-one-out on at most 1,000 samples; with the results of each. C
    /// must be [`CChoice::Auto`].
    ///
    /// # Errors
    /// As for [`ThinPlateParams::fit_with`]; [`Error::Parameter`] if C is fixed, or if no kernel could be fitted, with
    /// the reasons.
    pub fn fit_best(
        &self,
        kernels: &[ConditionalKernel],
        samples: &impl Rows,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateSvc, Vec<Tried<KernelPoint>>)> {
        let some = Compared::of(self, samples.n_rows(), labels, sample_weight)?;
        // Where all samples are compared by the exact solver, they are solved on for the model.
        let is_same = !some.is_part && self.n_basis.is_none() && !self.task.per_class;
        let (mut model, Comparison { tried, note, .. }) = if is_same {
            let set = TrainingSet { samples, known: labels, sample_weight };
            self.on_scaled(set, &monitor.with_strict_limit(), |fit, mut prepared| {
                let best = fit.best_of(kernels, &prepared, monitor)?;
                prepared.scaled.near = Some(best.near);
                Ok((self.clone().kernel(best.kernel).fitted_classes(fit, &prepared)?, best))
            })?
        } else {
            let set = TrainingSet { samples: &VectorSource(samples) as _, known: labels, sample_weight };
            let best = self.compared_on_some(kernels, &some, set, monitor)?;
            (self.clone().kernel(best.kernel).fit_with(samples, labels, sample_weight, monitor)?, best)
        };
        model.report.notes.push(note);
        Ok((model, tried))
    }

    /// The best of some kernels on at most 1,000 samples.
    ///
    /// # Errors
    /// As for [`ThinPlateParams::fit_best`].
    pub(super) fn best_kernel(
        &self,
        kernels: &[ConditionalKernel],
        set: AnySet<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Comparison> {
        let some = Compared::of(self, set.samples.n_samples(), set.known, set.sample_weight)?;
        self.compared_on_some(kernels, &some, set, monitor)
    }

    /// The kernels compared on some of the samples, by the exact solver.
    fn compared_on_some(
        &self,
        kernels: &[ConditionalKernel],
        some: &Compared,
        set: AnySet<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Comparison> {
        let (TrainingSet { samples, known: labels, sample_weight }, rows) = (set, &some.rows);
        let picked: AnySamples = About::new(samples, &some.weights)?.select(rows)?;
        let view = SamplesView::Other(&picked).rows("the thin plate SVM")?;
        let labels = labels.present(rows);
        let weights: Option<Vec<f64>> = sample_weight.map(|all| rows.iter().map(|&row| all[row]).collect());
        let exact = self.clone().n_basis(None).threads(some.threads).with(|task| task.per_class = false);
        let limited = &monitor.with_part_of_time(SELECTION_TIME_SHARE).with_strict_limit();
        let set = TrainingSet { samples: &view, known: &labels, sample_weight: weights.as_deref() };
        match exact.on_scaled(set, limited, |fit, prepared| fit.best_of(kernels, &prepared, limited)) {
            Err(Error::TooShort { .. }) if monitor.ask().is_ok() => Ok(Comparison::cut(kernels)),
            best => best,
        }
    }
}

/// The results of some kernels.
pub(super) struct Comparison {
    /// The kernel with the least leave-one-out loss.
    pub kernel: ConditionalKernel,
    /// λ there, in scale-free units.
    near: f64,
    tried: Vec<Tried<KernelPoint>>,
    /// A note for the report.
    pub note: String,
}

impl Comparison {
    /// The first of some kernels, where the time limit allowed no comparison.
    fn cut(kernels: &[ConditionalKernel]) -> Self {
        let kernel = kernels.first().copied().unwrap_or(ConditionalKernel::Distance);
        let note = format!("kernel {kernel} without a comparison, for which the time limit is too short");
        Comparison { kernel, near: f64::NAN, tried: Vec::new(), note }
    }
}

impl Fit<'_, '_> {
    /// The kernel with the least leave-one-out loss on the prepared rows, without refits.
    fn best_of(
        &mut self,
        kernels: &[ConditionalKernel],
        prepared: &PreparedSamples<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Comparison> {
        let n_samples = self.problems.weights.len();
        let before: f64 = self.clock.stages.iter().map(|stage| stage.seconds).sum();
        let mut table = Table::new("path", n_samples, *monitor);
        for &kernel in kernels {
            let point = KernelPoint { kernel, standardized: None, lambda: None };
            let found = table.attempt(point, |point, _| {
                // λ of another kernel says little: without errors in training it may be any small one.
                let near = prepared.scaled.near.filter(|_| kernel == self.params.kernel);
                let params = self.params.clone().kernel(kernel).with(|task| {
                    task.path = PathOptions { near, refines: false, confirms: false, ..task.path };
                });
                let mut fit = Fit { params: &params, clock: &mut *self.clock, ..*self };
                let space = fit.space(prepared.rows)?;
                let attempt = fit.exact(prepared.rows, space)?;
                let best = attempt.point();
                point.lambda = Some(best.lambda);
                let loss = best.loo_squared_hinge.ok_or_else(|| "no C of the path could be solved".to_owned());
                Ok(LeftOut::of(loss, best.loo_error))
            })?;
            if found.is_none() {
                break;
            }
        }
        let Some(best) = table.best() else {
            if monitor.ask() == Err(Stopped::TimeLimit) {
                let needs = 2.0 * (before + table.tried.iter().map(|tried| tried.seconds).sum::<f64>());
                return Err(Error::TooShort { stage: "path", needs });
            }
            // Errors of one kernel, such as too little memory, occur with the other too.
            let is_common = table.tried.windows(2).all(|pair| pair[0].loss == pair[1].loss);
            let name = |point: &KernelPoint| point.kernel.to_string();
            return Err(table.nothing(("kernel", "auto"), "a kernel that can be fitted", is_common, name));
        };
        let losses = listed(&table.tried, |loss| loss);
        let note = format!("mean leave-one-out squared hinge on {n_samples} samples: {losses}");
        let KernelPoint { kernel, lambda, .. } = table.tried[best].point;
        Ok(Comparison { kernel, near: lambda.unwrap_or(f64::NAN), tried: table.tried, note })
    }
}

/// The samples on which kernels are compared.
struct Compared {
    rows: Vec<usize>,
    /// Effective weights of all samples.
    weights: Vec<f64>,
    /// Whether there are more.
    is_part: bool,
    threads: usize,
}

impl Compared {
    fn of(params: &ThinPlateParams, n_samples: usize, labels: &Labels, sample_weight: Option<&[f64]>) -> Result<Self> {
        params.check()?;
        labels.check(n_samples)?;
        let expected = "a kernel if C is fixed: losses at one C are not comparable";
        require(params.c == CChoice::Auto, "kernel", "auto", expected)?;
        let weights = effective_weights(labels, sample_weight, &params.task.class_weight)?;
        // Where memory is limited, fewer threads, then fewer samples, whose number does not depend on the threads.
        let (limit, k) = (params.memory_limit.unwrap_or(u64::MAX), OneVsRest::of(labels).n_problems());
        let fits = |n, threads| memory::exact_bytes(n, 1, k, threads) <= limit;
        let numbers = [1, 2, 4].map(|part| SELECTION_SAMPLES / part);
        let n_compared = numbers.into_iter().find(|&n| fits(n, 1)).unwrap_or(SELECTION_SAMPLES);
        let threads = (1..=Pool::count(params.threads)).rev().find(|&threads| fits(n_compared, threads)).unwrap_or(1);
        let is_part = weights.iter().filter(|weight| **weight > 0.0).count() > n_compared;
        let rows = choose_rows(labels, &weights, n_compared.min(weights.len()), params.seed);
        Ok(Compared { rows, weights, is_part, threads })
    }
}
