//! Sixteen lanes of AVX-512, eight of AVX2.

use std::arch::x86_64::*;

use super::lanes::{self, Gaps, Group, Work};
use super::simd::Simd;

struct Avx512;

// SAFETY: every method needs AVX-512F; the function below is called only where `Isa::available` found it.
unsafe impl Simd for Avx512 {
    type V = __m512i;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn splat(value: i32) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_set1_epi32(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self::V {
        // SAFETY: as many numbers as lanes may be read.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut i32) {
        // SAFETY: as many numbers as lanes may be written.
        unsafe { _mm512_storeu_si512(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn maximum(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_max_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn where_equal(a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_mask_mov_epi32(no, _mm512_cmpeq_epi32_mask(a, b), yes) }
    }
}

struct Avx2;

// SAFETY: every method needs AVX2; the function below is called only where `Isa::available` found it.
unsafe impl Simd for Avx2 {
    type V = __m256i;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(value: i32) -> Self::V {
        // SAFETY: AVX2 is available.
        unsafe { _mm256_set1_epi32(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self::V {
        // SAFETY: as many numbers as lanes may be read.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut i32) {
        // SAFETY: as many numbers as lanes may be written.
        unsafe { _mm256_storeu_si256(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX2 is available.
        unsafe { _mm256_add_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn maximum(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX2 is available.
        unsafe { _mm256_max_epi32(a, b) }
    }

    #[inline(always)]
    unsafe fn where_equal(a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        // SAFETY: AVX2 is available.
        unsafe { _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(a, b)) }
    }
}

/// # Safety
/// As [`lanes::fill`], and AVX-512F must be available.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn fill_avx512(group: &Group, local: bool, gaps: Gaps, sample: &[i32], work: &mut Work) {
    // SAFETY: guaranteed by the caller.
    unsafe { lanes::fill::<Avx512>(group, local, gaps, sample, work) }
}

/// # Safety
/// As [`lanes::fill`], and AVX2 must be available.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn fill_avx2(group: &Group, local: bool, gaps: Gaps, sample: &[i32], work: &mut Work) {
    // SAFETY: guaranteed by the caller.
    unsafe { lanes::fill::<Avx2>(group, local, gaps, sample, work) }
}
