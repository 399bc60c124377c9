//! The Canberra distance as a similarity: `canberra`, each feature by its own size.
//!
//! d(x, y) = Σ_j |x_j − y_j| / (|x_j| + |y_j|), where 0 / 0 is 0 (Lance and Williams 1967): between 0 and the number of
//! features, whatever their units. s = exp(−gamma d) is positive definite, since 1 − |x − y| / (|x| + |y|) is: it is
//! 2 min(|x|, |y|) / (|x| + |y|) for numbers of one sign, a product of the kernels min(|x|, |y|) and 1 / (|x| + |y|),
//! and 0 for others.

use super::definitions::sum;
use super::distances::{norms, sums_of_terms};
use super::exponential::exponentials;
use super::row::{Definite, Definition, Onnx, SimilarityRow, built};
use super::shared_features::{check_widths, sum_over_features};
use super::{Comparison, Similarity};
use crate::data::{Training, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

const CANBERRA: SimilarityRow = SimilarityRow {
    name: "canberra",
    class: "Canberra",
    samples: &["vectors"],
    formula: "exp(−gamma Σ |x_j − y_j| / (|x_j| + |y_j|))",
    about: "0 / 0 is 0.",
    parameters: &[Parameter::new("gamma", Values::POSITIVE, "Without one 1 / the number of features.").optional()],
    examples: &["canberra", "canberra:gamma=0.3"],
    definite: Definite::Positive,
    definition: Some(Definition::Vectors(|arguments, x, y| {
        let term = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).abs() / (x.abs() + y.abs()) };
        Ok((-arguments.value::<f64>("gamma")? * sum(x, y, term)).exp())
    })),
    onnx: Onnx::Expression("exp(-gamma * sum(ratio(abs(x - y), abs(x) + abs(y))))"),
    build: |step| built(Canberra::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[CANBERRA];

/// exp(−gamma d), d the Canberra distance, in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Canberra {
    gamma: Option<f64>,
    step: Step,
}

impl Canberra {
    /// The similarity of a spec such as `canberra` or `canberra:gamma=0.1`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`].
    pub fn from_step(step: &Step) -> Result<Self> {
        Ok(Canberra { gamma: CANBERRA.arguments(step)?.get("gamma")?, step: step.clone() })
    }

    fn gamma(&self) -> Result<f64> {
        self.gamma
            .ok_or_else(|| Error::similarity(self.spec(), "its gamma has not been learned yet: give one, or fit it"))
    }

    /// block\[sample\]\[basis\] = d.
    fn distances(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        check_widths(bases, samples)?;
        // Halves, whose sum does not overflow; 0 / 0 is 0.
        let term = |x: f32, y: f32| (0.5 * x - 0.5 * y).abs() / (0.5 * x.abs() + 0.5 * y.abs()).max(f32::MIN_POSITIVE);
        if let (Vectors::Dense(bases), Vectors::Dense(samples)) = (bases, samples) {
            sums_of_terms(bases, samples, block, term);
            return Ok(());
        }
        // A feature of one vector alone counts 1; the excess is that of features of both.
        let excess = |x: f32, y: f32| if x == 0.0 || y == 0.0 { 0.0 } else { 2.0 - term(x, y) };
        sum_over_features(bases, samples, block, excess)?;
        let [of_bases, of_samples] = [bases, samples].map(|vectors| norms(vectors, |_| 1.0));
        for (row, of_sample) in block.chunks_mut(of_bases.len().max(1)).zip(of_samples) {
            row.iter_mut().zip(&of_bases).for_each(|(d, of_basis)| *d = (of_sample + of_basis - f64::from(*d)) as f32);
        }
        Ok(())
    }
}

impl Similarity for Canberra {
    type Samples = Vectors;

    fn spec(&self) -> String {
        self.step.to_string()
    }

    fn fit(&mut self, training: &Training<'_, Vectors>) -> Result<()> {
        if self.gamma.is_none() {
            let gamma = 1.0 / training.samples.chunk(0..1)?.n_cols().max(1) as f64;
            self.gamma = Some(gamma);
            self.step.set("gamma", gamma);
        }
        Ok(())
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        let gamma = self.gamma()?;
        Self::distances(bases, samples, block)?;
        exponentials(-gamma as f32, block);
        Ok(())
    }

    fn kernel_distances(&self, _part: usize, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<bool> {
        let gamma = self.gamma()?;
        Self::distances(bases, samples, block)?;
        block.iter_mut().for_each(|d| *d = (-2.0 * (-gamma * f64::from(*d)).exp_m1()) as f32);
        Ok(true)
    }

    fn comparison(&self, _part: usize, basis: &Vectors, sample: &Vectors) -> Result<Option<Comparison>> {
        let term = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).abs() / (x.abs() + y.abs()) };
        Comparison::of_columns("Canberra distance", basis, sample, term).map(Some)
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}
