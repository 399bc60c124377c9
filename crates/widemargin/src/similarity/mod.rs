//! Similarities s(x, y), one file per family.

mod additive;
mod alignment;
mod any;
mod canberra;
mod conditional;
mod definitions;
mod distances;
mod exponential;
mod expression;
pub(crate) mod grid;
mod ngram;
mod own_kernel;
mod part_options;
mod polynomial;
mod precomputed;
mod radial;
mod row;
mod scalar_function;
#[cfg(test)]
mod sequence_tests;
mod series;
mod set;
mod shared_features;
mod subsequence;
mod text;
mod traits;
mod vector;

pub use crate::parameters::{Arguments, DefaultValue, Parameter, Values};
pub use crate::spec::{Spec, Step};
pub use additive::AdditiveKernel;
pub use alignment::Alignment;
pub use any::{AnySimilarity, default_spec, descriptor_rows, similarity_rows};
pub use conditional::ConditionalKernel;
pub use grid::{GridMatching, LatentMatching};
pub use ngram::NGram;
pub use own_kernel::{OwnKernel, ScalarKernel};
pub use part_options::PartOptions;
pub(crate) use polynomial::PolynomialSpace;
pub use precomputed::Precomputed;
pub use row::{Definite, Definition, Onnx, SimilarityRow};
pub use scalar_function::ScalarFunction;
pub use series::Dtw;
pub use set::{CountCosine, CountTanimoto, SetCosine, Tanimoto};
pub use text::{Edit, EditMetric};
pub use traits::{Similarity, pairwise};
pub use vector::{VectorKernel, VectorSimilarity};
