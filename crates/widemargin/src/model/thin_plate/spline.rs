//! The functions of a thin plate model: f(x) = Σ α_j φ(‖x − z_j‖) + Σ β_m p_m(x), one for each problem or output.

use serde::{Deserialize, Serialize};

use super::kernel_blocks::{dense_rows, scale_rows};
use super::spline_basis::SplineBasis;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::linalg::factor::dot;
use crate::model::Scores;
use crate::model::file::{Array, Reader, array, by_name};
use crate::model::scores::check_width;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};

/// Rows computed at a time by one thread.
pub(super) const CHUNK_ROWS: usize = 64;

/// α and β of each function.
pub(crate) type Coefficients = (Vec<Vec<f64>>, Vec<Vec<f64>>);

/// The functions of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spline {
    pub basis: SplineBasis,
    /// The factor of each feature, if features were standardized.
    pub scale: Option<Vec<f64>>,
    /// Rows of the bases among the training samples; empty if bases are means of samples.
    pub basis_rows: Vec<u64>,
    /// α, functions × bases.
    pub coefficients: Vec<f64>,
    /// β, functions × monomials.
    pub polynomial: Vec<f64>,
    pub n_functions: usize,
}

/// The header's part on the arrays of the functions.
#[derive(Serialize, Deserialize)]
pub(crate) struct SplineLayout {
    #[serde(with = "by_name")]
    kernel: ConditionalKernel,
    pub n_features: usize,
    n_bases: usize,
    standardized: bool,
    basis_rows: Vec<u64>,
}

impl SplineLayout {
    /// Refuses sizes that cannot be.
    pub fn check(&self, reader: &Reader<'_>) -> Result<()> {
        let (d, n, rows) = (self.n_features, self.n_bases, self.basis_rows.len());
        let found = format_args!("{d} features and {rows} rows of {n} bases cannot be");
        reader.require(d > 0 && (rows == 0 || rows == n), found)
    }
}

impl Spline {
    /// The functions with these coefficients on bases, which are rows of the training samples.
    pub fn new(basis: SplineBasis, scale: Option<Vec<f64>>, rows: &[usize], (alpha, beta): &Coefficients) -> Self {
        Spline {
            basis,
            scale,
            basis_rows: rows.iter().map(|&row| row as u64).collect(),
            coefficients: alpha.concat(),
            polynomial: beta.concat(),
            n_functions: alpha.len(),
        }
    }

    /// Its part of a model file's header.
    pub fn layout(&self) -> SplineLayout {
        SplineLayout {
            kernel: self.basis.kernel,
            n_features: self.basis.n_features(),
            n_bases: self.basis.n_bases(),
            standardized: self.scale.is_some(),
            basis_rows: self.basis_rows.clone(),
        }
    }

    /// Its part of a model file; `least` is the degree of the polynomials of a kernel without.
    pub fn read(reader: &Reader<'_>, layout: SplineLayout, least: Option<u32>, n_functions: usize) -> Result<Self> {
        let SplineLayout { kernel, n_features, n_bases, standardized, basis_rows } = layout;
        // The tensor sizes are checked against the file size before memory for the monomials is allocated.
        let center = reader.tensor("center", &[n_features])?;
        let factors = reader.tensor("factors", &[n_features])?;
        let space = PolynomialSpace::new(kernel.degree().or(least), center, factors);
        let space = space.map_err(|error| reader.caused(&error))?;
        let scale = reader.tensor("scale", &[if standardized { n_features } else { 0 }])?;
        Ok(Spline {
            scale: standardized.then_some(scale),
            basis_rows,
            coefficients: reader.tensor("coefficients", &[n_functions, n_bases])?,
            polynomial: reader.tensor("polynomial", &[n_functions, space.n_monomials()])?,
            basis: SplineBasis { kernel, bases: reader.tensor("bases", &[n_bases, n_features])?, space },
            n_functions,
        })
    }

