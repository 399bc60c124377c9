//! Vector samples with their weights, for statistics that are computed before there is a model.

use std::fmt;
use std::ops::Range;

use super::query::{Executor, Kind, Query, add};
use crate::data::{AnySamples, Kind as _, Rows, Source, Vectors};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;

/// Samples with their weights.
#[derive(Clone, Copy, Debug)]
pub struct SampleRows;

impl Kind for SampleRows {
    type Part<'p> = SamplePart<'p>;

    const NAME: &'static str = "samples";
}

/// Some samples, of any layout; those of weight 0 are absent.
#[derive(Clone, Copy)]
pub struct SamplePart<'p> {
    rows: &'p dyn AnyRows,
    /// One number a sample.
    pub weights: &'p [f64],
}

impl<'p> SamplePart<'p> {
    /// `weights` has one number a row.
    pub fn new(rows: &'p impl Rows, weights: &'p [f64]) -> Self {
        SamplePart { rows, weights }
    }

    /// The samples.
    pub fn rows(&self) -> impl Rows + 'p {
        Erased(self.rows)
    }

    /// The numbers of the samples of weight above 0.
    pub fn present(&self) -> Vec<usize> {
        (0..self.weights.len()).filter(|&row| self.weights[row] > 0.0).collect()
    }
}

impl fmt::Debug for SamplePart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SamplePart").field("n", &self.weights.len()).finish_non_exhaustive()
    }
}

/// Samples of a source, read in chunks by several threads: statistics are merged in the order of the chunks.
pub struct SampleStream<'a> {
    samples: &'a dyn Source<Samples = AnySamples>,
    weights: &'a [f64],
    chunk_rows: usize,
    pool: Pool,
}

impl<'a> SampleStream<'a> {
    /// `weights` has one number a sample; `threads` is 0 for one a core.
    ///
    /// # Errors
    /// [`Error::Threads`].
    pub fn new(
        samples: &'a dyn Source<Samples = AnySamples>,
        weights: &'a [f64],
        chunk_rows: usize,
        threads: usize,
    ) -> Result<Self> {
        Ok(SampleStream { samples, weights, chunk_rows: chunk_rows.max(1), pool: Pool::new(threads)? })
    }
}

impl Executor for SampleStream<'_> {
    type Of = SampleRows;

    fn reduce<Q: Query<Of = SampleRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let chunk = |rows: Range<usize>| {
            monitor.go_on("scan")?;
            let (first, weights) = (rows.start, &self.weights[rows.clone()]);
            let read = Vectors::from_any(self.samples.chunk(rows)?).map_err(|other| Error::Kind {
                found: other.kind(),
                method: "a statistic of vectors".into(),
                wanted: "vectors",
            })?;
            let answer = match read {
                Vectors::Dense(matrix) => query.answer(&mut SamplePart::new(&matrix.view()?, weights), monitor),
                Vectors::Sparse(matrix) => query.answer(&mut SamplePart::new(&matrix.view()?, weights), monitor),
            };
            answer.map_err(|error| error.of_chunk(first))
        };
        let mut total = None;
        self.pool.fold_chunks(self.weights.len(), self.chunk_rows, chunk, |next| add(query, &mut total, next))?;
        total.ok_or(Error::NoSamples(""))
    }
}

impl fmt::Debug for SampleStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SampleStream").field("n", &self.weights.len()).finish_non_exhaustive()
    }
}

/// [`Rows`] of a layout that is known only at run time: a call through a pointer for each non-zero.
trait AnyRows: Sync {
    fn n_rows(&self) -> usize;
    fn n_cols(&self) -> usize;
    fn visit(&self, row: usize, visit: &mut dyn FnMut(usize, f64));
    fn max_nonzeros(&self) -> usize;
    fn is_sparse(&self) -> bool;
}

impl<R: Rows> AnyRows for R {
    fn n_rows(&self) -> usize {
        Rows::n_rows(self)
    }

    fn n_cols(&self) -> usize {
        Rows::n_cols(self)
    }

    fn visit(&self, row: usize, visit: &mut dyn FnMut(usize, f64)) {
        self.for_each_nonzero(row, visit);
    }

    fn max_nonzeros(&self) -> usize {
        Rows::max_nonzeros(self)
    }

    fn is_sparse(&self) -> bool {
        Rows::is_sparse(self)
    }
}

struct Erased<'p>(&'p dyn AnyRows);

impl Rows for Erased<'_> {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.0.n_cols()
    }

    fn for_each_nonzero(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        self.0.visit(row, &mut visit);
    }

    fn max_nonzeros(&self) -> usize {
        self.0.max_nonzeros()
    }

    fn is_sparse(&self) -> bool {
        self.0.is_sparse()
    }
}
