//! Shifts of whole grids.

use super::base;
use crate::data::{AnySamples, Grids, Samples};

/// Rows down and columns across.
pub(super) type Shift = [i64; 2];

/// All shifts by at most `radius` rows and columns, no shift first.
pub(super) fn shifts(radius: [usize; 2]) -> Vec<Shift> {
    let [down, across] = radius.map(|radius| -(radius as i64)..=radius as i64);
    let all = down.flat_map(|row| across.clone().map(move |col| [row, col]));
    std::iter::once([0, 0]).chain(all.filter(|shift| *shift != [0, 0])).collect()
}

/// The grids as vectors, cell c + z in the place of cell c, and 0 where there is none.
pub(super) fn shifted(grids: &Grids, z: Shift) -> AnySamples {
    let (rows, cols, depth) = (grids.rows(), grids.cols(), grids.depth());
    if z == [0, 0] {
        return base::vectors(grids.cells().values.clone(), rows * cols * depth);
    }
    let mut values = vec![0.0; grids.cells().values.len()];
    // The columns whose cells stay inside.
    let from = (-z[1]).clamp(0, cols as i64) as usize;
    let to = (cols as i64 - z[1]).clamp(0, cols as i64) as usize;
    for (at, out) in values.chunks_exact_mut(rows * cols * depth).enumerate() {
        let grid = grids.grid(at);
        for (row, out) in out.chunks_exact_mut(cols * depth).enumerate() {
            let source = row as i64 + z[0];
            if (0..rows as i64).contains(&source) && from < to {
                let first = (source * cols as i64 + from as i64 + z[1]) as usize * depth;
                out[from * depth..to * depth].copy_from_slice(&grid[first..][..(to - from) * depth]);
            }
        }
    }
    debug_assert_eq!(values.len(), grids.len() * rows * cols * depth);
    base::vectors(values, rows * cols * depth)
}
