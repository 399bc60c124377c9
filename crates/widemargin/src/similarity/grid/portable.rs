//! The loops for any machine, vectorised by the compiler.

use super::kernels::{Kernels, pick_products, pick_windows};
use super::tile::{self, Products, Windows};
use crate::simd::{Portable, Simd};

unsafe fn products<const B: usize, const V: usize>(work: &Products) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::products::<Portable, B, V>(work) }
}

unsafe fn windows<const PENALISED: bool>(work: &Windows) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::windows::<Portable, PENALISED>(work) }
}

unsafe fn windows_of_three<const SHIFTS: usize, const PENALISED: bool>(work: &Windows) {
    // SAFETY: guaranteed by the caller.
    unsafe { tile::windows_of_three::<Portable, SHIFTS, PENALISED>(work) }
}

pub(super) fn kernels() -> Kernels {
    Kernels {
        lanes: Portable::LANES,
        most_samples: 4,
        products: |samples, vectors| pick_products!(products, samples, vectors, [1 2 3 4]),
        windows: |shifts, local, penalised| pick_windows!(windows, windows_of_three, shifts, local, penalised),
        add: |sums, values| tile::add(sums, values),
        keep_best: |best, values, offset| tile::keep_best(best, values, offset),
    }
}
