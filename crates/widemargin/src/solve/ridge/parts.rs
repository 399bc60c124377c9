//! Ridge regression on features that are elsewhere, on other machines or read in passes: only sums are transferred.
//!
//! There are three queries to all rows: the mean of the features with the fit by the unpenalized columns; the products
//! of the centered features with each other and with the residuals (n d² flops); and, for all λ at once, the squares of
//! the leave-one-out residuals (2 n d² flops). Everything else is a matter of d × d matrices.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::part::{RidgePart, RidgeRows};
use super::spectrum::{LeaveOneOut, RowLeverage, Shrinking, Spectrum, add_powers, no_powers, rounding_of_center};
use super::{blocks, products_of_block};
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::factor::{Matrix, Side, product};
use crate::monitor::Monitor;
use crate::partition::{Entry, Executor, Kind, Query, part_query};
use crate::problem::RowFeatures;
use crate::solve::dual::linear;

/// The answers of workers for the rows of a regression.
pub const RIDGE_QUERIES: &[Entry<RidgeRows>] = &[Entry::of::<Begin>(), Entry::of::<Products>(), Entry::of::<LeftOut>()];

/// The fit by the unpenalized columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Free {
    /// The mean of the features, where there is an intercept, else 0.
    pub center: Vec<f64>,
    /// QᵀRy, columns × outputs.
    pub along: Vec<f64>,
    pub n_outputs: usize,
    /// The sum of the weights.
    pub total: f64,
    /// The mean of the targets of each output, if the features are centered on the rows and there is no intercept:
    /// leave-one-out then centers them on the others. Else empty.
    pub means: Vec<f64>,
}

/// Two sums over the rows.
type Sums = (Vec<f64>, Vec<f64>);

fn add_sums(total: &mut Sums, next: &Sums) {
    linalg::add(&mut total.0, &next.0);
    linalg::add(&mut total.1, &next.1);
}

part_query! { RidgeRows: Begin "begin" { n_outputs: usize, total: f64 } -> Sums {}
|at, part, _| part.begin(at.n_outputs, at.total), |_, total, next| add_sums(total, &next) }

part_query! { RidgeRows: Products "products" { free: Free } -> Sums {}
|at, part, monitor| part.products(&at.free, monitor), |_, total, next| add_sums(total, &next) }

// With the decision values of one λ, rows × outputs, in the order of the parts.
part_query! { RidgeRows: LeftOut "leave_one_out" { free: Free, rotation: Option<Vec<f64>>, shrinking: Shrinking, wants_values: bool } -> Sums {}
|at, part, monitor| part.left_out(at, monitor),
|_, total, next| {
    linalg::add(&mut total.0, &next.0);
    total.1.extend(next.1);
} }

