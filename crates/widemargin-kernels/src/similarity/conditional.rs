//! Conditionally positive definite kernels φ(‖x − y‖), most of them without a length scale to tune.
//!
//! Walder & Chapelle, *Learning with Transformation Invariant Kernels*, NIPS 2007. Such a kernel is positive definite
//! only on coefficients that are orthogonal to the polynomials of some degree at the samples; those polynomials then
//! enter the classifier unpenalized. With φ(r) = r² log r (and polynomials of degree 1, in every dimension) the
//! classifier is invariant to translation, rotation and, with C rescaled, scaling of the data.

use std::fmt;
use std::str::FromStr;

use super::comparison::{CITY_BLOCK, SQUARED_DISTANCE};
use super::distances::precise_values;
use super::exponential::wide_exponentials;
use super::radial::{Measure, powers_of_logarithms, tiled_distances};
use super::row::{Definite, Onnx, SimilarityRow, built, read_among};
use super::vector::{LAPLACIAN, RBF};
use super::{Comparison, Extension, Metadata, Similarity};
use crate::data::Vectors;
use crate::error::{Error, Result};
use crate::parameters::{Arguments, Parameter, Values};
use crate::spec::Step;

const DISTANCE: SimilarityRow = SimilarityRow {
    name: "distance",
    class: "Distance",
    samples: &["vectors"],
    parameters: &[],
    examples: &[],
    definite: Definite::Conditional,
    onnx: Onnx::Expression("radial(1)"),
    build: |step| built(ConditionalKernel::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[
    SimilarityRow {
        name: "thin-plate",
        class: "ThinPlate",
        parameters: &[Parameter::new("order", Values::Whole(2, 16), "The order; 2 gives r² log r.").or("2")],
        examples: &["thin-plate", "thin-plate:order=3"],
        onnx: Onnx::Expression("radial(2 * order - 2)"),
        ..DISTANCE
    },
    DISTANCE,
    SimilarityRow { name: "cubic", class: "Cubic", onnx: Onnx::Expression("radial(3)"), ..DISTANCE },
    SimilarityRow {
        name: "polyharmonic",
        class: "Polyharmonic",
        parameters: &[Parameter::new(
            "exponent",
            Values::Number { least: f64::from_bits(1), most: 32.0, range: "above 0 and at most 32, not even" },
            "The exponent of the distance.",
        )],
        examples: &["polyharmonic:exponent=1.5", "polyharmonic:exponent=2.5"],
        onnx: Onnx::Expression("radial(exponent)"),
        ..DISTANCE
    },
    SimilarityRow {
        name: "spline",
        class: "Spline",
        parameters: &[
            Parameter::new("order", Values::Whole(1, 16), "The order of the spline, above dims / 2."),
            Parameter::new("dims", Values::Whole(1, 31), "The dimension of the space."),
        ],
        examples: &["spline:order=2,dims=3", "spline:order=2,dims=2", "spline:order=3,dims=1"],
        onnx: Onnx::Expression("radial(2 * order - dims)"),
        ..DISTANCE
    },
    SimilarityRow { name: "cityblock", class: "Cityblock", onnx: Onnx::Expression("cityblock"), ..DISTANCE },
    SimilarityRow {
        name: "log",
        class: "Log",
        parameters: &[
            GAMMA,
            Parameter::new(
                "exponent",
                Values::Number { least: f64::from_bits(1), most: 2.0, range: "above 0 and at most 2" },
                "The exponent of the distance.",
            )
            .or("2"),
        ],
        examples: &["log:gamma=0.3", "log:gamma=0.3,exponent=1"],
        onnx: Onnx::Expression("logarithm(gamma, exponent)"),
        ..DISTANCE
    },
    SimilarityRow {
        name: "multiquadric",
        class: "Multiquadric",
        parameters: &[GAMMA],
        examples: &["multiquadric:gamma=0.3"],
        onnx: Onnx::Expression("multiquadric(gamma)"),
        ..DISTANCE
    },
    SimilarityRow {
        name: "inverse-multiquadric",
        class: "InverseMultiquadric",
        parameters: &[GAMMA],
        examples: &["inverse-multiquadric:gamma=0.3"],
        definite: Definite::Positive,
        onnx: Onnx::Expression("inverse_multiquadric(gamma)"),
        ..DISTANCE
    },
];

const GAMMA: Parameter = Parameter::new("gamma", Values::POSITIVE, "");

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
    /// −‖x − y‖₁ with constants: `cityblock`. It is the sum of `distance` over the columns, not radial: invariant to
    /// translation and scaling, not to rotation.
    Cityblock,
    /// exp(−gamma ‖x − y‖₁), positive definite without polynomials: `laplacian`.
    Laplacian {
        /// Inverse length scale, above 0.
        gamma: f64,
    },
    /// −log(1 + gamma r^exponent) with constants: `log`.
    Log {
        /// Inverse length scale to the power of the exponent, above 0.
        gamma: f64,
        /// The exponent, above 0 and at most 2.
        exponent: f64,
    },
    /// −√(1 + gamma r²) with constants: `multiquadric`.
    Multiquadric {
        /// Inverse squared length scale, above 0.
        gamma: f64,
    },
    /// 1/√(1 + gamma r²), positive definite without polynomials: `inverse-multiquadric`.
    InverseMultiquadric {
        /// Inverse squared length scale, above 0.
        gamma: f64,
    },
}

impl ConditionalKernel {
    /// The thin plate r² log r, the default of the method.
    pub const THIN_PLATE: Self = Self::ThinPlate { order: 2 };

    /// The kernel of a spec such as `distance` or `thin-plate:order=3`.
    ///
    /// # Errors
    /// As for [`ConditionalKernel::from_str`].
    pub(crate) fn from_step(step: &Step) -> Result<Self> {
        step.to_string().parse()
    }

    fn of(arguments: &Arguments<'_>) -> Result<Self> {
        // RBF and the Laplacian learn theirs elsewhere, not here.
        let no_gamma = || arguments.wrong("gamma", "a finite number above 0".into());
        let gamma = || -> Result<f64> { arguments.get("gamma")?.ok_or_else(no_gamma) };
        let kernel = match arguments.step.name() {
            "thin-plate" => Self::ThinPlate { order: arguments.value("order")? },
            "distance" => Self::Distance,
            "cubic" => Self::Cubic,
            "polyharmonic" => Self::Polyharmonic { exponent: arguments.value("exponent")? },
            "spline" => Self::Spline { order: arguments.value("order")?, dims: arguments.value("dims")? },
            "cityblock" => Self::Cityblock,
            "laplacian" => Self::Laplacian { gamma: gamma()? },
            "log" => Self::Log { gamma: gamma()?, exponent: arguments.value("exponent")? },
            "multiquadric" => Self::Multiquadric { gamma: gamma()? },
            "inverse-multiquadric" => Self::InverseMultiquadric { gamma: gamma()? },
            _ => Self::Rbf { gamma: gamma()? },
        };
        match kernel {
            Self::Polyharmonic { exponent } if exponent % 2.0 == 0.0 => {
                let expected =
                    "not an even number, whose power is a polynomial: use thin-plate, which has the logarithm";
                Err(arguments.wrong("exponent", expected.into()))
            }
            Self::Spline { order, dims } if 2 * order <= dims => {
                Err(arguments.wrong("order", "above half of dims (at least 1), and at most 16".into()))
            }
            kernel => Ok(kernel),
        }
    }

    /// ‖x − y‖₁ or ‖x − y‖².
    fn measure(&self) -> Measure {
        match self {
            Self::Cityblock | Self::Laplacian { .. } => Measure::Absolute,
            _ => Measure::Squared,
        }
    }

    /// φ(r), for r = ‖x − y‖ at least 0 (‖x − y‖₁ for `cityblock` and `laplacian`).
    pub fn value(&self, r: f64) -> f64 {
        let mut value = [if self.measure() == Measure::Absolute { r } else { r * r }];
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
            Self::ThinPlate { order } => Some(order as i32 - 1),
            Self::Spline { order, dims } if dims % 2 == 0 => Some((order - dims / 2) as i32),
            _ => None,
        }
    }

    /// The sign that makes the kernel definite.
    fn sign(&self) -> f64 {
        let negative = match (self.logarithmic(), self.dilation_exponent()) {
            (Some(half), _) => half % 2 == 0,
            (None, Some(b)) => (b / 2.0).ceil() % 2.0 == 1.0,
            (None, None) => self.degree().is_some(),
        };
        if negative { -1.0 } else { 1.0 }
    }
}

