//! Regression on a basis expansion of data larger than memory.
//!
//! A first pass computes all features to learn the center of the normalization, a second one its scale; where not all
//! of them stay in memory they are cached on disk, if reading them is faster than recomputing them. Three more passes
//! are the fit by the squared error ([`PartedRidge`](crate::solve::ridge)): the mean of the features, their products,
//! and the leave-one-out residuals at all C. Other losses take a pass or two a step of Newton's method
//! ([`fit_in_blocks`]).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::block_plan::Plan;
use super::expand::Expansion;
use super::feature_pieces::{FeaturePieces, Learner};
use super::targets::{RegressionParams, Solution, recenters};
use crate::data::{About, Checkpoint, Label, Labels, Picked, Resources, Source, Targets, Training};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::memory;
use crate::model::clock::Clock;
use crate::model::manifest::Manifest;
use crate::model::{BasisExpansionRegressor, BasisExpansionRegressorParams, CChoice, PartedTargets};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::Recorded;
use crate::problem::{Loss, Pieces, RowFeatures};
use crate::similarity::Similarity;
use crate::solve::residuals::{self, Choice, fit_in_blocks};
use crate::solve::ridge::{ChunkedRows, TakesFeatures};

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
    /// The squared error takes three passes over the features. Other losses take one or two for each Newton step and one
    /// more at each C, for all outputs together.
    ///
    /// A fit that is killed can be resumed from `resources.checkpoint` and gives the same model, bit for bit. With the
    /// quantile loss, only the bases, the normalization and the mean of the features are restored.
    ///
    /// # Errors
    /// As for [`fit_with`](BasisExpansionRegressorParams::fit_with); [`Error::Memory`](crate::Error::Memory) if the limit
    /// is too low for the number of bases; [`Error::Checkpoint`](crate::Error::Checkpoint) for a checkpoint of other data
    /// or parameters; [`Error::Io`](crate::Error::Io) of scratch and checkpoint.
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
        let settings = self.expander.training();
        let all_alike = Labels::from_codes(vec![Label::Integer(0)], vec![0; n])?;
        let (expansion, basis, warning) = self.expander.before_normalization(&all_alike, &training, &mut clock)?;
        let targets = targets.with_bases(&basis.rows);

        // Samples without weight are not part of the fit.
        let present: Vec<usize> = (0..n).filter(|&row| weights[row] > 0.0).collect();
        let picked = Picked { source: samples, rows: &present };
        let (n, source): (usize, &dyn Source<Samples = S::Samples>) =
            if present.len() < n { (present.len(), &picked) } else { (n, samples) };
        let (d, pool, targets) = (expansion.n_features(), Arc::new(Pool::new(threads)?), &targets.present());
        let of_solver = match loss {
            Loss::SquaredError => memory::product(&[8, d, d, SQUARES + pool.in_flight()]),
            _ => residuals::memory(loss, (n, d, targets.n_outputs()), pool.threads()),
        };
        let plan = Plan::new(resources.memory.saturating_sub(of_solver), n, d, targets.n_outputs())?;
        let manifest = Manifest::new("basis-expansion-regression", &parameters, samples, &all_alike, &weights)?;
        let plan = plan.settle(manifest, resources.checkpoint)?;

        let stays = if plan.is_whole() { (0..n).collect() } else { Vec::new() };
        let pieces = FeaturePieces::new(expansion, source, pool.clone());
        let learner = Learner::new(pieces, (stays, targets.weights()), (&plan, resources), monitor);
        let (pieces, stored) = learner.learn(&mut clock).map_err(|error| error.of_rows(&present))?;
        let features = Features { pieces: &pieces, stored: plan.is_whole().then_some(&stored.phi[..]) };
        let solution = features.solve((c, loss), targets, (&pool, resources.checkpoint), monitor)?;
        clock.end_solved("solve")?;
        let made = Expansion { expansion: pieces.expansion, phi: (), basis, warning };
        Ok(solution.model(made, &targets.standard, (settings, clock.stages)))
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

/// The features of samples in blocks.
struct Features<'a, S: Similarity> {
    pieces: &'a FeaturePieces<'a, S>,
    /// Of all samples, if they stay in memory.
    stored: Option<&'a [f32]>,
}

impl<S: Similarity> Features<'_, S> {
    fn read(&self, some: Range<usize>) -> Result<Cow<'_, [f32]>> {
        let d = self.pieces.n_features();
        if let Some(stored) = self.stored {
            return Ok(Cow::Borrowed(&stored[some.start * d..some.end * d]));
        }
        let mut phi = vec![0.0; some.len() * d];
        self.pieces.fill(some, &mut phi).map(|()| Cow::Owned(phi))
    }

    fn solve(
        &self,
        (c, loss): (CChoice, Loss),
        targets: &PartedTargets,
        (pool, checkpoint): (&Pool, Option<&dyn Checkpoint>),
        monitor: &Monitor<'_>,
    ) -> Result<Solution> {
        let (d, has_intercept) = (self.pieces.n_features(), targets.has_intercept);
        let recenters = recenters(&self.pieces.expansion, targets);
        if loss == Loss::SquaredError {
            let with = |rows: Range<usize>, work: &mut TakesFeatures<'_>| {
                work(RowFeatures::Plain { values: &self.read(rows)?, width: d, has_intercept })
            };
            let rows = ChunkedRows { fitted: &targets.fitted, pool, with };
            let rows = &mut Recorded::new(rows, checkpoint, ANSWERS)?;
            return Solution::by_squares(targets, rows, (c, recenters), monitor);
        }
        let scaled = |rows: Range<usize>, roots: &[f64]| {
            let (roots, values) = (&roots[rows.clone()], self.read(rows)?);
            let plain = RowFeatures::Plain { values: &values, width: d, has_intercept: false };
            Ok(Matrix::from_columns(plain.weighted(0..roots.len(), roots), d, roots.len()))
        };
        let choice = Choice { loss, c: c.value(), by_folds: recenters };
        let fit = fit_in_blocks((&scaled, d), targets.samples(), choice, (pool, checkpoint), monitor)?;
        Ok(Solution::of_losses(fit, loss, targets))
    }
}
