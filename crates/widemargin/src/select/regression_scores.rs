//! Scores of regression models, as defined by scikit-learn.

use super::Scoring;
use super::scores::{NO_SAMPLES, check_shape};
use crate::error::Result;
use crate::problem::Loss;

impl Scoring {
    /// The default score of a loss: the pinball loss for quantiles, R² for others.
    #[doc(hidden)]
    pub fn of_loss(loss: Loss) -> Self {
        match loss {
            Loss::Quantile { quantile } => Scoring::NegMeanPinballLoss { quantile },
            _ => Scoring::R2,
        }
    }

    /// The score of `predicted` for these targets, one per sample.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for arrays of other lengths; [`Error::Score`](crate::Error::Score) without
    /// samples or weight, for values that are not finite, for an R² of fewer than two samples, and for a score of classes.
    pub fn score_numbers(self, targets: &[f64], predicted: &[f64], weights: Option<&[f64]>) -> Result<f64> {
        let n = targets.len();
        check_shape((predicted.len(), "predictions"), 1, (n, "targets"), weights)?;
        if targets.iter().chain(predicted).any(|value| !value.is_finite()) {
            return Err(self.undefined("a target or a prediction is not finite"));
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let total: f64 = (0..n).map(weight).sum();
        if total <= 0.0 {
            return Err(self.undefined(NO_SAMPLES));
        }
        let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(|row| weight(row) * of(row)).sum::<f64>() / total;
        let error = |row: usize| targets[row] - predicted[row];
        Ok(match self {
            Scoring::NegMeanAbsoluteError => -mean(&|row| error(row).abs()),
            Scoring::NegRootMeanSquaredError => -mean(&|row| error(row).powi(2)).sqrt(),
            Scoring::NegMeanPinballLoss { quantile } => {
                -mean(&|row| (quantile * error(row)).max((quantile - 1.0) * error(row)))
            }
            Scoring::R2 if n < 2 => return Err(self.undefined("it takes two samples at least")),
            Scoring::R2 => {
                let center = mean(&|row| targets[row]);
                let (left, spread) = (mean(&|row| error(row).powi(2)), mean(&|row| (targets[row] - center).powi(2)));
                match (left == 0.0, spread == 0.0) {
                    (true, _) => 1.0,
                    (false, true) => 0.0,
                    (false, false) => 1.0 - left / spread,
                }
            }
            _ => return Err(self.undefined("it judges classes, not numbers")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_numbers() -> impl Iterator<Item = Scoring> {
        Scoring::all().filter(|scoring| scoring.is_of_numbers())
    }

    #[test]
    fn values_of_scikit_learn() {
        // `r2_score`, `mean_absolute_error`, `root_mean_squared_error` and `mean_pinball_loss` of scikit-learn 1.9.1.
        let (y, f) = ([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0]);
        let found = of_numbers().map(|scoring| scoring.score_numbers(&y, &f, None).unwrap());
        for (found, expected) in found.zip([0.9486081370449679, -0.5, -0.6123724356957945, -0.25]) {
            assert!((found - expected).abs() < 1e-14, "{found}");
        }
        let scoring: Scoring = "neg-mean-pinball-loss:quantile=0.9".parse().unwrap();
        assert!((scoring.score_numbers(&y, &f, None).unwrap() + 0.15).abs() < 1e-14);
        assert!((scoring.score_numbers(&y, &f, Some(&[1.0, 2.0, 0.0, 0.5])).unwrap() + 0.6 / 3.5).abs() < 1e-14);
        assert_eq!(scoring, Scoring::of_loss(Loss::Quantile { quantile: 0.9 }));
        assert_eq!(Scoring::R2.score_numbers(&[1.0, 1.0], &[1.0, 1.0], None).unwrap(), 1.0);
        assert_eq!(Scoring::R2.score_numbers(&[1.0, 1.0], &[1.0, 2.0], None).unwrap(), 0.0);
    }

    #[test]
    fn rejects_undefined_scores() {
        let refused = |y: &[f64], f: &[f64]| Scoring::R2.score_numbers(y, f, None).unwrap_err().to_string();
        assert!(refused(&[1.0], &[1.0]).contains("two samples"));
        assert!(refused(&[1.0, f64::INFINITY], &[1.0, 1.0]).contains("not finite"));
        assert!(refused(&[1.0, 2.0], &[1.0]).contains("1 predictions"));
        assert!(refused(&[], &[]).contains("no samples"));
        for scoring in of_numbers() {
            assert_eq!(scoring.to_string().parse::<Scoring>().unwrap(), scoring);
        }
        for wrong in ["1", "0", "-0.1", "nan", "", "x"] {
            let error = format!("neg-mean-pinball-loss:quantile={wrong}").parse::<Scoring>().unwrap_err();
            assert!(error.to_string().contains("above 0 and below 1"), "{error}");
        }
        let error = "mae".parse::<Scoring>().unwrap_err().to_string();
        assert!(error.contains("neg-mean-pinball-loss"), "{error}");
    }
}
