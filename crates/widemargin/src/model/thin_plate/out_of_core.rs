//! The thin plate SVM on bases for data larger than memory, read in passes.

use std::borrow::Cow;
use std::ops::Range;

use super::bases::SAMPLES_PER_BASIS;
use super::choose::Choice;
use super::fit::Fit;
use super::model::ThinPlateSvc;
use super::params::{ClassificationParams, ThinPlateParams};
use super::remote::ModelMetadata;
use super::spline_basis::SplineBasis;
use super::stream::{Scan, Stream, draw_rows};
use crate::data::{About, AnySamples, Labels, Resources, Source, check_costs, effective_weights};
use crate::error::{Result, require};
use crate::memory::within;
use crate::model::clock::Clock;
use crate::model::manifest::Manifest;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::problem::OneVsRest;
use crate::solve::thin_plate::{BlockStorage, Problems, memory};
use crate::tuning::SELECTION_SAMPLES;

impl ThinPlateParams {
    /// Trains on data larger than memory, on bases (`n_basis` must be set). The source is read in chunks of some
    /// hundred consecutive rows: three initial passes, then one per Newton step and one per C; a whole path takes some
    /// 60 to 100 passes. If all samples fit in memory, [`ThinPlateParams::fit_with`] is faster.
    ///
    /// In addition to labels and weights, memory holds 16 bytes per sample and 17 per sample and two-class problem,
    /// three matrices of (bases + polynomials)² × 8 bytes per problem, some thousand samples with their features,
    /// and 25 samples per basis. It also caches the kernel values of as many samples as `resources.memory` allows,
    /// which saves time and does not affect the result.
    ///
    /// The model is the same as with [`ThinPlateParams::fit_with`] on the same bases, up to rounding, with these
    /// differences: duplicate samples are not merged; bases are selected from 25 random samples per basis
    /// ([`ThinPlateBasis::Index`](super::ThinPlateBasis::Index): the first samples); samples are in single precision,
    /// as in the source; and the model stores means over leave-one-out decision values, not single values.
    ///
    /// With `resources.checkpoint` a fit that is killed can be resumed from the last completed λ, and gives the same
    /// model, bit for bit.
    ///
    /// # Errors
    /// As for [`ThinPlateParams::fit_with`]; [`Error::Parameter`] without `n_basis`; [`Error::Checkpoint`] for a
    /// checkpoint of another fit; [`Error::Memory`] if `resources.memory` is too small; [`Error::Kind`] for samples
    /// that are not vectors.
    ///
    /// [`Error::Parameter`]: crate::Error::Parameter
    /// [`Error::Checkpoint`]: crate::Error::Checkpoint
    /// [`Error::Memory`]: crate::Error::Memory
    /// [`Error::Kind`]: crate::Error::Kind
    pub fn fit_blocks(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateSvc> {
        self.check()?;
        labels.check(samples.n_samples())?;
        let n_basis = self.n_basis_of_blocks()?;
        let expected = "auto or a number for samples in blocks: C for each class needs all samples in memory";
        require(!self.task.per_class, "C", "auto-per-class", expected)?;
        let weights = effective_weights(labels, sample_weight, &self.task.class_weight)?;
        let about = About::new(samples, &weights)?;
        let stream = Stream::new(&about)?;
        let labels = &labels.clone().weighted(&self.task.class_weight, &weights);
        check_costs(self.c.or_one(), &weights, labels.classes().len())?;
        let pool = &Pool::new(self.threads)?;
        let mut clock = Clock::start(monitor);
        let (n, n_features, k) = (stream.n(), stream.n_features, OneVsRest::of(labels).n_problems());

        // Equal samples are not merged here: each is excluded with all of its weight.
        let units = weights.clone();
        let picked = draw_rows(&weights, SELECTION_SAMPLES.max(SAMPLES_PER_BASIS.saturating_mul(n_basis)), self.seed);
        let n_columns = self.max_monomials(n_features)?;
        let (least, block) = memory::streamed_bytes(n, n_features, n_basis, n_columns, k, pool.threads());
        // The drawn samples, those that become bases, and a copy for k-means.
        let needed = least.saturating_add(3 * (picked.len() * n_features * size_of::<f64>()) as u64);
        let what = || format!("a fit of {n} samples on {n_basis} bases in {k} two-class problems");
        within(resources.memory, needed, what, "take fewer bases (n_basis)")?;
        let scan = stream.look(&weights, &picked, pool, &RowCount::new(monitor, "scale", n))?;
        let Scan { moments, content, sample } = scan;
        let ClassificationParams { loss, polynomials, tol, max_steps, .. } = &self.task;
        let own = [
            ("loss", loss.to_string()),
            ("polynomials", polynomials.to_string()),
            ("tol", tol.to_string()),
            ("max_iter", max_steps.to_string()),
        ];
        let manifest = Manifest::new("thin-plate", &self.identity(content, own), &about, labels, &weights)?;
        manifest.settle(&[], resources.checkpoint)?;
        clock.end("scale")?;

        let some: Vec<f64> = picked.iter().map(|&row| weights[row]).collect();
        let codes: Vec<u32> = picked.iter().map(|&row| labels.codes()[row]).collect();
        let problems = Problems { targets: OneVsRest::of(labels).with_codes(&codes), weights: &some, units: &some };
        let first_come = &(0..picked.len()).collect::<Vec<usize>>();
        let mut fit = Fit { params: self, problems: &problems, first_come, n_features, pool, clock: &mut clock };
        let plain = moments.space(self.kernel.degree())?;
        let Choice { kernel, factors, warnings, note, .. } = fit.choose(&sample, plain, &labels.select(&picked))?;
        let (this, scale) = (self.clone().kernel(kernel), factors);
        let space = moments.scaled(scale.as_deref()).space(kernel.degree())?;

        let stream = Stream { scale: scale.as_deref(), ..stream };
        let (bases, basis_rows) = stream.bases((&picked, sample), &weights, (self.basis, n_basis), self.seed, pool)?;
        clock.end("bases")?;

        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let targets = OneVsRest::of(labels);
        let total_weight = targets.total(&weights);
        let settings = this.settings(&weights);
        drop(weights);
        let basis = SplineBasis { kernel, bases, space };
        let storage = BlockStorage {
            n_cached: usize::try_from((resources.memory - needed) / block).unwrap_or(usize::MAX).min(n),
            lifts: false,
            // The multipliers of a rounded loss are no part of a log.
            checkpoint: resources.checkpoint.filter(|_| loss.is_smooth()).map(|checkpoint| (checkpoint, "thin-plate")),
        };
        let read = |rows: Range<usize>| stream.rows(rows).map(Cow::Owned);
        let rows = (&read as _, &roots[..]);
        let fitted = basis.fit(rows, (targets, &units), &basis_rows, &settings, storage, (pool, &mut clock))?;

        let plain_weights = sample_weight.map_or_else(|| Cow::Owned(vec![1.0; n]), Cow::Borrowed);
        let metadata = ModelMetadata {
            classes: labels.classes().to_vec(),
            targets,
            total_weight,
            evaluated_on: Some((labels, &plain_weights)),
            basis_rows: basis_rows.into_iter().map(|row| row as u64).collect(),
            stages: clock.stages,
        };
        let mut model = this.model(fitted, basis, scale, metadata, warnings)?;
        model.report.notes.extend(note);
        Ok(model)
    }
}
