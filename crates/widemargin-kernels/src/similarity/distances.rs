//! Distances between vectors, accurate to single precision however far the vectors are from the origin and however
//! close to each other.
//!
//! Products are the fast way to compute them, ‖x‖² + ‖y‖² − 2 x·y, but lose precision if the distance is much smaller
//! than the norms. Pairs whose distance is below [`CANCELLED_DISTANCE`] times the norms are therefore recomputed from
//! differences. This depends only on the sample and the bases, not on the other samples of a block.

use std::borrow::Cow;

use super::radial::{Measure, TILE, tiled, tiled_distances};
use super::shared_features::{check_widths, products, sum_over_features};
use crate::data::{DenseMatrix, Rows, Samples, Vectors};
use crate::error::{Error, Result};
use crate::isa::compiled;
use crate::linalg;
use crate::memory;
use crate::tuning::{CANCELLED_DISTANCE, CANCELLED_DOUBLE, MAX_DIFFERENCE_FEATURES};

/// Features summed at a time: as many as fit in the first-level cache for a tile.
const FEATURES: usize = 64;

/// Number of accumulators over the features of one pair.
const LANES: usize = 32;

/// block\[sample\]\[basis\] = ‖x − y‖².
pub(super) fn squared_distances(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
    let term = |difference: f32| difference * difference;
    check_widths(bases, samples)?;
    if let (Vectors::Dense(b), Vectors::Dense(s)) = (bases, samples) {
        if b.n_cols <= MAX_DIFFERENCE_FEATURES {
            sums_of_terms(b, s, block, |x, y| term(x - y));
            return Ok(());
        }
        // After centering on the bases' mean, norms are small, and few pairs are recomputed.
        let mean = mean(b);
        let ((b, basis), (s, sample)) = (centered(b, &mean), centered(s, &mean));
        products(&b, &s, block)?;
        return mend(bases, samples, [&basis, &sample], -2.0, block, term);
    }
    products(bases, samples, block)?;
    let norms = [bases, samples].map(|vectors| norms(vectors, |v| v * v));
    mend(bases, samples, [&norms[0], &norms[1]], -2.0, block, term)
}

/// block\[sample\]\[basis\] = ‖x − y‖₁.
pub(super) fn absolute_distances(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
    check_widths(bases, samples)?;
    if let (Vectors::Dense(b), Vectors::Dense(s)) = (bases, samples) {
        sums_of_terms(b, s, block, |x, y| (x - y).abs());
        return Ok(());
    }
    // If one is 0, |x − y| is the other: sparse rows need only the shared features.
    sum_over_features(bases, samples, block, |x, y| (x - y).abs() - x.abs() - y.abs())?;
    let norms = [bases, samples].map(|vectors| norms(vectors, f64::abs));
    mend(bases, samples, [&norms[0], &norms[1]], 1.0, block, f32::abs)
}

/// block\[sample\]\[basis\] = Σ_j term(x_j, y_j), for a term that is `alone` of the feature that only one of the vectors
/// has. Of sparse vectors it is the sum of those everywhere, less the excess over the term where both have the feature.
pub(super) fn sums_of_all_terms(
    bases: &Vectors,
    samples: &Vectors,
    block: &mut [f32],
    term: impl Fn(f32, f32) -> f32 + Copy,
    excess: impl Fn(f32, f32) -> f32 + Copy,
    alone: impl Fn(f64) -> f64 + Copy,
) -> Result<()> {
    check_widths(bases, samples)?;
    if let (Vectors::Dense(bases), Vectors::Dense(samples)) = (bases, samples) {
        sums_of_terms(bases, samples, block, term);
        return Ok(());
    }
    let excess = |x: f32, y: f32| if x == 0.0 || y == 0.0 { 0.0 } else { excess(x, y) };
    sum_over_features(bases, samples, block, excess)?;
    let [of_bases, of_samples] = [bases, samples].map(|vectors| norms(vectors, alone));
    for (row, of_sample) in block.chunks_mut(of_bases.len().max(1)).zip(of_samples) {
        row.iter_mut()
            .zip(&of_bases)
            .for_each(|(sum, of_basis)| *sum = (of_sample + of_basis - f64::from(*sum)) as f32);
    }
    Ok(())
}

