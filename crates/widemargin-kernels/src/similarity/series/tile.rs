//! The table of an elastic distance, several rows at a time, for any vector type and any rule.
//!
//! A cell depends on its left neighbor: for time warping a minimum and a multiply-add, six cycles, in which a register
//! could process three cells. So R rows are processed together, each one column behind the row above it, with values
//! passed down in registers:
//!
//! | R cells of each lane (one channel) | |
//! |---|---|
//! | operations | R times those of the rule, for time warping subtraction, 2 minima, multiply-add: 5 R flops a lane |
//! | memory | 2 vectors read (the row above, the basis), 1 written; and the precomputed values of the rule |
//!
//! With 16 lanes and R = 4 that is 192 bytes in the first-level cache for 320 flops: arithmetic is the limit.

use super::rule::{Neighbors, OffsetsOfPair, Place, Rule, Table};
use crate::simd::Simd;

/// Fills `row`, \[column\]\[lane\], which must hold the values above the first row, with the last row of the table. All
/// that has lanes holds `S::LANES` numbers for each of its positions, and the offsets reach as far as the band.
#[inline(always)]
pub(super) fn fill<S: Simd, F: Rule, const R: usize>(simd: S, rule: F, table: Table<'_>, row: &mut [f32]) {
    table.check::<F>(S::LANES);
    assert!(row.len() == table.columns * S::LANES);
    match (table.limits.is_some(), table.channels == 1) {
        (false, true) => rows::<S, F, R, false, true>(simd, rule, table, row),
        (false, false) => rows::<S, F, R, false, false>(simd, rule, table, row),
        (true, true) => rows::<S, F, R, true, true>(simd, rule, table, row),
        (true, false) => rows::<S, F, R, true, false>(simd, rule, table, row),
    }
}

#[inline(always)]
fn rows<S: Simd, F: Rule, const R: usize, const LIMITED: bool, const ONE: bool>(
    simd: S,
    rule: F,
    table: Table<'_>,
    row: &mut [f32],
) {
    let mut at = 0;
    while at < table.rows {
        if at + R <= table.rows {
            Tile::<S, F, R, LIMITED, ONE>::new(simd, rule, table, at, row).run();
            at += R;
        } else {
            // The last rows are few: one form serves tables with limits and without, which compiles faster.
            Tile::<S, F, 1, true, ONE>::new(simd, rule, table, at, row).run();
            at += 1;
        }
    }
}

/// R rows from `first` on. At step t row r is at column t − r.
struct Tile<'a, S: Simd, F: Rule, const R: usize, const LIMITED: bool, const ONE: bool> {
    simd: S,
    rule: F,
    table: Table<'a>,
    first: usize,
    row: &'a mut [f32],
    /// The last value of each row, infinite outside its band, and the one above that, one column earlier.
    current: [S::F32s; R],
    diagonal: [S::F32s; R],
    /// For one channel: the sample at each row, and the bases at each row's column.
    x: [S::F32s; R],
    y: [S::F32s; R],
    infinite: S::F32s,
}

impl<'a, S: Simd, F: Rule, const R: usize, const LIMITED: bool, const ONE: bool> Tile<'a, S, F, R, LIMITED, ONE> {
    #[inline(always)]
    fn new(simd: S, rule: F, table: Table<'a>, first: usize, row: &'a mut [f32]) -> Self {
        let infinite = simd.splat(f32::INFINITY);
        let mut tile = Tile {
            simd,
            rule,
            table,
            first,
            row,
            current: [infinite; R],
            diagonal: [infinite; R],
            x: [infinite; R],
            y: [infinite; R],
            infinite,
        };
        let from = first.saturating_sub(table.band);
        tile.diagonal[0] = match (first, from) {
            (0, _) => simd.splat(0.0),
            (_, 0) => tile.edge(first - 1),
            // The row above holds the column before the band's first.
            _ => simd.load(&tile.row[(from - 1) * S::LANES..]),
        };
        if from == 0 {
            tile.current[0] = tile.edge(first);
        }
        if ONE {
            for r in 0..R {
                tile.x[r] = tile.place(r, 0).x_at(table.x.values, 0);
            }
        }
        tile
    }

