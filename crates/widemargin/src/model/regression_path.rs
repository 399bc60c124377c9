//! C of a regression by leave-one-out: the path of candidates, and the resulting estimates.

use serde::{Deserialize, Serialize};

use crate::data::Targets;
use crate::error::{Error, Result, require};
use crate::linalg::factor::Matrix;
use crate::model::CChoice;
use crate::monitor::Monitor;
use crate::partition::Executor;
use crate::problem::typical_weight;
use crate::solve::ridge::{LeaveOneOut, PartedRidge, RidgeRows};
use crate::solve::selection::{SLACK, select_c};
use crate::solve::{EstimateMethod, ProblemReport, Report, Stage, Status, effective_number, explained_standard_error};

/// The estimates at one C, by leave-one-out or by folds (see [`RegressionPoint::method`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RegressionPoint {
    /// C of ½‖f‖² + C Σ w (y − f)².
    #[serde(rename = "C")]
    pub c: f64,
    /// The root of the weighted mean of the squared leave-one-out error of each output, in the unit of its targets.
    pub loo_rmse: Vec<f64>,
    /// R² of the leave-one-out predictions, averaged over the outputs whose targets are not constant; 1 if all are.
    pub loo_r2: f64,
    /// The standard error of this R², to which the errors and the variances of the targets contribute.
    pub loo_r2_std: f64,
    /// The method of estimation.
    pub method: EstimateMethod,
}

/// Targets with mean 0, where there is an intercept, and a largest magnitude of 1, and how to undo it.
#[derive(Clone, Debug)]
pub(crate) struct StandardTargets {
    /// Samples × outputs.
    pub values: Matrix,
    /// The subtracted means; 0 without an intercept.
    pub means: Vec<f64>,
    /// The divisors; 1 where all values are 0.
    pub scales: Vec<f64>,
    /// The weighted variances of the values; 0 for an output that is constant.
    variances: Vec<f64>,
    /// The weighted means of the values, and of the fourth power of their differences from it.
    moments: Vec<[f64; 2]>,
    /// The number of samples that leave-one-out judges, for which their weights stand.
    n_effective: f64,
    /// Their share of the weight.
    judged_share: f64,
    /// As of [`typical_weight`].
    pub typical_weight: f64,
}

