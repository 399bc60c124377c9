//! User-defined additive kernels: any function k(x, y) of two numbers that is zero where one of them is.
//!
//! Unlike the built-in ones they need be neither homogeneous nor k(x, x) = x. A fit calls the function for pairs of
//! training values and nodes only, and stores the values in a table: a trained model never calls it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::AdditiveKernel;
use crate::error::{Error, Result};

/// How a kernel of one's own is named in models and messages.
const PREFIX: &str = "own:";

/// A function of pairs of numbers.
type Pairs = dyn Fn(&[f64], &[f64]) -> Result<Vec<f64>> + Send + Sync;

/// A user-defined additive kernel.
#[derive(Clone)]
pub struct OwnKernel {
    name: Arc<str>,
    function: Arc<Pairs>,
}

impl OwnKernel {
    /// The kernel that sums `function` over features; models and messages name it `own:NAME`.
    ///
    /// ```
    /// # extern crate widemargin_kernels as widemargin;
    /// use widemargin::similarity::OwnKernel;
    ///
    /// let kernel = OwnKernel::new("min", |x: f64, y: f64| x.min(y));
    /// assert_eq!(kernel.to_string(), "own:min");
    /// ```
    pub fn new(name: &str, function: impl Fn(f64, f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::of_pairs(name, move |x, y| Ok(x.iter().zip(y).map(|(&x, &y)| function(x, y)).collect()))
    }

    /// The same of a function of many pairs at once: k(x_i, y_i) of each. One of the two numbers may be 0, where the
    /// kernel must be 0. An error of the function ends the fit.
    pub fn of_pairs(name: &str, function: impl Fn(&[f64], &[f64]) -> Result<Vec<f64>> + Send + Sync + 'static) -> Self {
        OwnKernel { name: format!("{PREFIX}{name}").into(), function: Arc::new(function) }
    }

    /// k(x_i, y_i), all finite.
    ///
    /// # Errors
    /// [`Error::Parameter`] that names the first pair whose value is not finite, or says how many values there are
    /// where there is not one a pair; errors of the function.
    #[doc(hidden)]
    pub fn values(&self, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        let values = (self.function)(x, y)?;
        if values.len() != x.len() {
            return Err(self.wrong(format!("{} values for {} pairs", values.len(), x.len())));
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(at) => Err(self.wrong(format!("k({}, {}) = {}, expected finite values", x[at], y[at], values[at]))),
        }
    }

    /// The error that the kernel is not as it should be.
    #[doc(hidden)]
    pub fn wrong(&self, problem: String) -> Error {
        Error::parameter("kernel", &self.name, problem)
    }
}

impl fmt::Display for OwnKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for OwnKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnKernel").field(&self.name).finish()
    }
}

impl PartialEq for OwnKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}

/// The scalar kernel of a power mean SVM.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarKernel {
    /// A built-in kernel.
    BuiltIn(AdditiveKernel),
    /// A user-defined kernel.
    Own(OwnKernel),
}

impl From<AdditiveKernel> for ScalarKernel {
    fn from(kernel: AdditiveKernel) -> Self {
        ScalarKernel::BuiltIn(kernel)
    }
}

impl From<OwnKernel> for ScalarKernel {
    fn from(kernel: OwnKernel) -> Self {
        ScalarKernel::Own(kernel)
    }
}

impl fmt::Display for ScalarKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarKernel::BuiltIn(kernel) => kernel.fmt(f),
            ScalarKernel::Own(kernel) => kernel.fmt(f),
        }
    }
}

impl FromStr for ScalarKernel {
    type Err = Error;

    /// The kernel of a spec, one of the library's: a user's own has a name, from which it cannot be had.
    fn from_str(spec: &str) -> Result<Self> {
        if spec.starts_with(PREFIX) {
            let expected = "the function itself: a model stores the values of a kernel of one's own, not its code";
            return Err(Error::parameter("kernel", spec, expected));
        }
        Ok(ScalarKernel::BuiltIn(spec.parse()?))
    }
}
