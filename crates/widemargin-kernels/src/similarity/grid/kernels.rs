//! The loops compiled for each instruction set, by the shapes of tiles and windows.

use super::tile::{self, Products, Windows};
use crate::isa::{Isa, compiled, dispatch};
use crate::simd::Simd;

/// The maximum number of samples of a tile: 14 · 2 sums, 2 vectors and 1 number of 32 registers, 6 · 2 + 2 + 1 of 16.
pub(super) fn most_samples(isa: Isa) -> usize {
    fn most<S: Simd>(_: S) -> usize {
        match S::REGISTERS {
            32 => 14,
            16 => 6,
            _ => 4,
        }
    }
    dispatch!(isa, simd => most(simd))
}

/// Products of tiles of 1 … [`most_samples`] samples and one or two vectors of bases.
///
/// # Safety
/// All memory that [`Products`] points to must be valid for reads and writes.
pub(super) unsafe fn products(isa: Isa, samples: usize, vectors: usize, work: &Products) {
    fn pick<S: Simd>(_: S, samples: usize, vectors: usize) -> unsafe fn(S, &Products) {
        macro_rules! pick {
            ($($n:literal)*) => {
                match (samples, vectors) {
                    $(($n, 1) => of::<S, $n, 1>,)*
                    $(($n, 2) => of::<S, $n, 2>,)*
                    _ => unreachable!("a tile larger than `most_samples`, or of more than two vectors"),
                }
            };
        }
        if const { S::REGISTERS == 32 } { pick!(1 2 3 4 5 6 7 8 9 10 11 12 13 14) } else { pick!(1 2 3 4 5 6) }
    }
    unsafe fn of<S: Simd, const B: usize, const V: usize>(simd: S, work: &Products) {
        // SAFETY: guaranteed by the caller.
        simd.compiled(
            #[inline(always)]
            || unsafe { tile::products::<S, B, V>(simd, work) },
        );
    }
    // SAFETY: guaranteed by the caller.
    dispatch!(isa, simd => unsafe { pick(simd, samples, vectors)(simd, work) });
}

/// Maxima over windows; a local radius of 1 has its own loops for the usual shifts.
///
/// # Safety
/// All memory that [`Windows`] points to must be valid for reads and writes.
pub(super) unsafe fn windows(isa: Isa, work: &Windows) {
    fn pick<S: Simd>(_: S, work: &Windows) -> unsafe fn(S, &Windows) {
        match (work.shifts[1], work.local, work.penalty > 0.0) {
            (1, [1, 1], false) => of_three::<S, 1, false>,
            (3, [1, 1], false) => of_three::<S, 3, false>,
            (5, [1, 1], false) => of_three::<S, 5, false>,
            (1, [1, 1], true) => of_three::<S, 1, true>,
            (3, [1, 1], true) => of_three::<S, 3, true>,
            (5, [1, 1], true) => of_three::<S, 5, true>,
            (_, _, false) => of_any::<S, false>,
            (_, _, true) => of_any::<S, true>,
        }
    }
    unsafe fn of_three<S: Simd, const SHIFTS: usize, const PENALIZED: bool>(simd: S, work: &Windows) {
        // SAFETY: guaranteed by the caller; the windows are of this kind.
        simd.compiled(
            #[inline(always)]
            || unsafe { tile::windows_of_three::<S, SHIFTS, PENALIZED>(simd, work) },
        );
    }
    unsafe fn of_any<S: Simd, const PENALIZED: bool>(simd: S, work: &Windows) {
        // SAFETY: guaranteed by the caller.
        simd.compiled(
            #[inline(always)]
            || unsafe { tile::windows::<S, PENALIZED>(simd, work) },
        );
    }
    // SAFETY: guaranteed by the caller.
    dispatch!(isa, simd => unsafe { pick(simd, work)(simd, work) });
}

compiled! {
    /// sums += values.
    pub(super) fn add(isa; sums: &mut [f32], values: &[f32]) {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
}

compiled! {
    /// best = max(best, values + offset).
    pub(super) fn keep_best(isa; best: &mut [f32], values: &[f32], offset: f32) {
        for (best, value) in best.iter_mut().zip(values) {
            let value = value + offset;
            *best = if value > *best { value } else { *best };
        }
    }
}
