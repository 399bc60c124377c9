//! Vector samples, dense or sparse, in single precision, as compared by similarities.

use std::borrow::Cow;

use super::dense::AHEAD;
use super::{AnyRows, CsrMatrix, DenseMatrix, Fingerprint, Rows, Samples};
use crate::error::{Error, Result};
use crate::memory;

/// Owned vectors in single precision.
#[derive(Clone, Debug, PartialEq)]
pub enum Vectors {
    /// Dense rows.
    Dense(DenseMatrix<f32>),
    /// Sparse rows, columns ascending, each column once.
    Sparse(CsrMatrix<f32>),
}

impl Vectors {
    /// These rows of a dense view less an offset of each column, subtracted in double precision.
    ///
    /// # Errors
    /// As for [`Vectors::of`].
    pub(super) fn differences(rows: &impl Rows, picked: &[usize], offsets: &[f64]) -> Result<DenseMatrix<f32>> {
        let origin: Vec<f32> = offsets.iter().map(|offset| -offset as f32).collect();
        dense_rows(rows, picked, &origin, |column| offsets[column])
    }

    /// The row, the column and the value of the first number that is so, by its column and itself.
    pub(crate) fn find(&self, is_so: impl Fn(usize, f32) -> bool) -> Option<(usize, usize, f32)> {
        match self {
            Vectors::Dense(matrix) => {
                let of_row = |(row, values): (usize, &[f32])| {
                    let column = values.iter().enumerate().position(|(column, value)| is_so(column, *value))?;
                    Some((row, column, values[column]))
                };
                matrix.values.chunks(matrix.n_cols.max(1)).enumerate().find_map(of_row)
            }
            Vectors::Sparse(CsrMatrix { indptr, indices, values, .. }) => {
                let column = |at: usize| indices.get(at).map_or(0, |&column| column as usize);
                let at = values.iter().enumerate().position(|(at, value)| is_so(column(at), *value))?;
                // Rows may be empty: the last row that begins at or before it.
                let row = indptr.partition_point(|&from| from <= at).saturating_sub(1);
                Some((row, column(at), values[at]))
            }
        }
    }
}

#[doc(hidden)]
impl Vectors {
    /// These rows of any view, in this order; sparse if the view is.
    ///
    /// # Errors
    /// [`crate::Error::Value`] for a value that is not finite in single precision.
    pub fn of(rows: &impl Rows, picked: &[usize]) -> Result<Self> {
        if rows.is_sparse() {
            let mut matrix = CsrMatrix::empty(rows.n_cols());
            for (at, &row) in picked.iter().enumerate() {
                prefetch_ahead(rows, picked, at);
                let mut bad = None;
                rows.for_each_nonzero(row, |column, value| {
                    let single = value as f32;
                    if !single.is_finite() {
                        bad.get_or_insert((column, value));
                    }
                    matrix.indices.push(column as u32);
                    matrix.values.push(single);
                });
                not_finite(row, bad)?;
                matrix.indptr.push(matrix.values.len());
            }
            return Ok(Vectors::Sparse(matrix));
        }
        Ok(Vectors::Dense(dense_rows(rows, picked, &[], |_| 0.0)?))
    }

