//! The two hot loops: products of cells, and maxima over windows of displacements.
//!
//! A tile is a few samples × a panel of bases, with bases in the lanes of V vectors: \[sample\]\[base\].
//!
//! These loops use no closures: one that is not inlined would be compiled without the instruction set.
//!
//! Products of a displacement: V + B loads for V · B multiply-adds, with B · V sums, V vectors of bases and one number
//! of a sample in registers (14 · 2 + 2 + 1 of 32, or 6 · 2 + 2 + 1 of 16). With two loads and two multiply-adds per
//! cycle arithmetic is the limit: 14 cycles against 8 for a number of 14 × 32 pairs of cells. If the products are
//! summed cell by cell, the cell of the bases (31 × 32 numbers, 4 KB) stays in the first-level cache and the cells of
//! the samples (31 × 14 numbers, 1.7 KB) come from the second, 4 bytes per cycle; the sum over all cells for a shift
//! takes both from there, 13 bytes per cycle. The latter runs at the speed of a plain matrix product, including packing
//! (150 of the 170 GFLOP/s of the multipliers of a Xeon); maxima over windows, which use the same two ports, and their
//! loads and stores leave 90 % of that at one shift and 75 % at 25 (`benchmarks/basis_expansion`).

use crate::simd::Simd;

/// Tiles of products: `tiles` consecutive ones. Steps are in numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Products {
    /// The samples' numbers, \[number\]\[B\], for the first tile.
    pub samples: *const f32,
    /// Step from one run of numbers to the next.
    pub samples_run: usize,
    /// Step from a tile's numbers to the next tile's.
    pub samples_tile: usize,
    /// The bases' numbers, \[number\]\[V vectors\], the same for all tiles.
    pub bases: *const f32,
    pub bases_run: usize,
    /// Runs of numbers, and the length of each.
    pub runs: usize,
    pub inner: usize,
    /// Output, \[tile\]\[B\]\[V vectors\] without gaps.
    pub out: *mut f32,
    pub tiles: usize,
}

/// out\[t\]\[b\]\[lane\] = Σ over runs and numbers of sample b, displaced by t tiles, times the lane's basis.
///
/// Each sum is accumulated in the order of the numbers, so that a pair has the same bits at any position of any tile.
///
/// # Safety
/// All that [`Products`] points to may be read and written.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "constant indices into register tiles are what the compiler unrolls")]
pub(super) unsafe fn products<S: Simd, const B: usize, const V: usize>(simd: S, work: &Products) {
    for tile in 0..work.tiles {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut sums = [[simd.splat(0.0); V]; B];
            for run in 0..work.runs {
                let mut sample = work.samples.add(tile * work.samples_tile + run * work.samples_run);
                let mut base = work.bases.add(run * work.bases_run);
                for _ in 0..work.inner {
                    let mut vectors = [simd.splat(0.0); V];
                    for v in 0..V {
                        vectors[v] = simd.load_unchecked(base.add(v * S::LANES));
                    }
                    for b in 0..B {
                        let number = simd.splat(*sample.add(b));
                        for v in 0..V {
                            sums[b][v] = simd.multiply_add(number, vectors[v], sums[b][v]);
                        }
                    }
                    sample = sample.add(B);
                    base = base.add(V * S::LANES);
                }
            }
            let out = work.out.add(tile * B * V * S::LANES);
            for b in 0..B {
                for v in 0..V {
                    simd.store_unchecked(sums[b][v], out.add((b * V + v) * S::LANES));
                }
            }
        }
    }
}

/// Maxima over windows: for each shift, over the local displacements around it. Steps are in numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// Tiles of products by displacement, \[row\]\[column\]\[tile\], from the first displacement of the first window.
    pub products: *const f32,
    /// Step from one row of displacements to the next.
    pub row: usize,
    /// Numbers of a tile.
    pub tile: usize,
    /// Shifts along each axis, and local displacements to either side.
    pub shifts: [usize; 2],
    pub local: [usize; 2],
    /// The penalty of a displacement, times its squared length.
    pub penalty: f32,
    /// Scratch memory of (shifts\[0\] + 2 · local\[0\]) · shifts\[1\] vectors.
    pub scratch: *mut f32,
    /// Tiles of sums by shift, \[row\]\[column\]\[tile\].
    pub sums: *mut f32,
}

