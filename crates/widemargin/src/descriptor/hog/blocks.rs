//! Cells divided by the norms of the blocks they are in.
//!
//! A cell takes 27 · 4 multiplications, comparisons and additions in vectors of 32 (the last five idle), and the
//! sums of 4 · 18 clipped numbers.

use super::votes::Votes;
use super::{DEPTH, SIGNED, UNSIGNED};

/// No normalised number counts for more.
const CLIP: f32 = 0.2;

/// What a block without gradients is kept from dividing by.
const SMALL: f32 = 1e-4;

/// 1/√18 as the original rounds it.
const TEXTURE: f32 = 0.2357;

/// Numbers [`normalise`] works in.
pub(super) fn scratch_len(rows: usize, cols: usize) -> usize {
    rows * cols + (rows + 1) * (cols + 1)
}

/// Writes `grid`, \[row\]\[column\]\[31\]; `scratch` has [`scratch_len`] numbers.
#[inline(always)]
pub(super) fn normalise(votes: &Votes, scratch: &mut [f32], grid: &mut [f32]) {
    let (rows, cols) = (votes.rows(), votes.cols());
    let (energies, blocks) = scratch.split_at_mut(rows * cols);
    for row in 0..rows {
        for col in 0..cols {
            let cell = votes.cell(row, col);
            energies[row * cols + col] = (0..UNSIGNED).map(|o| (cell[o] + cell[o + UNSIGNED]).powi(2)).sum();
        }
    }
    // Block (r, c) is the one above and to the left of cell (r, c).
    for r in 0..=rows {
        let (above, below) = (r.saturating_sub(1) * cols, r.min(rows - 1) * cols);
        for c in 0..=cols {
            let (left, right) = (c.saturating_sub(1), c.min(cols - 1));
            let energy =
                energies[above + left] + energies[above + right] + (energies[below + left] + energies[below + right]);
            blocks[r * (cols + 1) + c] = 1.0 / (energy + SMALL).sqrt();
        }
    }
    for (at, out) in grid.chunks_exact_mut(DEPTH).enumerate() {
        let (row, col) = (at / cols, at % cols);
        let block = row * (cols + 1) + col;
        let below = block + cols + 1;
        cell(votes.cell(row, col), [blocks[below + 1], blocks[block + 1], blocks[below], blocks[block]], out);
    }
}

/// The 31 numbers of a cell from its histogram and the normalisers of its four blocks.
#[inline(always)]
fn cell(histogram: &[f32; SIGNED], normalisers: [f32; 4], out: &mut [f32]) {
    let mut numbers = [0.0; 32];
    numbers[..SIGNED].copy_from_slice(histogram);
    for o in 0..UNSIGNED {
        numbers[SIGNED + o] = histogram[o] + histogram[o + UNSIGNED];
    }
    let mut sums = [0.0; 32];
    for (b, normaliser) in normalisers.into_iter().enumerate() {
        let clipped: [f32; 32] = std::array::from_fn(|l| (numbers[l] * normaliser).min(CLIP));
        for l in 0..32 {
            sums[l] += clipped[l];
        }
        out[SIGNED + UNSIGNED + b] = TEXTURE * sum_of_signed(&clipped);
    }
    for (out, sum) in out[..SIGNED + UNSIGNED].iter_mut().zip(sums) {
        *out = 0.5 * sum;
    }
}

/// The sum of the first 18, as a tree that vectors can climb.
#[inline(always)]
fn sum_of_signed(numbers: &[f32; 32]) -> f32 {
    let mut tree: [f32; 16] = std::array::from_fn(|l| numbers[l]);
    tree[0] += numbers[16];
    tree[1] += numbers[17];
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            tree[l] += tree[l + half];
        }
    }
    tree[0]
}
