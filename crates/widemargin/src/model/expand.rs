//! The first half of a basis expansion SVM, which also stands alone: bases are chosen, and samples become features.

use std::fmt;

use super::BasisExpansionParams;
use super::clock::Clock;
use crate::basis::{self, Bases, BasisChoice};
use crate::data::{ClassWeight, DenseMatrix, Labels, Samples, Source, Training, effective_weights};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Normalization};
use crate::similarity::Similarity;
use crate::watch::Watch;

/// What an expansion is made by.
#[derive(Clone)]
pub(super) struct Expander<S: Similarity> {
    pub similarity: S,
    pub n_basis: usize,
    pub basis: BasisChoice,
    pub given: Option<S::Samples>,
    pub normalization: Normalization,
    pub seed: u64,
}

/// What became of it.
pub(super) struct Expansion<S: Similarity> {
    pub expansion: BasisExpansion<S>,
    /// The features of the training samples.
    pub phi: DenseMatrix<f32>,
    /// No rows where the bases were given.
    pub chosen: Bases,
    /// How the bases were chosen.
    pub basis: String,
}

impl<S: Similarity> Expander<S> {
    /// Learns from samples whose classes are `codes`, each below `n_classes`; only the choice of bases sees these.
    pub fn fit(
        mut self,
        training: &Training<'_, S::Samples>,
        codes: &[u32],
        n_classes: usize,
        clock: &mut Clock<'_>,
    ) -> Result<Expansion<S>> {
        self.similarity.fit(training)?;
        clock.end("descriptor")?;

        let (bases, chosen) = self.choose_bases(training, codes, n_classes)?;
        clock.end("bases")?;

        let (expansion, phi) = BasisExpansion::fit(self.similarity, bases, self.normalization, training)
            .map_err(|error| error.of_bases(&chosen.rows))?;
        clock.end("similarity")?;

        let basis = if chosen.rows.is_empty() { "given".into() } else { self.basis.to_string() };
        Ok(Expansion { expansion, phi, chosen, basis })
    }

    fn choose_bases(
        &mut self,
        training: &Training<'_, S::Samples>,
        codes: &[u32],
        n_classes: usize,
    ) -> Result<(S::Samples, Bases)> {
        if let Some(given) = self.given.take() {
            if given.is_empty() {
                let expected = "at least one sample".into();
                return Err(Error::Parameter { name: "bases", value: "none".into(), expected });
            }
            return Ok((given, Bases { rows: Vec::new(), warning: None }));
        }
        let choice = if self.similarity.brings_columns() {
            // Any sample tells how many columns there are.
            BasisChoice::Given(vec![training.weights.iter().position(|weight| *weight > 0.0).unwrap_or(0)])
        } else {
            self.basis.clone()
        };
        let chosen = basis::choose(&choice, self.n_basis, codes, n_classes, self.seed, &self.similarity, training)?;
        Ok((training.samples.select(&chosen.rows)?, chosen))
    }
}

/// An expansion that was learned without a classifier.
pub struct Expanded<S: Similarity> {
    /// The expansion: similarity, bases and normalization.
    pub expansion: BasisExpansion<S>,
    /// The features of the samples it was learned from: samples × features.
    pub features: DenseMatrix<f32>,
    /// Which samples the bases were; empty where they were given.
    pub basis_rows: Vec<usize>,
    /// What the user should know of it.
    pub warnings: Vec<String>,
}

impl<S: Similarity> BasisExpansionParams<S> {
    /// Learns the expansion alone, as features for any linear method: the first half of
    /// [`BasisExpansionParams::fit_with`].
    ///
    /// With labels, bases are chosen as they are for a classifier; without, all samples count as one class. Class
    /// weights are those of the labels.
    ///
    /// # Errors
    /// As for [`BasisExpansionParams::fit_with`], but that one class is enough.
    pub fn expand(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: Option<&Labels>,
        watch: &Watch<'_>,
    ) -> Result<Expanded<S>> {
        self.check()?;
        let n = samples.n_samples();
        if n == 0 {
            return Err(Error::NoSamples(""));
        }
        labels.map_or(Ok(()), |labels| labels.check_number(n))?;
        let weights = match labels {
            Some(labels) if self.class_weight != ClassWeight::Uniform => {
                effective_weights(labels, None, &self.class_weight)?
            }
            _ => vec![1.0; n],
        };
        let (codes, n_classes) = match labels {
            Some(labels) => (labels.codes().to_vec(), labels.classes().len()),
            None => (vec![0; n], 1),
        };
        let training = Training { samples, weights: &weights, threads: self.threads, watch };
        let made = self.expander.fit(&training, &codes, n_classes, &mut Clock::start(watch))?;
        Ok(Expanded {
            expansion: made.expansion,
            features: made.phi,
            basis_rows: made.chosen.rows,
            warnings: made.chosen.warning.into_iter().collect(),
        })
    }
}

impl<S: Similarity> fmt::Debug for Expanded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expanded")
            .field("expansion", &self.expansion)
            .field("basis_rows", &self.basis_rows)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
