//! Convolutions of one series, and the share of their values that is above each bias: the hot loops.
//!
//! A kernel with weights 2 at i, j, k and −1 elsewhere is −1 everywhere plus 3 at i, j, k. With x_p the series shifted
//! by p − 4 dilations, its convolution is α + 3 x_i + 3 x_j + 3 x_k, where α = −Σ x_p is common to the 84 kernels of a
//! dilation. For a tile of a series of one channel, the rows 3 x_p and α + 3 x_i are computed once, aligned: a time
//! step of a kernel then costs two additions, and each of its biases a comparison and its count.
//!
//! Half of the kernels count only the time steps at which they lie within the series: 150 steps at 16 lanes are 94,000
//! vectors to compare with 9,996 biases if all were padded, 85,000 otherwise. Where a comparison gives a mask of bits
//! (AVX-512), the convolution of a tile of 192 steps stays in registers while it is compared with each bias, and the
//! masks are stored, 2 bytes each; their bits are counted for 32 biases at a time, 9 operations for 32 comparisons. An
//! AMD EPYC of 2024 compares one vector a cycle: 85,000 cycles of the 130,000 that a series takes. Elsewhere a lane of
//! a comparison is −1, and vectors of counts are summed at the end of a tile.
//!
//! A binary search among the sorted biases, three comparisons for seven of them, was not faster: it selects, stores and
//! sums as much as it saves.

use super::layout::{KERNELS, LENGTH, Layout, N_KERNELS};
use super::tally::{SLACK, Tally};
use crate::isa::{Isa, dispatch};
use crate::simd::{AlignedNumbers, Simd};

/// Buffers for the series of one shape.
pub(super) struct Work<'a> {
    layout: &'a Layout,
    isa: Isa,
    series: Padded,
    rows: Rows,
    tally: Tally,
}

/// A series with zeros before and after it.
struct Padded {
    n_channels: usize,
    length: usize,
    /// Zeros before and after each channel.
    padding: usize,
    /// \[channel\]\[padding + time + padding\].
    plain: Vec<f32>,
    /// The same times 3.
    tripled: Vec<f32>,
    /// \[channel\]\[time\], of the dilation set last.
    alpha: Vec<f32>,
}

/// The terms of the kernels of a dilation for a tile of a series of one channel, each row aligned: 3 x_p, and α + 3
/// x_i.
#[derive(Default)]
struct Rows {
    /// Numbers of a row.
    width: usize,
    numbers: Option<AlignedNumbers>,
}

impl Padded {
    /// Sets the series, \[time\]\[channel\].
    fn set(&mut self, values: &[f32]) {
        let length = values.len() / self.n_channels;
        if length != self.length {
            self.length = length;
            self.plain = vec![0.0; self.n_channels * self.a_channel()];
            self.tripled = self.plain.clone();
            self.alpha = vec![0.0; self.n_channels * (length + SLACK)];
        }
        let (a_channel, padding, channels) = (self.a_channel(), self.padding, self.n_channels);
        let of_channels = self.plain.chunks_mut(a_channel).zip(self.tripled.chunks_mut(a_channel));
        for (channel, (plain, tripled)) in of_channels.enumerate() {
            let (plain, tripled) = (&mut plain[padding..][..length], &mut tripled[padding..][..length]);
            let of_channel = values.iter().skip(channel).step_by(channels);
            plain.iter_mut().zip(of_channel).for_each(|(out, &x)| *out = x);
            tripled.iter_mut().zip(plain).for_each(|(out, x)| *out = *x + *x + *x);
        }
    }

    fn a_channel(&self) -> usize {
        2 * self.padding + self.length + SLACK
    }

    /// Sets α of each channel for a dilation.
    #[inline(always)]
    fn set_alpha<S: Simd>(&mut self, simd: S, dilation: usize) {
        let (length, a_channel) = (self.length, self.a_channel());
        for (channel, alpha) in self.alpha.chunks_mut(length + SLACK).enumerate() {
            let x = &self.plain[channel * a_channel + self.padding - LENGTH / 2 * dilation..];
            for t in (0..length).step_by(S::LANES) {
                let mut sum = simd.subtract(simd.splat(0.0), vector(simd, x, t + LENGTH / 2 * dilation));
                for p in 0..LENGTH {
                    if p != LENGTH / 2 {
                        sum = simd.subtract(sum, vector(simd, x, t + p * dilation));
                    }
                }
                set_vector(simd, sum, alpha, t);
            }
        }
    }

    /// α of a channel.
    #[inline(always)]
    fn alpha(&self, channel: usize) -> &[f32] {
        &self.alpha[channel * (self.length + SLACK)..][..self.length + SLACK]
    }

    /// 3 x_p of a channel and a dilation.
    #[inline(always)]
    fn shifted(&self, channel: usize, p: usize, dilation: usize) -> &[f32] {
        let start = channel * self.a_channel() + self.padding + p * dilation - LENGTH / 2 * dilation;
        &self.tripled[start..][..self.length + SLACK]
    }

