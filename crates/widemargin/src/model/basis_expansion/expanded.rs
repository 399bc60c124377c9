//! The basis expansion alone, as features for any linear method.

use std::fmt;

use super::expand::{TrainingSamples, unweighted};
use super::features_of_all::features_of_all;
use crate::data::{
    About, ClassWeight, DenseMatrix, Distinct, Labels, Source, Vectors, WeightedCodes, effective_weights,
};
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionParams;
use crate::model::clock::Clock;
use crate::monitor::Monitor;
use crate::similarity::Similarity;

/// An expansion fitted without a classifier.
pub struct Expanded<S: Similarity, F = DenseMatrix<f32>> {
    /// The expansion: similarity, bases and normalization.
    pub expansion: BasisExpansion<S>,
    /// The features of the training samples: samples × features.
    pub features: F,
    /// The training rows of the bases; empty for explicit bases.
    pub basis_rows: Vec<usize>,
    /// Warnings; may be empty.
    pub warnings: Vec<String>,
}

impl<S: Similarity> BasisExpansionParams<S> {
    /// Fits the expansion alone, as features for any linear method: the first half of
    /// [`BasisExpansionParams::fit_with`].
    ///
    /// With labels, bases are selected as for a classifier, and class weights apply; without, all samples count as one
    /// class.
    ///
    /// # Errors
    /// As for [`BasisExpansionParams::fit_with`], except that one class is enough.
    pub fn expand(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: Option<&Labels>,
        monitor: &Monitor<'_>,
    ) -> Result<Expanded<S>> {
        let Expanded { expansion, features, basis_rows, warnings } = self.expand_vectors(samples, labels, monitor)?;
        Ok(Expanded { expansion, features: features.into_dense()?, basis_rows, warnings })
    }

    /// The same with features that are sparse where they stay so.
    pub(crate) fn expand_vectors(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: Option<&Labels>,
        monitor: &Monitor<'_>,
    ) -> Result<Expanded<S, Vectors>> {
        self.check()?;
        if !unweighted(&self.expander.similarity).is_empty() {
            let expected = "a number: only a classifier has decision values to learn it from";
            return Err(Error::parameter("weight", "auto", expected));
        }
        let n = samples.n_samples();
        if n == 0 {
            return Err(Error::NoSamples(""));
        }
        labels.map_or(Ok(()), |labels| labels.check_number(n))?;
        let codes = labels.map_or_else(|| vec![0; n], |labels| labels.strata().0);
        let weighed = labels.filter(|_| self.task.class_weight != ClassWeight::Uniform);
        let effective = match weighed {
            Some(labels) => effective_weights(labels, None, &self.task.class_weight)?,
            None => vec![1.0; n],
        };
        let mut clock = Clock::start(monitor);
        let samples = &About::new(samples, &effective)?;
        let weighted = WeightedCodes { codes: &codes, weights: None, effective: &effective };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, self.threads, monitor)?;
        let weights = match weighed {
            Some(labels) => distinct.labeled(labels, &self.task.class_weight)?.1,
            None => distinct.weights.clone(),
        };
        let codes: Vec<u32> = distinct.rows.iter().map(|&row| codes[row]).collect();
        clock.end("merge")?;
        let (threads, distinct, weights, codes) = (self.threads, &distinct, &weights, &codes);
        let all = TrainingSamples { samples, distinct, weights, codes, threads, monitor };
        let made = self.expander.fit(&all, &mut clock)?;
        Ok(Expanded {
            features: features_of_all(made.phi, distinct, &made.expansion, samples, threads, monitor)?,
            expansion: made.expansion,
            basis_rows: made.basis.rows,
            warnings: made.warning.into_iter().collect(),
        })
    }
}

impl<S: Similarity, F> fmt::Debug for Expanded<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expanded")
            .field("expansion", &self.expansion)
            .field("basis_rows", &self.basis_rows)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