/// Distances between vectors where at least one side is sparse: `apply` replaces, in place, Σ_j term(x_j − y_j) in
/// double precision, of a sample to all bases at a time.
///
/// Only the columns of a basis are visited: Σ_j term(x_j) + Σ over these columns of term(x_j − y_j) − term(x_j), a
/// random access and 4 flops each. Where the sum cancels, it is recomputed from differences.
fn sparse_distances(
    bases: &Vectors,
    samples: &Vectors,
    block: &mut [f64],
    term: impl Fn(f64) -> f64 + Copy,
    apply: impl Fn(&mut [f64]),
) -> Result<()> {
    check_widths(bases, samples)?;
    let rows: Vec<Vec<(u32, f32)>> = (0..bases.len()).map(|basis| nonzeros(bases, basis)).collect();
    let norms = norms(bases, term);
    let n_cols = bases.n_cols();
    let needed = memory::product(&[size_of::<f64>(), n_cols]);
    memory::check(needed, || format!("a sample with all of its {n_cols} features"), memory::FEWER_COLUMNS)?;
    let mut dense = vec![0.0; n_cols];
    for (at, block) in block.chunks_mut(rows.len().max(1)).enumerate() {
        let sample = nonzeros(samples, at);
        let own: f64 = sample.iter().map(|(_, x)| term(f64::from(*x))).sum();
        sample.iter().for_each(|&(column, x)| dense[column as usize] = f64::from(x));
        for ((out, row), norm) in block.iter_mut().zip(&rows).zip(&norms) {
            let more = |&(column, y): &(u32, f32)| {
                let x = dense[column as usize];
                term(x - f64::from(y)) - term(x)
            };
            let sum = own + row.iter().map(more).sum::<f64>();
            let size = own + norm;
            *out = if sum < CANCELLED_DOUBLE * size || sum.is_nan() {
                of_pair(&sample, row.iter().copied(), term)
            } else {
                sum
            };
        }
        sample.iter().for_each(|&(column, _)| dense[column as usize] = 0.0);
        apply(block);
    }
    Ok(())
}

/// block\[sample\]\[basis\] from distances in double precision, which `apply` replaces in place: from differences, for
/// many features from products, for sparse vectors from their common features.
pub(super) fn precise_values(
    bases: &Vectors,
    samples: &Vectors,
    measure: Measure,
    block: &mut [f64],
    apply: impl Fn(&mut [f64]),
) -> Result<()> {
    if matches!(bases, Vectors::Sparse(_)) || matches!(samples, Vectors::Sparse(_)) {
        return match measure {
            Measure::Absolute => sparse_distances(bases, samples, block, f64::abs, apply),
            Measure::Squared => sparse_distances(bases, samples, block, |difference| difference * difference, apply),
        };
    }
    let (bases, samples) = (bases.dense()?, samples.dense()?);
    if bases.n_cols != samples.n_cols || bases.n_cols == 0 {
        let hint = ": samples and bases must have the same features, at least one";
        return Err(Error::FeatureCount { found: samples.n_cols, trained: bases.n_cols, hint });
    }
    if bases.n_cols > MAX_DIFFERENCE_FEATURES && measure == Measure::Squared {
        precise_squared_distances(&bases, &samples, block);
        apply(block);
    } else {
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
        tiled_distances(&wide(&samples.values), &wide(&bases.values), bases.n_cols, measure, block, apply);
    }
    Ok(())
}

