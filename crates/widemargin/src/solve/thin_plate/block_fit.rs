//! The fit on bases over rows that come in passes, a block at a time, from memory or from a source; blocks are held
//! as far as memory allows. A block that is held and one that is made anew have the same bits.
//!
//! The polynomials' span at the samples, √W P = U diag(s) Vᵀ, comes from the triangle R of a tree of QR factorizations,
//! whose singular values equal those of √W P up to rounding; rows of U are computed from rows of P on demand.

use std::borrow::Cow;
use std::ops::Range;

use super::basis_fit::translated;
use super::basis_sums::{FirstSums, Settled, first_sums, fit_rows, rows_separate};
use super::block_sums::{Block, RowFacts};
use super::exact_fit::{FitSettings, Fitted};
use super::feature_map::FeatureMap;
use super::local::{Blocks, Local};
use super::log::Log;
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

/// How many numbers beside the rows' own are held, and what outlives the fit.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    /// Blocks that are held; the others are made anew at every pass.
    pub n_held: usize,
    /// Whether the solver sees features, and left-out values are kept: bases² a row where a block is made, but less
    /// at each step than kernel values and polynomials take.
    pub lifts: bool,
    pub checkpoint: Option<(&'a dyn Checkpoint, u128)>,
}

/// A block that is held.
enum Held {
    Raw(Matrix, Matrix),
    Lifted(Matrix),
}

/// Rows as the solver sees them.
struct Passes<'a, R> {
    raw: &'a R,
    feature_map: FeatureMap,
    held: &'a [Held],
    lifts: bool,
    only_polynomials: bool,
}

impl<R: RawRows> Blocks for Passes<'_, R> {
    type Span = Option<R::Span>;

    fn n_rows(&self) -> usize {
        self.raw.n_rows()
    }

    fn feature_map(&self) -> &FeatureMap {
        &self.feature_map
    }

    fn read(&self, rows: Range<usize>) -> Result<Option<R::Span>> {
        let is_held = rows.end.div_ceil(super::BLOCK) <= self.held.len();
        if is_held { Ok(None) } else { self.raw.read(rows).map(Some) }
    }

    fn block<'s>(&'s self, span: &'s Option<R::Span>, rows: Range<usize>) -> Result<Block<'s>> {
        let (phi, polynomials) = match (self.held.get(rows.start / super::BLOCK), span) {
            (Some(Held::Lifted(features)), _) => return Ok(Block::Lifted(Cow::Borrowed(features))),
            (Some(Held::Raw(phi, polynomials)), _) => (Cow::Borrowed(phi), Cow::Borrowed(polynomials)),
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
    held: Vec<Held>,
}

/// Fits f = Σ α_j φ(·, z_j) + Σ β_m p_m with P(z)ᵀα = 0. `feature_map` is that of the bases; `seen` is called after the
/// first pass.
pub(crate) fn fit_blocks<R: RawRows>(
    raw: &R,
    feature_map: FeatureMap,
    (facts, spreads): (RowFacts<'_>, &[f64]),
    settings: &FitSettings,
    means: Means<'_>,
    (pool, monitor): (&Pool, &Monitor<'_>),
    seen: impl FnOnce() -> Result<()>,
) -> Result<Fitted> {
    let total: f64 = facts.roots.iter().map(|root| root * root).sum();
    let First { sums, mut held } = first_pass(raw, &feature_map, means.n_held, pool, monitor)?;
    let mut settled = Settled::new(&sums, &feature_map, total)?;
    let all = settled.columns.clone();
    let n = facts.roots.iter().filter(|root| **root > 0.0).count();
    let (polynomials, why) = settled.settle(settings.polynomials, n, spreads, || {
        let feature_map = feature_map.only_polynomials(all.clone());
        let blocks = Passes { raw, feature_map, held: &held, lifts: false, only_polynomials: true };
        rows_separate(&mut Local::new(blocks, facts, false, pool, monitor), total, pool.threads(), monitor)
    })?;
    let feature_map = settled.feature_map(feature_map);
    if means.lifts {
        pool.map_mut(&mut held, |_, block| {
            if let Held::Raw(phi, polynomials) = block {
                *block = Held::Lifted(feature_map.features(std::mem::take(phi), polynomials));
            }
        });
    }
    seen()?;
    let blocks = Passes { raw, feature_map, held: &held, lifts: means.lifts, only_polynomials: false };
    let mut rows = Local::new(blocks, facts, means.lifts, pool, monitor);
    let log = means.checkpoint.map(|(checkpoint, fingerprint)| Log::open(checkpoint, fingerprint)).transpose()?;
    let (outcome, flat) = fit_rows(&mut rows, &settled, settings, log, (pool, monitor))?;
    let (alpha, beta) = translated(&outcome, rows.blocks.feature_map());
    Ok(Fitted { alpha, beta, polynomials, why, rank: settled.rank, flat, outcome })
}

fn first_pass<R: RawRows>(
    raw: &R,
    feature_map: &FeatureMap,
    n_held: usize,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<First> {
    let blocks = Passes { raw, feature_map: feature_map.clone(), held: &[], lifts: false, only_polynomials: false };
    let mut first = First::default();
    blocks.pass(
        (pool, monitor),
        &mut first,
        |_, rows, block| {
            let Block::Raw { phi, polynomials } = block else { return Ok(None) };
            let sums = first_sums(&phi, &polynomials);
            let held =
                (rows.start / super::BLOCK < n_held).then(|| Held::Raw(phi.into_owned(), polynomials.into_owned()));
            Ok(Some((sums, held)))
        },
        |first, found| {
            let Some((sums, held)) = found else { return Ok(()) };
            first.sums = first.sums.merged(&sums);
            first.held.extend(held);
            Ok(())
        },
    )?;
    Ok(first)
}