impl StandardTargets {
    /// Of targets with weights, one above 0, and the parts of them that leave-one-out removes.
    ///
    /// # Errors
    /// [`Error::Parameter`] for targets too large for double precision.
    pub fn new(targets: &Targets, (weights, units): (&[f64], &[f64]), has_intercept: bool) -> Result<Self> {
        let (n, k) = (targets.len(), targets.n_outputs());
        let total: f64 = weights.iter().sum();
        let mean = |values: &[f64]| values.iter().zip(weights).map(|(y, weight)| weight / total * y).sum::<f64>();
        let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, y| most.max(y.abs()));
        let (mut values, mut means, mut scales) = (Vec::with_capacity(n * k), vec![], vec![]);
        let (mut variances, mut moments) = (vec![], vec![]);
        for output in 0..k {
            let own = targets.output(output);
            let is_constant = own.iter().all(|y| *y == own[0]);
            let center = match (has_intercept, is_constant) {
                (false, _) => 0.0,
                (true, true) => own[0],
                (true, false) => mean(&own),
            };
            let mut standard: Vec<f64> = own.iter().map(|y| y - center).collect();
            let size = largest(&standard);
            let expected = "targets whose differences are within double precision: rescale them";
            let are_finite = standard.iter().all(|y| y.is_finite());
            require(are_finite, "targets", format!("{:e}", largest(&own)), expected)?;
            let scale = if size > 0.0 { size } else { 1.0 };
            standard.iter_mut().for_each(|y| *y /= scale);
            let about = mean(&standard);
            let squares: Vec<f64> = standard.iter().map(|y| (y - about).powi(2)).collect();
            variances.push(if is_constant { 0.0 } else { mean(&squares) });
            moments.push([about, mean(&squares.iter().map(|square| square * square).collect::<Vec<_>>())]);
            values.extend(standard);
            means.push(center);
            scales.push(scale);
        }
        let (n_effective, judged_share) = (effective_number(weights, units), judged_share(weights, units));
        let values = Matrix::from_columns(values, n, k);
        let typical_weight = typical_weight(units);
        Ok(StandardTargets { values, means, scales, variances, moments, n_effective, judged_share, typical_weight })
    }

    /// The same if leave-one-out removes these parts of the weights.
    pub fn left_out(self, weights: &[f64], units: &[f64]) -> Self {
        let (n_effective, judged_share) = (effective_number(weights, units), judged_share(weights, units));
        StandardTargets { n_effective, judged_share, ..self }
    }

    /// The weighted mean of each output.
    pub fn means_of_values(&self) -> Vec<f64> {
        self.moments.iter().map(|[mean, _]| *mean).collect()
    }

    /// Whether all outputs are constant.
    pub fn are_constant(&self) -> bool {
        self.variances.iter().all(|variance| *variance == 0.0)
    }

    /// Converts weights of d features, `[output][feature]`, and intercepts to the unit of the targets.
    pub fn restore(&self, weights: &mut [f64], intercepts: &mut [f64]) {
        let d = weights.len() / intercepts.len().max(1);
        for (output, intercept) in intercepts.iter_mut().enumerate() {
            let scale = self.scales[output];
            weights[output * d..][..d].iter_mut().for_each(|weight| *weight *= scale);
            *intercept = self.means[output] + scale * *intercept;
        }
    }

    /// R² of mean squared errors of the standardized outputs.
    pub fn r2(&self, squared_errors: &[f64]) -> f64 {
        let varying = self.variances.iter().zip(squared_errors).filter(|(variance, _)| **variance > 0.0);
        let n = varying.clone().count();
        if n == 0 { 1.0 } else { 1.0 - varying.map(|(variance, error)| error / variance).sum::<f64>() / n as f64 }
    }

    pub fn point(&self, estimate: &LeaveOneOut) -> RegressionPoint {
        let rmse = estimate.squared_errors.iter().zip(&self.scales).map(|(error, scale)| error.sqrt() * scale);
        // R² = 1 − e/v varies as e − (e/v) v, by the first derivatives of e and v, where e is of the samples that are judged
        // and v of all; next to that, leave-one-out has a bias of the order of 2 e/n, which is that of the mean of n
        // targets.
        let of_output = |(output, (&error, &[fourth, by_target, by_square])): (usize, (&f64, &[f64; 3]))| {
            let (variance, [about, fourth_of_target]) = (self.variances[output], self.moments[output]);
            let ratio = if variance > 0.0 { error / variance } else { 0.0 };
            let covariance = by_square - 2.0 * about * by_target + about * about * error - error * variance;
            let of_targets = ratio * ratio * (fourth_of_target - variance * variance) - 2.0 * ratio * covariance;
            let spread = (fourth - error * error + self.judged_share * of_targets).max(0.0);
            [0.0, spread + 4.0 * error * error / self.n_effective]
        };
        let moments: Vec<[f64; 2]> =
            estimate.squared_errors.iter().zip(&estimate.products).enumerate().map(of_output).collect();
        RegressionPoint {
            c: estimate.c(),
            loo_rmse: rmse.collect(),
            loo_r2: self.r2(&estimate.squared_errors),
            loo_r2_std: explained_standard_error(&moments, &self.variances, self.n_effective),
            method: EstimateMethod::LeaveOneOut,
        }
    }
}

/// The share of the weight that leave-one-out judges.
fn judged_share(weights: &[f64], units: &[f64]) -> f64 {
    let judged: f64 = weights.iter().zip(units).filter(|(_, unit)| **unit > 0.0).map(|(weight, _)| weight).sum();
    judged / weights.iter().sum::<f64>()
}

/// The report of a solution in closed form, which has no gap: by n samples, with half the squared norm of each output's
/// weights.
pub(crate) fn closed_form_report(half_norms: &[f64], n: usize, stages: Vec<Stage>) -> Report {
    let (status, n_support) = (Status::Converged, u32::try_from(n).unwrap_or(u32::MAX));
    let problem = |&norm: &f64| ProblemReport { status, iterations: 1, primal: norm, dual: norm, n_support };
    Report::of(&half_norms.iter().map(problem).collect::<Vec<_>>(), stages)
}

/// Half the squared norm of the weights of k outputs, the same for each: the mean.
pub(crate) fn half_norms(weights: &[f64], k: usize) -> Vec<f64> {
    let norms: f64 = weights.iter().map(|weight| weight * weight).sum();
    vec![0.5 * norms / k as f64; k]
}

/// λ, and the points of the path: one for a fixed C, none where leave-one-out is undetermined.
pub(crate) struct RegressionSelection {
    pub lambda: f64,
    pub path: Vec<RegressionPoint>,
}

impl RegressionSelection {
    /// C of ½‖f‖² + C Σ w (y − f)².
    pub fn c(&self) -> f64 {
        0.5 / self.lambda
    }

    /// Replaces the estimate at a C of the path.
    pub fn set_estimate(&mut self, estimate: RegressionPoint) {
        self.path.iter_mut().filter(|point| point.c == estimate.c).for_each(|point| *point = estimate.clone());
    }

