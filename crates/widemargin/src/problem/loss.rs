//! The losses for classification and regression: values, derivatives, conjugates.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The loss of ½‖w‖² + C Σ loss(y, f(x)).
///
/// For classes, y is 1 or −1, and m = y·f is the margin; for targets, r = y − f is the residual. `epsilon` is in the
/// unit of the targets; `None` means that the fit selects a value for each output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Loss {
    /// max(0, 1 − m), which is not smooth: solved by coordinate descent on the dual.
    Hinge,
    /// max(0, 1 − m)².
    #[default]
    SquaredHinge,
    /// ln(1 + e^−m).
    Logistic,
    /// r². For classes it is (1 − m)², the loss of a least squares support vector machine (Suykens & Vandewalle 1999):
    /// samples beyond the margin also have a cost, so that all problems share one matrix.
    SquaredError,
    /// r² up to |r| = ε, and the tangent 2ε|r| − ε² beyond: outliers have a bounded influence.
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
    /// The pinball loss, qr for r > 0, otherwise (q − 1)r: f estimates the q-quantile of the targets at x.
    Quantile {
        /// q, above 0 and below 1.
        quantile: f64,
    },
}

/// A loss at one decision value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossAt {
    /// The loss itself.
    pub value: f64,
    /// Minus its derivative by f; times the cost, this is the dual variable.
    pub dual: f64,
    /// Its second derivative (from the left at a discontinuity).
    pub curvature: f64,
}

impl Loss {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Hinge => "hinge",
            Loss::SquaredHinge => "squared-hinge",
            Loss::Logistic => "logistic",
            Loss::SquaredError => "squared-error",
            Loss::Huber { .. } => "huber",
            Loss::SquaredEpsilonInsensitive { .. } => "squared-epsilon-insensitive",
            Loss::Quantile { .. } => "quantile",
        }
    }

    /// ε, where the loss has one that is known.
    pub(crate) fn epsilon(self) -> Option<f64> {
        match self {
            Loss::Huber { epsilon } | Loss::SquaredEpsilonInsensitive { epsilon } => epsilon,
            _ => None,
        }
    }

    /// The same loss with this ε, where it has one.
    pub(crate) fn with_epsilon(self, value: f64) -> Self {
        match self {
            Loss::Huber { .. } => Loss::Huber { epsilon: Some(value) },
            Loss::SquaredEpsilonInsensitive { .. } => Loss::SquaredEpsilonInsensitive { epsilon: Some(value) },
            loss => loss,
        }
    }

    /// q, where the loss has one.
    pub(crate) fn quantile(self) -> Option<f64> {
        if let Loss::Quantile { quantile } = self { Some(quantile) } else { None }
    }

    /// Whether it has a continuous derivative, as Newton's method in the primal needs.
    pub(crate) fn is_smooth(self) -> bool {
        !matches!(self, Loss::Hinge | Loss::Quantile { .. })
    }

    /// Checks that it is one of these losses of classes.
    ///
    /// # Errors
    /// [`Error::Parameter`] that names them.
    pub(crate) fn check_among(self, known: &[Loss]) -> Result<()> {
        if known.contains(&self) {
            return Ok(());
        }
        let names: Vec<&str> = known.iter().map(|loss| loss.name()).collect();
        Err(Error::parameter("loss", self.name(), format!("{} here", names.join(", "))))
    }

    /// Checks that it is a loss of classes.
    ///
    /// # Errors
    /// As for [`Loss::check_among`].
    pub(crate) fn check_of_classes(self) -> Result<()> {
        self.check_among(&Self::OF_CLASSES.map(|(_, loss)| loss))
    }

    /// Checks that it is a loss of targets, and its parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a loss of classes, or a parameter that is out of range.
    pub(crate) fn check_of_targets(self) -> Result<()> {
        match self {
            Loss::Hinge | Loss::SquaredHinge | Loss::Logistic => {
                let expected = format!("a loss of regression: {}", Self::OF_TARGETS.join(", "));
                Err(Error::parameter("loss", self.name(), expected))
            }
            Loss::Huber { epsilon: Some(epsilon) } if !(epsilon > 0.0 && epsilon.is_finite()) => {
                let expected = "auto, or a finite number above 0 in the unit of the targets: the residual above which huber is linear";
                Err(Error::parameter("epsilon", epsilon, expected))
            }
            Loss::SquaredEpsilonInsensitive { epsilon: Some(epsilon) } if !(epsilon >= 0.0 && epsilon.is_finite()) => {
                let expected =
                    "auto, or a finite number of at least 0 in the unit of the targets: half of the width of the tube";
                Err(Error::parameter("epsilon", epsilon, expected))
            }
            Loss::Quantile { quantile } if !(quantile > 0.0 && quantile < 1.0) => {
                let expected = "a number above 0 and below 1, such as 0.5 for the median";
                Err(Error::parameter("quantile", quantile, expected))
            }
            _ => Ok(()),
        }
    }
}

