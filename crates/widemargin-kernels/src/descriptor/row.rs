//! The row of a descriptor, its metadata in one place: see `similarity/row.rs`.

use super::Descriptor;
use crate::data::{AnySamples, DenseMatrix, Kind};
use crate::error::{Error, Result};
use crate::memory;
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

/// A row of `n_cols` numbers for each of `n_rows` samples, set by `describe`; the message on too many of them calls the
/// numbers and the samples by these names, and ends with the advice.
///
/// # Errors
/// [`Error::Memory`].
pub(super) fn rows_of(
    [n_rows, n_cols]: [usize; 2],
    [numbers, samples]: [&str; 2],
    advice: &'static str,
    mut describe: impl FnMut(usize, &mut [f32]),
) -> Result<DenseMatrix<f32>> {
    let needed = memory::product(&[size_of::<f32>(), n_rows, n_cols]);
    memory::check(needed, || format!("the {n_cols} {numbers} of {n_rows} {samples}"), advice)?;
    let mut values = vec![0.0; n_rows * n_cols];
    values.chunks_exact_mut(n_cols).enumerate().for_each(|(at, out)| describe(at, out));
    Ok(DenseMatrix { values, n_rows, n_cols })
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

/// The kinds of samples that a descriptor takes and gives, what it does for messages, and how it makes the one from the
/// other.
macro_rules! converts {
    ($from:ty => $to:ident, $does:literal, |$descriptor:ident, $samples:ident| $made:expr) => {
        fn takes(&self) -> &'static [&'static str] {
            <$from as crate::data::Kind>::TAKES
        }

        fn gives(&self, _kind: &'static str) -> &'static str {
            <crate::data::$to as crate::data::Kind>::NAME
        }

        fn describe(&self, samples: crate::data::AnySamples) -> crate::Result<crate::data::AnySamples> {
            let ($descriptor, $samples) =
                (self, crate::descriptor::row::of_kind::<$from>(&self.spec(), $does, samples)?);
            Ok(crate::data::AnySamples::$to($made))
        }
    };
}

/// What descriptors share that are fitted to samples of one kind and give vectors, with an array in `state` for each name
/// in `STATE`: the kind, what they do for messages, and the names of their own functions.
macro_rules! fitted {
    ($kind:ty, $does:literal, fit: $fit:ident, vectors: $form:ident($vectors:ident), restore: $restore:ident) => {
        crate::descriptor::row::converts!($kind => Vectors, $does, |descriptor, samples| {
            crate::data::Vectors::$form(descriptor.$vectors(&samples)?)
        });

        fn fit(&mut self, training: &crate::data::Training<'_, crate::data::AnySamples>) -> crate::Result<()> {
            let spec = self.spec();
            let map = |samples| crate::descriptor::row::of_kind::<$kind>(&spec, $does, samples);
            self.$fit(&training.of(&crate::data::Mapped { source: training.samples, map }))
        }

        fn state(&self) -> Vec<(&'static str, &[f32])> {
            STATE.into_iter().zip(self.state.iter().map(Vec::as_slice)).collect()
        }

        fn restore(&mut self, state: &mut dyn FnMut(&str) -> crate::Result<Vec<f32>>) -> crate::Result<()> {
            let mut arrays = [const { Vec::new() }; STATE.len()];
            for (array, name) in arrays.iter_mut().zip(STATE) {
                *array = state(name)?;
            }
            self.$restore(arrays)
        }
    };
}
pub(super) use {converts, fitted};
