//! The smoothing spline on bases, of samples that others hold.

use std::ops::Range;

use super::ThinPlateRegressor;
use super::task::{Solved, columns, degree, select};
use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::model::clock::Clock;
use crate::model::origin::TrainingSettings;
use crate::model::thin_plate::remarks::dependent;
use crate::model::thin_plate::{BasisPlan, PartLift};
use crate::model::{CChoice, PartedTargets, StandardTargets};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Remote, Workers};
use crate::similarity::ConditionalKernel;
use crate::solve::Stage;
use crate::solve::ridge::{PartedRidge, ROWS, RidgeRows};
use crate::solve::thin_plate::{FirstSums, Polynomials, Settled};
use crate::tuning::MAX_PARTED_FEATURES;

/// The metadata of the model of such a fit, in addition to its solution.
#[derive(Clone, Debug)]
pub struct SplineMetadata {
    /// The weight of the losses, fixed or to be selected.
    pub c: CChoice,
    /// How the bases were selected.
    pub basis: String,
    /// Row of each basis among the samples; empty if bases are means of samples.
    pub support: Vec<u64>,
    /// Of the selection of bases.
    pub seed: u64,
    /// Stages before the solution, which appends its own.
    pub stages: Vec<Stage>,
}

impl ThinPlateRegressor {
    /// Trains on bases (row-major) of samples that workers hold, with the standardized targets of all: first sums over
    /// `samples`, then three over their `features`. The leave-one-out errors are exact with the bases as they are.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a wrong C, or a kernel that cannot be used on these bases; errors of the workers;
    /// [`Error::Cancelled`] if the monitor cancelled.
    pub fn fit_on_workers<W: Workers>(
        kernel: ConditionalKernel,
        bases: Vec<f64>,
        (samples, features): (W, impl FnOnce(&BasisPlan, PartLift) -> Result<W>),
        targets: &PartedTargets,
        metadata: SplineMetadata,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        metadata.c.check()?;
        let mut clock = Clock::start(monitor);
        let (plan, sums) = BasisPlan::of_workers((kernel, degree(kernel)), bases, samples, monitor)?;
        let settled = plan.settle(&sums, Polynomials::Free, (targets.n_present(), targets.total()), |_| Ok(false))?;
        clock.end("polynomials")?;
        let workers = features(&plan, PartLift::of(&settled))?;
        clock.end("features")?;
        let mut model = plan.fit_spline(settled, targets, &mut Remote::new(workers), metadata, monitor)?;
        let at = model.report.stages.len() - 1;
        model.report.stages.splice(at..at, clock.stages);
        Ok(model)
    }
}

impl BasisPlan {
    /// The same on features that are known.
    pub(super) fn fit_spline(
        self,
        settled: Settled,
        targets: &PartedTargets,
        rows: &mut impl Executor<Of = RidgeRows>,
        metadata: SplineMetadata,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateRegressor> {
        let (kernel, n_features) = (self.kernel, self.n_features);
        let (started, standard) = (Instant::now(), &targets.standard);
        let solved =
            self.solve_spline(settled, (standard, targets.total()), metadata.c, (rows, MAX_PARTED_FEATURES), monitor)?;
        let mut stages = metadata.stages;
        stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        let dependent = dependent(kernel, solved.space.len(), solved.rank);
        let warnings: Vec<String> =
            solved.space.warnings().into_iter().chain(dependent).chain(solved.chosen.warning(standard)).collect();
        let training =
            TrainingSettings { seed: metadata.seed, basis: Some(metadata.basis), ..TrainingSettings::default() };
        let mut model = solved.into_model(kernel, n_features, targets.n_present(), training, stages);
        model.spline.support = metadata.support;
        model.report.warnings.extend(warnings);
        Ok(model)
    }

    /// The spline of the standardized targets, over rows of at most this number of features.
    pub(super) fn solve_spline(
        self,
        settled: Settled,
        (standard, total): (&StandardTargets, f64),
        c: CChoice,
        (rows, max_features): (&mut impl Executor<Of = RidgeRows>, usize),
        monitor: &Monitor<'_>,
    ) -> Result<Solved> {
        let BasisPlan { kernel, bases, space, feature_map, .. } = self;
        let n_outputs = standard.scales.len();
        let ridge = PartedRidge::new(rows, (n_outputs, total), max_features, monitor)?;
        let errors = |lambdas: &[f64]| ridge.leave_one_out(rows, lambdas, monitor);
        let chosen = select(c, standard, ridge.spectrum(), (kernel, &space), errors)?;
        let (weights, free) = (ridge.weights(chosen.lambda), ridge.along());
        let map = settled.feature_map(feature_map);
        let one = |output: usize| map.coefficients(&[weights.col(output), free.col(output)].concat());
        let (alphas, betas) = (0..n_outputs).map(one).unzip();
        let half_norm = |weights: &Vec<f64>| 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
        Ok(Solved {
            lambda: chosen.lambda / (ridge.spectrum().unit() * standard.typical_weight),
            rank: settled.rank,
            half_norms: columns(&weights).iter().map(half_norm).collect(),
            standard: standard.clone(),
            support: Vec::new(),
            space,
            chosen,
            bases,
            alphas,
            betas,
        })
    }

    /// The free polynomials of a spline, from the sums of chunks of n rows of this number and weight in all.
    pub(super) fn free_polynomials(
        &self,
        n: usize,
        of_present: (usize, f64),
        pool: &Pool,
        first_sums: impl Fn(Range<usize>) -> Result<FirstSums> + Sync + Send,
    ) -> Result<Settled> {
        let mut sums = FirstSums::default();
        pool.fold_chunks(n, ROWS, first_sums, |next| {
            sums = sums.merged(&next);
            Ok::<_, Error>(())
        })?;
        self.settle(&sums, Polynomials::Free, of_present, |_| Ok(false))
    }
}
