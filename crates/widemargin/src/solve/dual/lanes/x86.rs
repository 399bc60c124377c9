//! Sixteen lanes in one AVX-512 register or two AVX2 registers.

use std::arch::x86_64::*;

use super::loops::{Loops, MAX_VECTORS, Pattern, Simd, Vector, dot, pick_loops, update};
use crate::expansion::Entry;
use crate::solve::dual::coordinate::{LANES, Lanes, Limits, Visit};

struct Avx512;

// SAFETY: every method needs AVX-512F; `avx512` below hands out loops only where `Isa::available` found it.
unsafe impl Simd for Avx512 {
    type V = __m512;
    const UNROLL: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: sixteen numbers may be read.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: sixteen numbers may be written.
        unsafe { _mm512_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_fmadd_ps(a, b, sum) }
    }

    #[inline(always)]
    unsafe fn spread<const WIDE: bool>(numbers: *const f32, pattern: &[i32; LANES]) -> Self::V {
        // SAFETY: sixteen numbers may be read where WIDE, else four; a pattern is sixteen numbers.
        unsafe {
            let pattern = _mm512_loadu_si512(pattern.as_ptr().cast());
            if WIDE {
                _mm512_permutexvar_ps(pattern, _mm512_loadu_ps(numbers))
            } else {
                _mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(numbers)), pattern)
            }
        }
    }
}

struct Avx2;

// SAFETY: every method needs AVX2 and FMA; `avx2` below hands out loops only where `Isa::available` found them.
unsafe impl Simd for Avx2 {
    type V = [__m256; 2];
    const UNROLL: usize = 1;

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        // SAFETY: AVX is available.
        unsafe { [_mm256_setzero_ps(); 2] }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: sixteen numbers may be read.
        unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: sixteen numbers may be written.
        unsafe {
            _mm256_storeu_ps(to, value[0]);
            _mm256_storeu_ps(to.add(8), value[1]);
        }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }

    #[inline(always)]
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V {
        // SAFETY: FMA is available.
        unsafe { [_mm256_fmadd_ps(a[0], b[0], sum[0]), _mm256_fmadd_ps(a[1], b[1], sum[1])] }
    }

    #[inline(always)]
    unsafe fn spread<const WIDE: bool>(numbers: *const f32, pattern: &[i32; LANES]) -> Self::V {
        // SAFETY: patterns point to the numbers of one value; a pattern is sixteen numbers.
        unsafe {
            let halves =
                [_mm256_loadu_si256(pattern.as_ptr().cast()), _mm256_loadu_si256(pattern.as_ptr().add(8).cast())];
            if WIDE {
                [_mm256_i32gather_ps::<4>(numbers, halves[0]), _mm256_i32gather_ps::<4>(numbers, halves[1])]
            } else {
                let four = _mm256_broadcast_ps(&*numbers.cast());
                [_mm256_permutevar_ps(four, halves[0]), _mm256_permutevar_ps(four, halves[1])]
            }
        }
    }
}

/// The loops compiled for one instruction set. `inline(always)` of the generic bodies into these functions lets the
/// compiler use its registers.
macro_rules! compiled_for {
    ($features:literal, $simd:ty, $dot:ident, $update:ident, $visit:ident, $loops:ident) => {
        #[target_feature(enable = $features)]
        unsafe fn $dot<E: Entry, const V: usize, const WIDE: bool>(
            row: &[E],
            table: *const f32,
            pattern: &Pattern,
            weights: *const Vector,
            out: &mut [Vector; MAX_VECTORS],
        ) {
            // SAFETY: guaranteed by the caller.
            unsafe { dot::<$simd, E, V, WIDE>(row, table, pattern, weights, out) }
        }

        #[target_feature(enable = $features)]
        unsafe fn $update<E: Entry, const V: usize, const WIDE: bool>(
            row: &[E],
            table: *const f32,
            pattern: &Pattern,
            weights: *mut Vector,
            step: &[Vector; MAX_VECTORS],
        ) {
            // SAFETY: guaranteed by the caller.
            unsafe { update::<$simd, E, V, WIDE>(row, table, pattern, weights, step) }
        }

        #[target_feature(enable = $features)]
        unsafe fn $visit(
            lanes: &mut Lanes,
            scores: &[f32; LANES],
            signs: &[f32; LANES],
            alphas: &mut [f32; LANES],
            left_out: &mut u16,
            limits: &Limits,
            shrinking: bool,
        ) -> Visit {
            lanes.visit(scores, signs, alphas, left_out, limits, shrinking)
        }

        pub(super) fn $loops<E: Entry>(vectors: usize, wide: bool) -> Loops<E> {
            pick_loops!($dot, $update, $visit, vectors, wide)
        }
    };
}

compiled_for!("avx512f", Avx512, dot_avx512, update_avx512, visit_avx512, avx512);
compiled_for!("avx2,fma", Avx2, dot_avx2, update_avx2, visit_avx2, avx2);
