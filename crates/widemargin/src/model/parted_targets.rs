//! The targets of a regression whose samples others hold.

use crate::data::{Fingerprint, Targets};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::macros::getters;
use crate::model::StandardTargets;
use crate::problem::without_bases;
use crate::solve::residuals::Samples;
use crate::solve::ridge::Fitted;

/// The targets and weights of all samples, standardized: with mean 0, where there is an intercept, and a largest
/// magnitude of
/// 1. The holders of the samples get these targets, and the model is converted back to the original unit.
#[derive(Clone, Debug)]
pub struct PartedTargets {
    pub(crate) standard: StandardTargets,
    pub(crate) has_intercept: bool,
    /// Of all samples; targets are 0 of those without weight.
    pub(crate) fitted: Fitted,
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
        let mut values = Matrix::zeros(targets.n_outputs(), targets.len());
        for (at, &row) in present.iter().enumerate() {
            values.col_mut(row).iter_mut().enumerate().for_each(|(output, y)| *y = standard.values.at(at, output));
        }
        Ok(PartedTargets { standard, has_intercept, fitted: Fitted { targets: values, weights, units } })
    }

    /// The same if these of all samples are bases, which leave-one-out does not judge unless the others are too few.
    #[must_use]
    pub fn with_bases(mut self, bases: &[usize]) -> Self {
        let Fitted { weights, units, .. } = &mut self.fitted;
        let class = |row| u32::from(weights[row] <= 0.0);
        *units = without_bases((weights.clone(), weights), bases, |_| false, class).units;
        PartedTargets { standard: self.standard.left_out(weights, units), ..self }
    }

    /// Numbers a sample.
    pub fn n_outputs(&self) -> usize {
        self.fitted.targets.n_rows()
    }

    /// The standardized targets, samples × outputs, row-major; 0 for samples without weight.
    pub fn values(&self) -> &[f64] {
        self.fitted.targets.values()
    }

    getters! { fitted =>
        /// The weights.
        weights: &[f64];
        /// The part of each weight that leave-one-out removes: all of it, since equal samples are not merged, and none
        /// of a basis.
        units: &[f64];
    }

    /// The same for a fit by a loss that is not squared; these are of the samples of weight above 0 alone.
    pub(crate) fn samples(&self) -> Samples<'_> {
        Samples { fitted: &self.fitted, scales: &self.standard.scales, has_intercept: self.has_intercept }
    }

    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.fitted.total()
    }

    /// The same of the samples of weight above 0 alone.
    pub fn present(&self) -> PartedTargets {
        let Fitted { targets, weights, units } = &self.fitted;
        let rows: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        let of_rows = |all: &[f64]| rows.iter().map(|&row| all[row]).collect();
        let (weights, units) = (of_rows(weights), of_rows(units));
        PartedTargets { fitted: Fitted { targets: targets.select_cols(&rows), weights, units }, ..self.clone() }
    }

    /// Their identity, with the number of outputs.
    pub(crate) fn fingerprint(&self) -> String {
        let mut values = Fingerprint::default();
        let all = self.values().iter().chain(&self.standard.scales).chain(&self.standard.means);
        all.enumerate().for_each(|(at, value)| values.add(at, value.to_bits()));
        format!("{} outputs, {:032x}", self.n_outputs(), values.finish())
    }

    /// Samples of weight above 0.
    pub fn n_present(&self) -> usize {
        self.standard.values.n_rows()
    }
}
