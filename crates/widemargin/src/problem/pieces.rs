//! Piecewise quadratic losses in one form, which Newton's method solves in finitely many steps.
//!
//! Of a residual e = y − f, half the derivative of each of them is e limited to a range, or what exceeds that range. It
//! curves by 2 where this changes with e, and not at all elsewhere, so that a Hessian is a sum over some of the rows.

use serde::{Deserialize, Serialize};

use super::Loss;

/// A loss with a continuous derivative: the quantile loss and the hinge are rounded over a width δ about multipliers μ.
///
/// Every loss is the maximum of a·e − conjugate(a) over a. The conjugate of the quantile loss is 0 for a from q − 1 to q,
/// that of the hinge for a from 0 to y; with ½δ(a − μ)² added to it, the loss has a continuous derivative, and that
/// derivative, if it is μ itself, is exact. 2δ times this loss is piecewise quadratic; so is the problem with 2δλ in place of
/// λ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmoothLoss {
    /// The loss.
    pub loss: Loss,
    /// A factor of the quantile loss.
    pub factor: f64,
    /// The typical size of targets by the factor: the unit of δ.
    pub unit: f64,
    /// δ, if the loss is rounded.
    pub width: f64,
}

impl SmoothLoss {
    /// A loss without a factor.
    pub fn new(loss: Loss) -> Self {
        SmoothLoss { loss, factor: 1.0, unit: 1.0, width: 1.0 }
    }

    /// Whether it is rounded.
    pub(crate) fn is_rounded(self) -> bool {
        !self.loss.is_smooth()
    }

    /// The factor of λ for which the pieces are those of the loss.
    pub(crate) fn factor_of_lambda(self) -> f64 {
        if self.is_rounded() { 2.0 * self.width } else { 1.0 }
    }

    /// The pieces for a target of a row, times the root of its weight, as its residual is.
    #[inline]
    pub(crate) fn pieces(self, y: f64, root: f64, multiplier: f64) -> Pieces {
        let of = |form, low: f64, high: f64| Pieces { form, low, high, shift: 0.0 };
        match self.loss {
            Loss::SquaredHinge if y > 0.0 => of(Form::Limited, 0.0, f64::INFINITY),
            Loss::SquaredHinge => of(Form::Limited, f64::NEG_INFINITY, 0.0),
            Loss::Huber { epsilon: Some(epsilon) } => of(Form::Limited, -epsilon * root, epsilon * root),
            Loss::SquaredEpsilonInsensitive { epsilon } => {
                let epsilon = epsilon.unwrap_or(0.0) * root;
                of(Form::Exceeding, -epsilon, epsilon)
            }
            Loss::Quantile { quantile } => self.rounded([quantile - 1.0, quantile], root, multiplier),
            Loss::Hinge => self.rounded([y.min(0.0), y.max(0.0)], root, multiplier),
            // The logistic loss is not piecewise quadratic: no fit by pieces has it.
            Loss::SquaredError | Loss::Huber { epsilon: None } | Loss::Logistic => {
                of(Form::Limited, f64::NEG_INFINITY, f64::INFINITY)
            }
        }
    }

    /// Those of a rounded loss whose derivatives are in a range.
    #[inline]
    fn rounded(self, [low, high]: [f64; 2], root: f64, multiplier: f64) -> Pieces {
        let unit = self.width * root;
        let [low, high] = [low, high].map(|bound| self.factor * bound * unit);
        Pieces { form: Form::Rounded, low, high, shift: multiplier * unit }
    }
}

/// How half the derivative follows from the residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// It is the residual limited to the range.
    Limited,
    /// It is what exceeds the range.
    Exceeding,
    /// As limited, of the residual plus a shift: a rounded loss.
    Rounded,
}

/// The pieces of a loss: a range of residuals, where it curves or does not, and those below and above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    form: Form,
    low: f64,
    high: f64,
    /// Added to the residual.
    shift: f64,
}

/// A piecewise quadratic loss at a residual.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceAt {
    /// Half the derivative, by the residual.
    pub pull: f64,
    /// Whether it curves.
    pub is_active: bool,
    /// The loss.
    pub value: f64,
    /// Its conjugate at twice `pull`.
    pub conjugate: f64,
}

