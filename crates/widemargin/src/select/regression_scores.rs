//! Scores of regression models, as defined by scikit-learn.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::problem::Loss;

/// A score of a regression model; higher is better.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RegressionScoring {
    /// 1 − Σ w (y − f)² / Σ w (y − ȳ)²: 1 is the best value, and 0 the value of the mean. For constant targets, 1 if
    /// predictions are exact, otherwise 0.
    #[default]
    R2,
    /// The negative mean of |y − f|.
    NegMeanAbsoluteError,
    /// The negative root of the mean of (y − f)².
    NegRootMeanSquaredError,
    /// The negative mean of the pinball loss: q (y − f) if the target is above the prediction, (1 − q) (f − y) if it is
    /// below.
    NegMeanPinballLoss {
        /// q, above 0 and below 1: which quantile is predicted.
        quantile: f64,
    },
}

/// The name of the score of quantiles, and the suffix where the quantile is not ½.
const PINBALL: &str = "neg-mean-pinball-loss";
const QUANTILE: &str = ":quantile=";

impl fmt::Display for RegressionScoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegressionScoring::R2 => f.write_str("r2"),
            RegressionScoring::NegMeanAbsoluteError => f.write_str("neg-mean-absolute-error"),
            RegressionScoring::NegRootMeanSquaredError => f.write_str("neg-root-mean-squared-error"),
            RegressionScoring::NegMeanPinballLoss { quantile: 0.5 } => f.write_str(PINBALL),
            RegressionScoring::NegMeanPinballLoss { quantile } => write!(f, "{PINBALL}{QUANTILE}{quantile}"),
        }
    }
}

impl FromStr for RegressionScoring {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(quantile) = text.strip_prefix(PINBALL).and_then(|rest| rest.strip_prefix(QUANTILE)) {
            let quantile = quantile.parse().ok().filter(|q| (0.0..1.0).contains(q) && *q > 0.0).ok_or_else(|| {
                let expected = "a number above 0 and below 1, as in neg-mean-pinball-loss:quantile=0.9";
                Error::parameter("scoring", text, expected)
            })?;
            return Ok(RegressionScoring::NegMeanPinballLoss { quantile });
        }
        let known = RegressionScoring::ALL.into_iter().find(|known| known.to_string() == text);
        let names = RegressionScoring::ALL.map(|known| known.to_string());
        known.ok_or_else(|| Error::unknown("scoring", text, names.iter().map(String::as_str)))
    }
}

impl RegressionScoring {
    /// All scores, with the quantile ½.
    pub const ALL: [RegressionScoring; 4] = [
        RegressionScoring::R2,
        RegressionScoring::NegMeanAbsoluteError,
        RegressionScoring::NegRootMeanSquaredError,
        RegressionScoring::NegMeanPinballLoss { quantile: 0.5 },
    ];

    /// The default score of a loss: the pinball loss for quantiles, R² for others.
    #[doc(hidden)]
    pub fn of_loss(loss: Loss) -> Self {
        match loss {
            Loss::Quantile { quantile } => RegressionScoring::NegMeanPinballLoss { quantile },
            _ => RegressionScoring::R2,
        }
    }

    /// The score of `predicted` for these targets, one per sample.
    ///
    /// # Errors
    /// [`Error::Shape`] for arrays of other lengths; [`Error::Score`] without samples or weight, for values that are
    /// not finite, and for an R² of fewer than two samples.
    pub fn score(self, targets: &[f64], predicted: &[f64], weights: Option<&[f64]>) -> Result<f64> {
        let n = targets.len();
        if predicted.len() != n || weights.is_some_and(|weights| weights.len() != n) {
            let found = format!("{} predictions", predicted.len());
            return Err(Error::shape("scores", found, format!("one for each of {n} targets and weights")));
        }
        let undefined = |problem: &str| Err(Error::Score { scoring: self.to_string(), problem: problem.to_owned() });
        if targets.iter().chain(predicted).any(|value| !value.is_finite()) {
            return undefined("a target or a prediction is not finite");
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let total: f64 = (0..n).map(weight).sum();
        if total <= 0.0 {
            return undefined("there are no samples, or none with a weight");
        }
        let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(|row| weight(row) * of(row)).sum::<f64>() / total;
        let error = |row: usize| targets[row] - predicted[row];
        Ok(match self {
            RegressionScoring::NegMeanAbsoluteError => -mean(&|row| error(row).abs()),
            RegressionScoring::NegRootMeanSquaredError => -mean(&|row| error(row).powi(2)).sqrt(),
            RegressionScoring::NegMeanPinballLoss { quantile } => {
                -mean(&|row| (quantile * error(row)).max((quantile - 1.0) * error(row)))
            }
            RegressionScoring::R2 if n < 2 => return undefined("it takes two samples at least"),
            RegressionScoring::R2 => {
                let center = mean(&|row| targets[row]);
                let (left, spread) = (mean(&|row| error(row).powi(2)), mean(&|row| (targets[row] - center).powi(2)));
                match (left == 0.0, spread == 0.0) {
                    (true, _) => 1.0,
                    (false, true) => 0.0,
                    (false, false) => 1.0 - left / spread,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_scikit_learn() {
        // `r2_score`, `mean_absolute_error`, `root_mean_squared_error` and `mean_pinball_loss` of scikit-learn 1.9.1.
        let (y, f) = ([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]);
        let found = RegressionScoring::ALL.map(|scoring| scoring.score(&y, &f, None).unwrap());
        for (found, expected) in found.iter().zip([0.9486081370449679, -0.5, -0.6123724356957945, -0.25]) {
            assert!((found - expected).abs() < 1e-14, "{found}");
        }
        let scoring: RegressionScoring = "neg-mean-pinball-loss:quantile=0.9".parse().unwrap();
        assert!((scoring.score(&y, &f, None).unwrap() + 0.15).abs() < 1e-14);
        assert!((scoring.score(&y, &f, Some(&[1.0, 2.0, 0.0, 0.5])).unwrap() + 0.6 / 3.5).abs() < 1e-14);
        assert_eq!(scoring, RegressionScoring::of_loss(Loss::Quantile { quantile: 0.9 }));
        assert_eq!(RegressionScoring::R2.score(&[1.0, 1.0], &[1.0, 1.0], None).unwrap(), 1.0);
        assert_eq!(RegressionScoring::R2.score(&[1.0, 1.0], &[1.0, 2.0], None).unwrap(), 0.0);
    }

    #[test]
    fn rejects_undefined_scores() {
        let refused = |y: &[f64], f: &[f64]| RegressionScoring::R2.score(y, f, None).unwrap_err().to_string();
        assert!(refused(&[1.0], &[1.0]).contains("two samples"));
        assert!(refused(&[1.0, f64::INFINITY], &[1.0, 1.0]).contains("not finite"));
        assert!(refused(&[1.0, 2.0], &[1.0]).contains("1 predictions"));
        assert!(refused(&[], &[]).contains("no samples"));
        for scoring in RegressionScoring::ALL {
            assert_eq!(scoring.to_string().parse::<RegressionScoring>().unwrap(), scoring);
        }
        for wrong in ["1", "0", "-0.1", "nan", "", "x"] {
            let error = format!("neg-mean-pinball-loss:quantile={wrong}").parse::<RegressionScoring>().unwrap_err();
            assert!(error.to_string().contains("above 0 and below 1"), "{error}");
        }
        let error = "mae".parse::<RegressionScoring>().unwrap_err().to_string();
        assert!(error.contains("neg-mean-pinball-loss"), "{error}");
    }
}
