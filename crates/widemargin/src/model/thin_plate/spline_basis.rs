//! A kernel on bases, with the polynomials that it does not penalize.

use super::kernel_blocks::{weighted_gram, weighted_polynomials};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::thin_plate::FeatureMap;

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
        self.space.center.len()
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

    /// Of a few samples, one column per sample: Φ(bases, samples) √W, if that is requested, and their polynomials times
    /// √W.
    pub fn weighted(&self, samples: &[f64], roots: &[f64], with_kernel: bool) -> (Matrix, Matrix) {
        let polynomials = weighted_polynomials(&self.space, samples, self.n_features(), roots).transposed();
        if !with_kernel {
            return (Matrix::zeros(0, roots.len()), polynomials);
        }
        let (b, mut values) = (self.n_bases(), self.block(samples));
        for (values, root) in values.chunks_exact_mut(b).zip(roots) {
            values.iter_mut().for_each(|value| *value *= root);
        }
        (Matrix::from_columns(values, b, roots.len()), polynomials)
    }

    /// The map from kernel values and polynomials to features.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) where the kernel or its polynomials cannot be used on these bases.
    pub fn feature_map(&self, pool: &Pool, monitor: &Monitor<'_>) -> Result<FeatureMap> {
        let (d, ones) = (self.n_features(), vec![1.0; self.n_bases()]);
        let between = weighted_gram(self.kernel, &self.bases, d, &ones, pool, monitor)?;
        FeatureMap::new(between, &weighted_polynomials(&self.space, &self.bases, d, &ones))
    }
}
