//! The hot loops of radial kernels, in double precision: distances to a tile of bases, and r^2k log r. Written once and
//! compiled for each instruction set; without fused multiply-adds, so that results do not depend on it.

use super::exponential::WIDE_LN2;
use crate::isa::compiled;

/// Bases interleaved at a time.
pub(super) const TILE: usize = 64;

/// Features of a tile that are read at a time: 128 KiB, which stay in the cache while all samples pass.
const STRIP: usize = 256;

/// The term that a distance sums over the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// (x − y)².
    Squared,
    /// |x − y|.
    Absolute,
}

/// Fills `out`, row-major samples × bases, with distances that `apply` replaces in place by similarities. Samples and
/// bases are row-major.
pub(super) fn tiled_distances(
    samples: &[f64],
    bases: &[f64],
    n_features: usize,
    measure: Measure,
    out: &mut [f64],
    apply: impl Fn(&mut [f64]),
) {
    match measure {
        Measure::Absolute => tiled(samples, bases, n_features, STRIP, out, |x, y| (x - y).abs(), apply),
        Measure::Squared => tiled(samples, bases, n_features, STRIP, out, |x, y| (x - y) * (x - y), apply),
    }
}

/// Fills `out`, row-major samples × bases, with sums of a term over the features of samples and bases, both row-major.
/// The sums of strips of features are added, which rounds less. `apply` replaces the whole sums of some pairs in place.
pub(super) fn tiled<T: num_traits::Float>(
    samples: &[T],
    bases: &[T],
    n_features: usize,
    strip: usize,
    out: &mut [T],
    term: impl Fn(T, T) -> T + Copy,
    apply: impl Fn(&mut [T]),
) {
    let n_bases = bases.len().checked_div(n_features).unwrap_or(0);
    let mut tile = vec![[T::zero(); TILE]; strip.min(n_features)];
    for left in (0..n_bases).step_by(TILE) {
        let right = n_bases.min(left + TILE);
        for first in (0..n_features).step_by(strip) {
            let features = first..n_features.min(first + strip);
            for (at, basis) in bases[left * n_features..right * n_features].chunks(n_features).enumerate() {
                tile.iter_mut().zip(&basis[features.clone()]).for_each(|(feature, value)| feature[at] = *value);
            }
            for (sample, out) in samples.chunks(n_features).zip(out.chunks_mut(n_bases)) {
                sum_terms(&sample[features.clone()], &tile, first > 0, &mut out[left..right], term);
            }
        }
        out.chunks_mut(n_bases).for_each(|out| apply(&mut out[left..right]));
    }
}

