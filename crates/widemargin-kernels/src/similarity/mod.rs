//! Similarities s(x, y), one file per family.

mod additive;
mod alignment;
mod any;
mod comparison;
mod conditional;
mod distances;
mod earth_mover;
mod exponential;
mod features;
mod gappy;
pub(crate) mod grid;
mod mismatch;
mod ngram;
mod own_kernel;
mod part_options;
mod polynomial;
mod precomputed;
mod radial;
mod row;
#[cfg(test)]
mod sequence_tests;
mod series;
mod set;
mod shared_features;
mod subsequence;
mod term_index;
mod text;
mod traits;
mod vector;

#[cfg(test)]
#[path = "../../tests/definitions/mod.rs"]
mod definitions;

pub use additive::AdditiveKernel;
pub use alignment::Alignment;
pub use any::AnySimilarity;
pub use comparison::{CellMatch, Comparison, PathStep, Pieces};
pub use conditional::ConditionalKernel;
pub use earth_mover::EarthMover;
pub use features::Features;
pub use gappy::Gappy;
pub use grid::GridMatching;
pub use mismatch::Mismatch;
pub use ngram::NGram;
pub use own_kernel::OwnKernel;
pub use precomputed::Precomputed;
pub use series::Dtw;
pub use set::SetMeasure;
pub use text::Edit;
pub use traits::{Similarity, pairwise};
pub use vector::VectorSimilarity;
#[doc(hidden)]
pub use {
    crate::parameters::Arguments, crate::parameters::DefaultValue, crate::parameters::Parameter,
    crate::parameters::Values, crate::spec::Spec, crate::spec::Step, any::descriptor_rows, any::keeps_columns,
    any::similarity_rows, comparison::ColumnMeaning, grid::LatentMatching, own_kernel::ScalarKernel,
    part_options::PartOptions, polynomial::PolynomialSpace, row::Definite, row::Onnx, row::SimilarityRow,
    traits::Extension, traits::Metadata,
};
