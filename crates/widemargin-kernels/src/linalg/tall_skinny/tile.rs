//! The two products as loops over register tiles, for any vector type.
#![expect(clippy::needless_range_loop, reason = "constant indices into register tiles are unrolled by the compiler")]

use std::slice::from_raw_parts as slice;

use super::Panel;
use crate::simd::{Simd, prefetch};

/// Features of one block of [`scores`]: 4 rows and 6 problems of it are 40 KiB, so that a problem tile stays in the
/// first-level cache across the rows of the panel.
const BLOCK_FEATURES: usize = 1024;

/// The maximum number of problems of a tile.
const PROBLEMS: usize = 6;

/// Calls `$tile::<…, P>` with the run-time number of problems as a constant.
macro_rules! with_problems {
    ($n:expr, $tile:ident, $s:ty, $m:expr, ($($arg:expr),*)) => {
        match $n {
            1 => $tile::<$s, { $m }, 1>($($arg),*),
            2 => $tile::<$s, { $m }, 2>($($arg),*),
            3 => $tile::<$s, { $m }, 3>($($arg),*),
            4 => $tile::<$s, { $m }, 4>($($arg),*),
            5 => $tile::<$s, { $m }, 5>($($arg),*),
            _ => $tile::<$s, { $m }, 6>($($arg),*),
        }
    };
}

/// Start and length of the problem tiles, nearly equal, so that ten problems are 5 + 5 and not 6 + 4.
fn problem_tiles(n: usize) -> impl Iterator<Item = (usize, usize)> {
    let tiles = n.div_ceil(PROBLEMS);
    (0..tiles).map(move |t| {
        let (from, to) = (t * n / tiles, (t + 1) * n / tiles);
        (from, to - from)
    })
}

/// out += Φ·Wᵀ.
///
/// # Safety
/// The rows of the panel are in its matrix, `weights` is `k` × features, `out` `k` × rows.
#[inline(always)]
pub(super) unsafe fn scores<S: Simd>(simd: S, panel: Panel<'_>, weights: &[f32], out: &mut [f32], k: usize) {
    // SAFETY: guaranteed by the caller. Registers: 4 × 6 sums + 4 rows + 1 problem of 32; 2 × 6 + 2 + 1 of 16.
    unsafe {
        match S::REGISTERS {
            32 => scores_by_tiles::<S, 4>(simd, panel, weights, out, k),
            _ => scores_by_tiles::<S, 2>(simd, panel, weights, out, k),
        }
    }
}

/// [`scores`] with tiles of `R` rows.
///
/// # Safety
/// As [`scores`].
#[inline(always)]
unsafe fn scores_by_tiles<S: Simd, const R: usize>(
    simd: S,
    panel: Panel<'_>,
    weights: &[f32],
    out: &mut [f32],
    k: usize,
) {
    let (n, d) = (panel.rows.len(), panel.n_cols);
    for from in (0..d).step_by(BLOCK_FEATURES) {
        let width = BLOCK_FEATURES.min(d - from);
        for (problem, count) in problem_tiles(k) {
            // SAFETY: `from` + `width` features of rows and problems that exist.
            unsafe {
                let weights = weights.as_ptr().add(problem * d + from);
                let mut row = 0;
                while row < n {
                    let out = out.as_mut_ptr().add(problem * n + row);
                    let first = panel.values.as_ptr().add(from);
                    if n - row >= R {
                        let rows: [*const f32; R] =
                            std::array::from_fn(|r| first.add(panel.rows[row + r] as usize * d));
                        // The last rows of a panel prefetch nothing new: the rows after the panel are unknown.
                        let next = if n - row >= 2 * R { row + R } else { row };
                        let next: [*const f32; R] =
                            std::array::from_fn(|r| first.add(panel.rows[next + r] as usize * d));
                        with_problems!(count, scores_tile, S, R, (simd, [rows, next], weights, d, width, out, n));
                        row += R;
                    } else {
                        let rows = [first.add(panel.rows[row] as usize * d)];
                        with_problems!(count, scores_tile, S, 1, (simd, [rows; 2], weights, d, width, out, n));
                        row += 1;
                    }
                }
            }
        }
    }
}

