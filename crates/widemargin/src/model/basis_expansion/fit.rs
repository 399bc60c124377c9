//! The fit of a model on a basis expansion to samples in memory, for all tasks: equal samples are merged, all compared
//! with bases, and a linear model fitted to the normalized similarities.

use std::fmt;

use super::expand::{Expansion, Prepared};
use super::expansion_model::{ExpansionModel, ExpansionTask};
use super::expansion_params::{ExpansionParams, SourceSet};
use crate::data::{About, ClassWeight, Picked, Source};
use crate::error::{Error, Result};
use crate::model::clock::Clock;
use crate::model::known::{Known, Merged};
use crate::model::origin::TrainingSettings;
use crate::model::within_limit::{Part, TrainingSet, fit_samples};
use crate::model::{CChoice, Model};
use crate::monitor::Monitor;
use crate::similarity::Similarity;
use crate::solve::Report;

/// The parameters of a task besides those of an expansion.
pub trait ExpansionFit: Clone + fmt::Debug {
    /// The labels or targets of samples; 1 of each sample of one class.
    type Known: Known;

    /// The task of a model.
    type Task: ExpansionTask;

    /// Whether weights of similarities are learned.
    const LEARNS_WEIGHTS: bool = false;

    /// Checks the parameters.
    fn check<S: Similarity>(params: &ExpansionParams<S, Self>) -> Result<()>;

    /// The class weights, and C, with which labels have to be compatible.
    fn weighting(&self) -> (&ClassWeight, CChoice) {
        (&ClassWeight::Uniform, CChoice::Auto)
    }

    /// The default number of bases for distinct samples of these weights, if it is a number of its own.
    fn usual_bases(&self, _weights: &[f64]) -> Result<Option<usize>> {
        Ok(None)
    }

    /// The model of samples in memory.
    fn model_in_memory<S: Similarity>(fit: InMemory<'_, S, Self>) -> Result<ExpansionModel<S, Self::Task>>;
}

/// Labels or targets, which a caller passes.
pub(crate) trait Answered: ExpansionFit {}

/// Distinct samples in memory with their features.
pub(crate) struct InMemory<'a, S: Similarity, T: ExpansionFit> {
    pub task: T,
    pub seed: u64,
    pub prepared: &'a Prepared<'a, S::Samples, T::Known>,
    pub made: Expansion<S>,
    pub clock: Clock<'a>,
    pub training: TrainingSettings,
}

impl<S: Similarity, T: ExpansionFit> InMemory<'_, S, T> {
    /// The model of a solution.
    pub fn model(self, task: T::Task, report: Report) -> ExpansionModel<S, T::Task> {
        self.made.model(task, report, (self.training, self.clock.stages))
    }
}

impl<S: Similarity, T: Answered> ExpansionParams<S, T> {
    /// Trains on samples and their labels or targets.
    ///
    /// # Errors
    /// See [`ExpansionParams::fit_with`].
    pub fn fit(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        known: &T::Known,
    ) -> Result<ExpansionModel<S, T::Task>> {
        self.fit_with(samples, known, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out, and the order of the samples only affects a selection of bases by position: all bit for bit,
    /// provided that samples have fingerprints ([`Samples::fingerprint`](crate::data::Samples::fingerprint)). Selected
    /// bases are stored without duplicates in an order determined by content; explicit ones unchanged.
    ///
    /// A fit that does not converge has a status and a warning in its report; it is not an error. If a time limit does
    /// not allow a fit on all samples, the model is fitted to a subset, as noted in the report.
    ///
    /// The leave-one-out errors of a regression are those of refits without one copy of each sample, on the same bases
    /// and normalization. They are exact for squared error. For the Huber and the squared ε-insensitive loss, each refit
    /// is one Newton step from the solution, which is exact if it moves no other sample over a breakpoint of the loss.
    /// For the quantile loss, they come from five-fold cross-validation on the same features. A time limit ends the
    /// selection of C and the solution of these losses early.
    ///
    /// # Errors
    /// Invalid parameters, labels, targets or samples, with their names and the expected values; [`Error::Memory`] if the
    /// features do not fit; [`Error::Cancelled`] if the monitor cancelled; [`Error::TooShort`] if its time limit passed
    /// before a fit on few samples.
    pub fn fit_with(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        known: &T::Known,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<ExpansionModel<S, T::Task>> {
        self.fit_in_time(TrainingSet { samples, known, sample_weight }, monitor)
    }
}

impl<S: Similarity, T: ExpansionFit> ExpansionParams<S, T> {
    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is invalid.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        T::check(self)?;
        self.expander.check(T::LEARNS_WEIGHTS)
    }

    /// The fit within a time limit, to as many of the samples as it allows.
    pub(super) fn fit_in_time(
        self,
        set: SourceSet<'_, S, T::Known>,
        monitor: &Monitor<'_>,
    ) -> Result<ExpansionModel<S, T::Task>> {
        self.check()?;
        let TrainingSet { samples, known, sample_weight } = set;
        let weights = known.weights(samples.n_samples(), sample_weight, self.task.weighting())?;
        let monitor = &monitor.with_strict_limit();
        if !monitor.has_time_limit() || self.expander.for_some().is_none() {
            return self.fit_rows(set, monitor, T::model_in_memory);
        }
        let size = (Some(self.expander.most_bases()), self.expander.seed);
        let fit = |part: Option<Part<'_, T::Known>>, monitor: &Monitor<'_>| {
            let expander = self.expander.for_some().ok_or(Error::NoSamples(""))?;
            let params = ExpansionParams { expander, task: self.task.clone(), threads: self.threads };
            let Some(Part { rows, known, sample_weight }) = part else {
                let set = TrainingSet { samples, known, sample_weight };
                return params.fit_rows(set, monitor, T::model_in_memory);
            };
            let (samples, sample_weight) = (&Picked { source: samples, rows }, sample_weight.as_deref());
            let set: SourceSet<'_, S, T::Known> = TrainingSet { samples, known: &known, sample_weight };
            let mut model = params.fit_rows(set, monitor, T::model_in_memory)?;
            model.of_picked(rows);
            Ok(model)
        };
        fit_samples(known, (&weights, sample_weight), size, monitor, fit, |model| &mut model.report)
    }

    /// The result of `solve` for distinct samples and their features.
    pub(super) fn fit_rows<M>(
        self,
        set: SourceSet<'_, S, T::Known>,
        monitor: &Monitor<'_>,
        solve: impl FnOnce(InMemory<'_, S, T>) -> Result<M>,
    ) -> Result<M> {
        let TrainingSet { samples, known, sample_weight } = set;
        let effective = known.weights(samples.n_samples(), sample_weight, self.task.weighting())?;
        let ExpansionParams { mut expander, task, threads } = self;
        let training = expander.training();
        let mut clock = Clock::start(monitor);
        let samples = About::new(samples, &effective)?;
        let read = |rows: &[usize]| samples.fingerprints(rows);
        let (known, of) = ((known, task.weighting().0), (sample_weight, &effective[..]));
        let merged = Merged::find(read, known, of, (0, threads), monitor)?;
        clock.end("merge")?;
        let (usual, seed) = (task.usual_bases(&merged.weights)?, expander.seed);
        expander.n_basis = expander.n_basis.or(usual);
        let prepared = &Prepared { samples, merged, threads };
        let made = expander.fit(prepared, &mut clock)?;
        solve(InMemory { task, seed, prepared, made, clock, training })
    }
}
