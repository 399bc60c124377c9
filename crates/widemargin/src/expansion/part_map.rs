//! The normalization of one similarity's features, learned from the training samples.

use super::inverse_root::{InverseRoot, Precision, Rounding};
use super::{Normalization, NystroemCut};
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::eigen::{self, SymmetricEigen};
use crate::linalg::factor::{Matrix, Side, product};
use crate::tuning::{COVARIANCE_FLOOR, PRECISE_COLUMNS};

/// Maps similarities to features: φ̃ minus the center, then a linear map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PartMap {
    /// One number a column; empty where all are 0.
    pub center: Vec<f32>,
    pub linear: Linear,
    pub n_columns: usize,
    pub n_features: usize,
}

/// A linear map of similarities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Linear {
    /// One factor for all columns or one each.
    Factors(Vec<f32>),
    /// Row-major columns × features.
    Matrix(Vec<f32>),
    /// The same of similarities in double precision, which are not centered.
    PreciseMatrix(Vec<f64>),
}

/// Total number of features of several similarities.
pub(crate) fn n_joined(maps: &[PartMap]) -> usize {
    maps.iter().map(|map| map.n_features).sum()
}

/// Properties of the similarities between the bases, found by a Nyström map.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spectrum {
    /// Σ |negative eigenvalues| / Σ positive ones of the symmetric part, ignoring rounding.
    pub negative: f64,
    /// The largest |s(a, b) − s(b, a)| over the largest |s|.
    pub asymmetry: f64,
}

/// (S + Sᵀ)/2 of a square matrix.
pub(super) struct SymmetricPart {
    pub matrix: Matrix,
    /// The largest |S_ij|.
    pub largest: f64,
    /// The largest |S_ij − S_ji| over that.
    pub asymmetry: f64,
}

impl SymmetricPart {
    /// Of the n × n numbers `at`.
    pub fn of(n: usize, at: impl Fn(usize, usize) -> f64) -> Self {
        let (mut matrix, mut largest, mut difference) = (Matrix::zeros(n, n), 0.0f64, 0.0f64);
        for i in 0..n {
            for j in 0..=i {
                let (a, b) = (at(i, j), at(j, i));
                largest = largest.max(a.abs()).max(b.abs());
                difference = difference.max((a - b).abs());
                matrix.set(i, j, 0.5 * (a + b));
                matrix.set(j, i, 0.5 * (a + b));
            }
        }
        SymmetricPart { matrix, largest, asymmetry: if largest > 0.0 { difference / largest } else { 0.0 } }
    }
}

impl PartMap {
    /// (φ̃ − center) · factors.
    pub fn affine(center: Vec<f32>, factors: Vec<f32>) -> Self {
        let n = center.len();
        PartMap { center, linear: Linear::Factors(factors), n_columns: n, n_features: n }
    }

    /// φ̃ unchanged.
    pub fn identity(n_columns: usize) -> Self {
        PartMap::affine(vec![0.0; n_columns], vec![1.0])
    }

    /// The same without a matrix: a feature for each column.
    pub fn without_matrix(&self) -> Self {
        let linear = Linear::Factors(self.factors().to_vec());
        PartMap { center: self.center.clone(), linear, n_columns: self.n_columns, n_features: self.n_columns }
    }

    /// Factors of the columns, one for all or one each; 1 where there is a matrix.
    pub fn factors(&self) -> &[f32] {
        if let Linear::Factors(factors) = &self.linear { factors } else { &[1.0] }
    }

    /// The factor of a column.
    pub fn factor(&self, column: usize) -> f64 {
        let factors = self.factors();
        f64::from(if factors.len() == 1 { factors[0] } else { factors[column] })
    }

    /// The same map with features of another size.
    pub fn scaled(mut self, factor: f64) -> Self {
        match &mut self.linear {
            Linear::Factors(values) | Linear::Matrix(values) => {
                values.iter_mut().for_each(|value| *value = (f64::from(*value) * factor) as f32);
            }
            Linear::PreciseMatrix(matrix) => matrix.iter_mut().for_each(|value| *value *= factor),
        }
        self
    }

    /// Centers and scales a row, in place.
    pub fn center(&self, row: &mut [f32]) {
        let centered = row.iter_mut().zip(&self.center);
        match self.factors() {
            [one] => centered.for_each(|(x, center)| *x = (*x - center) * one),
            all => centered.zip(all).for_each(|((x, center), factor)| *x = (*x - center) * factor),
        }
    }

