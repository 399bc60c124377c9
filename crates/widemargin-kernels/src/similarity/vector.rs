//! Similarities of vectors based on products or differences: linear, RBF, Laplacian, polynomial, sigmoid.

use super::comparison::{CITY_BLOCK, SQUARED_DISTANCE};
use super::distances::{absolute_distances, norms, precise_values, squared_distances, sums_of_all_terms};
use super::exponential::{exponentials, wide_exponentials};
use super::radial::Measure;
use super::row::{Definite, Onnx, SimilarityRow, arguments_among, built};
use super::shared_features::products;
use super::{Comparison, Extension, Metadata, Similarity};
use crate::data::{Training, Vectors};
use crate::descriptor::{Spread, spread};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

const GAMMA: Parameter =
    learned_gamma("By default 1 / mean ‖y − mean‖² over the training samples, also written `scale`.");

const fn learned_gamma(about: &'static str) -> Parameter {
    Parameter::new("gamma", Values::POSITIVE, about).optional().or_word("scale")
}

/// exp(−gamma ‖x − y‖²).
pub(super) const RBF: SimilarityRow = SimilarityRow {
    name: "rbf",
    class: "RBF",
    samples: &["vectors"],
    parameters: &[GAMMA],
    examples: &["rbf", "rbf:gamma=0.3"],
    definite: Definite::Positive,
    onnx: Onnx::Expression("exp(-gamma * squared_distance)"),
    build: |step| built(VectorSimilarity::from_step(step)),
};

/// exp(−gamma ‖x − y‖₁).
pub(super) const LAPLACIAN: SimilarityRow = SimilarityRow {
    name: "laplacian",
    class: "Laplacian",
    parameters: &[learned_gamma("By default 1 / mean ‖y − mean‖₁ over the training samples, also written `scale`.")],
    examples: &["laplacian", "laplacian:gamma=0.3"],
    onnx: Onnx::Expression("exp(-gamma * sum(abs(x - y)))"),
    ..RBF
};

pub(super) const ROWS: &[SimilarityRow] = &[
    SimilarityRow {
        name: "linear",
        class: "Linear",
        parameters: &[],
        examples: &[],
        onnx: Onnx::Expression("product"),
        ..RBF
    },
    RBF,
    LAPLACIAN,
    SimilarityRow {
        name: "polynomial",
        class: "Polynomial",
        parameters: &[
            Parameter::new("degree", Values::Whole(1, 16), "The degree.").or("3").written(),
            GAMMA,
            Parameter::new("coef0", Values::FINITE, "The constant term.").or("1"),
        ],
        examples: &["polynomial", "polynomial:degree=2,coef0=0.5,gamma=0.3"],
        onnx: Onnx::Expression("(gamma * product + coef0) ** degree"),
        ..RBF
    },
    SimilarityRow {
        name: "sigmoid",
        class: "Sigmoid",
        parameters: &[GAMMA, Parameter::new("coef0", Values::FINITE, "The constant term.").or("0")],
        examples: &["sigmoid", "sigmoid:coef0=-0.2,gamma=0.1"],
        definite: Definite::No,
        onnx: Onnx::Expression("tanh(gamma * product + coef0)"),
        ..RBF
    },
];

pub(super) const CANBERRA: SimilarityRow = SimilarityRow {
    name: "canberra",
    class: "Canberra",
    parameters: &[Parameter::new("gamma", Values::POSITIVE, "By default 1 / the number of features.").optional()],
    examples: &["canberra", "canberra:gamma=0.3"],
    onnx: Onnx::Expression("exp(-gamma * sum(ratio(abs(x - y), abs(x) + abs(y))))"),
    ..RBF
};

/// The function of the product or the difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VectorKernel {
    /// x·y.
    Linear,
    /// exp(−gamma ‖x − y‖²).
    Rbf,
    /// exp(−gamma ‖x − y‖₁).
    Laplacian,
    /// exp(−gamma Σ |x_j − y_j| / (|x_j| + |y_j|)).
    Canberra,
    /// (gamma x·y + coef0)^degree.
    Polynomial {
        /// The exponent, 1 to 16.
        degree: u32,
        /// The constant added to the product.
        coef0: f64,
    },
    /// tanh(gamma x·y + coef0), not positive definite in general.
    Sigmoid {
        /// The constant added to the product.
        coef0: f64,
    },
}

