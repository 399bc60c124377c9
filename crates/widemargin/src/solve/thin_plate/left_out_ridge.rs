//! Left-out decision values of many two-class problems by ridge regression onto ±1: one factorisation serves them all.
//!
//! A support vector machine has another matrix for each problem, since each has other samples inside its margin; the square in
//! place of the squared hinge has the same for all (least squares support vector machines: Suykens & Vandewalle, Least Squares
//! Support Vector Machine Classifiers, 1999). Which features are better is seen from these values too.
//!
//! At each λ of a path, for n samples, D features and k problems: n·D² + D³/3 flops by the features, 2 n³/3 by the Gram
//! matrix, which is taken for sparse rows and where there are more features than samples; then 2 n·D·k or 2 n²·k. Once before,
//! n·D² or n²·D for the products. The products and the n·D² are in single precision; the factor is not.
//!
//! Left out without one copy of sample i, of weight u of wᵢ, the residual is that of the fit divided by 1 − u/wᵢ · hᵢ, where h is
//! the diagonal of the matrix from targets to fitted values (`solve/ridge/mod.rs`).

use std::ops::Range;

use super::block_fit::RawRows;
use super::given_features::{GivenFeatures, LOWEST};
use super::local::BLOCK;
use super::path::{HIGHEST, Problems, START, half_decades};
use crate::error::{Error, Result};
use crate::linalg::factor::{Cholesky, Matrix, Side, add_product, add_scaled, product};
use crate::linalg::single::{SingleFactor, SingleMatrix};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{self, Intercept};

/// A sample whose leverage is nearer to 1 than this is all that speaks for its own value: left out, nothing is known of it.
const ALONE: f64 = 1e-9;

/// Where the loss is least on the path.
#[derive(Debug)]
pub(crate) struct LeftOutRidge {
    /// Left-out decision values, one vector per problem.
    pub left_out: Vec<Vec<f64>>,
    /// In units of the mean squared norm of the centred features, as on the path of a support vector machine.
    pub lambda: f64,
    /// The mean squared hinge of the left-out decision values.
    pub hinge: f64,
}

/// The path of λ in half decades from the one that is expected, downwards and then upwards while the mean squared hinge of the
/// left-out decision values falls. All problems must weigh samples alike.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Parameter`] for values beyond double precision.
pub(crate) fn left_out_ridge(
    rows: problem::Block<'_>,
    problems: &Problems<'_>,
    near: Option<f64>,
    intercept: Intercept,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<LeftOutRidge> {
    let roots = problems.roots();
    let rows = GivenFeatures::new(rows, &roots, intercept).in_single_precision(intercept);
    let centres = intercept == Intercept::Free;
    let system = System::new(&rows, problems, centres, pool)?;
    let start = near.map_or(START, half_decades).clamp(LOWEST, HIGHEST);
    let mut best: Option<LeftOutRidge> = None;
    let mut best_at = start;
    for (direction, first) in [(-1, start), (1, start + 1)] {
        let mut at = first;
        // Where a step down has helped, none up will.
        while (LOWEST..=HIGHEST).contains(&at) && (direction < 0 || best_at >= start) {
            monitor.go_on("leave-one-out")?;
            if best.is_some() && monitor.ask().is_err() {
                break;
            }
            let lambda = 10f64.powf(f64::from(at) / 2.0);
            let Some(found) = system.at(lambda, problems, pool)? else { break };
            if best.as_ref().is_some_and(|best| found.hinge >= best.hinge) {
                break;
            }
            (best, best_at) = (Some(found), at);
            at += direction;
        }
    }
    best.ok_or_else(|| Error::parameter("C", "auto", "a problem that can be solved at some C of the path"))
}

/// Rows of features with the roots of their weights, less the mean where that is free, and their products.
struct System<'a> {
    roots: &'a [f64],
    /// √w (y − mean), samples × problems.
    targets: Matrix,
    /// Squared entries of √w / ‖√w‖, the part of the leverage that the mean has; 0 unless it is free.
    of_mean: Vec<f64>,
    sides: Sides,
    /// trace(G)/n.
    unit: f64,
}