    /// R² of the leave-one-out predictions at λ; −∞ where leave-one-out is undetermined.
    pub fn r2(&self) -> f64 {
        self.path.iter().find(|point| point.c == self.c()).map_or(f64::NEG_INFINITY, |point| point.loo_r2)
    }

    /// A warning if the targets are constant, or the estimated error is no better than that of their mean.
    pub fn warning(&self, targets: &StandardTargets) -> Option<String> {
        if targets.are_constant() {
            return Some("no better than the mean: all samples have the same target".into());
        }
        let Some(RegressionPoint { loo_r2: r2, .. }) = self.path.iter().find(|point| point.c == self.c()) else {
            return Some(
                "no estimate of the error: at this C a sample is fitted whatever the others are (lower C)".into(),
            );
        };
        (*r2 <= 0.0).then(|| format!("no better than the mean of the targets: the estimated R² is {r2:.3}"))
    }

    /// The fixed C, or the one of the path with the largest leave-one-out R²; the smaller one if they are equal.
    ///
    /// # Errors
    /// [`Error::Parameter`] if C is to be selected and each sample is fitted regardless of the others;
    /// [`Error::Cancelled`].
    pub fn of(
        c: CChoice,
        targets: &StandardTargets,
        (ridge, rows): (&PartedRidge, &mut impl Executor<RidgeRows>),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let lambdas = || ridge.spectrum.lambdas(targets.typical_weight);
        let points = ridge.leave_one_out(rows, &c.value().map_or_else(lambdas, |c| vec![0.5 / c]), monitor)?;
        let finite = points.iter().filter(|point| point.squared_errors.iter().all(|error| error.is_finite()));
        let path: Vec<RegressionPoint> = finite.map(|point| targets.point(point)).collect();
        let best = select_c(path.iter().map(|point| (point.c, Some(1.0 - point.loo_r2))), SLACK);
        match (c.value(), best.map(|at| path[at].c)) {
            (Some(c), _) => Ok(RegressionSelection { lambda: 0.5 / c, path }),
            (None, Some(best)) => Ok(RegressionSelection { lambda: 0.5 / best, path }),
            (None, None) => {
                let expected = format!(
                    "a number above 0, or more samples (n_samples = {}): without one of its samples there is nothing left to \
                     fit, which leave-one-out needs",
                    targets.values.n_rows()
                );
                Err(Error::parameter("C", "auto", expected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::mixed;
    use crate::solve::ridge::Fitted;

    /// Evenly distributed in 0 … 1.
    fn number(at: usize) -> f64 {
        (mixed(at as u64 + 1) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// R² and its standard error, of these targets and leave-one-out decision values.
    fn r2(targets: &[f64], values: &[f64]) -> (f64, f64) {
        let n = targets.len();
        let (ones, column) = (vec![1.0; n], |values: &[f64]| Matrix::from_columns(values.to_vec(), n, 1));
        let standard = StandardTargets::new(&Targets::new(targets.to_vec(), 1).unwrap(), (&ones, &ones), true).unwrap();
        let values: Vec<f64> = values.iter().map(|value| (value - standard.means[0]) / standard.scales[0]).collect();
        let fitted = Fitted::new(&standard.values, ones.clone(), ones.clone());
        let point = standard.point(&fitted.leave_one_out(1.0, &column(&values), &ones));
        (point.loo_r2, point.loo_r2_std)
    }

    #[test]
    fn the_standard_error_of_r2_is_that_of_other_draws_of_the_samples() {
        let n = 400;
        for noise in [0.1, 0.5, 2.0] {
            let signal: Vec<f64> = (0..n).map(|at| number(at) - 0.5).collect();
            let targets: Vec<f64> = (0..n).map(|at| 3.0 + signal[at] + noise * (number(at + n) - 0.5)).collect();
            let values: Vec<f64> = signal.iter().map(|x| 3.0 + x).collect();
            let (_, standard_error) = r2(&targets, &values);
            let drawn: Vec<f64> = (0..1000)
                .map(|draw| {
                    let rows: Vec<usize> =
                        (0..n).map(|at| (number(7 * n + draw * n + at) * n as f64) as usize).collect();
                    let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
                    r2(&of(&targets), &of(&values)).0
                })
                .collect();
            let mean = drawn.iter().sum::<f64>() / 1000.0;
            let spread = (drawn.iter().map(|r2| (r2 - mean).powi(2)).sum::<f64>() / 1000.0).sqrt();
            assert!((standard_error / spread - 1.0).abs() < 0.15, "{noise}: {standard_error} instead of {spread}");
        }
    }
}