/// ‖x − y‖² in double precision, from products: 2 flops a feature and pair.
fn precise_squared_distances(bases: &DenseMatrix<f32>, samples: &DenseMatrix<f32>, block: &mut [f64]) {
    let (n, d) = (bases.n_rows, bases.n_cols);
    let mean: Vec<f64> = mean(bases).into_iter().map(f64::from).collect();
    let centered = |matrix: &DenseMatrix<f32>| -> Vec<f64> {
        matrix.values.iter().enumerate().map(|(at, x)| f64::from(*x) - mean[at % d]).collect()
    };
    let (wide_bases, wide_samples) = (centered(bases), centered(samples));
    let norm = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
    let norms: Vec<f64> = wide_bases.chunks(d).map(norm).collect();
    linalg::outer(block, &wide_samples, &wide_bases, d);
    for (sample, out) in wide_samples.chunks(d).zip(block.chunks_mut(n)) {
        let own = norm(sample);
        for ((out, basis), norm) in out.iter_mut().zip(wide_bases.chunks(d)).zip(&norms) {
            let size = own + norm;
            *out = size - 2.0 * *out;
            if *out < CANCELLED_DOUBLE * size || out.is_nan() {
                *out = sample.iter().zip(basis).map(|(x, y)| (x - y) * (x - y)).sum();
            }
        }
    }
}

/// Σ_j f(x_j) of each row.
pub(super) fn norms(vectors: &Vectors, f: impl Fn(f64) -> f64) -> Vec<f64> {
    let Ok(rows) = vectors.view() else { return Vec::new() };
    let row = |row| {
        let mut sum = 0.0;
        rows.for_each_nonzero(row, |_, value| sum += f(value));
        sum
    };
    (0..rows.n_rows()).map(row).collect()
}

fn mean(matrix: &DenseMatrix<f32>) -> Vec<f32> {
    let mut sums = vec![0.0f64; matrix.n_cols];
    for row in matrix.values.chunks(matrix.n_cols.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let n = matrix.n_rows.max(1) as f64;
    sums.into_iter().map(|sum| (sum / n) as f32).collect()
}

/// Centered rows, and their squared norms.
fn centered(matrix: &DenseMatrix<f32>, mean: &[f32]) -> (Vectors, Vec<f64>) {
    let mut matrix = matrix.clone();
    let mut norms = vec![0.0; matrix.n_rows];
    for (row, norm) in matrix.values.chunks_mut(mean.len().max(1)).zip(&mut norms) {
        center(row, mean, norm);
    }
    (Vectors::Dense(matrix), norms)
}

compiled! {
    /// Subtracts the mean from a row, and returns the squared norm of the result.
    fn center(row: &mut [f32], mean: &[f32], norm: &mut f64) {
        let mut sums = [0.0f64; LANES];
        for (row, mean) in row.chunks_mut(LANES).zip(mean.chunks(LANES)) {
            for ((x, mean), sum) in row.iter_mut().zip(mean).zip(&mut sums) {
                *x -= mean;
                *sum += f64::from(*x) * f64::from(*x);
            }
        }
        *norm = sums.iter().sum();
    }
}

/// block\[sample\]\[basis\] = Σ_j term(x_j, y_j): `term` and an addition a feature and pair.
pub(super) fn sums_of_terms(
    bases: &DenseMatrix<f32>,
    samples: &DenseMatrix<f32>,
    block: &mut [f32],
    term: impl Fn(f32, f32) -> f32 + Copy,
) {
    tiled(&samples.values, &bases.values, bases.n_cols, FEATURES, block, term, |_| ());
}

/// Turns products into distances, norm + norm + factor · product, and recomputes those affected by cancellation.
fn mend(
    bases: &Vectors,
    samples: &Vectors,
    norms: [&[f64]; 2],
    factor: f64,
    block: &mut [f32],
    term: impl Fn(f32) -> f32 + Copy,
) -> Result<()> {
    let mut cancelled = Vec::new();
    for (row, (out, norm)) in block.chunks_mut(bases.len().max(1)).zip(norms[1]).enumerate() {
        cancelled.clear();
        from_products(out, norms[0], *norm, factor, &mut cancelled);
        if cancelled.is_empty() {
            continue;
        }
        match bases {
            Vectors::Dense(bases) => {
                let sample = dense_row(samples, row, bases.n_cols);
                sums_of_rows(&sample, &bases.values, &cancelled, out, term);
            }
            Vectors::Sparse(bases) => {
                let sample = nonzeros(samples, row);
                let term = |difference: f64| f64::from(term(difference as f32));
                for &basis in &cancelled {
                    out[basis] = of_pair(&sample, bases.row(basis), term) as f32;
                }
            }
        }
    }
    Ok(())
}

compiled! {
    /// Computes distances from products, and collects those that are affected by cancellation or NaN.
    fn from_products(out: &mut [f32], norms: &[f64], norm: f64, factor: f64, cancelled: &mut Vec<usize>) {
        let mut left = 0;
        for (out, norms) in out.chunks_mut(TILE).zip(norms.chunks(TILE)) {
            let mut n_right = 0;
            for (out, basis) in out.iter_mut().zip(norms) {
                let size = basis + norm;
                *out = (size + factor * f64::from(*out)) as f32;
                n_right += u32::from(f64::from(*out) >= CANCELLED_DISTANCE * size);
            }
            if n_right < out.len() as u32 {
                let right = |(out, basis): (&f32, &f64)| f64::from(*out) >= CANCELLED_DISTANCE * (basis + norm);
                let pairs = out.iter().zip(norms).enumerate();
                cancelled.extend(pairs.filter(|(_, pair)| !right(*pair)).map(|(at, _)| left + at));
            }
            left += out.len();
        }
    }
}

compiled! {
    /// out\[basis\] = Σ_j term(x_j − y_j) for some of the bases, row-major.
    fn sums_of_rows(sample: &[f32], bases: &[f32], some: &[usize], out: &mut [f32], term: impl Fn(f32) -> f32) {
        let d = sample.len();
        let (samples, rest) = sample.as_chunks::<LANES>();
        for &basis in some {
            let (bases, rest_of_basis) = bases[basis * d..(basis + 1) * d].as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for (x, y) in samples.iter().zip(bases) {
                for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                    *sum += term(x - y);
                }
            }
            for ((sum, x), y) in sums.iter_mut().zip(rest).zip(rest_of_basis) {
                *sum += term(x - y);
            }
            for half in [16, 8, 4, 2, 1] {
                let (low, high) = sums.split_at_mut(half);
                low.iter_mut().zip(high).for_each(|(low, high)| *low += *high);
            }
            out[basis] = sums[0];
        }
    }
}