enum Sides {
    /// Features × samples, also rounded, their products with each other, of which the lower triangle, and with the targets.
    Features { phi: Matrix, rounded: SingleMatrix, products: Matrix, right: Matrix },
    /// Products of samples.
    Samples { gram: Matrix },
}

impl<'a> System<'a> {
    fn new(rows: &GivenFeatures<'a>, problems: &Problems<'_>, centres: bool, pool: &Pool) -> Result<Self> {
        let (n, k, d) = (rows.n_rows(), problems.targets.n_problems(), rows.n_features());
        let total: f64 = problems.weights.iter().sum();
        let sign = |row: usize, problem: usize| problems.targets.sign(row, problem);
        let mean_of = |problem: usize| {
            let sum: f64 = problems.weights.iter().enumerate().map(|(row, weight)| weight * sign(row, problem)).sum();
            if centres { sum / total } else { 0.0 }
        };
        let means: Vec<f64> = (0..k).map(mean_of).collect();
        let target = |at: usize| rows.roots[at % n] * (sign(at % n, at / n) - means[at / n]);
        let targets = Matrix::from_columns((0..n * k).map(target).collect(), n, k);
        let of_mean = problems.weights.iter().map(|weight| if centres { weight / total } else { 0.0 }).collect();
        let is_sparse = matches!(rows.rows, problem::Block::Sparse(_));
        let (sides, trace) = if is_sparse || d >= n {
            let mut gram = rows.gram(pool);
            if centres {
                project_out(&mut gram, rows.roots, total);
            }
            let trace: f64 = (0..n).map(|i| gram.at(i, i)).sum();
            (Sides::Samples { gram }, trace)
        } else {
            let mut phi = rows.phi(&(), 0..n);
            if centres {
                let mut centre = vec![0.0; d];
                (0..n).for_each(|row| add_scaled(&mut centre, rows.roots[row] / total, phi.col(row)));
                (0..n).for_each(|row| add_scaled(phi.col_mut(row), -rows.roots[row], &centre));
            }
            let rounded = SingleMatrix::of(&phi);
            let products = rounded.outer(pool);
            let right = product(Side::Plain(&phi), Side::Plain(&targets));
            let trace = (0..d).map(|i| products.at(i, i)).sum();
            (Sides::Features { phi, rounded, products, right }, trace)
        };
        let unit = trace / n as f64;
        if !(unit.is_finite() && unit > 0.0) {
            return Err(Error::parameter("similarity", "features", "finite values that are not all the same"));
        }
        Ok(System { roots: rows.roots, targets, of_mean, sides, unit })
    }

    /// The left-out values at λ; none where its matrix cannot be factored.
    fn at(&self, lambda: f64, problems: &Problems<'_>, pool: &Pool) -> Result<Option<LeftOutRidge>> {
        let ridge = lambda * self.unit;
        let Some((residuals, leverages)) = self.residuals_and_leverages(ridge, pool)? else { return Ok(None) };
        let (n, k) = (self.targets.n_rows(), self.targets.n_cols());
        let mut left_out = vec![vec![0.0; n]; k];
        let (mut sum, total) = (0.0, k as f64 * problems.weights.iter().sum::<f64>());
        for row in 0..n {
            let weight = problems.weights[row];
            let part = 1.0 - problems.units[row] / weight * (self.of_mean[row] + leverages[row]);
            for (problem, values) in left_out.iter_mut().enumerate() {
                let sign = problems.targets.sign(row, problem);
                let residual = residuals.at(row, problem) / self.roots[row];
                // Of a sample that is alone the fit says nothing; that is a decision value of 0.
                values[row] = if part > ALONE { sign - residual / part } else { 0.0 };
                sum += weight * (1.0 - sign * values[row]).max(0.0).powi(2);
            }
        }
        let hinge = sum / total;
        Ok(hinge.is_finite().then_some(LeftOutRidge { left_out, lambda, hinge }))
    }