#[doc(hidden)]
impl ConditionalKernel {
    /// Checks the kernel's parameter.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the invalid parameter.
    pub fn check(&self) -> Result<()> {
        self.to_string().parse::<Self>().map(|_| ())
    }

    /// The argument of the kernel, a sum over the columns, and the share of a column.
    pub fn share(&self) -> (&'static str, fn(f64, f64) -> f64) {
        match self.measure() {
            Measure::Absolute => (CITY_BLOCK, |x, y| (x - y).abs()),
            Measure::Squared => (SQUARED_DISTANCE, |x, y| (x - y).powi(2)),
        }
    }

    /// Degree of the polynomials with respect to which the kernel is conditionally positive definite; `None` if it is
    /// positive definite.
    pub fn degree(&self) -> Option<u32> {
        match *self {
            Self::ThinPlate { order } | Self::Spline { order, .. } => Some(order - 1),
            Self::Log { .. } | Self::Multiquadric { .. } => Some(0),
            _ => self.dilation_exponent().map(|b| (b / 2.0).ceil() as u32 - 1),
        }
    }

    /// The exponent b such that scaling the data by s is equivalent to C · s^(−b); `None` if the kernel has a length
    /// scale.
    pub fn dilation_exponent(&self) -> Option<f64> {
        match *self {
            Self::ThinPlate { order } => Some(f64::from(2 * (order - 1))),
            Self::Distance | Self::Cityblock => Some(1.0),
            Self::Cubic => Some(3.0),
            Self::Polyharmonic { exponent } => Some(exponent),
            Self::Spline { order, dims } => Some(f64::from(2 * order - dims)),
            _ => None,
        }
    }

