//! Conditionally positive definite kernels φ(‖x − y‖), without a length scale to tune.
//!
//! Walder & Chapelle, *Learning with Transformation Invariant Kernels*, NIPS 2007. Such a kernel is positive definite
//! only on coefficients that are orthogonal to the polynomials of some degree at the samples; those polynomials then
//! enter the classifier unpenalised. With φ(r) = r² log r (and polynomials of degree 1, in every dimension) the
//! classifier is invariant to translation, rotation and, with C rescaled, scaling of the data.

use std::fmt;
use std::str::FromStr;

use super::Similarity;
use super::radial::{TILE, powers_of_logarithms, squared_distances};
use crate::data::{Samples, Vectors};
use crate::error::{Error, Result};

/// A radial kernel that is conditionally positive definite with respect to some polynomials.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConditionalKernel {
    /// (−1)^(k+1) r^(2k) log r with polynomials of degree k = order − 1: `thin-plate`, order 2.
    ThinPlate {
        /// The order, from 2; 2 is the thin plate spline, r² log r.
        order: u32,
    },
    /// −r with constants: `distance`.
    Distance,
    /// r³ with polynomials of degree 1: `cubic`.
    Cubic,
    /// (−1)^⌈b/2⌉ r^b with polynomials of degree ⌈b/2⌉ − 1, for b above 0 and not an even number.
    Polyharmonic {
        /// The exponent b.
        exponent: f64,
    },
    /// Definition 5.1 of the paper: the thin plate energy of `order` derivatives in `dims` dimensions, r^(2·order −
    /// dims), times log r if that exponent is even, with polynomials of degree order − 1.
    Spline {
        /// Order m of the derivatives; 2m is above `dims`.
        order: u32,
        /// Dimension d of the space.
        dims: u32,
    },
    /// exp(−gamma r²), positive definite without polynomials: `rbf`.
    Rbf {
        /// Inverse squared length scale, above 0.
        gamma: f64,
    },
}

impl ConditionalKernel {
    /// The thin plate r² log r, the default of the method.
    pub const THIN_PLATE: Self = ConditionalKernel::ThinPlate { order: 2 };

    /// Checks the kernel's parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the invalid parameter.
    pub fn check(&self) -> Result<()> {
        let wrong =
            |name, value: String, expected: &str| Err(Error::Parameter { name, value, expected: expected.to_owned() });
        match *self {
            ConditionalKernel::ThinPlate { order } if !(2..=16).contains(&order) => {
                wrong("order", order.to_string(), "from 2 (r² log r) to 16")
            }
            ConditionalKernel::Polyharmonic { exponent } if !(exponent > 0.0 && exponent <= 32.0) => {
                wrong("exponent", exponent.to_string(), "above 0 and at most 32")
            }
            ConditionalKernel::Polyharmonic { exponent } if exponent % 2.0 == 0.0 => wrong(
                "exponent",
                exponent.to_string(),
                "no even number, whose power is itself a polynomial: use thin-plate, which has the logarithm",
            ),
            ConditionalKernel::Spline { order, dims } if dims == 0 || order > 16 || 2 * order <= dims => {
                wrong("order", order.to_string(), "above half of dims (at least 1), and at most 16")
            }
            ConditionalKernel::Rbf { gamma } if !(gamma > 0.0 && gamma.is_finite()) => {
                wrong("gamma", gamma.to_string(), "a finite number above 0")
            }
            _ => Ok(()),
        }
    }

    /// Degree of the kernel's polynomials; `None` if it is positive definite.
    pub fn degree(&self) -> Option<u32> {
        match *self {
            ConditionalKernel::ThinPlate { order } | ConditionalKernel::Spline { order, .. } => Some(order - 1),
            ConditionalKernel::Distance => Some(0),
            ConditionalKernel::Cubic => Some(1),
            ConditionalKernel::Polyharmonic { exponent } => Some((exponent / 2.0).ceil() as u32 - 1),
            ConditionalKernel::Rbf { .. } => None,
        }
    }

    /// The exponent b such that scaling the data by s is equivalent to C · s^(−b); `None` if the kernel has a length
    /// scale.
    pub fn dilation_exponent(&self) -> Option<f64> {
        match *self {
            ConditionalKernel::ThinPlate { order } => Some(f64::from(2 * (order - 1))),
            ConditionalKernel::Distance => Some(1.0),
            ConditionalKernel::Cubic => Some(3.0),
            ConditionalKernel::Polyharmonic { exponent } => Some(exponent),
            ConditionalKernel::Spline { order, dims } => Some(f64::from(2 * order - dims)),
            ConditionalKernel::Rbf { .. } => None,
        }
    }

