//! The products of cells that a set of similarities needs, and their computation.
//!
//! For a tile of samples × a panel of bases:
//!
//! - deformable similarities need the individual products of a cell with each cell around it, the *band*; a cell of the
//!   bases is multiplied with all cells it may match, and the maxima over windows are added to the sums of each shift
//!   while the products are still in the cache;
//! - rigid similarities need only the sum over all cells for a shift, one long product; a shift inside a band that is
//!   computed anyway takes its products from there.
//!
//! Samples are split into tiles of nearly equal size, bases into panels of two vectors (the last may have one), and
//! packed once. A panel's numbers (64 cells of 31 numbers of 32 bases: 254 KB) stay in the second-level cache across
//! the tiles of a block of samples.

use std::ops::Range;

use super::kernels;
use super::matching::GridMatching;
use super::tile::{Products, Windows};
use crate::data::{Grids, Samples};
use crate::error::{Error, Result};
use crate::isa::Isa;
use crate::simd::AlignedNumbers;

/// Samples packed at a time.
const BLOCK_SAMPLES: usize = 1024;

/// Bytes of the first-level cache (48 KB here, 32 on other machines) for the products and sums of a tile, besides
/// cells.
const BAND_BYTES: usize = 32 << 10;

/// One similarity: its block, and its displacements.
#[derive(Clone, Copy, Debug)]
struct Job {
    target: usize,
    /// Rows and columns of shifts to either side.
    radius: [usize; 2],
    /// Local displacements to either side.
    local: [usize; 2],
    penalty: f32,
}

/// Bases packed for several similarities of the same grids, sharing common products of cells.
///
/// Packing costs as much as comparing the bases with some ten samples, and as much memory again.
///
/// A rigid similarity combined with deformable ones sums the products cell by cell, alone in one sum, so that its last
/// bits may differ between the two.
#[derive(Debug)]
pub(crate) struct PackedBases {
    isa: Isa,
    similarities: Vec<GridMatching>,
    rows: usize,
    cols: usize,
    /// Numbers of a cell.
    depth: usize,
    n_bases: usize,
    /// The bases, panel by panel.
    bases: AlignedNumbers,
    rigid: Vec<Job>,
    deformable: Vec<Job>,
    /// The farthest shift of a rigid similarity.
    reach: [usize; 2],
    /// The farthest displacement whose products are stored cell by cell.
    band: [usize; 2],
}

impl PackedBases {
    pub fn new(similarities: &[GridMatching], bases: &Grids) -> PackedBases {
        Self::with(Isa::best(), similarities, bases)
    }

    /// The same with an instruction set of [`Isa::available`].
    pub(super) fn with(isa: Isa, similarities: &[GridMatching], bases: &Grids) -> PackedBases {
        let sides = [bases.rows(), bases.cols()];
        let (mut rigid, mut deformable) = (Vec::new(), Vec::new());
        for (target, similarity) in similarities.iter().enumerate() {
            // Displacements beyond the grid are equivalent, only more expensive.
            let local = similarity.local();
            let radius = sides.map(|side| similarity.radius.min(side + local));
            let local = [0, 1].map(|axis| local.min(sides[axis] + radius[axis]));
            // Infinity times no displacement would not be a number.
            let penalty = (similarity.penalty as f32).min(f32::MAX);
            let jobs = if local == [0, 0] { &mut rigid } else { &mut deformable };
            jobs.push(Job { target, radius, local, penalty });
        }
        let farthest = |jobs: &[Job], far: fn(&Job, usize) -> usize| {
            [0, 1].map(|axis| jobs.iter().map(|job| far(job, axis)).max().unwrap_or(0))
        };
        let depth = bases.depth();
        let grid = sides[0] * sides[1] * depth;
        let lanes = isa.lanes();
        let mut packed = AlignedNumbers::zeros(bases.len().next_multiple_of(lanes) * grid);
        for columns in panels(bases.len(), lanes) {
            let width = columns.len().next_multiple_of(lanes);
            let panel = &mut packed.numbers_mut()[columns.start * grid..][..width * grid];
            pack(bases, columns, width, panel);
        }
        PackedBases {
            isa,
            similarities: similarities.to_vec(),
            rows: sides[0],
            cols: sides[1],
            depth,
            n_bases: bases.len(),
            bases: packed,
            reach: farthest(&rigid, |job, axis| job.radius[axis]),
            band: farthest(&deformable, |job, axis| job.radius[axis] + job.local[axis]),
            rigid,
            deformable,
        }
    }