    /// Turns squared distances (for `cityblock` and `laplacian` ‖x − y‖₁) into kernel values, in place.
    pub fn apply(&self, distances: &mut [f64]) {
        let sign = self.sign();
        if let Some(half) = self.logarithmic() {
            // r^2k log r = ½ (r²)^k log r²: no square root is needed.
            return powers_of_logarithms(distances, half, 0.5 * sign);
        }
        fn replace(distances: &mut [f64], value: impl Fn(f64) -> f64) {
            distances.iter_mut().for_each(|d| *d = value(*d));
        }
        match *self {
            Self::Cityblock => replace(distances, |d| -d),
            Self::Rbf { gamma } | Self::Laplacian { gamma } => wide_exponentials(-gamma, distances),
            Self::Log { gamma, exponent: 2.0 } => replace(distances, |r2| -(gamma * r2).ln_1p()),
            Self::Log { gamma, exponent } => replace(distances, |r2| -(gamma * r2.powf(0.5 * exponent)).ln_1p()),
            Self::Multiquadric { gamma } => replace(distances, |r2| -(1.0 + gamma * r2).sqrt()),
            Self::InverseMultiquadric { gamma } => replace(distances, |r2| 1.0 / (1.0 + gamma * r2).sqrt()),
            _ => match self.dilation_exponent() {
                Some(1.0) => replace(distances, |r2| sign * r2.sqrt()),
                Some(3.0) => replace(distances, |r2| sign * r2 * r2.sqrt()),
                Some(b) => replace(distances, |r2| sign * r2.powf(0.5 * b)),
                None => {}
            },
        }
    }

    /// Fills `out`, row-major samples × bases, with φ(‖sample − basis‖). `samples` and `bases` are row-major with
    /// `n_features` columns.
    pub fn block(&self, samples: &[f64], bases: &[f64], n_features: usize, out: &mut [f64]) {
        tiled_distances(samples, bases, n_features, self.measure(), out, |distances| self.apply(distances));
    }
}

