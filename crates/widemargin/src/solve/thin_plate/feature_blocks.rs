//! The features of many samples on landmarks, a block of samples at a time: held where memory allows, computed anew
//! at every pass where not.
//!
//! A block is computed whole, always from the same samples, so that a held one and one computed anew have the same
//! bits: memory changes how long a fit takes, never what it finds.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Side, add_product, add_scaled, product};
use crate::par::Pool;

/// Samples a block.
pub(crate) const BLOCK: usize = 512;

/// Fills Φ(z, x) √W for a range of samples x, a column a sample.
pub(crate) type Source<'a> = dyn Fn(Range<usize>) -> Matrix + Sync + 'a;

/// L⁻¹(I − QQᵀ)Φ(z, x) √W: features whose inner product is the projected kernel, LLᵀ that between the landmarks.
pub(crate) struct Raw<'a> {
    pub source: &'a Source<'a>,
    pub n_samples: usize,
    pub n_landmarks: usize,
    /// `None` where the landmarks leave nothing for the kernel.
    pub lift: Option<Cholesky>,
    /// Q, the polynomials' span at the landmarks.
    pub at_landmarks: Matrix,
}

impl Raw<'_> {
    fn n_blocks(&self) -> usize {
        self.n_samples.div_ceil(BLOCK)
    }

    fn range(&self, at: usize) -> Range<usize> {
        at * BLOCK..((at + 1) * BLOCK).min(self.n_samples)
    }

    fn block(&self, at: usize) -> Matrix {
        let range = self.range(at);
        let Some(cholesky) = &self.lift else { return Matrix::zeros(self.n_landmarks, range.len()) };
        let mut features = (self.source)(range);
        let q = &self.at_landmarks;
        if q.n_cols() > 0 {
            let along = product(Side::Transposed(q), Side::Plain(&features));
            add_product(&mut features, -1.0, Side::Plain(q), Side::Plain(&along));
        }
        cholesky.solve_lower(&mut features);
        features
    }

    /// Computes every block once, and keeps the first `n_held` of them.
    pub fn seen(&self, basis: &Matrix, n_held: usize, pool: &Pool) -> Result<Seen> {
        let mut seen = Seen {
            cross: Matrix::zeros(self.n_landmarks, basis.n_cols()),
            squares: 0.0,
            held: Vec::with_capacity(n_held.min(self.n_blocks())),
        };
        // In waves: what is not kept is dropped before the next is computed.
        let wave = 4 * pool.threads();
        for first in (0..self.n_blocks()).step_by(wave) {
            let one = |at: usize| {
                let at = first + at;
                let features = self.block(at);
                let rows: Vec<usize> = self.range(at).collect();
                let cross = product(Side::Plain(&features), Side::Plain(&basis.select_rows(&rows)));
                let squares: f64 = features.values().iter().map(|x| x * x).sum();
                Ok((cross, squares, (at < n_held).then_some(features)))
            };
            for (cross, squares, features) in pool.try_map(wave.min(self.n_blocks() - first), one)? {
                for col in 0..cross.n_cols() {
                    add_scaled(seen.cross.col_mut(col), 1.0, cross.col(col));
                }
                seen.squares += squares;
                seen.held.extend(features);
            }
        }
        Ok(seen)
    }
}

/// What one pass over the raw features finds.
pub(crate) struct Seen {
    /// F U of the features F and the polynomials' span U at the samples.
    pub cross: Matrix,
    /// Sum of the features' squares.
    pub squares: f64,
    pub held: Vec<Matrix>,
}

/// The features over the unpenalised columns, a column a sample.
pub(crate) struct FeatureBlocks<'a> {
    raw: Raw<'a>,
    /// Samples × unpenalised columns.
    columns: Matrix,
    /// What is taken from the features for each unit of an unpenalised column: their part along it. A change of
    /// variables that makes the Hessian well conditioned.
    cross: Option<Matrix>,
    held: Vec<Matrix>,
}

impl<'a> FeatureBlocks<'a> {
    pub fn new(raw: Raw<'a>, held: Vec<Matrix>, columns: Matrix, cross: Option<Matrix>, pool: &Pool) -> Self {
        let mut blocks = FeatureBlocks { raw, columns, cross, held: Vec::new() };
        let mut held = held;
        pool.map_mut(&mut held, |at, features| *features = blocks.stacked(at, features));
        blocks.held = held;
        blocks
    }

    pub fn n_samples(&self) -> usize {
        self.raw.n_samples
    }

    pub fn n_blocks(&self) -> usize {
        self.raw.n_blocks()
    }

    /// The samples of a block.
    pub fn range(&self, at: usize) -> Range<usize> {
        self.raw.range(at)
    }

    pub fn n_penalised(&self) -> usize {
        self.raw.n_landmarks
    }

    pub fn n_free(&self) -> usize {
        self.columns.n_cols()
    }

    pub fn lift(&self) -> Option<&Cholesky> {
        self.raw.lift.as_ref()
    }

    pub fn at_landmarks(&self) -> &Matrix {
        &self.raw.at_landmarks
    }

    /// First the penalised features, then the unpenalised ones.
    pub fn block(&self, at: usize) -> Cow<'_, Matrix> {
        match self.held.get(at) {
            Some(block) => Cow::Borrowed(block),
            None => Cow::Owned(self.stacked(at, &self.raw.block(at))),
        }
    }

    fn stacked(&self, at: usize, features: &Matrix) -> Matrix {
        let (b, q) = (features.n_rows(), self.columns.n_cols());
        let mut out = Matrix::zeros(b + q, features.n_cols());
        for (col, sample) in self.range(at).enumerate() {
            let (top, bottom) = out.col_mut(col).split_at_mut(b);
            top.copy_from_slice(features.col(col));
            bottom.iter_mut().enumerate().for_each(|(k, x)| *x = self.columns.at(sample, k));
            if let Some(cross) = &self.cross {
                bottom.iter().enumerate().for_each(|(k, x)| add_scaled(top, -x, cross.col(k)));
            }
        }
        out
    }
}
