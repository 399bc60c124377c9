//! Features of out-of-core samples: recomputed in every pass, or cached on disk, whichever is faster. Both give the
//! same features, to the last bit.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::{Scratch, Source};
use crate::error::Result;
use crate::expansion::{BasisExpansion, PartMap};
use crate::instant::Instant;
use crate::par::Pool;
use crate::problem::Pieces;
use crate::similarity::Similarity;

/// Features, one piece at a time.
pub(crate) struct FeaturePieces<'a, S: Similarity> {
    pub expansion: BasisExpansion<S>,
    /// The maps of the parts before the normalization was learned, once it is.
    raw: Option<Vec<PartMap>>,
    pub samples: &'a dyn Source<Samples = S::Samples>,
    pub pool: Arc<Pool>,
    /// Where all raw features are cached, from byte 0 on.
    pub cache: Option<&'a dyn Scratch>,
    /// Time and rows of computing, and of reading.
    pub made: Clocked,
    pub read: Clocked,
}

/// Accumulated time per row.
#[derive(Debug, Default)]
pub(crate) struct Clocked {
    nanoseconds: AtomicU64,
    rows: AtomicU64,
}

impl Clocked {
    fn add(&self, since: Instant, rows: usize) {
        self.nanoseconds.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// Whether any row was timed.
    pub fn is_known(&self) -> bool {
        self.rows.load(Ordering::Relaxed) > 0
    }

    /// Seconds per row; infinite if no row was timed.
    pub fn seconds_per_row(&self) -> f64 {
        let rows = self.rows.load(Ordering::Relaxed);
        if rows == 0 { f64::INFINITY } else { self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9 / rows as f64 }
    }
}

impl<'a, S: Similarity> FeaturePieces<'a, S> {
    pub fn new(expansion: BasisExpansion<S>, samples: &'a dyn Source<Samples = S::Samples>, pool: Arc<Pool>) -> Self {
        let (made, read) = (Clocked::default(), Clocked::default());
        FeaturePieces { expansion, raw: None, samples, pool, cache: None, made, read }
    }

    /// The same with the maps of a normalization that was learned.
    pub fn normalized(self, maps: Vec<PartMap>) -> Self {
        let raw = Some(self.expansion.maps().to_vec());
        FeaturePieces { expansion: self.expansion.with_maps(maps), raw, ..self }
    }

    /// Computes raw features by comparing the samples with the bases.
    pub fn make(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        let since = Instant::now();
        let (d, chunk_rows) = (self.expansion.n_features(), self.expansion.chunk_rows());
        let mut chunks: Vec<&mut [f32]> = out.chunks_mut((chunk_rows * d).max(1)).collect();
        let work = |at: usize, out: &mut &mut [f32]| {
            let from = rows.start + at * chunk_rows;
            let chunk = from..(from + chunk_rows).min(rows.end);
            let maps = self.raw.as_deref().unwrap_or(self.expansion.maps());
            self.expansion.mapped_into(maps, self.expansion.read(self.samples, chunk)?, from, out)
        };
        self.pool.map_mut(&mut chunks, work).into_iter().collect::<Result<()>>()?;
        self.made.add(since, rows.len());
        Ok(())
    }

    /// Writes raw features to the scratch.
    pub fn keep(&self, scratch: &dyn Scratch, rows: &Range<usize>, raw: &[f32]) -> Result<()> {
        let bytes: Vec<u8> = raw.iter().flat_map(|x| x.to_le_bytes()).collect();
        scratch.write(self.byte(rows.start), &bytes)
    }

    /// Reads raw features from the scratch.
    pub fn read(&self, scratch: &dyn Scratch, rows: &Range<usize>, out: &mut [f32]) -> Result<()> {
        let since = Instant::now();
        let width = self.expansion.n_features();
        let chunk_rows = (READ_BYTES / (4 * width.max(1))).max(1);
        let mut chunks: Vec<&mut [f32]> = out.chunks_mut(chunk_rows * width.max(1)).collect();
        let work = |at: usize, out: &mut &mut [f32]| {
            let mut bytes = vec![0; size_of_val(*out)];
            scratch.read(self.byte(rows.start + at * chunk_rows), &mut bytes)?;
            out.iter_mut().zip(bytes.as_chunks().0).for_each(|(x, bytes)| *x = f32::from_le_bytes(*bytes));
            Ok(())
        };
        self.pool.map_mut(&mut chunks, work).into_iter().collect::<Result<()>>()?;
        self.read.add(since, rows.len());
        Ok(())
    }

    fn byte(&self, row: usize) -> u64 {
        4 * row as u64 * self.expansion.n_features() as u64
    }
}

/// Bytes read at a time by a thread.
const READ_BYTES: usize = 1 << 20;

impl<S: Similarity> Pieces for FeaturePieces<'_, S> {
    fn n_rows(&self) -> usize {
        self.samples.n_samples()
    }

    fn n_features(&self) -> usize {
        self.expansion.n_features()
    }

    fn fill(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        match self.cache {
            Some(scratch) => self.read(scratch, &rows, out)?,
            None => self.make(rows, out)?,
        }
        if self.raw.is_none() && self.cache.is_none() {
            return Ok(());
        }
        let width = self.expansion.n_features().max(1);
        let mut chunks: Vec<&mut [f32]> = out.chunks_mut(ROWS_APPLIED * width).collect();
        self.pool.map_mut(&mut chunks, |_, rows| self.expansion.apply_in_place(rows));
        Ok(())
    }
}

/// Rows normalized at a time by a thread.
const ROWS_APPLIED: usize = 256;
