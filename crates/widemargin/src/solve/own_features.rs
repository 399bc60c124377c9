//! Leave-one-out of samples that are bases: without a sample, the features that compare with it go too, since no new
//! sample is that similar to itself.

use crate::data::DenseMatrix;
use crate::linalg::factor::{Cholesky, Matrix, Side, add_lower_product, dot};
use crate::problem::{Intercept, LossAt};
use crate::solve::ridge::ROWS;
use crate::tuning::MIN_RESIDUAL_LEVERAGE;

/// A row and the features that compare with it.
pub(crate) struct OwnFeatures {
    pub row: usize,
    pub features: Vec<usize>,
    /// The share of the row's weight that is left out.
    pub share: f64,
}

/// A solution of ½‖w‖² + Σ c ℓ(y, φ·w + b).
pub(crate) struct Solved<'a> {
    pub weights: &'a [f64],
    /// b.
    pub bias: f64,
    pub intercept: Intercept,
    /// The loss of a row at a decision value.
    pub loss_at: &'a dyn Fn(usize, f64) -> LossAt,
    /// c of each row.
    pub costs: &'a [f64],
}

/// The leave-one-out decision values of some rows less those without their own features.
///
/// By a Newton step from the solution, exact for the squared error. Without a share s of row x of slope g and curvature
/// κ, the inverse H⁻¹ of the Hessian and w become G = H⁻¹ + sκ·aaᵀ/(1 − sκh) and v = w − sg·a/(1 − sκh), with a = H⁻¹x
/// and h = x·a. Features J that are then fixed at 0 take x·G_·J (G_JJ)⁻¹ v_J from the decision value, and x·G_·J is
/// a_J/(1 − sκh). Takes nd² + d³ flops for n rows of d features. None if the Hessian is singular in double precision.
pub(crate) fn parts_of_own_features(
    phi: &DenseMatrix<f32>,
    solved: &Solved<'_>,
    own: &[OwnFeatures],
) -> Option<Vec<f64>> {
    if own.is_empty() {
        return Some(Vec::new());
    }
    let (n, d) = (solved.costs.len(), phi.n_cols);
    let m = d + usize::from(solved.intercept != Intercept::None);
    // The features of some rows, with the constant if there is one: rows are columns.
    let columns_of = |rows: &mut dyn Iterator<Item = usize>| {
        let values: Vec<f64> =
            rows.flat_map(|row| phi.row(row).iter().map(|x| f64::from(*x)).chain(vec![1.0; m - d])).collect();
        let n_rows = values.len() / m.max(1);
        Matrix::from_columns(values, m, n_rows)
    };
    let loss_of = |row, x: &[f64]| (solved.loss_at)(row, dot(&x[..d], solved.weights) + solved.bias);
    let mut hessian = Matrix::zeros(m, m);
    (0..m).for_each(|at| hessian.set(at, at, f64::from(u8::from(at < d || solved.intercept == Intercept::Penalized))));
    for first in (0..n).step_by(ROWS) {
        let rows = first..n.min(first + ROWS);
        let mut scaled = columns_of(&mut rows.clone());
        for (at, row) in rows.enumerate() {
            let x = scaled.col_mut(at);
            let root = (solved.costs[row] * loss_of(row, x).curvature).sqrt();
            x.iter_mut().for_each(|x| *x *= root);
        }
        add_lower_product(&mut hessian, 1.0, Side::Plain(&scaled), Side::Transposed(&scaled));
    }
    let factor = Cholesky::new(hessian)?;
    let inverse = factor.inverse_lower();
    let mut rows = columns_of(&mut own.iter().map(|own| own.row));
    let losses: Vec<LossAt> = own.iter().enumerate().map(|(at, own)| loss_of(own.row, rows.col(at))).collect();
    factor.solve_lower(&mut rows);

    let part = |(at, OwnFeatures { row, features, share }): (usize, &OwnFeatures)| {
        let LossAt { dual, curvature, .. } = losses[at];
        let removed = share * solved.costs[*row];
        let at = rows.col(at);
        let rest = 1.0 - removed * curvature * dot(at, at);
        let p = features.len();
        let a: Vec<f64> = features.iter().map(|&feature| dot(inverse.col(feature), at)).collect();
        let without = |at: usize| solved.weights[features[at]] - removed * dual * a[at] / rest;
        let weights = Matrix::from_columns((0..p).map(without).collect(), p, 1);
        let entry = |i: usize, j: usize| {
            dot(inverse.col(features[i]), inverse.col(features[j])) + removed * curvature * a[i] * a[j] / rest
        };
        let block = Matrix::from_columns((0..p * p).map(|at| entry(at % p, at / p)).collect(), p, p);
        let of_block = (rest > MIN_RESIDUAL_LEVERAGE).then(|| Cholesky::new(block)).flatten()?;
        let mut sides = [Matrix::from_columns(a, p, 1), weights];
        sides.iter_mut().for_each(|side| of_block.solve_lower(side));
        Some(dot(sides[0].values(), sides[1].values()) / rest)
    };
    own.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Loss;

    /// Weights and intercept of the squared error with an unpenalized intercept, by its normal equations.
    fn fit(rows: &[Vec<f64>], y: &[f64], costs: &[f64]) -> Vec<f64> {
        let m = rows[0].len() + 1;
        let x: Vec<f64> = rows.iter().flat_map(|row| row.iter().copied().chain([1.0])).collect();
        let mut hessian = Matrix::zeros(m, m);
        (0..m - 1).for_each(|at| hessian.set(at, at, 1.0));
        let mut side = Matrix::zeros(m, 1);
        for (row, (y, cost)) in x.chunks(m).zip(y.iter().zip(costs)) {
            for i in 0..m {
                side.col_mut(0)[i] += 2.0 * cost * y * row[i];
                (0..m).for_each(|j| hessian.set(i, j, hessian.at(i, j) + 2.0 * cost * row[i] * row[j]));
            }
        }
        let factor = Cholesky::new(hessian).unwrap();
        factor.solve_columns(&mut side);
        side.into_values()
    }

    fn value(weights: &[f64], row: &[f64]) -> f64 {
        row.iter().zip(weights).map(|(x, weight)| x * weight).sum::<f64>() + weights[row.len()]
    }

    #[test]
    fn of_the_squared_error_it_is_the_difference_of_two_refits() {
        let (n, d) = (12, 5);
        let number = |at: usize| (((at * 7919 + 13) % 101) as f64 / 50.0 - 1.0) as f32;
        let phi = DenseMatrix { values: (0..n * d).map(number).collect(), n_rows: n, n_cols: d };
        let rows: Vec<Vec<f64>> = (0..n).map(|row| phi.row(row).iter().copied().map(f64::from).collect()).collect();
        let y: Vec<f64> = (0..n).map(|row| f64::from(number(row * 3 + 1))).collect();
        let costs: Vec<f64> = (0..n).map(|row| 0.5 + (row % 3) as f64).collect();
        let weights = fit(&rows, &y, &costs);
        let loss_at = |row: usize, value: f64| Loss::SquaredError.at(y[row], value);
        let solved = Solved {
            weights: &weights[..d],
            bias: weights[d],
            intercept: Intercept::Free,
            loss_at: &loss_at,
            costs: &costs,
        };
        let own = [(0, vec![0], 1.0), (3, vec![2], 0.4), (7, vec![1, 4], 1.0)];
        let own = own.map(|(row, features, share)| OwnFeatures { row, features, share });
        let parts = parts_of_own_features(&phi, &solved, &own).unwrap();
        for (OwnFeatures { row, features, share }, part) in own.iter().zip(parts) {
            let mut rest = costs.clone();
            rest[*row] *= 1.0 - share;
            let left_out = value(&fit(&rows, &y, &rest), &rows[*row]);
            let mut without = rows.clone();
            without.iter_mut().for_each(|row| features.iter().for_each(|&feature| row[feature] = 0.0));
            let expected = left_out - value(&fit(&without, &y, &rest), &without[*row]);
            assert!((part - expected).abs() < 1e-9 && expected.abs() > 1e-3, "{part} {expected}");
        }
    }
}
