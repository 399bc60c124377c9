//! Regression on features that others hold: of other machines, or read in passes.

use std::sync::OnceLock;

use super::regressor::{BasisExpansionRegressor, of_closed_form};
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::instant::Instant;
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::{CChoice, ChosenRegression, PartedTargets};
use crate::monitor::Monitor;
use crate::partition::Executor;
use crate::problem::RegressionLoss;
use crate::similarity::Similarity;
use crate::solve::Stage;
use crate::solve::ridge::{FeatureSolution, PartedRidge, RidgeRows};

/// What the model of such a fit is told beside its solution.
#[derive(Clone, Debug)]
pub struct RegressorFacts {
    /// How the bases were selected.
    pub basis: String,
    /// Their training rows; empty if the bases were given.
    pub basis_rows: Vec<usize>,
    /// The weight of the losses, given or to be selected.
    pub c: CChoice,
    /// Of the selection of bases.
    pub seed: u64,
    /// Stages before the solution, which appends its own.
    pub stages: Vec<Stage>,
}

impl<S: Similarity> BasisExpansionRegressor<S> {
    /// Trains by the squared loss on the features of an expansion, with the standardised targets of the same rows. The leave-one-out
    /// errors are exact for the features, as on one machine; equal samples are not merged, which makes no difference to them.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong C, or more features than their products can be added up of;
    /// [`Error::NotFinite`](crate::Error::NotFinite); what the rows meet; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn of_parts(
        expansion: BasisExpansion<S>,
        targets: &PartedTargets,
        rows: &mut impl Executor<Of = RidgeRows>,
        facts: RegressorFacts,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let RegressorFacts { basis, basis_rows, c, seed, mut stages } = facts;
        c.check()?;
        let started = Instant::now();
        let (standard, k) = (&targets.standard, targets.n_outputs());
        let ridge = PartedRidge::new(rows, k, targets.total(), monitor)?;
        let lambdas = ChosenRegression::lambdas(c, ridge.spectrum());
        let told = ridge.left_out(rows, &lambdas, monitor)?;
        let chosen = ChosenRegression::best(c, standard, &told)?;
        let FeatureSolution { mut weights, mut intercepts } = ridge.solution(chosen.lambda);
        let norms = weights.iter().map(|weight| weight * weight).sum::<f64>();
        standard.restore(&mut weights, &mut intercepts);
        stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        let mut report = of_closed_form(norms, targets.n_present(), k, stages);
        let (notes, warnings) = expansion.of_definiteness();
        report.notes.extend(notes);
        report.warnings.extend(warnings.into_iter().chain(chosen.warning(standard)));
        Ok(BasisExpansionRegressor {
            expansion,
            basis,
            basis_rows,
            c: chosen.c(),
            path: chosen.path,
            loss: RegressionLoss::Squared,
            epsilons: Vec::new(),
            loss_path: Vec::new(),
            has_intercept: targets.has_intercept,
            weights,
            intercepts,
            report,
            decision: OnceLock::new(),
            origin: Origin::of(TrainingSettings { seed, ..TrainingSettings::default() }),
        })
    }
}