    /// φ(r), for r at least 0; φ(0) = 0, except for the Gaussian's 1.
    pub fn value(&self, r: f64) -> f64 {
        let mut value = [r * r];
        if self.logarithmic().is_some() && r > 0.0 {
            // r² may underflow even if r does not.
            let b = self.dilation_exponent().unwrap_or(0.0);
            return self.sign() * r.powi(b as i32) * r.ln();
        }
        self.apply(&mut value);
        value[0]
    }

    /// Half the exponent of r, for kernels with a logarithm.
    fn logarithmic(&self) -> Option<i32> {
        match *self {
            ConditionalKernel::ThinPlate { order } => Some(order as i32 - 1),
            ConditionalKernel::Spline { order, dims } if dims % 2 == 0 => Some((order - dims / 2) as i32),
            _ => None,
        }
    }

    /// The sign that makes the kernel definite.
    fn sign(&self) -> f64 {
        let negative = match (self.logarithmic(), self.dilation_exponent()) {
            (Some(half), _) => half % 2 == 0,
            (None, Some(b)) => (b / 2.0).ceil() % 2.0 == 1.0,
            (None, None) => false,
        };
        if negative { -1.0 } else { 1.0 }
    }

    /// Turns squared distances into kernel values, in place.
    pub fn apply(&self, squared: &mut [f64]) {
        let sign = self.sign();
        if let Some(half) = self.logarithmic() {
            // r^2k log r = ½ (r²)^k log r²: no square root is needed.
            return powers_of_logarithms(squared, half, 0.5 * sign);
        }
        match self.dilation_exponent() {
            None => {
                let ConditionalKernel::Rbf { gamma } = *self else { return };
                squared.iter_mut().for_each(|r2| *r2 = (-gamma * *r2).exp());
            }
            Some(1.0) => squared.iter_mut().for_each(|r2| *r2 = sign * r2.sqrt()),
            Some(3.0) => squared.iter_mut().for_each(|r2| *r2 = sign * *r2 * r2.sqrt()),
            Some(b) => squared.iter_mut().for_each(|r2| *r2 = sign * r2.powf(0.5 * b)),
        }
    }

    /// Fills `out`, row-major samples × bases, with φ(‖sample − basis‖). `samples` and `bases` are row-major with
    /// `n_features` columns.
    pub fn block(&self, samples: &[f64], bases: &[f64], n_features: usize, out: &mut [f64]) {
        let n_bases = bases.len().checked_div(n_features).unwrap_or(0);
        if n_bases == 0 {
            return;
        }
        let mut tile = vec![0.0; TILE * n_features];
        for left in (0..n_bases).step_by(TILE) {
            let width = TILE.min(n_bases - left);
            for (at, base) in bases[left * n_features..(left + width) * n_features].chunks(n_features).enumerate() {
                for (feature, &value) in base.iter().enumerate() {
                    tile[feature * TILE + at] = value;
                }
            }
            for (sample, out) in samples.chunks(n_features).zip(out.chunks_mut(n_bases)) {
                let mut sums = [0.0; TILE];
                squared_distances(sample, &tile, &mut sums);
                let out = &mut out[left..left + width];
                out.copy_from_slice(&sums[..width]);
                self.apply(out);
            }
        }
    }
}

impl fmt::Display for ConditionalKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionalKernel::ThinPlate { order: 2 } => f.write_str("thin-plate"),
            ConditionalKernel::ThinPlate { order } => write!(f, "thin-plate:order={order}"),
            ConditionalKernel::Distance => f.write_str("distance"),
            ConditionalKernel::Cubic => f.write_str("cubic"),
            ConditionalKernel::Polyharmonic { exponent } => write!(f, "polyharmonic:exponent={exponent}"),
            ConditionalKernel::Spline { order, dims } => write!(f, "spline:order={order},dims={dims}"),
            ConditionalKernel::Rbf { gamma } => write!(f, "rbf:gamma={gamma}"),
        }
    }
}

impl FromStr for ConditionalKernel {
    type Err = Error;