    /// √w (y − f), samples × problems, and the leverage of each sample without that of the mean.
    fn residuals_and_leverages(&self, ridge: f64, pool: &Pool) -> Result<Option<(Matrix, Vec<f64>)>> {
        let n = self.targets.n_rows();
        match &self.sides {
            Sides::Features { phi, rounded, products, right } => {
                let Some(factor) = shifted(products, ridge) else { return Ok(None) };
                let mut half = right.clone();
                factor.solve_lower(&mut half);
                let mut weights = half;
                factor.solve_lower_transposed(&mut weights);
                let mut residuals = self.targets.clone();
                add_product(&mut residuals, -1.0, Side::Transposed(phi), Side::Plain(&weights));
                let (single, mut leverages) = (SingleFactor::of(&factor), Vec::with_capacity(n));
                let squares = |rows: Range<usize>| Ok::<_, Error>(single.inverse_products(rounded, rows));
                pool.fold_chunks(n, BLOCK, squares, |some| {
                    leverages.extend(some);
                    Ok::<_, Error>(())
                })?;
                Ok(Some((residuals, leverages)))
            }
            Sides::Samples { gram } => {
                let Some(factor) = shifted(gram, ridge) else { return Ok(None) };
                // I − H = λ (G + λ)⁻¹ on what the mean leaves, and G has no part along √w.
                let mut residuals = self.targets.clone();
                factor.solve_lower(&mut residuals);
                factor.solve_lower_transposed(&mut residuals);
                (0..residuals.n_cols()).for_each(|col| residuals.col_mut(col).iter_mut().for_each(|x| *x *= ridge));
                let leverages = factor.inverse_diagonal().into_iter().map(|inverse| 1.0 - ridge * inverse).collect();
                Ok(Some((residuals, leverages)))
            }
        }
    }
}

/// The factor of a matrix plus a multiple of the identity.
fn shifted(matrix: &Matrix, ridge: f64) -> Option<Cholesky> {
    let mut shifted = matrix.clone();
    (0..shifted.n_rows()).for_each(|i| shifted.set(i, i, shifted.at(i, i) + ridge));
    Cholesky::new(shifted)
}