    #[inline(always)]
    fn place(&self, r: usize, column: usize) -> Place<'a, S, ONE> {
        Place { simd: self.simd, table: self.table, row: self.first + r, column, x: self.x[r], y: self.y[r] }
    }

    /// The value before the first column of a row of the table; infinite where the band is the diagonal alone.
    #[inline(always)]
    fn edge(&self, row: usize) -> S::F32s {
        if !F::HAS_EDGES || self.table.band == 0 {
            return self.infinite;
        }
        let edge = self.simd.splat(self.table.x.edge[row]);
        match self.table.limits {
            Some(limits) if LIMITED => {
                self.simd.where_at_most(self.simd.splat(1.0), self.simd.load(limits), edge, self.infinite)
            }
            _ => edge,
        }
    }

    /// The columns of row r in the band.
    #[inline(always)]
    fn columns(&self, r: usize) -> (usize, usize) {
        let (row, band) = (self.first + r, self.table.band);
        (row.saturating_sub(band), self.table.columns.min(row.saturating_add(band + 1)))
    }

    #[inline(always)]
    fn run(mut self) {
        let ((start, top_end), (bottom_start, bottom_end)) = (self.columns(0), self.columns(R - 1));
        let end = bottom_end + R - 1;
        // Between these all rows are in their bands.
        let inner_start = (bottom_start + R - 1).clamp(start, end);
        let inner_end = top_end.clamp(inner_start, end);
        // SAFETY: outside the inner steps each row is checked for being in its band. Loops, not closures, which may not be
        // inlined: vectors would then be passed to a function for each operation.
        unsafe {
            for t in start..inner_start {
                self.step::<true>(t);
            }
            for t in inner_start..inner_end {
                self.step::<false>(t);
            }
            for t in inner_end..end {
                self.step::<true>(t);
            }
        }
    }

    /// One column for each row, the lowest row first: it needs the previous value of the row above.
    ///
    /// # Safety
    /// Without `ASK` every row is inside its band at step `t`.
    #[inline(always)]
    unsafe fn step<const ASK: bool>(&mut self, t: usize) {
        // SAFETY: columns in the band are columns of the table, and there are as many of y and of the row.
        unsafe {
            if ONE {
                for r in (1..R).rev() {
                    self.y[r] = self.y[r - 1];
                }
                if t < self.table.columns {
                    self.y[0] = self.simd.load_unchecked(self.table.y.values.as_ptr().add(t * S::LANES));
                }
            }
            for r in (0..R).rev() {
                let column = t.wrapping_sub(r);
                let inside = !ASK || {
                    let (from, to) = self.columns(r);
                    t >= r && (from..to).contains(&column)
                };
                let above = match r {
                    0 if inside => self.simd.load_unchecked(self.row.as_ptr().add(column * S::LANES)),
                    0 => self.infinite,
                    _ => self.current[r - 1],
                };
                let mut value = self.infinite;
                if inside {
                    let neighbors = Neighbors { above, diagonal: self.diagonal[r], left: self.current[r] };
                    value = self.limited(r, column, self.rule.cell(&self.place(r, column), neighbors));
                    if r + 1 == R {
                        self.simd.store_unchecked(value, self.row.as_mut_ptr().add(column * S::LANES));
                    }
                } else if F::HAS_EDGES && t + 1 == r {
                    value = self.edge(self.first + r);
                }
                self.diagonal[r] = above;
                self.current[r] = value;
            }
        }
    }

    /// The value in lanes whose band has this cell.
    #[inline(always)]
    fn limited(&self, r: usize, column: usize, value: S::F32s) -> S::F32s {
        match self.table.limits {
            Some(limits) if LIMITED => {
                let away = self.simd.splat((self.first + r).abs_diff(column) as f32);
                self.simd.where_at_most(away, self.simd.load(limits), value, self.infinite)
            }
            _ => value,
        }
    }
}

/// Whether the numbers reach as far as the band of a table.
pub(super) fn reaches(table: &Table<'_>, lanes: usize) -> bool {
    let most = table.band.min(table.rows.max(table.columns) - 1);
    match table.offsets {
        OffsetsOfPair::Shared { numbers, start, stride } => numbers.is_empty() || start + stride * most < numbers.len(),
        OffsetsOfPair::Lanes(numbers) => (most + 1) * lanes <= numbers.len(),
    }
}
