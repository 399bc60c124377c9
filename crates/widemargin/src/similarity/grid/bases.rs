//! Bases packed once, for comparison with several chunks of samples.

use super::matching::GridMatching;
use super::plan::Plan;
use crate::data::{Grids, Samples};
use crate::error::{Error, Result};
use crate::isa::Isa;

/// Bases packed for several similarities of the same grids, sharing common products of cells.
///
/// Packing costs as much as comparing the bases with some ten samples, and as much memory again.
///
/// A rigid similarity combined with deformable ones sums the products cell by cell, alone in one sum, so that its last
/// bits may differ between the two.
#[derive(Debug)]
pub(crate) struct PackedBases {
    similarities: Vec<GridMatching>,
    shape: [usize; 3],
    n_bases: usize,
    /// `None` if there is nothing to compare.
    plan: Option<Plan>,
}

impl PackedBases {
    pub fn new(similarities: &[GridMatching], bases: &Grids) -> PackedBases {
        Self::with(Isa::best(), similarities, bases)
    }

    /// The same with an instruction set of [`Isa::available`].
    pub(super) fn with(isa: Isa, similarities: &[GridMatching], bases: &Grids) -> PackedBases {
        let numbered: Vec<_> = similarities.iter().copied().enumerate().collect();
        PackedBases {
            similarities: similarities.to_vec(),
            shape: shape(bases),
            n_bases: bases.len(),
            plan: (!numbered.is_empty() && !bases.is_empty()).then(|| Plan::new(isa, &numbered, bases)),
        }
    }

    /// Fills one block, row-major samples × bases, for each similarity.
    ///
    /// # Errors
    /// [`Error::Similarity`] if bases and samples are grids of different shapes, [`Error::Shape`] for a wrong number or
    /// size of blocks.
    pub fn fill(&self, samples: &Grids, blocks: &mut [&mut [f32]]) -> Result<()> {
        let size = self.n_bases * samples.len();
        if blocks.len() != self.similarities.len() || blocks.iter().any(|block| block.len() != size) {
            return Err(Error::Shape {
                what: "blocks of grid similarities".into(),
                found: format!("{:?} values", blocks.iter().map(|block| block.len()).collect::<Vec<_>>()),
                expected: format!(
                    "{} blocks of {} samples × {} bases",
                    self.similarities.len(),
                    samples.len(),
                    self.n_bases
                ),
            });
        }
        let Some(first) = self.similarities.first() else { return Ok(()) };
        if size == 0 {
            return Ok(());
        }
        check_shapes(&first.to_string(), self.shape, shape(samples))?;
        if let Some(plan) = &self.plan {
            plan.fill(samples, blocks);
        }
        Ok(())
    }
}

/// Rejects grids of two shapes.
///
/// # Errors
/// [`Error::Similarity`].
pub(super) fn check_shapes(similarity: &str, bases: [usize; 3], samples: [usize; 3]) -> Result<()> {
    if bases == samples {
        return Ok(());
    }
    let ([r, c, d], [rows, cols, depth]) = (bases, samples);
    Err(Error::similarity(
        similarity,
        format!(
            "the bases are grids of {r} × {c} cells of {d} numbers, the samples of {rows} × {cols} cells of {depth}: \
             both must have one shape"
        ),
    ))
}

/// Rows, columns and numbers of a cell.
pub(super) fn shape(grids: &Grids) -> [usize; 3] {
    [grids.rows(), grids.cols(), grids.depth()]
}
