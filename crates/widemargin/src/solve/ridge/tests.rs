use super::*;
use crate::data::{CsrMatrix, DenseMatrix, Vectors};
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;

const N: usize = 23;

/// Rows of features without structure, weights, and targets of two outputs.
fn case(d: usize) -> (DenseMatrix<f32>, Vec<f64>, Matrix) {
    let noise = |at: usize| {
        let mixed = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let mut values: Vec<f32> = (0..N * d).map(|at| noise(at) as f32 + 0.3).collect();
    // The last two samples have the same features.
    values.copy_within((N - 2) * d..(N - 1) * d, (N - 1) * d);
    let weights = (0..N).map(|i| [1.0, 2.0, 0.4, 3.0][i % 4]).collect();
    let targets = (0..2 * N).map(|at| 5.0 + noise(at + 500) * [1.0, 30.0][at / N]).collect();
    (DenseMatrix { values, n_rows: N, n_cols: d }, weights, Matrix::from_columns(targets, N, 2))
}

/// w and b of one output by the normal equations with the intercept as a column, solved by elimination.
fn refit(phi: &DenseMatrix<f32>, weights: &[f64], y: &[f64], lambda: f64, intercept: bool) -> Vec<f64> {
    let d = phi.n_cols;
    let m = d + usize::from(intercept);
    let row = |i: usize| -> Vec<f64> {
        let features = phi.values[i * d..][..d].iter().map(|x| f64::from(*x));
        features.chain(intercept.then_some(1.0)).collect()
    };
    let mut system = vec![vec![0.0; m + 1]; m];
    for i in 0..phi.n_rows {
        let x = row(i);
        for a in 0..m {
            (0..m).for_each(|b| system[a][b] += weights[i] * x[a] * x[b]);
            system[a][m] += weights[i] * x[a] * y[i];
        }
    }
    (0..d).for_each(|a| system[a][a] += lambda);
    for a in 0..m {
        let pivot = (a..m).max_by(|&i, &j| system[i][a].abs().total_cmp(&system[j][a].abs())).unwrap();
        system.swap(a, pivot);
        for i in 0..m {
            if i != a {
                let factor = system[i][a] / system[a][a];
                (a..=m).for_each(|b| system[i][b] -= factor * system[a][b]);
            }
        }
    }
    (0..m).map(|a| system[a][m] / system[a][a]).collect()
}

fn value(phi: &DenseMatrix<f32>, row: usize, found: &[f64]) -> f64 {
    let d = phi.n_cols;
    let features = phi.values[row * d..][..d].iter();
    features.zip(found).map(|(x, w)| f64::from(*x) * w).sum::<f64>() + found.get(d).copied().unwrap_or(0.0)
}

fn sparse(dense: &DenseMatrix<f32>) -> Vectors {
    let mut matrix = CsrMatrix::empty(dense.n_cols);
    for row in dense.values.chunks(dense.n_cols) {
        for (column, &value) in row.iter().enumerate().filter(|(column, _)| column % 3 > 0) {
            matrix.indices.push(column as u32);
            matrix.values.push(value);
        }
        matrix.indptr.push(matrix.values.len());
    }
    Vectors::Sparse(matrix)
}

#[test]
fn solutions_and_loo_values_equal_refits() {
    // More samples than features, fewer, and sparse ones.
    for (d, is_sparse) in [(4, false), (40, false), (9, true), (40, true)] {
        let (mut phi, weights, targets) = case(d);
        let units: Vec<f64> = weights.iter().map(|weight| weight.min(1.0)).collect();
        let fitted = Fitted::new(&targets, weights.clone(), units.clone());
        let vectors = if is_sparse { sparse(&phi) } else { Vectors::Dense(phi.clone()) };
        phi = vectors.dense().unwrap().into_owned();
        let (pool, monitor) = (Pool::new(2).unwrap(), Monitor::none());
        for intercept in [true, false] {
            let ridge = FeatureRidge::new(&vectors, intercept, fitted.clone(), &pool, &monitor).unwrap();
            let lambdas = [0.01, 0.5, 20.0];
            let points = ridge.parted().leave_one_out(&mut ridge.rows(), &lambdas, &monitor).unwrap();
            for (lambda, point) in lambdas.into_iter().zip(points) {
                let solution = ridge.solution(lambda).unwrap();
                let loo_values = ridge.loo_values(lambda, &monitor).unwrap();
                for output in 0..2 {
                    let y = targets.col(output);
                    let whole = refit(&phi, &weights, y, lambda, intercept);
                    let own = &solution.weights[output * d..][..d];
                    let off = own.iter().zip(&whole).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
                    assert!(off < 1e-8, "{d} features, sparse {is_sparse}, {intercept}, lambda {lambda}: {off}");
                    let b = whole.get(d).copied().unwrap_or(0.0);
                    assert!((solution.intercepts[output] - b).abs() < 1e-8 * (1.0 + b.abs()));
                    let mut sum = 0.0;
                    for i in 0..N {
                        let mut fewer = weights.clone();
                        fewer[i] -= units[i];
                        let truth = value(&phi, i, &refit(&phi, &fewer, y, lambda, intercept));
                        assert!((loo_values.at(i, output) - truth).abs() < 1e-7 * (1.0 + truth.abs()), "{d} {i}");
                        sum += weights[i] * (y[i] - truth).powi(2);
                    }
                    let mean = sum / weights.iter().sum::<f64>();
                    assert!((point.squared_errors[output] / mean - 1.0).abs() < 1e-7);
                }
            }
        }
    }
}

#[test]
fn leave_one_out_centers_features_on_the_other_samples() {
    for d in [4, 40] {
        let (phi, weights, targets) = case(d);
        let centered = |weights: &[f64]| {
            let (mut phi, total) = (phi.clone(), weights.iter().sum::<f64>());
            for feature in 0..d {
                let mean = (0..N).map(|i| weights[i] / total * f64::from(phi.values[i * d + feature])).sum::<f64>();
                (0..N).for_each(|i| phi.values[i * d + feature] -= mean as f32);
            }
            phi
        };
        let units: Vec<f64> = weights.iter().map(|weight| weight.min(1.0)).collect();
        let total: f64 = weights.iter().sum();
        let mean = |output: usize| targets.col(output).iter().zip(&weights).map(|(y, w)| w / total * y).sum();
        let fitted = Fitted::new(&targets, weights.clone(), units.clone());
        let (pool, monitor, all) = (Pool::new(2).unwrap(), Monitor::none(), Vectors::Dense(centered(&weights)));
        let mut ridge = FeatureRidge::new(&all, false, fitted, &pool, &monitor).unwrap();
        ridge.recenter((0..2).map(mean).collect());
        for lambda in [0.01, 0.5, 20.0] {
            let values = ridge.loo_values(lambda, &monitor).unwrap();
            for (i, output) in (0..N).flat_map(|i| [(i, 0), (i, 1)]) {
                let mut fewer = weights.clone();
                fewer[i] -= units[i];
                let others = centered(&fewer);
                let truth = value(&others, i, &refit(&others, &fewer, targets.col(output), lambda, false));
                let off = (values.at(i, output) - truth).abs();
                assert!(off < 1e-3 * (1.0 + truth.abs()), "{d} features, lambda {lambda}, {i}: {off}");
            }
        }
    }
}

#[test]
fn copies_are_weights() {
    let (phi, _, targets) = case(6);
    let rows: Vec<usize> = (0..N).flat_map(|i| vec![i; i % 3]).collect();
    let copies: Vec<f32> = rows.iter().flat_map(|&i| phi.values[i * 6..][..6].to_vec()).collect();
    let many = Vectors::Dense(DenseMatrix { values: copies, n_rows: rows.len(), n_cols: 6 });
    let present: Vec<usize> = (0..N).filter(|i| i % 3 > 0).collect();
    let few: Vec<f32> = present.iter().flat_map(|&i| phi.values[i * 6..][..6].to_vec()).collect();
    let few = Vectors::Dense(DenseMatrix { values: few, n_rows: present.len(), n_cols: 6 });
    let weights: Vec<f64> = present.iter().map(|i| (i % 3) as f64).collect();
    let (pool, monitor) = (Pool::new(1).unwrap(), Monitor::none());
    let of = |phi: &Vectors, rows: &[usize], weights: &[f64]| {
        let (targets, units) = (targets.select_rows(rows), vec![1.0; rows.len()]);
        let fitted = Fitted::new(&targets, weights.to_vec(), units);
        let ridge = FeatureRidge::new(phi, true, fitted, &pool, &monitor).unwrap();
        let errors =
            ridge.parted().leave_one_out(&mut ridge.rows(), &[0.3], &monitor).unwrap()[0].squared_errors.clone();
        (errors, ridge.solution(0.3).unwrap().weights)
    };
    let (one, other) = (of(&few, &present, &weights), of(&many, &rows, &vec![1.0; rows.len()]));
    assert!(one.0.iter().zip(&other.0).all(|(a, b)| (a / b - 1.0).abs() < 1e-10));
    assert!(one.1.iter().zip(&other.1).all(|(a, b)| (a - b).abs() < 1e-10));
}

#[test]
fn polynomials_are_unpenalized() {
    // −|x − y| with 1 and x free: a smoothing spline, which reproduces straight lines, with leave-one-out too.
    let points: Vec<f64> = (0..12).map(|i| f64::from(i * i % 17)).collect();
    let n = points.len();
    let kernel = Matrix::from_columns((0..n * n).map(|at| -(points[at % n] - points[at / n]).abs()).collect(), n, n);
    let free = Matrix::from_columns([vec![1.0; n], points.clone()].concat(), n, 2);
    let targets = Matrix::from_columns(points.iter().map(|x| 3.0 - 2.0 * x).collect(), n, 1);
    let ones = vec![1.0; n];
    let ridge = Ridge::of_kernel(kernel, free, Fitted::new(&targets, ones.clone(), ones)).unwrap();
    let KernelSolution { alphas, betas } = ridge.solution(0.1);
    assert!(alphas.values().iter().all(|alpha| alpha.abs() < 1e-10));
    assert!((betas.at(0, 0) - 3.0).abs() < 1e-9 && (betas.at(1, 0) + 2.0).abs() < 1e-9);
    assert!(
        ridge.parted.leave_one_out(&mut ridge.rows(), &[0.1], &Monitor::none()).unwrap()[0].squared_errors[0] < 1e-16
    );
}

#[test]
fn a_sample_that_is_always_fitted_has_no_loo_value() {
    // One sample is all there is of the feature.
    let phi = Vectors::Dense(DenseMatrix { values: vec![1.0, 0.0, 0.0], n_rows: 3, n_cols: 1 });
    let (targets, ones) = (Matrix::from_columns(vec![5.0, 1.0, 1.1], 3, 1), vec![1.0; 3]);
    let fitted = Fitted::new(&targets, ones.clone(), ones);
    let (pool, monitor) = (Pool::new(1).unwrap(), Monitor::none());
    let ridge = FeatureRidge::new(&phi, true, fitted, &pool, &monitor).unwrap();
    let points = ridge.parted().leave_one_out(&mut ridge.rows(), &[1e-12, 1.0], &monitor).unwrap();
    assert!(points[0].squared_errors[0].is_infinite() && points[1].squared_errors[0].is_finite());
}
