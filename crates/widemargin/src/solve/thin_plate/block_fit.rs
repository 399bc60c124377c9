//! The fit on bases over rows that come in passes, a block at a time, from memory or from a source; blocks are cached
//! as far as memory allows. A cached block and a recomputed one have the same bits.
//!
//! The polynomials' span at the samples, √W P = U diag(s) Vᵀ, comes from the triangle R of a tree of QR factorizations,
//! whose singular values equal those of √W P up to rounding; rows of U are computed from rows of P on demand.

use std::borrow::Cow;
use std::ops::Range;

use super::basis_sums::{FirstSums, Settled, fit_rows, rows_separate};
use super::block_sums::{Block, RowData};
use super::feature_map::FeatureMap;
use super::local::{BLOCK, Local};
use super::log::{Log, NamedCheckpoint};
use super::path::Run;
use super::settings::Fitted;
use crate::error::Result;
use crate::linalg::factor::Matrix;

/// Computes √W P(x), polynomials × rows, of some rows; and before it Φ(z, x) √W, bases × rows, if that is requested.
pub(crate) type RawRows<'a> = &'a (dyn Fn(Range<usize>, bool) -> Result<(Matrix, Matrix)> + Sync);

/// The cached blocks, and the checkpoint.
#[derive(Clone, Copy)]
pub(crate) struct BlockStorage<'a> {
    /// The number of cached blocks; the others are recomputed at every pass.
    pub n_cached: usize,
    /// Whether the solver uses features, and leave-one-out decision values are stored: bases² per row when a block is
    /// computed, but less at each step than kernel values and polynomials.
    pub lifts: bool,
    pub checkpoint: Option<NamedCheckpoint<'a>>,
}

/// Fits f = Σ α_j φ(·, z_j) + Σ β_m p_m with P(z)ᵀα = 0. `feature_map` is that of the bases; `after_first_pass` is
/// called after the first pass.
pub(crate) fn fit_blocks(
    raw: RawRows<'_>,
    feature_map: FeatureMap,
    (row_data, spreads): (RowData<'_>, &[f64]),
    storage: BlockStorage<'_>,
    run: Run<'_>,
    after_first_pass: impl FnOnce() -> Result<()>,
) -> Result<Fitted> {
    let Run { settings, pool, monitor } = run;
    let total: f64 = row_data.roots.iter().map(|root| root * root).sum();
    let (mut sums, mut cached) = (FirstSums::default(), Vec::new());
    let first_pass = |rows: Range<usize>| {
        monitor.go_on("solve")?;
        let (phi, polynomials) = raw(rows.clone(), true)?;
        let is_cached = rows.start / BLOCK < storage.n_cached;
        Ok((FirstSums::of(&phi, &polynomials), is_cached.then_some(Block::Raw { phi, polynomials })))
    };
    pool.fold_chunks(row_data.roots.len(), BLOCK, first_pass, |(next, block)| {
        sums.add(next);
        cached.extend(block);
        Ok(())
    })?;
    let n = row_data.roots.iter().filter(|root| **root > 0.0).count();
    let settled = Settled::new(&sums, &feature_map, (n, total), (settings.polynomials, spreads), |free| {
        let feature_map = &feature_map.only_polynomials(free.clone());
        let blocks = |rows: Range<usize>| {
            let polynomials = match cached.get(rows.start / BLOCK) {
                Some(Block::Raw { polynomials, .. }) => polynomials.clone(),
                _ => raw(rows, false)?.1,
            };
            Ok(Cow::Owned(Block::Raw { phi: Matrix::zeros(0, polynomials.n_cols()), polynomials }))
        };
        let mut rows = Local::new((&blocks, feature_map), row_data, false, (pool, monitor));
        let shape = rows.shape();
        rows_separate((&mut rows, shape), total, (pool, monitor))
    })?;
    let feature_map = &settled.feature_map(feature_map);
    let stored = |phi: Matrix, polynomials: Matrix| match storage.lifts {
        true => Block::Lifted(feature_map.features(phi, &polynomials)),
        false => Block::Raw { phi, polynomials },
    };
    pool.map_mut(&mut cached, |_, block| {
        if let Block::Raw { phi, polynomials } = block {
            *block = stored(std::mem::take(phi), std::mem::take(polynomials));
        }
    });
    after_first_pass()?;
    let blocks = |rows: Range<usize>| match cached.get(rows.start / BLOCK) {
        Some(block) => Ok(Cow::Borrowed(block)),
        None => raw(rows, true).map(|(phi, polynomials)| Cow::Owned(stored(phi, polynomials))),
    };
    let mut rows = Local::new((&blocks, feature_map), row_data, storage.lifts, (pool, monitor));
    let log = storage.checkpoint.map(Log::open).transpose()?;
    let shape = rows.shape();
    fit_rows((&mut rows, shape), (&settled, feature_map), log, run)
}