    /// Parses the kernel's spec, as written by [`Display`](fmt::Display); `thin-plate:order=2` is `thin-plate`.
    fn from_str(spec: &str) -> Result<Self> {
        let unknown = || Error::UnknownName {
            what: "conditionally positive definite kernel",
            given: spec.to_owned(),
            expected: "known are thin-plate, thin-plate:order=NUMBER, distance, cubic, \
                       polyharmonic:exponent=NUMBER, spline:order=NUMBER,dims=NUMBER, rbf:gamma=NUMBER"
                .into(),
        };
        let kernel = match spec.split_once(':') {
            None => match spec {
                "thin-plate" => Self::THIN_PLATE,
                "distance" => ConditionalKernel::Distance,
                "cubic" => ConditionalKernel::Cubic,
                _ => return Err(unknown()),
            },
            Some((name, parameters)) => {
                let (first, second) = match parameters.split_once(',') {
                    Some((first, second)) => (first, Some(second)),
                    None => (parameters, None),
                };
                let (key, value) = first.split_once('=').ok_or_else(unknown)?;
                let number = || value.parse::<f64>().map_err(|_| unknown());
                let whole = |text: &str| text.parse::<u32>().map_err(|_| unknown());
                match (name, key, second) {
                    ("thin-plate", "order", None) => ConditionalKernel::ThinPlate { order: whole(value)? },
                    ("polyharmonic", "exponent", None) => ConditionalKernel::Polyharmonic { exponent: number()? },
                    ("rbf", "gamma", None) => ConditionalKernel::Rbf { gamma: number()? },
                    ("spline", "order", Some(second)) => {
                        let dims = second.strip_prefix("dims=").ok_or_else(unknown)?;
                        ConditionalKernel::Spline { order: whole(value)?, dims: whole(dims)? }
                    }
                    _ => return Err(unknown()),
                }
            }
        };
        kernel.check()?;
        Ok(kernel)
    }
}

impl Similarity for ConditionalKernel {
    type Samples = Vectors;

    fn spec(&self) -> String {
        self.to_string()
    }

    /// Computed from differences, in double precision.
    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        let (bases, samples) = (bases.dense()?, samples.dense()?);
        if bases.n_cols != samples.n_cols || bases.n_cols == 0 {
            let hint = ": samples and bases must have the same features, at least one";
            return Err(Error::FeatureCount { found: samples.n_cols, trained: bases.n_cols, hint });
        }
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
        let mut exact = vec![0.0; bases.len() * samples.len()];
        self.block(&wide(&samples.values), &wide(&bases.values), bases.n_cols, &mut exact);
        block.iter_mut().zip(exact).for_each(|(out, exact)| *out = exact as f32);
        Ok(())
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_written_as_they_are_read() {
        for spec in [
            "thin-plate",
            "thin-plate:order=3",
            "distance",
            "cubic",
            "polyharmonic:exponent=2.5",
            "spline:order=2,dims=3",
            "rbf:gamma=0.125",
        ] {
            assert_eq!(spec.parse::<ConditionalKernel>().unwrap().to_string(), spec);
        }
        assert_eq!("thin-plate:order=2".parse::<ConditionalKernel>().unwrap(), ConditionalKernel::THIN_PLATE);
        for bad in [
            "",
            "thin",
            "thin-plate:order=1",
            "thin-plate:k=2",
            "polyharmonic",
            "polyharmonic:exponent=2",
            "polyharmonic:exponent=nan",
            "polyharmonic:exponent=-1",
            "rbf:gamma=0",
            "spline:order=1,dims=2",
            "spline:order=2",
            "cubic:order=3",
        ] {
            assert!(bad.parse::<ConditionalKernel>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_block_is_the_definition_and_its_diagonal_exact() {
        let n_features = 3;
        let values: Vec<f64> = (0..70 * n_features).map(|i| (1.3 * i as f64).sin() * 4.0 + 1e3).collect();
        for spec in ["thin-plate", "thin-plate:order=4", "distance", "cubic", "polyharmonic:exponent=1.5"] {
            let kernel: ConditionalKernel = spec.parse().unwrap();
            let mut block = vec![0.0; 70 * 70];
            kernel.block(&values, &values, n_features, &mut block);
            for i in 0..70 {
                assert_eq!(block[i * 70 + i], 0.0);
                for j in 0..70 {
                    let r2: f64 = (0..3).map(|k| (values[i * 3 + k] - values[j * 3 + k]).powi(2)).sum();
                    let truth = kernel.value(r2.sqrt());
                    assert!((block[i * 70 + j] - truth).abs() <= 1e-12 * truth.abs().max(1e-3), "{spec}");
                    assert_eq!(block[i * 70 + j], block[j * 70 + i]);
                }
            }
        }
    }

    #[test]
    fn polynomials_and_exponents() {
        let facts = |spec: &str| {
            let kernel: ConditionalKernel = spec.parse().unwrap();
            (kernel.degree(), kernel.dilation_exponent())
        };
        assert_eq!(facts("thin-plate"), (Some(1), Some(2.0)));
        assert_eq!(facts("thin-plate:order=3"), (Some(2), Some(4.0)));
        assert_eq!(facts("distance"), (Some(0), Some(1.0)));
        assert_eq!(facts("cubic"), (Some(1), Some(3.0)));
        assert_eq!(facts("polyharmonic:exponent=2.5"), (Some(1), Some(2.5)));
        assert_eq!(facts("spline:order=2,dims=3"), (Some(1), Some(1.0)));
        assert_eq!(facts("rbf:gamma=1"), (None, None));
    }
}
