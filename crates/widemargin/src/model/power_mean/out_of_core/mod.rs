//! The power mean SVM on data larger than memory.
//!
//! Two passes over the samples: [`scan`] validates them and finds the largest value of each feature, [`encode`]
//! produces pieces of coded rows, 4 bytes per non-zero, which stay in memory if they fit and otherwise go to scratch
//! ([`Store`]). [`solve_blocks`] then processes them in blocks of several pieces, and saves enough to resume a killed
//! fit. [`plan`] determines the number of blocks.

mod encode;
mod plan;
mod scan;

use std::borrow::Cow;

use self::encode::Encoder;
use self::plan::{MAX_THREADS, Plan, Sizes};
use self::scan::{Chunked, METHOD, Scan};
use super::feature_range::FeatureMax;
use super::fit::PowerMeanSvc;
use super::params::PowerMeanParams;
use crate::data::{AnySamples, Labels, Resources, SamplesView, Source, check_costs};
use crate::error::{Error, Result};
use crate::memory;
use crate::model::clock::Clock;
use crate::model::known::Known;
use crate::model::manifest::Manifest;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::OneVsRest;
use crate::solve::dual::{BlockProblem, Left, Store, solve_blocks};

impl PowerMeanParams {
    /// Trains on data larger than memory: the samples are read twice, in ranges of rows, and stored coded in blocks, in
    /// memory if `resources.memory` allows it and otherwise in `resources.scratch`. The reported gap is over all
    /// samples.
    ///
    /// It solves the problem of [`PowerMeanParams::fit_with`], to the same tolerance, with steps in another order and
    /// three differences. Duplicate samples are not merged: the equivalence of weights and copies, and the independence
    /// of the order of the samples, hold to within the tolerance, not bit for bit. If features have more than 65,536
    /// distinct values after scaling, they are rounded to 12 significant bits (with a warning), which changes decision
    /// values in about the fifth digit. If descent is slow (a large C, few features), there is no fallback to Newton's
    /// method: the report then has [`Status::IterationLimit`](crate::solve::Status::IterationLimit), a warning and the
    /// gap reached.
    ///
    /// Automatic parameters are selected on samples that are read once more after the first pass.
    ///
    /// The result depends on the memory limit, through the number of blocks, but not on the number of threads. A fit
    /// that is killed can be resumed from its checkpoint and gives the same model, bit for bit.
    ///
    /// # Errors
    /// As for [`PowerMeanParams::fit_with`], with rows counted over all samples; [`Error::Kind`] for samples that are
    /// not vectors; [`Error::Memory`] if memory or scratch is too small for any number of blocks; [`Error::Checkpoint`]
    /// for a checkpoint of other samples or parameters, naming the difference; errors of `samples` and `resources`.
    pub fn fit_blocks(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<PowerMeanSvc> {
        self.check()?;
        let n = samples.n_samples();
        check_number(n)?;
        let weights = labels.weights(n, sample_weight, (&self.class_weight, self.c.into()))?;
        let labels = &labels.clone().weighted(&self.class_weight, &weights);
        let mut clock = Clock::start(monitor);

        let chunked = Chunked::new(samples, &weights, resources.memory, self.threads)?;
        let scan = Scan::new(&chunked, monitor)?;
        let scaling = self.scale.then(|| FeatureMax::from_largest(&scan.largest));
        let factors = scaling.as_ref().map(FeatureMax::factors);
        clock.end("scan")?;

        let (mut params, mut choice) = (Cow::Borrowed(self), None);
        if self.chooses() {
            let some = self.rows_to_choose_on(labels, &weights);
            let picked = samples.select(&some)?;
            // Equal samples are not merged here: each is excluded with all of its weight.
            let (rows, weights) = (SamplesView::Other(&picked).rows(METHOD)?, (&weights[..], &weights[..]));
            let (chosen, found) = self.choose_on(&rows, &some, labels, weights, factors, monitor)?;
            clock.end("choose")?;
            check_costs(chosen.c, weights.0, labels.classes().len())?;
            (params, choice) = (Cow::Owned(chosen), Some(found));
        }

        let manifest = Manifest::new("power-mean", &params.identity(&scan), samples, labels, &weights)?;
        let targets = OneVsRest::of(labels);
        let (n_features, n_problems) = (scan.largest.len(), targets.n_problems());
        let sizes =
            Sizes { n_rows: scan.n_rows, n_nonzero: scan.n_nonzero, n_features, n_problems, n_nodes: params.n_nodes };
        let plan = sizes.settle(resources.memory, manifest, resources.checkpoint)?;
        let left = Left::find(resources.checkpoint)?;
        check_room(plan, &sizes, resources)?;
        let (scratch, seed) = (resources.scratch, self.seed);
        let encoder = Encoder { samples: &chunked, scan: &scan, factors, plan, n_problems, scratch, seed };
        let (book, pieces) = encoder.encode(monitor)?;
        drop(chunked);
        let map = params.map(&book.values, &book.counts)?;
        let problem = BlockProblem { map: &map, n_features, targets, weights: &weights, c: params.c, loss: self.loss };
        let store = Store::new(problem, book, pieces);
        clock.end("encode")?;

        let settings = self.settings(Pool::count(self.threads).min(MAX_THREADS));
        let (solution, mut scores) = solve_blocks(&store, &settings, (resources.checkpoint, left), monitor)?;
        clock.end_solved("solve")?;
        scores.weights.iter_mut().for_each(|weight| *weight /= params.c);
        let plain_weights = sample_weight.map_or_else(|| Cow::Owned(vec![1.0; labels.len()]), Cow::Borrowed);
        let (note, is_rounded) = (where_they_were(&store), store.book.rounded);
        let (features, labeled) = ((map, scaling, n_features), (labels, &plain_weights[..]));
        let mut model = params.model(features, labeled, (solution, &scores), clock.stages);
        model.report.notes.push(note);
        if is_rounded {
            let warning = "more than 65,536 distinct values: they were rounded to 12 significant bits";
            model.report.warnings.push(warning.into());
        }
        Ok(model.with_choice(&params, choice))
    }

    /// All that affects the steps, besides the labels and weights.
    fn identity(&self, scan: &Scan) -> Vec<(&'static str, String)> {
        vec![
            ("features", scan.largest.len().to_string()),
            ("non-zeros", scan.n_nonzero.to_string()),
            ("content of the samples", format!("{:032x}", scan.print)),
            ("kernel", self.kernel.to_string()),
            ("loss", self.loss.to_string()),
            ("C", self.c.to_string()),
            ("approximation", self.approximation.to_string()),
            ("n_nodes", self.n_nodes.to_string()),
            ("nodes", format!("{:?}", self.nodes)),
            ("scale", self.scale.to_string()),
            ("tol", self.tol.to_string()),
            ("max_iter", self.max_epochs.to_string()),
            ("seed", self.seed.to_string()),
        ]
    }
}

/// Row numbers have 32 bits.
fn check_number(n: usize) -> Result<()> {
    if u32::try_from(n).is_ok() {
        return Ok(());
    }
    Err(Error::shape("samples", format!("{n} rows"), "fewer than 2^32"))
}

/// Checks that the scratch has enough space.
fn check_room(plan: Plan, sizes: &Sizes, resources: &Resources<'_>) -> Result<()> {
    let Some(free) = resources.scratch.room().filter(|_| !plan.in_memory) else { return Ok(()) };
    let what = || format!("the coded samples on scratch, {} rows with {} non-zeros,", sizes.n_rows, sizes.n_nonzero);
    memory::within(free, sizes.on_scratch(), what, "make room there, or allow more memory")
}

fn where_they_were(store: &Store<'_>) -> String {
    let n_blocks = store.n_blocks();
    let blocks = if n_blocks == 1 { "block" } else { "blocks" };
    match store.on_scratch() {
        0 => format!("the samples were in {n_blocks} {blocks} in memory"),
        bytes => format!("the samples were in {n_blocks} {blocks}, {bytes} bytes on scratch"),
    }
}
