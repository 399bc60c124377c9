//! Many two-class problems by ridge regression onto ±1, with leave-one-out decision values: one factorization serves
//! them all.
//!
//! A support vector machine has another matrix for each problem, since each has other samples inside its margin; the
//! square in place of the squared hinge has the same for all (least squares support vector machines: Suykens &
//! Vandewalle, Least Squares Support Vector Machine Classifiers, 1999). Features are also compared by these values.
//!
//! At each λ of a path, for n samples, D features and k problems: n·D² + D³/3 flops by the features, 2 n³/3 by the Gram
//! matrix, which is used for sparse rows and where there are more features than samples; then 2 n·D·k or 2 n²·k. Once
//! before, n·D² or n²·D for the products. The products and the n·D² are in single precision; the factor is not. The
//! eigenvalues, which serve all λ (`solve/ridge/mod.rs`), take several times as long as a factor at each of a few.
//!
//! Without one copy of sample i, of weight u of wᵢ, the leave-one-out residual is that of the fit divided by 1 − u/wᵢ ·
//! hᵢ, where h is the diagonal of the matrix from targets to fitted values.

use std::ops::Range;

use super::feature_matrix::{FeatureFit, FeatureMatrix, settings_of};
use super::local::BLOCK;
use super::newton::Lambdas;
use super::path::{Candidate, PathOptions, Problems, Refits, Solved, Visit, walk};
use super::polynomials::trace;
use super::row_sums::LeaveOneOutSums;
use super::system::Point;
use crate::error::{Error, Result};
use crate::linalg::factor::{Cholesky, Matrix, Side, add_product, add_scaled, dot, product, project_off};
use crate::linalg::single::SingleMatrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{self, Intercept, typical_weight};
use crate::solve::Status;
use crate::solve::ridge::rounding_of_center;
use crate::tuning::{MIN_RESIDUAL_LEVERAGE, PRODUCT_ROUNDING};

/// The fit of squared error on a matrix of features, at C or at the C of a path with the least mean squared hinge of
/// the leave-one-out decision values, which are those of refits without one copy of each sample. All problems must
/// weigh samples alike. Where features are only compared, by a short path, there are no weights.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Parameter`] for values beyond double precision.
pub(crate) fn fit_squared(
    rows: problem::Block<'_>,
    problems: &Problems<'_>,
    path: PathOptions,
    intercept: Intercept,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<FeatureFit> {
    let roots = problems.roots();
    let rows = FeatureMatrix::new(rows, &roots, intercept).in_single_precision(intercept);
    let mut system = System::new(&rows, problems, intercept, (pool, monitor))?;
    // Leaving out is exact in closed form: that is no further work.
    let settings = settings_of(intercept, PathOptions { confirms: true, ..path }, problems);
    let (origins, unit) = (vec![Point::default(); problems.targets.n_problems()], system.unit);
    let outcome = walk(&mut system, &origins, (&settings, unit), monitor)?;
    let (mut weights, mut intercepts) = (Vec::new(), Vec::new());
    let solutions = if path.is_short { &[][..] } else { &outcome.best.solutions[..] };
    for (problem, solved) in solutions.iter().enumerate() {
        let coefficients = &solved.point.coefficients;
        let mut of_problem = match &system.phi {
            Some(_) => coefficients.clone(),
            None => rows.combination(&coefficients.iter().zip(&roots).map(|(a, root)| a * root).collect::<Vec<_>>()),
        };
        let intercept = match intercept {
            Intercept::Free => system.means[problem] - dot(&of_problem, &system.center),
            Intercept::Penalized => of_problem.pop().unwrap_or(0.0),
            Intercept::None => 0.0,
        };
        weights.push(of_problem);
        intercepts.push(intercept);
    }
    Ok(FeatureFit { weights, intercepts, outcome })
}

/// The numbers of the larger matrix that [`fit_squared`] holds.
pub(crate) fn numbers_of_squared(rows: problem::Block<'_>, n_rows: usize) -> usize {
    let d = rows.n_features();
    n_rows * if is_by_samples(rows, n_rows, d) { n_rows } else { d }
}

/// Whether the Gram matrix is used: for sparse rows, and where there are more features than samples.
fn is_by_samples(rows: problem::Block<'_>, n_rows: usize, n_features: usize) -> bool {
    matches!(rows, problem::Block::Sparse(_)) || n_features >= n_rows
}

/// Rows of features with the roots of their weights, less the mean where that is free, and their products.
struct System<'a> {
    problems: &'a Problems<'a>,
    roots: &'a [f64],
    /// √w (y − mean), samples × problems.
    targets: Matrix,
    /// The mean of each problem's targets, and of each feature, where the intercept is free; else zeros.
    means: Vec<f64>,
    center: Vec<f64>,
    /// The part of each leverage that the mean has: squared entries of √w / ‖√w‖; 0 unless it is free.
    of_mean: Vec<f64>,
    /// Features × samples, also rounded, where problems are solved by these; else by the samples.
    phi: Option<(Matrix, SingleMatrix)>,
    /// Products of features, or of samples, with each other (lower triangle) and with the targets, which are those of
    /// samples.
    products: Matrix,
    right: Matrix,
    /// The trace of the products by the sum of the weights.
    unit: f64,
    pool: &'a Pool,
    monitor: &'a Monitor<'a>,
}