impl RidgePart<'_> {
    /// The sums of the weighted features, and QᵀRy.
    fn begin(&self, k: usize, total: f64) -> Result<Sums> {
        let (n, (n_values, width)) = (self.weights.len(), self.features.size());
        if (self.targets.len(), self.units.len(), n_values) != (n * k, n, n * width) {
            let found = format!("{} targets, {} units and {n_values} features", self.targets.len(), self.units.len());
            return Err(Error::shape(
                "rows of a regression",
                found,
                format!("{k}, 1 and {width} for each of {n} rows"),
            ));
        }
        let (d, n_free) = self.features.shape();
        let (mut sums, mut along) = (vec![0.0; d], vec![0.0; k * n_free]);
        for (row, (weight, targets)) in self.weights.iter().zip(self.targets.chunks(k.max(1))).enumerate() {
            match self.features {
                RowFeatures::Plain { values, has_intercept: true, .. } => {
                    linear::add(&values[row * d..(row + 1) * d], *weight, &mut sums);
                    along.iter_mut().zip(targets).for_each(|(sum, y)| *sum += weight / total.sqrt() * y);
                }
                RowFeatures::Plain { .. } => break,
                RowFeatures::Weighted { values, .. } => {
                    for (sums, q) in along.chunks_mut(k).zip(&values[row * width + d..(row + 1) * width]) {
                        sums.iter_mut().zip(targets).for_each(|(sum, y)| *sum += q * weight.sqrt() * y);
                    }
                }
            }
        }
        Ok((sums, along))
    }

    /// Some rows: centered features times the roots of the weights, and the rows of Q.
    fn block(&self, rows: Range<usize>, free: &Free) -> (Vec<f64>, Vec<f64>) {
        let ((_, width), (d, n_free)) = (self.features.size(), self.features.shape());
        let mut block = Vec::with_capacity(rows.len() * d);
        let mut unpenalized = Vec::with_capacity(rows.len() * n_free);
        for row in rows {
            match self.features {
                RowFeatures::Plain { values, has_intercept, .. } => {
                    let root = self.weights[row].sqrt();
                    let own = values[row * d..(row + 1) * d].iter().zip(&free.center);
                    block.extend(own.map(|(x, mean)| root * (f64::from(*x) - mean)));
                    unpenalized.extend(has_intercept.then(|| root / free.total.sqrt()));
                }
                RowFeatures::Weighted { values, .. } => {
                    let (penalized, others) = values[row * width..(row + 1) * width].split_at(d);
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
    fn products(&self, free: &Free, monitor: &Monitor<'_>) -> Result<Sums> {
        let (d, k) = (self.features.shape().0, free.n_outputs);
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

    /// The sums of [`add_powers`] of the leave-one-out residuals, λ × outputs; and if they are requested, the decision
    /// values, of rows without weight those of the fit.
    fn left_out(&self, at: &LeftOut, monitor: &Monitor<'_>) -> Result<Sums> {
        let LeftOut { free, rotation, shrinking, wants_values } = at;
        let (k, d) = (free.n_outputs, self.features.shape().0);
        let (mut sums, mut values) = (no_powers(shrinking.width()), Vec::new());
        // A row that the fit does not know has none to leave out, and any weight will do to read its value.
        let weights: Vec<f64> = self.weights.iter().map(|weight| if *weight > 0.0 { *weight } else { 1.0 }).collect();
        let part = RidgePart { weights: &weights, ..*self };
        for rows in blocks(weights.len()) {
            monitor.go_on("leave-one-out")?;
            let (mut rotated, unpenalized) = part.block(rows.clone(), free);
            let open = part.open(rows.clone(), &unpenalized, free);
            if let Some(rotation) = rotation {
                let block = std::mem::replace(&mut rotated, vec![0.0; rows.len() * rotation.len() / d.max(1)]);
                linalg::times(&mut rotated, &block, rotation, d);
            }
            let n_free = unpenalized.len() / rows.len();
            let leverage_of = |at: usize| {
                let (weight, unit) = (weights[rows.start + at], self.units[rows.start + at]);
                let leverage = unpenalized[at * n_free..][..n_free].iter().map(|q| q * q).sum();
                // By centering on the others, a row is this much farther from their mean.
                let others = free.total - unit;
                let stretch = if free.means.is_empty() || others <= 0.0 { 1.0 } else { free.total / others };
                RowLeverage { root: weight.sqrt(), share: unit / weight, leverage, stretch }
            };
            let mut residuals = shrinking.residuals(&rotated, open, &free.means, leverage_of);
            if !free.means.is_empty() {
                for (at, residuals) in residuals.chunks_mut(shrinking.width()).enumerate() {
                    let (targets, stretch) = (&self.targets[(rows.start + at) * k..][..k], leverage_of(at).stretch);
                    residuals.iter_mut().zip(targets.iter().cycle()).for_each(|(r, y)| *r -= (stretch - 1.0) * y);
                }
            }
            if *wants_values {
                values.extend(self.targets[rows.start * k..rows.end * k].iter().zip(&residuals).map(|(y, r)| y - r));
            }
            for (residuals, row) in residuals.chunks(shrinking.width()).zip(rows) {
                let (targets, weight) = (&self.targets[row * k..][..k], self.weights[row]);
                add_powers(&mut sums, residuals, targets, (weight, if weight > 0.0 { self.units[row] } else { 0.0 }));
            }
        }
        Ok((sums, values))
    }
}

/// The weighted mean of the features, 0 without an intercept, and QᵀRy, for [`PartedRidge`].
///
/// # Errors
/// An error of the rows; [`Error::Parameter`] for more than `max_features`; [`Error::Cancelled`].
pub(crate) fn center_of(
    rows: &mut impl Executor<RidgeRows>,
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

/// A decomposed problem, whose rows answer queries.
pub(crate) struct PartedRidge {
    pub(super) free: Free,
    pub spectrum: Spectrum,
    /// From features to rows of U, row-major features × eigenvalues; none of features that are these.
    pub(super) rotation: Option<Vec<f64>>,
}

impl PartedRidge {
    /// From sums over all rows, of targets of `n_outputs` numbers, with weights that sum to `total`, and at most
    /// `max_features` features.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Memory`] for more features than products are computed of; [`Error::NotFinite`];
    /// [`Error::Cancelled`].
    pub fn new(
        rows: &mut impl Executor<RidgeRows>,
        (n_outputs, total): (usize, f64),
        max_features: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let (center, along) = center_of(rows, (n_outputs, total), max_features, monitor)?;
        let free = Free { center, along, n_outputs, total, means: Vec::new() };
        let (gram, along) = rows.reduce(&Products { free: free.clone() }, monitor)?;
        let (spectrum, rotation) =
            Spectrum::of_products(gram, along, n_outputs, (total, rounding_of_center(&free.center, total)))?;
        Ok(PartedRidge { free, spectrum, rotation: Some(rotation) })
    }

    /// For features that are centered on the rows, without an intercept: leave-one-out then centers them on the other rows.
    /// `means` are those of the targets.
    pub fn recenter(&mut self, means: Vec<f64>) {
        self.free.means = means;
    }

    fn left_out(&self, lambdas: &[f64], wants_values: bool) -> LeftOut {
        let (free, rotation) = (self.free.clone(), self.rotation.clone());
        LeftOut { free, rotation, shrinking: self.spectrum.shrinking(lambdas), wants_values }
    }

    /// The leave-one-out errors at each λ.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Cancelled`].
    pub fn leave_one_out(
        &self,
        rows: &mut impl Executor<RidgeRows>,
        lambdas: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<LeaveOneOut>> {
        let ((sums, _), k) = (rows.reduce(&self.left_out(lambdas, false), monitor)?, self.free.n_outputs);
        let one = |(at, &lambda)| LeaveOneOut::of_powers(lambda, at * k..(at + 1) * k, &sums);
        Ok(lambdas.iter().enumerate().map(one).collect())
    }

    /// The leave-one-out decision values: of each row by the fit without one copy of it, rows × outputs in the order of
    /// the parts; of a row without weight by the fit.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Cancelled`].
    pub fn loo_values(
        &self,
        rows: &mut impl Executor<RidgeRows>,
        lambda: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        Ok(rows.reduce(&self.left_out(&[lambda], true), monitor)?.1)
    }

    /// The weights of the penalized features at λ, features × outputs.
    pub fn weights(&self, lambda: f64) -> Matrix {
        let shrunk = self.spectrum.shrunk(lambda, 1.0);
        let Some(rotation) = &self.rotation else { return shrunk };
        // Columns of the rotation are divided by √S.
        let rotation = Matrix::from_columns(rotation.clone(), shrunk.n_rows(), self.free.center.len());
        product(Side::Transposed(&rotation), Side::Plain(&shrunk))
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
