//! Additive kernels on histograms: K(x, y) = Σ_j k(x_j, y_j), features at least 0.
//!
//! The power mean family is M_p(x, y) = ((x^p + y^p) / 2)^(1/p) for p in [−∞, 0] (Wu, *Power Mean SVM
//! for Large Scale Visual Classification*, CVPR 2012, eq. 2); χ², Hellinger and intersection are its
//! members at p = −1, 0 and −∞. Every kernel here is zero where x or y is zero, is homogeneous
//! (k(t·x, t·y) = t·k(x, y)) and has k(x, x) = x.

use std::fmt;
use std::str::FromStr;

use super::Similarity;
use super::definitions::sum;
use super::row::{Definite, Definition, Onnx, SimilarityRow, built, read_among};
use super::shared_features::sum_over_features;
use crate::data::{Rows, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Arguments, Parameter, Values};
use crate::spec::Step;

const P: Parameter = Parameter::new(
    "p",
    Values::Number {
        least: f64::NEG_INFINITY,
        most: 0.0,
        range: "from -inf to 0 (-1 is chi-squared, 0 Hellinger, -inf intersection); above 0 the power mean is not a \
                kernel",
    },
    "",
);

const CHI2: SimilarityRow = SimilarityRow {
    name: "chi2",
    class: "Chi2",
    samples: &["vectors"],
    formula: "Σ 2 x_j y_j / (x_j + y_j)",
    about: "Of histograms: no value below 0.",
    parameters: &[],
    examples: &["chi2"],
    definite: Definite::Positive,
    definition: Some(Definition::Vectors(|_, x, y| Ok(sum(x, y, |x, y| power_mean(-1.0, x, y))))),
    onnx: Onnx::Expression("power_mean(-1)"),
    build: |step| built(AdditiveKernel::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[
    CHI2,
    SimilarityRow {
        name: "hellinger",
        class: "Hellinger",
        formula: "Σ √(x_j y_j)",
        examples: &["hellinger"],
        definition: Some(Definition::Vectors(|_, x, y| Ok(sum(x, y, |x, y| (x * y).sqrt())))),
        onnx: Onnx::Expression("power_mean(0)"),
        ..CHI2
    },
    SimilarityRow {
        name: "intersection",
        class: "Intersection",
        formula: "Σ min(x_j, y_j)",
        examples: &["intersection"],
        definition: Some(Definition::Vectors(|_, x, y| Ok(sum(x, y, f64::min)))),
        onnx: Onnx::Expression("power_mean(-inf)"),
        ..CHI2
    },
    SimilarityRow {
        name: "jensen-shannon",
        class: "JensenShannon",
        formula: "Σ x_j/2 log₂((x_j + y_j)/x_j) + y_j/2 log₂((x_j + y_j)/y_j)",
        examples: &["jensen-shannon"],
        definition: Some(Definition::Vectors(|_, x, y| {
            let half = |x: f64, y: f64| if x > 0.0 { x / 2.0 * ((x + y) / x).log2() } else { 0.0 };
            Ok(x.iter().zip(y).map(|(&x, &y)| half(x, y) + half(y, x)).sum())
        })),
        onnx: Onnx::Expression("jensen_shannon"),
        ..CHI2
    },
    SimilarityRow {
        name: "power-mean",
        class: "PowerMean",
        formula: "Σ ((x_j^p + y_j^p)/2)^(1/p)",
        parameters: &[P],
        examples: &["power-mean:p=-8", "power-mean:p=-0.5", "power-mean:p=-inf"],
        definition: Some(Definition::Vectors(|arguments, x, y| {
            let p = arguments.value("p")?;
            Ok(x.iter().zip(y).map(|(&x, &y)| power_mean(p, x, y)).sum())
        })),
        onnx: Onnx::Expression("power_mean(p)"),
        ..CHI2
    },
];

/// ((x^p + y^p)/2)^(1/p), p below 0.
fn power_mean(p: f64, x: f64, y: f64) -> f64 {
    match p {
        _ if x.min(y) <= 0.0 => 0.0,
        f64::NEG_INFINITY => x.min(y),
        p => ((x.powf(p) + y.powf(p)) / 2.0).powf(1.0 / p),
    }
}

/// The scalar kernel k that an additive kernel sums over features.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdditiveKernel {
    /// M_p for any p in [−∞, 0].
    PowerMean {
        /// The exponent p.
        p: f64,
    },
    /// 2xy / (x + y), M_p at p = −1.
    Chi2,
    /// √(xy), M_p at p = 0.
    Hellinger,
    /// min(x, y), M_p at p = −∞.
    Intersection,
    /// x/2·log₂((x+y)/x) + y/2·log₂((x+y)/y).
    JensenShannon,
}

impl AdditiveKernel {
    /// The power mean kernel with exponent `p`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless p is in [−∞, 0].
    pub fn power_mean(p: f64) -> Result<Self> {
        if p <= 0.0 {
            return Ok(AdditiveKernel::PowerMean { p });
        }
        Err(Error::parameter("p", p, P.expected()))
    }

    /// The kernel of a spec such as `chi2` or `power-mean:p=-8`.
    ///
    /// # Errors
    /// As for [`AdditiveKernel::from_str`].
    pub fn from_step(step: &Step) -> Result<Self> {
        step.to_string().parse()
    }

    fn of(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(match arguments.step().name() {
            "chi2" => AdditiveKernel::Chi2,
            "hellinger" => AdditiveKernel::Hellinger,
            "intersection" => AdditiveKernel::Intersection,
            "jensen-shannon" => AdditiveKernel::JensenShannon,
            _ => AdditiveKernel::power_mean(arguments.value("p")?)?,
        })
    }

    /// The exponent, for members of the power mean family.
    pub fn p(&self) -> Option<f64> {
        match self {
            AdditiveKernel::PowerMean { p } => Some(*p),
            AdditiveKernel::Chi2 => Some(-1.0),
            AdditiveKernel::Hellinger => Some(0.0),
            AdditiveKernel::Intersection => Some(f64::NEG_INFINITY),
            AdditiveKernel::JensenShannon => None,
        }
    }

    /// k(x, y) for x, y at least 0.
    pub fn value(&self, x: f64, y: f64) -> f64 {
        let (small, large) = if x < y { (x, y) } else { (y, x) };
        if small <= 0.0 {
            return 0.0;
        }
        match self.p() {
            None => {
                let ratio = small / large;
                // log₂((x+y)/x) = log₂(1 + y/x): log1p preserves precision if x and y are far apart.
                0.5 * (small * (1.0 / ratio).ln_1p() + large * ratio.ln_1p()) * std::f64::consts::LOG2_E
            }
            Some(-1.0) => 2.0 * small / (1.0 + small / large),
            Some(0.0) => small.sqrt() * large.sqrt(),
            Some(f64::NEG_INFINITY) => small,
            // The direct x^p overflows in f32 already at p = −8; relative to the smaller value it cannot.
            Some(p) => small * ((0.5 * (p * (large / small).ln()).exp_m1()).ln_1p() / p).exp(),
        }
    }

    /// K(x, y) = Σ_j k(x_j, y_j) between two rows, computed from the definition.
    pub fn between<A: Rows, B: Rows>(&self, x: &A, x_row: usize, y: &B, y_row: usize) -> f64 {
        let mut other = Vec::new();
        y.for_each_nonzero(y_row, |column, value| other.push((column, value)));
        let (mut sum, mut at) = (0.0, 0);
        x.for_each_nonzero(x_row, |column, value| {
            while at < other.len() && other[at].0 < column {
                at += 1;
            }
            if at < other.len() && other[at].0 == column {
                sum += self.value(value, other[at].1);
            }
        });
        sum
    }
}

impl fmt::Display for AdditiveKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdditiveKernel::PowerMean { p } => write!(f, "power-mean:p={p}"),
            AdditiveKernel::Chi2 => f.write_str("chi2"),
            AdditiveKernel::Hellinger => f.write_str("hellinger"),
            AdditiveKernel::Intersection => f.write_str("intersection"),
            AdditiveKernel::JensenShannon => f.write_str("jensen-shannon"),
        }
    }
}