/// A fit with one multiple of the squared norm.
struct RidgeFit {
    /// √w (y − f), samples × problems.
    residuals: Matrix,
    /// Of each sample, without that of the mean.
    leverages: Vec<f64>,
    /// Features or samples × problems.
    coefficients: Matrix,
}

impl<'a> System<'a> {
    fn new(
        rows: &FeatureMatrix<'a>,
        problems: &'a Problems<'a>,
        intercept: Intercept,
        (pool, monitor): (&'a Pool, &'a Monitor<'a>),
    ) -> Result<Self> {
        let centers = intercept == Intercept::Free;
        let (n, k, roots) = (rows.roots.len(), problems.targets.n_problems(), rows.roots);
        let total: f64 = problems.weights.iter().sum();
        let sign = |row: usize, problem: usize| problems.targets.sign(row, problem);
        let mean_of = |problem: usize| {
            let sum: f64 = problems.weights.iter().enumerate().map(|(row, weight)| weight * sign(row, problem)).sum();
            if centers { sum / total } else { 0.0 }
        };
        let means: Vec<f64> = (0..k).map(mean_of).collect();
        let target = |at: usize| roots[at % n] * (sign(at % n, at / n) - means[at / n]);
        let targets = Matrix::from_columns((0..n * k).map(target).collect(), n, k);
        let of_mean = problems.weights.iter().map(|weight| if centers { weight / total } else { 0.0 }).collect();
        let center = rows.center(intercept);
        let of_center = rounding_of_center(&center, total);
        let (phi, products, right, rounding) = if is_by_samples(rows.rows, n, rows.n_features()) {
            let mut gram = rows.gram(pool);
            // Dense rows are centered before, sparse ones are not.
            let rounding = of_center.max(PRODUCT_ROUNDING * trace(&gram));
            if centers {
                let along = roots.iter().map(|root| root / total.sqrt()).collect();
                project_off(&mut gram, &Matrix::from_columns(along, n, 1));
            }
            (None, gram, targets.clone(), rounding)
        } else {
            let mut phi = rows.weighted(0..n);
            if centers {
                (0..n).for_each(|row| add_scaled(phi.col_mut(row), -roots[row], &center));
            }
            let rounded = SingleMatrix::of(&phi);
            let products = rounded.outer(pool);
            let right = product(Side::Plain(&phi), Side::Plain(&targets));
            (Some((phi, rounded)), products, right, of_center)
        };
        let trace = trace(&products);
        if !trace.is_finite() {
            return Err(Error::parameter("similarity", "features", "values whose squares are finite"));
        }
        // Where all rows are the same, any λ does.
        let unit = if trace > rounding { trace / total * typical_weight(problems.units) } else { 1.0 };
        Ok(System { problems, roots, targets, means, center, of_mean, phi, products, right, unit, pool, monitor })
    }

    /// Leave-one-out decision values, one vector per problem.
    fn loo_values(&self, fit: &RidgeFit) -> Vec<Vec<f64>> {
        let Problems { targets, weights, units } = *self.problems;
        let value = |row: usize, problem: usize| {
            let part = 1.0 - units[row] / weights[row] * (self.of_mean[row] + fit.leverages[row]);
            let residual = fit.residuals.at(row, problem) / self.roots[row];
            // For a single sample the fit is undetermined: its decision value is 0.
            if part > MIN_RESIDUAL_LEVERAGE { targets.sign(row, problem) - residual / part } else { 0.0 }
        };
        let of_problem = |problem: usize| (0..weights.len()).map(|row| value(row, problem)).collect();
        (0..self.targets.n_cols()).map(of_problem).collect()
    }

    /// The fit with this multiple of the squared norm; none where its matrix cannot be factored.
    fn fit(&self, ridge: f64) -> Result<Option<RidgeFit>> {
        let mut shifted = self.products.clone();
        (0..shifted.n_rows()).for_each(|i| shifted.set(i, i, shifted.at(i, i) + ridge));
        let Some(factor) = Cholesky::new(shifted) else { return Ok(None) };
        let mut coefficients = self.right.clone();
        factor.solve_columns(&mut coefficients);
        let Some((phi, rounded)) = &self.phi else {
            // I − H = λ (G + λ)⁻¹ on the complement of the mean, and G has no part along √w.
            let mut residuals = coefficients.clone();
            residuals.values_mut().iter_mut().for_each(|x| *x *= ridge);
            let leverages = factor.inverse_diagonal().into_iter().map(|inverse| 1.0 - ridge * inverse).collect();
            return Ok(Some(RidgeFit { residuals, leverages, coefficients }));
        };
        let mut residuals = self.targets.clone();
        add_product(&mut residuals, -1.0, Side::Transposed(phi), Side::Plain(&coefficients));
        let (single, mut leverages) = (SingleMatrix::of(factor.lower()), Vec::with_capacity(phi.n_cols()));
        let squares = |rows: Range<usize>| Ok::<_, Error>(single.inverse_products(rounded, rows));
        self.pool.fold_chunks(phi.n_cols(), BLOCK, squares, |some| {
            leverages.extend(some);
            Ok::<_, Error>(())
        })?;
        Ok(Some(RidgeFit { residuals, leverages, coefficients }))
    }
}

impl Visit for System<'_> {
    fn visit(&mut self, lambdas: Lambdas, _starts: &[Point]) -> Result<Option<Candidate>> {
        self.monitor.go_on("leave-one-out")?;
        let ridge = lambdas.last;
        let Some(fit) = self.fit(ridge)? else { return Ok(None) };
        let loo_values = self.loo_values(&fit);
        let sums = LeaveOneOutSums::of(&loo_values, self.problems);
        if !sums.hinge.is_finite() {
            return Ok(None);
        }
        let solved = |problem: usize| {
            // λ‖w‖² + Σ (√w (y − f))² = ⟨√w y, √w (y − f)⟩ at the minimum.
            let objective = dot(self.targets.col(problem), fit.residuals.col(problem));
            let coefficients = fit.coefficients.col(problem).to_vec();
            let n_inside = fit.residuals.n_rows() as u64;
            let point = Point { coefficients, ..Point::default() };
            Solved { point, n_inside, steps: 1, status: Status::Converged, objective, dual: 0.5 / ridge * objective }
        };
        let solutions = (0..loo_values.len()).map(solved).collect();
        Ok(Some(Candidate::new(lambdas, solutions, loo_values, Some(&sums))))
    }

