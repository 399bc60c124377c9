//! Similarities of vectors by their products or differences: linear, RBF, Laplacian, polynomial, sigmoid.

use std::fmt;

use super::Similarity;
use super::exponential::exponentials;
use super::shared_features::{products, sum_over_features};
use crate::data::{Rows, Samples, Training, Vectors};
use crate::descriptor::{Spread, spread};
use crate::error::{Error, Result};
use crate::spec::{Arguments, Step};

/// Which function of the product or the difference.
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
        /// What is added to the product.
        coef0: f64,
    },
    /// tanh(gamma x·y + coef0), not positive definite in general.
    Sigmoid {
        /// What is added to the product.
        coef0: f64,
    },
}

/// A similarity of vectors, in single precision.
///
/// Without a `gamma` it is learned: 1 / mean ‖x − mean‖² over the training samples for RBF, polynomial and sigmoid,
/// 1 / mean ‖x − mean‖₁ for the Laplacian; for data of one spread a feature that is scikit-learn's `scale`.
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
    /// [`Error::UnknownName`] for a name that is not of this family, [`Error::Parameter`] for parameters it does not
    /// know or that are outside their domain.
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
        // Samples that are all alike have no scale: any will do.
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
                // |x − y| where one is 0 is the other: sparse rows need the shared features only.
                sum_over_features(bases, samples, block, |x, y| (x - y).abs() - x.abs() - y.abs())?;
                let (basis, sample) = (norms(bases, f64::abs), norms(samples, f64::abs));
                let n = bases.len();
                for (row, sample) in block.chunks_mut(n.max(1)).zip(&sample) {
                    for (d, basis) in row.iter_mut().zip(&basis) {
                        *d = (*d + (basis + sample) as f32).max(0.0);
                    }
                }
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

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

/// The gamma given, or none where it is to be learned.
fn gamma(arguments: &mut Arguments<'_>) -> Result<Option<f64>> {
    match arguments.text("gamma") {
        None | Some("scale") => Ok(None),
        Some(_) => arguments.positive("gamma", 1.0).map(Some),
    }
}

/// Σ_j f(x_j) of each row.
fn norms(vectors: &Vectors, f: impl Fn(f64) -> f64) -> Vec<f64> {
    fn sum(rows: &impl Rows, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let row = |row| {
            let mut sum = 0.0;
            rows.for_each_nonzero(row, |_, value| sum += f(value));
            sum
        };
        (0..rows.n_rows()).map(row).collect()
    }
    match vectors {
        Vectors::Dense(matrix) => matrix.view().map(|view| sum(&view, f)).unwrap_or_default(),
        Vectors::Sparse(matrix) => matrix.view().map(|view| sum(&view, f)).unwrap_or_default(),
    }
}

/// ‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y, about the bases' mean where rows are dense: far from the origin the difference
/// of large norms would leave nothing of a small distance.
fn squared_distances(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
    if let (Vectors::Dense(b), Vectors::Dense(s)) = (bases, samples)
        && b.n_cols == s.n_cols
        && b.n_rows > 0
    {
        let d = b.n_cols;
        let mut mean = vec![0.0f64; d];
        for row in b.values.chunks(d.max(1)) {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += f64::from(*value));
        }
        let mean: Vec<f32> = mean.iter().map(|sum| (sum / b.n_rows as f64) as f32).collect();
        let centred = |vectors: &crate::data::DenseMatrix<f32>| {
            let mut vectors = vectors.clone();
            for row in vectors.values.chunks_mut(d.max(1)) {
                row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
            }
            Vectors::Dense(vectors)
        };
        return distances_about_origin(&centred(b), &centred(s), block);
    }
    distances_about_origin(bases, samples, block)
}

fn distances_about_origin(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
    products(bases, samples, block)?;
    let (basis, sample) = (norms(bases, |v| v * v), norms(samples, |v| v * v));
    for (row, sample) in block.chunks_mut(bases.len().max(1)).zip(&sample) {
        for (product, basis) in row.iter_mut().zip(&basis) {
            *product = ((sample + basis - 2.0 * f64::from(*product)) as f32).max(0.0);
        }
    }
    Ok(())
}