/// A similarity of vectors, in single precision.
///
/// An unset `gamma` is learned: 1 / mean ‖x − mean‖² over the training samples for RBF, polynomial and sigmoid, 1 /
/// mean ‖x − mean‖₁ for the Laplacian, 1 / the number of features for Canberra; if all features have the same spread, this is scikit-learn's `scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorSimilarity {
    kernel: VectorKernel,
    gamma: Option<f64>,
    step: Step,
}

impl VectorSimilarity {
    /// A similarity from its spec, such as `rbf:gamma=1`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for a name outside this family, [`Error::Parameter`] for unknown or invalid parameters.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let known = [ROWS, &[CANBERRA]].concat();
        let arguments = arguments_among(&known, "similarity of vectors", step)?;
        let kernel = match step.name() {
            "linear" => VectorKernel::Linear,
            "rbf" => VectorKernel::Rbf,
            "laplacian" => VectorKernel::Laplacian,
            "canberra" => VectorKernel::Canberra,
            "polynomial" => {
                VectorKernel::Polynomial { degree: arguments.value("degree")?, coef0: arguments.value("coef0")? }
            }
            _ => VectorKernel::Sigmoid { coef0: arguments.value("coef0")? },
        };
        let gamma = if kernel == VectorKernel::Linear { Some(1.0) } else { arguments.get("gamma")? };
        Ok(VectorSimilarity { kernel, gamma, step: step.clone() })
    }

    /// The distances that the kernel is a function of, or would be if it were one.
    fn distances(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        match self.kernel {
            VectorKernel::Laplacian => absolute_distances(bases, samples, block),
            VectorKernel::Canberra => canberra_distances(bases, samples, block),
            _ => squared_distances(bases, samples, block),
        }
    }

    /// The squared distances of the kernel itself; false for one that is not definite.
    fn kernel_distances(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<bool> {
        if let VectorKernel::Sigmoid { .. } = self.kernel {
            return Ok(false);
        }
        let gamma = self.gamma()?;
        self.distances(bases, samples, block)?;
        match self.kernel {
            VectorKernel::Polynomial { degree, coef0 } => {
                let values = |vectors| norms(vectors, |x| x * x).into_iter().map(move |norm| gamma * norm + coef0);
                let of_bases: Vec<f64> = values(bases).collect();
                for (row, x) in block.chunks_mut(of_bases.len().max(1)).zip(values(samples)) {
                    for (d, y) in row.iter_mut().zip(&of_bases) {
                        *d = polynomial_distance(degree, x, *y, gamma * f64::from(*d)) as f32;
                    }
                }
            }
            VectorKernel::Rbf | VectorKernel::Laplacian | VectorKernel::Canberra => {
                block.iter_mut().for_each(|d| *d = (-2.0 * (-gamma * f64::from(*d)).exp_m1()) as f32);
            }
            VectorKernel::Linear | VectorKernel::Sigmoid { .. } => {}
        }
        Ok(true)
    }

    fn gamma(&self) -> Result<f64> {
        let unlearned = "its gamma has not been learned yet: give one, or fit it";
        self.gamma.ok_or_else(|| Error::similarity(self.spec(), unlearned))
    }
}

impl Similarity for VectorSimilarity {
    type Samples = Vectors;

    crate::macros::symmetric_step!();

    fn fit(&mut self, training: &Training<'_, Vectors>) -> Result<()> {
        if self.gamma.is_some() {
            return Ok(());
        }
        let found = match self.kernel {
            VectorKernel::Canberra => training.samples.chunk(0..1)?.n_cols() as f64,
            VectorKernel::Laplacian => spread(training, Vectors::dense, Spread::Absolute)?,
            _ => spread(training, Vectors::dense, Spread::Squared)?,
        };
        // Identical samples have no scale: any value will do.
        let gamma = if found > 0.0 { 1.0 / found } else { 1.0 };
        self.gamma = Some(gamma);
        self.step.set("gamma", gamma);
        Ok(())
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        let gamma = self.gamma()? as f32;
        match self.kernel {
            VectorKernel::Rbf | VectorKernel::Laplacian | VectorKernel::Canberra => {
                self.distances(bases, samples, block)?;
                exponentials(-gamma, block);
            }
            _ => products(bases, samples, block)?,
        }
        match self.kernel {
            VectorKernel::Polynomial { degree, coef0 } => {
                block.iter_mut().for_each(|p| *p = (gamma * *p + coef0 as f32).powi(degree as i32));
            }
            VectorKernel::Sigmoid { coef0 } => block.iter_mut().for_each(|p| *p = (gamma * *p + coef0 as f32).tanh()),
            _ => {}
        }
        Ok(())
    }

