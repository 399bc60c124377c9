//! Losses of a regression, as functions of the residual r = y − f(x).

use crate::error::{Error, Result};

/// The loss of ½‖w‖² + C Σ loss(y − f(x)).
///
/// `epsilon` is in the unit of the targets; `None` stands for a value that the fit chooses for each output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RegressionLoss {
    /// r².
    #[default]
    Squared,
    /// r² up to |r| = ε, beyond it the tangent 2ε|r| − ε²: outliers have a bounded influence.
    ///
    /// The automatic ε is 1.35 times the spread of the leave-one-out residuals of a first fit, whose own ε is 1.35
    /// times the spread of the targets. The spread is 1.4826 times the median absolute deviation from the median: the
    /// standard deviation, if the values are normal.
    Huber {
        /// The residual above which the loss is linear; above 0.
        epsilon: Option<f64>,
    },
    /// max(0, |r| − ε)²: residuals within the tube cost nothing.
    ///
    /// The automatic ε is 3σ √(ln n / n) (Cherkassky and Ma, *Practical selection of SVM parameters and noise
    /// estimation for SVM regression*, 2004), with n the sum of the weights and σ the spread, as above, of the
    /// leave-one-out residuals of a first fit with ε = 0.
    SquaredEpsilonInsensitive {
        /// Half of the width of the tube; at least 0.
        epsilon: Option<f64>,
    },
    /// The pinball loss, qr for r > 0 and (q − 1)r below: f is the quantile q of the targets at x.
    Quantile {
        /// q, above 0 and below 1.
        quantile: f64,
    },
}

impl RegressionLoss {
    /// The names of all losses.
    pub const NAMES: [&'static str; 4] = ["squared-error", "huber", "squared-epsilon-insensitive", "quantile"];

    /// The loss of a name, with the parameters that belong to it; the default quantile is 0.5.
    ///
    /// # Errors
    /// [`Error::UnknownName`]; [`Error::Parameter`] for a parameter that does not belong to the loss or is out of
    /// range.
    pub fn new(name: &str, epsilon: Option<f64>, quantile: Option<f64>) -> Result<Self> {
        let loss = match name {
            "squared-error" => RegressionLoss::Squared,
            "huber" => RegressionLoss::Huber { epsilon },
            "squared-epsilon-insensitive" => RegressionLoss::SquaredEpsilonInsensitive { epsilon },
            "quantile" => RegressionLoss::Quantile { quantile: quantile.unwrap_or(0.5) },
            _ => return Err(Error::unknown("loss", name, Self::NAMES.into_iter())),
        };
        let only = |owners: &str| format!("leave it out with the loss {name}: it belongs to {owners}");
        if let (Some(epsilon), RegressionLoss::Squared | RegressionLoss::Quantile { .. }) = (epsilon, loss) {
            return Err(Error::parameter("epsilon", epsilon, only("huber and squared-epsilon-insensitive")));
        }
        match quantile {
            Some(quantile) if name != "quantile" => Err(Error::parameter("quantile", quantile, only("quantile"))),
            _ => loss.check().map(|()| loss),
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            RegressionLoss::Squared => "squared-error",
            RegressionLoss::Huber { .. } => "huber",
            RegressionLoss::SquaredEpsilonInsensitive { .. } => "squared-epsilon-insensitive",
            RegressionLoss::Quantile { .. } => "quantile",
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] for one that is out of range.
    pub fn check(self) -> Result<()> {
        match self {
            RegressionLoss::Huber { epsilon: Some(epsilon) } if !(epsilon > 0.0 && epsilon.is_finite()) => {
                let expected = "auto, or a finite number above 0 in the unit of the targets: the residual above which huber is linear";
                Err(Error::parameter("epsilon", epsilon, expected))
            }
            RegressionLoss::SquaredEpsilonInsensitive { epsilon: Some(epsilon) }
                if !(epsilon >= 0.0 && epsilon.is_finite()) =>
            {
                let expected =
                    "auto, or a finite number of at least 0 in the unit of the targets: half of the width of the tube";
                Err(Error::parameter("epsilon", epsilon, expected))
            }
            RegressionLoss::Quantile { quantile } if !(quantile > 0.0 && quantile < 1.0) => {
                let expected = "a number above 0 and below 1, such as 0.5 for the median";
                Err(Error::parameter("quantile", quantile, expected))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parameters_make_a_loss() {
        for name in RegressionLoss::NAMES {
            assert_eq!(RegressionLoss::new(name, None, None).unwrap().name(), name);
        }
        assert_eq!(
            RegressionLoss::new("huber", Some(2.0), None).unwrap(),
            RegressionLoss::Huber { epsilon: Some(2.0) }
        );
        assert_eq!(RegressionLoss::new("quantile", None, None).unwrap(), RegressionLoss::Quantile { quantile: 0.5 });
        assert!(RegressionLoss::new("squared-epsilon-insensitive", Some(0.0), None).is_ok());
    }

    #[test]
    fn rejects_what_does_not_belong_to_the_loss_or_is_out_of_range() {
        let refused = |name, epsilon, quantile| RegressionLoss::new(name, epsilon, quantile).unwrap_err().to_string();
        assert!(refused("pinball", None, None).contains("squared-epsilon-insensitive"));
        assert!(refused("squared-error", Some(1.0), None).contains("huber"));
        assert!(refused("quantile", Some(1.0), None).contains("epsilon"));
        assert!(refused("huber", None, Some(0.5)).contains("belongs to quantile"));
        for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused("huber", Some(epsilon), None).contains("above 0"));
        }
        assert!(refused("squared-epsilon-insensitive", Some(-0.1), None).contains("at least 0"));
        for quantile in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(refused("quantile", None, Some(quantile)).contains("below 1"));
        }
    }
}
