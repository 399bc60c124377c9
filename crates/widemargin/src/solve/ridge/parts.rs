//! Ridge regression on features that are elsewhere, on other machines or read in passes: only sums are transferred.
//!
//! There are three queries to all rows: the mean of the features with the fit by the unpenalized columns; the products
//! of the centered features with each other and with the residuals (n d² flops); and, for all λ at once, the squares of
//! the leave-one-out residuals (2 n d² flops). Everything else is a matter of d × d matrices.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::part::{RidgeFeatures, RidgePart, RidgeRows};
use super::spectrum::{LeaveOneOut, RowLeverage, Shrinking, Spectrum, add_powers, no_powers, rounding_of_center};
use super::{blocks, products_of_block};
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::partition::{Entry, Executor, Kind, Query, part_query};
use crate::solve::dual::linear;

/// The answers of workers for the rows of a regression.
pub const RIDGE_QUERIES: &[Entry<RidgeRows>] =
    &[Entry::of::<Begin>(), Entry::of::<Products>(), Entry::of::<Squares>(), Entry::of::<Values>()];

/// The fit by the unpenalized columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Free {
    /// The mean of the features, where there is an intercept, else 0; none of features that are centered.
    center: Vec<f64>,
    /// QᵀRy, columns × outputs.
    along: Vec<f64>,
    n_features: usize,
    n_outputs: usize,
    /// The sum of the weights.
    total: f64,
}

part_query! { RidgeRows: Begin "begin" { n_outputs: usize, total: f64 } -> (Vec<f64>, Vec<f64>) {}
|at, part, _| part.begin(at.n_outputs, at.total),
|_, total, next| {
    linalg::add(&mut total.0, &next.0);
    linalg::add(&mut total.1, &next.1);
} }

part_query! { RidgeRows: Products "products" { free: Free } -> (Vec<f64>, Vec<f64>) {}
|at, part, monitor| part.products(&at.free, monitor),
|_, total, next| {
    linalg::add(&mut total.0, &next.0);
    linalg::add(&mut total.1, &next.1);
} }

part_query! { RidgeRows: Squares "loo_squares" { free: Free, rotation: Vec<f64>, shrinking: Shrinking } -> Vec<f64> {}
|at, part, monitor| part.squares(at, monitor), |_, total, next| linalg::add(total, &next) }

part_query! { RidgeRows: Values "loo_values" { free: Free, rotation: Vec<f64>, shrinking: Shrinking } -> Vec<f64> {}
|at, part, monitor| part.values(at, monitor), |_, total, next| total.extend(next) }

