//! The polynomials of a conditionally positive definite kernel.

use crate::error::{Error, Result};
use crate::tuning::CONSTANT_SPREAD;

/// Maximum number of monomials, which are columns of a dense matrix.
const MAX_MONOMIALS: usize = 20_000;

/// All monomials up to a degree in centered, unit-scaled coordinates.
///
/// Centering and scaling change the basis, not the space of polynomials; without them, data far from the origin would
/// make the columns nearly equal.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialSpace {
    /// The degree; none without polynomials.
    pub degree: Option<u32>,
    /// The origin of the coordinates.
    pub center: Vec<f64>,
    /// One over the spread of each column; 0 for a constant one.
    pub factors: Vec<f64>,
    monomials: Vec<Vec<usize>>,
}

impl PolynomialSpace {
    /// The space for row-major samples with weights above 0; for `degree` `None` it has no polynomials.
    ///
    /// # Errors
    /// [`Error::Parameter`] for too many monomials.
    pub fn fit(samples: &[f64], weights: &[f64], n_features: usize, degree: Option<u32>) -> Result<Self> {
        let total: f64 = weights.iter().sum();
        let mut center = vec![0.0; n_features];
        for (row, weight) in samples.chunks(n_features).zip(weights) {
            center.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight / total * x);
        }
        let mut spread = vec![0.0; n_features];
        for (row, weight) in samples.chunks(n_features).zip(weights) {
            for ((sum, x), center) in spread.iter_mut().zip(row).zip(&center) {
                *sum += weight / total * (x - center) * (x - center);
            }
        }
        Self::of_moments(degree, center, &spread)
    }

    /// The space for samples whose columns have this mean and variance.
    ///
    /// # Errors
    /// As for [`PolynomialSpace::fit`].
    pub fn of_moments(degree: Option<u32>, center: Vec<f64>, variances: &[f64]) -> Result<Self> {
        let constant = |spread: f64, center: f64| spread.sqrt() <= CONSTANT_SPREAD * center.abs();
        let factors = variances
            .iter()
            .zip(&center)
            .map(|(&spread, &center)| if constant(spread, center) || spread == 0.0 { 0.0 } else { 1.0 / spread.sqrt() })
            .collect();
        Self::new(degree, center, factors)
    }

    /// The space with a known center and known factors.
    pub fn new(degree: Option<u32>, center: Vec<f64>, factors: Vec<f64>) -> Result<Self> {
        let monomials = match degree {
            None => Vec::new(),
            Some(degree) => monomials(center.len(), degree)?,
        };
        Ok(PolynomialSpace { degree, center, factors, monomials })
    }

    /// Number of monomials; the first is the constant.
    pub fn n_monomials(&self) -> usize {
        self.monomials.len()
    }

    /// The columns whose product a monomial is.
    pub fn columns(&self, monomial: usize) -> &[usize] {
        &self.monomials[monomial]
    }

    /// The weight of each monomial in the kernel Σ weight p(x) p(y) of penalized polynomials, Σ_m s^(b − 2m) (x · y)^m
    /// in centered coordinates, m from 1, for a kernel of degree b and the root mean square distance s between two
    /// samples. Both kernels scale alike with the data, and no direction is preferred.
    pub fn spreads(&self, dilation_exponent: Option<f64>) -> Vec<f64> {
        let variances = |f: &f64| if *f > 0.0 { 1.0 / (f * f) } else { 0.0 };
        let distance = (2.0 * self.factors.iter().map(variances).sum::<f64>()).sqrt();
        let exponent = dilation_exponent.unwrap_or(0.0);
        let one = |columns: &Vec<usize>| {
            let degree = columns.len();
            if degree == 0 || columns.iter().any(|&column| self.factors[column] == 0.0) {
                return 0.0;
            }
            // In (x · y)^m each product of m columns occurs once per ordering.
            let (mut orders, mut run) = (1.0, 0.0);
            for (at, column) in columns.iter().enumerate() {
                run = if at > 0 && columns[at - 1] == *column { run + 1.0 } else { 1.0 };
                orders *= (at + 1) as f64 / run;
            }
            let units: f64 =
                columns.iter().map(|&column| 1.0 / (self.factors[column] * self.factors[column])).product();
            orders * units * distance.powf(exponent - 2.0 * degree as f64)
        };
        self.monomials.iter().map(one).collect()
    }

    /// Writes the monomials of one sample.
    pub fn write(&self, sample: &[f64], out: &mut [f64]) {
        let scaled: Vec<f64> =
            sample.iter().zip(&self.center).zip(&self.factors).map(|((x, center), f)| (x - center) * f).collect();
        for (out, columns) in out.iter_mut().zip(&self.monomials) {
            *out = columns.iter().map(|&column| scaled[column]).product();
        }
    }

    /// Warnings about the columns.
    pub fn warnings(&self) -> Vec<String> {
        let constant = self.constant_columns();
        let warning = |first: &usize| {
            format!(
                "{} of {} columns are constant (the first is column {first}, from 0): they carry nothing and were passed over",
                constant.len(),
                self.factors.len(),
            )
        };
        constant.first().map(warning).into_iter().collect()
    }

    /// The columns without a spread.
    pub fn constant_columns(&self) -> Vec<usize> {
        (0..self.factors.len()).filter(|&column| self.factors[column] == 0.0).collect()
    }

    /// The ratio of the largest to the smallest spread of the non-constant columns; 1 if there are none.
    pub fn unevenness(&self) -> f64 {
        let spreads = self.factors.iter().filter(|f| **f > 0.0).map(|f| 1.0 / f);
        let (small, large) = spreads.fold((f64::INFINITY, 0.0_f64), |(a, b), s| (a.min(s), b.max(s)));
        if large > 0.0 { large / small } else { 1.0 }
    }
}

