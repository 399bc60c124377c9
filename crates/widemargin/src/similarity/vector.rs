//! Similarities of vectors based on products or differences: linear, RBF, Laplacian, polynomial, sigmoid.

use std::fmt;

use super::Similarity;
use super::distances::{absolute_distances, norms, squared_distances};
use super::exponential::exponentials;
use super::shared_features::products;
use crate::data::{Training, Vectors};
use crate::descriptor::{Spread, spread};
use crate::error::{Error, Result};
use crate::spec::{Arguments, Step};

/// The function of the product or the difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VectorKernel {
    /// x·y.
    Linear,
    /// exp(−gamma ‖x − y‖²).
    Rbf,
    /// exp(−gamma ‖x − y‖₁).
    Laplacian,
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
/// mean ‖x − mean‖₁ for the Laplacian; if all features have the same spread, this is scikit-learn's `scale`.
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
    pub fn from_step(step: &Step) -> Result<Self> {
        let mut arguments = step.arguments();
        let (kernel, gamma) = match step.name() {
            "linear" => (VectorKernel::Linear, Some(1.0)),
            "rbf" => (VectorKernel::Rbf, gamma(&mut arguments)?),
            "laplacian" => (VectorKernel::Laplacian, gamma(&mut arguments)?),
            "polynomial" => {
                let degree = arguments.whole("degree", 3, 1..=16)? as u32;
                let coef0 = arguments.real("coef0", 1.0)?;
                (VectorKernel::Polynomial { degree, coef0 }, gamma(&mut arguments)?)
            }
            "sigmoid" => (VectorKernel::Sigmoid { coef0: arguments.real("coef0", 0.0)? }, gamma(&mut arguments)?),
            other => {
                return Err(Error::UnknownName {
                    what: "similarity of vectors",
                    given: other.to_owned(),
                    expected: "known are linear, rbf, laplacian, polynomial, sigmoid".into(),
                });
            }
        };
        arguments.end()?;
        Ok(VectorSimilarity { kernel, gamma, step: step.clone() })
    }

    fn gamma(&self) -> Result<f32> {
        match self.gamma {
            Some(gamma) => Ok(gamma as f32),
            None => Err(Error::Similarity {
                similarity: self.spec(),
                problem: "its gamma has not been learned yet: give one, or fit it".into(),
            }),
        }
    }
}

impl fmt::Display for VectorSimilarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.step.fmt(f)
    }
}

impl Similarity for VectorSimilarity {
    type Samples = Vectors;

    fn spec(&self) -> String {
        self.to_string()
    }

    fn fit(&mut self, training: &Training<'_, Vectors>) -> Result<()> {
        if self.gamma.is_some() {
            return Ok(());
        }
        let measure = if self.kernel == VectorKernel::Laplacian { Spread::Absolute } else { Spread::Squared };
        let found = spread(training, Vectors::dense, measure)?;
        // Identical samples have no scale: any value will do.
        let gamma = if found > 0.0 { 1.0 / found } else { 1.0 };
        self.gamma = Some(gamma);
        self.step.set("gamma", gamma);
        Ok(())
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        match self.kernel {
            VectorKernel::Linear => products(bases, samples, block)?,
            VectorKernel::Rbf => {
                let gamma = self.gamma()?;
                squared_distances(bases, samples, block)?;
                exponentials(-gamma, block);
            }
            VectorKernel::Laplacian => {
                let gamma = self.gamma()?;
                absolute_distances(bases, samples, block)?;
                exponentials(-gamma, block);
            }
            VectorKernel::Polynomial { degree, coef0 } => {
                let gamma = self.gamma()?;
                products(bases, samples, block)?;
                block.iter_mut().for_each(|p| *p = (gamma * *p + coef0 as f32).powi(degree as i32));
            }
            VectorKernel::Sigmoid { coef0 } => {
                let gamma = self.gamma()?;
                products(bases, samples, block)?;
                block.iter_mut().for_each(|p| *p = (gamma * *p + coef0 as f32).tanh());
            }
        }
        Ok(())
    }

    fn kernel_distances(&self, _part: usize, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<bool> {
        match self.kernel {
            VectorKernel::Sigmoid { .. } => return Ok(false),
            VectorKernel::Laplacian => absolute_distances(bases, samples, block)?,
            _ => squared_distances(bases, samples, block)?,
        }
        let gamma = f64::from(self.gamma()?);
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
            VectorKernel::Rbf | VectorKernel::Laplacian => {
                block.iter_mut().for_each(|d| *d = (-2.0 * (-gamma * f64::from(*d)).exp_m1()) as f32);
            }
            VectorKernel::Linear | VectorKernel::Sigmoid { .. } => {}
        }
        Ok(true)
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
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
    // 2 p(middle) − 2 p(m), with the factor middle − m = gap / 2 taken out.
    let risen: f64 = (0..degree).map(|i| power(middle, i) * power(m, degree - 1 - i)).sum();
    curved + gap * risen
}

/// The given gamma, or `None` if it is to be learned.
fn gamma(arguments: &mut Arguments<'_>) -> Result<Option<f64>> {
    match arguments.text("gamma") {
        None | Some("scale") => Ok(None),
        Some(_) => arguments.positive("gamma", 1.0).map(Some),
    }
}