    /// A sample, scaled.
    ///
    /// # Errors
    /// As for [`Spline::values`].
    pub fn scaled(&self, samples: &impl Rows, row: usize) -> Result<Vec<f64>> {
        let mut dense = dense_rows(samples, &[row], self.basis.n_features())?;
        scale_rows(&mut dense, self.scale.as_deref());
        Ok(dense)
    }

    /// The values of samples, row-major, samples × functions, computed by `threads` threads, 0 meaning one per core.
    ///
    /// # Errors
    /// [`Error::FeatureCount`] for more features than in training (for dense samples: a different number),
    /// [`Error::Value`] for a feature that is not finite, or so large that the value is not; [`Error::Cancelled`].
    pub fn values(&self, samples: &impl Rows, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let (basis, k) = (&self.basis, self.n_functions);
        let (n, d, n_bases) = (samples.n_rows(), basis.n_features(), basis.n_bases());
        check_width(samples, d)?;
        Scores::check_memory(2 * n, k)?;
        let pool = Pool::new(if n <= CHUNK_ROWS { 1 } else { threads })?;
        let count = RowCount::new(monitor, "predict", n);
        let chunk = |at: usize| {
            count.go_on()?;
            let rows: Vec<usize> = (at * CHUNK_ROWS..((at + 1) * CHUNK_ROWS).min(n)).collect();
            let mut dense = dense_rows(samples, &rows, d)?;
            scale_rows(&mut dense, self.scale.as_deref());
            let (block, mut monomials) = (basis.block(&dense), vec![0.0; basis.space.n_monomials()]);
            let mut values = Vec::with_capacity(rows.len() * k);
            for (at, sample) in dense.chunks(d).enumerate() {
                basis.space.write(sample, &mut monomials);
                let similar = &block[at * n_bases..(at + 1) * n_bases];
                for function in 0..k {
                    let alpha = &self.coefficients[function * n_bases..(function + 1) * n_bases];
                    let beta = &self.polynomial[function * monomials.len()..(function + 1) * monomials.len()];
                    values.push(self.finite(dot(alpha, similar) + dot(beta, &monomials), rows[at], sample)?);
                }
            }
            count.add(rows.len());
            Ok::<_, Error>(values)
        };
        Ok(pool.try_map(n.div_ceil(CHUNK_ROWS), chunk)?.concat())
    }

    /// The value of a function at a scaled sample, if it is finite.
    fn finite(&self, value: f64, row: usize, sample: &[f64]) -> Result<f64> {
        if value.is_finite() {
            return Ok(value);
        }
        let column = (0..sample.len()).max_by(|&a, &b| sample[a].abs().total_cmp(&sample[b].abs())).unwrap_or(0);
        let value = sample[column] / self.scale.as_ref().map_or(1.0, |factors| factors[column]);
        let problem = "is too far from the training samples for the kernel: remove, impute or rescale it";
        Err(Error::Value { row, column, value, problem })
    }

    /// Its part of a model file.
    pub fn arrays(&self) -> Vec<Array<'_>> {
        let SplineBasis { bases, space, .. } = &self.basis;
        let (n, d) = (self.basis.n_bases(), self.basis.n_features());
        let (k, scale) = (self.n_functions, self.scale.as_deref().unwrap_or_default());
        vec![
            array("scale", vec![scale.len()], scale),
            array("bases", vec![n, d], bases),
            array("coefficients", vec![k, n], &self.coefficients),
            array("polynomial", vec![k, space.n_monomials()], &self.polynomial),
            array("center", vec![d], &space.center),
            array("factors", vec![d], &space.factors),
        ]
    }

    /// A basis with its original features.
    pub fn unscaled(&self, basis: usize) -> Vec<f64> {
        let row = self.basis.row(basis);
        match &self.scale {
            // A constant column has the factor 0.
            Some(factors) => row.iter().zip(factors).map(|(x, f)| if *f > 0.0 { x / f } else { *x }).collect(),
            None => row.to_vec(),
        }
    }
}
