//! The smoothing spline on bases of data larger than memory, read in passes.

use std::borrow::Cow;
use std::ops::Range;

use super::super::bases::SAMPLES_PER_BASIS;
use super::super::choose::Choice;
use super::super::params::ThinPlateRegressorParams;
use super::super::remote::BasisPlan;
use super::super::stream::{Scan, Stream, draw_rows};
use super::ThinPlateRegressor;
use super::spline_rows::{SplineRows, WeightedRows};
use super::task::{Task, degree};
use crate::data::{About, AnySamples, Label, Labels, Resources, Source, Targets};
use crate::error::Result;
use crate::memory;
use crate::model::clock::Clock;
use crate::model::manifest::Manifest;
use crate::model::on_workers::Preparation;
use crate::model::{PartedTargets, TrainingSettings};
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::partition::Recorded;
use crate::solve::ridge::ROWS;
use crate::tuning::SELECTION_SAMPLES;

/// The checkpoint name of the sums.
const ANSWERS: &str = "answers";

/// Squares of the features that are in memory at once, in addition to those of chunks of rows: the kernel between the
/// bases and its factor, the products, their eigenvectors, the rotation and its copies.
const SQUARES: usize = 8;

/// Copies of the features of a chunk of rows: kernel values, features, centered ones, rotated ones.
const COPIES: usize = 4;

impl ThinPlateRegressorParams {
    /// Trains on data larger than memory, on bases (`n_basis` must be set). The source is read in chunks of some
    /// thousand consecutive rows, in four passes: the columns, the polynomials, the products of the features, and the
    /// leave-one-out residuals at all C. If all samples fit in memory, [`ThinPlateRegressorParams::fit_with`] is
    /// faster.
    ///
    /// In addition to targets and weights (24 bytes per sample and 8 per output), memory holds matrices of bases ×
    /// bases, some thousand samples with their features, and 25 samples per basis.
    ///
    /// The model is the same as with [`ThinPlateRegressorParams::fit_with`] on the same bases, up to rounding, with
    /// these differences: bases are selected from 25 random samples per basis ([`ThinPlateBasis::Index`]: the first
    /// samples), kernel and scaling on a thousand of these; samples are in single precision, as in the source.
    ///
    /// With `resources.checkpoint` a fit that is killed can be resumed from the last completed pass, and gives the same
    /// model, bit for bit.
    ///
    /// # Errors
    /// As for [`ThinPlateRegressorParams::fit_with`]; [`Error::Parameter`] without `n_basis`; [`Error::Checkpoint`] for
    /// a checkpoint of another fit; [`Error::Memory`] if `resources.memory` is too small; [`Error::Kind`] for samples
    /// that are not vectors.
    ///
    /// [`Error::Parameter`]: crate::Error::Parameter
    /// [`Error::Checkpoint`]: crate::Error::Checkpoint
    /// [`Error::Memory`]: crate::Error::Memory
    /// [`Error::Kind`]: crate::Error::Kind
    /// [`ThinPlateBasis::Index`]: crate::model::ThinPlateBasis::Index
    pub fn fit_blocks(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateRegressor> {
        self.check()?;
        let n_basis = self.n_basis_of_blocks()?;
        let (n, pool) = (samples.n_samples(), Pool::new(self.threads)?);
        let weights = targets.weights(n, sample_weight)?;
        let parted = PartedTargets::new(targets, sample_weight, true)?;
        let samples = &About::new(samples, &weights)?;
        let stream = Stream::new(samples)?;
        let mut clock = Clock::start(monitor);

        let picked = draw_rows(&weights, SELECTION_SAMPLES.max(SAMPLES_PER_BASIS.saturating_mul(n_basis)), self.seed);
        self.check_memory(&stream, (n_basis, picked.len()), &pool, resources.memory)?;
        let scan = stream.look(&weights, &picked, &pool, &RowCount::new(monitor, "scale", n))?;
        clock.end("scale")?;
        let Scan { moments, content, sample } = scan;
        let task = Task {
            params: self,
            rows: sample,
            n_features: stream.n_features,
            targets: targets.of_rows(&picked),
            weights: picked.iter().map(|&row| weights[row]).collect(),
            // Equal samples are not merged here.
            units: picked.iter().map(|&row| weights[row]).collect(),
            pool: &pool,
            monitor,
        };
        let Choice { kernel, factors, tried, warnings, note, .. } = task.choose()?;
        // The spreads of all samples, if the drawn ones have shown that columns are to be standardized.
        let scale = match factors {
            Some(_) => Some(moments.space(Some(0))?.factors),
            None => None,
        };
        if !tried.is_empty() {
            clock.end("choice")?;
        }
        let stream = Stream { scale: scale.as_deref(), ..stream };
        let (bases, basis_rows) =
            stream.bases((&picked, task.rows), &weights, (self.basis, n_basis), self.seed, &pool)?;
        clock.end("bases")?;

        let all_alike = Labels::from_codes(vec![Label::Integer(0)], vec![0; n])?;
        let parameters = self.identity(content, [("targets", parted.fingerprint())]);
        let manifest = Manifest::new("thin-plate-regression", &parameters, samples, &all_alike, &weights)?;
        manifest.settle(&[], resources.checkpoint)?;
        let plan = BasisPlan::new(kernel, degree(kernel), bases, moments.scaled(scale.as_deref()))?;
        let read = |rows: Range<usize>| stream.rows(rows).map(Cow::Owned);
        let rows = WeightedRows { read: &read, weights: &weights };
        let settled = plan.polynomials_of(rows, &pool, monitor)?;
        clock.end("polynomials")?;

        let present = parted.present();
        let rows = SplineRows::new(&plan, &settled, rows, &present.fitted, &pool);
        let mut rows = Recorded::new(rows, resources.checkpoint, ANSWERS)?;
        let preparation = Preparation {
            basis: self.basis.to_string(),
            basis_rows,
            training: TrainingSettings { seed: self.seed, ..TrainingSettings::default() },
            stages: clock.stages,
        };
        let mut model = plan.fit_spline(&settled, &parted, &mut rows, (self.c, preparation), monitor)?;
        for warning in warnings {
            if !model.report.warnings.contains(&warning) {
                model.report.warnings.push(warning);
            }
        }
        model.spline.scale = scale;
        model.report.notes.extend(note);
        Ok(model)
    }

    fn check_memory(
        &self,
        stream: &Stream<'_>,
        (n_basis, n_drawn): (usize, usize),
        pool: &Pool,
        limit: u64,
    ) -> Result<()> {
        let (n, d) = (stream.n(), stream.n_features);
        // A kernel without polynomials gets the constant.
        let width = n_basis + self.max_monomials(d)?.max(1);
        let needed = [
            memory::product(&[8, width, width, SQUARES + pool.in_flight()]),
            memory::product(&[8, pool.in_flight(), ROWS, COPIES * width + d]),
            memory::product(&[8, 3, n_drawn, d]),
        ];
        let needed = needed.into_iter().fold(0, u64::saturating_add);
        let what = || format!("a smoothing spline of {n} samples on {n_basis} bases");
        memory::within(limit, needed, what, "take fewer bases (n_basis)")
    }
}