    /// Maps a part of rows of `width` numbers, its columns from `first` on, where it has as many features as columns.
    pub fn apply_in_place(&self, rows: &mut [f32], width: usize, first: usize) {
        let own = first..first + self.n_columns;
        if let Linear::Factors(_) = self.linear {
            rows.chunks_mut(width.max(1)).for_each(|row| self.center(&mut row[own.clone()]));
        } else {
            let mut block: Vec<f32> = rows.chunks(width.max(1)).flat_map(|row| &row[own.clone()]).copied().collect();
            self.apply(&mut block, rows, width, first);
        }
    }

    /// Maps rows of similarities to features, into rows of `width` numbers from column `first` on.
    pub fn apply(&self, block: &mut [f32], out: &mut [f32], width: usize, first: usize) {
        let PartMap { n_columns, n_features, .. } = *self;
        block.chunks_mut(n_columns.max(1)).for_each(|row| self.center(row));
        match &self.linear {
            Linear::Factors(_) => place(out, width, first, block, n_features),
            Linear::Matrix(matrix) => {
                place(out, width, first, &product_of_rows(block, matrix, n_columns, n_features), n_features);
            }
            // It takes double precision.
            Linear::PreciseMatrix(_) => {}
        }
    }

    /// The same of similarities in double precision, for a map that takes them: 2 flops a column and feature.
    pub fn apply_precisely(&self, rows: &[f64], out: &mut [f32], width: usize, first: usize) {
        let Linear::PreciseMatrix(matrix) = &self.linear else { return };
        let mut product = vec![0.0; rows.len() / self.n_columns.max(1) * self.n_features];
        linalg::times(&mut product, rows, matrix, self.n_columns);
        let features: Vec<f32> = product.into_iter().map(|x| x as f32).collect();
        place(out, width, first, &features, self.n_features);
    }

    /// Σ^(−½) for the covariance Σ (row-major) of columns with these means, its eigenvalues at least
    /// [`COVARIANCE_FLOOR`] of the largest; 0 where all columns are constant.
    pub fn whitening(covariance: &[f64], mean: &[f64]) -> Result<Self> {
        let n = mean.len();
        let failed = || Error::shape("covariance of similarities", "values that are not finite", "finite values");
        let SymmetricEigen { values, vectors } = eigen::symmetric(covariance, n, true).ok_or_else(failed)?;
        let largest = values.iter().copied().fold(0.0, f64::max);
        // The rounding of constant columns.
        let scale = mean.iter().fold(0.0f64, |scale, mean| scale.max(mean.abs()));
        let floor = COVARIANCE_FLOOR * if largest > (1e-6 * scale).powi(2) { largest } else { f64::INFINITY };
        let mut scaled = Matrix::from_columns(vectors, n, n);
        for (column, value) in values.iter().enumerate() {
            let factor = value.max(floor).powf(-0.25);
            scaled.col_mut(column).iter_mut().for_each(|x| *x *= factor);
        }
        let root = product(Side::Plain(&scaled), Side::Transposed(&scaled));
        let matrix = root.values().iter().map(|x| *x as f32).collect();
        let center = mean.iter().map(|mean| *mean as f32).collect();
        Ok(PartMap { center, linear: Linear::Matrix(matrix), n_columns: n, n_features: n })
    }

