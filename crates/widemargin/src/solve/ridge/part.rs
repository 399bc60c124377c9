//! Some of the rows of a regression; and all rows in this process, a chunk at a time on all threads: features that are in
//! memory, or made from the samples at each pass.

use std::ops::Range;

use super::{Fitted, ROWS};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::partition::{Executor, Kind, Query, add_answer};

/// Rows of features with the targets of a regression.
#[derive(Clone, Copy, Debug)]
pub struct RidgeRows;

/// The features of some rows, row-major.
#[derive(Clone, Copy, Debug)]
pub enum RidgeFeatures<'p> {
    /// As they are; nothing else is unpenalized but an intercept, if there is one.
    Plain {
        /// Rows × features.
        values: &'p [f32],
        /// Whether there is an intercept.
        has_intercept: bool,
    },
    /// Times the roots of the weights. The unpenalized ones are orthonormal over all rows, and the others are
    /// orthogonal to them.
    Lifted {
        /// Rows × features, the penalized ones first.
        values: &'p [f64],
        /// How many are penalized.
        n_penalized: usize,
    },
}

/// Some of the rows.
#[derive(Clone, Copy, Debug)]
pub struct RidgePart<'p> {
    /// The features.
    pub features: RidgeFeatures<'p>,
    /// How many numbers a row they have.
    pub width: usize,
    /// Rows × outputs, row-major.
    pub targets: &'p [f64],
    /// At least 0.
    pub weights: &'p [f64],
    /// The part of each weight that leave-one-out removes.
    pub units: &'p [f64],
}

impl Kind for RidgeRows {
    type Part<'p> = RidgePart<'p>;

    const NAME: &'static str = "ridge rows";
}

/// What a fit knows of each row but its features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowTargets<'a> {
    /// Rows × outputs, row-major.
    pub values: &'a [f64],
    pub n_outputs: usize,
    pub weights: &'a [f64],
    pub units: &'a [f64],
}

impl<'a> RowTargets<'a> {
    /// Of targets in rows, which are those of `fitted`.
    pub fn of(fitted: &'a Fitted, by_row: &'a [f64]) -> Self {
        let Fitted { targets, weights, units } = fitted;
        RowTargets { values: by_row, n_outputs: targets.n_cols(), weights, units }
    }

    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Some of the rows, with their features, `width` numbers a row.
    pub fn part(&self, rows: Range<usize>, features: RidgeFeatures<'a>, width: usize) -> RidgePart<'a> {
        RidgePart {
            features,
            width,
            targets: &self.values[rows.start * self.n_outputs..rows.end * self.n_outputs],
            weights: &self.weights[rows.clone()],
            units: &self.units[rows],
        }
    }
}

/// Takes features of some rows, and their number in a row.
pub(crate) type TakesFeatures<'w> = dyn FnMut(RidgeFeatures<'_>, usize) -> Result<()> + 'w;

/// Passes on the features of any range of rows.
pub(crate) trait Chunks: Fn(Range<usize>, &mut TakesFeatures<'_>) -> Result<()> + Sync + Send {}

impl<F: Fn(Range<usize>, &mut TakesFeatures<'_>) -> Result<()> + Sync + Send> Chunks for F {}

/// Rows whose features `with` passes on.
pub(crate) struct ChunkedRows<'a, F> {
    pub targets: RowTargets<'a>,
    pub pool: &'a Pool,
    pub with: F,
}

impl<F: Chunks> Executor for ChunkedRows<'_, F> {
    type Of = RidgeRows;

    fn reduce<Q: Query<Of = RidgeRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let (mut total, targets, with) = (None, self.targets, &self.with);
        let count = RowCount::new(monitor, "solve", targets.weights.len());
        let answer = |rows: Range<usize>| {
            count.go_on()?;
            let mut found = None;
            with(rows.clone(), &mut |features, width| {
                found = Some(query.answer(&mut targets.part(rows.clone(), features, width), monitor)?);
                Ok(())
            })?;
            count.add(rows.len());
            found.ok_or(Error::NoSamples(""))
        };
        self.pool.fold_chunks(targets.weights.len(), ROWS, answer, |next| add_answer(query, &mut total, next))?;
        total.ok_or(Error::NoSamples(""))
    }
}
