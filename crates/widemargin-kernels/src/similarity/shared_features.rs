//! Sums over the features of pairs of vectors, dense or sparse: the building blocks of similarities of vectors.

use crate::data::{CsrMatrix, DenseMatrix, Rows, Samples, Vectors};
use crate::error::{Error, Result};
use crate::isa::compiled;
use crate::linalg;
use crate::memory;

/// block\[sample\]\[basis\] = x·y.
pub(super) fn products(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
    check_widths(bases, samples)?;
    match (bases, samples) {
        (Vectors::Dense(b), Vectors::Dense(s)) => {
            linalg::outer(block, &s.values, &b.values, b.n_cols);
            Ok(())
        }
        _ => sum_over_features(bases, samples, block, |x, y| x * y),
    }
}

/// block\[sample\]\[basis\] = Σ_j f(x_j, y_j), for an f with f(x, 0) = f(0, y) = 0.
pub(super) fn sum_over_features(
    bases: &Vectors,
    samples: &Vectors,
    block: &mut [f32],
    f: impl Fn(f32, f32) -> f32 + Copy,
) -> Result<()> {
    check_widths(bases, samples)?;
    block.fill(0.0);
    // The bases by feature, so that each value of a sample is combined with all bases at once.
    let (n, samples) = (bases.len(), samples.view()?);
    let rows = block.chunks_mut(n.max(1)).enumerate();
    match bases {
        Vectors::Dense(matrix) => {
            let by_feature = transposed(matrix);
            for (row, out) in rows {
                samples.for_each_nonzero(row, |column, x| {
                    add_feature(x as f32, &by_feature[column * n..(column + 1) * n], out, f);
                });
            }
        }
        Vectors::Sparse(matrix) => {
            let Columns { starts, bases, values } = Columns::of(matrix)?;
            for (row, out) in rows {
                samples.for_each_nonzero(row, |column, x| {
                    // A sample cannot be wider than the bases: `check_widths` has checked it.
                    let range = starts[column]..starts[column + 1];
                    for (&basis, &y) in bases[range.clone()].iter().zip(&values[range]) {
                        out[basis as usize] += f(x as f32, y);
                    }
                });
            }
        }
    }
    Ok(())
}

/// The non-zeros of each feature.
struct Columns {
    starts: Vec<usize>,
    bases: Vec<u32>,
    values: Vec<f32>,
}

impl Columns {
    fn of(matrix: &CsrMatrix<f32>) -> Result<Self> {
        let (n_bases, n_cols) = (matrix.indptr.len().saturating_sub(1), matrix.n_cols);
        let needed = memory::product(&[2 * size_of::<usize>(), n_cols]);
        let what = || format!("{n_bases} sparse bases by their {n_cols} features");
        memory::check(needed, what, memory::FEWER_COLUMNS)?;
        let mut starts = vec![0usize; matrix.n_cols + 1];
        matrix.indices.iter().for_each(|&column| starts[column as usize + 1] += 1);
        for column in 0..matrix.n_cols {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let (mut bases, mut values) = (vec![0; matrix.values.len()], vec![0.0; matrix.values.len()]);
        for basis in 0..n_bases {
            for at in matrix.indptr[basis]..matrix.indptr[basis + 1] {
                let slot = &mut next[matrix.indices[at] as usize];
                (bases[*slot], values[*slot]) = (basis as u32, matrix.values[at]);
                *slot += 1;
            }
        }
        Ok(Columns { starts, bases, values })
    }
}

/// \[feature\]\[basis\]
fn transposed(matrix: &DenseMatrix<f32>) -> Vec<f32> {
    let (n, d) = (matrix.n_rows, matrix.n_cols);
    let mut out = vec![0.0; n * d];
    for (row, values) in matrix.values.chunks(d.max(1)).enumerate() {
        values.iter().enumerate().for_each(|(column, value)| out[column * n + row] = *value);
    }
    out
}

compiled! {
    /// out\[basis\] += f(x, y\[basis\]). A load, f, an addition and a store per pair: 12 bytes, all in the first-level
    /// cache.
    #[inline(always)]
    fn add_feature(x: f32, y: &[f32], out: &mut [f32], f: impl Fn(f32, f32) -> f32) {
        out.iter_mut().zip(y).for_each(|(out, y)| *out += f(x, *y));
    }
}

/// Dense vectors must have equal widths; sparse samples may be narrower than the bases.
pub(super) fn check_widths(bases: &Vectors, samples: &Vectors) -> Result<()> {
    let (trained, found) = (bases.n_cols(), samples.n_cols());
    let narrower = matches!(samples, Vectors::Sparse(_)) && found < trained;
    if found == trained || narrower {
        return Ok(());
    }
    Err(Error::FeatureCount { found, trained, hint: ": samples and bases must have the same features" })
}