    fn extension(&self, _part: usize, bases: &Vectors, samples: &Vectors, wanted: Extension<'_>) -> Result<bool> {
        let measure = match self.kernel {
            VectorKernel::Rbf => Some(Measure::Squared),
            VectorKernel::Laplacian => Some(Measure::Absolute),
            _ => None,
        };
        match (wanted, measure) {
            // Of distances, on which small eigenvalues depend; products have no more than single precision.
            (Extension::Precise(block), Some(measure)) => {
                let gamma = self.gamma()?;
                precise_values(bases, samples, measure, block, |distances| wide_exponentials(-gamma, distances))?;
                Ok(true)
            }
            (Extension::Distances(block), _) => self.kernel_distances(bases, samples, block),
            _ => Ok(false),
        }
    }

    fn comparison(&self, _part: usize, basis: &Vectors, sample: &Vectors) -> Result<Option<Comparison>> {
        match self.kernel {
            VectorKernel::Rbf => Comparison::of_columns(SQUARED_DISTANCE, basis, sample, |x, y| (x - y).powi(2)),
            VectorKernel::Canberra => Comparison::of_columns("Canberra distance", basis, sample, canberra_term),
            VectorKernel::Laplacian => Comparison::of_columns(CITY_BLOCK, basis, sample, |x, y| (x - y).abs()),
            _ => Comparison::of_columns("product", basis, sample, |x, y| x * y),
        }
        .map(Some)
    }

    fn metadata(&self) -> Metadata {
        let depends_on_differences = matches!(self.kernel, VectorKernel::Rbf | VectorKernel::Laplacian);
        Metadata { depends_on_differences, ..Metadata::default() }
    }
}

/// p(x) + p(y) − 2 p(m) for p(t) = t^degree and x + y − 2m = `gap`, computed without x + y and 2m.
fn polynomial_distance(degree: u32, x: f64, y: f64, gap: f64) -> f64 {
    let (middle, half) = (0.5 * (x + y), 0.5 * (x - y));
    let m = middle - 0.5 * gap;
    let power = |t: f64, exponent: u32| t.powi(exponent as i32);
    // p(x) + p(y) − 2 p(middle): twice the terms of the binomial series that are even in x − y, except the first.
    let (mut curved, mut binomial) = (0.0, 1.0);
    for i in 1..=degree {
        binomial *= f64::from(degree + 1 - i) / f64::from(i);
        if i % 2 == 0 {
            curved += 2.0 * binomial * power(middle, degree - i) * power(half, i);
        }
    }
    // 2 p(middle) − 2 p(m), divided by middle − m = gap / 2.
    let risen: f64 = (0..degree).map(|i| power(middle, i) * power(m, degree - 1 - i)).sum();
    curved + gap * risen
}

/// |x − y| / (|x| + |y|), where 0 / 0 counts as 0.
fn canberra_term(x: f64, y: f64) -> f64 {
    if x == y { 0.0 } else { (x - y).abs() / (x.abs() + y.abs()) }
}

/// block\[sample\]\[basis\] = d of `canberra`, in single precision.
///
/// d(x, y) = Σ_j |x_j − y_j| / (|x_j| + |y_j|), where 0 / 0 is 0 (Lance and Williams 1967): between 0 and the number of
/// features, whatever their units. s = exp(−gamma d) is positive definite, since 1 − |x − y| / (|x| + |y|) is: it is
/// 2 min(|x|, |y|) / (|x| + |y|) for numbers of one sign, a product of the kernels min(|x|, |y|) and 1 / (|x| + |y|),
/// and 0 for others.
fn canberra_distances(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
    // Halves, whose sum does not overflow; 0 / 0 counts as 0.
    let term = |x: f32, y: f32| (0.5 * x - 0.5 * y).abs() / (0.5 * x.abs() + 0.5 * y.abs()).max(f32::MIN_POSITIVE);
    // A feature of one vector alone counts 1.
    sums_of_all_terms(bases, samples, block, term, |x, y| 2.0 - term(x, y), |_| 1.0)
}
