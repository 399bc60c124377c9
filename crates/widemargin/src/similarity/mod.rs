//! Similarities s(x, y), one file a family.

mod additive;

pub use additive::AdditiveKernel;
