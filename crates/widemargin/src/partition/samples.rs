//! Vector samples with their weights, for statistics that are computed before there is a model.

use std::fmt;
use std::ops::Range;

use super::query::{Executor, Kind, Query, add};
use crate::data::{AnyRows, AnySamples, SamplesView, Source};
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
#[derive(Clone, Copy, Debug)]
pub struct SamplePart<'p> {
    rows: AnyRows<'p>,
    /// One number a sample.
    pub weights: &'p [f64],
}

impl<'p> SamplePart<'p> {
    /// `weights` has one number a row.
    pub fn new(rows: impl Into<AnyRows<'p>>, weights: &'p [f64]) -> Self {
        SamplePart { rows: rows.into(), weights }
    }

    /// The samples.
    pub fn rows(&self) -> AnyRows<'p> {
        self.rows
    }

    /// The numbers of the samples of weight above 0.
    pub fn present(&self) -> Vec<usize> {
        (0..self.weights.len()).filter(|&row| self.weights[row] > 0.0).collect()
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

impl Executor<SampleRows> for SampleStream<'_> {
    fn reduce<Q: Query<Of = SampleRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let chunk = |rows: Range<usize>| {
            monitor.go_on("scan")?;
            let (first, weights) = (rows.start, &self.weights[rows.clone()]);
            let read = self.samples.chunk(rows)?;
            let part = &mut SamplePart::new(SamplesView::Other(&read).rows("a statistic of vectors")?, weights);
            let answer = query.answer(part, monitor);
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