/// sums\[z\] += max over u of products\[z + u\] − penalty · ‖u‖².
///
/// The maximum is separable: along the columns into `scratch`, then along the rows, vectorized over lanes. With a local
/// radius of 1 that is 2 comparisons per row of displacements and shift and 2 more per shift: for 5 × 5 shifts 120 of
/// them for 49 · 31 multiply-adds of the same lanes.
///
/// # Safety
/// All that [`Windows`] points to may be read and written.
#[inline(always)]
pub(super) unsafe fn windows<S: Simd, const PENALIZED: bool>(simd: S, work: &Windows) {
    let [shifts_down, shifts_across] = work.shifts;
    let [local_down, local_across] = work.local;
    for vector in (0..work.tile).step_by(S::LANES) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            for row in 0..shifts_down + 2 * local_down {
                for shift in 0..shifts_across {
                    let first = work.products.add(row * work.row + shift * work.tile + vector);
                    let largest = window::<S, PENALIZED>(simd, first, work.tile, local_across, work.penalty);
                    simd.store_unchecked(largest, work.scratch.add((row * shifts_across + shift) * S::LANES));
                }
            }
            for row in 0..shifts_down {
                for shift in 0..shifts_across {
                    let first = work.scratch.add((row * shifts_across + shift) * S::LANES);
                    let step = shifts_across * S::LANES;
                    let largest = window::<S, PENALIZED>(simd, first, step, local_down, work.penalty);
                    let sum = work.sums.add((row * shifts_across + shift) * work.tile + vector);
                    simd.store_unchecked(simd.add(simd.load_unchecked(sum), largest), sum);
                }
            }
        }
    }
}

/// The largest of 2 · local + 1 vectors, at distances of `step` numbers, minus the penalty of their displacement from
/// the middle.
///
/// # Safety
/// The vectors may be read.
#[inline(always)]
unsafe fn window<S: Simd, const PENALIZED: bool>(
    simd: S,
    first: *const f32,
    step: usize,
    local: usize,
    penalty: f32,
) -> S::F32s {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut largest = displaced::<S, PENALIZED>(simd, simd.load_unchecked(first), local, penalty);
        for u in 1..=2 * local {
            let other = simd.load_unchecked(first.add(u * step));
            largest = simd.max(largest, displaced::<S, PENALIZED>(simd, other, u.abs_diff(local), penalty));
        }
        largest
    }
}

/// A vector minus the penalty of a displacement.
#[inline(always)]
fn displaced<S: Simd, const PENALIZED: bool>(simd: S, value: S::F32s, displacement: usize, penalty: f32) -> S::F32s {
    if PENALIZED { simd.add(value, simd.splat(-penalty * (displacement * displacement) as f32)) } else { value }
}

/// [`windows`] with a local radius of 1 and `SHIFTS` shifts across: three rows of maxima stay in registers, and each
/// product is read once.
///
/// For 5 × 5 shifts 120 comparisons and 25 additions for the 49 · 31 multiply-adds of a vector of lanes, on the same
/// two ports: 10 % more arithmetic.
///
/// # Safety
/// As [`windows`], with `local` 1 along both axes and `shifts[1]` equal to `SHIFTS`.
#[inline(always)]
pub(super) unsafe fn windows_of_three<S: Simd, const SHIFTS: usize, const PENALIZED: bool>(simd: S, work: &Windows) {
    let cost = simd.splat(-work.penalty);
    for vector in (0..work.tile).step_by(S::LANES) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let row = work.products.add(vector);
            let mut above = row_of_threes::<S, SHIFTS, PENALIZED>(simd, row, work.tile, cost);
            let mut here = row_of_threes::<S, SHIFTS, PENALIZED>(simd, row.add(work.row), work.tile, cost);
            for down in 0..work.shifts[0] {
                let row = row.add((down + 2) * work.row);
                let below = row_of_threes::<S, SHIFTS, PENALIZED>(simd, row, work.tile, cost);
                for shift in 0..SHIFTS {
                    let largest = three::<S, PENALIZED>(simd, [above[shift], here[shift], below[shift]], cost);
                    let sum = work.sums.add((down * SHIFTS + shift) * work.tile + vector);
                    simd.store_unchecked(simd.add(simd.load_unchecked(sum), largest), sum);
                }
                (above, here) = (here, below);
            }
        }
    }
}

/// The windows of one row of displacements: a vector of each of its tiles, at distances of `tile` numbers.
///
/// # Safety
/// As [`windows_of_three`].
#[inline(always)]
unsafe fn row_of_threes<S: Simd, const SHIFTS: usize, const PENALIZED: bool>(
    simd: S,
    row: *const f32,
    tile: usize,
    cost: S::F32s,
) -> [S::F32s; SHIFTS] {
    let mut largest = [simd.splat(0.0); SHIFTS];
    for (shift, largest) in largest.iter_mut().enumerate() {
        // SAFETY: guaranteed by the caller.
        let window = unsafe {
            let first = row.add(shift * tile);
            let [left, here, right] = [first, first.add(tile), first.add(2 * tile)];
            [simd.load_unchecked(left), simd.load_unchecked(here), simd.load_unchecked(right)]
        };
        *largest = three::<S, PENALIZED>(simd, window, cost);
    }
    largest
}

/// The largest of three neighbors, the outer two with a cost.
#[inline(always)]
fn three<S: Simd, const PENALIZED: bool>(simd: S, [a, b, c]: [S::F32s; 3], cost: S::F32s) -> S::F32s {
    if PENALIZED { simd.max(simd.add(simd.max(a, c), cost), b) } else { simd.max(a, simd.max(b, c)) }
}
