//! Soft dynamic time warping: `soft-dtw:smoothing=0.1`.
//!
//! As `dtw` with a soft minimum over all paths, −smoothing · ln Σ exp(−cost / smoothing) (Cuturi and Blondel,
//! *Soft-DTW: a differentiable loss function for time series*, ICML 2017, whose gamma it is). It is below `dtw`, may be
//! negative, and is not 0 of a series and itself: `divergence=true` is d(x, y) − (d(x, x) + d(y, y)) / 2 (Blondel,
//! Mensch and Vert,
//! *Differentiable divergences between time series*, AISTATS 2021). aeon returns the absolute value.

use super::dtw::DTW;
use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Neighbors, Place, Rule};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{SimilarityRow, built};

pub(super) const SOFT_DTW: SimilarityRow = SimilarityRow {
    name: "soft-dtw",
    class: "SoftDTW",
    parameters: &[
        WINDOW,
        Parameter::new("smoothing", Values::POSITIVE, "The softness of the minimum, in units of cost.").or("1"),
        Parameter::new("divergence", Values::Flag, "Whether to subtract (d(x, x) + d(y, y)) / 2.").or("false"),
        GAMMA,
    ],
    examples: &[
        "soft-dtw",
        "soft-dtw:smoothing=0.1,window=0.3",
        "soft-dtw:smoothing=0.01,gamma=auto",
        "soft-dtw:divergence=true",
    ],
    build: |step| built(Elastic::<SoftWarping>::from_step(step)),
    ..DTW
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SoftWarping {
    smoothing: f32,
    divergence: bool,
}

impl Rule for SoftWarping {
    const ROW: &'static SimilarityRow = &SOFT_DTW;
    const HAS_PATH: bool = false;
    const SECONDS_PER_CELL: f64 = 2e-9;

    fn read(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(SoftWarping { smoothing: arguments.value("smoothing")?, divergence: arguments.value("divergence")? })
    }

    fn subtracts_own(self) -> bool {
        self.divergence
    }

    /// About 60 flops, most of them in two exponentials and a logarithm.
    #[inline(always)]
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s {
        let (simd, Neighbors { above, diagonal, left }) = (at.simd, neighbors);
        let (low, high) = (simd.min(above, left), simd.max(above, left));
        let (least, middle) = (simd.min(low, diagonal), simd.max(low, diagonal));
        let scale = simd.splat(1.0 / self.smoothing);
        let sum = simd.add(
            exp_of_minus(simd, simd.multiply(simd.subtract(middle, least), scale)),
            exp_of_minus(simd, simd.multiply(simd.subtract(high, least), scale)),
        );
        let soft = simd.multiply_add(simd.splat(-self.smoothing), ln_of_1_plus(simd, sum), least);
        at.add_squared(soft)
    }
}

/// Beyond this 1 + exp(−t) is 1 in single precision.
const MAX_EXPONENT: f32 = 17.0;

/// exp(−u) for u from 0 to 1.1, interpolated at Chebyshev's nodes: to 3e-9 of itself.
#[allow(clippy::excessive_precision, reason = "as computed")]
const EXP: [f32; 8] = [
    9.99999999e-01,
    -9.99999883e-01,
    4.99997758e-01,
    -1.66650197e-01,
    4.16068620e-02,
    -8.21411726e-03,
    1.25445931e-03,
    -1.15439715e-04,
];

/// ln(2 + v) for v from −1 to 1, interpolated likewise: to 4e-8.
#[allow(clippy::excessive_precision, reason = "as computed")]
const LN: [f32; 12] = [
    6.93147201e-01,
    4.99999991e-01,
    -1.25001449e-01,
    4.16673406e-02,
    -1.56083599e-02,
    6.24226132e-03,
    -2.67289169e-03,
    1.14802286e-03,
    -3.63694439e-04,
    1.59125665e-04,
    -1.94635684e-04,
    8.93912338e-05,
];

/// exp(−t) for t ≥ 0, as exp(−t / 16)^16: to 5e-6 of itself, and at least exp(−[`MAX_EXPONENT`]).
#[inline(always)]
fn exp_of_minus<S: Simd>(simd: S, t: S::F32s) -> S::F32s {
    let t = simd.min(t, simd.splat(MAX_EXPONENT));
    let mut power = polynomial(simd, simd.multiply(t, simd.splat(1.0 / 16.0)), &EXP);
    for _ in 0..4 {
        power = simd.multiply(power, power);
    }
    power
}

/// ln(1 + s) for s from 0 to 2.
#[inline(always)]
fn ln_of_1_plus<S: Simd>(simd: S, s: S::F32s) -> S::F32s {
    polynomial(simd, simd.subtract(s, simd.splat(1.0)), &LN)
}

/// Σ c_k x^k by Horner's scheme.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, x: S::F32s, coefficients: &[f32; N]) -> S::F32s {
    let mut sum = simd.splat(coefficients[N - 1]);
    for &coefficient in coefficients[..N - 1].iter().rev() {
        sum = simd.multiply_add(sum, x, simd.splat(coefficient));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Isa, dispatch};

    fn largest_errors<S: Simd>(simd: S) -> [f64; 2] {
        let value = |vector: S::F32s| {
            let mut lanes = [0.0; 16];
            simd.store(vector, &mut lanes);
            f64::from(lanes[0])
        };
        let mut worst = [0.0f64; 2];
        for k in 0..=1000u16 {
            let (t, s) = (f32::from(k) * 0.017, f32::from(k) * 0.002);
            let exp = value(exp_of_minus(simd, simd.splat(t))) * f64::from(t).exp() - 1.0;
            let ln = value(ln_of_1_plus(simd, simd.splat(s))) - f64::from(s).ln_1p();
            worst = [worst[0].max(exp.abs()), worst[1].max(ln.abs())];
        }
        assert!(value(exp_of_minus(simd, simd.splat(f32::INFINITY))) < 5e-8);
        worst
    }

    #[test]
    fn exponential_and_logarithm_are_as_exact_as_they_say() {
        for isa in Isa::available() {
            let [exp, ln] = dispatch!(isa, simd => largest_errors(simd));
            assert!(exp < 5e-6 && ln < 2e-7, "{isa:?}: {exp} {ln}");
        }
    }
}
