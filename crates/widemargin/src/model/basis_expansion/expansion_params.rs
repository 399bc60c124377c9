//! Parameters of models on a basis expansion, for all tasks.

use std::fmt;

use super::expand::Expander;
use super::expansion_model::{ExpansionModel, ExpansionTask};
use crate::basis::BasisChoice;
use crate::data::{Picked, Source};
use crate::error::{Error, Result};
use crate::expansion::{Normalization, NystroemCut};
use crate::macros::setters;
use crate::model::Model;
use crate::model::within_limit::{Known, Part, TrainingSet, fit_samples};
use crate::monitor::Monitor;
use crate::similarity::Similarity;

/// A training set of any source of the samples of a similarity.
pub(super) type SourceSet<'a, S, K> = TrainingSet<'a, dyn Source<Samples = <S as Similarity>::Samples> + 'a, K>;

/// Parameters of a model on a basis expansion, with their defaults.
#[derive(Clone)]
pub struct ExpansionParams<S: Similarity, T> {
    pub(crate) expander: Expander<S>,
    /// Those of the task.
    pub(crate) task: T,
    pub(crate) threads: usize,
}

impl<S: Similarity, T: Clone + fmt::Debug> ExpansionParams<S, T> {
    pub(super) fn of(similarity: S, normalization: Normalization, cut: NystroemCut, task: T) -> Self {
        let (basis, explicit, n_basis) = (BasisChoice::default(), None, None);
        let expander = Expander { similarity, n_basis, basis, explicit, normalization, cut, seed: 0 };
        ExpansionParams { expander, task, threads: 0 }
    }

    /// The same parameters for another similarity; explicit bases are dropped.
    #[doc(hidden)]
    pub fn with_similarity<U: Similarity>(self, similarity: U) -> ExpansionParams<U, T> {
        ExpansionParams { expander: self.expander.with_similarity(similarity), task: self.task, threads: self.threads }
    }

    setters! {
        /// How many bases. Where there are fewer samples, all are used, with a note in the report. (By default 1,000, or
        /// all where there are fewer samples; for outlier detection 500, and at most half of the distinct samples, or all
        /// of fewer than 20.)
        n_basis: usize => expander.n_basis = Some(n_basis);
        /// How bases are selected among the training samples; without classes all samples count as one class.
        basis: BasisChoice => expander.basis = basis;
        /// Explicit bases, in place of training samples.
        bases: S::Samples => expander.explicit = Some(bases);
        /// How the similarities are normalized. With one that centers the features, samples without similarities cannot
        /// be detected as outliers.
        normalization: Normalization => expander.normalization = normalization;
        /// Where the features of a Nyström map end.
        #[doc(hidden)]
        nystroem_cut: NystroemCut => expander.cut = nystroem_cut;
        /// Seed of the selection of bases, if random, and of the order of samples for the hinge loss.
        seed: u64 => expander.seed = seed;
        /// Number of threads, 0 meaning one per core. The result does not depend on it.
        threads: usize;
    }

    /// Whether another number of bases may be selected in the same way at about the same cost: not for explicit bases,
    /// nor for medoids.
    pub(crate) fn can_count_bases(&self) -> bool {
        self.expander.explicit.is_none() && !matches!(self.expander.basis, BasisChoice::Rows(_) | BasisChoice::KMedoids)
    }

    /// A copy, as for [`Expander::for_some`].
    fn for_some(&self) -> Option<Self> {
        let expander = self.expander.for_some()?;
        Some(ExpansionParams { expander, task: self.task.clone(), threads: self.threads })
    }

    /// The fit by `fit` within a time limit: to as many of the samples as it allows, whose effective weights are
    /// `weights`.
    pub(super) fn fit_in_time<K: Known, M: ExpansionTask>(
        self,
        set: SourceSet<'_, S, K>,
        weights: &[f64],
        monitor: &Monitor<'_>,
        fit: impl Fn(Self, SourceSet<'_, S, K>, &Monitor<'_>) -> Result<ExpansionModel<S, M>>,
    ) -> Result<ExpansionModel<S, M>> {
        let monitor = &monitor.with_strict_limit();
        if !monitor.has_time_limit() || self.for_some().is_none() {
            return fit(self, set, monitor);
        }
        let TrainingSet { samples, known, sample_weight } = set;
        let size = (Some(self.expander.most_bases()), self.expander.seed);
        let fit = |part: Option<Part<'_, K>>, monitor: &Monitor<'_>| {
            let params = self.for_some().ok_or(Error::NoSamples(""))?;
            let Some(Part { rows, known, sample_weight }) = part else {
                return fit(params, TrainingSet { samples, known, sample_weight }, monitor);
            };
            let (samples, sample_weight) = (&Picked { source: samples, rows }, sample_weight.as_deref());
            let mut model = fit(params, TrainingSet { samples, known: &known, sample_weight }, monitor)?;
            model.of_picked(rows);
            Ok(model)
        };
        fit_samples(known, (weights, sample_weight), size, monitor, fit, |model| &mut model.report)
    }
}

impl<S: Similarity, T: fmt::Debug> fmt::Debug for ExpansionParams<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpansionParams")
            .field("similarity", &self.expander.similarity.spec())
            .field("n_basis", &self.expander.n_basis)
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}
