//! The first pass over samples in chunks: validation, the largest value of each feature, and a fingerprint.

use std::ops::Range;

use super::plan;
use crate::data::{AnyRows, AnySamples, Fingerprint, Rows, SamplesView, Source};
use crate::error::{Error, Result};
use crate::model::power_mean::feature_range::largest_values;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;

/// The method, as messages name it.
pub(super) const METHOD: &str = "the power mean SVM";

/// The approximate number of rows used for the fingerprint.
const FINGERPRINT_ROWS: usize = 64;

/// Number of rows from which the average size is estimated.
const SIZE_ROWS: usize = 16;

/// Samples in chunks, read by several threads.
pub(super) struct Chunked<'a> {
    pub source: &'a dyn Source<Samples = AnySamples>,
    /// The weight of each row; rows of weight 0 are ignored.
    pub weights: &'a [f64],
    pub chunk_rows: usize,
    pub pool: Pool,
}

impl<'a> Chunked<'a> {
    /// Chunks that fit in memory.
    pub fn new(
        source: &'a dyn Source<Samples = AnySamples>,
        weights: &'a [f64],
        memory: u64,
        threads: usize,
    ) -> Result<Self> {
        let probed = source.chunk(0..SIZE_ROWS.min(weights.len()))?;
        let rows = SamplesView::Other(&probed).rows(METHOD)?;
        let row_bytes = match rows.is_sparse() {
            true => 8 + 8 * rows.max_nonzeros().div_ceil(rows.n_rows().max(1)),
            false => 4 * rows.n_cols(),
        };
        let (chunk_rows, threads) = plan::chunks(row_bytes as u64, memory, Pool::new(threads)?.threads());
        Ok(Chunked { source, weights, chunk_rows, pool: Pool::new(threads)? })
    }

    /// Folds the results of `work` on each chunk, in order. It receives the chunk's samples, the number of its first
    /// row, and those of its rows that have a weight.
    pub fn fold<T: Send>(
        &self,
        stage: &'static str,
        monitor: &Monitor<'_>,
        work: impl Fn(&AnyRows<'_>, usize, &[usize]) -> Result<T> + Sync + Send,
        fold: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let count = RowCount::new(monitor, stage, self.weights.len());
        let chunk = |rows: Range<usize>| {
            count.go_on()?;
            let (first, n) = (rows.start, rows.len());
            let there: Vec<usize> = (0..n).filter(|at| self.weights[first + at] > 0.0).collect();
            let samples = self.source.chunk(rows)?;
            let rows = SamplesView::Other(&samples).rows(METHOD)?;
            if rows.n_rows() != n {
                let found = format!("{} rows", rows.n_rows());
                return Err(Error::shape("a chunk of samples", found, format!("the {n} requested ones")));
            }
            let made = work(&rows, first, &there);
            count.add(n);
            made.map_err(|error| error.of_chunk(first))
        };
        self.pool.fold_chunks(self.weights.len(), self.chunk_rows, chunk, fold)
    }
}

/// The results of the first pass.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Scan {
    /// For each feature.
    pub largest: Vec<f64>,
    pub n_rows: u64,
    pub n_nonzero: u64,
    /// Of some evenly spaced rows, and of the largest values.
    pub print: u128,
}

impl Scan {
    /// Scans all samples.
    ///
    /// # Errors
    /// [`Error::Value`] for a negative or non-finite value, [`Error::Kind`] for samples that are not vectors,
    /// [`Error::Shape`] for dense chunks of different widths.
    pub fn new(samples: &Chunked<'_>, monitor: &Monitor<'_>) -> Result<Self> {
        let mut all = Scan::default();
        let every = samples.weights.len().div_ceil(FINGERPRINT_ROWS);
        let look = |rows: &AnyRows<'_>, first: usize, there: &[usize]| {
            Ok((rows.is_sparse(), Scan::of_rows(rows, first, there, every)?))
        };
        samples.fold("scan", monitor, look, |(is_sparse, chunk): (bool, Scan)| {
            let (width, before) = (chunk.largest.len(), all.largest.len());
            if before > 0 && width != before && !is_sparse {
                return Err(Error::shape(
                    "a chunk of samples",
                    format!("{width} columns"),
                    format!("{before}, as in those before"),
                ));
            }
            all.largest.resize(width.max(before), 0.0);
            all.largest.iter_mut().zip(&chunk.largest).for_each(|(all, &largest)| *all = all.max(largest));
            all.n_rows += chunk.n_rows;
            all.n_nonzero += chunk.n_nonzero;
            all.print = all.print.wrapping_add(chunk.print);
            Ok(())
        })?;
        let mut of_largest = Fingerprint::default();
        all.largest.iter().enumerate().for_each(|(at, largest)| of_largest.add(at, largest.to_bits()));
        all.print = all.print.wrapping_add(of_largest.finish());
        Ok(all)
    }

    /// Of a chunk of rows; the fingerprint is of those whose number is a multiple of `every`.
    fn of_rows(rows: &AnyRows<'_>, first: usize, there: &[usize], every: usize) -> Result<Self> {
        let (largest, n_nonzero) = largest_values(rows, there)?;
        let mut scan = Scan { largest, n_rows: there.len() as u64, n_nonzero, print: 0 };
        for &row in there.iter().filter(|&row| (first + row).is_multiple_of(every)) {
            // One odd factor per row, so that the order of rows matters and the size of chunks does not.
            let of_row = Fingerprint::of_row(rows, row).wrapping_mul(2 * (first + row) as u128 + 1);
            scan.print = scan.print.wrapping_add(of_row);
        }
        Ok(scan)
    }
}
