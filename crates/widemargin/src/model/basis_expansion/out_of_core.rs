//! The fit of a model on a basis expansion to data larger than memory, for labels and targets.
//!
//! Samples are read in pieces, in as many passes as needed. A first pass computes all features to learn the center of
//! the normalization, a second pass learns the scale; those of some rows stay in memory, the others are discarded, or
//! cached on disk if reading them is faster than recomputing them. Further passes are those of the solver.

use std::sync::Arc;

use super::block_plan::Plan;
use super::expand::{Before, Expansion};
use super::expansion_model::{Basis, ExpansionModel};
use super::expansion_params::ExpansionParams;
use super::feature_pieces::{FeaturePieces, HessianSample, Learner};
use super::fit::Answered;
use crate::data::{About, Labels, Picked, Resources, Source, Training};
use crate::error::{Error, Result};
use crate::model::clock::Clock;
use crate::model::known::Known;
use crate::model::manifest::Manifest;
use crate::model::origin::TrainingSettings;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::Similarity;

/// The differences between fits to labels and to targets of samples in blocks.
pub(crate) trait BlockFit: Answered {
    /// The fit, as checkpoints name it.
    const CHECKPOINT: &'static str;

    /// The targets; nothing of labels.
    type Parted;

    /// The labels in the fit, of targets one for all, and the targets.
    ///
    /// # Errors
    /// [`Error::Parameter`] for one that takes all features in memory; those of targets.
    fn in_blocks(&self, known: &Self::Known, weights: &[f64]) -> Result<(Labels, Self::Parted)>;

    /// The parameters that affect the result, and the identity of the targets.
    fn identity(&self, parted: &Self::Parted) -> Vec<(&'static str, String)>;

    /// The samples in the fit, if they are not all, and their targets, once bases are selected.
    fn present(parted: Self::Parted, _weights: &[f64], _bases: &[usize]) -> (Option<Vec<usize>>, Self::Parted) {
        (None, parted)
    }

    /// The plan for samples and features.
    fn plan(&self, memory: u64, shape: [usize; 2], known: (&Labels, &Self::Parted), pool: &Pool) -> Result<Plan>;

    /// The samples whose features stay in memory.
    fn resident(plan: &Plan, labels: &Labels, weights: &[f64], seed: u64) -> Vec<usize>;

    /// The model of samples in blocks.
    fn model_in_blocks<S: Similarity>(fit: Blocks<'_, S, Self>) -> Result<ExpansionModel<S, Self::Task>>;
}

/// Samples in blocks, once their normalization is learned.
pub(crate) struct Blocks<'a, S: Similarity, T: BlockFit> {
    pub task: T,
    /// The labels in the fit, and the targets of its samples.
    pub known: (&'a Labels, T::Parted),
    /// The weights of all samples in the fit, and the caller's.
    pub weights: (&'a [f64], Option<&'a [f64]>),
    pub pieces: FeaturePieces<'a, S>,
    /// The samples whose features are in memory.
    pub resident: HessianSample,
    pub plan: Plan,
    pub resources: &'a Resources<'a>,
    pub basis: Basis,
    /// A warning about the bases.
    pub warning: Option<String>,
    pub clock: Clock<'a>,
    pub training: TrainingSettings,
}

impl<S: Similarity, T: BlockFit> Blocks<'_, S, T> {
    /// What a model has besides the solution, and the targets.
    pub fn made(self) -> (Expansion<S, ()>, Before, T::Parted) {
        let Blocks { pieces, basis, warning, training, clock, known, .. } = self;
        (Expansion { expansion: pieces.expansion, phi: (), basis, warning }, (training, clock.stages), known.1)
    }
}

impl<S: Similarity, T: BlockFit> ExpansionParams<S, T> {
    /// Trains on data larger than memory, with at most `resources.memory` bytes for features, their products, scores and
    /// the solver, plus labels and weights (20 bytes per sample) or targets and weights (24 bytes per sample and 8 per
    /// output), and the similarity's own memory.
    ///
    /// The model is the same as with [`fit_with`](ExpansionParams::fit_with), to the same duality gap over all samples,
    /// and for the squared error of targets up to rounding, including the error estimates; but duplicate samples are not
    /// merged, and bases are stored in the order of the samples. The folds of the quantile loss are drawn among all
    /// samples, duplicates included, which may select another C.
    ///
    /// The squared error of targets takes three passes over the features. Other losses of targets take one or two for
    /// each Newton step and one more at each C, for all outputs together.
    ///
    /// A fit that is killed can be resumed from `resources.checkpoint` and gives the same model, bit for bit. With the
    /// quantile loss, only the bases, the normalization and the mean of the features are restored.
    ///
    /// # Errors
    /// As for [`fit_with`](ExpansionParams::fit_with), and [`Error::Parameter`] for the hinge loss, whose solver needs all
    /// features in memory; [`Error::Memory`] if the limit is too low for the number of bases; [`Error::Checkpoint`] for a
    /// checkpoint of other data or parameters; [`Error::Io`] of scratch and checkpoint.
    pub fn fit_blocks(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        known: &T::Known,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<ExpansionModel<S, T::Task>> {
        self.check()?;
        let ExpansionParams { expander, task, threads } = self;
        let effective = &known.weights(samples.n_samples(), sample_weight, task.weighting())?[..];
        let (labels, parted) = task.in_blocks(known, effective)?;
        let (mut clock, training) = (Clock::start(monitor), expander.training());
        let parameters: Vec<_> = expander.identity().into_iter().chain(task.identity(&parted)).collect();
        let samples = &About::new(samples, effective)?;
        let of_fit = Training { samples, weights: effective, threads, monitor };
        let (expansion, basis, warning) = expander.before_normalization(&labels, &of_fit, &mut clock)?;

        let (rows, parted) = T::present(parted, effective, &basis.rows);
        let picked = rows.as_ref().map(|rows| Picked { source: samples, rows });
        let of_picked = rows.as_ref().map(|rows| rows.iter().map(|&row| effective[row]).collect::<Vec<f64>>());
        let source = picked.as_ref().map_or(samples as &dyn Source<Samples = S::Samples>, |picked| picked);
        let present = of_picked.as_deref().unwrap_or(effective);
        let (shape, pool) = ([present.len(), expansion.n_features()], Arc::new(Pool::new(threads)?));
        let plan = task.plan(resources.memory, shape, (&labels, &parted), &pool)?;
        let manifest = Manifest::new(T::CHECKPOINT, &parameters, samples, &labels, effective)?;
        let plan = plan.settle(manifest, resources.checkpoint)?;

        let resident = T::resident(&plan, &labels, present, training.seed);
        let pieces = FeaturePieces::new(expansion, source, pool);
        let learner = Learner::new(pieces, (resident, present), (&plan, resources), monitor);
        let numbered = |error: Error| if let Some(rows) = &rows { error.of_rows(rows) } else { error };
        let (pieces, resident) = learner.learn(&mut clock).map_err(numbered)?;
        let (known, weights) = ((&labels, parted), (effective, sample_weight));
        let fit = Blocks { task, known, weights, pieces, resident, plan, resources, basis, warning, clock, training };
        T::model_in_blocks(fit)
    }
}
