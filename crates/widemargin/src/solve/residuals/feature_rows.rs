//! Centered features of samples, never more than there are samples.

use std::borrow::Cow;
use std::ops::Range;

use super::factor::Factor;
use super::residual_rows::{Change, Extent, Products, ResidualRows};
use crate::data::{DenseMatrix, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::{self, Matrix};
use crate::linalg::{self, Columns, add_gram, eigen};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::solve::dual::linear as linear_dual;
use crate::solve::ridge::{each_non_zero, first_significant, products};

/// Rows in a task, and in one of leverages.
const ROWS: usize = 512;
const ROWS_OF_LEVERAGES: usize = 256;

/// Rows of features less their weighted mean.
pub(crate) struct FeatureRows<'a> {
    storage: Storage<'a>,
    n: usize,
    d: usize,
    /// 0 without an intercept.
    center: Vec<f64>,
}

enum Storage<'a> {
    /// Sparse features are written out.
    Dense(Cow<'a, DenseMatrix<f32>>),
    /// Of more features than samples: with ΦΦᵀ = U S Uᵀ, the rows of U √S, and U / √S, by which weights of these become
    /// weights of the features.
    Rotated { rows: Vec<f64>, back: Matrix, phi: &'a Vectors },
}

impl<'a> FeatureRows<'a> {
    /// Of features, of samples with weights.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Memory`] for sparse features that do not fit in memory if they are written out,
    /// or products of samples that do not.
    pub fn new(phi: &'a Vectors, weights: &[f64], has_intercept: bool) -> Result<Self> {
        let (n, features) = (weights.len(), phi.n_cols());
        let storage = if n > features {
            Storage::Dense(phi.dense()?)
        } else {
            let bytes = crate::memory::product(&[n, n, 8 * 4]);
            let what = || format!("the products of {n} samples of {features} features with each other");
            crate::memory::check(bytes, what, crate::memory::FEWER_COLUMNS)?;
            let not_finite = || Error::NotFinite { what: "a product of features".into(), value: f64::NAN };
            let mut gram = products(phi)?;
            gram.mirror_lower();
            let decomposed = eigen::symmetric(gram.values(), n, true).ok_or_else(not_finite)?;
            let first = first_significant(&decomposed.values, 0.0);
            let (mut rows, mut back) = (
                Matrix::zeros(n, n - first),
                Matrix::from_columns(decomposed.vectors[first * n..].to_vec(), n, n - first),
            );
            for (at, value) in decomposed.values[first..].iter().enumerate() {
                let root = value.sqrt();
                rows.col_mut(at).iter_mut().zip(back.col(at)).for_each(|(row, u)| *row = root * u);
                back.col_mut(at).iter_mut().for_each(|u| *u /= root);
            }
            Storage::Rotated { rows: rows.transposed().into_values(), back, phi }
        };
        let d = match &storage {
            Storage::Rotated { back, .. } => back.n_cols(),
            _ => features,
        };
        let mut rows = FeatureRows { storage, n, d, center: vec![0.0; d] };
        if has_intercept {
            let total: f64 = weights.iter().sum();
            let (mut center, mut row) = (vec![0.0; d], vec![0.0; d]);
            for (at, weight) in weights.iter().enumerate() {
                rows.fill(at, &mut row);
                factor::add_scaled(&mut center, weight / total, &row);
            }
            rows.center = center;
        }
        Ok(rows)
    }

    /// Writes a row.
    fn fill(&self, row: usize, out: &mut [f64]) {
        match self.raw(row) {
            Raw::Single(values) => out
                .iter_mut()
                .zip(values)
                .zip(&self.center)
                .for_each(|((out, x), center)| *out = f64::from(*x) - center),
            Raw::Double(values) => {
                out.iter_mut().zip(values).zip(&self.center).for_each(|((out, x), center)| *out = x - center);
            }
        }
    }

    fn raw(&self, row: usize) -> Raw<'_> {
        let range = row * self.d..(row + 1) * self.d;
        match &self.storage {
            Storage::Dense(dense) => Raw::Single(&dense.values[range]),
            Storage::Rotated { rows, .. } => Raw::Double(&rows[range]),
        }
    }

    /// The lower triangle of Σ v φφᵀ over some rows, row-major.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    fn gram(&self, rows: &[usize], weights: &[f64], pool: &Pool, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let d = self.d;
        let some = |range: Range<usize>| {
            monitor.go_on("solve")?;
            let mut block = vec![0.0; range.len() * d];
            for (out, &row) in block.chunks_mut(d.max(1)).zip(&rows[range]) {
                self.fill(row, out);
                let root = weights[row].sqrt();
                out.iter_mut().for_each(|x| *x *= root);
            }
            let mut gram = vec![0.0; d * d];
            if d > 0 {
                add_gram(&mut gram, Columns::new(&block, d, 0, d));
            }
            Ok::<_, Error>(gram)
        };
        let mut gram = vec![0.0; d * d];
        pool.fold_chunks(rows.len(), ROWS, some, |part| {
            linalg::add(&mut gram, &part);
            Ok(())
        })?;
        Ok(gram)
    }

    /// Adds `sign` times Σ v φφᵀ and Σ v φ over some rows.
    fn add(
        &self,
        sums: &mut Products,
        (sign, rows): (f64, &[usize]),
        weights: &[f64],
        pool: &Pool,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        factor::add_scaled(&mut sums.lower, sign, &self.gram(rows, weights, pool, monitor)?);
        let mut row = vec![0.0; self.d];
        for &at in rows {
            self.fill(at, &mut row);
            factor::add_scaled(&mut sums.column, sign * weights[at], &row);
        }
        Ok(())
    }
}

