//! The loops for AVX-512 (32 registers of sixteen lanes) and AVX2 (16 of eight).

use super::panel::Panel;
use super::tile;
use crate::simd::{Avx2, Avx512};

/// The loops compiled for one instruction set. `inline(always)` of the generic bodies into these functions lets the
/// compiler use its registers.
macro_rules! compiled_for {
    ($features:literal, $simd:ty, $rows:literal, $vectors:literal, $scores:ident, $combine:ident) => {
        /// # Safety
        /// As [`tile::scores`], and the instruction set must be available.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $scores(panel: Panel<'_>, weights: &[f32], out: &mut [f32], k: usize) {
            // SAFETY: guaranteed by the caller.
            unsafe { tile::scores::<$simd, $rows>(panel, weights, out, k) }
        }

        /// # Safety
        /// As [`tile::combine`], and the instruction set must be available.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $combine(panel: Panel<'_>, factors: &[f32], sums: &mut [f32], k: usize) {
            // SAFETY: guaranteed by the caller.
            unsafe { tile::combine::<$simd, $vectors>(panel, factors, sums, k) }
        }
    };
}

// Registers: 4 × 6 sums + 4 rows + 1 problem of 32; 2 × 6 + 2 + 1 of 16.
compiled_for!("avx512f", Avx512, 4, 4, scores_avx512, combine_avx512);
compiled_for!("avx2,fma", Avx2, 2, 2, scores_avx2, combine_avx2);
