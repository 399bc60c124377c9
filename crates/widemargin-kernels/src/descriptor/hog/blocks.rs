//! Normalization of cells by the norms of their blocks.
//!
//! A cell takes 27 · 4 multiplications, comparisons and additions in vectors of 32 (the last five idle), and the
//! sums of 4 · 18 clipped numbers.

use super::votes::{SIGNED, Votes};

/// Numbers per cell: 18 signed orientations, 9 unsigned ones, 4 of texture.
pub(super) const DEPTH: usize = 31;

/// Unsigned orientations.
const UNSIGNED: usize = 9;

/// Normalized values are clipped here.
const CLIP: f32 = 0.2;

/// Avoids division by zero in blocks without gradients.
const SMALL: f32 = 1e-4;

/// 1/√18 as rounded by the original.
const TEXTURE: f32 = 0.2357;

/// Writes `grid`, \[row\]\[column\]\[31\]; `scratch` is reused from image to image.
#[inline(always)]
pub(super) fn normalize(votes: &Votes, scratch: &mut Vec<f32>, grid: &mut [f32]) {
    let (rows, cols) = (votes.rows, votes.cols);
    scratch.resize(rows * cols + (rows + 1) * (cols + 1), 0.0);
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
    let (cells, _) = grid.as_chunks_mut::<DEPTH>();
    for (row, cells) in cells.chunks_exact_mut(cols).enumerate() {
        let above = &blocks[row * (cols + 1)..][..cols + 1];
        let below = &blocks[(row + 1) * (cols + 1)..][..cols + 1];
        for (col, out) in cells.iter_mut().enumerate() {
            let normalizers = [below[col + 1], above[col + 1], below[col], above[col]];
            write_cell(votes.cell(row, col), normalizers, out);
        }
    }
}

/// The 31 numbers of a cell from its histogram and the normalizers of its four blocks: sixteen signed ones, then
/// the last two with the nine unsigned ones, as two vectors.
#[inline(always)]
fn write_cell(histogram: &[f32; SIGNED], normalizers: [f32; 4], out: &mut [f32; DEPTH]) {
    let mut first = [0.0; 16];
    let mut rest = [0.0; 16];
    first.copy_from_slice(&histogram[..16]);
    rest[..2].copy_from_slice(&histogram[16..]);
    for o in 0..UNSIGNED {
        rest[2 + o] = histogram[o] + histogram[o + UNSIGNED];
    }
    let (mut first_sums, mut rest_sums) = ([0.0; 16], [0.0; 16]);
    for (b, normalizer) in normalizers.into_iter().enumerate() {
        let first = clipped(&first, normalizer);
        let rest = clipped(&rest, normalizer);
        for l in 0..16 {
            first_sums[l] += first[l];
            rest_sums[l] += rest[l];
        }
        out[SIGNED + UNSIGNED + b] = TEXTURE * sum_of_signed(&first, &rest);
    }
    for l in 0..16 {
        out[l] = 0.5 * first_sums[l];
    }
    for l in 16..SIGNED + UNSIGNED {
        out[l] = 0.5 * rest_sums[l - 16];
    }
}

#[inline(always)]
fn clipped(numbers: &[f32; 16], normalizer: f32) -> [f32; 16] {
    let mut clipped = [0.0; 16];
    for l in 0..16 {
        let value = numbers[l] * normalizer;
        // Not `min`, which would also check for NaN.
        clipped[l] = if value < CLIP { value } else { CLIP };
    }
    clipped
}

/// The sum of the signed ones, as a tree reduction that vectorizes.
#[inline(always)]
fn sum_of_signed(first: &[f32; 16], rest: &[f32; 16]) -> f32 {
    let (mut eight, mut four) = ([0.0; 8], [0.0; 4]);
    for l in 0..8 {
        eight[l] = first[l] + first[l + 8];
    }
    for l in 0..4 {
        four[l] = eight[l] + eight[l + 4];
    }
    (four[0] + four[2]) + (four[1] + four[3]) + (rest[0] + rest[1])
}