impl ResidualRows for FeatureRows<'_> {
    fn n_rows(&self) -> usize {
        self.n
    }

    fn n_features(&self) -> usize {
        self.d
    }

    fn times(&self, weights: &[f64], pool: &Pool, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let center = factor::dot(&self.center, weights);
        let dot = |row| match self.raw(row) {
            Raw::Single(values) => linear_dual::dot(values, weights),
            Raw::Double(values) => factor::dot(values, weights),
        };
        let some = |rows: Range<usize>| {
            monitor.go_on("solve")?;
            Ok::<_, Error>(rows.map(|row| dot(row) - center).collect::<Vec<f64>>())
        };
        let mut products = Vec::with_capacity(self.n);
        pool.fold_chunks(self.n, ROWS, some, |part| {
            products.extend(part);
            Ok(())
        })?;
        Ok(products)
    }

    fn transposed_times(&self, numbers: &[f64], pool: &Pool, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let some = |rows: Range<usize>| {
            monitor.go_on("solve")?;
            let mut sums = vec![0.0; self.d];
            for row in rows.filter(|&row| numbers[row] != 0.0) {
                match self.raw(row) {
                    Raw::Single(values) => linear_dual::add(values, numbers[row], &mut sums),
                    Raw::Double(values) => factor::add_scaled(&mut sums, numbers[row], values),
                }
            }
            Ok::<_, Error>(sums)
        };
        let mut sums = vec![0.0; self.d];
        pool.fold_chunks(self.n, ROWS, some, |part| {
            linalg::add(&mut sums, &part);
            Ok(())
        })?;
        factor::add_scaled(&mut sums, -numbers.iter().sum::<f64>(), &self.center);
        Ok(sums)
    }

    fn add_products(&self, change: Change<'_>, pool: &Pool, monitor: &Monitor<'_>) -> Result<()> {
        let Change { sums, added, removed, weights } = change;
        self.add(sums, (1.0, added), weights, pool, monitor)?;
        self.add(sums, (-1.0, removed), weights, pool, monitor)
    }

    fn extent(&self, weights: &[f64], pool: &Pool, monitor: &Monitor<'_>) -> Result<Extent> {
        let (mut row, mut norms) = (vec![0.0; self.d], vec![0.0; self.d]);
        for (at, weight) in weights.iter().enumerate() {
            self.fill(at, &mut row);
            norms.iter_mut().zip(&row).for_each(|(norm, x)| *norm += weight * x * x);
        }
        Extent::new(norms, |direction| {
            let along = self.times(direction, pool, monitor)?;
            let weighted: Vec<f64> = along.iter().zip(weights).map(|(x, weight)| weight * x).collect();
            Ok((factor::dot(&along, &weighted), self.transposed_times(&weighted, pool, monitor)?))
        })
    }

    fn leverages(&self, factor: &Factor, rows: &[usize], pool: &Pool, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let some = |range: Range<usize>| {
            monitor.go_on("leave-one-out")?;
            let own = rows.partition_point(|row| *row < range.start)..rows.partition_point(|row| *row < range.end);
            let mut columns = Matrix::zeros(self.d, own.len());
            rows[own].iter().enumerate().for_each(|(to, &row)| self.fill(row, columns.col_mut(to)));
            Ok::<_, Error>(factor.leverages(columns))
        };
        let mut leverages = Vec::with_capacity(rows.len());
        pool.fold_chunks(self.n, ROWS_OF_LEVERAGES, some, |part| {
            leverages.extend(part);
            Ok(())
        })?;
        Ok(leverages)
    }

    fn original(&self, weights: &[f64]) -> Result<(Vec<f64>, f64)> {
        let shift = -factor::dot(&self.center, weights);
        let Storage::Rotated { back, phi, .. } = &self.storage else { return Ok((weights.to_vec(), shift)) };
        let (alphas, mut original) = (back.times(weights), vec![0.0; phi.n_cols()]);
        each_non_zero(phi, |row, feature, value| original[feature] += alphas[row] * value)?;
        Ok((original, shift))
    }

    fn in_memory(&self) -> Option<&(dyn ResidualRows + Sync)> {
        Some(self)
    }
}

enum Raw<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}