impl Pieces {
    /// The piece of a residual: −1 below the range, 0 in it, 1 above.
    #[inline]
    pub fn piece(self, residual: f64) -> i8 {
        let place = residual + self.shift;
        i8::from(place >= self.high) - i8::from(place <= self.low)
    }

    /// How far a residual is outside a piece; at most 0 inside.
    pub fn distance(self, residual: f64, piece: i8) -> f64 {
        let place = residual + self.shift;
        match piece {
            -1 => place - self.low,
            0 => (self.low - place).max(place - self.high),
            _ => self.high - place,
        }
    }

    /// The loss at a residual.
    #[inline]
    pub fn at(self, residual: f64) -> PieceAt {
        let limited = (residual + self.shift).clamp(self.low, self.high);
        let is_inside = self.piece(residual) == 0;
        let (pull, is_active) = match self.form {
            Form::Exceeding => (residual - limited, !is_inside),
            _ => (limited, is_inside),
        };
        let conjugate = match self.form {
            Form::Limited => pull * pull,
            Form::Exceeding => pull * pull + 2.0 * pull.abs() * self.high,
            Form::Rounded => (pull - self.shift).powi(2),
        };
        PieceAt { pull, is_active, value: 2.0 * pull * residual - conjugate, conjugate }
    }

    /// The loss that is not rounded, and its conjugate at twice `pull`.
    pub fn exact(self, residual: f64, at: PieceAt) -> [f64; 2] {
        match self.form {
            Form::Rounded => [2.0 * residual * if residual > 0.0 { self.high } else { self.low }, 0.0],
            _ => [at.value, at.conjugate],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_the_loss() {
        let losses = [
            Loss::SquaredHinge,
            Loss::SquaredError,
            Loss::Huber { epsilon: Some(0.7) },
            Loss::SquaredEpsilonInsensitive { epsilon: Some(0.3) },
        ];
        for (loss, root) in losses.into_iter().flat_map(|loss| [(loss, 1.0), (loss, 1.7)]) {
            for (y, f) in (-4..=4).flat_map(|at| [(1.0, 0.777 * f64::from(at)), (-1.0, 0.777 * f64::from(at))]) {
                let (at, residual) = (loss.at(y, f), root * (y - f));
                let pieces = SmoothLoss::new(loss).pieces(y, root, 0.0);
                let found = pieces.at(residual);
                assert!((found.pull - 0.5 * root * at.dual).abs() < 1e-12, "{loss} {y} {f}");
                assert_eq!(found.is_active, at.curvature > 0.0, "{loss} {y} {f}");
                assert!((found.value - root * root * at.value).abs() < 1e-12, "{loss} {y} {f}");
                assert_eq!(pieces.exact(residual, found), [found.value, found.conjugate]);
                // The value is the maximum over all derivatives of neighbors.
                for step in [-0.1, 0.1] {
                    let other = pieces.at(residual + step);
                    assert!(2.0 * other.pull * residual - other.conjugate <= found.value + 1e-12, "{loss} {y} {f}");
                }
                let piece = pieces.piece(residual);
                assert!(pieces.distance(residual, piece) <= 0.0, "{loss} {y} {f}");
                assert!([-1, 0, 1].iter().all(|other| *other == piece || pieces.distance(residual, *other) >= 0.0));
            }
        }
    }

    #[test]
    fn the_rounded_quantile_loss_tends_to_the_loss() {
        let loss = Loss::Quantile { quantile: 0.8 };
        let rounded = SmoothLoss { factor: 0.5, width: 1e-3, ..SmoothLoss::new(loss) };
        for (residual, multiplier) in [(-2.0, 0.0), (-0.3, 0.2), (0.4, 0.1), (3.0, 0.4)] {
            let (pieces, scale) = (rounded.pieces(0.0, 2.0, multiplier), rounded.factor_of_lambda());
            let at = pieces.at(2.0 * residual);
            let expected = 0.5 * 4.0 * loss.value(residual, 0.0);
            let [value, conjugate] = pieces.exact(2.0 * residual, at);
            assert!((value / scale - expected).abs() < 1e-12 && conjugate == 0.0, "{value} {expected}");
            assert!((at.value / scale - expected).abs() < 2e-3 && !at.is_active);
            assert!((at.pull / (rounded.width * 2.0) - 0.5 * loss.at(residual, 0.0).dual).abs() < 1e-12);
        }
    }
}
