//! Features of samples on bases, without their fit by the polynomials, computed from the samples at each pass.

use std::ops::Range;

use super::super::kernel_blocks::{weighted_block, weighted_gram, weighted_polynomials};
use crate::error::{Error, Result};
use crate::linalg::factor::{Matrix, Side, Svd, add_product, product};
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::ridge::{CenteredRows, FreeFit, scaled_rows};
use crate::solve::thin_plate::{FeatureMap, feature_map_of};

/// Samples compared with the bases at a time.
const ROWS: usize = 256;

/// Columns of the polynomials are independent above this fraction of the largest singular value.
const INDEPENDENT: f64 = 1e-10;

/// Samples and bases, both row-major.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub kernel: ConditionalKernel,
    pub n_features: usize,
    pub samples: &'a [f64],
    pub bases: &'a [f64],
}

/// f = L⁻¹(I − QQᵀ)φ of each sample, for LLᵀ the kernel between the bases projected off the polynomials there, less its
/// part along the polynomials at the samples.
pub(super) struct BasisFeatures<'a> {
    places: Places<'a>,
    roots: &'a [f64],
    /// With the unpenalized features, and their subtracted multiples.
    map: FeatureMap,
    /// An orthonormal basis of √W P at the samples.
    span: Matrix,
}

impl<'a> BasisFeatures<'a> {
    /// Takes one pass over the samples.
    ///
    /// # Errors
    /// [`Error::Parameter`] for kernel values that are not finite; those of the pool.
    pub fn new(places: Places<'a>, space: &PolynomialSpace, roots: &'a [f64], pool: &Pool) -> Result<Self> {
        let Places { kernel, n_features, samples, bases } = places;
        let ones = vec![1.0; bases.len() / n_features];
        let between = weighted_gram(kernel, bases, n_features, &ones, pool)?;
        let mut map = feature_map_of(between, &weighted_polynomials(space, bases, n_features, &ones))?;
        let polynomials = weighted_polynomials(space, samples, n_features, roots);
        let not_finite = || Error::NotFinite { what: "a polynomial of the samples".into(), value: f64::NAN };
        let Svd { u: span, s, v } = Svd::new(&polynomials, INDEPENDENT).ok_or_else(not_finite)?;
        map.columns = v;
        for (at, s) in s.iter().enumerate() {
            map.columns.col_mut(at).iter_mut().for_each(|x| *x /= s);
        }
        let mut features = BasisFeatures { places, roots, map, span };
        let mut along = Matrix::zeros(ones.len(), features.span.n_cols());
        let part = |rows: Range<usize>| {
            let span = features.span.select_row_range(rows.clone());
            Ok::<_, Error>(product(Side::Plain(&features.similarities(rows)), Side::Plain(&span)))
        };
        pool.fold_chunks(roots.len(), ROWS, part, |more| {
            let columns = 0..along.n_cols();
            columns.for_each(|at| along.col_mut(at).iter_mut().zip(more.col(at)).for_each(|(sum, x)| *sum += x));
            Ok::<_, Error>(())
        })?;
        features.map.penalize(&mut along);
        features.map.cross = Some(along);
        Ok(features)
    }

    /// The fit of targets by the polynomials, samples × outputs.
    pub fn free_fit(&self, targets: &Matrix) -> FreeFit {
        let base = product(Side::Plain(&self.span), Side::Plain(&self.along(targets)));
        let base = scaled_rows(&base, &self.roots.iter().map(|root| 1.0 / root).collect::<Vec<f64>>());
        let square = |row: usize| (0..self.span.n_cols()).map(|at| self.span.at(row, at).powi(2)).sum();
        FreeFit { base, leverages: (0..self.roots.len()).map(square).collect() }
    }

    /// α and β of each output, of weights of these features, features × outputs, and the targets.
    pub fn coefficients(&self, weights: &Matrix, targets: &Matrix) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let free = self.along(targets);
        let one = |output: usize| self.map.coefficients(&[weights.col(output), free.col(output)].concat());
        (0..weights.n_cols()).map(one).unzip()
    }

    /// QᵀRy.
    fn along(&self, targets: &Matrix) -> Matrix {
        product(Side::Transposed(&self.span), Side::Plain(&scaled_rows(targets, self.roots)))
    }

    /// Similarities of some samples to the bases times the roots of their weights, one column per sample.
    fn similarities(&self, rows: Range<usize>) -> Matrix {
        let Places { kernel, n_features, samples, bases } = self.places;
        let some = &samples[rows.start * n_features..rows.end * n_features];
        weighted_block(kernel, some, bases, n_features, &self.roots[rows])
    }
}

impl CenteredRows for BasisFeatures<'_> {
    fn n_features(&self) -> usize {
        self.map.n_bases()
    }

    fn block(&self, rows: Range<usize>) -> Vec<f64> {
        let mut features = self.similarities(rows.clone());
        self.map.penalize(&mut features);
        if let Some(cross) = &self.map.cross {
            add_product(&mut features, -1.0, Side::Plain(cross), Side::Transposed(&self.span.select_row_range(rows)));
        }
        features.into_values()
    }
}
