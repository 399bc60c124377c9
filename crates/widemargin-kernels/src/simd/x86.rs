//! Sixteen lanes of AVX-512 (32 registers), eight of AVX2 (16 registers).

use std::arch::x86_64::*;

use super::{Simd, operations};

/// AVX-512F and BW, which every server and desktop processor with AVX-512 has.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    pub fn available() -> Option<Self> {
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")).then_some(Avx512(()))
    }
}

impl Simd for Avx512 {
    type F32s = __m512;
    type I32s = __m512i;
    const LANES: usize = 16;
    const REGISTERS: usize = 32;
    const COMPARES_TO_BITS: bool = true;

    #[inline(always)]
    fn compiled<R>(self, body: impl FnOnce() -> R) -> R {
        // Inline, so that it is compiled with its caller, and its own callees can be inlined.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn inner<R>(body: impl FnOnce() -> R) -> R {
            body()
        }
        // SAFETY: `self` is the proof that the machine has the instruction set.
        unsafe { inner(body) }
    }

    operations! { __m512:
        add(a, b) = _mm512_add_ps(a, b);
        subtract(a, b) = _mm512_sub_ps(a, b);
        multiply(a, b) = _mm512_mul_ps(a, b);
        abs(a) = _mm512_abs_ps(a);
        sqrt(a) = _mm512_sqrt_ps(a);
        min(a, b) = _mm512_min_ps(a, b);
        max(a, b) = _mm512_max_ps(a, b);
        multiply_add(a, b, sum) = _mm512_fmadd_ps(a, b, sum);
        where_at_most(a, b, yes, no) = _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b), yes);
    }
    operations! { __m512i:
        add_i32(a, b) = _mm512_add_epi32(a, b);
        max_i32(a, b) = _mm512_max_epi32(a, b);
        where_equal_i32(a, b, yes, no) = _mm512_mask_mov_epi32(no, _mm512_cmpeq_epi32_mask(a, b), yes);
    }

    operations! {
        splat(value: f32) -> __m512 = _mm512_set1_ps(value);
        splat_i32(value: i32) -> __m512i = _mm512_set1_epi32(value);
        sum(value: __m512) -> f32 = _mm512_reduce_add_ps(value);
        sum_i32(value: __m512i) -> i32 = _mm512_reduce_add_epi32(value);
        above(a: __m512, b: __m512) -> u16 = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b);
        count_above(a: __m512, b: __m512, counts: __m512i) -> __m512i = {
            let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b);
            _mm512_mask_add_epi32(counts, above, counts, _mm512_set1_epi32(1))
        };
    }

    #[inline(always)]
    fn add_bits(self, rows: &[[u16; 32]], counts: &mut [i32; 32]) {
        // SAFETY: `self` is the proof that the machine has the instruction set; a row is a vector, and the counts are two. A
        // byte counts up to 8 · 31 bits.
        unsafe {
            // The bits of a number below 16, for each four bits of a byte.
            let table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
            let four = _mm512_set1_epi8(15);
            let mut bytes = _mm512_setzero_si512();
            for row in rows {
                let row = _mm512_loadu_si512(row.as_ptr().cast());
                let low = _mm512_shuffle_epi8(table, _mm512_and_si512(row, four));
                let high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16::<4>(row), four));
                bytes = _mm512_add_epi8(bytes, _mm512_add_epi8(low, high));
            }
            let sums = _mm512_maddubs_epi16(bytes, _mm512_set1_epi8(1));
            let halves = [_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64::<1>(sums)];
            for (half, counts) in halves.into_iter().zip(counts.as_chunks_mut::<16>().0) {
                let so_far = self.load_i32(counts);
                self.store_i32(self.add_i32(so_far, _mm512_cvtepu16_epi32(half)), counts);
            }
        }
    }

    #[inline(always)]
    fn load_part(self, from: &[f32]) -> __m512 {
        // SAFETY: as above; lanes outside the mask are not read.
        unsafe { _mm512_maskz_loadu_ps(first_lanes_mask(from.len()), from.as_ptr()) }
    }

    #[inline(always)]
    fn store_part(self, value: __m512, to: &mut [f32]) {
        // SAFETY: as above; lanes outside the mask are not written.
        unsafe { _mm512_mask_storeu_ps(to.as_mut_ptr(), first_lanes_mask(to.len()), value) }
    }

    #[inline(always)]
    unsafe fn spread<const WIDE: bool>(self, numbers: *const f32, pattern: __m512i) -> __m512 {
        // SAFETY: as above; sixteen numbers may be read where WIDE, else four.
        unsafe {
            if WIDE {
                _mm512_permutexvar_ps(pattern, self.load_unchecked(numbers))
            } else {
                _mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(numbers)), pattern)
            }
        }
    }
}

