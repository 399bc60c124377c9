//! Where each cell goes: the displacement that rigid or deformable matching takes.

use super::matching::GridMatching;
use super::plan::shape;
use super::shifts::{Shift, shifts};
use crate::data::Grids;
use crate::similarity::comparison::{CellMatch, Comparison, Pieces};

/// More products of cells than this are not computed again.
const MAX_PRODUCTS: usize = 1 << 22;

/// The best shift with the best displacement of each cell: brute force over the definition, in double precision. The
/// cost of the shift of the whole grid is shared by its cells. `None` for too many displacements, or grids of two
/// shapes.
pub(super) fn best(matching: &GridMatching, basis: &Grids, sample: &Grids) -> Option<Comparison> {
    let [rows, cols, depth] = shape(basis);
    if shape(basis) != shape(sample) {
        return None;
    }
    let [whole, local] = [matching.radius.min(rows.max(cols)), matching.local().min(rows.max(cols))];
    let of = |radius: usize| (2 * radius + 1).saturating_pow(2);
    if of(whole).saturating_mul(of(local)).saturating_mul(rows * cols) > MAX_PRODUCTS {
        return None;
    }
    let (x, y, n) = (basis.grid(0), sample.grid(0), rows * cols);
    let product = |a: usize, b: usize| -> f64 {
        let (a, b) = (&x[a * depth..][..depth], &y[b * depth..][..depth]);
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let inside = |row: i64, col: i64| (0..rows as i64).contains(&row) && (0..cols as i64).contains(&col);
    let cost = |by: Shift| matching.penalty * (by[0].pow(2) + by[1].pow(2)) as f64;
    let (shifts, locals) = (shifts([whole; 2]), shifts([local; 2]));
    let matched = |&z: &Shift| {
        let cell = |c: usize| {
            let moved = |u: &Shift| {
                let (row, col) = ((c / cols) as i64 + z[0] + u[0], (c % cols) as i64 + z[1] + u[1]);
                let sample = inside(row, col).then_some([row as usize, col as usize]);
                let value = sample.map_or(0.0, |[row, col]| product(c, row * cols + col));
                CellMatch { basis: [c / cols, c % cols], sample, share: value - cost(*u) - cost(z) / n as f64 }
            };
            locals.iter().map(moved).reduce(|best, next| if next.share > best.share { next } else { best })
        };
        let cells: Vec<CellMatch> = (0..n).filter_map(cell).collect();
        (cells.iter().map(|cell| cell.share).sum::<f64>(), cells)
    };
    let (_, cells) = shifts.iter().map(matched).reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some(Comparison::of("products of the cells, less penalties", Pieces::Cells { grid: [rows, cols], cells }))
}
