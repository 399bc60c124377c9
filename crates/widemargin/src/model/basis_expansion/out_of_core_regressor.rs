//! Regression on a basis expansion of data larger than memory.
//!
//! A first pass computes all features to learn the center of the normalization, a second one its scale; where not all
//! of them stay in memory they are cached on disk, if reading them is faster than recomputing them. Three more passes
//! are the fit by the squared error ([`PartedRidge`](crate::solve::ridge)): the mean of the features, their products,
//! and the leave-one-out residuals at all C. Other losses take two passes a step of Newton's method
//! ([`PartedRows`](crate::solve::residuals)).

use std::ops::Range;
use std::sync::Arc;

use super::block_plan::Plan;
use super::expansion_model::Basis;
use super::feature_pieces::{FeaturePieces, HessianSample, Learner};
use super::regressor::RegressionParams;
use crate::data::{About, Label, Labels, Resources, Source, Targets, Training};
use crate::error::{Error, Result};
use crate::memory;
use crate::model::clock::Clock;
use crate::model::manifest::Manifest;
use crate::model::on_workers::Preparation;
use crate::model::origin::TrainingSettings;
use crate::model::{BasisExpansionRegressor, BasisExpansionRegressorParams, PartedTargets};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::partition::{Executor, Query, Recorded, add_answer};
use crate::problem::{Loss, Pieces};
use crate::similarity::Similarity;
use crate::solve::residuals;
use crate::solve::ridge::{ROWS, RidgeFeatures, RidgeRows, Values};

/// The checkpoint name of the sums.
const ANSWERS: &str = "answers";

/// Squares of the features that are in memory at once, in addition to those of chunks of rows: the products, their
/// eigenvectors, the rotation and its copies.
const SQUARES: usize = 6;

impl<S: Similarity> BasisExpansionRegressorParams<S> {
    /// Trains on data larger than memory, with at most `resources.memory` bytes for features, their products and the
    /// solver's state of each sample, plus targets and weights (24 bytes per sample and 8 per output) and the
    /// similarity's own memory.
    ///
    /// The model is the same as with [`fit_with`](BasisExpansionRegressorParams::fit_with), up to rounding (for other
    /// losses than the squared one, to the tolerance of the solver), including the error estimates; bases are stored in
    /// the order of the samples, and duplicate samples are not merged. The folds of the quantile loss are drawn among
    /// all samples, duplicates included, which may select another C.
    ///
    /// The squared error takes three passes over the features. Other losses take two for each Newton step and four more
    /// at each C, for each output: hundreds if C and ε are selected.
    ///
    /// A fit that is killed can be resumed from `resources.checkpoint` and gives the same model, bit for bit. With
    /// other losses, only the bases, the normalization and the mean of the features are restored: the results of the
    /// solver's passes contain a number for each sample, and are not stored.
    ///
    /// # Errors
    /// As for [`fit_with`](BasisExpansionRegressorParams::fit_with); [`Error::Memory`] if the limit is too low for the
    /// number of bases; [`Error::Checkpoint`] for a checkpoint of other data or parameters; [`Error::Io`] of scratch
    /// and checkpoint.
    pub fn fit_blocks(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionRegressor<S>> {
        self.check()?;
        let n = samples.n_samples();
        let weights = targets.weights(n, sample_weight)?;
        let targets = PartedTargets::new(targets, sample_weight, self.task.has_intercept)?;
        let mut clock = Clock::start(monitor);
        let samples = &About::new(samples, &weights)?;
        let training = Training { samples, weights: &weights, threads: self.threads, monitor };
        let parameters = self.identity(&targets);
        let (c, loss, threads) = (self.task.c, self.task.loss, self.threads);
        let (seed, n_basis) = (self.expander.seed, self.expander.n_basis);
        let all_alike = Labels::from_codes(vec![Label::Integer(0)], vec![0; n])?;
        let (expansion, basis, warning) = self.expander.before_normalization(&all_alike, &training, &mut clock)?;
        let targets = targets.with_bases(&basis.rows);

        let (d, pool) = (expansion.n_features(), Arc::new(Pool::new(threads)?));
        let of_solver = match loss {
            Loss::SquaredError => memory::product(&[8, d, d, SQUARES + pool.in_flight()]),
            loss => residuals::memory(loss, (n, d, targets.n_outputs()), pool.threads()),
        };
        let plan = Plan::new(resources.memory.saturating_sub(of_solver), n, d, targets.n_outputs())?;
        let manifest = Manifest::new("basis-expansion-regression", &parameters, samples, &all_alike, &weights)?;
        let plan = plan.settle(manifest, resources.checkpoint)?;

        let present = (0..n).filter(|&row| weights[row] > 0.0).collect();
        let stays = if plan.is_whole() { present } else { Vec::new() };
        let pieces = FeaturePieces::new(expansion, samples, pool.clone());
        let learner = Learner { pieces, weights: &weights, plan: &plan, resources, monitor };
        let (pieces, stored) = learner.learn(stays, &mut clock)?;
        let expansion = pieces.expansion.clone();
        let of_stored = plan.is_whole().then(|| targets.present());
        let of_rows = of_stored.as_ref().unwrap_or(&targets);
        let rows = FeaturesInPasses {
            targets: of_rows,
            stored: plan.is_whole().then_some(stored),
            piece_rows: plan.piece_rows,
            pieces,
            pool: &pool,
        };
        let mut rows = Recorded::new(rows, resources.checkpoint, ANSWERS)?;
        let Basis { choice: basis, rows: basis_rows } = basis;
        let training = TrainingSettings { seed, n_basis, ..TrainingSettings::default() };
        let preparation = Preparation { basis, basis_rows, training, stages: clock.stages };
        let mut model =
            BasisExpansionRegressor::of_parts(expansion, of_rows, &mut rows, (c, loss), preparation, monitor)?;
        model.report.warnings.extend(warning);
        Ok(model)
    }

    /// All parameters that affect the result, and the identity of the targets.
    fn identity(&self, targets: &PartedTargets) -> Vec<(&'static str, String)> {
        let RegressionParams { c, loss, has_intercept } = &self.task;
        let own = [
            ("C", c.to_string()),
            ("loss", loss.name().into()),
            ("epsilon", loss.epsilon().map_or_else(|| "auto".into(), |epsilon| epsilon.to_string())),
            ("quantile", loss.quantile().map_or_else(|| "none".into(), |quantile| quantile.to_string())),
            ("intercept", has_intercept.to_string()),
            ("targets", targets.fingerprint()),
        ];
        self.expander.identity().into_iter().chain(own).collect()
    }
}

/// Rows of normalized features with their targets: in memory, or a piece at a time.
struct FeaturesInPasses<'a, S: Similarity> {
    pieces: FeaturePieces<'a, S>,
    /// The features of the rows of `targets`, if they are all in memory.
    stored: Option<HessianSample>,
    targets: &'a PartedTargets,
    piece_rows: usize,
    pool: &'a Pool,
}

