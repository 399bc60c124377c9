//! Features of out-of-core samples: recomputed in every pass, or cached on disk, whichever is faster. Both give the
//! same features, to the last bit. The first passes learn the normalization from all samples and keep some rows' features.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block_plan::Plan;
use crate::data::{DenseView, Resources, Scratch, Source};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, CHUNK_ROWS, FeatureChunks, FeatureRows, PartMap};
use crate::instant::Instant;
use crate::model::clock::Clock;
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::partition::{Executor, Query, Recorded};
use crate::problem::{Block, Pieces};
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

    /// Reads raw features from the scratch.
    pub fn read(&self, scratch: &dyn Scratch, rows: &Range<usize>, out: &mut [f32]) -> Result<()> {
        let since = Instant::now();
        let width = self.expansion.n_features();
        let chunk_rows = (READ_BYTES / (4 * width.max(1))).max(1);
        let mut chunks: Vec<&mut [f32]> = out.chunks_mut(chunk_rows * width.max(1)).collect();
        let work = |at: usize, out: &mut &mut [f32]| {
            scratch.read(self.byte(rows.start + at * chunk_rows), bytemuck::cast_slice_mut(out))
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

/// The checkpoint name of the normalization.
const NORMALIZATION: &str = "normalization";

/// The resident rows, with their features.
pub(crate) struct HessianSample {
    /// Ascending.
    pub rows: Vec<usize>,
    /// Row-major.
    pub phi: Vec<f32>,
}

/// The first passes over all samples. As an executor it answers a query by a pass over their raw features.
pub(crate) struct Learner<'a, 'p, S: Similarity> {
    pieces: FeaturePieces<'a, S>,
    weights: &'p [f64],
    plan: &'p Plan,
    resources: &'p Resources<'a>,
    monitor: &'p Monitor<'p>,
    sample: HessianSample,
    /// Whether the first pass is over.
    has_sample: bool,
}

impl<'a, 'p, S: Similarity> Learner<'a, 'p, S> {
    /// With the resident rows.
    pub fn new(
        pieces: FeaturePieces<'a, S>,
        (rows, weights): (Vec<usize>, &'p [f64]),
        (plan, resources): (&'p Plan, &'p Resources<'a>),
        monitor: &'p Monitor<'p>,
    ) -> Self {
        let phi = Vec::with_capacity(rows.len() * pieces.expansion.n_features());
        let sample = HessianSample { phi, rows };
        Learner { pieces, weights, plan, resources, monitor, sample, has_sample: false }
    }

    /// Passes over all samples, twice if the normalization needs it. Afterwards the pieces yield normalized features.
    pub fn learn(self, clock: &mut Clock<'_>) -> Result<(FeaturePieces<'a, S>, HessianSample)> {
        let (affine, total, monitor) = (self.pieces.expansion.affine(), self.weights.iter().sum(), self.monitor);
        // If all rows are resident, nothing is computed twice.
        let of_passes = affine.as_ref().filter(|_| !self.plan.is_whole());
        let checkpoint = self.resources.checkpoint;
        let mut passes = Recorded::new(self, checkpoint, NORMALIZATION)?;
        let mut maps = of_passes.map(|affine| affine.learn(&mut passes, total, monitor)).transpose()?;
        let mut passes = passes.inner;
        if !passes.has_sample {
            passes.pass(|_, _| Ok(()))?;
        }
        clock.end("similarity")?;
        let Learner { mut pieces, mut sample, weights, .. } = passes;
        let width = pieces.expansion.n_features();
        if let (Some(affine), None) = (&affine, &maps) {
            let weights: Vec<f64> = sample.rows.iter().map(|&row| weights[row]).collect();
            let rows = &mut FeatureChunks { values: &sample.phi, weights: &weights, width, pool: &pieces.pool };
            maps = Some(affine.learn(rows, total, monitor)?);
        }
        let Some(maps) = maps else { return Ok((pieces, sample)) };
        // By now both were timed for all rows, at the disk's own speed if the file does not fit in memory.
        if pieces.read.seconds_per_row() > pieces.made.seconds_per_row() && pieces.read.is_known() {
            pieces.cache = None;
        }
        pieces = pieces.normalized(maps);
        let mut chunks: Vec<&mut [f32]> = sample.phi.chunks_mut((CHUNK_ROWS * width).max(1)).collect();
        pieces.pool.map_mut(&mut chunks, |_, chunk| pieces.expansion.apply_in_place(chunk));
        clock.end("normalize")?;
        Ok((pieces, sample))
    }

    /// Calls `visit` with the raw features of all samples, piece by piece. The first pass computes them, copies those of
    /// the resident rows, and caches all, if reading them is faster.
    fn pass(&mut self, mut visit: impl FnMut(&[f32], &[f64]) -> Result<()>) -> Result<()> {
        let (width, is_first) = (self.pieces.expansion.n_features(), !self.has_sample);
        let stage = if is_first { "similarity" } else { "normalize" };
        let mut caches = is_first && !self.plan.is_whole();
        let mut piece = Vec::new();
        for rows in self.ranges() {
            self.monitor.go_on(stage)?;
            piece.resize(rows.len() * width, 0.0);
            match self.pieces.cache {
                Some(scratch) => self.pieces.read(scratch, &rows, &mut piece)?,
                None => self.pieces.make(rows.clone(), &mut piece)?,
            }
            caches = caches && self.keep(&rows, &piece)?;
            if is_first {
                self.sample.take(&rows, &piece, width);
            }
            visit(&piece, &self.weights[rows.clone()])?;
            self.tell(stage, &rows);
        }
        if is_first {
            self.pieces.cache = caches.then_some(self.resources.scratch);
            self.has_sample = true;
        }
        Ok(())
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'a, S> {
        let (n, step) = (self.plan.n_rows, self.plan.piece_rows);
        (0..n).step_by(step).map(move |from| from..(from + step).min(n))
    }

    fn tell(&self, stage: &'static str, rows: &Range<usize>) {
        self.monitor.tell(Progress { stage, done: rows.end as u64, total: self.plan.n_rows as u64, gap: None });
    }

    /// Caches a piece in the scratch; returns false to give up caching, if there is not enough space for all, or if
    /// reading the first piece back was slower than computing it.
    fn keep(&self, rows: &Range<usize>, piece: &[f32]) -> Result<bool> {
        let scratch = self.resources.scratch;
        if rows.start == 0 {
            let needed = 4 * self.plan.n_rows as u64 * self.pieces.expansion.n_features() as u64;
            let scores = 8 * self.plan.n_rows as u64;
            // Part of the space is left to other writers.
            if scratch.room().is_none_or(|room| needed + scores > room - room / 8) {
                return Ok(false);
            }
        }
        scratch.write(self.pieces.byte(rows.start), bytemuck::cast_slice(piece))?;
        if rows.start > 0 {
            return Ok(true);
        }
        // Memory that is in use already: the first use of a page takes longer than reading it.
        let mut back = piece.to_vec();
        self.pieces.read(scratch, rows, &mut back)?;
        Ok(self.pieces.read.seconds_per_row() < self.pieces.made.seconds_per_row())
    }
}

impl<S: Similarity> Executor<FeatureRows> for Learner<'_, '_, S> {
    fn reduce<Q: Query<Of = FeatureRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let (pool, width, mut total) = (self.pieces.pool.clone(), self.pieces.expansion.n_features(), None);
        self.pass(|values, weights| {
            FeatureChunks { values, weights, width, pool: &pool }.add_to(&mut total, query, monitor)
        })?;
        total.ok_or(Error::NoSamples(""))
    }
}

impl HessianSample {
    /// The features, `width` of each row.
    pub fn block(&self, width: usize) -> Result<Block<'_>> {
        Ok(DenseView::new(&self.phi, self.rows.len(), width)?.into())
    }

    /// Copies the features of the resident rows of a piece.
    fn take(&mut self, rows: &Range<usize>, piece: &[f32], width: usize) {
        let from = self.rows.partition_point(|&row| row < rows.start);
        let to = self.rows.partition_point(|&row| row < rows.end);
        for &row in &self.rows[from..to] {
            let at = (row - rows.start) * width;
            self.phi.extend_from_slice(&piece[at..at + width]);
        }
    }
}