impl fmt::Display for ConditionalKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThinPlate { order: 2 } => f.write_str("thin-plate"),
            Self::ThinPlate { order } => write!(f, "thin-plate:order={order}"),
            Self::Distance => f.write_str("distance"),
            Self::Cubic => f.write_str("cubic"),
            Self::Polyharmonic { exponent } => write!(f, "polyharmonic:exponent={exponent}"),
            Self::Spline { order, dims } => write!(f, "spline:order={order},dims={dims}"),
            Self::Rbf { gamma } => write!(f, "rbf:gamma={gamma}"),
            Self::Cityblock => f.write_str("cityblock"),
            Self::Laplacian { gamma } => write!(f, "laplacian:gamma={gamma}"),
            Self::Log { gamma, exponent: 2.0 } => write!(f, "log:gamma={gamma}"),
            Self::Log { gamma, exponent } => write!(f, "log:gamma={gamma},exponent={exponent}"),
            Self::Multiquadric { gamma } => write!(f, "multiquadric:gamma={gamma}"),
            Self::InverseMultiquadric { gamma } => write!(f, "inverse-multiquadric:gamma={gamma}"),
        }
    }
}

impl FromStr for ConditionalKernel {
    type Err = Error;

    /// Parses the kernel's spec, as written by [`Display`](fmt::Display); `thin-plate:order=2` is `thin-plate`.
    fn from_str(spec: &str) -> Result<Self> {
        let known = [ROWS, &[RBF, LAPLACIAN]].concat();
        read_among(&known, "conditionally positive definite kernel", spec, Self::of)
    }
}

impl Similarity for ConditionalKernel {
    type Samples = Vectors;

    fn spec(&self) -> String {
        self.to_string()
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        let mut exact = vec![0.0; block.len()];
        self.extension(0, bases, samples, Extension::Precise(&mut exact))?;
        block.iter_mut().zip(exact).for_each(|(out, exact)| *out = exact as f32);
        Ok(())
    }

    fn extension(&self, _part: usize, bases: &Vectors, samples: &Vectors, wanted: Extension<'_>) -> Result<bool> {
        let Extension::Precise(block) = wanted else { return Ok(false) };
        precise_values(bases, samples, self.measure(), block, |distances| self.apply(distances))?;
        Ok(true)
    }

    fn comparison(&self, _part: usize, basis: &Vectors, sample: &Vectors) -> Result<Option<Comparison>> {
        let (quantity, share) = self.share();
        Comparison::of_columns(quantity, basis, sample, share).map(Some)
    }