    /// The time steps at which a kernel's convolution counts: all where it is padded, otherwise those where the kernel
    /// lies within the series. A series shorter than the kernel is padded.
    fn bounds(&self, is_padded: bool, dilation: usize) -> (usize, usize) {
        let margin = LENGTH / 2 * dilation;
        match is_padded || self.length <= 2 * margin {
            true => (0, self.length),
            false => (margin, self.length - margin),
        }
    }
}

impl<'a> Work<'a> {
    pub fn new(layout: &'a Layout, isa: Isa, n_channels: usize) -> Self {
        let padding = LENGTH / 2 * layout.dilations.last().copied().unwrap_or(0);
        let (plain, tripled, alpha) = (Vec::new(), Vec::new(), Vec::new());
        let series = Padded { n_channels, length: 0, padding, plain, tripled, alpha };
        Work { layout, isa, series, rows: Rows::default(), tally: Tally::default() }
    }

    /// The convolution with a kernel at all time steps, zeros before and after the series.
    pub fn convolution(&mut self, values: &[f32], dilation: usize, kernel: usize, out: &mut Vec<f32>) {
        self.series.set(values);
        out.clear();
        out.resize(self.series.length + SLACK, 0.0);
        let (series, channels) = (&mut self.series, self.layout.channels_of(dilation, kernel));
        let dilation = self.layout.dilations[dilation];
        dispatch!(self.isa, simd => simd.compiled(
            #[inline(always)]
            || whole_convolution(simd, series, dilation, channels, kernel, out)
        ));
        out.truncate(self.series.length);
    }

    /// The features of a series, \[time\]\[channel\].
    pub fn features(&mut self, values: &[f32], biases: &[f32], out: &mut [f32]) {
        self.series.set(values);
        let (mut biases, mut out) = (biases, out);
        for (at, count) in self.layout.counts.iter().enumerate() {
            let (of_dilation, biases_left) = biases.split_at(count * N_KERNELS);
            let (shares, out_left) = std::mem::take(&mut out).split_at_mut(count * N_KERNELS);
            let (buffers, layout) = ((&mut self.series, &mut self.rows, &mut self.tally), self.layout);
            dispatch!(self.isa, simd => simd.compiled(
                #[inline(always)]
                || features_of_dilation(simd, buffers, layout, at, of_dilation, shares)
            ));
            (biases, out) = (biases_left, out_left);
        }
    }
}

impl Rows {
    #[inline(always)]
    fn set<S: Simd>(&mut self, simd: S, series: &Padded, dilation: usize, from: usize, n_vectors: usize) {
        self.width = Tally::tile_vectors::<S>() * S::LANES;
        let numbers = self.numbers.get_or_insert_with(|| AlignedNumbers::zeros(2 * LENGTH * self.width)).numbers_mut();
        let (width, steps) = (self.width, n_vectors * S::LANES);
        let alpha = &series.alpha(0)[from..][..steps];
        assert!(steps <= width);
        for (p, row) in numbers.chunks_exact_mut(2 * width).enumerate() {
            let (x, row) = (&series.shifted(0, p, dilation)[from..][..steps], &mut row[..2 * width]);
            for at in (0..steps).step_by(S::LANES) {
                // SAFETY: rows are whole vectors, and two of them are as long as the tile's.
                unsafe {
                    let x = simd.load_unchecked(x.as_ptr().add(at));
                    simd.store_unchecked(x, row.as_mut_ptr().add(at));
                    let sum = simd.add(simd.load_unchecked(alpha.as_ptr().add(at)), x);
                    simd.store_unchecked(sum, row.as_mut_ptr().add(width + at));
                }
            }
        }
    }

    /// Row 2p is 3 x_p, and row 2p + 1 is α + 3 x_p.
    #[inline(always)]
    fn row(&self, row: usize) -> &[f32] {
        let numbers = self.numbers.as_ref().expect("set before").numbers();
        &numbers[row * self.width..][..self.width]
    }

    /// The convolution with a kernel, from vector `first` of the tile on.
    #[inline(always)]
    fn convolved<S: Simd, const N: usize>(&self, simd: S, [i, j, k]: [usize; 3], first: usize) -> [S::F32s; N] {
        let (i, j, k) = (self.row(2 * i + 1), self.row(2 * j), self.row(2 * k));
        let mut sums = [simd.splat(0.0); N];
        for (v, sum) in sums.iter_mut().enumerate() {
            let at = (first + v) * S::LANES;
            *sum = simd.add(simd.add(vector(simd, i, at), vector(simd, j, at)), vector(simd, k, at));
        }
        sums
    }
}

/// Convolutions at N vectors of time steps from `from` on: sums over channels.
#[inline(always)]
fn convolved<S: Simd, const N: usize>(
    simd: S,
    series: &Padded,
    dilation: usize,
    channels: &[usize],
    kernel: [usize; 3],
    from: usize,
) -> [S::F32s; N] {
    let mut sums = [simd.splat(0.0); N];
    for &channel in channels {
        let alpha = series.alpha(channel);
        let [i, j, k] = kernel.map(
            #[inline(always)]
            |p| series.shifted(channel, p, dilation),
        );
        for (v, sum) in sums.iter_mut().enumerate() {
            let at = from + v * S::LANES;
            let of_two = simd.add(simd.add(vector(simd, alpha, at), vector(simd, i, at)), vector(simd, j, at));
            *sum = simd.add(*sum, simd.add(of_two, vector(simd, k, at)));
        }
    }
    sums
}

