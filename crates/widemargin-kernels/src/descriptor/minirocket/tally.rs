//! How many values of each convolution of a dilation are above each of its biases.

use super::layout::N_KERNELS;
use crate::simd::Simd;

/// Vectors of a tile whose comparisons give bits: with a bias, they fit the registers.
const VECTORS_OF_BITS: usize = 12;

/// Other tiles: the values stay in the first cache, and sums over lanes are few.
const VECTORS_OF_COUNTS: usize = 32;

/// Biases whose bits are counted together.
const BLOCK: usize = 32;

/// Numbers that a vector may read or write beyond the end.
pub(super) const SLACK: usize = 16;

/// Added to the lanes of the last vector, from 16 minus the lanes that count on: −∞ is above no bias.
const TAIL: [[f32; SLACK]; 2] = [[0.0; SLACK], [f32::NEG_INFINITY; SLACK]];

/// Counts of a dilation.
#[derive(Default)]
pub(super) struct Tally {
    /// Biases of a kernel.
    n_biases: usize,
    /// Blocks of the kernels of a parity.
    n_blocks: usize,
    /// \[block\]\[vector of the tile\]\[bias\], a bit a time step, of the kernels of a parity.
    bits: Vec<[[u16; BLOCK]; VECTORS_OF_BITS]>,
    /// \[parity\]\[kernel, bias\], of the tiles so far.
    counts: Vec<i32>,
    /// The same as shares.
    shares: Vec<f32>,
    /// Convolved values of a tile, where they are compared from memory.
    convolved: Vec<f32>,
}

impl Tally {
    /// A tile's length, in vectors.
    pub const fn tile_vectors<S: Simd>() -> usize {
        if S::COMPARES_TO_BITS { VECTORS_OF_BITS } else { VECTORS_OF_COUNTS }
    }

    /// Begins a dilation.
    pub fn start<S: Simd>(&mut self, n_biases: usize) {
        self.n_biases = n_biases;
        self.n_blocks = (N_KERNELS / 2 * n_biases).div_ceil(BLOCK);
        self.counts.clear();
        self.counts.resize(2 * self.n_blocks * BLOCK, 0);
        self.shares.resize(self.counts.len(), 0.0);
        if S::COMPARES_TO_BITS {
            self.bits.resize(self.n_blocks, [[0; BLOCK]; VECTORS_OF_BITS]);
        } else {
            self.convolved.resize(VECTORS_OF_COUNTS * S::LANES, 0.0);
        }
    }

    /// Compares the first `n_steps` of N vectors with the biases of a kernel.
    #[inline(always)]
    pub fn add<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        mut values: [S::F32s; N],
        n_steps: usize,
        biases: &[f32],
        kernel: usize,
    ) {
        let tail = &TAIL.as_flattened()[SLACK - (n_steps - (N - 1) * S::LANES)..][..SLACK];
        values[N - 1] = simd.add(values[N - 1], simd.load(tail));
        for (column, &bias) in (kernel / 2 * self.n_biases..).zip(biases) {
            let bias = simd.splat(bias);
            let bits = &mut self.bits[column / BLOCK];
            for v in 0..N {
                bits[v][column % BLOCK] = simd.above(values[v], bias);
            }
        }
    }

    /// Stores vector v of the tile for [`add_stored`](Self::add_stored).
    #[inline(always)]
    pub fn store<S: Simd>(&mut self, simd: S, values: S::F32s, v: usize) {
        simd.store(values, &mut self.convolved[v * S::LANES..]);
    }

    /// Compares the first `n_steps` stored values with the biases of a kernel.
    #[inline(always)]
    pub fn add_stored<S: Simd>(&mut self, simd: S, n_steps: usize, biases: &[f32], kernel: usize) {
        let first = kernel % 2 * self.n_blocks * BLOCK + kernel / 2 * self.n_biases;
        let stored = &mut self.convolved[..n_steps.next_multiple_of(S::LANES)];
        stored[n_steps..].fill(f32::NEG_INFINITY);
        let (mut biases, mut counts) = (biases, &mut self.counts[first..]);
        while !biases.is_empty() {
            let n = match biases.len() {
                8.. => add_counts::<S, 8>(simd, stored, biases, counts),
                4.. => add_counts::<S, 4>(simd, stored, biases, counts),
                3 => add_counts::<S, 3>(simd, stored, biases, counts),
                2 => add_counts::<S, 2>(simd, stored, biases, counts),
                _ => add_counts::<S, 1>(simd, stored, biases, counts),
            };
            (biases, counts) = (&biases[n..], &mut counts[n..]);
        }
    }

    /// Counts the bits of a tile of `n_vectors` vectors.
    #[inline(always)]
    pub fn end_of_tile<S: Simd>(&mut self, simd: S, parity: usize, n_vectors: usize) {
        let counts = &mut self.counts[parity * self.n_blocks * BLOCK..];
        for (bits, counts) in self.bits.iter().zip(counts.as_chunks_mut::<BLOCK>().0) {
            simd.add_bits(&bits[..n_vectors], counts);
        }
    }

    /// The counts as shares of the time steps of each parity, in the order of kernels and biases.
    #[inline(always)]
    pub fn shares(&mut self, n_steps: [usize; 2], out: &mut [f32]) {
        let half = self.n_blocks * BLOCK;
        let halves = self.shares.chunks_exact_mut(half).zip(self.counts.chunks_exact(half));
        for ((shares, counts), n_steps) in halves.zip(n_steps) {
            let n_steps = n_steps as f32;
            for (share, &count) in shares.iter_mut().zip(counts) {
                *share = count as f32 / n_steps;
            }
        }
        let n = self.n_biases;
        for (kernel, out) in out.chunks_exact_mut(n).enumerate() {
            out.copy_from_slice(&self.shares[kernel % 2 * half + kernel / 2 * n..][..n]);
        }
    }
}

/// Adds how many values are above each of the first N biases; returns N.
#[inline(always)]
fn add_counts<S: Simd, const N: usize>(simd: S, values: &[f32], biases: &[f32], out: &mut [i32]) -> usize {
    let biases: [S::F32s; N] = std::array::from_fn(|at| simd.splat(biases[at]));
    let mut counts = [simd.splat_i32(0); N];
    for values in values.chunks_exact(S::LANES) {
        let values = simd.load(values);
        for at in 0..N {
            counts[at] = simd.count_above(values, biases[at], counts[at]);
        }
    }
    for at in 0..N {
        out[at] += simd.sum_i32(counts[at]);
    }
    N
}