impl RidgePart<'_> {
    /// The sums of the weighted features, and QᵀRy.
    fn begin(&self, k: usize, total: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let (n, width) = (self.weights.len(), self.width);
        let n_values = match self.features {
            RidgeFeatures::Plain { values, .. } => values.len(),
            RidgeFeatures::Lifted { values, .. } => values.len(),
        };
        if (self.targets.len(), self.units.len(), n_values) != (n * k, n, n * width) {
            let found = format!("{} targets, {} units and {n_values} features", self.targets.len(), self.units.len());
            return Err(Error::shape(
                "rows of a regression",
                found,
                format!("{k}, 1 and {width} for each of {n} rows"),
            ));
        }
        match self.features {
            RidgeFeatures::Plain { values, has_intercept, .. } => {
                let (mut sums, mut along) = (vec![0.0; width], vec![0.0; k * usize::from(has_intercept)]);
                for (row, weight) in self.weights.iter().enumerate().filter(|_| has_intercept) {
                    linear::add(&values[row * width..(row + 1) * width], *weight, &mut sums);
                    let targets = &self.targets[row * k..][..k];
                    along.iter_mut().zip(targets).for_each(|(sum, y)| *sum += weight / total.sqrt() * y);
                }
                Ok((sums, along))
            }
            RidgeFeatures::Lifted { values, n_penalized } => {
                let mut along = vec![0.0; (width - n_penalized) * k];
                for (row, weight) in self.weights.iter().enumerate() {
                    let free = &values[row * width..][n_penalized..width];
                    for (sums, q) in along.chunks_mut(k).zip(free) {
                        let targets = &self.targets[row * k..][..k];
                        sums.iter_mut().zip(targets).for_each(|(sum, y)| *sum += q * weight.sqrt() * y);
                    }
                }
                Ok((vec![0.0; n_penalized], along))
            }
        }
    }

    /// Some rows: centered features times the roots of the weights, and the rows of Q.
    fn block(&self, rows: Range<usize>, free: &Free) -> (Vec<f64>, Vec<f64>) {
        let (mut block, mut unpenalized): (Vec<f64>, Vec<f64>) =
            (Vec::with_capacity(rows.len() * free.n_features), Vec::new());
        for row in rows {
            let root = self.weights[row].sqrt();
            match self.features {
                RidgeFeatures::Plain { values, has_intercept, .. } => {
                    let own = values[row * free.n_features..][..free.n_features].iter().zip(&free.center);
                    block.extend(own.map(|(x, mean)| root * (f64::from(*x) - mean)));
                    unpenalized.extend(has_intercept.then(|| root / free.total.sqrt()));
                }
                RidgeFeatures::Lifted { values, n_penalized } => {
                    let (penalized, others) = values[row * self.width..][..self.width].split_at(n_penalized);
                    block.extend(penalized);
                    unpenalized.extend(others);
                }
            }
        }
        (block, unpenalized)
    }

    /// The residuals of the targets of some rows after the fit by the unpenalized columns, from their rows of Q: rows ×
    /// outputs, in the unit of the targets. 0 where the weight is.
    fn open(&self, rows: Range<usize>, unpenalized: &[f64], free: &Free) -> Vec<f64> {
        let k = free.n_outputs;
        let n_free = unpenalized.len() / rows.len().max(1);
        let mut open = self.targets[rows.start * k..rows.end * k].to_vec();
        for (at, row) in rows.enumerate() {
            let root = self.weights[row].sqrt();
            for (output, value) in open[at * k..][..k].iter_mut().enumerate() {
                let fitted: f64 = (0..n_free).map(|q| unpenalized[at * n_free + q] * free.along[q * k + output]).sum();
                *value = if root > 0.0 { *value - fitted / root } else { 0.0 };
            }
        }
        open
    }

    /// The products of the centered features with each other and with these residuals.
    fn products(&self, free: &Free, monitor: &Monitor<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
        let (d, k) = (free.n_features, free.n_outputs);
        let (mut gram, mut along) = (vec![0.0; d * d], vec![0.0; d * k]);
        for rows in blocks(self.weights.len()) {
            monitor.go_on("solve")?;
            let (block, unpenalized) = self.block(rows.clone(), free);
            let mut right = self.open(rows.clone(), &unpenalized, free);
            for (residuals, weight) in right.chunks_mut(k).zip(&self.weights[rows]) {
                residuals.iter_mut().for_each(|residual| *residual *= weight.sqrt());
            }
            let (more, more_along) = products_of_block(&block, &right, d, k);
            linalg::add(&mut gram, &more);
            linalg::add(&mut along, &more_along);
        }
        Ok((gram, along))
    }

    /// Calls `take` with rows and their leave-one-out residuals, rows × λ × outputs.
    fn each_block(
        &self,
        (free, rotation, shrinking): (&Free, &[f64], &Shrinking),
        monitor: &Monitor<'_>,
        mut take: impl FnMut(Range<usize>, Vec<f64>),
    ) -> Result<()> {
        let r = rotation.len() / free.n_features.max(1);
        for rows in blocks(self.weights.len()) {
            monitor.go_on("leave-one-out")?;
            let (block, unpenalized) = self.block(rows.clone(), free);
            let open = self.open(rows.clone(), &unpenalized, free);
            let mut rotated = vec![0.0; rows.len() * r];
            linalg::times(&mut rotated, &block, rotation, free.n_features);
            let n_free = unpenalized.len() / rows.len();
            let leverage_of = |at: usize| {
                let (weight, unit) = (self.weights[rows.start + at], self.units[rows.start + at]);
                let leverage = unpenalized[at * n_free..][..n_free].iter().map(|q| q * q).sum();
                RowLeverage { root: weight.sqrt(), share: unit / weight, leverage }
            };
            take(rows.clone(), shrinking.residuals(&rotated, open, leverage_of));
        }
        Ok(())
    }

    /// The sums of [`add_powers`] of the leave-one-out residuals, λ × outputs.
    fn squares(&self, at: &Squares, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let Squares { free, rotation, shrinking } = at;
        let (mut sums, k) = (no_powers(shrinking.width()), free.n_outputs);
        self.each_block((free, rotation, shrinking), monitor, |rows, residuals| {
            for (residuals, row) in residuals.chunks(shrinking.width()).zip(rows) {
                if self.weights[row] > 0.0 {
                    add_powers(
                        &mut sums,
                        residuals,
                        &self.targets[row * k..][..k],
                        (self.weights[row], self.units[row]),
                    );
                }
            }
        })?;
        Ok(sums)
    }

    /// The leave-one-out decision values, rows × outputs; of rows without weight those of the fit.
    fn values(&self, at: &Values, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let Values { free, rotation, shrinking } = at;
        // A row that the fit does not know has none to leave out, and any weight will do to read its value.
        let weights: Vec<f64> = self.weights.iter().map(|weight| if *weight > 0.0 { *weight } else { 1.0 }).collect();
        let part = RidgePart { weights: &weights, ..*self };
        let mut values = self.targets.to_vec();
        part.each_block((free, rotation, shrinking), monitor, |rows, residuals| {
            let own = values[rows.start * free.n_outputs..].iter_mut();
            own.zip(residuals).for_each(|(value, residual)| *value -= residual);
        })?;
        Ok(values)
    }
}