    fn confirm(&mut self, _lambdas: Lambdas, candidate: &Candidate) -> Result<Option<Refits>> {
        let sums = LeaveOneOutSums::of(&candidate.loo_values, self.problems);
        Ok(Some(Refits::OfSamples(candidate.loo_values.clone(), sums)))
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

    /// Ridge regression by Gaussian elimination on (features, 1), the constant free or penalized, without one copy of a
    /// row.
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
    fn loo_values_equal_refits_on_either_side() {
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
            for intercept in [Intercept::Free, Intercept::Penalized, Intercept::None] {
                for block in [dense, sparse] {
                    let targets = OneVsRest::new(&CODES, 3);
                    let problems = Problems { targets, weights: &weights, units: &units };
                    let pool = Pool::new(1).unwrap();
                    let roots = problems.roots();
                    let rows = FeatureMatrix::new(block, &roots, intercept);
                    let monitor = Monitor::none();
                    let mut system = System::new(&rows, &problems, intercept, (&pool, &monitor)).unwrap();
                    let lambda = 0.3 * system.unit;
                    let found = system.visit(Lambdas::new(lambda, 0.3), &[]).unwrap().unwrap();
                    // The features' side is in single precision.
                    let bound = if system.phi.is_some() { 1e-5 } else { 1e-7 };
                    let path = PathOptions { c: Some(0.5 / lambda), ..PathOptions::default() };
                    let fitted = fit_squared(block, &problems, path, intercept, &pool, &Monitor::none()).unwrap();
                    let squares = |weights: &Vec<f64>| weights.iter().map(|w| w * w).sum::<f64>();
                    let mut objective = 0.5 * fitted.weights.iter().map(squares).sum::<f64>();
                    if intercept == Intercept::Penalized {
                        objective += 0.5 * squares(&fitted.intercepts);
                    }
                    for problem in 0..3 {
                        let signs: Vec<f64> = (0..12).map(|i| targets.sign(i, problem)).collect();
                        for at in 0..12 {
                            let mut without = weights.clone();
                            without[at] -= units[at];
                            let free = match intercept {
                                Intercept::Free => 0.0,
                                Intercept::Penalized => lambda,
                                Intercept::None => 1e12,
                            };
                            let expected = refit(&phi, d, &without, &signs, (lambda, free), at);
                            let value = found.loo_values[problem][at];
                            assert!((value - expected).abs() < bound, "{d} {problem} {at}: {value} {expected}");
                            let (value, of_all) = (
                                fitted.outcome.best.loo_values[problem][at],
                                refit(&phi, d, &weights, &signs, (lambda, free), at),
                            );
                            assert!((value - expected).abs() < 1e-4, "{d} {problem} {at}: {value} {expected}");
                            let mut value = fitted.intercepts[problem];
                            block.for_each_nonzero(at, |feature, x| value += fitted.weights[problem][feature] * x);
                            assert!((value - of_all).abs() < 1e-4, "{d} {problem} {at}: {value} {of_all}");
                            objective += 0.5 / lambda * weights[at] * (1.0 - signs[at] * of_all).powi(2);
                        }
                    }
                    let point = &fitted.outcome.best.point;
                    assert!((point.objective / objective - 1.0).abs() < 1e-4, "{} {objective}", point.objective);
                    assert!(point.loo_exact && fitted.outcome.raised.is_none());
                }
            }
        }
    }