impl FromStr for AdditiveKernel {
    type Err = Error;

    /// Parses the kernel's spec, as written by [`Display`](fmt::Display).
    fn from_str(spec: &str) -> Result<Self> {
        read_among(ROWS, "additive kernel", spec, Self::of)
    }
}

impl Similarity for AdditiveKernel {
    type Samples = Vectors;

    fn spec(&self) -> String {
        self.to_string()
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        check_histograms(self, true, bases)?;
        check_histograms(self, false, samples)?;
        match self.p() {
            Some(-1.0) => sum_over_features(bases, samples, block, |x, y| {
                // 0 / 0 if both are 0, where the kernel is 0.
                2.0 * x * y / (x + y).max(f32::MIN_POSITIVE)
            }),
            Some(0.0) => sum_over_features(bases, samples, block, |x, y| (x * y).sqrt()),
            Some(f64::NEG_INFINITY) => sum_over_features(bases, samples, block, f32::min),
            _ => sum_over_features(bases, samples, block, |x, y| self.value(x.into(), y.into()) as f32),
        }
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

fn check_histograms(kernel: &AdditiveKernel, is_basis: bool, vectors: &Vectors) -> Result<()> {
    let values = match vectors {
        Vectors::Dense(matrix) => &matrix.values,
        Vectors::Sparse(matrix) => &matrix.values,
    };
    let Some(at) = values.iter().position(|value| *value < 0.0 || !value.is_finite()) else { return Ok(()) };
    let number = match vectors {
        Vectors::Dense(matrix) => at / matrix.n_cols,
        // Rows may be empty: the last row that begins at or before it.
        Vectors::Sparse(matrix) => matrix.indptr.partition_point(|start| *start <= at) - 1,
    };
    let problem = format!("has the value {}: histograms have values that are finite and at least 0", values[at]);
    Err(Error::Sample { similarity: kernel.to_string(), is_basis, number, problem })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;
    use proptest::prelude::*;

    fn kernels() -> Vec<AdditiveKernel> {
        let mut all: Vec<_> = [-1.0, 0.0, -8.0, -0.3, -1e-6, f64::NEG_INFINITY, -1e6]
            .map(|p| AdditiveKernel::power_mean(p).unwrap())
            .into();
        all.extend([
            AdditiveKernel::Chi2,
            AdditiveKernel::Hellinger,
            AdditiveKernel::Intersection,
            AdditiveKernel::JensenShannon,
        ]);
        all
    }

    #[test]
    fn closed_forms() {
        let power = |p, x, y| AdditiveKernel::power_mean(p).unwrap().value(x, y);
        let (x, y): (f64, f64) = (0.3, 0.7);
        assert!((power(-1.0, x, y) - 2.0 * x * y / (x + y)).abs() < 1e-15);
        assert!((power(0.0, x, y) - (x * y).sqrt()).abs() < 1e-15);
        assert_eq!(power(f64::NEG_INFINITY, x, y), x);
        let direct = ((x.powi(-8) + y.powi(-8)) / 2.0).powf(-1.0 / 8.0);
        assert!((power(-8.0, x, y) - direct).abs() < 1e-14);
        // The limits join: p near 0 is Hellinger, p very negative is the intersection.
        assert!((power(-1e-9, x, y) - (x * y).sqrt()).abs() < 1e-9);
        assert!((power(-1e9, x, y) - x).abs() < 1e-9);
        let entropy = x / 2.0 * ((x + y) / x).log2() + y / 2.0 * ((x + y) / y).log2();
        assert!((AdditiveKernel::JensenShannon.value(x, y) - entropy).abs() < 1e-15);
    }

    #[test]
    fn specs_are_written_as_they_are_read() {
        for spec in ["power-mean:p=-1", "power-mean:p=-inf", "power-mean:p=0", "power-mean:p=-0.25", "chi2"] {
            assert_eq!(spec.parse::<AdditiveKernel>().unwrap().to_string(), spec);
        }
        for kernel in kernels() {
            assert_eq!(kernel.to_string().parse::<AdditiveKernel>().unwrap(), kernel);
        }
        for bad in ["power-mean:p=1", "power-mean:p=nan", "power-mean", "chi", ""] {
            assert!(bad.parse::<AdditiveKernel>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_kernel_of_rows_sums_over_shared_features() {
        let values = [0.0, 2.0, 1.0, 3.0, 2.0, 0.0];
        let rows = DenseView::new(&values, 2, 3).unwrap();
        assert_eq!(AdditiveKernel::Chi2.between(&rows, 0, &rows, 1), 2.0);
        assert_eq!(AdditiveKernel::Chi2.between(&rows, 0, &rows, 0), 3.0);
    }

    proptest! {
        #[test]
        fn symmetric_homogeneous_between_minimum_and_geometric_mean(
            x in 1e-12f64..1e12, y in 1e-12f64..1e12, t in 1e-6f64..1e6,
        ) {
            for kernel in kernels() {
                let k = kernel.value(x, y);
                prop_assert_eq!(k, kernel.value(y, x));
                prop_assert!((kernel.value(t * x, t * y) - t * k).abs() <= 1e-11 * t * k, "{}", kernel);
                prop_assert!((kernel.value(x, x) - x).abs() <= 1e-12 * x);
                prop_assert_eq!(kernel.value(x, 0.0), 0.0);
                prop_assert!(k <= (x * y).sqrt() * (1.0 + 1e-9), "{} {} {}", kernel, k, (x * y).sqrt());
                if kernel.p().is_some() {
                    prop_assert!(k >= x.min(y) * (1.0 - 1e-12));
                }
            }
        }
    }
}
