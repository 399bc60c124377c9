//! Borrowed samples whose form is known only when the program runs.

use super::{AnyRows, AnySamples, Offsets, Source, VectorSource};
use crate::error::{Error, Result};

/// Samples of any kind: vectors as rows of numbers in the caller's precision, others as a collection.
///
/// It is a [`Source`] for similarities that take [`AnySamples`]; methods on vectors alone take its
/// [`rows`](SamplesView::rows).
#[derive(Clone, Copy, Debug)]
pub enum SamplesView<'a> {
    /// Vectors.
    Rows(AnyRows<'a>),
    /// Samples of another kind, or vectors in single precision.
    Other(&'a AnySamples),
}

impl<'a> SamplesView<'a> {
    /// The kind of the samples, as messages name it.
    #[doc(hidden)]
    pub fn kind(&self) -> &'static str {
        match self {
            SamplesView::Rows(_) => "vectors",
            SamplesView::Other(samples) => samples.kind(),
        }
    }

    /// The samples as rows of numbers, for a method that compares vectors; messages call it `method`.
    ///
    /// # Errors
    /// [`Error::Kind`] for samples of another kind.
    pub fn rows(&self, method: &str) -> Result<AnyRows<'a>> {
        match self {
            SamplesView::Rows(rows) => Ok(*rows),
            SamplesView::Other(AnySamples::Vectors(vectors)) => vectors.view(),
            SamplesView::Other(AnySamples::Far(vectors)) => Ok(AnyRows::Far(vectors)),
            _ => Err(Error::Kind { found: self.kind(), method: method.to_owned(), wanted: "vectors" }),
        }
    }

    /// Runs `work` on the samples as a source.
    fn on_source<T>(&self, work: impl FnOnce(&dyn Source<Samples = AnySamples>) -> T) -> T {
        match self {
            SamplesView::Rows(rows) => work(&VectorSource(rows)),
            SamplesView::Other(samples) => work(*samples),
        }
    }
}

impl Source for SamplesView<'_> {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.on_source(|source| source.n_samples())
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        self.on_source(|source| source.select(rows))
    }

    fn needed_offsets(&self, weights: &[f64]) -> Result<Option<Offsets>> {
        self.on_source(|source| source.needed_offsets(weights))
    }

    fn select_about(&self, rows: &[usize], offsets: &Offsets) -> Result<AnySamples> {
        self.on_source(|source| source.select_about(rows, offsets))
    }

    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        self.on_source(|source| source.fingerprints(rows))
    }
}

impl<'a, V: Into<AnyRows<'a>>> From<V> for SamplesView<'a> {
    fn from(view: V) -> Self {
        SamplesView::Rows(view.into())
    }
}

impl<'a> From<&'a AnySamples> for SamplesView<'a> {
    fn from(samples: &'a AnySamples) -> Self {
        SamplesView::Other(samples)
    }
}
