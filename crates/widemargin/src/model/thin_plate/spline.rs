//! The functions of a thin plate model: f(x) = Σ α_j φ(‖x − z_j‖) + Σ β_m p_m(x), one for each problem or output.

use super::kernel_blocks::{dense_rows, scale_rows};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::linalg::factor::dot;
use crate::model::Scores;
use crate::model::file::{Array, array};
use crate::model::scores::check_width;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};

/// Rows computed at a time by one thread.
pub(super) const CHUNK_ROWS: usize = 64;

/// The functions of a model.
#[derive(Clone, Copy)]
pub(in crate::model) struct Spline<'a> {
    pub kernel: ConditionalKernel,
    pub n_features: usize,
    /// The factor of each feature, if features were standardized.
    pub scale: Option<&'a [f64]>,
    /// Row-major, bases × features, scaled.
    pub bases: &'a [f64],
    /// α, functions × bases.
    pub coefficients: &'a [f64],
    pub space: &'a PolynomialSpace,
    /// β, functions × monomials.
    pub polynomial: &'a [f64],
    pub n_functions: usize,
}

impl<'a> Spline<'a> {
    /// Number of bases.
    pub fn n_bases(&self) -> usize {
        self.bases.len() / self.n_features
    }

    /// A sample, scaled.
    ///
    /// # Errors
    /// As for [`Spline::values`].
    pub fn scaled(&self, samples: &impl Rows, row: usize) -> Result<Vec<f64>> {
        let mut dense = dense_rows(samples, &[row], self.n_features)?;
        scale_rows(&mut dense, self.scale);
        Ok(dense)
    }

    /// The values of samples, row-major, samples × functions, computed by `threads` threads, 0 meaning one per core.
    ///
    /// # Errors
    /// [`Error::FeatureCount`] for more features than in training (for dense samples: a different number),
    /// [`Error::Value`] for a non-finite value; [`Error::Cancelled`].
    pub fn values(&self, samples: &impl Rows, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        check_width(samples, self.n_features)?;
        let (n, k, n_bases) = (samples.n_rows(), self.n_functions, self.n_bases());
        Scores::check_memory(2 * n, k)?;
        let pool = Pool::new(if n <= CHUNK_ROWS { 1 } else { threads })?;
        let count = RowCount::new(monitor, "predict", n);
        let chunk = |at: usize| {
            count.go_on()?;
            let rows: Vec<usize> = (at * CHUNK_ROWS..((at + 1) * CHUNK_ROWS).min(n)).collect();
            let mut dense = dense_rows(samples, &rows, self.n_features)?;
            scale_rows(&mut dense, self.scale);
            let mut block = vec![0.0; rows.len() * n_bases];
            self.kernel.block(&dense, self.bases, self.n_features, &mut block);
            let mut monomials = vec![0.0; self.space.len()];
            let mut values = Vec::with_capacity(rows.len() * k);
            for (at, sample) in dense.chunks(self.n_features).enumerate() {
                self.space.write(sample, &mut monomials);
                let similar = &block[at * n_bases..(at + 1) * n_bases];
                for function in 0..k {
                    let alpha = &self.coefficients[function * n_bases..(function + 1) * n_bases];
                    let beta = &self.polynomial[function * monomials.len()..(function + 1) * monomials.len()];
                    values.push(dot(alpha, similar) + dot(beta, &monomials));
                }
            }
            count.add(rows.len());
            Ok::<_, Error>(values)
        };
        Ok(pool.try_map(n.div_ceil(CHUNK_ROWS), chunk)?.concat())
    }

    /// Its part of a model file.
    pub fn arrays(&self) -> Vec<Array<'a>> {
        let (k, scale) = (self.n_functions, self.scale.unwrap_or_default());
        vec![
            array("scale", vec![scale.len()], scale),
            array("bases", vec![self.n_bases(), self.n_features], self.bases),
            array("coefficients", vec![k, self.n_bases()], self.coefficients),
            array("polynomial", vec![k, self.space.len()], self.polynomial),
            array("center", vec![self.n_features], self.space.center()),
            array("factors", vec![self.n_features], self.space.factors()),
        ]
    }

    /// A basis with its original features.
    pub fn basis(&self, basis: usize) -> Vec<f64> {
        let row = &self.bases[basis * self.n_features..(basis + 1) * self.n_features];
        match self.scale {
            // A constant column has the factor 0.
            Some(factors) => row.iter().zip(factors).map(|(x, f)| if *f > 0.0 { x / f } else { *x }).collect(),
            None => row.to_vec(),
        }
    }
}
