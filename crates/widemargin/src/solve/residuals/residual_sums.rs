//! The query of the solver to rows that others hold: several sums over plain features in one pass.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::factor::Factor;
use super::residual_rows::Products;
use crate::error::{Error, Result};
use crate::linalg::factor::{Matrix, add_scaled};
use crate::linalg::{self, Columns, add_gram};
use crate::monitor::Monitor;
use crate::partition::{Kind, Query, part_query};
use crate::solve::dual::linear as linear_dual;
use crate::solve::ridge::{ROWS, RidgeFeatures, RidgePart, RidgeRows};

/// The queries to all rows. Features are centered only for products with each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Wanted {
    /// The product of each row with weights.
    Times(Vec<f64>),
    /// The sum of the rows, each times its number.
    TransposedTimes(Vec<f64>),
    /// Σ v φφᵀ and Σ v φ over some rows, in ascending order, each with its v; a negative one takes a row away.
    Products { rows: Vec<usize>, coefficients: Vec<f64>, center: Vec<f64> },
    /// The leverages of some rows, in ascending order.
    Leverages { rows: Vec<usize>, factor: Factor, center: Vec<f64> },
}

/// The results of some rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Found {
    /// Numbers of rows, with the place of the first of each run: among all rows, or among the requested ones.
    Runs(Vec<(usize, Vec<f64>)>),
    Sum(Vec<f64>),
    /// Empty where none of the rows is meant.
    Products(Products),
}

// The answers have a number of each row, or features × features: a checkpoint with them would be larger than the
// features.
part_query! { pub(crate) RidgeRows: ResidualSums "residual_sums" { wanted: Vec<Wanted> } -> Vec<Found> { IS_RECORDED = false }
|at, part, monitor| {
    let rows = PlainRows::new(part)?;
    at.wanted.iter().map(|wanted| rows.answer(wanted, monitor)).collect()
},
|_, total, next| total.iter_mut().zip(next).for_each(|(total, next)| total.add(next)) }

impl Found {
    /// Adds the results of the rows that follow.
    fn add(&mut self, next: Found) {
        match (self, next) {
            (Found::Runs(runs), Found::Runs(next)) => runs.extend(next),
            (Found::Sum(sum), Found::Sum(next)) => linalg::add(sum, &next),
            (Found::Products(sums), Found::Products(next)) if sums.column.is_empty() => *sums = next,
            (Found::Products(sums), Found::Products(next)) if !next.column.is_empty() => {
                linalg::add(&mut sums.lower, &next.lower);
                linalg::add(&mut sums.column, &next.column);
            }
            _ => {}
        }
    }
}

/// Some of the rows, with features as they are.
struct PlainRows<'p> {
    values: &'p [f32],
    width: usize,
    /// Among all rows.
    numbers: Range<usize>,
}

impl<'p> PlainRows<'p> {
    fn new(part: &RidgePart<'p>) -> Result<Self> {
        let RidgeFeatures::Plain { values, first, .. } = part.features else {
            return Err(Error::shape("rows of a regression", "features on bases", "features as they are"));
        };
        Ok(PlainRows { values, width: part.width, numbers: first..first + part.weights.len() })
    }

    fn row(&self, number: usize) -> &[f32] {
        &self.values[(number - self.numbers.start) * self.width..][..self.width]
    }

    /// Which of the places of `rows` are of these rows.
    fn own(&self, rows: &[usize]) -> Range<usize> {
        let before = |end: usize| rows.partition_point(|row| *row < end);
        before(self.numbers.start)..before(self.numbers.end)
    }

    /// Writes a row, less the center.
    fn centered(&self, number: usize, center: &[f64], out: &mut [f64]) {
        let features = self.row(number).iter().zip(center);
        out.iter_mut().zip(features).for_each(|(out, (x, center))| *out = f64::from(*x) - center);
    }

    fn answer(&self, wanted: &Wanted, monitor: &Monitor<'_>) -> Result<Found> {
        monitor.go_on("solve")?;
        match wanted {
            Wanted::Times(weights) => {
                self.check(weights.len(), self.width)?;
                let products = self.numbers.clone().map(|row| linear_dual::dot(self.row(row), weights)).collect();
                Ok(Found::Runs(vec![(self.numbers.start, products)]))
            }
            Wanted::TransposedTimes(numbers) => {
                let own = numbers.get(self.numbers.clone()).unwrap_or_default();
                self.check(own.len(), self.numbers.len())?;
                let mut sum = vec![0.0; self.width];
                for (row, number) in self.numbers.clone().zip(own).filter(|(_, number)| **number != 0.0) {
                    linear_dual::add(self.row(row), *number, &mut sum);
                }
                Ok(Found::Sum(sum))
            }
            Wanted::Products { rows, coefficients, center } => {
                self.check(center.len(), self.width)?;
                self.check(coefficients.len(), rows.len())?;
                let own = self.own(rows);
                self.products(&rows[own.clone()], &coefficients[own], center, monitor).map(Found::Products)
            }
            Wanted::Leverages { rows, factor, center } => {
                self.check(center.len(), self.width)?;
                let own = self.own(rows);
                let mut leverages = Vec::with_capacity(own.len());
                for rows in rows[own.clone()].chunks(ROWS) {
                    monitor.go_on("leave-one-out")?;
                    let mut columns = Matrix::zeros(self.width, rows.len());
                    rows.iter().enumerate().for_each(|(to, &row)| self.centered(row, center, columns.col_mut(to)));
                    leverages.extend(factor.leverages(columns));
                }
                Ok(Found::Runs(vec![(own.start, leverages)]))
            }
        }
    }

    fn products(
        &self,
        rows: &[usize],
        coefficients: &[f64],
        center: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<Products> {
        let d = self.width;
        if rows.is_empty() {
            return Ok(Products::default());
        }
        let mut sums = Products::of(d);
        for is_added in [true, false] {
            let of_sign: Vec<usize> = (0..rows.len()).filter(|&at| (coefficients[at] > 0.0) == is_added).collect();
            let mut gram = if is_added || of_sign.is_empty() { Vec::new() } else { vec![0.0; d * d] };
            for some in of_sign.chunks(ROWS) {
                monitor.go_on("solve")?;
                let mut block = vec![0.0; some.len() * d];
                for (out, &at) in block.chunks_mut(d.max(1)).zip(some) {
                    self.centered(rows[at], center, out);
                    add_scaled(&mut sums.column, coefficients[at], out);
                    let root = coefficients[at].abs().sqrt();
                    out.iter_mut().for_each(|x| *x *= root);
                }
                if d > 0 {
                    let columns = Columns::new(&block, d, 0, d);
                    add_gram(if is_added { &mut sums.lower } else { &mut gram }, columns);
                }
            }
            if !gram.is_empty() {
                add_scaled(&mut sums.lower, -1.0, &gram);
            }
        }
        Ok(sums)
    }

    /// Deserialized results may be of other rows.
    fn check(&self, found: usize, expected: usize) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Error::shape("a query to rows of a regression", format!("{found} numbers"), format!("{expected}")))
    }
}
