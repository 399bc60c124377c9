//! The row of a descriptor, its metadata in one place: see `similarity/row.rs`.

use super::Descriptor;
use crate::data::{AnySamples, Kind};
use crate::error::{Error, Result};
use crate::parameters::{Arguments, Parameter};
use crate::spec::Step;

/// A descriptor by its name.
#[derive(Clone, Copy, Debug)]
pub struct DescriptorRow {
    /// Its name in specs.
    pub name: &'static str,
    /// The name of its Python class.
    pub class: &'static str,
    /// The kinds of samples it is made for, the preferred first.
    pub samples: &'static [&'static str],
    /// Its output, in one line.
    pub formula: &'static str,
    /// Notes, in sentences.
    pub about: &'static str,
    /// Its parameters, in the order of the Python class.
    pub parameters: &'static [Parameter],
    /// A similarity that usually follows it.
    pub usual: &'static str,
    pub(crate) build: Build,
}

pub(crate) type Build = fn(&Step) -> Result<Vec<Box<dyn Descriptor>>>;

/// Samples as the kind that a descriptor takes; `does` is what it does with them, for messages.
///
/// # Errors
/// [`Error::Similarity`] for samples of another kind.
pub(super) fn of_kind<K: Kind>(spec: &str, does: &str, samples: AnySamples) -> Result<K> {
    K::from_any(samples).map_err(|met| Error::similarity(spec, format!("it {does}, not {}", met.kind())))
}

impl DescriptorRow {
    /// The parameters of a step.
    ///
    /// # Errors
    /// As for [`Arguments::read`].
    pub fn arguments<'a>(&self, step: &'a Step) -> Result<Arguments<'a>> {
        Arguments::read(step, self.name, self.parameters)
    }
}
