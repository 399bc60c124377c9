//! Features of out-of-core samples: recomputed in every pass, or cached on disk, whichever is faster. Both give the
//! same features, to the last bit. The first passes learn the normalization from all samples and keep some rows' features.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block_plan::Plan;
use crate::data::{Checkpoint, Resources, Scratch, Source, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, CHUNK_ROWS, PartMap};
use crate::instant::Instant;
use crate::linalg;
use crate::model::clock::Clock;
use crate::monitor::{Monitor, Progress};
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

    /// The features of some rows, ascending, read or made with those between them.
    pub fn of_rows(&self, rows: &[usize]) -> Result<Vec<f32>> {
        let (width, Some((first, last))) = (self.n_features(), rows.first().zip(rows.last())) else {
            return Ok(Vec::new());
        };
        let (mut phi, mut piece) = (Vec::with_capacity(rows.len() * width), Vec::new());
        for from in (*first..=*last).step_by(CHUNK_ROWS) {
            let all = from..(from + CHUNK_ROWS).min(last + 1);
            piece.resize(all.len() * width, 0.0);
            self.fill(all.clone(), &mut piece)?;
            for row in rows.iter().filter(|row| all.contains(row)) {
                phi.extend_from_slice(&piece[(row - from) * width..][..width]);
            }
        }
        Ok(phi)
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

/// Inputs of the first passes.
pub(crate) struct Learner<'a, 'p, S: Similarity> {
    pub pieces: FeaturePieces<'a, S>,
    pub weights: &'p [f64],
    pub plan: &'p Plan,
    pub resources: &'p Resources<'a>,
    pub monitor: &'p Monitor<'p>,
}

impl<'a, S: Similarity> Learner<'a, '_, S> {
    /// Passes over all samples, twice if the normalization needs it. Afterwards the pieces yield normalized features.
    pub fn learn(mut self, rows: Vec<usize>, clock: &mut Clock<'_>) -> Result<(FeaturePieces<'a, S>, HessianSample)> {
        let affine = self.pieces.expansion.affine();
        let width = self.pieces.expansion.n_features();
        let known = match (&affine, self.resources.checkpoint) {
            (Some(affine), Some(checkpoint)) => numbers(checkpoint, affine.width(), affine.n_spreads())?,
            _ => None,
        };
        let total: f64 = self.weights.iter().sum();

        let mut hessian_sample = HessianSample { phi: Vec::with_capacity(rows.len() * width), rows };
        let mut mean = vec![0.0; width];
        // If all rows are resident, nothing is computed twice; if the normalization needs nothing, only resident rows
        // are wanted.
        let mut keeps = !self.plan.is_whole();
        let mut piece = Vec::new();
        for rows in self.ranges() {
            self.monitor.go_on("similarity")?;
            piece.resize(rows.len() * width, 0.0);
            self.pieces.make(rows.clone(), &mut piece)?;
            if keeps {
                keeps = self.keep(&rows, &piece)?;
            }
            hessian_sample.take(&rows, &piece, width);
            if let (Some(affine), None) = (&affine, &known) {
                let of = |values: &[f32], weights: &[f64]| affine.sums(values, weights);
                self.fold(&piece, &self.weights[rows.clone()], of, &mut mean)?;
            }
            self.tell("similarity", &rows);
        }
        self.pieces.cache = keeps.then_some(self.resources.scratch);
        clock.end("similarity")?;

        let Some(affine) = affine else { return Ok((self.pieces, hessian_sample)) };
        let (mean, spread) = match known {
            Some(known) => known,
            None => {
                mean = affine.mean(mean, total);
                let mut spread = vec![0.0; affine.n_spreads()];
                let of = |values: &[f32], weights: &[f64]| affine.spreads(values, weights, &mean);
                if self.plan.is_whole() {
                    // Rows without a weight are not resident and would add nothing.
                    let weights: Vec<f64> = hessian_sample.rows.iter().map(|&row| self.weights[row]).collect();
                    self.fold(&hessian_sample.phi, &weights, of, &mut spread)?;
                } else {
                    for rows in self.ranges() {
                        self.monitor.go_on("normalize")?;
                        piece.resize(rows.len() * width, 0.0);
                        // The maps are not known yet: these features are raw.
                        match self.pieces.cache {
                            Some(scratch) => self.pieces.read(scratch, &rows, &mut piece)?,
                            None => self.pieces.make(rows.clone(), &mut piece)?,
                        }
                        self.fold(&piece, &self.weights[rows.clone()], of, &mut spread)?;
                        self.tell("normalize", &rows);
                    }
                }
                if let Some(checkpoint) = self.resources.checkpoint {
                    let bytes: Vec<u8> = mean.iter().chain(&spread).flat_map(|x| x.to_le_bytes()).collect();
                    save_checkpoint(checkpoint, NORMALIZATION, &bytes)?;
                }
                (mean, spread)
            }
        };
        // By now both were timed for all rows, at the disk's own speed if the file does not fit in memory.
        if self.pieces.read.seconds_per_row() > self.pieces.made.seconds_per_row() && self.pieces.read.is_known() {
            self.pieces.cache = None;
        }
        self.pieces = self.pieces.normalized(affine.maps(&mean, &spread, total)?);
        let mut chunks: Vec<&mut [f32]> = hessian_sample.phi.chunks_mut((CHUNK_ROWS * width).max(1)).collect();
        let expansion = &self.pieces.expansion;
        self.pieces.pool.map_mut(&mut chunks, |_, chunk| expansion.apply_in_place(chunk));
        clock.end("normalize")?;
        Ok((self.pieces, hessian_sample))
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

    /// Adds sums over some weighted rows, chunk by chunk in order.
    fn fold(
        &self,
        values: &[f32],
        weights: &[f64],
        of: impl Fn(&[f32], &[f64]) -> Vec<f64> + Sync + Send,
        sums: &mut [f64],
    ) -> Result<()> {
        let width = self.pieces.expansion.n_features();
        let chunk = |at: Range<usize>| Ok(of(&values[at.start * width..at.end * width], &weights[at]));
        self.pieces.pool.fold_chunks(weights.len(), CHUNK_ROWS, chunk, |part| {
            linalg::add(sums, &part);
            Ok::<(), Error>(())
        })
    }
}

impl HessianSample {
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

/// Means and spreads stored in a checkpoint.
fn numbers(checkpoint: &dyn Checkpoint, n_means: usize, n_spreads: usize) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
    let Some(bytes) = load_checkpoint(checkpoint, NORMALIZATION)? else { return Ok(None) };
    if bytes.len() != 8 * (n_means + n_spreads) {
        return Err(Error::Checkpoint {
            problem: format!("'{NORMALIZATION}' is damaged: delete the checkpoint to start again"),
        });
    }
    let mut means: Vec<f64> = bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let spreads = means.split_off(n_means);
    Ok(Some((means, spreads)))
}