impl<S: Similarity> FeaturesInPasses<'_, S> {
    /// Adds the answer of some rows, whose features these are.
    fn add<Q: Query<Of = RidgeRows>>(
        &self,
        query: &Q,
        total: &mut Option<Q::Answer>,
        (rows, phi): (Range<usize>, &[f32]),
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let (width, targets) = (self.pieces.n_features(), self.targets);
        let answer = |some: Range<usize>| {
            let own = rows.start + some.start..rows.start + some.end;
            let values = Values::Single(&phi[some.start * width..some.end * width]);
            let features = RidgeFeatures::Plain { values, has_intercept: targets.has_intercept, first: own.start };
            query.answer(&mut targets.row_targets().part(own, features, width), monitor)
        };
        self.pool.fold_chunks(rows.len(), ROWS, answer, |next| add_answer(query, total, next))
    }
}

impl<S: Similarity> Executor for FeaturesInPasses<'_, S> {
    type Of = RidgeRows;

    fn reduce<Q: Query<Of = RidgeRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let (mut total, n) = (None, self.targets.weights().len());
        if let Some(stored) = &self.stored {
            self.add(query, &mut total, (0..n, &stored.phi), monitor)?;
            return total.ok_or(Error::NoSamples(""));
        }
        let mut phi = Vec::new();
        for first in (0..n).step_by(self.piece_rows) {
            let rows = first..(first + self.piece_rows).min(n);
            monitor.go_on("solve")?;
            phi.resize(rows.len() * self.pieces.n_features(), 0.0);
            self.pieces.fill(rows.clone(), &mut phi)?;
            self.add(query, &mut total, (rows.clone(), &phi), monitor)?;
            monitor.tell(Progress { stage: "solve", done: rows.end as u64, total: n as u64, gap: None });
        }
        total.ok_or(Error::NoSamples(""))
    }
}