compiled! {
    /// Fills `out` with Σ_j term(x_j, y_j) for the bases of a tile, \[feature\]\[basis\], or adds them. Squared
    /// distances are computed from differences: the expansion ‖x‖² + ‖y‖² − 2x·y would lose half the digits.
    fn sum_terms<T: num_traits::Float>(
        sample: &[T],
        tile: &[[T; TILE]],
        adds: bool,
        out: &mut [T],
        term: impl Fn(T, T) -> T,
    ) {
        let mut sums = [T::zero(); TILE];
        for (x, bases) in sample.iter().zip(tile) {
            for (sum, y) in sums.iter_mut().zip(bases) {
                *sum = *sum + term(*x, *y);
            }
        }
        if adds {
            out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = *out + *sum);
        } else {
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

compiled! {
    /// Replaces each squared distance r² by factor · (r²)^half · log r², and 0 and subnormal numbers by 0.
    pub(super) fn powers_of_logarithms(squared: &mut [f64], half: i32, factor: f64) {
        for some in squared.chunks_mut(TILE) {
            let mut values = [0.0; TILE];
            for (value, x) in values.iter_mut().zip(&*some) {
                *value = factor * x * logarithm(*x);
            }
            for _ in 1..half {
                values.iter_mut().zip(&*some).for_each(|(value, x)| *value *= x);
            }
            for (x, value) in some.iter_mut().zip(values) {
                *x = if *x < f64::MIN_POSITIVE { 0.0 } else { value };
            }
        }
    }
}

/// ln x of a normal number above 0, to 2e-16 relative or absolute; undefined for others.
///
/// x = 2^n m with m between √½ and √2, and ln m = 2 artanh s for s = (m − 1)/(m + 1), whose Taylor series up to s^23
/// has a remainder below 1e-18.
#[inline(always)]
fn logarithm(x: f64) -> f64 {
    const ROOT_OF_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const ONE: u64 = 1.0f64.to_bits();
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    // n + 1023 in the lowest bits, where it is positive, so that vectors can shift it without sign extension.
    let biased = x.to_bits().wrapping_sub(ROOT_OF_HALF).wrapping_add(ONE) >> 52;
    let n = f64::from_bits(TWO_TO_52.to_bits() | biased) - (TWO_TO_52 + 1023.0);
    let m = f64::from_bits(x.to_bits().wrapping_sub(biased << 52).wrapping_add(ONE));
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = 1.0 / 23.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = sum * square + 1.0 / odd;
    }
    // 2 s + 2 s · s² · sum: the small part first.
    let small = 2.0 * s * (square * sum) + n * WIDE_LN2.1;
    n * WIDE_LN2.0 + (2.0 * s + small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_more_features_than_a_strip_are_those_of_the_strips() {
        let (n_features, n_samples, n_bases) = (2 * STRIP + 3, 3, TILE + 1);
        let number = |i: usize| (i * 7919 % 1009) as f64 / 97.0;
        let samples: Vec<f64> = (0..n_samples * n_features).map(number).collect();
        let bases: Vec<f64> = (0..n_bases * n_features).map(|i| number(i + 5)).collect();
        for measure in [Measure::Squared, Measure::Absolute] {
            let mut found = vec![f64::NAN; n_samples * n_bases];
            tiled_distances(&samples, &bases, n_features, measure, &mut found, |_| ());
            for (at, found) in found.into_iter().enumerate() {
                let sample = samples.chunks(n_features).nth(at / n_bases).unwrap();
                let basis = bases.chunks(n_features).nth(at % n_bases).unwrap();
                let terms = sample.iter().zip(basis).map(|(x, y)| match measure {
                    Measure::Squared => (x - y) * (x - y),
                    Measure::Absolute => (x - y).abs(),
                });
                let terms: Vec<f64> = terms.collect();
                let expected: f64 = terms.chunks(STRIP).map(|strip| strip.iter().sum::<f64>()).sum();
                assert_eq!(found, expected, "{measure:?} {at}");
            }
        }
    }

    #[test]
    fn close_to_the_logarithm_everywhere() {
        let near_one = (-2000..2000).map(|i| 1.0 + f64::from(i) * 1e-4);
        let closer = (-60..60).map(|i| 1.0 + f64::from(i) * 2.0 * f64::EPSILON);
        let far = (-3000..3000).map(|i| (f64::from(i) * 0.23 + 0.01).exp());
        for x in near_one.chain(closer).chain(far) {
            let (found, exact) = (logarithm(x), x.ln());
            assert!((found - exact).abs() <= 4e-16 * exact.abs(), "{x}: {found} {exact}");
        }
        assert_eq!(logarithm(1.0), 0.0);
    }

    #[test]
    fn every_kind_of_number() {
        let mut block = [0.0, 1.0, 4.0, f64::MIN_POSITIVE / 4.0, f64::INFINITY, f64::NAN, 1e200];
        powers_of_logarithms(&mut block, 2, -0.5);
        assert_eq!(block[..2], [0.0, 0.0]);
        assert!((block[2] + 8.0 * 4f64.ln()).abs() < 1e-13 && block[3] == 0.0);
        assert!(block[4] == f64::NEG_INFINITY && block[5].is_nan() && block[6] == f64::NEG_INFINITY);
    }
}
