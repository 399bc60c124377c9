//! Similarities of counts, or any vectors.

use crate::data::{Rows, Samples, Vectors};
use crate::error::Result;
use crate::linalg::factor::dot;
use crate::memory;
use crate::similarity::distances;
use crate::similarity::shared_features::check_widths;

/// block\[sample\]\[basis\] = value(x·y, x·x, y·y), with products summed in double precision, which is exact for
/// counts.
///
/// # Errors
/// [`Error::FeatureCount`]; [`Error::Memory`] for too many columns of sparse vectors.
pub(super) fn fill(
    bases: &Vectors,
    samples: &Vectors,
    block: &mut [f32],
    value: impl Fn(f64, f64, f64) -> f64,
) -> Result<()> {
    check_widths(bases, samples)?;
    let trained = bases.n_cols();
    if let (Vectors::Sparse(_), _) | (_, Vectors::Sparse(_)) = (bases, samples) {
        // A basis and a sample as dense rows.
        let needed = memory::product(&[2 * size_of::<f64>(), trained]);
        let what = || format!("a sample of {trained} features written out");
        memory::check(needed, what, memory::FEWER_COLUMNS)?;
    }
    let (squares, samples) = (squares(bases), samples.view()?);
    let mut dense = vec![0.0; trained];
    for (row, out) in block.chunks_mut(bases.len().max(1)).enumerate() {
        dense.fill(0.0);
        samples.for_each_nonzero(row, |column, value| dense[column] = value);
        let square = dot(&dense, &dense);
        for (basis, out) in out.iter_mut().enumerate() {
            *out = value(product_with(bases, basis, &dense), square, squares[basis]) as f32;
        }
    }
    Ok(())
}

/// x·x of each basis.
fn squares(bases: &Vectors) -> Vec<f64> {
    (0..bases.len()).map(|basis| product_with(bases, basis, &dense_row(bases, basis, bases.n_cols()))).collect()
}

/// A squared distance below this fraction of the norms is computed from differences; above it, eleven digits remain.
const CANCELLED_COUNTS: f64 = 1e-4;

/// block\[sample\]\[basis\] = 2 − 2 s, which is a function of ‖u(x·x) x − u(y·y) y‖², where u is a scale factor.
pub(super) fn fill_distances(is_cosine: bool, bases: &Vectors, samples: &Vectors, block: &mut [f32]) {
    let squares = squares(bases);
    let unit = |xx: f64| match is_cosine {
        // 2 − 2 s is the squared distance of the directions.
        true if xx > 0.0 => 1.0 / xx.sqrt(),
        true => 0.0,
        false => 1.0,
    };
    let value = |squared: f64, xx: f64, yy: f64| match xx + yy + squared {
        _ if is_cosine => {
            if (xx > 0.0) == (yy > 0.0) {
                squared
            } else {
                2.0
            }
        }
        // 2 − 2 s = 2 ‖x − y‖² / (x·x + y·y − x·y), where x·y = ½ (x·x + y·y − ‖x − y‖²).
        twice if twice > 0.0 => 4.0 * squared / twice,
        _ => 0.0,
    };
    for (row, out) in block.chunks_mut(bases.len().max(1)).enumerate() {
        let x = dense_row(samples, row, bases.n_cols());
        let xx = dot(&x, &x);
        let a = unit(xx);
        for (basis, out) in out.iter_mut().enumerate() {
            let (yy, b) = (squares[basis], unit(squares[basis]));
            let size = a * a * xx + b * b * yy;
            let mut squared = size - 2.0 * a * b * product_with(bases, basis, &x);
            if squared < CANCELLED_COUNTS * size {
                let differences = x.iter().zip(dense_row(bases, basis, bases.n_cols())).map(|(x, y)| a * x - b * y);
                squared = differences.map(|difference| difference * difference).sum();
            }
            *out = value(squared, xx, yy) as f32;
        }
    }
}

fn dense_row(vectors: &Vectors, row: usize, n_cols: usize) -> Vec<f64> {
    let values = distances::dense_row(vectors, row, n_cols.max(vectors.n_cols()));
    values.iter().take(n_cols).map(|&value| value.into()).collect()
}

/// The product of one basis with a dense row: one multiply-add per stored value of the basis.
fn product_with(bases: &Vectors, basis: usize, dense: &[f64]) -> f64 {
    match bases {
        Vectors::Dense(matrix) => dot(matrix.row(basis), dense),
        Vectors::Sparse(matrix) => {
            matrix.row(basis).map(|(column, value)| f64::from(value) * dense[column as usize]).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::data::{AnySamples, CsrMatrix, DenseMatrix};
    use crate::similarity::sequence_tests::{agrees_by_number, chunks_change_nothing, of};
    use crate::similarity::{SetMeasure, pairwise};
    use proptest::prelude::*;

    fn both(rows: &[Vec<f32>]) -> [AnySamples; 2] {
        let n_cols = rows[0].len();
        let dense = DenseMatrix { values: rows.concat(), n_rows: rows.len(), n_cols };
        let mut sparse = CsrMatrix { indptr: vec![0], indices: vec![], values: vec![], n_cols };
        for row in rows {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                sparse.indices.push(column as u32);
                sparse.values.push(value);
            }
            sparse.indptr.push(sparse.values.len());
        }
        [Vectors::Dense(dense), Vectors::Sparse(sparse)].map(AnySamples::Vectors)
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            rows in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0u8, 0, 0, 1, 2, 9]), 19), 1..6),
        ) {
            let rows: Vec<Vec<f32>> = rows.iter().map(|row| row.iter().map(|&count| f32::from(count)).collect()).collect();
            let dot = |i: usize, j: usize| -> f64 {
                rows[i].iter().zip(&rows[j]).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
            };
            let tanimoto = of("tanimoto", SetMeasure::from_step);
            let cosine = of("cosine", SetMeasure::from_step);
            let kinds = both(&rows);
            for (bases, samples) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (bases, samples) = (&kinds[bases], &kinds[samples]);
                let or_equal = |value: f64| if value.is_nan() { 1.0 } else { value };
                agrees_by_number(&tanimoto, bases, samples, |i, j| {
                    or_equal(dot(i, j) / (dot(i, i) + dot(j, j) - dot(i, j)))
                });
                agrees_by_number(&cosine, bases, samples, |i, j| match (dot(i, i), dot(j, j)) {
                    (0.0, 0.0) => 1.0,
                    (0.0, _) | (_, 0.0) => 0.0,
                    (x, y) => dot(i, j) / (x * y).sqrt(),
                });
                let block = chunks_change_nothing(&tanimoto, bases, samples);
                prop_assert!(block.iter().all(|value| (0.0..=1.0).contains(value)));
            }
        }
    }

    #[test]
    fn rejects_another_width_unless_missing_columns_are_zeros() {
        let tanimoto = of("tanimoto", SetMeasure::from_step);
        let (narrow, wide) = (both(&[vec![1.0, 2.0]]), both(&[vec![1.0, 2.0, 0.0]]));
        assert_eq!(pairwise(&tanimoto, &wide[0], &narrow[1]).unwrap(), [1.0]);
        for (bases, samples) in [(&wide[0], &narrow[0]), (&narrow[1], &wide[1])] {
            let error = pairwise(&tanimoto, bases, samples).unwrap_err();
            assert!(matches!(error, Error::FeatureCount { .. }), "{error}");
        }
    }
}
