//! Some of the rows of a regression; and all rows in this process, a chunk at a time on all threads: features that are in
//! memory, or made from the samples at each pass.

use std::ops::Range;

use super::{Fitted, ROWS};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::partition::{Executor, Kind, Query, add_answer};
use crate::problem::RowFeatures;

/// Rows of features with the targets of a regression.
#[derive(Clone, Copy, Debug)]
pub struct RidgeRows;

/// Some of the rows.
#[derive(Clone, Copy, Debug)]
pub struct RidgePart<'p> {
    /// The features. Weighted ones that are not penalized are orthonormal over all rows, and the others are orthogonal to
    /// them.
    pub features: RowFeatures<'p>,
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

impl Executor for RidgePart<'_> {
    type Of = RidgeRows;

    fn reduce<Q: Query<Of = RidgeRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        query.answer(self, monitor)
    }
}

/// Takes features of some rows.
pub(crate) type TakesFeatures<'w> = dyn FnMut(RowFeatures<'_>) -> Result<()> + 'w;

/// Passes on the features of any range of rows.
pub(crate) trait Chunks: Fn(Range<usize>, &mut TakesFeatures<'_>) -> Result<()> + Sync + Send {}

impl<F: Fn(Range<usize>, &mut TakesFeatures<'_>) -> Result<()> + Sync + Send> Chunks for F {}

/// Rows whose features `with` passes on.
pub(crate) struct ChunkedRows<'a, F> {
    pub fitted: &'a Fitted,
    pub pool: &'a Pool,
    pub with: F,
}

impl<F: Chunks> Executor for ChunkedRows<'_, F> {
    type Of = RidgeRows;

    fn reduce<Q: Query<Of = RidgeRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let (mut total, fitted, with) = (None, self.fitted, &self.with);
        let n = fitted.weights.len();
        let count = RowCount::new(monitor, "solve", n);
        let answer = |rows: Range<usize>| {
            count.go_on()?;
            let mut found = None;
            with(rows.clone(), &mut |features| {
                found = Some(query.answer(&mut fitted.part(rows.clone(), features), monitor)?);
                Ok(())
            })?;
            count.add(rows.len());
            found.ok_or(Error::NoSamples(""))
        };
        self.pool.fold_chunks(n, ROWS, answer, |next| add_answer(query, &mut total, next))?;
        total.ok_or(Error::NoSamples(""))
    }
}
