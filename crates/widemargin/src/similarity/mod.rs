//! Similarities s(x, y), one file a family.

mod additive;
mod conditional;
mod polynomial;

pub use additive::AdditiveKernel;
pub use conditional::ConditionalKernel;
pub(crate) use polynomial::PolynomialSpace;