/// The weighted mean of the features, 0 without an intercept, and QᵀRy, for [`PartedRidge`].
///
/// # Errors
/// An error of the rows; [`Error::Parameter`] for more than `max_features`; [`Error::Cancelled`].
pub(crate) fn center_of(
    rows: &mut impl Executor<Of = RidgeRows>,
    (n_outputs, total): (usize, f64),
    max_features: usize,
    monitor: &Monitor<'_>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (mut center, along) = rows.reduce(&Begin { n_outputs, total }, monitor)?;
    center.iter_mut().for_each(|sum| *sum /= total);
    if center.len() > max_features {
        let expected = format!("at most {max_features} features in all, whose products with each other are added up");
        return Err(Error::parameter("n_basis", format!("{} features", center.len()), expected));
    }
    Ok((center, along))
}

/// The solution of a problem on features: f = w·φ + b.
pub(crate) struct FeatureSolution {
    /// `[output][feature]`.
    pub weights: Vec<f64>,
    pub intercepts: Vec<f64>,
}

/// A problem decomposed from sums over all rows.
pub(crate) struct PartedRidge {
    free: Free,
    spectrum: Spectrum,
    /// Row-major features × eigenvalues.
    rotation: Vec<f64>,
}

impl PartedRidge {
    /// Of targets of `n_outputs` numbers, with weights that sum to `total`, and at most `max_features` features.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Memory`] for more features than products are computed of; [`Error::NotFinite`];
    /// [`Error::Cancelled`].
    pub fn new(
        rows: &mut impl Executor<Of = RidgeRows>,
        (n_outputs, total): (usize, f64),
        max_features: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let (center, along) = center_of(rows, (n_outputs, total), max_features, monitor)?;
        let n_features = center.len();
        let free = Free { center, along, n_features, n_outputs, total };
        let (gram, along) = rows.reduce(&Products { free: free.clone() }, monitor)?;
        let (spectrum, rotation) =
            Spectrum::of_products(gram, along, n_outputs, (total, rounding_of_center(&free.center, total)))?;
        Ok(PartedRidge { free, spectrum, rotation })
    }

    /// The eigenvalues, which determine the range of λ.
    pub fn spectrum(&self) -> &Spectrum {
        &self.spectrum
    }

    /// The leave-one-out errors at each λ.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Cancelled`].
    pub fn leave_one_out(
        &self,
        rows: &mut impl Executor<Of = RidgeRows>,
        lambdas: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<LeaveOneOut>> {
        let shrinking = self.spectrum.shrinking(lambdas);
        let query = Squares { free: self.free.clone(), rotation: self.rotation.clone(), shrinking };
        Ok(self.spectrum.leave_one_out(lambdas, &rows.reduce(&query, monitor)?))
    }

    /// The leave-one-out decision values of plain features: of each row by the fit without one copy of it, rows ×
    /// outputs in the order of the parts; of a row without weight by the fit.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Cancelled`].
    pub fn loo_values(
        &self,
        rows: &mut impl Executor<Of = RidgeRows>,
        lambda: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        let shrinking = self.spectrum.shrinking(&[lambda]);
        rows.reduce(&Values { free: self.free.clone(), rotation: self.rotation.clone(), shrinking }, monitor)
    }

    /// The weights of the penalized features at λ, features × outputs.
    pub fn weights(&self, lambda: f64) -> Matrix {
        self.spectrum.weights(&self.rotation, self.free.n_features, lambda)
    }

    /// QᵀRy, columns × outputs.
    pub fn along(&self) -> Matrix {
        let k = self.free.n_outputs;
        Matrix::from_columns(self.free.along.clone(), k, self.free.along.len() / k.max(1)).transposed()
    }

    /// Weights and intercepts of plain features at λ.
    pub fn solution(&self, lambda: f64) -> FeatureSolution {
        let (weights, Free { center, along, n_outputs, total, .. }) = (self.weights(lambda), &self.free);
        let dot = |k: usize| weights.col(k).iter().zip(center).map(|(w, mean)| w * mean).sum::<f64>();
        // The one column of Q is √(w / Σw).
        let mean = |k: usize| along.get(k).map_or(0.0, |along| along / total.sqrt());
        let intercepts = (0..*n_outputs).map(|k| mean(k) - dot(k)).collect();
        FeatureSolution { weights: weights.into_values(), intercepts }
    }
}
