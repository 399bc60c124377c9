//! The losses as the solver sees them: values, derivatives, conjugates, and the rounded pinball loss.

use crate::problem::LossAt;

/// A loss with all of its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ResidualLoss {
    /// r², beyond ε its tangent.
    Huber(f64),
    /// max(0, |r| − ε)².
    Tube(f64),
    /// max(qr, (q − 1)r).
    Pinball(f64),
}

/// A loss with a continuous derivative: the pinball loss is rounded over a width δ.
///
/// Every loss is the maximum of a r − conjugate(a) over a. The conjugate of the pinball loss is 0 for a from q − 1 to
/// q; with ½δ(a − μ)² added to it, the loss has a continuous derivative, and that derivative, if it is μ itself, is
/// exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounded {
    pub loss: ResidualLoss,
    /// δ; of the pinball loss only.
    pub width: f64,
}

impl ResidualLoss {
    /// The loss of a residual.
    pub fn value(self, residual: f64) -> f64 {
        let size = residual.abs();
        match self {
            ResidualLoss::Huber(epsilon) if size > epsilon => epsilon * (2.0 * size - epsilon),
            ResidualLoss::Huber(_) => size * size,
            ResidualLoss::Tube(epsilon) => (size - epsilon).max(0.0).powi(2),
            ResidualLoss::Pinball(q) => (q * residual).max((q - 1.0) * residual),
        }
    }

    /// Whether it is approached by rounded ones.
    pub fn is_pinball(self) -> bool {
        matches!(self, ResidualLoss::Pinball(_))
    }
}

impl Rounded {
    /// The loss, its derivative by the residual and its second derivative; `shift` is μ.
    pub fn at(self, residual: f64, shift: f64) -> LossAt {
        let size = residual.abs();
        match self.loss {
            ResidualLoss::Huber(epsilon) => {
                let (dual, curvature) =
                    if size > epsilon { (2.0 * epsilon.copysign(residual), 0.0) } else { (2.0 * residual, 2.0) };
                LossAt { value: self.loss.value(residual), dual, curvature }
            }
            ResidualLoss::Tube(epsilon) => {
                let over = (size - epsilon).max(0.0);
                let curvature = if over > 0.0 { 2.0 } else { 0.0 };
                LossAt { value: over * over, dual: 2.0 * over.copysign(residual), curvature }
            }
            ResidualLoss::Pinball(q) => {
                let free = shift + residual / self.width;
                let dual = free.clamp(q - 1.0, q);
                let curvature = if dual == free { 1.0 / self.width } else { 0.0 };
                let value = dual * residual - 0.5 * self.width * (dual - shift).powi(2);
                LossAt { value, dual, curvature }
            }
        }
    }

    /// The second derivative where it is not 0.
    pub fn curvature(self) -> f64 {
        if self.loss.is_pinball() { 1.0 / self.width } else { 2.0 }
    }

    /// The conjugate of the loss at a derivative that it has, in two parts: one in proportion to the derivative, and
    /// one to its square.
    pub fn conjugate(self, dual: f64) -> (f64, f64) {
        match self.loss {
            ResidualLoss::Huber(_) => (0.0, 0.25 * dual * dual),
            ResidualLoss::Tube(epsilon) => (epsilon * dual.abs(), 0.25 * dual * dual),
            ResidualLoss::Pinball(_) => (0.0, 0.0),
        }
    }

    /// The part of the conjugate due to rounding.
    pub fn rounding(self, dual: f64, shift: f64) -> f64 {
        if self.loss.is_pinball() { 0.5 * self.width * (dual - shift).powi(2) } else { 0.0 }
    }

    /// The largest factor that leaves every derivative one that the loss has.
    pub fn most_scaled(self) -> f64 {
        if matches!(self.loss, ResidualLoss::Tube(_)) { f64::INFINITY } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_and_conjugates_are_those_of_the_value() {
        for loss in
            [ResidualLoss::Huber(0.7), ResidualLoss::Tube(0.3), ResidualLoss::Tube(0.0), ResidualLoss::Pinball(0.2)]
        {
            let rounded = Rounded { loss, width: 0.5 };
            for (residual, shift) in
                [(-3.0, -0.1), (-0.5, 0.0), (-0.01, 0.1), (0.003, 0.0), (0.2, -0.3), (0.65, 0.0), (4.0, 0.15)]
            {
                let h = 1e-6;
                let at = rounded.at(residual, shift);
                let (up, down) = (rounded.at(residual + h, shift), rounded.at(residual - h, shift));
                assert!((at.dual - (up.value - down.value) / (2.0 * h)).abs() < 1e-5, "{loss:?} {residual}");
                assert!((at.curvature - (up.dual - down.dual) / (2.0 * h)).abs() < 1e-4, "{loss:?} {residual}");
                assert!(at.curvature == 0.0 || at.curvature == rounded.curvature());
                let (linear, quadratic) = rounded.conjugate(at.dual);
                let conjugate = linear + quadratic;
                let of_rounded = conjugate + rounded.rounding(at.dual, shift);
                assert!((at.value - (at.dual * residual - of_rounded)).abs() < 1e-12, "{loss:?} {residual}");
                // The Fenchel-Young inequality.
                assert!(loss.value(residual) >= at.dual * residual - conjugate - 1e-12, "{loss:?} {residual}");
                assert!(loss.is_pinball() || (loss.value(residual) - at.value).abs() < 1e-12);
            }
        }
        assert!((ResidualLoss::Huber(1.0).value(-3.0) - 5.0).abs() < 1e-15);
        assert!((ResidualLoss::Pinball(0.9).value(-2.0) - 0.2).abs() < 1e-15);
    }
}