#[inline(always)]
fn whole_convolution<S: Simd>(
    simd: S,
    series: &mut Padded,
    dilation: usize,
    channels: &[usize],
    kernel: usize,
    out: &mut [f32],
) {
    series.set_alpha(simd, dilation);
    for t in (0..series.length).step_by(S::LANES) {
        let [values] = convolved::<S, 1>(simd, series, dilation, channels, KERNELS[kernel], t);
        set_vector(simd, values, out, t);
    }
}

/// Kernels of a parity at a tile: of a dilation, either all even kernels are padded and no odd one, or the reverse.
struct Tile<'a> {
    series: &'a Padded,
    layout: &'a Layout,
    rows: &'a Rows,
    /// Of the layout's dilations.
    at: usize,
    parity: usize,
    from: usize,
    n_steps: usize,
    /// Of the dilation.
    biases: &'a [f32],
}

impl Tile<'_> {
    #[inline(always)]
    fn convolved<S: Simd, const N: usize>(&self, simd: S, kernel: usize, first: usize) -> [S::F32s; N] {
        if self.series.n_channels == 1 {
            return self.rows.convolved(simd, KERNELS[kernel], first);
        }
        let (dilation, channels) = (self.layout.dilations[self.at], self.layout.channels_of(self.at, kernel));
        convolved(simd, self.series, dilation, channels, KERNELS[kernel], self.from + first * S::LANES)
    }

    fn biases_of(&self, kernel: usize) -> &[f32] {
        let count = self.layout.counts[self.at];
        &self.biases[kernel * count..][..count]
    }

    /// Compares N vectors that stay in registers.
    #[inline(always)]
    fn compare<S: Simd, const N: usize>(&self, simd: S, tally: &mut Tally) {
        for kernel in (self.parity..N_KERNELS).step_by(2) {
            let values = self.convolved::<S, N>(simd, kernel, 0);
            tally.add(simd, values, self.n_steps, self.biases_of(kernel), kernel);
        }
    }

    /// Compares vectors of the first cache.
    #[inline(always)]
    fn compare_stored<S: Simd>(&self, simd: S, tally: &mut Tally) {
        for kernel in (self.parity..N_KERNELS).step_by(2) {
            for v in 0..self.n_steps.div_ceil(S::LANES) {
                let [values] = self.convolved::<S, 1>(simd, kernel, v);
                tally.store(simd, values, v);
            }
            tally.add_stored(simd, self.n_steps, self.biases_of(kernel), kernel);
        }
    }
}

#[inline(always)]
fn features_of_dilation<S: Simd>(
    simd: S,
    (series, rows, tally): (&mut Padded, &mut Rows, &mut Tally),
    layout: &Layout,
    at: usize,
    biases: &[f32],
    out: &mut [f32],
) {
    let (dilation, count) = (layout.dilations[at], layout.counts[at]);
    series.set_alpha(simd, dilation);
    let steps = Tally::tile_vectors::<S>() * S::LANES;
    tally.start::<S>(count);
    let bounds = [0, 1].map(|parity| series.bounds(Layout::is_padded(at, parity), dilation));
    for (parity, (first, end)) in bounds.into_iter().enumerate() {
        for from in (first..end).step_by(steps) {
            let n_steps = steps.min(end - from);
            let n_vectors = n_steps.div_ceil(S::LANES);
            if series.n_channels == 1 {
                rows.set(simd, series, dilation, from, n_vectors);
            }
            let tile = Tile { series, layout, rows, at, parity, from, n_steps, biases };
            if !S::COMPARES_TO_BITS {
                tile.compare_stored(simd, tally);
                continue;
            }
            macro_rules! compare {
                ($($n:literal)*) => {
                    match n_vectors {
                        $($n => tile.compare::<S, $n>(simd, tally),)*
                        _ => tile.compare::<S, 12>(simd, tally),
                    }
                };
            }
            compare!(1 2 3 4 5 6 7 8 9 10 11);
            tally.end_of_tile(simd, parity, n_vectors);
        }
    }
    tally.shares(bounds.map(|(from, to)| to - from), out);
}

/// The vector at a place.
#[inline(always)]
fn vector<S: Simd>(simd: S, from: &[f32], at: usize) -> S::F32s {
    assert!(at + S::LANES <= from.len());
    // SAFETY: the assertion.
    unsafe { simd.load_unchecked(from.as_ptr().add(at)) }
}

/// Stores a vector at a place.
#[inline(always)]
fn set_vector<S: Simd>(simd: S, value: S::F32s, to: &mut [f32], at: usize) {
    assert!(at + S::LANES <= to.len());
    // SAFETY: the assertion.
    unsafe { simd.store_unchecked(value, to.as_mut_ptr().add(at)) }
}
