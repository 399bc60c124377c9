//! Borrowed samples whose form is known only when the program runs.

use std::ops::Range;

use super::{AnySamples, CsrView, DenseView, FarVectors, Offsets, Rows, Source, VectorSource};
use crate::error::{Error, Result};

/// Rows of numbers, dense or sparse, in single or double precision.
#[derive(Clone, Copy, Debug)]
pub enum AnyRows<'a> {
    /// Dense rows in single precision.
    DenseF32(DenseView<'a, f32>),
    /// Dense rows in double precision.
    DenseF64(DenseView<'a, f64>),
    /// Sparse rows in single precision.
    SparseF32(CsrView<'a, f32>),
    /// Sparse rows in double precision.
    SparseF64(CsrView<'a, f64>),
    /// Dense rows with columns far from 0.
    Far(&'a FarVectors),
}

/// Evaluates an expression on the rows, whatever their form.
macro_rules! on_rows {
    ($any:expr, $rows:ident => $body:expr) => {
        match $any {
            AnyRows::DenseF32($rows) => $body,
            AnyRows::DenseF64($rows) => $body,
            AnyRows::SparseF32($rows) => $body,
            AnyRows::SparseF64($rows) => $body,
            AnyRows::Far($rows) => $body,
        }
    };
}

impl Rows for AnyRows<'_> {
    fn n_rows(&self) -> usize {
        on_rows!(self, rows => rows.n_rows())
    }

    fn n_cols(&self) -> usize {
        on_rows!(self, rows => rows.n_cols())
    }

    #[inline]
    fn for_each_nonzero(&self, row: usize, visit: impl FnMut(usize, f64)) {
        on_rows!(self, rows => rows.for_each_nonzero(row, visit))
    }

    fn prefetch(&self, row: usize) {
        on_rows!(self, rows => rows.prefetch(row))
    }

    fn max_nonzeros(&self) -> usize {
        on_rows!(self, rows => rows.max_nonzeros())
    }

    fn is_sparse(&self) -> bool {
        on_rows!(self, rows => rows.is_sparse())
    }
}

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
            SamplesView::Other(other) => {
                Err(Error::Kind { found: other.kind(), method: method.to_owned(), wanted: "vectors" })
            }
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

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        self.on_source(|source| source.chunk(rows))
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        self.on_source(|source| source.select(rows))
    }

    fn needed_offsets(&self, weights: &[f64]) -> Result<Option<Offsets>> {
        self.on_source(|source| source.needed_offsets(weights))
    }

    fn chunk_about(&self, rows: Range<usize>, offsets: &Offsets) -> Result<AnySamples> {
        self.on_source(|source| source.chunk_about(rows, offsets))
    }

    fn select_about(&self, rows: &[usize], offsets: &Offsets) -> Result<AnySamples> {
        self.on_source(|source| source.select_about(rows, offsets))
    }

    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        self.on_source(|source| source.fingerprints(rows))
    }
}

macro_rules! from_view {
    ($($view:ty => $variant:ident),*) => {$(
        impl<'a> From<$view> for AnyRows<'a> {
            fn from(view: $view) -> Self {
                AnyRows::$variant(view)
            }
        }

        impl<'a> From<$view> for SamplesView<'a> {
            fn from(view: $view) -> Self {
                SamplesView::Rows(view.into())
            }
        }
    )*};
}
from_view!(
    DenseView<'a, f32> => DenseF32, DenseView<'a, f64> => DenseF64,
    CsrView<'a, f32> => SparseF32, CsrView<'a, f64> => SparseF64
);

impl<'a> From<&'a AnySamples> for SamplesView<'a> {
    fn from(samples: &'a AnySamples) -> Self {
        SamplesView::Other(samples)
    }
}
