//! The fit on bases over rows that come in passes, a block at a time, from memory or from a source; blocks are cached
//! as far as memory allows. A cached block and a recomputed one have the same bits.
//!
//! The polynomials' span at the samples, √W P = U diag(s) Vᵀ, comes from the triangle R of a tree of QR factorizations,
//! whose singular values equal those of √W P up to rounding; rows of U are computed from rows of P on demand.

use std::borrow::Cow;
use std::ops::Range;

use super::basis_sums::{FirstSums, Settled, first_sums, fit_rows, rows_separate};
use super::block_sums::{Block, RowData};
use super::feature_map::FeatureMap;
use super::local::{Blocks, Local};
use super::log::Log;
use super::path::FitSettings;
use super::settings::Fitted;
use crate::data::Checkpoint;
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;

/// Kernel values and polynomials of rows, in blocks, which may be cached.
pub(crate) trait RawRows: Sync {
    /// Data read for several blocks together.
    type Span: Sync;

    fn n_rows(&self) -> usize;

    /// Reads the data for the blocks of a range of rows.
    fn read(&self, rows: Range<usize>) -> Result<Self::Span>;

    /// Φ(z, x) √W, bases × rows.
    fn phi(&self, span: &Self::Span, rows: Range<usize>) -> Matrix;

    /// √W P(x), polynomials × rows.
    fn polynomials(&self, span: &Self::Span, rows: Range<usize>) -> Matrix;
}

/// The cached blocks, and the checkpoint.
#[derive(Clone, Copy)]
pub(crate) struct BlockStorage<'a> {
    /// The number of cached blocks; the others are recomputed at every pass.
    pub n_cached: usize,
    /// Whether the solver uses features, and leave-one-out decision values are stored: bases² per row when a block is
    /// computed, but less at each step than kernel values and polynomials.
    pub lifts: bool,
    pub checkpoint: Option<&'a dyn Checkpoint>,
}

/// A cached block.
enum CachedBlock {
    Raw(Matrix, Matrix),
    Lifted(Matrix),
}

/// Rows as the solver sees them.
struct Passes<'a, R> {
    raw: &'a R,
    feature_map: &'a FeatureMap,
    cached: &'a [CachedBlock],
    lifts: bool,
    only_polynomials: bool,
}

impl<R: RawRows> Blocks for Passes<'_, R> {
    type Span = Option<R::Span>;

    fn n_rows(&self) -> usize {
        self.raw.n_rows()
    }

    fn feature_map(&self) -> &FeatureMap {
        self.feature_map
    }

    fn read(&self, rows: Range<usize>) -> Result<Option<R::Span>> {
        let is_cached = rows.end.div_ceil(super::BLOCK) <= self.cached.len();
        if is_cached { Ok(None) } else { self.raw.read(rows).map(Some) }
    }

    fn block<'s>(&'s self, span: &'s Option<R::Span>, rows: Range<usize>) -> Result<Block<'s>> {
        let (phi, polynomials) = match (self.cached.get(rows.start / super::BLOCK), span) {
            (Some(CachedBlock::Lifted(features)), _) => return Ok(Block::Lifted(Cow::Borrowed(features))),
            (Some(CachedBlock::Raw(phi, polynomials)), _) => (Cow::Borrowed(phi), Cow::Borrowed(polynomials)),
            (None, Some(span)) => {
                let polynomials = Cow::Owned(self.raw.polynomials(span, rows.clone()));
                let phi = if self.only_polynomials { Matrix::default() } else { self.raw.phi(span, rows) };
                (Cow::Owned(phi), polynomials)
            }
            // A span without rows has only cached blocks.
            (None, None) => (Cow::Owned(Matrix::default()), Cow::Owned(Matrix::default())),
        };
        if self.lifts {
            return Ok(Block::Lifted(Cow::Owned(self.feature_map.features(phi.into_owned(), &polynomials))));
        }
        let phi = if self.only_polynomials { Cow::Owned(Matrix::zeros(0, polynomials.n_cols())) } else { phi };
        Ok(Block::Raw { phi, polynomials })
    }
}

/// The results of the first pass.
#[derive(Default)]
struct First {
    sums: FirstSums,
    cached: Vec<CachedBlock>,
}

/// Fits f = Σ α_j φ(·, z_j) + Σ β_m p_m with P(z)ᵀα = 0. `feature_map` is that of the bases; `after_first_pass` is
/// called after the first pass.
pub(crate) fn fit_blocks<R: RawRows>(
    raw: &R,
    feature_map: FeatureMap,
    (row_data, spreads): (RowData<'_>, &[f64]),
    settings: &FitSettings,
    storage: BlockStorage<'_>,
    (pool, monitor): (&Pool, &Monitor<'_>),
    after_first_pass: impl FnOnce() -> Result<()>,
) -> Result<Fitted> {
    let total: f64 = row_data.roots.iter().map(|root| root * root).sum();
    let First { sums, mut cached } = first_pass(raw, &feature_map, storage.n_cached, pool, monitor)?;
    let mut settled = Settled::new(&sums, &feature_map, total)?;
    let n = row_data.roots.iter().filter(|root| **root > 0.0).count();
    settled.settle(settings.polynomials, n, spreads, |free| {
        let feature_map = &feature_map.only_polynomials(free.columns.clone());
        let blocks = Passes { raw, feature_map, cached: &cached, lifts: false, only_polynomials: true };
        rows_separate(&mut Local::new(blocks, row_data, false, pool, monitor), total, pool.threads(), monitor)
    })?;
    let feature_map = &settled.feature_map(feature_map);
    if storage.lifts {
        pool.map_mut(&mut cached, |_, block| {
            if let CachedBlock::Raw(phi, polynomials) = block {
                *block = CachedBlock::Lifted(feature_map.features(std::mem::take(phi), polynomials));
            }
        });
    }
    after_first_pass()?;
    let blocks = Passes { raw, feature_map, cached: &cached, lifts: storage.lifts, only_polynomials: false };
    let mut rows = Local::new(blocks, row_data, storage.lifts, pool, monitor);
    let log = storage.checkpoint.map(Log::open).transpose()?;
    fit_rows(&mut rows, (&settled, feature_map), settings, log, (pool, monitor))
}

fn first_pass<R: RawRows>(
    raw: &R,
    feature_map: &FeatureMap,
    n_cached: usize,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<First> {
    let blocks = Passes { raw, feature_map, cached: &[], lifts: false, only_polynomials: false };
    let mut first = First::default();
    blocks.pass(
        (pool, monitor),
        &mut first,
        |_, rows, block| {
            let Block::Raw { phi, polynomials } = block else { return Ok(None) };
            let sums = first_sums(&phi, &polynomials);
            let cached = (rows.start / super::BLOCK < n_cached)
                .then(|| CachedBlock::Raw(phi.into_owned(), polynomials.into_owned()));
            Ok(Some((sums, cached)))
        },
        |first, found| {
            let Some((sums, cached)) = found else { return Ok(()) };
            first.sums = first.sums.merged(&sums);
            first.cached.extend(cached);
            Ok(())
        },
    )?;
    Ok(first)
}
