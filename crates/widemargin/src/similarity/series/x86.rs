//! Sixteen lanes of AVX-512 (32 registers), eight of AVX2 (16 registers).

use std::arch::x86_64::*;

use super::tile::{self, Simd, Table};

struct Avx512;

// SAFETY: every method needs AVX-512F; the function below is called only where `Isa::available` found it.
unsafe impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: as many numbers as lanes may be read.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: as many numbers as lanes may be written.
        unsafe { _mm512_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn subtract(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn minimum(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_min_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn add_square(a: Self::V, sum: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_fmadd_ps(a, a, sum) }
    }

    #[inline(always)]
    unsafe fn where_at_most(a: Self::V, b: Self::V, value: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_mask_mov_ps(_mm512_set1_ps(f32::INFINITY), _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b), value) }
    }
}

struct Avx2;

// SAFETY: every method needs AVX2 and FMA; the function below is called only where `Isa::available` found it.
unsafe impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: as many numbers as lanes may be read.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: as many numbers as lanes may be written.
        unsafe { _mm256_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn subtract(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn minimum(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_min_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn add_square(a: Self::V, sum: Self::V) -> Self::V {
        // SAFETY: FMA is available.
        unsafe { _mm256_fmadd_ps(a, a, sum) }
    }

    #[inline(always)]
    unsafe fn where_at_most(a: Self::V, b: Self::V, value: Self::V) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_blendv_ps(_mm256_set1_ps(f32::INFINITY), value, _mm256_cmp_ps::<_CMP_LE_OQ>(a, b)) }
    }
}

/// # Safety
/// As [`tile::fill`], and AVX-512F is there.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn fill_avx512(table: Table<'_>, row: &mut [f32]) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::fill::<Avx512, 4>(table, row) }
}

/// # Safety
/// As [`tile::fill`], and AVX2 and FMA are there.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill_avx2(table: Table<'_>, row: &mut [f32]) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::fill::<Avx2, 2>(table, row) }
}
