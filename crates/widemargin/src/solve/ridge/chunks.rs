//! Rows of a regression in this process, a chunk at a time on all threads: features that are in memory, or made from the
//! samples at each pass.

use std::ops::Range;

use super::part::{RidgeFeatures, RidgePart, RidgeRows};
use super::{Fitted, ROWS};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Query, add_answer};

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
        let answer = |rows: Range<usize>| {
            let mut found = None;
            with(rows.clone(), &mut |features, width| {
                found = Some(query.answer(&mut targets.part(rows.clone(), features, width), monitor)?);
                Ok(())
            })?;
            found.ok_or(Error::NoSamples(""))
        };
        self.pool.fold_chunks(targets.weights.len(), ROWS, answer, |next| add_answer(query, &mut total, next))?;
        total.ok_or(Error::NoSamples(""))
    }
}
