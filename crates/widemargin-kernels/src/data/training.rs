//! Training samples without labels, as descriptors and similarities see them.

use std::fmt;
use std::ops::Range;

use super::{Offsets, Samples, Source};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::par::Pool;

/// The training samples, their weights, and the execution settings.
#[derive(Clone, Copy)]
pub struct Training<'a, S> {
    /// The source of the samples.
    pub samples: &'a dyn Source<Samples = S>,
    /// The weight of each sample; samples of weight 0 are ignored.
    pub weights: &'a [f64],
    /// Number of threads, 0 meaning one per core.
    pub threads: usize,
    /// Checked regularly for cancellation.
    pub monitor: &'a Monitor<'a>,
}

impl<'a, S: Samples> Training<'a, S> {
    /// The same settings with other samples, in one-to-one correspondence.
    #[doc(hidden)]
    pub fn of<'b, T>(&self, samples: &'b dyn Source<Samples = T>) -> Training<'b, T>
    where
        'a: 'b,
    {
        Training { samples, weights: self.weights, threads: self.threads, monitor: self.monitor }
    }

    /// Checks whether to continue a stage whose partial result is useless.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`]; time limits are handled by the solver.
    pub fn go_on(&self, stage: &'static str) -> Result<()> {
        self.monitor.go_on(stage)
    }

    /// Folds the results of `work` on chunks of samples and their weights, in order. Its errors may have rows of the
    /// chunk.
    ///
    /// # Errors
    /// Those of reading and of `work`, and [`crate::Error::Cancelled`], naming the stage.
    pub(crate) fn fold<T: Send>(
        &self,
        stage: &'static str,
        chunk: usize,
        work: impl Fn(S, &[f64]) -> Result<T> + Sync + Send,
        mut fold: impl FnMut(T),
    ) -> Result<()> {
        let work = |rows: Range<usize>| {
            self.go_on(stage)?;
            let (first, samples) = (rows.start, self.samples.chunk(rows.clone())?);
            work(samples, &self.weights[rows]).map_err(|error| error.in_part_from(first))
        };
        Pool::new(self.threads)?.fold_chunks(self.samples.n_samples(), chunk, work, |part| {
            fold(part);
            Ok(())
        })
    }
}

impl<S> fmt::Debug for Training<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Training").field("n_samples", &self.weights.len()).finish_non_exhaustive()
    }
}

/// Selected rows of a source.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "a source may have none")]
pub struct Picked<'a, S> {
    /// All samples.
    pub source: &'a dyn Source<Samples = S>,
    /// Which of them.
    pub rows: &'a [usize],
}

impl<S: Samples> Source for Picked<'_, S> {
    type Samples = S;

    fn n_samples(&self) -> usize {
        self.rows.len()
    }

    fn select(&self, rows: &[usize]) -> Result<S> {
        self.source.select(&rows.iter().map(|&row| self.rows[row]).collect::<Vec<_>>())
    }

    fn needed_offsets(&self, weights: &[f64]) -> Result<Option<Offsets>> {
        let mut of_all = vec![0.0; self.source.n_samples()];
        self.rows.iter().zip(weights).for_each(|(&row, weight)| of_all[row] += weight);
        self.source.needed_offsets(&of_all)
    }

    fn select_about(&self, rows: &[usize], offsets: &Offsets) -> Result<S> {
        self.source.select_about(&rows.iter().map(|&row| self.rows[row]).collect::<Vec<_>>(), offsets)
    }
}

/// A source of vectors with the offsets that they need.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "a source may have none")]
pub struct About<'a, S> {
    source: &'a dyn Source<Samples = S>,
    offsets: Option<Offsets>,
}

impl<'a, S: Samples> About<'a, S> {
    /// With the offsets of the samples of weight above 0.
    pub fn new(source: &'a dyn Source<Samples = S>, weights: &[f64]) -> Result<Self> {
        Ok(About { source, offsets: source.needed_offsets(weights)? })
    }
}

impl<S: Samples> Source for About<'_, S> {
    type Samples = S;

    fn n_samples(&self) -> usize {
        self.source.n_samples()
    }

    fn chunk(&self, rows: Range<usize>) -> Result<S> {
        match &self.offsets {
            Some(offsets) => self.source.chunk_about(rows, offsets),
            None => self.source.chunk(rows),
        }
    }

    fn select(&self, rows: &[usize]) -> Result<S> {
        match &self.offsets {
            Some(offsets) => self.source.select_about(rows, offsets),
            None => self.source.select(rows),
        }
    }

    fn needed_offsets(&self, _weights: &[f64]) -> Result<Option<Offsets>> {
        Ok(self.offsets.clone())
    }

    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        if self.offsets.is_none() {
            return self.source.fingerprints(rows);
        }
        let picked = self.select(rows)?;
        Ok((0..picked.len()).map(|at| picked.fingerprint(at)).collect())
    }
}

/// A source whose samples are transformed on demand.
pub struct Mapped<'a, A, F> {
    /// The samples before the map.
    pub source: &'a dyn Source<Samples = A>,
    /// The map.
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
