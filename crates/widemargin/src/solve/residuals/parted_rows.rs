//! Rows that are elsewhere, on other machines or read in passes: only sums over them are transferred.

use std::cell::RefCell;

use super::factor::Factor;
use super::residual_rows::{Change, Extent, Products};
use super::residual_sums::{Found, ResidualSums, Wanted};
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::factor::{add_scaled, dot};
use crate::monitor::Monitor;
use crate::partition::Executor;
use crate::solve::ridge::{RidgeRows, center_of, rounding_of_center};

/// An executor, whatever its type.
trait Ask {
    fn ask(&mut self, wanted: Vec<Wanted>, monitor: &Monitor<'_>) -> Result<Vec<Found>>;
}

impl<E: Executor<Of = RidgeRows>> Ask for E {
    fn ask(&mut self, wanted: Vec<Wanted>, monitor: &Monitor<'_>) -> Result<Vec<Found>> {
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

    fn ask_one(&self, wanted: Wanted, monitor: &Monitor<'_>) -> Result<Found> {
        self.executor.borrow_mut().ask(vec![wanted], monitor)?.pop().ok_or_else(wrong)
    }

    /// The numbers among all rows of some of these.
    fn among_all(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().map(|&row| self.numbers[row]).collect()
    }

    fn wanted_sum(&self, numbers: &[f64]) -> Wanted {
        let mut of_all = vec![0.0; self.n_all];
        self.numbers.iter().zip(numbers).for_each(|(&row, number)| of_all[row] = *number);
        Wanted::TransposedTimes(of_all)
    }

    /// The sum less the numbers times the center.
    fn centered_sum(&self, found: Option<Found>, numbers: &[f64]) -> Result<Vec<f64>> {
        match found {
            Some(Found::Sum(mut sum)) if sum.len() == self.center.len() => {
                add_scaled(&mut sum, -numbers.iter().sum::<f64>(), &self.center);
                Ok(sum)
            }
            _ => Err(wrong()),
        }
    }

    /// The query of a change, if there is any.
    fn wanted_products(&self, change: &Change<'_>) -> Option<Wanted> {
        let Change { added, removed, weights, .. } = change;
        let signed =
            added.iter().map(|&row| (row, weights[row])).chain(removed.iter().map(|&row| (row, -weights[row])));
        let mut signed: Vec<(usize, f64)> = signed.collect();
        signed.sort_unstable_by_key(|(row, _)| *row);
        let (rows, coefficients): (Vec<usize>, Vec<f64>) = signed.into_iter().unzip();
        let rows = self.among_all(&rows);
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
        let of_all = in_order(self.ask_one(Wanted::Times(weights.to_vec()), monitor)?, self.n_all)?;
        let of_center = dot(&self.center, weights);
        Ok(self.numbers.iter().map(|&row| of_all[row] - of_center).collect())
    }

    /// Changes sums over some rows.
    pub fn add_products(&self, change: Change<'_>, monitor: &Monitor<'_>) -> Result<()> {
        match self.wanted_products(&change) {
            Some(wanted) => add_found(change.sums, self.ask_one(wanted, monitor)?),
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
        let wanted = [Some(self.wanted_sum(numbers)), self.wanted_products(&change)];
        let mut found = self.executor.borrow_mut().ask(wanted.into_iter().flatten().collect(), monitor)?.into_iter();
        let sum = self.centered_sum(found.next(), numbers)?;
        found.try_for_each(|products| add_found(change.sums, products))?;
        Ok(sum)
    }

    /// How large Σ v φφᵀ is.
    pub fn extent(&self, weights: &[f64], monitor: &Monitor<'_>) -> Result<Extent> {
        let d = self.n_features();
        let (mut sums, all) = (Products::of(d), (0..self.n_rows()).collect::<Vec<usize>>());
        self.add_products(Change { sums: &mut sums, added: &all, removed: &[], weights }, monitor)?;
        let mut lower = sums.lower;
        let trace: f64 = (0..d).map(|at| lower[at * d + at]).sum();
        if trace <= rounding_of_center(&self.center, weights.iter().sum()) {
            lower.fill(0.0);
        }
        Extent::new((0..d).map(|at| lower[at * d + at]).collect(), |direction| {
            let mut next = vec![0.0; d];
            for (row, values) in lower.chunks(d).enumerate() {
                next[row] += dot(&values[..=row], &direction[..=row]);
                add_scaled(&mut next[..row], direction[row], &values[..row]);
            }
            Ok((dot(direction, &next), next))
        })
    }

    /// (φ, 1)ᵀ H⁻¹ (φ, 1) of some rows, in ascending order, with the factor of H.
    pub fn leverages(&self, factor: &Factor, rows: &[usize], monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let (rows, factor, center) = (self.among_all(rows), factor.clone(), self.center.clone());
        let n = rows.len();
        in_order(self.ask_one(Wanted::Leverages { rows, factor, center }, monitor)?, n)
    }

    /// The contribution of centering to the intercept.
    pub fn shift(&self, weights: &[f64]) -> f64 {
        -dot(&self.center, weights)
    }
}

/// Numbers of n rows from runs in any order, which are together all of them.
fn in_order(found: Found, n: usize) -> Result<Vec<f64>> {
    let Found::Runs(mut runs) = found else { return Err(wrong()) };
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
    match found {
        Found::Products(more) if (more.lower.len(), more.column.len()) == (sums.lower.len(), sums.column.len()) => {
            linalg::add(&mut sums.lower, &more.lower);
            linalg::add(&mut sums.column, &more.column);
            Ok(())
        }
        _ => Err(wrong()),
    }
}

fn wrong() -> Error {
    Error::shape(
        "the answer of rows of a regression",
        "another answer",
        "one of all rows, in parts that follow each other",
    )
}
