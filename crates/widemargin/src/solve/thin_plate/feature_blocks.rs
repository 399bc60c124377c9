//! The features of many samples on landmarks, in blocks of samples that are cached as far as memory allows and
//! otherwise recomputed in every pass.
//!
//! A block is always computed as a whole, from the same samples, so that cached and recomputed blocks have the same
//! bits: memory affects the time of a fit, never its result.

use std::borrow::Cow;
use std::ops::Range;

use super::block_sums::Block;
use super::feature_map::FeatureMap;
use super::local::{BLOCK, Blocks};
use crate::error::Result;
use crate::linalg::factor::{Matrix, Side, add_scaled, product};
use crate::par::Pool;

/// Computes Φ(z, x) √W for a range of samples x, one column per sample.
pub(crate) type Source<'a> = dyn Fn(Range<usize>) -> Matrix + Sync + 'a;

/// The features followed by the unpenalised columns, one column per sample.
pub(crate) struct FeatureBlocks<'a> {
    source: &'a Source<'a>,
    n_samples: usize,
    feature_map: FeatureMap,
    /// Samples × columns of polynomials: the penalised ones, then the unpenalised.
    columns: Matrix,
    held: Vec<Matrix>,
}

/// The results of one pass over the features before their part along the polynomials is projected out.
pub(crate) struct Seen {
    /// F U of the features F and the polynomials' span U at the samples.
    pub cross: Matrix,
    /// Sum of the features' squares.
    pub squares: f64,
}

impl<'a> FeatureBlocks<'a> {
    /// Blocks without unpenalised columns, none of them cached.
    pub fn new(source: &'a Source<'a>, n_samples: usize, feature_map: FeatureMap) -> Self {
        FeatureBlocks { source, n_samples, feature_map, columns: Matrix::zeros(n_samples, 0), held: Vec::new() }
    }

    fn n_blocks(&self) -> usize {
        self.n_samples.div_ceil(BLOCK)
    }

    fn range(&self, at: usize) -> Range<usize> {
        at * BLOCK..((at + 1) * BLOCK).min(self.n_samples)
    }

    fn penalised(&self, at: usize) -> Matrix {
        let mut features = (self.source)(self.range(at));
        self.feature_map.penalise(&mut features);
        features
    }

    /// Computes every block once, and caches the first `n_held` of them.
    pub fn see(&mut self, basis: &Matrix, n_held: usize, pool: &Pool) -> Result<Seen> {
        let mut seen = Seen { cross: Matrix::zeros(self.feature_map.n_landmarks(), basis.n_cols()), squares: 0.0 };
        // In waves: what is not cached is dropped before the next wave is computed.
        let wave = 4 * pool.threads();
        for first in (0..self.n_blocks()).step_by(wave) {
            let one = |at: usize| {
                let at = first + at;
                let features = self.penalised(at);
                let rows: Vec<usize> = self.range(at).collect();
                let cross = product(Side::Plain(&features), Side::Plain(&basis.select_rows(&rows)));
                let squares: f64 = features.values().iter().map(|x| x * x).sum();
                Ok::<_, crate::Error>((cross, squares, (at < n_held).then_some(features)))
            };
            for (cross, squares, features) in pool.try_map(wave.min(self.n_blocks() - first), one)? {
                for col in 0..cross.n_cols() {
                    add_scaled(seen.cross.col_mut(col), 1.0, cross.col(col));
                }
                seen.squares += squares;
                self.held.extend(features);
            }
        }
        Ok(seen)
    }

    /// Sets the columns of polynomials (samples × columns, the penalised ones first), the definition of both kinds in
    /// terms of the polynomials, and what is subtracted from the landmarks' features for each unit of an unpenalised
    /// one.
    pub fn with_columns(
        mut self,
        columns: Matrix,
        (penalised, unpenalised): (Matrix, Matrix),
        cross: Option<Matrix>,
        pool: &Pool,
    ) -> Self {
        debug_assert!(cross.is_none() || penalised.n_cols() == 0);
        self.columns = columns;
        self.feature_map.penalised = penalised;
        self.feature_map.columns = unpenalised;
        self.feature_map.cross = cross;
        let mut held = std::mem::take(&mut self.held);
        pool.map_mut(&mut held, |at, features| *features = self.stacked(at, features));
        self.held = held;
        self
    }

    fn stacked(&self, at: usize, features: &Matrix) -> Matrix {
        let (b, q) = (features.n_rows(), self.columns.n_cols());
        let mut out = Matrix::zeros(b + q, features.n_cols());
        for (col, sample) in self.range(at).enumerate() {
            let (top, bottom) = out.col_mut(col).split_at_mut(b);
            top.copy_from_slice(features.col(col));
            bottom.iter_mut().enumerate().for_each(|(k, x)| *x = self.columns.at(sample, k));
            if let Some(cross) = &self.feature_map.cross {
                bottom.iter().enumerate().for_each(|(k, x)| add_scaled(top, -x, cross.col(k)));
            }
        }
        out
    }
}

impl Blocks for FeatureBlocks<'_> {
    type Span = ();

    fn n_rows(&self) -> usize {
        self.n_samples
    }

    fn feature_map(&self) -> &FeatureMap {
        &self.feature_map
    }

    fn read(&self, _: Range<usize>) -> Result<()> {
        Ok(())
    }

    fn block<'s>(&'s self, (): &'s (), rows: Range<usize>) -> Result<Block<'s>> {
        let at = rows.start / BLOCK;
        Ok(Block::Lifted(match self.held.get(at) {
            Some(block) => Cow::Borrowed(block),
            None => Cow::Owned(self.stacked(at, &self.penalised(at))),
        }))
    }
}