/// The mask of the first `n` of sixteen lanes.
#[inline(always)]
fn first_lanes_mask(n: usize) -> u16 {
    ((1u32 << n.min(16)) - 1) as u16
}

/// AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    pub fn available() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }
}

/// The mask of the first `n` of eight lanes.
#[inline(always)]
fn first_lanes(n: usize) -> [i32; 8] {
    std::array::from_fn(|l| if l < n { -1 } else { 0 })
}

impl Simd for Avx2 {
    type F32s = __m256;
    type I32s = __m256i;
    const LANES: usize = 8;
    const REGISTERS: usize = 16;

    #[inline(always)]
    fn compiled<R>(self, body: impl FnOnce() -> R) -> R {
        // Inline, so that it is compiled with its caller, and its own callees can be inlined.
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn inner<R>(body: impl FnOnce() -> R) -> R {
            body()
        }
        // SAFETY: `self` is the proof that the machine has the instruction sets.
        unsafe { inner(body) }
    }

    operations! { __m256:
        add(a, b) = _mm256_add_ps(a, b);
        subtract(a, b) = _mm256_sub_ps(a, b);
        multiply(a, b) = _mm256_mul_ps(a, b);
        abs(a) = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        sqrt(a) = _mm256_sqrt_ps(a);
        min(a, b) = _mm256_min_ps(a, b);
        max(a, b) = _mm256_max_ps(a, b);
        multiply_add(a, b, sum) = _mm256_fmadd_ps(a, b, sum);
        where_at_most(a, b, yes, no) = _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LE_OQ>(a, b));
    }
    operations! { __m256i:
        add_i32(a, b) = _mm256_add_epi32(a, b);
        max_i32(a, b) = _mm256_max_epi32(a, b);
        where_equal_i32(a, b, yes, no) = _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(a, b));
    }

    operations! {
        splat(value: f32) -> __m256 = _mm256_set1_ps(value);
        splat_i32(value: i32) -> __m256i = _mm256_set1_epi32(value);
        sum(value: __m256) -> f32 = {
            let four = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps::<1>(value));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        };
        sum_i32(value: __m256i) -> i32 = {
            let four = _mm_add_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256::<1>(value));
            let two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
            _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<1>(two)))
        };
        // A lane of all ones is −1.
        count_above(a: __m256, b: __m256, counts: __m256i) -> __m256i =
            _mm256_sub_epi32(counts, _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(a, b)));
    }

    #[inline(always)]
    fn load_part(self, from: &[f32]) -> __m256 {
        // SAFETY: `self` is the proof that the machine has the instruction sets; lanes outside the mask are not read.
        unsafe { _mm256_maskload_ps(from.as_ptr(), self.load_i32(&first_lanes(from.len()))) }
    }

    #[inline(always)]
    fn store_part(self, value: __m256, to: &mut [f32]) {
        // SAFETY: as above; lanes outside the mask are not written.
        unsafe { _mm256_maskstore_ps(to.as_mut_ptr(), self.load_i32(&first_lanes(to.len())), value) }
    }

    #[inline(always)]
    unsafe fn spread<const WIDE: bool>(self, numbers: *const f32, pattern: __m256i) -> __m256 {
        // SAFETY: as above; sixteen numbers may be read where WIDE, else four, and the pattern is of these.
        unsafe {
            if WIDE {
                _mm256_i32gather_ps::<4>(numbers, pattern)
            } else {
                _mm256_permutevar_ps(_mm256_broadcast_ps(&_mm_loadu_ps(numbers)), pattern)
            }
        }
    }
}
