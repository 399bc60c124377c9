//! Similarities of grids of cells with displacements: rigid and deformable matching, and matching with any base.
//!
//! Aghazadeh and Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*,
//! eq. 7, 11 and 12. With φ_c(x) cell c of a grid, and zero outside the grid,
//!
//! - rigid: s(x, y) = max over shifts z of Σ_c φ_c(x) · φ_{c+z}(y);
//! - deformable: s(x, y) = max over shifts z of Σ_c max over u of φ_c(x) · φ_{c+z+u}(y).
//!
//! `plan` packs a set of bases for such similarities, and determines and computes the products of cells that they need, `pack` lays out the cells for that, `tile` holds the two hot loops, `kernels` compiles them for each
//! instruction set. `latent` is matching in general, eq. 7, and the jitter kernel: `shifts` displaces whole grids,
//! `base` compares them, `fields` displaces neighboring cells alike.

mod base;
mod displacement;
mod fields;
mod kernels;
mod latent;
mod matching;
mod plan;
mod shifts;
mod tile;

use super::{Comparison, Similarity};
use crate::data::Grids;
use crate::error::Result;

pub use latent::LatentMatching;
pub(super) use latent::ROWS as LATENT_ROWS;
pub use matching::GridMatching;
pub(super) use matching::ROWS;
pub(crate) use plan::PackedBases;

impl Similarity for GridMatching {
    type Samples = Grids;

    fn spec(&self) -> String {
        self.to_string()
    }

    fn seconds_per_pair(&self, bases: &Grids) -> f64 {
        // At 100 GFLOP/s, the speed of a core with wide vectors.
        self.useful_flops(bases.rows(), bases.cols(), bases.depth()) as f64 / 100e9
    }

    fn block(&self, bases: &Grids, samples: &Grids, block: &mut [f32]) -> Result<()> {
        PackedBases::new(&[*self], bases).fill(samples, &mut [block])
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        // A shift of one grid is the opposite shift of the other; a single cell's displacement has no such counterpart.
        self.local() == 0
    }

    fn comparison(&self, _part: usize, basis: &Grids, sample: &Grids) -> Result<Option<Comparison>> {
        Ok(displacement::best(self, basis, sample))
    }
}

#[cfg(test)]
mod tests;
