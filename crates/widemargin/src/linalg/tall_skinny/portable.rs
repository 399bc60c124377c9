//! The loops for any machine, vectorised by the compiler.

use super::panel::Panel;
use super::tile;
use crate::simd::Portable;

/// # Safety
/// As [`tile::scores`].
pub(super) unsafe fn scores(panel: Panel<'_>, weights: &[f32], out: &mut [f32], k: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::scores::<Portable, 2>(panel, weights, out, k) }
}

/// # Safety
/// As [`tile::combine`].
pub(super) unsafe fn combine(panel: Panel<'_>, factors: &[f32], sums: &mut [f32], k: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::combine::<Portable, 1>(panel, factors, sums, k) }
}