    #[test]
    fn columns_far_from_0_are_compared_as_those_near_it() {
        use super::super::feature_matrix::leave_one_out_path;
        // Sixteenths, which are exact in single precision next to a thousand.
        for d in [3, 20] {
            let near: Vec<f32> = phi(d).iter().map(|x| (x * 16.0).round() / 16.0).collect();
            let far: Vec<f32> = near.iter().map(|x| x + 1000.0).collect();
            let (ones, pool, monitor) = ([1.0; 12], Pool::new(1).unwrap(), Monitor::none());
            let problems = Problems { targets: OneVsRest::new(&CODES, 3), weights: &ones, units: &ones };
            let loo_values = |phi: &[f32]| {
                let block = problem::Block::Dense(DenseView::new(phi, 12, d).unwrap());
                let path = PathOptions { near: Some(0.1), stays: true, ..PathOptions::default() };
                let machine =
                    leave_one_out_path(block, &problems, (path, true), Intercept::Free, &pool, &monitor).unwrap();
                let ridge = fit_squared(block, &problems, path, Intercept::Free, &pool, &monitor).unwrap();
                [machine.best.loo_values, ridge.outcome.best.loo_values].concat().concat()
            };
            for (one, other) in loo_values(&near).iter().zip(loo_values(&far)) {
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
        let found = |near| {
            let path = PathOptions { near, is_short: true, ..PathOptions::default() };
            fit_squared(block, &problems, path, Intercept::Free, &pool, &monitor).unwrap().outcome.best
        };
        let all = [None, Some(1e-3), Some(100.0)].map(found);
        let least = all.iter().map(Candidate::loss).fold(f64::INFINITY, f64::min);
        assert!(all.iter().all(|one| one.loss() <= 1.02 * least), "{all:?}");
    }
}
