//! Convolutions of one series, and the share of their values above each bias: the hot loops.
//!
//! A kernel with weights 2 at i, j, k and −1 elsewhere is −1 everywhere plus 3 at i, j, k. With x_p the series shifted by
//! p − 4 dilations, its convolution is α + 3 x_i + 3 x_j + 3 x_k, where α = −Σ x_p is common to the 84 kernels of a
//! dilation, and α + 3 x_i + 3 x_j to those that share i and j (28 sums).
//!
//! So a time step of a kernel costs 1⅓ additions, and each of its biases a comparison and an addition: with 9,996
//! features, 84 kernels and D dilations, 2 · 9,996 + 112 D operations a time step, of 8 or 16 lanes each. All that is read
//! is a few series of numbers (4 bytes · length · 5), which the first cache holds up to a length of about 2,000. A
//! convolution is compared with up to eight biases each time it is loaded: 4 bytes for 16 operations.

use super::layout::{KERNELS, LENGTH, Layout, N_KERNELS};
use crate::isa::{Isa, dispatch};
use crate::simd::Simd;

/// What a vector may read or write beyond the end.
const SLACK: usize = 16;

/// Buffers for the series of one shape.
pub(super) struct Work<'a> {
    layout: &'a Layout,
    isa: Isa,
    /// Zeros before and after each channel.
    padding: usize,
    length: usize,
    /// \[channel\]\[padding + time + padding\], the series times 3.
    tripled: Vec<f32>,
    /// \[channel\]\[time\].
    alpha: Vec<f32>,
    /// α + 3 x_i + 3 x_j of the channel, i and j of `pair_of`.
    pair: Vec<f32>,
    pair_of: Option<[usize; 3]>,
    convolved: Vec<f32>,
    n_channels: usize,
}

impl<'a> Work<'a> {
    pub fn new(layout: &'a Layout, isa: Isa, n_channels: usize) -> Self {
        let empty = Vec::new;
        let padding = LENGTH / 2 * layout.dilations.last().copied().unwrap_or(0);
        Work {
            layout,
            isa,
            padding,
            length: 0,
            tripled: empty(),
            alpha: empty(),
            pair: empty(),
            pair_of: None,
            convolved: empty(),
            n_channels,
        }
    }

    /// Sets the series, \[time\]\[channel\].
    fn set(&mut self, values: &[f32]) {
        let length = values.len() / self.n_channels;
        if length != self.length {
            self.length = length;
            let padded = |len: usize| vec![0.0; len];
            self.tripled = padded(self.n_channels * self.a_channel());
            self.alpha = padded(self.n_channels * (length + SLACK));
            self.pair = padded(length + SLACK);
            self.convolved = padded(length + SLACK);
        }
        let a_channel = self.a_channel();
        for (channel, tripled) in self.tripled.chunks_mut(a_channel).enumerate() {
            let of_channel = values.iter().skip(channel).step_by(self.n_channels);
            tripled[self.padding..].iter_mut().zip(of_channel).for_each(|(out, &x)| *out = x + x + x);
        }
    }

    fn a_channel(&self) -> usize {
        2 * self.padding + self.length + SLACK
    }

    /// α of each channel for a dilation.
    fn set_alpha(&mut self, values: &[f32], dilation: usize) {
        let (length, channels) = (self.length, self.n_channels);
        self.pair_of = None;
        for (channel, alpha) in self.alpha.chunks_mut(length + SLACK).enumerate() {
            let x = |t: usize| values[t * channels + channel];
            let alpha = &mut alpha[..length];
            alpha.iter_mut().enumerate().for_each(|(t, alpha)| *alpha = -x(t));
            let shifts = (1..=LENGTH / 2).map(|by| by * dilation).filter(|&by| by < length);
            for by in shifts.clone().collect::<Vec<_>>().into_iter().rev() {
                (by..length).for_each(|t| alpha[t] -= x(t - by));
            }
            for by in shifts {
                (0..length - by).for_each(|t| alpha[t] -= x(t + by));
            }
        }
    }

    /// The convolution with a kernel at all time steps, zeros before and after the series.
    pub fn convolution(&mut self, values: &[f32], dilation: usize, kernel: usize) -> &[f32] {
        self.set(values);
        self.set_alpha(values, self.layout.dilations[dilation]);
        self.convolve((dilation, kernel), (0, self.length));
        &self.convolved[..self.length]
    }

    /// The features of a series, \[time\]\[channel\].
    pub fn features(&mut self, values: &[f32], biases: &[f32], out: &mut [f32]) {
        self.set(values);
        let (mut biases, mut out) = (biases, out);
        for (at, (&dilation, &count)) in self.layout.dilations.iter().zip(&self.layout.counts).enumerate() {
            self.set_alpha(values, dilation);
            for kernel in 0..N_KERNELS {
                let bounds = self.bounds(at, kernel);
                self.convolve((at, kernel), bounds);
                let (of_kernel, biases_left) = biases.split_at(count);
                let (shares, out_left) = std::mem::take(&mut out).split_at_mut(count);
                self.shares(bounds.1 - bounds.0, of_kernel, shares);
                (biases, out) = (biases_left, out_left);
            }
        }
    }