/// (I − qqᵀ) G (I − qqᵀ) of q = √w / ‖√w‖.
fn project_out(gram: &mut Matrix, roots: &[f64], total: f64) {
    let along: Vec<f64> = gram.times(roots).into_iter().map(|x| x / total).collect();
    let inner = roots.iter().zip(&along).map(|(root, x)| root * x).sum::<f64>() / total;
    for (col, (root, x)) in roots.iter().zip(&along).enumerate() {
        add_scaled(gram.col_mut(col), inner * root - x, roots);
        add_scaled(gram.col_mut(col), -root, &along);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{CsrMatrix, DenseView};
    use crate::problem::OneVsRest;

    const CODES: [u32; 12] = [0, 1, 2, 0, 1, 2, 0, 1, 2, 2, 1, 0];

    fn phi(d: usize) -> Vec<f32> {
        (0..12 * d)
            .map(|i| ((i * 37 % 101) as f32 / 25.0 - 2.0) + if i % d == 0 { CODES[i / d] as f32 } else { 0.0 })
            .collect()
    }

    /// Ridge regression by Gaussian elimination on (features, 1), the constant free or penalised, without one copy of a row.
    fn refit(phi: &[f32], d: usize, weights: &[f64], signs: &[f64], (lambda, free): (f64, f64), at: usize) -> f64 {
        let row = |i: usize| -> Vec<f64> { phi[i * d..][..d].iter().map(|x| f64::from(*x)).chain([1.0]).collect() };
        let m = d + 1;
        let mut system = vec![vec![0.0; m + 1]; m];
        for i in 0..12 {
            let x = row(i);
            for a in 0..m {
                (0..m).for_each(|b| system[a][b] += weights[i] * x[a] * x[b]);
                system[a][m] += weights[i] * x[a] * signs[i];
            }
        }
        (0..d).for_each(|a| system[a][a] += lambda);
        system[d][d] += free;
        for a in 0..m {
            let pivot = system[a].clone();
            for (_, row) in system.iter_mut().enumerate().filter(|(b, _)| *b != a) {
                let factor = row[a] / pivot[a];
                row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
            }
        }
        row(at).iter().enumerate().map(|(a, x)| x * system[a][m] / system[a][a]).sum()
    }

    #[test]
    fn left_out_values_are_those_of_refits_by_either_side() {
        let weights: Vec<f64> = (0..12).map(|i| 1.0 + (i % 3) as f64 / 2.0).collect();
        let units: Vec<f64> = weights.iter().enumerate().map(|(i, w)| if i % 4 == 0 { w / 2.0 } else { *w }).collect();
        for d in [3, 20] {
            let phi = phi(d);
            let dense = problem::Block::Dense(DenseView::new(&phi, 12, d).unwrap());
            let sparse = CsrMatrix {
                values: phi.clone(),
                indices: (0..12 * d).map(|i| (i % d) as u32).collect(),
                indptr: (0..=12).map(|i| i * d).collect(),
                n_cols: d,
            };
            let sparse = problem::Block::Sparse(sparse.view().unwrap());
            for intercept in [Intercept::Free, Intercept::Penalised] {
                for block in [dense, sparse] {
                    let targets = OneVsRest::new(&CODES, 3);
                    let problems = Problems { targets, weights: &weights, units: &units };
                    let pool = Pool::new(1).unwrap();
                    let roots = problems.roots();
                    let rows = GivenFeatures::new(block, &roots, intercept);
                    let system = System::new(&rows, &problems, intercept == Intercept::Free, &pool).unwrap();
                    let found = system.at(0.3, &problems, &pool).unwrap().unwrap();
                    let lambda = 0.3 * system.unit;
                    // The features' side is in single precision.
                    let bound = if matches!(system.sides, Sides::Features { .. }) { 1e-5 } else { 1e-7 };
                    for problem in 0..3 {
                        let signs: Vec<f64> = (0..12).map(|i| targets.sign(i, problem)).collect();
                        for at in 0..12 {
                            let mut without = weights.clone();
                            without[at] -= units[at];
                            let free = if intercept == Intercept::Free { 0.0 } else { lambda };
                            let expected = refit(&phi, d, &without, &signs, (lambda, free), at);
                            let value = found.left_out[problem][at];
                            assert!((value - expected).abs() < bound, "{d} {problem} {at}: {value} {expected}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn columns_far_from_0_are_compared_as_those_near_it() {
        use super::super::given_features::{Comparison, left_out_path};
        // Sixteenths, which single precision holds beside a thousand.
        for d in [3, 20] {
            let near: Vec<f32> = phi(d).iter().map(|x| (x * 16.0).round() / 16.0).collect();
            let far: Vec<f32> = near.iter().map(|x| x + 1000.0).collect();
            let (ones, pool, monitor) = ([1.0; 12], Pool::new(1).unwrap(), Monitor::none());
            let problems = Problems { targets: OneVsRest::new(&CODES, 3), weights: &ones, units: &ones };
            let left_out = |phi: &[f32]| {
                let block = problem::Block::Dense(DenseView::new(phi, 12, d).unwrap());
                let comparison = Comparison { near: Some(0.1), stays: true, is_single: true };
                let machine = left_out_path(block, &problems, comparison, Intercept::Free, &pool, &monitor).unwrap();
                let ridge = left_out_ridge(block, &problems, Some(0.1), Intercept::Free, &pool, &monitor).unwrap();
                [machine.best.left_out, ridge.left_out].concat().concat()
            };
            for (one, other) in left_out(&near).iter().zip(left_out(&far)) {
                assert!((one - other).abs() < 1e-3, "{d}: {one} {other}");
            }
        }
    }

    #[test]
    fn the_path_ends_at_a_least_loss() {
        let phi = phi(3);
        let block = problem::Block::Dense(DenseView::new(&phi, 12, 3).unwrap());
        let ones = [1.0; 12];
        let problems = Problems { targets: OneVsRest::new(&CODES, 3), weights: &ones, units: &ones };
        let (pool, monitor) = (Pool::new(1).unwrap(), Monitor::none());
        let found = |near| left_out_ridge(block, &problems, near, Intercept::Free, &pool, &monitor).unwrap();
        let all = [None, Some(1e-3), Some(100.0)].map(found);
        let least = all.iter().map(|one| one.hinge).fold(f64::INFINITY, f64::min);
        assert!(all.iter().all(|one| one.hinge <= 1.02 * least), "{all:?}");
    }
}
