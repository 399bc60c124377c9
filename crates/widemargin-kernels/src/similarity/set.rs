//! Similarities of sets and of counts: `tanimoto` and `cosine`.
//!
//! | | sets x, y | counts x, y |
//! |---|---|---|
//! | `tanimoto` | \|x ∩ y\| / \|x ∪ y\| | x·y / (x·x + y·y − x·y) |
//! | `cosine` | \|x ∩ y\| / √(\|x\| \|y\|) | x·y / √(x·x · y·y) |
//!
//! On vectors of 0 and 1 the columns agree. Tanimoto (Rogers and Tanimoto 1960; Jaccard 1901 on sets) is the usual
//! measure for molecules; the form with products is the usual one for counts (Willett, Barnard and Downs, *Chemical
//! similarity searching*, 1998, table 1). Both are positive semi-definite (Ralaivola et al. 2005) and 1 on the
//! diagonal: two empty sets are equal, so their similarity is 1.

mod bits;
mod counts;

use num_traits::Float;

use super::any::kernel::{AnyKernel, other_kind};
use super::row::{Definite, Onnx, SimilarityRow, arguments_among};
use super::{Comparison, Extension, Similarity};
use crate::data::{AnySamples, BitSets, Grids, Kind, Vectors};
use crate::error::Result;
use crate::spec::Step;

const COSINE: SimilarityRow = SimilarityRow {
    name: "cosine",
    class: "Cosine",
    samples: &["bit sets", "vectors"],
    parameters: &[],
    examples: &[],
    definite: Definite::Positive,
    onnx: Onnx::Expression("cosine"),
    build: |step| Ok(Box::new(SetMeasure::from_step(step)?)),
};

pub(super) const ROWS: &[SimilarityRow] =
    &[COSINE, SimilarityRow { name: "tanimoto", class: "Tanimoto", onnx: Onnx::Expression("tanimoto"), ..COSINE }];

/// The similarity of sets, and of counts or any vectors, by the table above: `tanimoto` or `cosine`.
#[derive(Clone, Debug, PartialEq)]
pub struct SetMeasure {
    is_cosine: bool,
    step: Step,
}

/// x·y / (x·x + y·y − x·y): from 0 to 1 for counts, and at least −1/3 for any vectors.
fn tanimoto<T: Float>(xy: T, xx: T, yy: T) -> T {
    // Of sets of up to 2²⁴ elements every number here is an exact integer, so that the order of x and y does not matter.
    let either = xx + yy - xy;
    if either > T::zero() { xy / either } else { T::one() }
}

/// x·y / √(x·x · y·y), of sets also named after Ochiai: from 0 to 1 for counts, from −1 for any vectors.
fn cosine<T: Float>(xy: T, xx: T, yy: T) -> T {
    let size = (xx * yy).sqrt();
    match size > T::zero() {
        true => xy / size,
        // 0 if exactly one set is empty.
        false if xx == yy => T::one(),
        false => T::zero(),
    }
}

impl SetMeasure {
    /// The similarity of a step `tanimoto` or `cosine`, which have no parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a parameter, and
    /// [`Error::UnknownName`](crate::Error::UnknownName) for another name.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        arguments_among(ROWS, "similarity of sets", step)?;
        Ok(SetMeasure { is_cosine: step.name() == COSINE.name, step: step.clone() })
    }
}

impl AnyKernel for SetMeasure {
    fn takes(&self) -> &'static [&'static str] {
        &[BitSets::NAME, Vectors::NAME, Grids::NAME]
    }
}

impl Similarity for SetMeasure {
    type Samples = AnySamples;

    crate::macros::symmetric_step!();

    fn describe(&self, samples: AnySamples) -> Result<AnySamples> {
        if let AnySamples::BitSets(_) = samples {
            return Ok(samples);
        }
        let other = |met| other_kind(&self.spec(), Vectors::NAME, "; bit sets would do as well", &met);
        Vectors::from_any(samples).map(AnySamples::Vectors).map_err(other)
    }

    fn block(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<()> {
        match (bases, samples) {
            (AnySamples::BitSets(bases), AnySamples::BitSets(samples)) => match self.is_cosine {
                true => bits::fill(&self.spec(), bases, samples, block, cosine),
                false => bits::fill(&self.spec(), bases, samples, block, tanimoto),
            },
            (AnySamples::Vectors(bases), AnySamples::Vectors(samples)) => match self.is_cosine {
                true => counts::fill(bases, samples, block, cosine),
                false => counts::fill(bases, samples, block, tanimoto),
            },
            (bases, AnySamples::BitSets(_)) => Err(other_kind(&self.spec(), BitSets::NAME, "", bases)),
            (AnySamples::Vectors(_), met) | (met, _) => Err(other_kind(&self.spec(), Vectors::NAME, "", met)),
        }
    }

    fn extension(&self, _part: usize, bases: &AnySamples, samples: &AnySamples, wanted: Extension<'_>) -> Result<bool> {
        let (Extension::Distances(block), AnySamples::Vectors(bases), AnySamples::Vectors(samples)) =
            (wanted, bases, samples)
        else {
            return Ok(false);
        };
        counts::fill_distances(self.is_cosine, bases, samples, block);
        Ok(true)
    }

    fn comparison(&self, _part: usize, basis: &AnySamples, sample: &AnySamples) -> Result<Option<Comparison>> {
        match (basis, sample) {
            (AnySamples::BitSets(x), AnySamples::BitSets(y)) => Ok(Some(bits::comparison(x, y))),
            (AnySamples::Vectors(x), AnySamples::Vectors(y)) => {
                Comparison::of_columns("product", x, y, |x, y| x * y).map(Some)
            }
            _ => Ok(None),
        }
    }
}
