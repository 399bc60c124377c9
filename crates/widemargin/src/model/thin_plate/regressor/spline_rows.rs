//! Rows of a smoothing spline on bases, in memory or read in passes.

use std::ops::Range;

use super::super::remote::BasisPlan;
use super::super::stream::ReadRows;
use crate::data::DenseView;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::partition::{Executor, Query, add_answer};
use crate::problem::RowFeatures;
use crate::solve::ridge::{Fitted, ROWS, RidgeRows};
use crate::solve::thin_plate::{FeatureMap, FirstSums, Settled};

/// Samples and their weights.
#[derive(Clone, Copy)]
pub(super) struct WeightedRows<'a> {
    pub read: &'a ReadRows<'a>,
    pub weights: &'a [f64],
}

impl BasisPlan {
    fn on_rows<T>(
        &self,
        rows: WeightedRows<'_>,
        range: Range<usize>,
        work: impl FnOnce(&DenseView<'_, f64>, &[f64]) -> Result<T>,
    ) -> Result<T> {
        let values = (rows.read)(range.clone())?;
        work(&DenseView::new(&values, range.len(), self.basis.n_features())?, &rows.weights[range])
    }

    /// The free polynomials of a spline on these rows.
    pub(super) fn polynomials_of(&self, rows: WeightedRows<'_>, pool: &Pool, monitor: &Monitor<'_>) -> Result<Settled> {
        let (n, mut sums) = (rows.weights.len(), FirstSums::default());
        let count = RowCount::new(monitor, "polynomials", n);
        let some = |range: Range<usize>| {
            count.go_on()?;
            let found = self.on_rows(rows, range.clone(), |rows, weights| self.first_sums(rows, weights))?;
            count.add(range.len());
            Ok::<_, Error>(found)
        };
        pool.fold_chunks(n, ROWS, some, |next| {
            sums.add(next);
            Ok::<_, Error>(())
        })?;
        let n_present = rows.weights.iter().filter(|weight| **weight > 0.0).count();
        self.free_polynomials(&sums, n_present, rows.weights.iter().sum())
    }
}

/// Features of the samples of weight above 0 with their targets, recomputed at each pass.
pub(super) struct SplineRows<'a> {
    plan: &'a BasisPlan,
    map: FeatureMap,
    rows: WeightedRows<'a>,
    /// Of the samples of weight above 0.
    fitted: &'a Fitted,
    /// Which these are, ascending.
    present: Vec<usize>,
    pool: &'a Pool,
}

impl<'a> SplineRows<'a> {
    /// With the settled polynomials of a plan.
    pub fn new(
        plan: &'a BasisPlan,
        settled: &Settled,
        rows: WeightedRows<'a>,
        fitted: &'a Fitted,
        pool: &'a Pool,
    ) -> Self {
        SplineRows {
            map: settled.feature_map(plan.feature_map.clone()),
            plan,
            rows,
            fitted,
            present: (0..rows.weights.len()).filter(|&row| rows.weights[row] > 0.0).collect(),
            pool,
        }
    }
}

impl Executor for SplineRows<'_> {
    type Of = RidgeRows;

    fn reduce<Q: Query<Of = RidgeRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let (mut total, n) = (None, self.rows.weights.len());
        let count = RowCount::new(monitor, "solve", n);
        let answer = |range: Range<usize>| {
            count.go_on()?;
            let place = |row: usize| self.present.partition_point(|&present| present < row);
            let own = place(range.start)..place(range.end);
            let n_rows = range.len();
            let lifted = |rows: &DenseView<'_, f64>, weights: &[f64]| self.plan.lifted(rows, weights, &self.map);
            let values = self.plan.on_rows(self.rows, range, lifted)?;
            let n_penalized = self.map.n_penalized();
            let width = n_penalized + self.map.n_free();
            let features = RowFeatures::Weighted { values: &values, width, n_penalized };
            let found = query.answer(&mut self.fitted.part(own, features), monitor)?;
            count.add(n_rows);
            Ok(found)
        };
        self.pool.fold_chunks(n, ROWS, answer, |next| add_answer(query, &mut total, next))?;
        total.ok_or(Error::NoSamples(""))
    }
}
