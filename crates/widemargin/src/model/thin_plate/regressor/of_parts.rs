//! The smoothing spline on bases, of samples that others hold.

use super::ThinPlateRegressor;
use super::task::{Solved, columns, degree, select};
use crate::error::Result;
use crate::instant::Instant;
use crate::model::clock::Clock;
use crate::model::on_workers::Preparation;
use crate::model::origin::TrainingSettings;
use crate::model::thin_plate::{BasisPlan, PartLift};
use crate::model::{CChoice, PartedTargets, StandardTargets};
use crate::monitor::Monitor;
use crate::partition::{Executor, Remote, Workers};
use crate::similarity::ConditionalKernel;
use crate::solve::Stage;
use crate::solve::ridge::{PartedRidge, RidgeRows};
use crate::solve::thin_plate::Settled;
use crate::tuning::MAX_PARTED_FEATURES;

impl ThinPlateRegressor {
    /// Trains on bases (row-major) of samples that workers hold, with the standardized targets of all: first sums over
    /// `samples`, then three over their `features`. The leave-one-out errors are exact with the bases as they are.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong C, or a kernel that cannot be used on these bases;
    /// errors of the workers; [`Error::Cancelled`](crate::Error::Cancelled) if the monitor cancelled.
    #[doc(hidden)]
    pub fn fit_on_workers<W: Workers>(
        kernel: ConditionalKernel,
        bases: Vec<f64>,
        (samples, features): (W, impl FnOnce(&BasisPlan, PartLift) -> Result<W>),
        targets: &PartedTargets,
        (c, preparation): (CChoice, Preparation),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        c.check()?;
        let mut clock = Clock::start(monitor);
        let (plan, sums) = BasisPlan::of_workers((kernel, degree(kernel)), bases, samples, monitor)?;
        let settled = plan.free_polynomials(&sums, targets.n_present(), targets.total())?;
        clock.end("polynomials")?;
        let workers = features(&plan, PartLift::of(&settled))?;
        clock.end("features")?;
        let mut model = plan.fit_spline(&settled, targets, &mut Remote::new(workers), (c, preparation), monitor)?;
        let at = model.report.stages.len() - 1;
        model.report.stages.splice(at..at, clock.stages);
        Ok(model)
    }
}

impl BasisPlan {
    /// The same on features that are known.
    pub(super) fn fit_spline(
        &self,
        settled: &Settled,
        targets: &PartedTargets,
        rows: &mut impl Executor<Of = RidgeRows>,
        (c, preparation): (CChoice, Preparation),
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateRegressor> {
        let Preparation { basis, basis_rows, training, mut stages } = preparation;
        let (started, of_all) = (Instant::now(), (&targets.standard, targets.total()));
        let solved = self.solve_spline(settled, of_all, c, (rows, MAX_PARTED_FEATURES), monitor)?;
        stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        let training = TrainingSettings { basis: Some(basis), ..training };
        let mut model = Solved { basis_rows, ..solved }.into_model(targets.n_present(), training, stages);
        model.report.warnings.splice(0..0, self.basis.space.warnings());
        Ok(model)
    }

    /// The spline of the standardized targets, over rows of at most this number of features.
    pub(super) fn solve_spline(
        &self,
        settled: &Settled,
        (standard, total): (&StandardTargets, f64),
        c: CChoice,
        (rows, max_features): (&mut impl Executor<Of = RidgeRows>, usize),
        monitor: &Monitor<'_>,
    ) -> Result<Solved> {
        let n_outputs = standard.scales.len();
        let ridge = PartedRidge::new(rows, (n_outputs, total), max_features, monitor)?;
        let of_kernel = (self.basis.kernel, &self.basis.space);
        let chosen = select(c, standard, of_kernel, (&ridge, rows), monitor)?;
        let (weights, free) = (ridge.weights(chosen.lambda), ridge.along());
        let map = settled.feature_map(self.feature_map.clone());
        let one = |output: usize| map.coefficients(&[weights.col(output), free.col(output)].concat());
        let (alphas, betas) = (0..n_outputs).map(one).unzip();
        let half_norm = |weights: &Vec<f64>| 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
        Ok(Solved {
            lambda: chosen.lambda / (ridge.spectrum.unit() * standard.typical_weight),
            rank: settled.rank(),
            half_norms: columns(&weights).iter().map(half_norm).collect(),
            standard: standard.clone(),
            basis: self.basis.clone(),
            basis_rows: Vec::new(),
            chosen,
            alphas,
            betas,
        })
    }
}