/// A row in dense form, `n_cols` wide.
pub(super) fn dense_row(vectors: &Vectors, row: usize, n_cols: usize) -> Cow<'_, [f32]> {
    match vectors {
        Vectors::Dense(matrix) => Cow::Borrowed(matrix.row(row)),
        Vectors::Sparse(matrix) => {
            let mut dense = vec![0.0; n_cols];
            matrix.row(row).for_each(|(column, value)| dense[column as usize] = value);
            Cow::Owned(dense)
        }
    }
}

/// Columns and values of a row, columns ascending.
fn nonzeros(vectors: &Vectors, row: usize) -> Vec<(u32, f32)> {
    match vectors {
        Vectors::Dense(matrix) => {
            matrix.row(row).iter().enumerate().map(|(column, &value)| (column as u32, value)).collect()
        }
        Vectors::Sparse(matrix) => matrix.row(row).collect(),
    }
}

/// Σ_j term(x_j − y_j) over the columns of both rows.
fn of_pair(x: &[(u32, f32)], y: impl Iterator<Item = (u32, f32)>, term: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut y) = (0.0, y.peekable());
    for &(column, x) in x {
        while let Some((_, y)) = y.next_if(|(other, _)| *other < column) {
            sum += term(f64::from(y));
        }
        let shared = y.next_if(|(other, _)| *other == column).map_or(0.0, |(_, y)| f64::from(y));
        sum += term(f64::from(x) - shared);
    }
    sum + y.map(|(_, y)| term(f64::from(y))).sum::<f64>()
}
