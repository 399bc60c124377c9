//! The fit of a spline on bases of samples that workers hold.
//!
//! In order: bases selected from a sample (`choose_bases`); the column moments of all samples; a [`BasisPlan`] with both,
//! and its first sums; the treatment of the polynomials; the features of all samples ([`PartLift`]); the solver over the
//! sums of their rows, and the model.

use super::basis_plan::{BasisPlan, ColumnSumsOf, FirstSumsOf, PartLift};
use super::params::SplineParams;
use super::spline_basis::SplineBasis;
use super::spline_model::SplineModel;
use super::task::{Finish, OnWorkers, Solution, SplineFit};
use crate::error::Result;
use crate::model::clock::Clock;
use crate::model::on_workers::Preparation;
use crate::model::origin::TrainingSettings;
use crate::monitor::Monitor;
use crate::partition::{Executor, Remote, Workers};

impl<T: SplineFit> SplineParams<T> {
    /// Trains on bases (row-major) of samples that workers hold, with what is known of them, without merging equal ones:
    /// first sums over `samples`, then the solver over their `features`. The kernel is that of the parameters, and columns
    /// are not scaled. The leave-one-out errors of a regression are exact with the bases as they are.
    ///
    /// # Errors
    /// Errors of the workers; [`Error::Parameter`](crate::Error::Parameter) for a wrong parameter, or where the kernel or its polynomials cannot
    /// be used on these bases; [`Error::Cancelled`](crate::Error::Cancelled).
    #[doc(hidden)]
    pub fn fit_on_workers<W: Workers>(
        &self,
        bases: Vec<f64>,
        (samples, mut features): (W, impl FnMut(&BasisPlan, PartLift) -> Result<W>),
        known: &T::Weighted<'_>,
        preparation: Preparation,
        monitor: &Monitor<'_>,
    ) -> Result<SplineModel<T::Task>> {
        self.check()?;
        let Preparation { basis: choice, basis_rows, training, mut stages } = preparation;
        let clock = &mut Clock::start(monitor);
        let mut samples = Remote::new(samples);
        let space = samples.reduce(&ColumnSumsOf {}, monitor)?.space(self.degree())?;
        let plan = BasisPlan::new(SplineBasis { kernel: self.kernel, bases, space })?;
        let sums = samples.reduce(&FirstSumsOf { plan: plan.to_bytes()? }, monitor)?;
        let features = &mut |lift| features(&plan, lift);
        let on = OnWorkers { params: self, plan: &plan, sums, known, features };
        let (coefficients, found) = T::solve_on_workers(on, clock)?;
        clock.end_solved("solve")?;
        stages.append(&mut clock.stages);
        let training = TrainingSettings { basis: Some(choice), ..training };
        let warnings = plan.basis.space.warnings();
        let solution = Solution { basis: plan.basis, basis_rows, coefficients, found, warnings };
        T::model_of_parts(solution, known, Finish { params: self, scale: None, training, stages })
    }
}
