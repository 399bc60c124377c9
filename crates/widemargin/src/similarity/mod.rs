//! Similarities s(x, y), one file a family.

mod additive;
mod conditional;
mod polynomial;
mod spec;
mod traits;

pub use additive::AdditiveKernel;
pub use conditional::ConditionalKernel;
pub(crate) use polynomial::PolynomialSpace;
pub use spec::{Arguments, Spec, Step};
pub use traits::{Similarity, Training, pairwise};