    /// The time steps at which a kernel's convolution counts: all where it is padded, otherwise those where the kernel
    /// lies within the series. A series shorter than the kernel is padded.
    fn bounds(&self, at: usize, kernel: usize) -> (usize, usize) {
        let margin = LENGTH / 2 * self.layout.dilations[at];
        match Layout::is_padded(at, kernel) || self.length <= 2 * margin {
            true => (0, self.length),
            false => (margin, self.length - margin),
        }
    }

    /// Sets `convolved` to the convolution at the time steps from `from` to `to`, moved to the front.
    fn convolve(&mut self, (at, kernel): (usize, usize), (from, to): (usize, usize)) {
        let channels = self.layout.channels_of(at, kernel);
        let dilation = self.layout.dilations[at];
        let [i, j, k] = KERNELS[kernel].map(|p| self.padding + p * dilation - LENGTH / 2 * dilation);
        let (a_channel, length) = (self.a_channel(), self.length);
        let alpha = |channel: usize| &self.alpha[channel * (length + SLACK)..][..length];
        let shifted = |channel: usize, start: usize| &self.tripled[channel * a_channel + start..][..length];
        if let [channel] = *channels {
            // Kernels are in lexicographic order: those that share i and j follow one another.
            if self.pair_of != Some([channel, i, j]) {
                add(&mut self.pair[..length], alpha(channel), shifted(channel, i), shifted(channel, j));
                self.pair_of = Some([channel, i, j]);
            }
            add_one(&mut self.convolved[..to - from], &self.pair[from..to], &shifted(channel, k)[from..to]);
        } else {
            self.convolved[..to - from].fill(0.0);
            for &channel in channels {
                let of = |start: usize| &shifted(channel, start)[from..to];
                add_all(&mut self.convolved[..to - from], &alpha(channel)[from..to], of(i), of(j), of(k));
            }
        }
        // Beyond the end no value is above a bias.
        self.convolved[to - from..to - from + SLACK].fill(f32::NEG_INFINITY);
    }

    /// The share of the first `length` values of `convolved` that is above each bias.
    fn shares(&self, length: usize, biases: &[f32], out: &mut [f32]) {
        let convolved = &self.convolved[..length.next_multiple_of(SLACK)];
        dispatch!(self.isa, simd => simd.compiled(
            #[inline(always)]
            || shares_with(simd, convolved, length, biases, out)
        ));
    }
}

crate::isa::compiled! {
    /// out = a + b + c.
    fn add(out: &mut [f32], a: &[f32], b: &[f32], c: &[f32]) {
        out.iter_mut().zip(a).zip(b).zip(c).for_each(|(((out, a), b), c)| *out = a + b + c);
    }
}

crate::isa::compiled! {
    /// out = a + b.
    fn add_one(out: &mut [f32], a: &[f32], b: &[f32]) {
        out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = a + b);
    }
}

crate::isa::compiled! {
    /// out += a + b + c + d.
    fn add_all(out: &mut [f32], a: &[f32], b: &[f32], c: &[f32], d: &[f32]) {
        out.iter_mut().zip(a).zip(b).zip(c).zip(d).for_each(|((((out, a), b), c), d)| *out += a + b + c + d);
    }
}

#[inline(always)]
fn shares_with<S: Simd>(simd: S, convolved: &[f32], length: usize, biases: &[f32], out: &mut [f32]) {
    let (mut biases, mut out) = (biases, out);
    while !biases.is_empty() {
        let n = match biases.len() {
            8.. => counts::<S, 8>(simd, convolved, biases, out),
            4.. => counts::<S, 4>(simd, convolved, biases, out),
            3 => counts::<S, 3>(simd, convolved, biases, out),
            2 => counts::<S, 2>(simd, convolved, biases, out),
            _ => counts::<S, 1>(simd, convolved, biases, out),
        };
        let (done, left) = std::mem::take(&mut out).split_at_mut(n);
        done.iter_mut().for_each(|count| *count /= length as f32);
        (biases, out) = (&biases[n..], left);
    }
}

/// How many values are above each of the first N biases; returns N.
#[inline(always)]
fn counts<S: Simd, const N: usize>(simd: S, values: &[f32], biases: &[f32], out: &mut [f32]) -> usize {
    let biases: [S::F32s; N] = std::array::from_fn(|at| simd.splat(biases[at]));
    let mut counts = [simd.splat_i32(0); N];
    for values in values.chunks_exact(S::LANES) {
        // SAFETY: the chunk is a vector.
        let values = unsafe { simd.load(values.as_ptr()) };
        for at in 0..N {
            counts[at] = simd.count_above(values, biases[at], counts[at]);
        }
    }
    for at in 0..N {
        out[at] = simd.sum_i32(counts[at]) as f32;
    }
    N
}
