//! Additive kernels on histograms: K(x, y) = Σ_j k(x_j, y_j), features at least 0.
//!
//! The power mean family is M_p(x, y) = ((x^p + y^p) / 2)^(1/p) for p in [−∞, 0] (Wu, *Power Mean SVM
//! for Large Scale Visual Classification*, CVPR 2012, eq. 2); χ², Hellinger and intersection are its
//! members at p = −1, 0 and −∞. Every kernel here is zero where x or y is zero, is homogeneous
//! (k(t·x, t·y) = t·k(x, y)) and has k(x, x) = x. Above p = 0 the power mean is neither zero at zero, M_p(x, 0) =
//! 2^(−1/p) x, nor positive semi-definite: it is then a similarity for the basis expansion, and no kernel.

use std::fmt;
use std::str::FromStr;

use super::distances::sums_of_all_terms;
use super::row::{Definite, Onnx, SimilarityRow, built, read_among};
use super::shared_features::sum_over_features;
use super::{Comparison, Similarity};
use crate::data::Vectors;
use crate::error::{Error, Result, require};
use crate::parameters::{Arguments, Parameter, Values};
use crate::spec::Step;

const P: Parameter = Parameter::new(
    "p",
    Values::Number {
        least: f64::NEG_INFINITY,
        most: f64::INFINITY,
        range: "from -inf to inf (-1 is chi-squared, 0 Hellinger, -inf the minimum, 1 the mean, inf the maximum); a \
                kernel from -inf to 0",
    },
    "",
);