    /// S^(−½) up to a rotation, which does not affect a linear SVM, for the symmetric part S of the similarities
    /// between the bases, made positive semi-definite.
    ///
    /// `between` is row-major, n bases × (bases and polynomials), of this precision. S is projected off the constant and
    /// the polynomials, which become features of their own: each with the variance of all others together.
    pub(super) fn nystroem(
        (between, precision): (&[f64], Precision),
        (n, n_polynomials): (usize, usize),
        (normalization, cut): (Normalization, NystroemCut),
        spec: &str,
    ) -> Result<(Self, Spectrum)> {
        let n_columns = n + n_polynomials;
        let Some(treatment) = normalization.negative_eigenvalues() else {
            return Ok((PartMap::identity(n_columns), Spectrum::default()));
        };
        let is_centered = matches!(normalization, Normalization::Centered(_));
        let at = |i: usize, j: usize| between[i * n_columns + j];
        let SymmetricPart { matrix, largest, asymmetry } = SymmetricPart::of(n, at);
        let problem = "its similarities between the bases have no eigenvalues: they are not finite";
        let failed = || Error::similarity(spec, problem);
        let rounding = Rounding::of(precision, n, largest, cut);
        let InverseRoot { columns, trace, negative } = match is_centered {
            true => {
                let polynomials: Vec<Vec<f64>> =
                    (n..n_columns).map(|column| (0..n).map(|row| at(row, column)).collect()).collect();
                InverseRoot::projected(matrix, &polynomials, treatment, rounding).map_err(|problem| match problem {
                    Some(problem) => Error::similarity(spec, problem),
                    None => failed(),
                })?
            }
            false => InverseRoot::new(&matrix, treatment, rounding).ok_or_else(failed)?,
        };
        let n_selected = columns.n_cols();
        let n_features = n_selected + n_polynomials;
        let mut projection = vec![0.0; n_columns * n_features];
        for feature in 0..n_selected {
            for (basis, x) in columns.col(feature).iter().enumerate() {
                projection[basis * n_features + feature] = *x;
            }
        }
        // The features of the bases have the variance Σ λ / n, all together.
        let variance = trace / n as f64;
        for polynomial in 0..n_polynomials {
            let column = n + polynomial;
            let mean = (0..n).map(|row| at(row, column)).sum::<f64>() / n as f64;
            let spread = (0..n).map(|row| (at(row, column) - mean).powi(2)).sum::<f64>() / n as f64;
            let factor = if variance > 0.0 { (variance / spread).sqrt() } else { 1.0 };
            projection[column * n_features + n_selected + polynomial] = factor;
        }
        let linear = match precision {
            Precision::Double => Linear::PreciseMatrix(projection),
            Precision::Single => Linear::Matrix(projection.into_iter().map(|x| x as f32).collect()),
        };
        Ok((PartMap { center: Vec::new(), linear, n_columns, n_features }, Spectrum { negative, asymmetry }))
    }
}

/// Writes rows of features into rows of `width` numbers from column `first` on.
fn place(out: &mut [f32], width: usize, first: usize, rows: &[f32], n_features: usize) {
    for (out, row) in out.chunks_mut(width.max(1)).zip(rows.chunks(n_features.max(1))) {
        out[first..first + n_features].copy_from_slice(row);
    }
}

/// Rows of `n_columns` numbers times a matrix of `n_features` columns, row-major. A row of the product does not depend
/// on the other rows, bit for bit.
fn product_of_rows(rows: &[f32], matrix: &[f32], n_columns: usize, n_features: usize) -> Vec<f32> {
    let n = rows.len() / n_columns.max(1) * n_features;
    if n_columns > PRECISE_COLUMNS {
        let mut product = vec![0.0; n];
        linalg::times(&mut product, rows, matrix, n_columns);
        return product;
    }
    let wide = |numbers: &[f32]| -> Vec<f64> { numbers.iter().map(|&x| x.into()).collect() };
    let mut product = vec![0.0; n];
    linalg::times(&mut product, &wide(rows), &wide(matrix), n_columns);
    product.into_iter().map(|x| x as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_few_columns_are_exact_sums_rounded_once() {
        let (n, n_columns, n_features) = (5, 300, 7);
        let at = |i: usize, scale: f32| ((i as f32 * 0.618).fract() - 0.5) * scale;
        // Large numbers, whose products cancel.
        let matrix: Vec<f32> = (0..n_columns * n_features).map(|i| at(i, 2000.0)).collect();
        let rows: Vec<f32> = (0..n * n_columns).map(|i| at(i, 1.0)).collect();
        let exact = |row: usize, feature: usize| -> f64 {
            let products = (0..n_columns).map(|c| (rows[row * n_columns + c], matrix[c * n_features + feature]));
            products.map(|(x, y)| f64::from(x) * f64::from(y)).sum()
        };
        let map = PartMap { center: Vec::new(), linear: Linear::Matrix(matrix.clone()), n_columns, n_features };
        let mut features = vec![0.0; n * n_features];
        map.apply(&mut rows.clone(), &mut features, n_features, 0);
        for (i, found) in features.iter().enumerate() {
            let right = exact(i / n_features, i % n_features);
            assert!((f64::from(*found) - right).abs() <= 1e-7 * right.abs() + 1e-9, "{found} instead of {right}");
        }
    }
}
