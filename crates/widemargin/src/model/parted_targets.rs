//! The targets of a regression whose samples others hold.

use crate::data::{Fingerprint, Targets};
use crate::error::Result;
use crate::macros::getters;
use crate::model::StandardTargets;
use crate::problem::without_bases;
use crate::solve::ridge::RowTargets;

/// The targets and weights of all samples, standardized: with mean 0, where there is an intercept, and a largest
/// magnitude of
/// 1. The holders of the samples get these targets, and the model is converted back to the original unit.
#[derive(Clone, Debug)]
pub struct PartedTargets {
    pub(crate) standard: StandardTargets,
    pub(crate) has_intercept: bool,
    n_outputs: usize,
    /// Samples × outputs, row-major; 0 for samples without weight.
    values: Vec<f64>,
    weights: Vec<f64>,
    /// The part of each weight that leave-one-out removes.
    units: Vec<f64>,
}

impl PartedTargets {
    /// Of all samples, in their order, with one weight for each or none.
    ///
    /// # Errors
    /// [`Error::NoSamples`](crate::Error::NoSamples) if there are none or none has a weight;
    /// [`Error::Weight`](crate::Error::Weight) for a weight that is negative or not finite;
    /// [`Error::Shape`](crate::Error::Shape) for another number of weights;
    /// [`Error::Parameter`](crate::Error::Parameter) for targets too large for double precision.
    pub fn new(targets: &Targets, sample_weight: Option<&[f64]>, has_intercept: bool) -> Result<Self> {
        let weights = targets.weights(targets.len(), sample_weight)?;
        PartedTargets::of(targets, weights.clone(), weights, has_intercept)
    }

    /// The same with weights, and the parts of them that leave-one-out removes.
    pub(crate) fn of(targets: &Targets, weights: Vec<f64>, units: Vec<f64>, has_intercept: bool) -> Result<Self> {
        let present: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        let of_present = |all: &[f64]| present.iter().map(|&row| all[row]).collect::<Vec<f64>>();
        let parts = (&of_present(&weights)[..], &of_present(&units)[..]);
        let standard = StandardTargets::new(&targets.of_rows(&present), parts, has_intercept)?;
        let k = targets.n_outputs();
        let mut values = vec![0.0; targets.len() * k];
        for (at, &row) in present.iter().enumerate() {
            (0..k).for_each(|output| values[row * k + output] = standard.values.at(at, output));
        }
        Ok(PartedTargets { standard, has_intercept, n_outputs: k, values, weights, units })
    }

    /// The same if these of all samples are bases, which leave-one-out does not judge unless the others are too few.
    #[must_use]
    pub fn with_bases(self, bases: &[usize]) -> Self {
        let (weights, standard) = (&self.weights, self.standard);
        let class = |row| u32::from(weights[row] <= 0.0);
        let units = without_bases((weights.clone(), weights), bases, |_| false, class).units;
        PartedTargets { standard: standard.left_out(&self.weights, &units), units, ..self }
    }

    getters! {
        /// Numbers a sample.
        copy n_outputs: usize;
        /// The standardized targets, samples × outputs, row-major; 0 for samples without weight.
        values: &[f64];
        /// The weights.
        weights: &[f64];
        /// The part of each weight that leave-one-out removes: all of it, since equal samples are not merged, and none
        /// of a basis.
        units: &[f64];
    }

    /// The same for the rows of this process.
    pub(crate) fn row_targets(&self) -> RowTargets<'_> {
        RowTargets { values: &self.values, n_outputs: self.n_outputs, weights: &self.weights, units: &self.units }
    }

    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The same of the samples of weight above 0 alone.
    pub fn present(&self) -> PartedTargets {
        let (k, weights) = (self.n_outputs, &self.weights);
        let rows = || (0..weights.len()).filter(|&row| weights[row] > 0.0);
        PartedTargets {
            values: rows().flat_map(|row| self.values[row * k..][..k].iter().copied()).collect(),
            weights: rows().map(|row| weights[row]).collect(),
            units: rows().map(|row| self.units[row]).collect(),
            ..self.clone()
        }
    }

    /// Their identity, with the number of outputs.
    pub(crate) fn fingerprint(&self) -> String {
        let mut values = Fingerprint::default();
        let all = self.values.iter().chain(&self.standard.scales).chain(&self.standard.means);
        all.enumerate().for_each(|(at, value)| values.add(at, value.to_bits()));
        format!("{} outputs, {:032x}", self.n_outputs, values.finish())
    }

    /// Samples of weight above 0.
    pub fn n_present(&self) -> usize {
        self.standard.values.n_rows()
    }
}
