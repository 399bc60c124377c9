//! e^x for blocks, in single and in double precision.

use crate::isa::compiled;

/// Below this e^x is subnormal and slow to compute with: it is replaced by 0.
const LOWEST: f32 = -87.0;

/// ln 2 in two parts, the first with few bits, so that its products with exponents are exact; the second is the rest of ln 2 in
/// double precision, plus the remainder of that.
pub(super) const WIDE_LN2: (f64, f64) = {
    use std::f64::consts::LN_2;
    let high = f64::from_bits(LN_2.to_bits() & 0xffff_ffff_0000_0000);
    (high, (LN_2 - high) + 2.319_046_813_846_3e-17)
};

compiled! {
    /// Replaces each x by e^(factor · x), with a relative error of 2e-7; 0 if the result would be below 1e-38.
    /// Exponents above 88 give infinity.
    ///
    /// Range reduction by multiples of ln 2 and a polynomial of degree 6 (the Taylor series, whose relative remainder
    /// on ±½ ln 2 is 1e-7, with its last coefficient fitted): 14 operations, branch-free and vectorized.
    pub(super) fn exponentials(factor: f32, block: &mut [f32]) {
        for x in block {
            *x = exponential(factor * *x);
        }
    }
}

/// The sequence of operations is the same on every machine, without fused multiply-adds, so that results do not depend
/// on the instruction set.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    // ln 2 in two parts, the first with few bits, so that n · LN2_HIGH is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Adding and subtracting 1.5 · 2^23 rounds to the nearest integer.
    const ROUND: f32 = 12_582_912.0;
    let clamped = x.clamp(LOWEST, 88.5);
    let n = (clamped * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let r = (clamped - n * LN2_HIGH) - n * LN2_LOW;
    let mut sum = 1.0 / 720.0;
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * r + coefficient;
    }
    // 2^n in two factors, since 2^128 alone would overflow.
    let half = (n * 0.5 + ROUND) - ROUND;
    // After adding 1.5 · 2^23 the integer is in the low bits; a conversion would check its range.
    let whole = |n: f32| (n + ROUND).to_bits().wrapping_sub(ROUND.to_bits());
    let power = |n: f32| f32::from_bits(whole(n).wrapping_add(127) << 23);
    let value = sum * power(half) * power(n - half);
    if x < LOWEST {
        0.0
    } else if x.is_nan() {
        x
    } else {
        value
    }
}

compiled! {
    /// Replaces each x by e^(factor · x) in double precision, with a relative error of 4e-16; 0 if the result would be below 1e-307.
    ///
    /// As in single precision, with a polynomial of degree 13, whose remainder is 5e-18: 22 operations.
    pub(super) fn wide_exponentials(factor: f64, block: &mut [f64]) {
        for x in block {
            *x = wide_exponential(factor * *x);
        }
    }
}

/// As [`exponential`].
#[inline(always)]
fn wide_exponential(x: f64) -> f64 {
    // Adding and subtracting 1.5 · 2^52 rounds to the nearest integer.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LOWEST: f64 = -707.0;
    let clamped = x.clamp(LOWEST, 710.0);
    let n = (clamped * std::f64::consts::LOG2_E + ROUND) - ROUND;
    let r = (clamped - n * WIDE_LN2.0) - n * WIDE_LN2.1;
    let mut sum = 1.0 / 6_227_020_800.0;
    for factorial in [479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0] {
        sum = sum * r + 1.0 / factorial;
    }
    for coefficient in [0.5, 1.0, 1.0] {
        sum = sum * r + coefficient;
    }
    // 2^n in two factors, since 2^1024 alone would overflow.
    let half = (n * 0.5 + ROUND) - ROUND;
    let whole = |n: f64| (n + ROUND).to_bits().wrapping_sub(ROUND.to_bits());
    let power = |n: f64| f64::from_bits(whole(n).wrapping_add(1023) << 52);
    let value = sum * power(half) * power(n - half);
    if x < LOWEST {
        0.0
    } else if x.is_nan() {
        x
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_to_the_exact_value_everywhere() {
        let mut block: Vec<f32> = (-86_999..88_000).map(|i| i as f32 * 1e-3).collect();
        let exact: Vec<f64> = block.iter().map(|&x| f64::from(x).exp()).collect();
        exponentials(1.0, &mut block);
        for (found, exact) in block.iter().zip(exact) {
            assert!((f64::from(*found) - exact).abs() <= 3e-7 * exact, "{found} {exact}");
        }
        let mut block: Vec<f64> = (-70_000..70_900).map(|i| f64::from(i) * 1e-2 + 1e-4).collect();
        let exact: Vec<f64> = block.iter().map(|x| x.exp()).collect();
        wide_exponentials(1.0, &mut block);
        for (found, exact) in block.iter().zip(exact) {
            assert!((found - exact).abs() <= 5e-16 * exact, "{found} {exact}");
        }
        let mut ends = [0.0, -0.0, -1e9, f64::NEG_INFINITY, f64::NAN, 1e9, -708.0];
        wide_exponentials(1.0, &mut ends);
        assert_eq!(ends[..4], [1.0, 1.0, 0.0, 0.0]);
        assert!(ends[4].is_nan() && ends[5] == f64::INFINITY && ends[6] == 0.0);
        let mut ends = [0.0, -0.0, -1e9, f32::NEG_INFINITY, f32::NAN, 1e9, -87.5];
        exponentials(1.0, &mut ends);
        assert_eq!(ends[..4], [1.0, 1.0, 0.0, 0.0]);
        assert!(ends[4].is_nan() && ends[5] > 1e38 && ends[6] == 0.0);
    }
}
