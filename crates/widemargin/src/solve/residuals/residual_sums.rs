//! The query of the solver to rows that others hold: several sums over plain features in one pass.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::factor::Factor;
use crate::error::{Error, Result};
use crate::linalg::factor::{Matrix, add_scaled};
use crate::linalg::{self, Columns, add_gram};
use crate::monitor::Monitor;
use crate::partition::{Kind, Query, part_query};
use crate::solve::ridge::{ROWS, RidgeFeatures, RidgePart, RidgeRows, Values};

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

/// Sums over rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Products {
    /// The lower triangle of Σ v φφᵀ, row-major.
    pub lower: Vec<f64>,
    /// Σ v φ.
    pub column: Vec<f64>,
}

impl Products {
    /// Of no rows.
    pub fn of(n_features: usize) -> Self {
        Products { lower: vec![0.0; n_features * n_features], column: vec![0.0; n_features] }
    }
}

/// Rows whose products are added to sums, ascending, each with its v; a negative one takes a row away.
pub(crate) struct Change<'a> {
    pub sums: &'a mut Products,
    pub rows: &'a [usize],
    pub coefficients: &'a [f64],
}

/// The results of some rows; empty where they were not requested.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    /// Numbers of rows, with the place of the first of each run: among all rows, or among the requested ones.
    pub runs: Vec<(usize, Vec<f64>)>,
    pub sum: Vec<f64>,
    /// Empty where none of the rows is meant.
    pub products: Products,
}

// The answers have a number of each row, or features × features: a checkpoint with them would be larger than the
// features.
part_query! { pub(crate) RidgeRows: ResidualSums "residual_sums" { wanted: Vec<Wanted> } -> Found { IS_RECORDED = false }
|at, part, monitor| {
    let (rows, mut found) = (PlainRows::new(part)?, Found::default());
    at.wanted.iter().try_for_each(|wanted| rows.answer(wanted, &mut found, monitor))?;
    Ok(found)
},
|_, total, next| {
    total.runs.extend(next.runs);
    add_any(&mut total.sum, next.sum);
    add_any(&mut total.products.lower, next.products.lower);
    add_any(&mut total.products.column, next.products.column);
} }

/// Adds the sums of the rows that follow; either may be empty.
fn add_any(sums: &mut Vec<f64>, next: Vec<f64>) {
    if sums.is_empty() {
        *sums = next;
    } else {
        linalg::add(sums, &next);
    }
}

/// Some of the rows, with features as they are.
struct PlainRows<'p> {
    values: Values<'p>,
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

    fn row(&self, number: usize) -> Values<'p> {
        self.values.row(number - self.numbers.start, self.width)
    }

    /// Which of the places of `rows` are of these rows.
    fn own(&self, rows: &[usize]) -> Range<usize> {
        let before = |end: usize| rows.partition_point(|row| *row < end);
        before(self.numbers.start)..before(self.numbers.end)
    }

    fn answer(&self, wanted: &Wanted, found: &mut Found, monitor: &Monitor<'_>) -> Result<()> {
        monitor.go_on("solve")?;
        match wanted {
            Wanted::Times(weights) => {
                self.check(weights.len(), self.width)?;
                let products = self.numbers.clone().map(|row| self.row(row).dot(weights)).collect();
                found.runs.push((self.numbers.start, products));
            }
            Wanted::TransposedTimes(numbers) => {
                let own = numbers.get(self.numbers.clone()).unwrap_or_default();
                self.check(own.len(), self.numbers.len())?;
                let mut sum = vec![0.0; self.width];
                for (row, number) in self.numbers.clone().zip(own).filter(|(_, number)| **number != 0.0) {
                    self.row(row).add_to(&mut sum, *number);
                }
                found.sum = sum;
            }
            Wanted::Products { rows, coefficients, center } => {
                self.check(center.len(), self.width)?;
                self.check(coefficients.len(), rows.len())?;
                let own = self.own(rows);
                found.products = self.products(&rows[own.clone()], &coefficients[own], center, monitor)?;
            }
            Wanted::Leverages { rows, factor, center } => {
                self.check(center.len(), self.width)?;
                let own = self.own(rows);
                let mut leverages = Vec::with_capacity(own.len());
                for rows in rows[own.clone()].chunks(ROWS) {
                    monitor.go_on("leave-one-out")?;
                    let mut columns = Matrix::zeros(self.width, rows.len());
                    rows.iter()
                        .enumerate()
                        .for_each(|(to, &row)| self.row(row).centered(center, 1.0, columns.col_mut(to)));
                    leverages.extend(factor.leverages(columns));
                }
                found.runs.push((own.start, leverages));
            }
        }
        Ok(())
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
                    self.row(rows[at]).centered(center, 1.0, out);
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
