//! Transformations of samples that precede a similarity.

mod channel_sets;
pub(crate) mod colors;
mod convolved;
pub(crate) mod derivative;
pub(crate) mod hog;
pub(crate) mod hydra;
pub(crate) mod minirocket;
mod moments;
pub(crate) mod ngrams;
pub(crate) mod normal_scores;
pub(crate) mod phog;
pub(crate) mod pixels;
pub(crate) mod resize;
mod row;
pub(crate) mod scaling;
mod term_columns;
pub(crate) mod tfidf;
pub mod weisfeiler_lehman;
pub(crate) mod znorm;

use std::collections::BTreeMap;

use crate::data::{AnySamples, Training};
use crate::error::Result;

pub use colors::Colors;
pub use derivative::Derivative;
pub use hog::Hog;
pub use hog::near_multiple;
pub use hydra::Hydra;
pub use minirocket::MiniRocket;
pub use moments::Spread;
pub(crate) use moments::spread;
pub use ngrams::NGrams;
pub use normal_scores::NormalScores;
pub use phog::Phog;
pub use pixels::Pixels;
pub use resize::Resize;
pub use row::DescriptorRow;
pub use scaling::{Scaler, Scaling};
pub use tfidf::{TermsBy, Tfidf};
pub use weisfeiler_lehman::WeisfeilerLehman;
pub use znorm::ZNorm;

/// A transformation that precedes a similarity: it changes samples of one kind, or converts them to another.
pub trait Descriptor: Send + Sync {
    /// Its name with its parameters, such as `hog:cell=8`.
    fn spec(&self) -> String;

    /// The kinds of samples it accepts, named as by [`AnySamples::kind`], the primary one first.
    fn takes(&self) -> &'static [&'static str];

    /// The kind it produces from one of those.
    fn gives(&self, kind: &'static str) -> &'static str {
        kind
    }

    /// Transforms samples.
    ///
    /// # Errors
    /// Samples it does not accept, with the index of the first and the expected form.
    fn describe(&self, samples: AnySamples) -> Result<AnySamples>;

    /// Whether each column of its output is the same column of the samples, changed or not.
    fn keeps_columns(&self) -> bool {
        false
    }

    /// The terms of these strings by their column in its output; `None` where columns are not terms.
    fn terms(&self, _strings: &[String]) -> Option<BTreeMap<usize, String>> {
        None
    }

    /// Learns its parameters from the training samples. Most descriptors have none.
    ///
    /// # Errors
    /// As for [`Descriptor::describe`].
    fn fit(&mut self, _training: &Training<'_, AnySamples>) -> Result<()> {
        Ok(())
    }

    /// The learned parameters by name, for the model file.
    fn state(&self) -> Vec<(&'static str, &[f32])> {
        Vec::new()
    }

    /// Restores the parameters returned by [`Descriptor::state`].
    ///
    /// # Errors
    /// Missing or inconsistent parameters.
    fn restore(&mut self, _state: &mut dyn FnMut(&str) -> Result<Vec<f32>>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
fn of<D>(spec: &str, from_step: impl Fn(&crate::spec::Step) -> Result<D>) -> Result<D> {
    let spec: crate::spec::Spec = spec.parse()?;
    from_step(&spec.steps[0])
}