#[doc(hidden)]
impl Loss {
    /// The losses of classes, by name.
    pub const OF_CLASSES: [(&'static str, Loss); 4] = [
        ("hinge", Loss::Hinge),
        ("squared-hinge", Loss::SquaredHinge),
        ("squared-error", Loss::SquaredError),
        ("logistic", Loss::Logistic),
    ];

    /// The names of the losses of targets.
    pub const OF_TARGETS: [&'static str; 4] = ["squared-error", "huber", "squared-epsilon-insensitive", "quantile"];

    /// The loss of targets of a name, with the parameters that belong to it; the default quantile is 0.5.
    ///
    /// # Errors
    /// [`Error::UnknownName`]; [`Error::Parameter`] for a parameter that does not belong to the loss or is out of
    /// range.
    pub fn of_targets(name: &str, epsilon: Option<f64>, quantile: Option<f64>) -> Result<Self> {
        let loss = match name {
            "squared-error" => Loss::SquaredError,
            "huber" => Loss::Huber { epsilon },
            "squared-epsilon-insensitive" => Loss::SquaredEpsilonInsensitive { epsilon },
            "quantile" => Loss::Quantile { quantile: quantile.unwrap_or(0.5) },
            _ => return Err(Error::unknown("loss", name, Self::OF_TARGETS.into_iter())),
        };
        let only = |owners: &str| format!("leave it out with the loss {name}: it belongs to {owners}");
        if let (Some(epsilon), Loss::SquaredError | Loss::Quantile { .. }) = (epsilon, loss) {
            return Err(Error::parameter("epsilon", epsilon, only("huber and squared-epsilon-insensitive")));
        }
        match quantile {
            Some(quantile) if name != "quantile" => Err(Error::parameter("quantile", quantile, only("quantile"))),
            _ => loss.check_of_targets().map(|()| loss),
        }
    }

    /// The loss and its derivatives. An ε that is still to be chosen is that of the squared error.
    #[inline]
    pub fn at(self, y: f64, f: f64) -> LossAt {
        match self {
            Loss::Hinge => {
                let slack = (1.0 - y * f).max(0.0);
                LossAt { value: slack, dual: if slack > 0.0 { y } else { 0.0 }, curvature: 0.0 }
            }
            Loss::SquaredHinge => {
                let slack = (1.0 - y * f).max(0.0);
                LossAt { value: slack * slack, dual: 2.0 * y * slack, curvature: if slack > 0.0 { 2.0 } else { 0.0 } }
            }
            Loss::Logistic => {
                // e^−|m| cannot overflow; both branches are the same function.
                let margin = y * f;
                let small = (-margin.abs()).exp();
                let (near, far) = (1.0 / (1.0 + small), small / (1.0 + small));
                let dual = y * if margin > 0.0 { far } else { near };
                LossAt { value: (-margin).max(0.0) + small.ln_1p(), dual, curvature: near * far }
            }
            Loss::SquaredError => {
                let residual = y - f;
                LossAt { value: residual * residual, dual: 2.0 * residual, curvature: 2.0 }
            }
            Loss::Huber { epsilon } => {
                let (residual, epsilon) = (y - f, epsilon.unwrap_or(f64::INFINITY));
                let size = residual.abs();
                if size > epsilon {
                    let value = epsilon * (2.0 * size - epsilon);
                    LossAt { value, dual: 2.0 * epsilon.copysign(residual), curvature: 0.0 }
                } else {
                    LossAt { value: size * size, dual: 2.0 * residual, curvature: 2.0 }
                }
            }
            Loss::SquaredEpsilonInsensitive { epsilon } => {
                let residual = y - f;
                let over = (residual.abs() - epsilon.unwrap_or(0.0)).max(0.0);
                let curvature = if over > 0.0 { 2.0 } else { 0.0 };
                LossAt { value: over * over, dual: 2.0 * over.copysign(residual), curvature }
            }
            Loss::Quantile { quantile } => {
                let residual = y - f;
                let dual = if residual > 0.0 { quantile } else { quantile - 1.0 };
                LossAt { value: dual * residual, dual, curvature: 0.0 }
            }
        }
    }

    /// The loss.
    pub fn value(self, y: f64, f: f64) -> f64 {
        self.at(y, f).value
    }

    /// Upper bound of the dual variable of a sample with cost `c` = C · weight, of the two hinge losses.
    pub fn upper_bound(self, c: f64) -> f64 {
        if self == Loss::Hinge { c } else { f64::INFINITY }
    }

    /// The contribution of a hinge loss to the diagonal of the dual's quadratic form.
    pub fn diagonal(self, c: f64) -> f64 {
        if self == Loss::Hinge { 0.0 } else { 0.5 / c }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Loss {
    type Err = Error;

    /// Reads the name of a loss of classes.
    fn from_str(name: &str) -> Result<Self> {
        let known = Self::OF_CLASSES.into_iter().find(|(known, _)| *known == name).map(|(_, loss)| loss);
        known.ok_or_else(|| Error::unknown("loss", name, Self::OF_CLASSES.into_iter().map(|(name, _)| name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every loss, with targets where it is smooth around the decision values below.
    const ALL: [Loss; 7] = [
        Loss::Hinge,
        Loss::SquaredHinge,
        Loss::Logistic,
        Loss::SquaredError,
        Loss::Huber { epsilon: Some(0.7) },
        Loss::SquaredEpsilonInsensitive { epsilon: Some(0.3) },
        Loss::Quantile { quantile: 0.8 },
    ];

    #[test]
    fn derivatives_are_those_of_the_value() {
        for loss in ALL {
            for (y, f) in (-4..=4).flat_map(|at| [(1.0, 0.777 * f64::from(at)), (-1.0, 0.777 * f64::from(at))]) {
                let h = 1e-5;
                let (here, up, down) = (loss.at(y, f), loss.at(y, f + h), loss.at(y, f - h));
                assert!((here.dual + (up.value - down.value) / (2.0 * h)).abs() < 1e-5, "{loss} {y} {f}");
                assert!((here.curvature + (up.dual - down.dual) / (2.0 * h)).abs() < 1e-4, "{loss} {y} {f}");
            }
        }
        assert!(Loss::Logistic.at(1.0, -1e300).value.is_finite());
    }

    #[test]
    fn names_and_parameters_make_a_loss() {
        for (name, loss) in Loss::OF_CLASSES {
            assert_eq!(name.parse::<Loss>().unwrap(), loss);
            assert_eq!((loss.name(), loss.check_of_classes().is_ok()), (name, true));
        }
        assert!("hinges".parse::<Loss>().unwrap_err().to_string().contains("squared-hinge"));
        for name in Loss::OF_TARGETS {
            assert_eq!(Loss::of_targets(name, None, None).unwrap().name(), name);
        }
        assert_eq!(Loss::of_targets("huber", Some(2.0), None).unwrap(), Loss::Huber { epsilon: Some(2.0) });
        assert_eq!(Loss::of_targets("quantile", None, None).unwrap(), Loss::Quantile { quantile: 0.5 });
        assert!(Loss::of_targets("squared-epsilon-insensitive", Some(0.0), None).is_ok());
    }

    #[test]
    fn rejects_what_does_not_belong_to_the_task_or_the_loss_or_is_out_of_range() {
        let refused = |name, epsilon, quantile| Loss::of_targets(name, epsilon, quantile).unwrap_err().to_string();
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
        assert!(Loss::Hinge.check_of_targets().unwrap_err().to_string().contains("huber"));
        assert!(Loss::Huber { epsilon: None }.check_of_classes().unwrap_err().to_string().contains("squared-hinge"));
    }
}
