//! A function of two numbers whose sum over the features is a user-defined additive kernel.

use crate::error::Result;

/// A function of two numbers above 0.
pub trait ScalarFunction: Send + Sync {
    /// k(x_i, y_i) of every pair. One of the two numbers may be 0, where the kernel must be 0.
    ///
    /// # Errors Any error of the function; it ends the fit.
    fn values(&self, x: &[f64], y: &[f64]) -> Result<Vec<f64>>;
}

impl<F: Fn(f64, f64) -> f64 + Send + Sync> ScalarFunction for F {
    fn values(&self, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        Ok(x.iter().zip(y).map(|(&x, &y)| self(x, y)).collect())
    }
}
