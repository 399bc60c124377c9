//! From a raw sample to the vector a similarity is given.

mod feature_range;

pub use feature_range::{FeatureMax, largest_values};
