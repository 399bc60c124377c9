//! From a raw sample to what a similarity is given.

mod feature_range;
pub(crate) mod hog;
mod moments;
pub(crate) mod ngrams;
mod row;
pub(crate) mod scaling;
pub(crate) mod znorm;

use crate::data::{AnySamples, Training};
use crate::error::Result;

pub use feature_range::{FeatureMax, largest_values};
pub use hog::Hog;
pub use moments::Spread;
pub(crate) use moments::spread;
pub use ngrams::NGrams;
pub use row::DescriptorRow;
pub use scaling::{Scaler, Scaling};
pub use znorm::ZNorm;

/// A step before a similarity: samples of one kind become samples of another, or the same kind changed.
pub trait Descriptor: Send + Sync {
    /// Its name with its parameters, such as `hog:cell=8`.
    fn spec(&self) -> String;

    /// The kinds of samples it takes, named as [`AnySamples::kind`] does, what it is made for first.
    fn takes(&self) -> &'static [&'static str];

    /// The kind that it makes of one of those.
    fn gives(&self, kind: &'static str) -> &'static str {
        kind
    }

    /// Turns samples into what comes next.
    ///
    /// # Errors
    /// Samples it cannot describe, saying which and what would be right.
    fn describe(&self, samples: AnySamples) -> Result<AnySamples>;

    /// Learns from the training samples what it needs. Most need nothing.
    ///
    /// # Errors
    /// As for [`Descriptor::describe`].
    fn fit(&mut self, _training: &Training<'_, AnySamples>) -> Result<()> {
        Ok(())
    }

    /// What it has learned, by name, for the model file.
    fn state(&self) -> Vec<(&'static str, &[f32])> {
        Vec::new()
    }

    /// Takes back what [`Descriptor::state`] gave.
    ///
    /// # Errors
    /// Numbers that are missing or do not fit each other.
    fn restore(&mut self, _state: &mut dyn FnMut(&str) -> Result<Vec<f32>>) -> Result<()> {
        Ok(())
    }
}
