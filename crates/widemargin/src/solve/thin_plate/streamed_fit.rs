//! The fit on landmarks for samples that do not fit in memory: what the in-memory fit holds as matrices over all
//! samples is summed in passes.
//!
//! The polynomials' span at the samples, √W P = U diag(s) Vᵀ, comes from the triangle R of a tree of QR factorisations,
//! whose singular values equal those of √W P up to rounding; rows of U are computed from rows of P on demand.

use std::borrow::Cow;
use std::ops::Range;

use super::apart::{Apart, FirstSums, first_sums, fit_rows, rows_separate};
use super::block_sums::{Block, RowFacts};
use super::exact_fit::{FitSettings, Fitted};
use super::feature_map::FeatureMap;
use super::landmark_fit::translated;
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

    /// Φ(z, x) √W, landmarks × rows.
    fn phi(&self, span: &Self::Span, rows: Range<usize>) -> Matrix;

    /// √W P(x), polynomials × rows.
    fn polynomials(&self, span: &Self::Span, rows: Range<usize>) -> Matrix;
}

/// The memory budget, and the checkpoint.
pub(crate) struct Means<'a> {
    /// Number of blocks whose kernel values and polynomials are cached; the others are recomputed in every pass.
    pub n_held: usize,
    pub checkpoint: Option<(&'a dyn Checkpoint, u128)>,
}

/// Rows in the form needed by the solver.
struct Streamed<'a, R> {
    raw: &'a R,
    feature_map: FeatureMap,
    held: Cow<'a, [(Matrix, Matrix)]>,
    only_polynomials: bool,
}

impl<R: RawRows> Blocks for Streamed<'_, R> {
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
        let held = self.held.get(rows.start / super::BLOCK);
        let (phi, polynomials) = match (held, span) {
            (Some((phi, polynomials)), _) => (Cow::Borrowed(phi), Cow::Borrowed(polynomials)),
            (None, Some(span)) => {
                let polynomials = Cow::Owned(self.raw.polynomials(span, rows.clone()));
                let phi = if self.only_polynomials { Matrix::default() } else { self.raw.phi(span, rows) };
                (Cow::Owned(phi), polynomials)
            }
            // A span without rows has only cached blocks.
            (None, None) => (Cow::Owned(Matrix::default()), Cow::Owned(Matrix::default())),
        };
        let phi = if self.only_polynomials { Cow::Owned(Matrix::zeros(0, polynomials.n_cols())) } else { phi };
        Ok(Block::Raw { phi, polynomials })
    }
}

/// The results of the first pass.
#[derive(Default)]
struct First {
    sums: FirstSums,
    held: Vec<(Matrix, Matrix)>,
}

/// Fits f = Σ α_j φ(·, z_j) + Σ β_m p_m with P(z)ᵀα = 0 over streamed rows. `feature_map` is that of the landmarks.
pub(crate) fn fit_streamed<R: RawRows>(
    raw: &R,
    feature_map: FeatureMap,
    (facts, spreads): (RowFacts<'_>, &[f64]),
    settings: &FitSettings,
    means: &Means<'_>,
    (pool, monitor): (&Pool, &Monitor<'_>),
) -> Result<Fitted> {
    let total: f64 = facts.roots.iter().map(|root| root * root).sum();
    let First { sums, held } = first_pass(raw, &feature_map, means.n_held, pool, monitor)?;
    let mut apart = Apart::new(&sums, &feature_map, total)?;
    let all = apart.columns.clone();
    let n = facts.roots.iter().filter(|root| **root > 0.0).count();
    let (null_space, why) = apart.settle(settings.null_space, n, spreads, || {
        let feature_map = feature_map.only_polynomials(all.clone());
        let blocks = Streamed { raw, feature_map, held: Cow::Borrowed(&held), only_polynomials: true };
        rows_separate(&mut Local::new(blocks, facts, false, pool, monitor), total, pool.threads(), monitor)
    })?;
    let feature_map = apart.feature_map(feature_map);
    let blocks = Streamed { raw, feature_map, held: Cow::Owned(held), only_polynomials: false };
    let mut rows = Local::new(blocks, facts, false, pool, monitor);
    let log = means.checkpoint.map(|(checkpoint, fingerprint)| Log::open(checkpoint, fingerprint)).transpose()?;
    let (outcome, flat) = fit_rows(&mut rows, &apart, settings, log, (pool, monitor))?;
    let (alpha, beta) = translated(&outcome, rows.blocks.feature_map());
    Ok(Fitted { alpha, beta, null_space, why, rank: apart.rank, flat, outcome })
}

fn first_pass<R: RawRows>(
    raw: &R,
    feature_map: &FeatureMap,
    n_held: usize,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<First> {
    let blocks = Streamed { raw, feature_map: feature_map.clone(), held: Cow::Borrowed(&[]), only_polynomials: false };
    let mut first = First::default();
    blocks.pass(
        (pool, monitor),
        &mut first,
        |_, rows, block| {
            let Block::Raw { phi, polynomials } = block else { return Ok(None) };
            let sums = first_sums(&phi, &polynomials);
            let held =
                (rows.start / super::BLOCK < n_held).then(|| (phi.into_owned(), polynomials.clone().into_owned()));
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
