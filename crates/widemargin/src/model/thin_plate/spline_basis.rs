//! A kernel on bases, with the polynomials that it does not penalize.

use super::kernel_blocks::{weighted_gram, weighted_polynomials};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::thin_plate::{FeatureMap, feature_map_of};

/// What a spline is a combination of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SplineBasis {
    pub kernel: ConditionalKernel,
    /// Row-major, scaled.
    pub bases: Vec<f64>,
    pub space: PolynomialSpace,
}

impl SplineBasis {
    pub fn n_features(&self) -> usize {
        self.space.center().len()
    }

    pub fn n_bases(&self) -> usize {
        self.bases.len() / self.n_features().max(1)
    }

    /// The factors by which a dilation changes the size of each polynomial, in that of the kernel.
    pub fn spreads(&self) -> Vec<f64> {
        self.space.spreads(self.kernel.dilation_exponent())
    }

    /// A basis.
    pub fn row(&self, basis: usize) -> &[f64] {
        &self.bases[basis * self.n_features()..(basis + 1) * self.n_features()]
    }

    /// Kernel values of samples, row-major: samples × bases.
    pub fn block(&self, samples: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; samples.len() / self.n_features().max(1) * self.n_bases()];
        self.kernel.block(samples, &self.bases, self.n_features(), &mut values);
        values
    }

    /// Φ(bases, samples) √W of a few samples, one column per sample.
    pub fn phi(&self, samples: &[f64], roots: &[f64]) -> Matrix {
        let (b, mut values) = (self.n_bases(), self.block(samples));
        for (values, root) in values.chunks_exact_mut(b).zip(roots) {
            values.iter_mut().for_each(|value| *value *= root);
        }
        Matrix::from_columns(values, b, roots.len())
    }

    /// The polynomials of a few samples times √W, one column per sample.
    pub fn polynomials(&self, samples: &[f64], roots: &[f64]) -> Matrix {
        weighted_polynomials(&self.space, samples, self.n_features(), roots).transposed()
    }

    /// The map from kernel values and polynomials to features.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) where the kernel or its polynomials cannot be used on these bases.
    pub fn feature_map(&self, pool: &Pool, monitor: &Monitor<'_>) -> Result<FeatureMap> {
        let (d, ones) = (self.n_features(), vec![1.0; self.n_bases()]);
        let between = weighted_gram(self.kernel, &self.bases, d, &ones, pool, monitor)?;
        feature_map_of(between, &weighted_polynomials(&self.space, &self.bases, d, &ones))
    }
}
