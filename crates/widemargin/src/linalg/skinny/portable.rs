//! Eight lanes as an array: what every machine can do, left to the compiler to vectorise.

use super::Panel;
use super::tile::{self, Simd};

const LANES: usize = 8;

struct Portable;

// SAFETY: needs no instruction set.
unsafe impl Simd for Portable {
    type V = [f32; LANES];
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        [0.0; LANES]
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::V {
        [value; LANES]
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: the caller's pointer is good for eight numbers.
        unsafe { from.cast::<Self::V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: the caller's pointer is good for eight numbers.
        unsafe { to.cast::<Self::V>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const f32, n: usize) -> Self::V {
        // SAFETY: the caller's pointer is good for `n` numbers.
        std::array::from_fn(|l| if l < n { unsafe { *from.add(l) } } else { 0.0 })
    }

    #[inline(always)]
    unsafe fn store_part(value: Self::V, to: *mut f32, n: usize) {
        for (l, value) in value.into_iter().enumerate().take(n) {
            // SAFETY: the caller's pointer is good for `n` numbers.
            unsafe { *to.add(l) = value }
        }
    }

    #[inline(always)]
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V {
        // Not `mul_add`: without the instruction it is a call.
        std::array::from_fn(|l| a[l] * b[l] + sum[l])
    }

    #[inline(always)]
    unsafe fn prefetch(_address: *const f32) {}

    #[inline(always)]
    unsafe fn sum(value: Self::V) -> f32 {
        value.iter().sum()
    }
}

/// # Safety
/// As [`tile::scores`].
pub(super) unsafe fn scores(panel: Panel<'_>, weights: &[f32], out: &mut [f32], k: usize) {
    // SAFETY: the caller's promise.
    unsafe { tile::scores::<Portable, 2>(panel, weights, out, k) }
}

/// # Safety
/// As [`tile::combine`].
pub(super) unsafe fn combine(panel: Panel<'_>, factors: &[f32], sums: &mut [f32], k: usize) {
    // SAFETY: the caller's promise.
    unsafe { tile::combine::<Portable, 1>(panel, factors, sums, k) }
}
