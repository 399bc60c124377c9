//! A similarity whose kind of samples is known only at run time.

use std::any::Any;

use crate::data::{AnySamples, Kind, Mapped, Training, Vectors};
use crate::error::{Error, Result};
use crate::similarity::{Comparison, Extension, Metadata, Similarity};

/// A part of [`super::AnySimilarity`]: a similarity of one kind of samples, which it is asked for as any kind.
pub(in crate::similarity) trait AnyKernel: Similarity<Samples = AnySamples> + Any {
    /// The kinds of samples that it compares or converts, the preferred one first.
    fn takes(&self) -> &'static [&'static str];

    /// A copy before the fit, if it is user-defined.
    fn unfitted_own(&self) -> Option<Box<dyn AnyKernel>> {
        None
    }
}

/// A similarity of a known kind of samples.
pub(in crate::similarity) struct Typed<S>(pub S);

impl<S: Similarity<Samples: Kind>> Typed<S> {
    fn samples<'a>(&self, samples: &'a AnySamples) -> Result<&'a S::Samples> {
        S::Samples::of(samples).ok_or_else(|| other_kind(&self.0.spec(), S::Samples::NAME, "", samples))
    }
}

impl<S: Similarity<Samples: Kind> + 'static> AnyKernel for Typed<S> {
    fn takes(&self) -> &'static [&'static str] {
        S::Samples::TAKES
    }

    fn unfitted_own(&self) -> Option<Box<dyn AnyKernel>> {
        Some(Box::new(Typed(self.0.unfitted()?)))
    }
}

impl<S: Similarity<Samples: Kind>> Similarity for Typed<S> {
    type Samples = AnySamples;

    fn spec(&self) -> String {
        self.0.spec()
    }

    /// Converts samples to the kind it compares, if possible. Vectors far from 0 become their differences from the
    /// offsets, where it depends on nothing else.
    fn describe(&self, samples: AnySamples) -> Result<AnySamples> {
        Ok(typed::<S>(&self.0.spec(), self.0.metadata().depends_on_differences, samples)?.into_any())
    }

    fn fit(&mut self, training: &Training<'_, AnySamples>) -> Result<()> {
        // Computed before `fit` borrows the similarity mutably.
        let (spec, has_differences) = (self.0.spec(), self.0.metadata().depends_on_differences);
        let source = Mapped { source: training.samples, map: |samples| typed::<S>(&spec, has_differences, samples) };
        self.0.fit(&training.of(&source))
    }

    fn block(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<()> {
        self.0.block(self.samples(bases)?, self.samples(samples)?, block)
    }

    fn extension(&self, part: usize, bases: &AnySamples, samples: &AnySamples, wanted: Extension<'_>) -> Result<bool> {
        self.0.extension(part, self.samples(bases)?, self.samples(samples)?, wanted)
    }

    fn seconds_per_pair(&self, bases: &AnySamples) -> f64 {
        S::Samples::of(bases).map_or(0.0, |bases| self.0.seconds_per_pair(bases))
    }

    fn n_columns(&self, bases: &AnySamples) -> usize {
        S::Samples::of(bases).map_or(0, |bases| self.0.n_columns(bases))
    }

    fn metadata(&self) -> Metadata {
        self.0.metadata()
    }

    fn is_symmetric(&self, part: usize) -> bool {
        self.0.is_symmetric(part)
    }

    fn comparison(&self, part: usize, basis: &AnySamples, sample: &AnySamples) -> Result<Option<Comparison>> {
        self.0.comparison(part, self.samples(basis)?, self.samples(sample)?)
    }
}

fn typed<S: Similarity<Samples: Kind>>(spec: &str, has_differences: bool, samples: AnySamples) -> Result<S::Samples> {
    let samples = match samples {
        AnySamples::Far(vectors) if has_differences => AnySamples::Vectors(Vectors::Dense(vectors.differences)),
        samples => samples,
    };
    S::Samples::from_any(samples).map_err(|met| other_kind(spec, S::Samples::NAME, "", &met))
}

/// The error that a similarity does not compare these samples; `also` is what else it compares.
pub(in crate::similarity) fn other_kind(spec: &str, wanted: &str, also: &str, met: &AnySamples) -> Error {
    let hint = match (wanted, met) {
        ("vectors" | "grids of cells", AnySamples::Images(_)) => {
            format!(" (put a descriptor before it: hog:cell=8/{spec})")
        }
        ("vectors", AnySamples::Strings(_)) => {
            format!(" (edit, align and ngram compare strings, and ngram-counts/{spec} their parts)")
        }
        ("bit sets", AnySamples::Strings(_)) => format!(" (put a descriptor before it: ngrams/{spec})"),
        ("time series", AnySamples::Vectors(Vectors::Sparse(_))) => " (rows of a dense array would do)".to_owned(),
        (_, AnySamples::Series(_)) => " (dtw compares time series)".to_owned(),
        _ => String::new(),
    };
    Error::similarity(spec, format!("it compares {wanted}, not {}{also}{hint}", met.kind()))
}
