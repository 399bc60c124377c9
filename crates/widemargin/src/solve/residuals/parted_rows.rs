//! Rows that are elsewhere, on other machines or read in passes: only sums over them are transferred.

use std::cell::RefCell;

use super::factor::Factor;
use super::residual_sums::{Change, Found, Products, ResidualSums, Wanted};
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::factor::{add_scaled, dot};
use crate::monitor::Monitor;
use crate::partition::Executor;
use crate::solve::ridge::{RidgeRows, center_of, rounding_of_center};
use crate::tuning::POWER_ITERATIONS;

/// An executor, whatever its type.
trait Ask {
    fn ask(&mut self, wanted: Vec<Wanted>, monitor: &Monitor<'_>) -> Result<Found>;
}

impl<E: Executor<Of = RidgeRows>> Ask for E {
    fn ask(&mut self, wanted: Vec<Wanted>, monitor: &Monitor<'_>) -> Result<Found> {
        // The solver reports its own progress; this is one of many passes.
        self.reduce(&ResidualSums { wanted }, &monitor.without_progress())
    }
}

/// The rows of weight above 0 of an executor, whose features are plain, less their weighted mean. Numbers of the rows
/// stay with the solver, in the order of the rows. Each call is a pass over the features.
pub(crate) struct PartedRows<'e> {
    executor: RefCell<&'e mut dyn Ask>,
    /// 0 without an intercept.
    center: Vec<f64>,
    /// The number of each row among all rows.
    numbers: Vec<usize>,
    n_all: usize,
}

impl<'e> PartedRows<'e> {
    /// Of all rows, with weights, and the number of their targets.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Parameter`] for more features than products are computed of;
    /// [`Error::NotFinite`]; [`Error::Cancelled`].
    pub fn new(
        executor: &'e mut impl Executor<Of = RidgeRows>,
        weights: &[f64],
        n_outputs: usize,
        max_features: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let (center, _) = center_of(executor, (n_outputs, weights.iter().sum()), max_features, monitor)?;
        if let Some(value) = center.iter().find(|value| !value.is_finite()) {
            return Err(Error::NotFinite { what: "a sum of the features".into(), value: *value });
        }
        let numbers = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        Ok(PartedRows { executor: RefCell::new(executor), center, numbers, n_all: weights.len() })
    }

    fn ask(&self, wanted: Vec<Wanted>, monitor: &Monitor<'_>) -> Result<Found> {
        self.executor.borrow_mut().ask(wanted, monitor)
    }

    /// The numbers among all rows of some of these.
    fn among_all(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().map(|&row| self.numbers[row]).collect()
    }

    /// The query of a change, if there is any.
    fn wanted_products(&self, change: &Change<'_>) -> Option<Wanted> {
        let (rows, coefficients) = (self.among_all(change.rows), change.coefficients.to_vec());
        (!rows.is_empty()).then(|| Wanted::Products { rows, coefficients, center: self.center.clone() })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.numbers.len()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.center.len()
    }

    /// The product of every row with `weights`.
    pub fn times(&self, weights: &[f64], monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let of_all = in_order(self.ask(vec![Wanted::Times(weights.to_vec())], monitor)?, self.n_all)?;
        let of_center = dot(&self.center, weights);
        Ok(self.numbers.iter().map(|&row| of_all[row] - of_center).collect())
    }

    /// Changes sums over some rows.
    pub fn add_products(&self, change: Change<'_>, monitor: &Monitor<'_>) -> Result<()> {
        match self.wanted_products(&change) {
            Some(wanted) => add_found(change.sums, self.ask(vec![wanted], monitor)?),
            None => Ok(()),
        }
    }

    /// The sum of the rows, each times its number, and the change, in a single pass.
    pub fn transposed_times_and_products(
        &self,
        numbers: &[f64],
        change: Change<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        let mut of_all = vec![0.0; self.n_all];
        self.numbers.iter().zip(numbers).for_each(|(&row, number)| of_all[row] = *number);
        let mut wanted = vec![Wanted::TransposedTimes(of_all)];
        wanted.extend(self.wanted_products(&change));
        let mut found = self.ask(wanted, monitor)?;
        let mut sum = std::mem::take(&mut found.sum);
        if sum.len() != self.center.len() {
            return Err(wrong());
        }
        add_scaled(&mut sum, -numbers.iter().sum::<f64>(), &self.center);
        if !change.rows.is_empty() {
            add_found(change.sums, found)?;
        }
        Ok(sum)
    }

    /// The trace of Σ v φφᵀ, and roughly its largest eigenvalue.
    pub fn extent(&self, weights: &[f64], monitor: &Monitor<'_>) -> Result<(f64, f64)> {
        let d = self.n_features();
        let (mut sums, all) = (Products::of(d), (0..self.n_rows()).collect::<Vec<usize>>());
        self.add_products(Change { sums: &mut sums, rows: &all, coefficients: weights }, monitor)?;
        let mut lower = sums.lower;
        let trace: f64 = (0..d).map(|at| lower[at * d + at]).sum();
        if trace <= rounding_of_center(&self.center, weights.iter().sum()) {
            lower.fill(0.0);
        }
        let mut direction: Vec<f64> = (0..d).map(|at| lower[at * d + at]).collect();
        let (trace, mut largest) = (direction.iter().sum::<f64>(), 0.0f64);
        for _ in 0..POWER_ITERATIONS {
            let norm = dot(&direction, &direction).sqrt();
            if norm == 0.0 || trace.is_nan() || trace <= 0.0 {
                break;
            }
            direction.iter_mut().for_each(|x| *x /= norm);
            let mut next = vec![0.0; d];
            for (row, values) in lower.chunks(d).enumerate() {
                next[row] += dot(&values[..=row], &direction[..=row]);
                add_scaled(&mut next[..row], direction[row], &values[..row]);
            }
            largest = largest.max(dot(&direction, &next));
            direction = next;
        }
        Ok((trace, largest))
    }

    /// (φ, 1)ᵀ H⁻¹ (φ, 1) of some rows, in ascending order, with the factor of H.
    pub fn leverages(&self, factor: &Factor, rows: &[usize], monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let (rows, factor, center) = (self.among_all(rows), factor.clone(), self.center.clone());
        let n = rows.len();
        in_order(self.ask(vec![Wanted::Leverages { rows, factor, center }], monitor)?, n)
    }

    /// The contribution of centering to the intercept.
    pub fn shift(&self, weights: &[f64]) -> f64 {
        -dot(&self.center, weights)
    }
}

/// Numbers of n rows from runs in any order, which are together all of them.
fn in_order(Found { mut runs, .. }: Found, n: usize) -> Result<Vec<f64>> {
    runs.sort_by_key(|(first, _)| *first);
    let mut numbers = Vec::with_capacity(n);
    for (first, run) in runs.into_iter().filter(|(_, run)| !run.is_empty()) {
        if first != numbers.len() {
            return Err(wrong());
        }
        numbers.extend(run);
    }
    if numbers.len() == n { Ok(numbers) } else { Err(wrong()) }
}

fn add_found(sums: &mut Products, found: Found) -> Result<()> {
    let more = found.products;
    if (more.lower.len(), more.column.len()) != (sums.lower.len(), sums.column.len()) {
        return Err(wrong());
    }
    linalg::add(&mut sums.lower, &more.lower);
    linalg::add(&mut sums.column, &more.column);
    Ok(())
}

fn wrong() -> Error {
    Error::shape(
        "the answer of rows of a regression",
        "another answer",
        "one of all rows, in parts that follow each other",
    )
}
