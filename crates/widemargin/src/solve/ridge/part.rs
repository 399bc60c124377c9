//! Some of the rows of a regression; and all rows in this process, a chunk at a time on all threads: features that are in
//! memory, or made from the samples at each pass.

use std::ops::Range;

use super::ROWS;
use super::spectrum::{LeaveOneOut, add_powers, no_powers};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
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

impl Executor<RidgeRows> for RidgePart<'_> {
    fn reduce<Q: Query<Of = RidgeRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        query.answer(self, monitor)
    }
}

/// The data to fit: targets, weights, and the part of each weight that is one copy.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    /// Outputs × samples: one column per sample.
    pub targets: Matrix,
    /// Above 0, but for rows that are only evaluated.
    pub weights: Vec<f64>,
    /// At most the weights.
    pub units: Vec<f64>,
}

impl Fitted {
    /// Of targets samples × outputs.
    pub fn new(targets: &Matrix, weights: Vec<f64>, units: Vec<f64>) -> Self {
        Fitted { targets: targets.transposed(), weights, units }
    }

    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Some of the rows, with their features.
    pub fn part<'a>(&'a self, rows: Range<usize>, features: RowFeatures<'a>) -> RidgePart<'a> {
        let k = self.targets.n_rows();
        RidgePart {
            features,
            targets: &self.targets.values()[rows.start * k..rows.end * k],
            weights: &self.weights[rows.clone()],
            units: &self.units[rows],
        }
    }

    /// The errors of leave-one-out decision values at λ, samples × outputs, whose weights are multiplied by factors.
    pub fn leave_one_out(&self, lambda: f64, values: &Matrix, factors: &[f64]) -> LeaveOneOut {
        let k = values.n_cols();
        let mut sums = no_powers(k);
        for (row, (&weight, &unit)) in self.weights.iter().zip(&self.units).enumerate() {
            let targets = self.targets.col(row);
            let residuals: Vec<f64> = targets.iter().enumerate().map(|(at, y)| y - values.at(row, at)).collect();
            add_powers(&mut sums, &residuals, targets, (factors[row] * weight, unit));
        }
        LeaveOneOut::of_powers(lambda, 0..k, &sums)
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

impl<F: Chunks> Executor<RidgeRows> for ChunkedRows<'_, F> {
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
