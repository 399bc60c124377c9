//! Parameters of models on a basis expansion, for all tasks.

use std::fmt;

use super::expand::Expander;
use crate::basis::BasisChoice;
use crate::data::Source;
use crate::expansion::{Normalization, NystroemCut};
use crate::macros::setters;
use crate::model::within_limit::TrainingSet;
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