    fn metadata(&self) -> Metadata {
        Metadata { depends_on_differences: true, ..Metadata::default() }
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{CsrMatrix, DenseMatrix};

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
            "cityblock",
            "laplacian:gamma=0.5",
            "log:gamma=0.5",
            "log:gamma=0.5,exponent=1.5",
            "multiquadric:gamma=2",
            "inverse-multiquadric:gamma=2",
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
            "laplacian",
            "log:gamma=1,exponent=2.5",
            "multiquadric:gamma=0",
        ] {
            assert!(bad.parse::<ConditionalKernel>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_block_is_the_definition_and_its_diagonal_exact() {
        let n_features = 3;
        let values: Vec<f64> = (0..70 * n_features).map(|i| (1.3 * i as f64).sin() * 4.0 + 1e3).collect();
        let others = ["cityblock", "laplacian:gamma=0.2", "log:gamma=0.5,exponent=1.5", "log:gamma=0.5"];
        let quadrics = ["multiquadric:gamma=2", "inverse-multiquadric:gamma=2", "rbf:gamma=0.1"];
        let radial = ["thin-plate", "thin-plate:order=4", "distance", "cubic", "polyharmonic:exponent=1.5"];
        for spec in radial.into_iter().chain(others).chain(quadrics) {
            let kernel: ConditionalKernel = spec.parse().unwrap();
            let power = if kernel.measure() == Measure::Absolute { 1 } else { 2 };
            let mut block = vec![0.0; 70 * 70];
            kernel.block(&values, &values, n_features, &mut block);
            for i in 0..70 {
                assert_eq!(block[i * 70 + i], kernel.value(0.0));
                for j in 0..70 {
                    let sum: f64 = (0..3).map(|k| (values[i * 3 + k] - values[j * 3 + k]).abs().powi(power)).sum();
                    let truth = kernel.value(if power == 1 { sum } else { sum.sqrt() });
                    assert!((block[i * 70 + j] - truth).abs() <= 1e-12 * truth.abs().max(1e-3), "{spec}");
                    assert_eq!(block[i * 70 + j], block[j * 70 + i]);
                }
            }
        }
    }

    /// Few and many features, dense, sparse and both, far from the origin and close to each other.
    #[test]
    fn precise_blocks_of_all_kinds_of_vectors_are_the_definition() {
        for (n_features, spread) in [(3, 1.0), (40, 1.0), (40, 1e-3)] {
            let (n, mut indices) = (20, Vec::new());
            let value = |at: usize| if at % 3 == 1 { 0.0 } else { (1e3 + spread * (1.3 * at as f64).sin()) as f32 };
            let values: Vec<f32> = (0..n * n_features).map(value).collect();
            let mut indptr = vec![0];
            for row in values.chunks(n_features) {
                indices.extend((0..n_features).filter(|&column| row[column] != 0.0).map(|column| column as u32));
                indptr.push(indices.len());
            }
            let nonzeros = values.iter().copied().filter(|x| *x != 0.0).collect();
            let sparse = Vectors::Sparse(CsrMatrix { indptr, indices, values: nonzeros, n_cols: n_features });
            let dense = Vectors::Dense(DenseMatrix { values: values.clone(), n_rows: n, n_cols: n_features });
            for spec in ["rbf:gamma=1e-7", "laplacian:gamma=1e-4", "distance", "log:gamma=1"] {
                let kernel: ConditionalKernel = spec.parse().unwrap();
                for (bases, samples) in [(&dense, &dense), (&sparse, &sparse), (&dense, &sparse), (&sparse, &dense)] {
                    let mut block = vec![0.0; n * n];
                    assert!(kernel.extension(0, bases, samples, Extension::Precise(&mut block)).unwrap());
                    for (at, found) in block.iter().enumerate() {
                        let pair = |j: usize| [at / n, at % n].map(|row| f64::from(values[row * n_features + j]));
                        let differences = (0..n_features).map(|j| (pair(j)[0] - pair(j)[1]).abs());
                        let r = match kernel.measure() == Measure::Absolute {
                            true => differences.sum(),
                            false => differences.map(|d| d * d).sum::<f64>().sqrt(),
                        };
                        let right = kernel.value(r);
                        assert!((found - right).abs() <= 1e-9 * right.abs(), "{spec}, {n_features}: {found} {right}");
                    }
                }
            }
        }
    }

    #[test]
    fn polynomials_and_exponents() {
        let definiteness = |spec: &str| {
            let kernel: ConditionalKernel = spec.parse().unwrap();
            (kernel.degree(), kernel.dilation_exponent())
        };
        assert_eq!(definiteness("thin-plate"), (Some(1), Some(2.0)));
        assert_eq!(definiteness("thin-plate:order=3"), (Some(2), Some(4.0)));
        assert_eq!(definiteness("distance"), (Some(0), Some(1.0)));
        assert_eq!(definiteness("cubic"), (Some(1), Some(3.0)));
        assert_eq!(definiteness("polyharmonic:exponent=2.5"), (Some(1), Some(2.5)));
        assert_eq!(definiteness("spline:order=2,dims=3"), (Some(1), Some(1.0)));
        assert_eq!(definiteness("rbf:gamma=1"), (None, None));
        assert_eq!(definiteness("cityblock"), (Some(0), Some(1.0)));
        assert_eq!(definiteness("log:gamma=1"), (Some(0), None));
        assert_eq!(definiteness("inverse-multiquadric:gamma=1"), (None, None));
    }
}
