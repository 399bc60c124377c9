//! Computes the matrices of the thin plate solver from samples.

use std::ops::{Range, RangeInclusive};

use crate::data::Rows;
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};

/// Rows of the kernel matrix computed at a time by one thread.
const CHUNK_ROWS: RangeInclusive<usize> = 4..=64;

/// Differences of coordinates computed at a time by one thread, if that allows enough rows: about a tenth of a second.
const CHUNK_DIFFERENCES: usize = 1 << 29;

/// These rows, dense, row-major, `n_features` wide.
///
/// # Errors
/// [`Error::Value`] for a non-finite number; [`Error::Memory`] if there are too many columns.
pub(crate) fn dense_rows(samples: &impl Rows, rows: &[usize], n_features: usize) -> Result<Vec<f64>> {
    let needed = memory::product(&[size_of::<f64>(), rows.len(), n_features]);
    let what = || format!("{} samples of {n_features} features written out", rows.len());
    memory::check(needed, what, memory::FEWER_COLUMNS)?;
    let mut values = vec![0.0; rows.len() * n_features];
    for (&row, to) in rows.iter().zip(values.chunks_mut(n_features)) {
        let mut bad = None;
        samples.for_each_nonzero(row, |column, value| {
            to[column] = value;
            if !value.is_finite() && bad.is_none() {
                bad = Some((column, value));
            }
        });
        if let Some((column, value)) = bad {
            return Err(Error::Value { row, column, value, problem: "is not a finite number: remove or impute it" });
        }
    }
    Ok(values)
}

/// Some rows of row-major samples.
pub(super) fn pick_rows(samples: &[f64], rows: &[usize], n_features: usize) -> Vec<f64> {
    rows.iter().flat_map(|&row| &samples[row * n_features..(row + 1) * n_features]).copied().collect()
}

/// Multiplies every column by its factor, if there are any.
pub(crate) fn scale_rows(rows: &mut [f64], factors: Option<&[f64]>) {
    let factors = factors.unwrap_or_default();
    for row in rows.chunks_mut(factors.len().max(1)) {
        row.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
    }
}

/// √W Φ √W of row-major samples.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::TooShort`] after a strict time limit.
pub(crate) fn weighted_gram(
    kernel: ConditionalKernel,
    samples: &[f64],
    n_features: usize,
    roots: &[f64],
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<Matrix> {
    let n = roots.len();
    let count = RowCount::new(monitor, "kernel", n);
    let chunk_rows = (CHUNK_DIFFERENCES / (n * n_features).max(1)).clamp(*CHUNK_ROWS.start(), *CHUNK_ROWS.end());
    let mut gram = Matrix::zeros(n, n);
    // Only some chunks are in memory twice, never the whole matrix.
    let fill = |rows: Range<usize>| {
        count.go_on()?;
        let mut block = vec![0.0; rows.len() * (n - rows.start)];
        let others = &samples[rows.start * n_features..];
        kernel.block(&samples[rows.start * n_features..rows.end * n_features], others, n_features, &mut block);
        count.add(rows.len());
        Ok::<_, Error>((rows, block))
    };
    pool.fold_chunks(n, chunk_rows, fill, |(rows, block)| {
        let start = rows.start;
        for (row, values) in rows.zip(block.chunks_exact(n - start)) {
            let below = gram.col_mut(row)[row..].iter_mut().zip(&values[row - start..]).zip(&roots[row..]);
            below.for_each(|((to, value), root)| *to = value * roots[row] * root);
        }
        Ok(())
    })?;
    gram.mirror_lower();
    Ok(gram)
}

/// √W P of row-major samples.
pub(crate) fn weighted_polynomials(
    space: &PolynomialSpace,
    samples: &[f64],
    n_features: usize,
    roots: &[f64],
) -> Matrix {
    let mut out = Matrix::zeros(roots.len(), space.n_monomials());
    let mut monomials = vec![0.0; space.n_monomials()];
    for (row, (sample, root)) in samples.chunks(n_features).zip(roots).enumerate() {
        space.write(sample, &mut monomials);
        for (column, value) in monomials.iter().enumerate() {
            out.set(row, column, value * root);
        }
    }
    out
}

/// For each sample the first one with the same coordinates.
pub(crate) fn first_of_equals(samples: &[f64], n_features: usize) -> Vec<usize> {
    let n = samples.len() / n_features;
    let row = |i: usize| &samples[i * n_features..(i + 1) * n_features];
    let compare = |a: usize, b: usize| {
        let pairs = row(a).iter().zip(row(b));
        pairs.map(|(x, y)| x.total_cmp(y)).find(|order| order.is_ne()).unwrap_or(a.cmp(&b))
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| compare(a, b));
    let mut first: Vec<usize> = (0..n).collect();
    for pair in order.windows(2) {
        if row(pair[0]) == row(pair[1]) {
            first[pair[1]] = first[pair[0]];
        }
    }
    first
}

/// The first of each group of equal samples, and the sums of the coefficients of each group.
pub(super) fn merged(alpha: &[Vec<f64>], samples: &[f64], n_features: usize) -> (Vec<usize>, Vec<Vec<f64>>) {
    let first = first_of_equals(samples, n_features);
    let firsts: Vec<usize> = (0..first.len()).filter(|&at| first[at] == at).collect();
    let one = |alpha: &Vec<f64>| {
        let mut sums = vec![0.0; alpha.len()];
        alpha.iter().zip(&first).for_each(|(alpha, &at)| sums[at] += alpha);
        firsts.iter().map(|&at| sums[at]).collect()
    };
    let sums = alpha.iter().map(one).collect();
    (firsts, sums)
}