const CHI2: SimilarityRow = SimilarityRow {
    name: "chi2",
    class: "Chi2",
    samples: &["vectors"],
    parameters: &[],
    examples: &[],
    definite: Definite::Positive,
    onnx: Onnx::Expression("power_mean(-1)"),
    build: |step| built(AdditiveKernel::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[
    CHI2,
    SimilarityRow { name: "hellinger", class: "Hellinger", onnx: Onnx::Expression("power_mean(0)"), ..CHI2 },
    SimilarityRow { name: "intersection", class: "Intersection", onnx: Onnx::Expression("power_mean(-inf)"), ..CHI2 },
    SimilarityRow { name: "jensen-shannon", class: "JensenShannon", onnx: Onnx::Expression("jensen_shannon"), ..CHI2 },
    SimilarityRow {
        name: "power-mean",
        class: "PowerMean",
        parameters: &[P],
        examples: &["power-mean:p=-8", "power-mean:p=-0.5", "power-mean:p=-inf"],
        onnx: Onnx::Expression("power_mean(p)"),
        ..CHI2
    },
];

/// The scalar kernel k that an additive kernel sums over features.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdditiveKernel {
    /// M_p for any p in [−∞, ∞]; a kernel for p in [−∞, 0].
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
    /// The power mean with exponent `p`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for NaN.
    pub fn power_mean(p: f64) -> Result<Self> {
        require(!p.is_nan(), "p", p, &P.expected())?;
        Ok(AdditiveKernel::PowerMean { p })
    }

    /// Whether it is positive semi-definite, and zero where x or y is.
    #[doc(hidden)]
    pub fn is_kernel(&self) -> bool {
        self.p().is_none_or(|p| p <= 0.0)
    }

    /// Rejects functions that are not kernels.
    ///
    /// # Errors
    /// [`Error::Parameter`] with its possible uses.
    #[doc(hidden)]
    pub fn require_kernel(&self) -> Result<()> {
        match self.p() {
            Some(p) if !self.is_kernel() => {
                let expected =
                    "from -inf to 0: above 0 the power mean is no kernel but an indefinite similarity, which";
                Err(Error::parameter("p", p, format!("{expected} the basis expansion takes as '{self}'")))
            }
            _ => Ok(()),
        }
    }

    /// The kernel of a spec such as `chi2` or `power-mean:p=-8`.
    ///
    /// # Errors
    /// As for [`AdditiveKernel::from_str`].
    pub(crate) fn from_step(step: &Step) -> Result<Self> {
        step.to_string().parse()
    }

    fn of(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(match arguments.step.name() {
            "chi2" => AdditiveKernel::Chi2,
            "hellinger" => AdditiveKernel::Hellinger,
            "intersection" => AdditiveKernel::Intersection,
            "jensen-shannon" => AdditiveKernel::JensenShannon,
            _ => AdditiveKernel::power_mean(arguments.value("p")?)?,
        })
    }

    /// The exponent, for members of the power mean family.
    #[doc(hidden)]
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
        // M_p(x, y) relative to one of both, from which no power overflows.
        let relative_to =
            |one: f64, other: f64, p: f64| one * ((0.5 * (p * (other / one).ln()).exp_m1()).ln_1p() / p).exp();
        if let Some(p) = self.p()
            && !self.is_kernel()
        {
            return if large <= 0.0 || p == f64::INFINITY { large } else { relative_to(large, small, p) };
        }
        if small <= 0.0 {
            return 0.0;
        }
        match self.p() {
            None => {
                let ratio = small / large;
                // log₂((x+y)/x) = log₂(1 + y/x): log1p preserves precision if x and y are of different magnitude.
                0.5 * (small * (1.0 / ratio).ln_1p() + large * ratio.ln_1p()) * std::f64::consts::LOG2_E
            }
            Some(-1.0) => 2.0 * small / (1.0 + small / large),
            Some(0.0) => small.sqrt() * large.sqrt(),
            Some(f64::NEG_INFINITY) => small,
            // The direct x^p overflows in f32 already at p = −8.
            Some(p) => relative_to(small, large, p),
        }
    }

    /// The block where features count that only one of two vectors has.
    fn sum_over_all_features(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        let value = |x: f32, y: f32| self.value(x.into(), y.into()) as f32;
        // k(x, 0) and k(0, x).
        let alone = self.value(1.0, 0.0);
        let excess = |x: f32, y: f32| (alone * (f64::from(x) + f64::from(y)) - self.value(x.into(), y.into())) as f32;
        sums_of_all_terms(bases, samples, block, value, excess, |x| alone * x)
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
        check_histograms(&self.spec(), true, bases)?;
        check_histograms(&self.spec(), false, samples)?;
        match self.p() {
            Some(_) if !self.is_kernel() => self.sum_over_all_features(bases, samples, block),
            Some(-1.0) => sum_over_features(bases, samples, block, |x, y| {
                // 0 / 0 if both are 0, where the kernel is 0.
                2.0 * x * y / (x + y).max(f32::MIN_POSITIVE)
            }),
            Some(0.0) => sum_over_features(bases, samples, block, |x, y| (x * y).sqrt()),
            Some(f64::NEG_INFINITY) => sum_over_features(bases, samples, block, f32::min),
            _ => sum_over_features(bases, samples, block, |x, y| self.value(x.into(), y.into()) as f32),
        }
    }

    fn comparison(&self, _part: usize, basis: &Vectors, sample: &Vectors) -> Result<Option<Comparison>> {
        Comparison::of_columns("sum over the columns", basis, sample, |x, y| self.value(x, y)).map(Some)
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

/// Rejects vectors that are not histograms.
///
/// # Errors
/// [`Error::Sample`].
pub(super) fn check_histograms(spec: &str, is_basis: bool, vectors: &Vectors) -> Result<()> {
    let Some((number, _, value)) = vectors.find(|_, value| value < 0.0 || !value.is_finite()) else { return Ok(()) };
    let problem = format!("has the value {value}: histograms have values that are finite and at least 0");
    Err(Error::Sample { similarity: spec.to_owned(), is_basis, number, problem })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{CsrMatrix, DenseMatrix};
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
        for spec in ["power-mean:p=-1", "power-mean:p=-inf", "power-mean:p=0", "power-mean:p=2.5", "power-mean:p=inf"] {
            assert_eq!(spec.parse::<AdditiveKernel>().unwrap().to_string(), spec);
        }
        for kernel in kernels() {
            assert_eq!(kernel.to_string().parse::<AdditiveKernel>().unwrap(), kernel);
        }
        for bad in ["power-mean:p=nan", "power-mean", "chi", ""] {
            assert!(bad.parse::<AdditiveKernel>().is_err(), "{bad}");
        }
    }

    #[test]
    fn above_0_the_power_mean_is_a_similarity_that_counts_zeros() {
        let rows = [[0.0, 2.0, 1.0, 0.0, 4.0], [3.0, 0.0, 1.0, 0.0, 2.0], [0.0; 5]];
        let dense = Vectors::Dense(DenseMatrix { values: rows.concat(), n_rows: 3, n_cols: 5 });
        let nonzero = |row: &[f32]| row.iter().filter(|x| **x != 0.0).count();
        let ends: Vec<usize> = (0..=3).map(|row| rows[..row].iter().map(|row| nonzero(row)).sum()).collect();
        let non_zeros = rows.concat().into_iter().enumerate().filter(|(_, x)| *x != 0.0);
        let (indices, values) = non_zeros.map(|(at, x)| ((at % 5) as u32, x)).unzip();
        let sparse = Vectors::Sparse(CsrMatrix { indptr: ends, indices, values, n_cols: 5 });
        type Definition = fn(f64, f64) -> f64;
        let definitions: [(f64, Definition); 4] = [
            (1.0, |x, y| (x + y) / 2.0),
            (2.0, |x, y| ((x * x + y * y) / 2.0).sqrt()),
            (0.5, |x, y| ((x.sqrt() + y.sqrt()) / 2.0).powi(2)),
            (f64::INFINITY, f64::max),
        ];
        for (p, definition) in definitions {
            let similarity = AdditiveKernel::power_mean(p).unwrap();
            for (bases, samples) in [(&dense, &dense), (&sparse, &dense), (&dense, &sparse), (&sparse, &sparse)] {
                let mut block = vec![f32::NAN; 9];
                similarity.block(bases, samples, &mut block).unwrap();
                for (at, found) in block.iter().enumerate() {
                    let pairs = rows[at / 3].iter().zip(rows[at % 3]);
                    let right: f64 = pairs.map(|(x, y)| definition(f64::from(*x), f64::from(y))).sum();
                    assert!((f64::from(*found) - right).abs() < 1e-5, "p = {p}: {found} {right}");
                    let values = rows[at / 3].iter().zip(rows[at % 3]);
                    let sum: f64 = values.map(|(x, y)| similarity.value(f64::from(*x), f64::from(y))).sum();
                    assert!((sum - right).abs() < 1e-12, "p = {p}: {sum} {right}");
                }
            }
            let refused = similarity.require_kernel().unwrap_err().to_string();
            assert!(refused.contains(&format!("'power-mean:p={p}'")), "{refused}");
        }
        // Powers that overflow, and the limit p → 0.
        let value = |p, x, y| AdditiveKernel::power_mean(p).unwrap().value(x, y);
        assert!((value(1e3, 1e300, 1.0) / 1e300 - 0.5f64.powf(1e-3)).abs() < 1e-12);
        assert!((value(1e-9, 0.3, 0.7) - 0.21f64.sqrt()).abs() < 1e-9);
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
