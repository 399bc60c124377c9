//! The kernels of a group compete at each time step: the hot loop.
//!
//! A vector of time steps takes 72 multiply-adds for the eight convolutions, 14 operations for the largest and the
//! least, and 64 to give the step to the kernels that have them: some 150. At 150 steps, 16 lanes, 64 groups and 5
//! dilations that are 480,000 operations a series. The nine vectors of the series are loaded once for the eight
//! kernels.

use crate::simd::Simd;

/// Weights of a kernel.
pub(super) const LENGTH: usize = 9;

/// Kernels of a group.
pub(super) const GROUP_SIZE: usize = 8;

/// Numbers that may be read behind the last tap of the last time step: those of a vector.
pub(super) const SLACK: usize = 16;

/// Ones for the lanes within the series, and zeros behind them.
const INSIDE: [[f32; SLACK]; 2] = [[1.0; SLACK], [0.0; SLACK]];

/// Of each kernel the mean over the time steps of its response where that is the largest of the group, and the share of
/// time steps at which it is the least; where several are equal, the first has it. `x` begins with the first tap of the
/// first time step.
#[inline(always)]
pub(super) fn compete<S: Simd>(
    simd: S,
    x: &[f32],
    (dilation, n_steps): (usize, usize),
    weights: &[f32],
    out: &mut [f32; 2 * GROUP_SIZE],
) {
    assert!(S::LANES <= SLACK && weights.len() == GROUP_SIZE * LENGTH);
    assert!(x.len() >= n_steps + (LENGTH - 1) * dilation + SLACK);
    let (zero, never) = (simd.splat(0.0), (simd.splat(f32::INFINITY), simd.splat(f32::NEG_INFINITY)));
    let (mut sums, mut counts) = ([zero; GROUP_SIZE], [zero; GROUP_SIZE]);
    for t in (0..n_steps).step_by(S::LANES) {
        let n_inside = (n_steps - t).min(S::LANES);
        let (mut taps, mut responses) = ([zero; LENGTH], [zero; GROUP_SIZE]);
        for (p, tap) in taps.iter_mut().enumerate() {
            // SAFETY: the last vector ends SLACK numbers behind the last tap at most; see the assertion.
            *tap = unsafe { simd.load_unchecked(x.as_ptr().add(t + p * dilation)) };
        }
        // SAFETY: both ends of the lanes are within the array, since there are SLACK at most.
        let inside = unsafe { simd.load_unchecked(INSIDE.as_flattened().as_ptr().add(SLACK - n_inside)) };
        for (response, weights) in responses.iter_mut().zip(weights.chunks_exact(LENGTH)) {
            *response = simd.multiply(taps[0], simd.splat(weights[0]));
            for p in 1..LENGTH {
                *response = simd.multiply_add(taps[p], simd.splat(weights[p]), *response);
            }
        }
        let (mut high, mut low) = (responses[0], responses[0]);
        for &response in &responses[1..] {
            (high, low) = (simd.max(high, response), simd.min(low, response));
        }
        // Zero beyond the series.
        let share = simd.multiply(high, inside);
        for ((sum, count), &response) in sums.iter_mut().zip(&mut counts).zip(&responses) {
            // Each share counts for one kernel only.
            *sum = simd.add(*sum, simd.where_at_most(high, response, share, zero));
            high = simd.where_at_most(high, response, never.0, high);
            *count = simd.add(*count, simd.where_at_most(response, low, inside, zero));
            low = simd.where_at_most(response, low, never.1, low);
        }
    }
    let (of_sums, of_counts) = out.split_at_mut(GROUP_SIZE);
    let share = 1.0 / n_steps.max(1) as f32;
    for (out, sum) in of_sums.iter_mut().zip(sums) {
        *out = share * simd.sum(sum);
    }
    for (out, count) in of_counts.iter_mut().zip(counts) {
        *out = share * simd.sum(count);
    }
}
