//! The layout of the features: kernels, dilations, channels and the number of biases of each combination.

use crate::descriptor::channel_sets;

/// Weights of a kernel.
pub(super) const LENGTH: usize = 9;

/// Ways to choose three of the nine weights.
pub(super) const N_KERNELS: usize = 84;

/// At most this many dilations a kernel, before equal ones are merged.
const MAX_DILATIONS: usize = 32;

/// The places of the three weights 2 of each kernel, in lexicographic order; the other six are −1.
pub(super) const KERNELS: [[usize; 3]; N_KERNELS] = {
    let mut kernels = [[0; 3]; N_KERNELS];
    let mut at = 0;
    let mut i = 0;
    while i < LENGTH {
        let mut j = i + 1;
        while j < LENGTH {
            let mut k = j + 1;
            while k < LENGTH {
                kernels[at] = [i, j, k];
                at += 1;
                k += 1;
            }
            j += 1;
        }
        i += 1;
    }
    kernels
};

/// The features of a transform, ordered by dilation, kernel, bias.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    /// Ascending.
    pub dilations: Vec<usize>,
    /// For each dilation the number of biases of each kernel.
    pub counts: Vec<usize>,
    /// For each dilation and kernel the channels whose convolutions are summed; empty for series of one channel.
    pub channels: Vec<Vec<usize>>,
}

impl Layout {
    /// The layout for series of a length with about `n_features` features, at least one a kernel.
    pub fn new(n_features: usize, length: usize, channels: usize, seed: u64) -> Self {
        let (dilations, counts) = dilations((n_features / N_KERNELS).max(1), length);
        let n_groups = dilations.len() * N_KERNELS;
        let channels = if channels > 1 { channel_sets::draw(n_groups, channels, seed) } else { Vec::new() };
        Layout { dilations, counts, channels }
    }

    pub fn n_features(&self) -> usize {
        N_KERNELS * self.counts.iter().sum::<usize>()
    }

    /// The channels of a dilation and a kernel.
    pub fn channels_of(&self, dilation: usize, kernel: usize) -> &[usize] {
        self.channels.get(dilation * N_KERNELS + kernel).map_or(&[0], Vec::as_slice)
    }

    /// Whether a kernel sees zeros before and after the series: every second kernel of a dilation, beginning with the
    /// first kernel of the first dilation, the second of the second, and so on.
    pub fn is_padded(dilation: usize, kernel: usize) -> bool {
        (dilation + kernel).is_multiple_of(2)
    }
}

/// Dilations ⌊2^e⌋, e evenly spaced from 0 to log₂((length − 1) / 8), so that the longest kernel spans the series, and
/// for each the number of biases of a kernel: in proportion to how many exponents give it, `a_kernel` in all.
fn dilations(a_kernel: usize, length: usize) -> (Vec<usize>, Vec<usize>) {
    let n = a_kernel.min(MAX_DILATIONS);
    let multiplier = a_kernel as f64 / n as f64;
    let most = (length.saturating_sub(1) as f64 / (LENGTH - 1) as f64).log2().max(0.0);
    let (mut dilations, mut counts): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for at in 0..n {
        let exponent = if n > 1 { most * at as f64 / (n - 1) as f64 } else { 0.0 };
        // The small addition is for powers that are whole numbers but for rounding.
        let dilation = (exponent.exp2() + 1e-9) as usize;
        if dilations.last() == Some(&dilation) {
            *counts.last_mut().expect("as many as dilations") += 1;
        } else {
            dilations.push(dilation);
            counts.push(1);
        }
    }
    counts.iter_mut().for_each(|count| *count = (*count as f64 * multiplier) as usize);
    let left = a_kernel - counts.iter().sum::<usize>();
    let n = counts.len();
    (0..left).for_each(|at| counts[at % n] += 1);
    (dilations, counts)
}

/// The quantile at which feature `at` has its bias: the fractional part of (at + 1) · golden ratio.
pub(super) fn quantile(at: usize) -> f64 {
    ((at + 1) as f64 * f64::midpoint(5f64.sqrt(), 1.0)).fract()
}