    /// Fills one block, row-major samples × bases, for each similarity.
    ///
    /// # Errors
    /// [`Error::Similarity`] if bases and samples are grids of different shapes, [`Error::Shape`] for a wrong number or
    /// size of blocks.
    pub fn fill(&self, samples: &Grids, blocks: &mut [&mut [f32]]) -> Result<()> {
        let (n_jobs, size) = (self.similarities.len(), self.n_bases * samples.len());
        if blocks.len() != n_jobs || blocks.iter().any(|block| block.len() != size) {
            let found = format!("{:?} values", blocks.iter().map(|block| block.len()).collect::<Vec<_>>());
            let expected = format!("{n_jobs} blocks of {} samples × {} bases", samples.len(), self.n_bases);
            return Err(Error::shape("blocks of grid similarities", found, expected));
        }
        match self.similarities.first() {
            Some(first) if size > 0 => {
                check_shapes(&first.to_string(), [self.rows, self.cols, self.depth], shape(samples))?;
                self.fill_blocks(samples, blocks);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn fill_blocks(&self, samples: &Grids, blocks: &mut [&mut [f32]]) {
        let lanes = self.isa.lanes();
        let most_samples = self.tile_samples();
        let grid = self.rows * self.cols * self.depth;
        let block = BLOCK_SAMPLES.min(samples.len());
        let panel = (2 * lanes).min(self.n_bases.next_multiple_of(lanes));
        let tile = most_samples.min(block);
        let mut room = Room::new(self, tile * panel);
        let mut packed = AlignedNumbers::zeros(block * grid);
        for first in (0..samples.len()).step_by(block) {
            let n = block.min(samples.len() - first);
            let tiles = || {
                let count = n.div_ceil(most_samples);
                (0..count).map(move |t| t * n / count..(t + 1) * n / count)
            };
            for tile in tiles() {
                let rows = first + tile.start..first + tile.end;
                let numbers = &mut packed.numbers_mut()[tile.start * grid..tile.end * grid];
                pack(samples, rows, tile.len(), numbers);
            }
            for columns in panels(self.n_bases, lanes) {
                let vectors = columns.len().div_ceil(lanes);
                let width = vectors * lanes;
                let bases = &self.bases.numbers()[columns.start * grid..][..width * grid];
                for tile in tiles() {
                    let words = &packed.numbers()[tile.start * grid..tile.end * grid];
                    let side = Tile { samples: tile.len(), vectors, len: tile.len() * width };
                    self.compare(&mut room, side, words, bases);
                    for (best, job) in room.best.iter().zip(self.rigid.iter().chain(&self.deformable)) {
                        for (row, best) in tile.clone().zip(best.numbers().chunks_exact(width)) {
                            let to = &mut blocks[job.target][(first + row) * self.n_bases..][columns.clone()];
                            to.copy_from_slice(&best[..columns.len()]);
                        }
                    }
                }
            }
        }
    }

    /// The maximum number of samples of a tile. Wide bands use smaller tiles: half of them still keep the multipliers
    /// busy (14 sums per number, 7 cycles, against a latency of 4), and more of their products and sums stay in the
    /// first-level cache.
    fn tile_samples(&self) -> usize {
        let most = kernels::most_samples(self.isa);
        if self.deformable.is_empty() {
            return most;
        }
        let tiles = area(self.band) + self.deformable.iter().map(|job| area(job.radius)).sum::<usize>();
        let bytes_per_sample = tiles * 2 * self.isa.lanes() * size_of::<f32>();
        (BAND_BYTES / bytes_per_sample).clamp(most.div_ceil(2), most)
    }

    /// All similarities of one tile of samples and one panel of bases, into `room.best`.
    fn compare(&self, room: &mut Room, tile: Tile, samples: &[f32], bases: &[f32]) {
        for best in &mut room.best {
            best.numbers_mut()[..tile.len].fill(f32::NEG_INFINITY);
        }
        if !self.deformable.is_empty() {
            self.walk_band(room, tile, samples, bases);
        }
        let (rigid, deformable) = room.best.split_at_mut(self.rigid.len());
        let keep = |best: &mut AlignedNumbers, values: &[f32], job: &Job, [down, across]: [isize; 2]| {
            let length = (down * down + across * across) as f32;
            kernels::keep_best(self.isa, &mut best.numbers_mut()[..tile.len], values, -job.penalty * length);
        };
        for ((best, sums), job) in deformable.iter_mut().zip(&room.sums).zip(&self.deformable) {
            for (at, shift) in shifts(job.radius).enumerate() {
                keep(best, &sums.numbers()[at * tile.len..][..tile.len], job, shift);
            }
        }
        if rigid.is_empty() {
            return;
        }
        for (at, shift) in shifts(self.reach).enumerate() {
            let inside = |radius: [usize; 2]| (0..2).all(|axis| shift[axis].unsigned_abs() <= radius[axis]);
            let sum = if !self.deformable.is_empty() && inside(self.band) {
                &room.rigid.numbers()[at * tile.len..][..tile.len]
            } else {
                self.shifted(&mut room.one, tile, shift, samples, bases);
                &room.one.numbers()[..tile.len]
            };
            for (best, job) in rigid.iter_mut().zip(&self.rigid) {
                if inside(job.radius) {
                    keep(best, sum, job, shift);
                }
            }
        }
    }

    /// Σ over all cells of base cell c · sample cell c + shift.
    fn shifted(&self, one: &mut AlignedNumbers, tile: Tile, shift: [isize; 2], samples: &[f32], bases: &[f32]) {
        let (down, across) = (overlap(self.rows, shift[0]), overlap(self.cols, shift[1]));
        if down.is_empty() || across.is_empty() {
            one.numbers_mut()[..tile.len].fill(0.0);
            return;
        }
        let cell = |row: usize, col: usize| (row * self.cols + col) * self.depth;
        let (from_sample, from_base) = (
            cell(down.start.wrapping_add_signed(shift[0]), across.start.wrapping_add_signed(shift[1])),
            cell(down.start, across.start),
        );
        let width = tile.len / tile.samples;
        let work = Products {
            samples: samples[from_sample * tile.samples..].as_ptr(),
            samples_run: cell(1, 0) * tile.samples,
            samples_tile: 0,
            bases: bases[from_base * width..].as_ptr(),
            bases_run: cell(1, 0) * width,
            runs: down.len(),
            inner: across.len() * self.depth,
            out: one.numbers_mut()[..tile.len].as_mut_ptr(),
            tiles: 1,
        };
        // SAFETY: the overlap is inside both grids, which `samples` and `bases` hold whole; `out` is one tile long.
        unsafe { kernels::products(self.isa, tile.samples, tile.vectors, &work) }
    }

    /// The sums of all shifts of the deformable similarities, and of those rigid ones that lie in the band.
    fn walk_band(&self, room: &mut Room, tile: Tile, samples: &[f32], bases: &[f32]) {
        for (sums, job) in room.sums.iter_mut().zip(&self.deformable) {
            sums.numbers_mut()[..area(job.radius) * tile.len].fill(0.0);
        }
        room.rigid.numbers_mut().fill(0.0);
        let width = tile.len / tile.samples;
        let [far_down, far_across] = self.band;
        let band_row = (2 * far_across + 1) * tile.len;
        for row in 0..self.rows {
            for col in 0..self.cols {
                let base = &bases[(row * self.cols + col) * self.depth * width..][..self.depth * width];
                let band = room.band.numbers_mut();
                for (down, band) in band.chunks_exact_mut(band_row).take(2 * far_down + 1).enumerate() {
                    // The sample's row of cells, and its columns, within reach of this row of displacements.
                    let from_row = (row + down).checked_sub(far_down).filter(|&row| row < self.rows);
                    let Some(from_row) = from_row else {
                        // Nothing writes there until the row of cells ends.
                        if col == 0 {
                            band.fill(0.0);
                        }
                        continue;
                    };
                    let from_col = col.saturating_sub(far_across);
                    let to_col = (col + far_across + 1).min(self.cols);
                    let skipped = (from_col + far_across - col) * tile.len;
                    let (before, rest) = band.split_at_mut(skipped);
                    let (inside, after) = rest.split_at_mut((to_col - from_col) * tile.len);
                    // Products outside for the previous cell are still 0, except for the new column.
                    if col == 0 {
                        before.fill(0.0);
                        after.fill(0.0);
                    } else if let Some(left) = after.get_mut(..tile.len) {
                        left.fill(0.0);
                    }
                    let first = (from_row * self.cols + from_col) * self.depth * tile.samples;
                    let cells = (to_col - from_col) * self.depth * tile.samples;
                    let work = Products {
                        samples: samples[first..first + cells].as_ptr(),
                        samples_run: 0,
                        samples_tile: self.depth * tile.samples,
                        bases: base.as_ptr(),
                        bases_run: 0,
                        runs: 1,
                        inner: self.depth,
                        out: inside.as_mut_ptr(),
                        tiles: to_col - from_col,
                    };
                    // SAFETY: `base` is a cell, `samples` has as many cells from `first` on as there are tiles,
                    // and `inside` is as many tiles long.
                    unsafe { kernels::products(self.isa, tile.samples, tile.vectors, &work) }
                }
                self.add_cell(room, tile);
            }
        }
    }

    /// Adds the results of one cell of the bases in the band to the sums.
    fn add_cell(&self, room: &mut Room, tile: Tile) {
        let band_cols = 2 * self.band[1] + 1;
        let place = |down: usize, across: usize| (down * band_cols + across) * tile.len;
        for (sums, job) in room.sums.iter_mut().zip(&self.deformable) {
            let skip = [0, 1].map(|axis| self.band[axis] - job.radius[axis] - job.local[axis]);
            let shifts = job.radius.map(|radius| 2 * radius + 1);
            let rows = shifts[0] + 2 * job.local[0];
            let (first, end) = (place(skip[0], skip[1]), place(skip[0] + rows, 0));
            let work = Windows {
                products: room.band.numbers()[first..end].as_ptr(),
                row: band_cols * tile.len,
                tile: tile.len,
                shifts,
                local: job.local,
                penalty: job.penalty,
                scratch: room.windows.numbers_mut()[..rows * shifts[1] * self.isa.lanes()].as_mut_ptr(),
                sums: sums.numbers_mut()[..shifts[0] * shifts[1] * tile.len].as_mut_ptr(),
            };
            // SAFETY: all windows lie in the band, whose rows from `first` to `end` are there; the other two are as
            // long as the windows need.
            unsafe { kernels::windows(self.isa, &work) }
        }
        if self.rigid.is_empty() {
            return;
        }
        let (sums, band) = (room.rigid.numbers_mut(), room.band.numbers());
        for (at, shift) in shifts(self.reach).enumerate() {
            let place = [0, 1].map(|axis| self.band[axis].checked_add_signed(shift[axis]));
            if let [Some(down), Some(across)] = place
                && down <= 2 * self.band[0]
                && across < band_cols
            {
                let from = (down * band_cols + across) * tile.len;
                kernels::add(self.isa, &mut sums[at * tile.len..][..tile.len], &band[from..from + tile.len]);
            }
        }
    }
}

/// The samples of a tile, vectors of bases, and numbers.
#[derive(Clone, Copy, Debug)]
struct Tile {
    samples: usize,
    vectors: usize,
    len: usize,
}

/// Memory for tiles, reused.
#[derive(Debug)]
struct Room {
    /// Products of one cell by displacement, \[row\]\[column\]\[tile\].
    band: AlignedNumbers,
    /// Sums of the deformable similarities by shift.
    sums: Vec<AlignedNumbers>,
    /// Sums of the rigid ones by shift, if they come from the band.
    rigid: AlignedNumbers,
    /// One tile.
    one: AlignedNumbers,
    windows: AlignedNumbers,
    /// The best of each similarity, rigid ones first.
    best: Vec<AlignedNumbers>,
}

impl Room {
    fn new(plan: &PackedBases, tile: usize) -> Room {
        let deformable = !plan.deformable.is_empty();
        let lanes = plan.isa.lanes();
        let windows = |job: &Job| (2 * (job.radius[0] + job.local[0]) + 1) * (2 * job.radius[1] + 1) * lanes;
        let jobs = plan.rigid.len() + plan.deformable.len();
        Room {
            band: AlignedNumbers::zeros(if deformable { area(plan.band) * tile } else { 0 }),
            sums: plan.deformable.iter().map(|job| AlignedNumbers::zeros(area(job.radius) * tile)).collect(),
            rigid: AlignedNumbers::zeros(if deformable && !plan.rigid.is_empty() {
                area(plan.reach) * tile
            } else {
                0
            }),
            one: AlignedNumbers::zeros(tile),
            windows: AlignedNumbers::zeros(plan.deformable.iter().map(windows).max().unwrap_or(0)),
            best: (0..jobs).map(|_| AlignedNumbers::zeros(tile)).collect(),
        }
    }
}

/// Packs the grids of `rows` for the hot loops as \[cell\]\[number\]\[lane\], `lanes` of them; lanes without a grid
/// are 0. A number is moved once for each tile of the other side it is multiplied with, so that packing costs one
/// multiply-add in a few thousand.
///
/// One cell at a time, so that the cache lines it is spread over (31 of 128 bytes) stay in the first-level cache until
/// all lanes are written.
fn pack(grids: &Grids, rows: Range<usize>, lanes: usize, packed: &mut [f32]) {
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

/// The bases of each panel: two vectors (the last may have one).
fn panels(n_bases: usize, lanes: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n_bases).step_by(2 * lanes).map(move |first| first..n_bases.min(first + 2 * lanes))
}

/// Number of displacements up to a radius along each axis.
fn area(radius: [usize; 2]) -> usize {
    (2 * radius[0] + 1) * (2 * radius[1] + 1)
}

/// All displacements up to a radius along each axis, row by row.
fn shifts(radius: [usize; 2]) -> impl Iterator<Item = [isize; 2]> {
    let [down, across] = radius.map(|radius| radius as isize);
    (-down..=down).flat_map(move |row| (-across..=across).map(move |col| [row, col]))
}

/// Cells of a side whose partner at distance `shift` is also on it.
fn overlap(side: usize, shift: isize) -> Range<usize> {
    let from = shift.min(0).unsigned_abs().min(side);
    from..(side - shift.max(0).unsigned_abs().min(side)).max(from)
}

/// Rejects grids of two shapes.
///
/// # Errors
/// [`Error::Similarity`].
pub(super) fn check_shapes(similarity: &str, bases: [usize; 3], samples: [usize; 3]) -> Result<()> {
    if bases == samples {
        return Ok(());
    }
    let ([r, c, d], [rows, cols, depth]) = (bases, samples);
    let problem = format!(
        "the bases are grids of {r} × {c} cells of {d} numbers, the samples of {rows} × {cols} cells of {depth}: both \
         must have one shape"
    );
    Err(Error::similarity(similarity, problem))
}

/// Rows, columns and numbers of a cell.
pub(super) fn shape(grids: &Grids) -> [usize; 3] {
    [grids.rows(), grids.cols(), grids.depth()]
}
