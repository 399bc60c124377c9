//! The table of dynamic time warping, several rows at a time, for any vector type.
//!
//! A cell depends on its left neighbour: a minimum and a multiply-add, six cycles, in which a register could process
//! three cells. So R rows are processed together, each one column behind the row above it, with values passed down in
//! registers:
//!
//! | R cells of each lane (one channel) | |
//! |---|---|
//! | operations | R · (subtraction, 2 minima, multiply-add) = 5 R flops a lane |
//! | memory | 2 vectors read (the row above, the basis), 1 written |
//!
//! With 16 lanes and R = 4 that is 192 bytes in the first-level cache for 320 flops: arithmetic is the limit.

use crate::simd::Simd;

/// A sample and a group of bases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    /// The sample, \[time\]\[channel\]: one row of the table per time step.
    pub x: &'a [f32],
    /// The bases, \[time\]\[channel\]\[lane\]: one column per time step.
    pub y: &'a [f32],
    pub channels: usize,
    pub columns: usize,
    /// The widest band of any lane, at least the difference of rows and columns.
    pub band: usize,
    /// The band of each lane, if they differ.
    pub limits: Option<&'a [f32]>,
}

/// Fills `row`, \[column\]\[lane\], which must be infinite, with the last row of the table.
///
/// # Safety
/// `y`, `limits` and `row` hold `S::LANES` numbers for each of their positions.
#[inline(always)]
pub(super) unsafe fn fill<S: Simd, const R: usize>(simd: S, table: Table<'_>, row: &mut [f32]) {
    assert!(row.len() == table.columns * S::LANES && table.y.len() == row.len() * table.channels);
    assert!(table.limits.is_none_or(|limits| limits.len() == S::LANES));
    let n_rows = table.x.len() / table.channels;
    let row = row.as_mut_ptr();
    // SAFETY: the sizes were checked.
    unsafe {
        match (table.limits.is_some(), table.channels == 1) {
            (false, true) => rows::<S, R, false, true>(simd, table, n_rows, row),
            (false, false) => rows::<S, R, false, false>(simd, table, n_rows, row),
            (true, true) => rows::<S, R, true, true>(simd, table, n_rows, row),
            (true, false) => rows::<S, R, true, false>(simd, table, n_rows, row),
        }
    }
}

/// # Safety
/// As [`fill`], whose sizes were checked.
#[inline(always)]
unsafe fn rows<S: Simd, const R: usize, const LIMITED: bool, const ONE: bool>(
    simd: S,
    table: Table<'_>,
    n_rows: usize,
    row: *mut f32,
) {
    let mut at = 0;
    while at < n_rows {
        // SAFETY: the rows of a tile are rows of the table.
        unsafe {
            if at + R <= n_rows {
                Tile::<S, R, LIMITED, ONE>::new(simd, table, at, row).run();
                at += R;
            } else {
                Tile::<S, 1, LIMITED, ONE>::new(simd, table, at, row).run();
                at += 1;
            }
        }
    }
}

/// R rows from `first` on. At step t row r is at column t − r.
struct Tile<'a, S: Simd, const R: usize, const LIMITED: bool, const ONE: bool> {
    simd: S,
    table: Table<'a>,
    first: usize,
    row: *mut f32,
    /// The last value of each row, infinite outside its band, and the one above that, one column earlier.
    current: [S::F32s; R],
    diagonal: [S::F32s; R],
    /// For one channel: the sample at each row, and the bases at each row's column.
    x: [S::F32s; R],
    y: [S::F32s; R],
    infinite: S::F32s,
}

impl<'a, S: Simd, const R: usize, const LIMITED: bool, const ONE: bool> Tile<'a, S, R, LIMITED, ONE> {
    #[inline(always)]
    unsafe fn new(simd: S, table: Table<'a>, first: usize, row: *mut f32) -> Self {
        // SAFETY: the row above holds the column before the band's first.
        unsafe {
            let infinite = simd.splat(f32::INFINITY);
            let from = first.saturating_sub(table.band);
            let corner = match (first, from) {
                (0, _) => simd.splat(0.0),
                (_, 0) => infinite,
                _ => simd.load(row.add((from - 1) * S::LANES)),
            };
            let diagonal = std::array::from_fn(|r| if r == 0 { corner } else { infinite });
            let x = std::array::from_fn(|r| if ONE { simd.splat(table.x[first + r]) } else { infinite });
            Tile { simd, table, first, row, current: [infinite; R], diagonal, x, y: [infinite; R], infinite }
        }
    }

    /// The columns of row r in the band.
    #[inline(always)]
    fn columns(&self, r: usize) -> (usize, usize) {
        let (row, band) = (self.first + r, self.table.band);
        (row.saturating_sub(band), self.table.columns.min(row.saturating_add(band + 1)))
    }

    #[inline(always)]
    unsafe fn run(mut self) {
        let ((start, top_end), (bottom_start, bottom_end)) = (self.columns(0), self.columns(R - 1));
        let end = bottom_end + R - 1;
        // Between these all rows are in their bands.
        let inner_start = (bottom_start + R - 1).clamp(start, end);
        let inner_end = top_end.clamp(inner_start, end);
        // SAFETY: outside the inner steps each row is checked for being in its band.
        unsafe {
            (start..inner_start).for_each(|t| self.step::<true>(t));
            (inner_start..inner_end).for_each(|t| self.step::<false>(t));
            (inner_end..end).for_each(|t| self.step::<true>(t));
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
                    self.y[0] = self.simd.load(self.table.y.as_ptr().add(t * S::LANES));
                }
            }
            for r in (0..R).rev() {
                let column = t.wrapping_sub(r);
                let inside = !ASK || {
                    let (from, to) = self.columns(r);
                    t >= r && (from..to).contains(&column)
                };
                let above = match r {
                    0 if inside => self.simd.load(self.row.add(column * S::LANES)),
                    0 => self.infinite,
                    _ => self.current[r - 1],
                };
                let mut value = self.infinite;
                if inside {
                    let least = self.simd.min(self.simd.min(above, self.diagonal[r]), self.current[r]);
                    value = self.cell(r, column, least);
                    if r + 1 == R {
                        self.simd.store(value, self.row.add(column * S::LANES));
                    }
                }
                self.diagonal[r] = above;
                self.current[r] = value;
            }
        }
    }

    /// (x − y)² + sum.
    #[inline(always)]
    fn add_square(&self, x: S::F32s, y: S::F32s, sum: S::F32s) -> S::F32s {
        let difference = self.simd.subtract(x, y);
        self.simd.multiply_add(difference, difference, sum)
    }

    /// ‖x − y‖² at row r and a column, plus the smallest neighbour.
    #[inline(always)]
    unsafe fn cell(&self, r: usize, column: usize, least: S::F32s) -> S::F32s {
        let Table { x, y, channels, limits, .. } = self.table;
        // SAFETY: as in `step`.
        unsafe {
            let value = if ONE {
                self.add_square(self.x[r], self.y[r], least)
            } else {
                let mut cost = self.simd.splat(0.0);
                for channel in 0..channels {
                    let y = self.simd.load(y.as_ptr().add((column * channels + channel) * S::LANES));
                    let x = self.simd.splat(*x.get_unchecked((self.first + r) * channels + channel));
                    cost = self.add_square(x, y, cost);
                }
                self.simd.add(cost, least)
            };
            match limits {
                Some(limits) if LIMITED => {
                    let away = self.simd.splat((self.first + r).abs_diff(column) as f32);
                    self.simd.where_at_most(away, self.simd.load(limits.as_ptr()), value, self.infinite)
                }
                _ => value,
            }
        }
    }
}
