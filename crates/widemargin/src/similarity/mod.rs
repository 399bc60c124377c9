//! Similarities s(x, y), one file a family.

mod additive;
mod any;
mod conditional;
mod exponential;
mod polynomial;
mod precomputed;
mod shared_features;
#[cfg(test)]
mod sequence_tests;
mod spec;
mod text;
mod traits;
mod vector;

pub use additive::AdditiveKernel;
pub use any::{AnySimilarity, default_spec, descriptor_names, similarity_names};
pub use conditional::ConditionalKernel;
pub(crate) use polynomial::PolynomialSpace;
pub use precomputed::Precomputed;
pub use spec::{Arguments, Spec, Step};
pub use traits::{Similarity, pairwise};
pub use vector::{VectorKernel, VectorSimilarity};
pub use text::{Edit, EditMetric};
pub use traits::{Similarity, Training, pairwise};
