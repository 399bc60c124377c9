//! The loops for AVX-512 (32 registers of sixteen lanes) and AVX2 (16 of eight).

use super::kernels::{Kernels, pick_products, pick_windows};
use super::tile::{self, Products, Windows};
use crate::simd::{Avx2, Avx512, Simd};

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
                // SAFETY: guaranteed by the caller.
                unsafe { tile::products::<$simd, B, V>(work) }
            }

            /// # Safety
            /// As [`tile::windows`].
            #[target_feature(enable = $features)]
            pub unsafe fn windows<const PENALISED: bool>(work: &Windows) {
                // SAFETY: guaranteed by the caller.
                unsafe { tile::windows::<$simd, PENALISED>(work) }
            }

            /// # Safety
            /// As [`tile::windows_of_three`].
            #[target_feature(enable = $features)]
            pub unsafe fn windows_of_three<const SHIFTS: usize, const PENALISED: bool>(work: &Windows) {
                // SAFETY: guaranteed by the caller.
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
pub(super) fn avx512() -> Kernels {
    use with_avx512::{add, keep_best, products, windows, windows_of_three};
    Kernels {
        lanes: Avx512::LANES,
        most_samples: 14,
        products: |samples, vectors| pick_products!(products, samples, vectors, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        windows: |shifts, local, penalised| pick_windows!(windows, windows_of_three, shifts, local, penalised),
        // SAFETY: AVX-512F is available.
        add: |sums, values| unsafe { add(sums, values) },
        // SAFETY: as above.
        keep_best: |best, values, offset| unsafe { keep_best(best, values, offset) },
    }
}

/// The loops of AVX2; asked for only where it is.
pub(super) fn avx2() -> Kernels {
    use with_avx2::{add, keep_best, products, windows, windows_of_three};
    Kernels {
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
