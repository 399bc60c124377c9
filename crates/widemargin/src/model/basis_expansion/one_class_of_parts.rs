//! Outlier detection on features that are on other machines.

use super::expansion_model::Basis;
use super::one_class::{
    BasisExpansionOneClass, OneClassTask, check_normalization, check_number, check_numbers, loo_scores, one_copy,
    penalty,
};
use super::threshold::threshold;
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::instant::Instant;
use crate::model::PartedTargets;
use crate::model::on_workers::Preparation;
use crate::monitor::Monitor;
use crate::partition::{Remote, Workers};
use crate::similarity::Similarity;
use crate::solve::Stage;
use crate::solve::ridge::{FeatureSolution, PartedRidge, RidgeRows};
use crate::tuning::MAX_PARTED_FEATURES;

impl<S: Similarity> BasisExpansionOneClass<S> {
    /// Trains on the features of an expansion; `targets` has the number 1 and the weight of each of the same rows,
    /// without an intercept. The leave-one-out score of every row is collected here. Equal samples are not merged: of
    /// copies of a basis only the row that is the basis does not count for the threshold.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong contamination or shrinkage, a single sample, or too many
    /// features for the sums of their products; [`Error::NotFinite`](crate::Error::NotFinite); an error of the rows;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn of_workers(
        expansion: BasisExpansion<S>,
        targets: &PartedTargets,
        workers: impl Workers,
        (contamination, shrinkage): (f64, f64),
        preparation: Preparation,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let Preparation { basis: choice, basis_rows: rows, training, mut stages } = preparation;
        check_numbers(contamination, shrinkage)?;
        check_normalization(expansion.normalization())?;
        check_number(targets.n_present(), targets.total())?;
        let started = Instant::now();
        let features = &mut Remote::<RidgeRows, _>::new(workers);
        let ridge = PartedRidge::new(features, (1, targets.total()), MAX_PARTED_FEATURES, monitor)?;
        let lambda = penalty(ridge.spectrum(), expansion.n_features(), shrinkage);
        let FeatureSolution { weights, .. } = ridge.solution(lambda);
        let loo_values = loo_scores(ridge.loo_values(features, lambda, monitor)?);
        let (mut others, copies) = (targets.weights().to_vec(), one_copy(targets.weights()));
        rows.iter().filter(|row| **row < loo_values.len()).for_each(|&row| others[row] -= copies[row]);
        let threshold = threshold(&loo_values, (targets.weights(), &copies), &others, contamination);
        stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        let task = OneClassTask { contamination, shrinkage, threshold, weights, loo_scores: loo_values };
        let basis = (Basis { choice, rows }, training);
        Ok(BasisExpansionOneClass::of(expansion, task, basis, (targets.n_present(), stages)))
    }
}
