//! Expands features of distinct samples to all of the caller's rows.

use crate::data::{ABSENT, CsrMatrix, DenseMatrix, Distinct, Picked, Source, Vectors};
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::monitor::Monitor;
use crate::similarity::Similarity;

/// Expands the features of the distinct samples to those of all rows in the caller's order.
pub(crate) fn features_of_all<S: Similarity>(
    phi: Vectors,
    distinct: &Distinct,
    expansion: &BasisExpansion<S>,
    samples: &dyn Source<Samples = S::Samples>,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<Vectors> {
    let phi = match phi {
        Vectors::Dense(phi) => {
            return dense_of_all(phi, distinct, expansion, samples, threads, monitor).map(Vectors::Dense);
        }
        Vectors::Sparse(phi) => phi,
    };
    let places = &distinct.places;
    let absent: Vec<usize> = (0..places.len()).filter(|&row| places[row] == ABSENT).collect();
    let others = expansion.sparse_features(&Picked { source: samples, rows: &absent }, threads, monitor);
    let others = others.map_err(|error| error.of_rows(&absent))?;
    let (mut all, mut next) = (CsrMatrix::empty(phi.n_cols), 0..);
    for &place in places {
        let (from, row) = if place == ABSENT { (&others, next.next().unwrap_or(ABSENT)) } else { (&phi, place) };
        let range = from.indptr[row]..from.indptr[row + 1];
        all.indices.extend_from_slice(&from.indices[range.clone()]);
        all.values.extend_from_slice(&from.values[range]);
        all.indptr.push(all.values.len());
    }
    Ok(Vectors::Sparse(all))
}

/// The same of dense features, in the same memory.
fn dense_of_all<S: Similarity>(
    phi: DenseMatrix<f32>,
    distinct: &Distinct,
    expansion: &BasisExpansion<S>,
    samples: &dyn Source<Samples = S::Samples>,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<DenseMatrix<f32>> {
    let (n_rows, n_cols) = (distinct.places.len(), phi.n_cols);
    let mut values = phi.values;
    values.resize(n_rows * n_cols, 0.0);
    // Where each row's features are now: first copies in their places, the other rows, which have none yet, in the
    // remaining ones. This is a permutation.
    let mut spare = phi.n_rows..;
    let mut from: Vec<usize> = Vec::with_capacity(n_rows);
    for (row, &place) in distinct.places.iter().enumerate() {
        let is_first = place != ABSENT && distinct.rows[place] == row;
        from.push(if is_first { place } else { spare.next().unwrap_or(ABSENT) });
    }
    permute(&mut values, n_cols, &mut from);
    let mut absent = Vec::new();
    for (row, &place) in distinct.places.iter().enumerate() {
        match place {
            ABSENT => absent.push(row),
            place => {
                let first = distinct.rows[place] * n_cols;
                values.copy_within(first..first + n_cols, row * n_cols);
            }
        }
    }
    if absent.is_empty() {
        return Ok(DenseMatrix { values, n_rows, n_cols });
    }
    let others = expansion.transform_with(&Picked { source: samples, rows: &absent }, threads, monitor);
    let others = others.map_err(|error| error.of_rows(&absent))?;
    for (row, features) in absent.iter().zip(others.values.chunks(n_cols.max(1))) {
        values[row * n_cols..(row + 1) * n_cols].copy_from_slice(features);
    }
    Ok(DenseMatrix { values, n_rows, n_cols })
}

/// Moves row `from[i]` to row `i`, for a permutation `from`, which is consumed: each cycle is followed once with a copy
/// of one row.
fn permute(values: &mut [f32], n_cols: usize, from: &mut [usize]) {
    let mut buffer = vec![0.0; n_cols];
    for start in 0..from.len() {
        if from[start] == start {
            continue;
        }
        buffer.copy_from_slice(&values[start * n_cols..(start + 1) * n_cols]);
        let mut row = start;
        loop {
            let next = std::mem::replace(&mut from[row], row);
            if next == start {
                values[row * n_cols..(row + 1) * n_cols].copy_from_slice(&buffer);
                break;
            }
            values.copy_within(next * n_cols..(next + 1) * n_cols, row * n_cols);
            row = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutes_rows() {
        for mut from in [vec![0, 1, 2, 3, 4], vec![4, 3, 2, 1, 0], vec![1, 2, 3, 4, 0], vec![2, 0, 1, 4, 3]] {
            let right: Vec<f32> = from.iter().flat_map(|&row| [row as f32, row as f32 + 0.5]).collect();
            let mut values: Vec<f32> = (0..5).flat_map(|row| [row as f32, row as f32 + 0.5]).collect();
            permute(&mut values, 2, &mut from);
            assert_eq!(values, right);
        }
    }
}