/// The columns that each monomial multiplies, by ascending degree.
fn monomials(n_features: usize, degree: u32) -> Result<Vec<Vec<usize>>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    let mut last = 0..1;
    for _ in 0..degree {
        for at in last.clone() {
            let from = all[at].last().copied().unwrap_or(0);
            for column in from..n_features {
                let mut next = all[at].clone();
                next.push(column);
                all.push(next);
            }
            if all.len() > MAX_MONOMIALS {
                let value = format!("polynomials of degree {degree} in {n_features} features");
                let expected = format!("at most {MAX_MONOMIALS} monomials: use a kernel of lower order");
                return Err(Error::parameter("kernel", value, expected));
            }
        }
        last = last.end..all.len();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_are_counted_and_written() {
        let space = PolynomialSpace::new(Some(2), vec![1.0, 0.0], vec![1.0, 0.5]).unwrap();
        let mut out = vec![0.0; space.n_monomials()];
        space.write(&[3.0, 6.0], &mut out);
        assert_eq!(out, [1.0, 2.0, 3.0, 4.0, 6.0, 9.0]);
        assert_eq!(PolynomialSpace::new(None, vec![0.0; 5], vec![1.0; 5]).unwrap().n_monomials(), 0);
        assert_eq!(monomials(5, 3).unwrap().len(), 56);
        assert!(monomials(1000, 4).is_err());
    }

    #[test]
    fn the_kernel_of_penalized_polynomials_is_that_of_powers() {
        let space = PolynomialSpace::new(Some(3), vec![1.0, -2.0, 0.5], vec![0.5, 2.0, 1.0]).unwrap();
        let distance = (2.0 * (4.0 + 0.25 + 1.0_f64)).sqrt();
        let spreads = space.spreads(Some(5.0));
        let (x, y) = ([3.0, -1.5, 2.0], [0.0, -2.5, 0.25]);
        let (mut p, mut q) = (vec![0.0; space.n_monomials()], vec![0.0; space.n_monomials()]);
        space.write(&x, &mut p);
        space.write(&y, &mut q);
        let ours: f64 = spreads.iter().zip(p.iter().zip(&q)).map(|(weight, (p, q))| weight * p * q).sum();
        let inner: f64 = (0..3).map(|k| (x[k] - space.center[k]) * (y[k] - space.center[k])).sum();
        let direct: f64 = (1..=3).map(|m| distance.powi(5 - 2 * m) * inner.powi(m)).sum();
        assert!((ours - direct).abs() < 1e-12 * direct.abs(), "{ours} {direct}");
        // A constant column has no information; r² log r needs no length.
        let plane = PolynomialSpace::new(Some(1), vec![0.0; 3], vec![1.0, 0.0, 0.5]).unwrap();
        assert_eq!(plane.spreads(Some(2.0)), [0.0, 1.0, 0.0, 4.0]);
    }

    #[test]
    fn warns_of_constant_and_uneven_columns() {
        let samples = [1e6, 0.0, 5.0, 1e6, 1.0, 7000.0, 1e6, 0.5, -3000.0];
        let space = PolynomialSpace::fit(&samples, &[1.0; 3], 3, Some(1)).unwrap();
        assert_eq!(space.factors[0], 0.0);
        let warnings = space.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains("column 0"), "{warnings:?}");
        assert!((9e3..2e4).contains(&space.unevenness()), "{}", space.unevenness());
    }
}
