//! The loops for AVX-512 (32 registers of sixteen lanes) and AVX2 (16 of eight).

use std::arch::x86_64::*;
use std::mem::transmute;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::kernels::{Kernels, pick_products, pick_windows};
use super::pack::Format;
use super::tile::{self, Multiply, Products, Single, Windows};
use crate::simd::{Avx2, Avx512, Simd, Words};

/// The loops compiled for one instruction set. `inline(always)` of the generic bodies into these functions is what
/// lets the compiler use its registers.
macro_rules! compiled_for {
    ($module:ident, $features:literal, $simd:ty) => {
        mod $module {
            use super::*;

            /// # Safety
            /// As [`tile::products`].
            #[target_feature(enable = $features)]
            pub unsafe fn products<const B: usize, const V: usize>(work: &Products) {
                // SAFETY: the caller's promise.
                unsafe { tile::products::<$simd, Single, B, V>(work) }
            }

            /// # Safety
            /// As [`tile::windows`].
            #[target_feature(enable = $features)]
            pub unsafe fn windows<const PENALISED: bool>(work: &Windows) {
                // SAFETY: the caller's promise.
                unsafe { tile::windows::<$simd, PENALISED>(work) }
            }

            /// # Safety
            /// As [`tile::windows_of_three`].
            #[target_feature(enable = $features)]
            pub unsafe fn windows_of_three<const SHIFTS: usize, const PENALISED: bool>(work: &Windows) {
                // SAFETY: the caller's promise.
                unsafe { tile::windows_of_three::<$simd, SHIFTS, PENALISED>(work) }
            }

            #[target_feature(enable = $features)]
            pub fn add(sums: &mut [f32], values: &[f32]) {
                tile::add(sums, values);
            }

            #[target_feature(enable = $features)]
            pub fn keep_best(best: &mut [f32], values: &[f32], offset: f32) {
                tile::keep_best(best, values, offset);
            }
        }
    };
}

compiled_for!(with_avx512, "avx512f", Avx512);
compiled_for!(with_avx2, "avx2,fma", Avx2);

/// The loops of AVX-512; asked for only where it is.
pub(super) fn avx512(format: Format) -> Kernels {
    use with_avx512::{add, keep_best, products, windows, windows_of_three};
    Kernels {
        format,
        lanes: Avx512::LANES,
        most_samples: 14,
        products: |samples, vectors| pick_products!(products, samples, vectors, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        windows: |shifts, local, penalised| pick_windows!(windows, windows_of_three, shifts, local, penalised),
        // SAFETY: AVX-512F is there.
        add: |sums, values| unsafe { add(sums, values) },
        // SAFETY: as above.
        keep_best: |best, values, offset| unsafe { keep_best(best, values, offset) },
    }
}

/// The loops of AVX2; asked for only where it is.
pub(super) fn avx2(format: Format) -> Kernels {
    use with_avx2::{add, keep_best, products, windows, windows_of_three};
    Kernels {
        format,
        lanes: Avx2::LANES,
        most_samples: 6,
        products: |samples, vectors| pick_products!(products, samples, vectors, [1 2 3 4 5 6]),
        windows: |shifts, local, penalised| pick_windows!(windows, windows_of_three, shifts, local, penalised),
        // SAFETY: AVX2 and FMA are there.
        add: |sums, values| unsafe { add(sums, values) },
        // SAFETY: as above.
        keep_best: |best, values, offset| unsafe { keep_best(best, values, offset) },
    }
}

/// Operands are pairs of bfloat16.
struct Pairs;

// SAFETY: needs AVX512-BF16; `avx512_pairs` is asked for only where it is.
unsafe impl Multiply<Avx512> for Pairs {
    #[inline(always)]
    unsafe fn multiply_add(a: __m512, b: __m512, sum: __m512) -> __m512 {
        // SAFETY: AVX512-BF16 is there; vectors of 512 bits are any lanes.
        unsafe { _mm512_dpbf16_ps(sum, transmute::<__m512, __m512bh>(a), transmute::<__m512, __m512bh>(b)) }
    }
}

/// # Safety
/// As [`tile::products`].
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn products_of_pairs<const B: usize, const V: usize>(work: &Products) {
    // SAFETY: the caller's promise.
    unsafe { tile::products::<Avx512, Pairs, B, V>(work) }
}

/// The loops of AVX-512 with products of pairs; asked for only where AVX512-BF16 is.
pub(super) fn avx512_pairs() -> Kernels {
    Kernels {
        products: |samples, vectors| pick_products!(products_of_pairs, samples, vectors, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        ..avx512(Format::Pairs)
    }
}

/// True where a product of pairs is faster than the two products in single precision it stands for. Some cores
/// have it at the full rate, others at a quarter, where it does not pay; no flag tells, so the two loops are timed
/// once, some 50 µs. As the instruction is specified the
/// choice changes no value.
pub(super) fn pairs_pay() -> bool {
    static PAY: OnceLock<bool> = OnceLock::new();
    *PAY.get_or_init(|| {
        const WORDS: usize = 256;
        let (single, pairs) = (avx512(Format::Rounded), avx512_pairs());
        let (samples, bases) = (Words::zeros(14 * 2 * WORDS), Words::zeros(32 * 2 * WORDS));
        let mut out = Words::zeros(14 * 32);
        let mut time = |kernels: Kernels, inner: usize| {
            let work = Products {
                samples: samples.numbers().as_ptr(),
                samples_run: 0,
                samples_tile: 0,
                bases: bases.numbers().as_ptr(),
                bases_run: 0,
                runs: 1,
                inner,
                out: out.numbers_mut().as_mut_ptr(),
                tiles: 1,
            };
            let products = (kernels.products)(14, 2);
            let run = || {
                let start = Instant::now();
                // SAFETY: the memory above is for `inner` up to twice `WORDS`, 14 samples and 32 bases.
                unsafe { products(&work) };
                start.elapsed()
            };
            (0..5).map(|_| run()).min().unwrap_or(Duration::ZERO)
        };
        let single = time(single, 2 * WORDS);
        time(pairs, WORDS) < single
    })
}
