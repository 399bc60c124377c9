//! The smoothing spline on bases, of samples that others hold.

use super::ThinPlateRegressor;
use super::task::{Solved, columns};
use crate::error::Result;
use crate::instant::Instant;
use crate::model::origin::TrainingSettings;
use crate::model::thin_plate::remarks::dependent;
use crate::model::thin_plate::{BasisPlan, SettledPolynomials};
use crate::model::{CChoice, PartedTargets, RegressionSelection};
use crate::monitor::Monitor;
use crate::partition::Executor;
use crate::solve::Stage;
use crate::solve::ridge::{PartedRidge, RidgeRows};

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

impl BasisPlan {
    /// Fits a smoothing spline to features of all partitions with free polynomials (of [`BasisPlan::features`] with the
    /// [`SettledPolynomials`] of [`Polynomials::Free`](crate::solve::thin_plate::Polynomials::Free)), and to their
    /// standardized targets. The leave-one-out errors are exact with the bases as they are.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong C; errors of the rows;
    /// [`Error::Cancelled`](crate::Error::Cancelled) if the monitor cancelled.
    pub fn fit_spline(
        self,
        settled: SettledPolynomials,
        targets: &PartedTargets,
        rows: &mut impl Executor<Of = RidgeRows>,
        metadata: SplineMetadata,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateRegressor> {
        let SettledPolynomials { settled, .. } = settled;
        let BasisPlan { kernel, n_features, bases, space, feature_map, .. } = self;
        metadata.c.check()?;
        let (started, standard) = (Instant::now(), &targets.standard);
        let ridge = PartedRidge::new(rows, targets.n_outputs(), targets.total(), monitor)?;
        let lambdas = RegressionSelection::lambdas(metadata.c, ridge.spectrum());
        let points = ridge.leave_one_out(rows, &lambdas, monitor)?;
        let chosen = RegressionSelection::best(metadata.c, standard, &points)?;
        let (weights, free) = (ridge.weights(chosen.lambda), ridge.along());
        let map = settled.feature_map(feature_map);
        let one = |output: usize| map.coefficients(&[weights.col(output), free.col(output)].concat());
        let (alphas, betas) = (0..targets.n_outputs()).map(one).unzip();
        let mut stages = metadata.stages;
        stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        let dependent = dependent(kernel, space.len(), settled.rank);
        let warnings: Vec<String> =
            space.warnings().into_iter().chain(dependent).chain(chosen.warning(standard)).collect();
        let half_norm = |weights: &Vec<f64>| 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
        let solved = Solved {
            lambda: chosen.lambda / ridge.spectrum().unit(),
            rank: settled.rank,
            half_norms: columns(&weights).iter().map(half_norm).collect(),
            standard: standard.clone(),
            support: Vec::new(),
            space,
            chosen,
            bases,
            alphas,
            betas,
        };
        let training =
            TrainingSettings { seed: metadata.seed, basis: Some(metadata.basis), ..TrainingSettings::default() };
        let mut model = solved.into_model(kernel, n_features, targets.n_present(), training, stages);
        model.support = metadata.support;
        model.report.warnings.extend(warnings);
        Ok(model)
    }
}
