//! The kernel with the least leave-one-out loss.
//!
//! Each kernel is fitted on at most a thousand samples, exactly, with C by leave-one-out; the mean leave-one-out squared
//! hinge at the C selected is its loss. λ and the loss have no scale, so that kernels of any homogeneity may be compared.

use std::time::Instant;

use super::model::ThinPlateSvc;
use super::params::{Standardize, ThinPlateParams};
use crate::data::{AnySamples, Labels, Rows, SamplesView, Source, VectorSource, effective_weights};
use crate::error::{Error, Result};
use crate::model::{CChoice, choose_rows};
use crate::monitor::Monitor;
use crate::similarity::ConditionalKernel;

/// Samples on which kernels are compared.
const SAMPLES: usize = 1000;

/// What was found of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedThinPlate {
    /// The kernel.
    pub kernel: ConditionalKernel,
    /// The mean leave-one-out squared hinge at the C selected, or why there is none.
    pub loss: std::result::Result<f64, String>,
    /// The estimated error there.
    pub error: Option<f64>,
    /// The number of samples.
    pub n_samples: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl ThinPlateParams {
    /// Trains with the best of some kernels, by leave-one-out on at most 1,000 samples; with what was found of each. C must
    /// be [`CChoice::Auto`].
    ///
    /// # Errors
    /// As for [`ThinPlateParams::fit_with`]; [`Error::Parameter`] if C is given, or if no kernel could be fitted, with the
    /// reasons.
    pub fn fit_best(
        &self,
        kernels: &[ConditionalKernel],
        samples: &impl Rows,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateSvc, Vec<TriedThinPlate>)> {
        self.check()?;
        labels.check(samples.n_rows())?;
        let some = Compared::of(self, labels, sample_weight)?;
        // What is fitted on all is the model where all are compared, by the exact solver.
        let is_final = !some.is_part && self.n_basis.is_none() && !self.per_class;
        let (mut model, tried, note) = if is_final {
            let fit = |params: Self| params.fit_with(samples, labels, sample_weight, monitor);
            self.compared(kernels, some.rows.len(), fit, monitor)?
        } else {
            self.compared_on_some(kernels, &some, &VectorSource(samples), labels, sample_weight, monitor)?
        };
        if !is_final {
            model = self.clone().kernel(model.kernel()).fit_with(samples, labels, sample_weight, monitor)?;
        }
        model.report.notes.push(note);
        Ok((model, tried))
    }

    /// The best of some kernels on at most 1,000 samples, and what to tell of it.
    ///
    /// # Errors
    /// As for [`ThinPlateParams::fit_best`].
    pub(super) fn best_kernel(
        &self,
        kernels: &[ConditionalKernel],
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(ConditionalKernel, String)> {
        let some = Compared::of(self, labels, sample_weight)?;
        let (model, _, note) = self.compared_on_some(kernels, &some, samples, labels, sample_weight, monitor)?;
        Ok((model.kernel(), note))
    }

    /// The kernels compared on some of the samples, by the exact solver.
    fn compared_on_some(
        &self,
        kernels: &[ConditionalKernel],
        some: &Compared,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateSvc, Vec<TriedThinPlate>, String)> {
        let rows = &some.rows;
        let picked: AnySamples = samples.select(rows)?;
        let view = SamplesView::Other(&picked).rows("the thin plate SVM")?;
        let labels = labels.present(rows);
        let weights: Option<Vec<f64>> = sample_weight.map(|all| rows.iter().map(|&row| all[row]).collect());
        let fit =
            |params: Self| params.n_basis(None).per_class(false).fit_with(&view, &labels, weights.as_deref(), monitor);
        self.compared(kernels, rows.len(), fit, monitor)
    }

    /// The model with the least leave-one-out loss, what was found of each kernel, and what to tell.
    fn compared(
        &self,
        kernels: &[ConditionalKernel],
        n_samples: usize,
        fit: impl Fn(Self) -> Result<ThinPlateSvc>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateSvc, Vec<TriedThinPlate>, String)> {
        let mut tried: Vec<TriedThinPlate> = Vec::with_capacity(kernels.len());
        let mut best: Option<(f64, ThinPlateSvc)> = None;
        let mut problem: Option<Error> = None;
        for &kernel in kernels {
            let start = Instant::now();
            // Columns are scaled as for the first.
            let standardize = best.as_ref().map_or(self.standardize, |(_, model)| match model.scale() {
                Some(_) => Standardize::Yes,
                None => Standardize::No,
            });
            let found = fit(self.clone().kernel(kernel).standardize(standardize));
            let (loss, error) = match &found {
                Err(Error::Cancelled { stage }) => return Err(Error::Cancelled { stage }),
                Err(problem) => (Err(problem.to_string()), None),
                Ok(model) => {
                    let point = model.chosen();
                    let loss = point.and_then(|point| point.loo_squared_hinge);
                    let error = point.and_then(|point| point.error_estimate()).map(|(_, error)| error);
                    (loss.ok_or_else(|| "no C of the path could be solved".to_owned()), error)
                }
            };
            let seconds = start.elapsed().as_secs_f64();
            match (&loss, found) {
                (Ok(loss), Ok(model)) if best.as_ref().is_none_or(|(least, _)| loss < least) => {
                    best = Some((*loss, model));
                }
                (_, Err(error)) => problem = problem.or(Some(error)),
                _ => {}
            }
            tried.push(TriedThinPlate { kernel, loss, error, n_samples, seconds });
            if best.is_some() && monitor.ask().is_err() {
                break;
            }
        }
        let Some((_, model)) = best else {
            // What one kernel meets, such as too little memory, the other does too.
            if let (Some(error), true) = (problem, all_alike(&tried)) {
                return Err(error);
            }
            let reason =
                |one: &TriedThinPlate| format!("{}: {}", one.kernel, one.loss.as_ref().err().map_or("", |told| told));
            let reasons: Vec<String> = tried.iter().map(reason).collect();
            let expected = format!("a kernel that can be fitted: {}", reasons.join("; "));
            return Err(Error::parameter("kernel", "auto", expected));
        };
        let one = |one: &TriedThinPlate| match &one.loss {
            Ok(loss) => format!("{} {loss:.4}", one.kernel),
            Err(problem) => format!("{} failed: {problem}", one.kernel),
        };
        let told: Vec<String> = tried.iter().map(one).collect();
        let note = format!("mean leave-one-out squared hinge on {n_samples} samples: {}", told.join(", "));
        Ok((model, tried, note))
    }
}

/// The samples on which kernels are compared.
struct Compared {
    rows: Vec<usize>,
    /// Whether there are more.
    is_part: bool,
}

impl Compared {
    fn of(params: &ThinPlateParams, labels: &Labels, sample_weight: Option<&[f64]>) -> Result<Self> {
        if params.c != CChoice::Auto {
            return Err(Error::parameter("kernel", "auto", "a kernel where C is given: losses at one C say nothing"));
        }
        let weights = effective_weights(labels, sample_weight, &params.class_weight)?;
        let is_part = weights.iter().filter(|weight| **weight > 0.0).count() > SAMPLES;
        Ok(Compared { rows: choose_rows(labels, &weights, SAMPLES.min(weights.len()), params.seed), is_part })
    }
}

/// Whether all kernels met the same.
fn all_alike(tried: &[TriedThinPlate]) -> bool {
    tried.windows(2).all(|pair| pair[0].loss == pair[1].loss)
}
