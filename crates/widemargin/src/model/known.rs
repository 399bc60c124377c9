//! What is known of training samples, labels or targets, and the samples without repetitions.

use std::borrow::Cow;

use super::{CChoice, choose_rows, draw_rows};
use crate::data::{ClassWeight, Distinct, Labels, Targets, WeightedCodes, check_costs, effective_weights};
use crate::error::Result;
use crate::monitor::Monitor;

/// The labels or targets of training samples.
pub(crate) trait Known: Sized {
    /// Of targets 1.
    fn n_classes(&self) -> usize;

    /// Those of some rows.
    fn of_rows(&self, rows: &[usize]) -> Self;

    /// About `n` rows among those with a weight.
    fn pick(&self, weights: &[f64], n: usize, seed: u64) -> Vec<usize>;

    /// A number of each sample, equal where labels or targets are.
    fn codes(&self) -> Cow<'_, [u32]>;

    /// The weight of each of `n` samples in a fit with class weights and at C, which targets ignore, after a check of what
    /// is known of them.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for another number of them; those of weights that cannot be.
    fn weights(&self, n: usize, of: Option<&[f64]>, weighting: (&ClassWeight, CChoice)) -> Result<Vec<f64>>;

    /// Those of distinct samples, found by these codes.
    ///
    /// # Errors
    /// Those of the weights.
    fn merged(&self, distinct: Distinct, codes: &[u32], class_weight: &ClassWeight) -> Result<Merged<Self>>;
}

impl Known for Labels {
    fn n_classes(&self) -> usize {
        self.classes().len()
    }

    fn of_rows(&self, rows: &[usize]) -> Self {
        self.select(rows)
    }

    fn pick(&self, weights: &[f64], n: usize, seed: u64) -> Vec<usize> {
        choose_rows(self, weights, n, seed)
    }

    fn codes(&self) -> Cow<'_, [u32]> {
        Labels::codes(self).into()
    }

    fn weights(&self, n: usize, of: Option<&[f64]>, (class_weight, c): (&ClassWeight, CChoice)) -> Result<Vec<f64>> {
        self.check(n)?;
        let weights = effective_weights(self, of, class_weight)?;
        check_costs(c.or_one(), &weights, self.classes().len())?;
        Ok(weights)
    }

    fn merged(&self, distinct: Distinct, _codes: &[u32], class_weight: &ClassWeight) -> Result<Merged<Self>> {
        let (known, weights) = distinct.labeled(self, class_weight)?;
        let (draws, units) = (distinct.draws(), distinct.removed_weights(&weights));
        Ok(Merged { strata: known.strata().0, distinct, known, weights, draws, units })
    }
}

impl Known for Targets {
    fn n_classes(&self) -> usize {
        1
    }

    fn of_rows(&self, rows: &[usize]) -> Self {
        Targets::of_rows(self, rows)
    }

    fn pick(&self, weights: &[f64], n: usize, seed: u64) -> Vec<usize> {
        draw_rows(weights, n, seed)
    }

    fn codes(&self) -> Cow<'_, [u32]> {
        Targets::codes(self).into()
    }

    fn weights(&self, n: usize, of: Option<&[f64]>, _weighting: (&ClassWeight, CChoice)) -> Result<Vec<f64>> {
        Targets::weights(self, n, of)
    }

    fn merged(&self, distinct: Distinct, codes: &[u32], _class_weight: &ClassWeight) -> Result<Merged<Self>> {
        let (known, weights, n) = (self.of_rows(&distinct.rows), distinct.weights.clone(), distinct.rows.len());
        let draws = if distinct.are_draws(codes) { distinct.draws() } else { vec![false; n] };
        let units = distinct.removed_weights_of_targets(codes);
        Ok(Merged { strata: vec![0; n], distinct, known, weights, draws, units })
    }
}

/// The distinct samples of a training set. Equal samples become one, whose weight leave-one-out removes wholly or in
/// part.
pub(crate) struct Merged<K> {
    pub distinct: Distinct,
    pub known: K,
    /// The weights in the fit.
    pub weights: Vec<f64>,
    /// The part of each weight that leave-one-out removes.
    pub units: Vec<f64>,
    /// Whether each is one of several independent draws of its content.
    pub draws: Vec<bool>,
    /// The class or group of each, by which bases are selected.
    pub strata: Vec<u32>,
}

impl<K: Known> Merged<K> {
    /// Of samples whose fingerprints `read` returns, with the caller's weights and those in the fit.
    ///
    /// # Errors
    /// Those of reading the samples, and of their weights; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn find(
        read: impl Fn(&[usize]) -> Result<Option<Vec<u128>>> + Sync + Send,
        (known, class_weight): (&K, &ClassWeight),
        (weights, effective): (Option<&[f64]>, &[f64]),
        (seed, threads): (u64, usize),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let codes = &*known.codes();
        let distinct = Distinct::find(read, WeightedCodes { codes, weights, effective }, seed, threads, monitor)?;
        known.merged(distinct, codes, class_weight)
    }
}
