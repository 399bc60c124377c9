//! Products of many rows with a few columns: Φ·Wᵀ and Rᵀ·Φ for a panel of rows of Φ and a few problems.
//!
//! General matrix products are optimized for square shapes; here one dimension is only the number of classes, and it is
//! essential that a panel of Φ, once in the cache, is used for both products and all classes.
//!
//! | product | flops | numbers of Φ read |
//! |---|---|---|
//! | [`scores`]: out\[k\]\[i\] = φ_i · w_k | 2 · rows · features · problems | rows · features |
//! | [`add_combination`]: sums\[k\]\[j\] += Σ_i r\[k\]\[i\] φ_ij | the same | the same |
//!
//! Both hold a tile of up to 24 accumulators in registers (4 rows × 6 problems, or 4 vectors of features × 6 problems,
//! with 32 registers), so that 10 loads feed 24 multiply-adds: with two loads and two multiply-adds per cycle,
//! arithmetic is the limit as long as the panel stays in the second-level cache.

mod tile;

use crate::isa::{Isa, dispatch};
use crate::simd::Simd;

/// Selected rows of a row-major matrix.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    values: &'a [f32],
    n_cols: usize,
    rows: &'a [u32],
}

impl<'a> Panel<'a> {
    /// The rows `rows` of `values`, which has `n_cols` numbers per row.
    ///
    /// # Panics
    /// If a row is out of range: the loops below do not check.
    pub fn new(values: &'a [f32], n_cols: usize, rows: &'a [u32]) -> Self {
        let n_rows = values.len().checked_div(n_cols).unwrap_or(0);
        assert!(n_cols == 0 || rows.iter().all(|&row| (row as usize) < n_rows), "a row beyond the matrix");
        Panel { values, n_cols, rows }
    }
}

/// out\[k\]\[i\] = φ_i · w_k for the rows i of `panel`; `weights` is \[problem\]\[feature\], `out` \[problem\]\[row\].
///
/// # Panics
/// If the slices do not match the panel.
pub fn scores(isa: Isa, panel: Panel<'_>, weights: &[f32], out: &mut [f32]) {
    let (n, d) = (panel.rows.len(), panel.n_cols);
    if n == 0 || out.is_empty() {
        return;
    }
    let k = out.len() / n;
    assert!(out.len() == n * k && weights.len() == k * d, "scores: shapes that do not fit");
    out.fill(0.0);
    // SAFETY: the shapes and rows were checked.
    dispatch!(isa, simd => simd.compiled(#[inline(always)] || unsafe { tile::scores(simd, panel, weights, out, k) }));
}

/// sums\[k\]\[j\] += Σ_i factors\[k\]\[i\] φ_ij over the rows i of `panel`; `factors` is \[problem\]\[row\],
/// `sums` \[problem\]\[feature\].
///
/// # Panics
/// If the slices do not match the panel.
pub fn add_combination(isa: Isa, panel: Panel<'_>, factors: &[f32], sums: &mut [f32]) {
    let (n, d) = (panel.rows.len(), panel.n_cols);
    if n == 0 || sums.is_empty() {
        return;
    }
    let k = factors.len() / n;
    assert!(factors.len() == n * k && sums.len() == k * d, "combination: shapes that do not fit");
    // SAFETY: the shapes and rows were checked.
    dispatch!(isa, simd => simd.compiled(#[inline(always)] || unsafe { tile::combine(simd, panel, factors, sums, k) }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn every_instruction_set_agrees_with_the_definition() {
        for (n, d, k) in [(1, 1, 1), (3, 5, 2), (4, 16, 6), (7, 33, 7), (13, 100, 10), (9, 2500, 13), (5, 64, 1)] {
            let values = numbers((n + 2) * d, 1);
            let rows: Vec<u32> = (0..n as u32).map(|i| if i % 2 == 0 { i + 2 } else { i }).collect();
            let (weights, factors) = (numbers(k * d, 2), numbers(k * n, 3));
            let at = |i: usize, j: usize| f64::from(values[rows[i] as usize * d + j]);
            for isa in Isa::available() {
                let panel = Panel::new(&values, d, &rows);
                let mut out = vec![7.0; k * n];
                scores(isa, panel, &weights, &mut out);
                let mut sums = numbers(k * d, 4);
                let before = sums.clone();
                add_combination(isa, panel, &factors, &mut sums);
                for p in 0..k {
                    for i in 0..n {
                        let right: f64 = (0..d).map(|j| at(i, j) * f64::from(weights[p * d + j])).sum();
                        assert!((f64::from(out[p * n + i]) - right).abs() < 1e-4, "{isa:?} {n} {d} {k}");
                    }
                    for j in 0..d {
                        let right: f64 = (0..n).map(|i| at(i, j) * f64::from(factors[p * n + i])).sum();
                        let right = right + f64::from(before[p * d + j]);
                        assert!((f64::from(sums[p * d + j]) - right).abs() < 1e-4, "{isa:?} {n} {d} {k}");
                    }
                }
            }
        }
    }
}