/// R rows times P problems over `width` features: R + P loads for R · P multiply-adds. Meanwhile the `next` rows are
/// prefetched: their distance of a whole row is not predicted by hardware prefetchers.
///
/// # Safety
/// `width` numbers may be read at every row and at `weights + p * stride`; `out + p * n + r` may be written.
#[inline(always)]
unsafe fn scores_tile<S: Simd, const R: usize, const P: usize>(
    simd: S,
    [rows, next]: [[*const f32; R]; 2],
    weights: *const f32,
    stride: usize,
    width: usize,
    out: *mut f32,
    n: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut sums = [[simd.splat(0.0); P]; R];
        let mut at = 0;
        while at + S::LANES <= width {
            let features: [S::F32s; R] = std::array::from_fn(|r| simd.load_unchecked(rows[r].add(at)));
            for next in next {
                prefetch(next.add(at));
            }
            for p in 0..P {
                let weight = simd.load_unchecked(weights.add(p * stride + at));
                for r in 0..R {
                    sums[r][p] = simd.multiply_add(features[r], weight, sums[r][p]);
                }
            }
            at += S::LANES;
        }
        if at < width {
            let rest = width - at;
            let features: [S::F32s; R] = std::array::from_fn(|r| simd.load_part(slice(rows[r].add(at), rest)));
            for p in 0..P {
                let weight = simd.load_part(slice(weights.add(p * stride + at), rest));
                for r in 0..R {
                    sums[r][p] = simd.multiply_add(features[r], weight, sums[r][p]);
                }
            }
        }
        for p in 0..P {
            for r in 0..R {
                *out.add(p * n + r) += simd.sum(sums[r][p]);
            }
        }
    }
}

/// sums += Rᵀ·Φ.
///
/// # Safety
/// The rows of the panel are in its matrix, `factors` is `k` × rows, `sums` `k` × features.
#[inline(always)]
pub(super) unsafe fn combine<S: Simd>(simd: S, panel: Panel<'_>, factors: &[f32], sums: &mut [f32], k: usize) {
    // SAFETY: guaranteed by the caller. Registers: as for `scores`.
    unsafe {
        match S::REGISTERS {
            32 => combine_by_tiles::<S, 4>(simd, panel, factors, sums, k),
            16 => combine_by_tiles::<S, 2>(simd, panel, factors, sums, k),
            _ => combine_by_tiles::<S, 1>(simd, panel, factors, sums, k),
        }
    }
}

/// [`combine`] with tiles of `V` vectors of features.
///
/// # Safety
/// As [`combine`].
#[inline(always)]
unsafe fn combine_by_tiles<S: Simd, const V: usize>(
    simd: S,
    panel: Panel<'_>,
    factors: &[f32],
    sums: &mut [f32],
    k: usize,
) {
    let (n, d) = (panel.rows.len(), panel.n_cols);
    let mut at = 0;
    while at < d {
        let wide = d - at >= V * S::LANES;
        for (problem, count) in problem_tiles(k) {
            // SAFETY: features from `at` on, of rows and problems that exist.
            unsafe {
                let factors = factors.as_ptr().add(problem * n);
                let sums = sums.as_mut_ptr().add(problem * d + at);
                if wide {
                    with_problems!(count, combine_tile, S, V, (simd, panel, at, factors, sums, V * S::LANES));
                } else {
                    let width = S::LANES.min(d - at);
                    with_problems!(count, combine_tile, S, 1, (simd, panel, at, factors, sums, width));
                }
            }
        }
        at += if wide { V * S::LANES } else { S::LANES };
    }
}

/// V vectors of features times P problems over all rows: V + P loads for V · P multiply-adds.
///
/// # Safety
/// `width` (V vectors, or less than one if V = 1) numbers may be read from feature `at` of every row and written at
/// `sums + p * features`; `factors` has `p * rows` numbers.
#[inline(always)]
unsafe fn combine_tile<S: Simd, const V: usize, const P: usize>(
    simd: S,
    panel: Panel<'_>,
    at: usize,
    factors: *const f32,
    sums: *mut f32,
    width: usize,
) {
    let (n, d) = (panel.rows.len(), panel.n_cols);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let first = panel.values.as_ptr().add(at);
        let mut tile = [[simd.splat(0.0); V]; P];
        if width == V * S::LANES {
            for (i, &row) in panel.rows.iter().enumerate() {
                let row = first.add(row as usize * d);
                let features: [S::F32s; V] = std::array::from_fn(|v| simd.load_unchecked(row.add(v * S::LANES)));
                for p in 0..P {
                    let factor = simd.splat(*factors.add(p * n + i));
                    for v in 0..V {
                        tile[p][v] = simd.multiply_add(features[v], factor, tile[p][v]);
                    }
                }
            }
            let one = simd.splat(1.0);
            for p in 0..P {
                for v in 0..V {
                    let to = sums.add(p * d + v * S::LANES);
                    simd.store_unchecked(simd.multiply_add(tile[p][v], one, simd.load_unchecked(to)), to);
                }
            }
        } else {
            for (i, &row) in panel.rows.iter().enumerate() {
                let features = simd.load_part(slice(first.add(row as usize * d), width));
                for p in 0..P {
                    tile[p][0] = simd.multiply_add(features, simd.splat(*factors.add(p * n + i)), tile[p][0]);
                }
            }
            let one = simd.splat(1.0);
            for p in 0..P {
                let to = std::slice::from_raw_parts_mut(sums.add(p * d), width);
                simd.store_part(simd.multiply_add(tile[p][0], one, simd.load_part(to)), to);
            }
        }
    }
}
