//! Training samples as descriptors and similarities see them: without labels.

use std::fmt;
use std::ops::Range;

use super::{Samples, Source};
use crate::error::Result;
use crate::monitor::Monitor;

/// The training samples, their weights, and how to work on them.
#[derive(Clone, Copy)]
pub struct Training<'a, S> {
    /// Where the samples come from.
    pub samples: &'a dyn Source<Samples = S>,
    /// The weight of each; a weight of 0 is absence.
    pub weights: &'a [f64],
    /// Threads to use, 0 meaning one a core.
    pub threads: usize,
    /// Asked now and then whether to go on.
    pub monitor: &'a Monitor<'a>,
}

impl<'a, S: Samples> Training<'a, S> {
    /// The same training with other samples in place of these, one for one.
    pub fn of<'b, T>(&self, samples: &'b dyn Source<Samples = T>) -> Training<'b, T>
    where
        'a: 'b,
    {
        Training { samples, weights: self.weights, threads: self.threads, monitor: self.monitor }
    }

    /// Whether to go on with a stage that is worth nothing before it is whole.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`]; a time limit is the solver's to honour.
    pub fn go_on(&self, stage: &'static str) -> Result<()> {
        self.monitor.go_on(stage)
    }
}

impl<S> fmt::Debug for Training<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Training").field("n_samples", &self.weights.len()).finish_non_exhaustive()
    }
}

/// Some rows of a source, in an order of their own.
pub(crate) struct Picked<'a, S> {
    pub source: &'a dyn Source<Samples = S>,
    pub rows: &'a [usize],
}

impl<S: Samples> Source for Picked<'_, S> {
    type Samples = S;

    fn n_samples(&self) -> usize {
        self.rows.len()
    }

    fn chunk(&self, rows: Range<usize>) -> Result<S> {
        self.source.select(&self.rows[rows])
    }

    fn select(&self, rows: &[usize]) -> Result<S> {
        self.source.select(&rows.iter().map(|&row| self.rows[row]).collect::<Vec<_>>())
    }
}

/// A source whose samples are turned into others as they are asked for.
pub(crate) struct Mapped<'a, A, F> {
    pub source: &'a dyn Source<Samples = A>,
    pub map: F,
}

impl<A, B, F> Source for Mapped<'_, A, F>
where
    A: Samples,
    B: Samples,
    F: Fn(A) -> Result<B> + Sync,
{
    type Samples = B;

    fn n_samples(&self) -> usize {
        self.source.n_samples()
    }

    fn chunk(&self, rows: Range<usize>) -> Result<B> {
        (self.map)(self.source.chunk(rows)?)
    }

    fn select(&self, rows: &[usize]) -> Result<B> {
        (self.map)(self.source.select(rows)?)
    }
}
