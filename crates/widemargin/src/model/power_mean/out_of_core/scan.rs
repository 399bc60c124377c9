//! The first pass over samples in chunks: validation, the largest value of each feature, and a fingerprint.

use std::ops::Range;

use super::plan;
use crate::data::{AnySamples, Fingerprint, Kind, Rows, Samples, Source, Vectors, visit_histogram};
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;

/// The approximate number of rows used for the fingerprint.
const FINGERPRINT_ROWS: usize = 64;

/// Number of rows from which the average size is estimated.
const SIZE_ROWS: usize = 16;

/// Samples in chunks, read by several threads.
pub(super) struct Chunked<'a> {
    source: &'a dyn Source<Samples = AnySamples>,
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
        let probed = SIZE_ROWS.min(weights.len());
        let row_bytes = match vectors(source, 0..probed)? {
            Vectors::Dense(matrix) => 4 * matrix.n_cols,
            Vectors::Sparse(matrix) => 8 + 8 * matrix.values.len().div_ceil(probed),
        };
        let (chunk_rows, threads) = plan::chunks(row_bytes as u64, memory, Pool::new(threads)?.threads());
        Ok(Chunked { source, weights, chunk_rows, pool: Pool::new(threads)? })
    }

    /// Folds the results of `work` on each chunk, in order. It receives the chunk's samples, the number of its first
    /// row, and those of its rows that have a weight.
    pub fn fold<T: Send, E: From<Error> + Send>(
        &self,
        stage: &'static str,
        monitor: &Monitor<'_>,
        work: impl ChunkWork<T>,
        fold: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = RowCount::new(monitor, stage, self.weights.len());
        let chunk = |rows: Range<usize>| {
            count.go_on()?;
            let (first, n) = (rows.start, rows.len());
            let there: Vec<usize> = (0..n).filter(|at| self.weights[first + at] > 0.0).collect();
            let made = match vectors(self.source, rows)? {
                Vectors::Dense(matrix) => work.of(&matrix.view()?, first, &there),
                Vectors::Sparse(matrix) => work.of(&matrix.view()?, first, &there),
            };
            count.add(n);
            Ok(made.map_err(|error| error.of_chunk(first))?)
        };
        self.pool.fold_chunks(self.weights.len(), self.chunk_rows, chunk, fold)
    }
}

/// Work on a chunk of rows of any layout.
pub(super) trait ChunkWork<T>: Sync + Send {
    fn of(&self, rows: &impl Rows, first: usize, there: &[usize]) -> Result<T>;
}

fn vectors(source: &dyn Source<Samples = AnySamples>, rows: Range<usize>) -> Result<Vectors> {
    let n = rows.len();
    of_vectors(source.chunk(rows)?, n)
}

/// Some of the samples.
///
/// # Errors
/// [`Error::Kind`] for samples that are not vectors; errors of the source.
pub(super) fn chosen_vectors(source: &dyn Source<Samples = AnySamples>, rows: &[usize]) -> Result<Vectors> {
    of_vectors(source.select(rows)?, rows.len())
}

fn of_vectors(samples: AnySamples, n: usize) -> Result<Vectors> {
    let vectors = Vectors::from_any(samples).map_err(|met| Error::Kind {
        found: met.kind(),
        method: "the power mean SVM".into(),
        wanted: "vectors",
    })?;
    if vectors.len() == n {
        return Ok(vectors);
    }
    Err(Error::shape("a chunk of samples", format!("{} rows", vectors.len()), format!("the {n} requested ones")))
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

struct ScanRows {
    every: usize,
}

impl ChunkWork<(bool, Scan)> for ScanRows {
    fn of(&self, rows: &impl Rows, first: usize, there: &[usize]) -> Result<(bool, Scan)> {
        let needed = memory::product(&[2 * size_of::<f64>(), rows.n_cols()]);
        let what = || format!("the largest values of {} features", rows.n_cols());
        memory::check(needed, what, memory::FEWER_COLUMNS)?;
        let mut scan = Scan { largest: vec![0.0; rows.n_cols()], n_rows: there.len() as u64, ..Scan::default() };
        let largest = &mut scan.largest;
        for &row in there {
            visit_histogram(rows, row, |column, value| {
                scan.n_nonzero += 1;
                if value > largest[column] {
                    largest[column] = value;
                }
            })?;
            if (first + row).is_multiple_of(self.every) {
                // One odd factor per row, so that the order of rows matters and the size of chunks does not.
                let of_row = Fingerprint::of_row(rows, row).wrapping_mul(2 * (first + row) as u128 + 1);
                scan.print = scan.print.wrapping_add(of_row);
            }
        }
        Ok((rows.is_sparse(), scan))
    }
}

impl Scan {
    /// Scans all samples.
    ///
    /// # Errors
    /// [`Error::Value`] for a negative or non-finite value, [`Error::Kind`] for samples that are not vectors,
    /// [`Error::Shape`] for dense chunks of different widths.
    pub fn new(samples: &Chunked<'_>, monitor: &Monitor<'_>) -> Result<Self> {
        let mut all = Scan::default();
        let look = ScanRows { every: samples.weights.len().div_ceil(FINGERPRINT_ROWS) };
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
}
