//! Sixteen lanes of AVX-512 (32 registers), eight of AVX2 (16 registers).

use std::arch::x86_64::*;

use super::Simd;

pub(crate) struct Avx512;

// SAFETY: every method needs AVX-512F; loops over it are called only where `Isa::available` found it.
unsafe impl Simd for Avx512 {
    type V = __m512;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_set1_ps(value) }
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
    unsafe fn load_part(from: *const f32, n: usize) -> Self::V {
        // SAFETY: lanes outside the mask are not read.
        unsafe { _mm512_maskz_loadu_ps(((1u32 << n) - 1) as u16, from) }
    }

    #[inline(always)]
    unsafe fn store_part(value: Self::V, to: *mut f32, n: usize) {
        // SAFETY: lanes outside the mask are not written.
        unsafe { _mm512_mask_storeu_ps(to, ((1u32 << n) - 1) as u16, value) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_fmadd_ps(a, b, sum) }
    }

    #[inline(always)]
    unsafe fn prefetch(address: *const f32) {
        // SAFETY: every x86-64 has the instruction, and it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }

    #[inline(always)]
    unsafe fn sum(value: Self::V) -> f32 {
        // SAFETY: AVX-512F is available.
        unsafe { _mm512_reduce_add_ps(value) }
    }
}

pub(crate) struct Avx2;

/// The mask of the first `n` of eight lanes.
#[inline(always)]
fn first_lanes(n: usize) -> [i32; 8] {
    std::array::from_fn(|l| if l < n { -1 } else { 0 })
}

// SAFETY: every method needs AVX2 and FMA; loops over it are called only where `Isa::available` found them.
unsafe impl Simd for Avx2 {
    type V = __m256;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: eight numbers may be read.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: eight numbers may be written.
        unsafe { _mm256_storeu_ps(to, value) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const f32, n: usize) -> Self::V {
        // SAFETY: lanes outside the mask are not read.
        unsafe { _mm256_maskload_ps(from, _mm256_loadu_si256(first_lanes(n).as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn store_part(value: Self::V, to: *mut f32, n: usize) {
        // SAFETY: lanes outside the mask are not written.
        unsafe { _mm256_maskstore_ps(to, _mm256_loadu_si256(first_lanes(n).as_ptr().cast()), value) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V {
        // SAFETY: AVX is available.
        unsafe { _mm256_max_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V {
        // SAFETY: FMA is available.
        unsafe { _mm256_fmadd_ps(a, b, sum) }
    }

    #[inline(always)]
    unsafe fn prefetch(address: *const f32) {
        // SAFETY: every x86-64 has the instruction, and it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }

    #[inline(always)]
    unsafe fn sum(value: Self::V) -> f32 {
        // SAFETY: AVX is available.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps::<1>(value));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        }
    }
}
