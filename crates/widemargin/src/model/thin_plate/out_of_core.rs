//! The fit of a spline on bases to data larger than memory, read in passes.

use std::borrow::Cow;
use std::ops::Range;

use super::bases::SAMPLES_PER_BASIS;
use super::choose::Choice;
use super::params::SplineParams;
use super::spline_basis::SplineBasis;
use super::spline_model::{SplineModel, SplineTask};
use super::stream::{Scan, Stream, draw_rows};
use super::task::{Finish, OnBases, Problem, Solution, SplineFit};
use crate::data::{About, AnySamples, Resources, Source};
use crate::error::Result;
use crate::memory::{product, within};
use crate::model::clock::Clock;
use crate::model::known::Known;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::solve::thin_plate::BlockStorage;
use crate::tuning::SELECTION_SAMPLES;

impl<T: SplineFit> SplineParams<T> {
    /// Trains on data larger than memory, on bases (`n_basis` must be set). The source is read in chunks of some
    /// hundred consecutive rows. Labels take three initial passes, then one per Newton step and one per C; a whole path
    /// takes some 60 to 100 passes. Targets take four: the columns, the polynomials, the products of the features, and
    /// the leave-one-out residuals at all C. If all samples fit in memory, [`SplineParams::fit_with`] is faster.
    ///
    /// In addition to labels and weights, memory holds 16 bytes per sample and 17 per sample and two-class problem,
    /// three matrices of (bases + polynomials)² × 8 bytes per problem, some thousand samples with their features,
    /// and 25 samples per basis. It also caches the kernel values of as many samples as `resources.memory` allows,
    /// which saves time and does not affect the result. For targets it holds 24 bytes per sample and 8 per output, and
    /// matrices of bases × bases.
    ///
    /// The model is the same as with [`SplineParams::fit_with`] on the same bases, up to rounding, with these
    /// differences: duplicate samples are not merged; bases are selected from 25 random samples per basis
    /// ([`ThinPlateBasis::Index`](super::ThinPlateBasis::Index): the first samples), kernel and scaling on a thousand
    /// of these; samples are in single precision, as in the source; and the model stores means over leave-one-out
    /// decision values, not single values.
    ///
    /// With `resources.checkpoint` a fit that is killed can be resumed from the last completed λ, or pass for targets,
    /// and gives the same model, bit for bit.
    ///
    /// # Errors
    /// As for [`SplineParams::fit_with`]; [`Error::Parameter`] without `n_basis`; [`Error::Checkpoint`] for a checkpoint
    /// of another fit; [`Error::Memory`] if `resources.memory` is too small; [`Error::Kind`] for samples that are not
    /// vectors.
    ///
    /// [`Error::Parameter`]: crate::Error::Parameter
    /// [`Error::Checkpoint`]: crate::Error::Checkpoint
    /// [`Error::Memory`]: crate::Error::Memory
    /// [`Error::Kind`]: crate::Error::Kind
    pub fn fit_blocks(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        known: &T::Known,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<SplineModel<T::Task>> {
        self.check()?;
        let n_basis = self.n_basis_of_blocks()?;
        let weighting = (self.task.class_weight(), self.c);
        let weights = &known.weights(samples.n_samples(), sample_weight, weighting)?[..];
        let known = &*self.task.in_blocks(known, weights)?;
        let about = About::new(samples, weights)?;
        let stream = Stream::new(&about, T::Task::NAME)?;
        let (n, n_features, pool) = (stream.n(), stream.n_features, &Pool::new(self.threads)?);
        // Equal samples are not merged here: each is excluded with all of its weight.
        let fit = Problem { params: self, known, weights, units: weights, first_come: &[], n_features, pool };
        let clock = &mut Clock::start(monitor);

        let picked = draw_rows(weights, SELECTION_SAMPLES.max(SAMPLES_PER_BASIS.saturating_mul(n_basis)), self.seed);
        let (n_columns, k) = (self.max_monomials(n_features)?, T::n_problems(known));
        let (least, block) = T::streamed_bytes([n, n_features, n_basis, n_columns, k], pool);
        // The drawn samples, those that become bases, and a copy for k-means.
        let needed = least.saturating_add(product(&[8, 3, picked.len(), n_features]));
        let what = || format!("{} of {n} samples on {n_basis} bases", T::Task::NAME);
        within(resources.memory, needed, what, "take fewer bases (n_basis)")?;
        let scan = stream.look(weights, &picked, pool, &RowCount::new(monitor, "scale", n))?;
        let Scan { moments, content, sample } = scan;
        T::manifest(&fit, &about, content)?.settle(&[], resources.checkpoint)?;
        clock.end("scale")?;

        let some: Vec<f64> = picked.iter().map(|&row| weights[row]).collect();
        let drawn = Problem { known: &known.of_rows(&picked), weights: &some, units: &some, ..fit };
        let choice = drawn.choose(&sample, &moments.space(self.degree())?, clock)?;
        let Choice { kernel, factors: scale, warnings, note, .. } = choice;
        let params = &self.clone().kernel(kernel);
        let space = moments.scaled(scale.as_deref()).space(params.degree())?;

        let stream = Stream { scale: scale.as_deref(), ..stream };
        let (bases, basis_rows) = stream.bases((&picked, sample), weights, (self.basis, n_basis), self.seed, pool)?;
        clock.end("bases")?;

        let (fit, basis) = (Problem { params, ..fit }, SplineBasis { kernel, bases, space });
        let plain_weights = sample_weight.map_or_else(|| Cow::Owned(vec![1.0; n]), Cow::Borrowed);
        let weighted = T::weighted(&fit, &plain_weights)?;
        let storage = BlockStorage {
            n_cached: usize::try_from((resources.memory - needed) / block).unwrap_or(usize::MAX).min(n),
            lifts: false,
            checkpoint: resources.checkpoint.map(|checkpoint| (checkpoint, T::Task::METHOD)),
        };
        let read = |rows: Range<usize>| stream.rows(rows).map(Cow::Owned);
        let on = OnBases { basis: &basis, read: &read, known: &weighted, not_judged: &basis_rows, storage };
        let (coefficients, found) = T::solve_on_bases(&fit, on, clock)?;
        clock.end_solved("solve")?;
        let solution = Solution { basis, basis_rows, coefficients, found, warnings };
        let (training, stages) = (params.training(true), std::mem::take(&mut clock.stages));
        let mut model = T::model_of_parts(solution, &weighted, Finish { params, scale, training, stages })?;
        model.report.notes.extend(note);
        Ok(model)
    }
}