    /// The vectors as dense rows; sparse ones are expanded.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] for inconsistent sparse rows; [`crate::Error::Memory`] if there are too many columns to
    /// expand.
    pub fn dense(&self) -> Result<Cow<'_, DenseMatrix<f32>>> {
        match self {
            Vectors::Dense(matrix) => Ok(Cow::Borrowed(matrix)),
            Vectors::Sparse(matrix) => {
                let view = matrix.view()?;
                let (n_rows, n_cols) = (view.n_rows(), view.n_cols());
                // The rows, and double-precision statistics computed from them.
                let needed = memory::product(&[4 * n_rows + 16, n_cols]);
                let what = || format!("{n_rows} sparse samples of {n_cols} features written out as dense ones");
                memory::check(needed, what, memory::FEWER_COLUMNS)?;
                let mut values = vec![0.0; n_rows * n_cols];
                for (row, out) in values.chunks_mut(n_cols.max(1)).enumerate() {
                    view.for_each_nonzero(row, |column, value| out[column] = value as f32);
                }
                Ok(Cow::Owned(DenseMatrix { values, n_rows, n_cols }))
            }
        }
    }

    /// The same as dense rows.
    ///
    /// # Errors
    /// As for [`Vectors::dense`].
    pub fn into_dense(self) -> Result<DenseMatrix<f32>> {
        match self {
            Vectors::Dense(matrix) => Ok(matrix),
            sparse => sparse.dense().map(Cow::into_owned),
        }
    }

    /// A view of the rows, as accepted by every method of the library.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] if the public fields are inconsistent.
    pub fn view(&self) -> Result<AnyRows<'_>> {
        Ok(match self {
            Vectors::Dense(matrix) => matrix.view()?.into(),
            Vectors::Sparse(matrix) => matrix.view()?.into(),
        })
    }

    /// Number of features.
    pub fn n_cols(&self) -> usize {
        match self {
            Vectors::Dense(matrix) => matrix.n_cols,
            Vectors::Sparse(matrix) => matrix.n_cols,
        }
    }
}

/// These rows, each number less the offset of its column; `origin` is what is left of zeros, or empty for zeros.
fn dense_rows(
    rows: &impl Rows,
    picked: &[usize],
    origin: &[f32],
    offset: impl Fn(usize) -> f64,
) -> Result<DenseMatrix<f32>> {
    let (n_rows, n_cols) = (picked.len(), rows.n_cols());
    let mut values = vec![0.0f32; n_rows * n_cols];
    for (at, (&row, out)) in picked.iter().zip(values.chunks_mut(n_cols.max(1))).enumerate() {
        prefetch_ahead(rows, picked, at);
        out[..origin.len()].copy_from_slice(origin);
        let mut bad = None;
        rows.for_each_nonzero(row, |column, value| {
            out[column] = (value - offset(column)) as f32;
            if !out[column].is_finite() {
                bad.get_or_insert((column, value));
            }
        });
        not_finite(row, bad)?;
    }
    Ok(DenseMatrix { values, n_rows, n_cols })
}

fn prefetch_ahead(rows: &impl Rows, picked: &[usize], at: usize) {
    if let Some(&soon) = picked.get(at + AHEAD) {
        rows.prefetch(soon);
    }
}

fn not_finite(row: usize, bad: Option<(usize, f64)>) -> Result<()> {
    let problem = "is not a finite number in single precision: remove, impute or rescale it";
    bad.map_or(Ok(()), |(column, value)| Err(Error::Value { row, column, value, problem }))
}

impl Samples for DenseMatrix<f32> {
    fn len(&self) -> usize {
        self.n_rows
    }

    fn select(&self, rows: &[usize]) -> Self {
        DenseMatrix::select(self, rows)
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        Some(Fingerprint::of_singles(self.row(at)))
    }
}

impl Samples for Vectors {
    fn flaw(&self) -> Option<(usize, String)> {
        let (row, column, value) = self.find(|_, value| !value.is_finite())?;
        Some((row, format!("has {value} in column {column}: it must be a finite number")))
    }

    fn len(&self) -> usize {
        match self {
            Vectors::Dense(matrix) => matrix.n_rows,
            Vectors::Sparse(matrix) => matrix.indptr.len().saturating_sub(1),
        }
    }

    fn select(&self, rows: &[usize]) -> Self {
        match self {
            Vectors::Dense(matrix) => Vectors::Dense(matrix.select(rows)),
            Vectors::Sparse(matrix) => Vectors::Sparse(matrix.select(rows)),
        }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        match self {
            Vectors::Dense(matrix) => matrix.fingerprint(at),
            Vectors::Sparse(matrix) => {
                let mut fingerprint = Fingerprint::default();
                matrix.row(at).for_each(|(column, value)| fingerprint.add_number(column as usize, f64::from(value)));
                Some(fingerprint.finish())
            }
        }
    }
}
