//! Packing of cells for the hot loops: the same number of several grids is interleaved.
//!
//! A number is moved once for each tile of the other side it is multiplied with, so that packing costs one multiply-add
//! in a few thousand.

use std::ops::Range;

use crate::data::Grids;

/// Packs the grids of `rows` as \[cell\]\[number\]\[lane\], `lanes` of them; lanes without a grid are 0.
///
/// One cell at a time, so that the cache lines it is spread over (31 of 128 bytes) stay in the first-level cache until
/// all lanes are written.
pub(super) fn pack(grids: &Grids, rows: Range<usize>, lanes: usize, packed: &mut [f32]) {
    let depth = grids.depth();
    if rows.len() < lanes {
        packed.fill(0.0);
    }
    for (at, packed) in packed.chunks_exact_mut(lanes * depth).enumerate() {
        for (lane, row) in rows.clone().enumerate() {
            let cell = &grids.grid(row)[at * depth..][..depth];
            for (place, number) in packed.chunks_exact_mut(lanes).zip(cell) {
                place[lane] = *number;
            }
        }
    }
}
