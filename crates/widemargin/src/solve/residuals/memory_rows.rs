//! Features of samples in memory, never more than there are samples.

use std::borrow::Cow;
use std::ops::Range;

use crate::data::{DenseMatrix, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::par::Pool;
use crate::problem::Block;
use crate::solve::ridge::{products, significant};

/// Rows of features.
pub(crate) enum MemoryRows<'a> {
    /// Sparse features are written out.
    Dense(Cow<'a, DenseMatrix<f32>>),
    /// Of more features than samples: with ΦΦᵀ = U S Uᵀ, the rows of U √S, and U / √S, by which weights of these become
    /// weights of the features.
    Rotated { rows: Matrix, back: Matrix, phi: &'a Vectors },
}

impl<'a> MemoryRows<'a> {
    /// Of the features of samples.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Memory`] for sparse features that do not fit in memory if they are written out,
    /// or products of samples that do not.
    pub fn new(phi: &'a Vectors, pool: &Pool) -> Result<Self> {
        let n = Block::of(phi)?.n_rows();
        if n > phi.n_cols() {
            return Ok(MemoryRows::Dense(phi.dense()?));
        }
        let not_finite = || Error::NotFinite { what: "a product of features".into(), value: f64::NAN };
        let (values, mut back) = significant(&products(phi, pool)?, 0.0).ok_or_else(not_finite)?;
        let mut rows = Matrix::zeros(n, values.len());
        for (at, value) in values.iter().enumerate() {
            let root = value.sqrt();
            rows.col_mut(at).iter_mut().zip(back.col(at)).for_each(|(row, u)| *row = root * u);
            back.col_mut(at).iter_mut().for_each(|u| *u /= root);
        }
        Ok(MemoryRows::Rotated { rows: rows.transposed(), back, phi })
    }

    /// Numbers of a row.
    pub fn n_features(&self) -> usize {
        match self {
            MemoryRows::Dense(phi) => phi.n_cols,
            MemoryRows::Rotated { rows, .. } => rows.n_rows(),
        }
    }

    /// Some rows, one column per row, each times its number.
    pub fn scaled(&self, rows: Range<usize>, factors: &[f64]) -> Matrix {
        let (d, n) = (self.n_features(), rows.len());
        let mut values = Vec::with_capacity(d * n);
        for row in rows {
            match self {
                MemoryRows::Dense(phi) => values.extend(phi.row(row).iter().map(|x| factors[row] * f64::from(*x))),
                MemoryRows::Rotated { rows, .. } => values.extend(rows.col(row).iter().map(|x| factors[row] * x)),
            }
        }
        Matrix::from_columns(values, d, n)
    }

    /// The weights of the original features.
    ///
    /// # Errors
    /// [`Error::Shape`] for inconsistent sparse features.
    pub fn original(&self, weights: &[f64]) -> Result<Vec<f64>> {
        let MemoryRows::Rotated { back, phi, .. } = self else { return Ok(weights.to_vec()) };
        Ok(Block::of(phi)?.combination(&back.times(weights)))
    }
}
