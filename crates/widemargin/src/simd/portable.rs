//! Eight lanes as an array: available on every machine, vectorised by the compiler.

use super::Simd;

const LANES: usize = 8;

pub(crate) struct Portable;

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
        // SAFETY: the caller's pointer is valid for eight numbers.
        unsafe { from.cast::<Self::V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: the caller's pointer is valid for eight numbers.
        unsafe { to.cast::<Self::V>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const f32, n: usize) -> Self::V {
        // SAFETY: the caller's pointer is valid for `n` numbers.
        std::array::from_fn(|l| if l < n { unsafe { *from.add(l) } } else { 0.0 })
    }

    #[inline(always)]
    unsafe fn store_part(value: Self::V, to: *mut f32, n: usize) {
        for (l, value) in value.into_iter().enumerate().take(n) {
            // SAFETY: the caller's pointer is valid for `n` numbers.
            unsafe { *to.add(l) = value }
        }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|l| a[l] + b[l])
    }

    #[inline(always)]
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|l| if a[l] > b[l] { a[l] } else { b[l] })
    }

    #[inline(always)]
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V {
        // Not `mul_add`: without the instruction it is a function call.
        std::array::from_fn(|l| a[l] * b[l] + sum[l])
    }

    #[inline(always)]
    unsafe fn prefetch(_address: *const f32) {}

    #[inline(always)]
    unsafe fn sum(value: Self::V) -> f32 {
        value.iter().sum()
    }
}
