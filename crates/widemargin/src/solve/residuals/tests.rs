use proptest::prelude::*;

use super::fit::{Choice, Fit, Samples, fit};
use super::memory_rows::MemoryRows;
use crate::data::{CsrMatrix, DenseMatrix, Vectors};
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{Loss, ProblemTargets};
use crate::solve::ridge::{FeatureRidge, Fitted};
use crate::solve::thin_plate::{BlockStorage, FeatureMap, RowData, Run, fit_blocks};
use crate::solve::{ProblemReport, Status};

const N: usize = 31;

const LOSSES: [Loss; 5] = [
    Loss::Huber { epsilon: Some(0.1) },
    Loss::SquaredEpsilonInsensitive { epsilon: Some(0.0) },
    Loss::SquaredEpsilonInsensitive { epsilon: Some(0.1) },
    Loss::Quantile { quantile: 0.5 },
    Loss::Quantile { quantile: 0.9 },
];

fn noise(at: usize) -> f64 {
    let mixed = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
}

/// Features without structure, some of them 0 where `is_sparse`, and targets that follow the first two, with outliers.
fn case(n: usize, d: usize, is_sparse: bool) -> (Vectors, Vec<f64>) {
    let value = |at: usize| if is_sparse && (at % d).is_multiple_of(3) { 0.0 } else { noise(at) as f32 + 0.3 };
    let values: Vec<f32> = (0..n * d).map(value).collect();
    let target = |row: usize| {
        let linear = f64::from(values[row * d + 1]) - 0.5 * f64::from(values[row * d + 2]);
        linear + 0.3 * noise(row + 9000) + if row % 7 == 3 { 2.0 } else { 0.0 }
    };
    let targets = (0..n).map(target).collect();
    let dense = DenseMatrix { values, n_rows: n, n_cols: d };
    if !is_sparse {
        return (Vectors::Dense(dense), targets);
    }
    let mut matrix = CsrMatrix::empty(d);
    for row in dense.values.chunks(d) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            matrix.indices.push(column as u32);
            matrix.values.push(value);
        }
        matrix.indptr.push(matrix.values.len());
    }
    (Vectors::Sparse(matrix), targets)
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|row| [1.0, 2.0, 0.4, 3.0][row % 4]).collect()
}

/// The fit of one output, and the leave-one-out residuals of a few rows, infinite where they are unknown.
fn fitted(
    phi: &Vectors,
    targets: &[f64],
    (weights, units): (&[f64], &[f64]),
    (loss, c, has_intercept): (Loss, Option<f64>, bool),
    threads: usize,
) -> (Fit, Vec<f64>) {
    let (pool, monitor) = (Pool::new(threads).unwrap(), Monitor::none());
    let rows = MemoryRows::new(phi, &pool).unwrap();
    let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
    let raw = |some: std::ops::Range<usize>, _| {
        let ones = Matrix::from_columns(roots[some.clone()].to_vec(), 1, some.len());
        Ok((rows.scaled(some, &roots), ones))
    };
    let of_output = Matrix::from_columns(targets.to_vec(), 1, targets.len());
    let known = Fitted { targets: of_output, weights: weights.to_vec(), units: units.to_vec() };
    let samples = Samples { fitted: &known, scales: &[1.0], has_intercept };
    let of_output = ProblemTargets::Outputs { values: targets, n_outputs: 1 };
    let row_data = RowData { targets: of_output, roots: &roots, units };
    let mut left = Vec::new();
    let mut found = fit(samples, Choice { loss, c, by_folds: false }, &monitor, &mut |settings, _, monitor| {
        let storage = BlockStorage { n_cached: 0, lifts: false, checkpoint: None };
        let (map, run) = (FeatureMap::identity(rows.n_features()), Run { settings, pool: &pool, monitor });
        let found = fit_blocks(&raw, map, (row_data, &[0.0]), storage, run, || Ok(()))?;
        left.clone_from(&found.outcome.best.some.values);
        Ok(found)
    })
    .unwrap();
    found.weights = rows.original(&found.weights).unwrap();
    (found, left)
}

/// The solution of one problem in terms of the original features: weights, intercept, and how it was solved.
fn solved(
    phi: &Vectors,
    targets: &[f64],
    weights: &[f64],
    (loss, c, has_intercept): (Loss, f64, bool),
) -> (Vec<f64>, f64, ProblemReport) {
    let (fit, _) = fitted(phi, targets, (weights, weights), (loss, Some(c), has_intercept), 2);
    (fit.weights, fit.intercepts[0], fit.problems[0])
}

/// The residuals of rows of features.
fn residuals(phi: &Vectors, targets: &[f64], w: &[f64], b: f64) -> Vec<f64> {
    let dense = phi.dense().unwrap();
    let value = |row: &[f32]| row.iter().zip(w).map(|(x, w)| f64::from(*x) * w).sum::<f64>();
    dense.values.chunks(dense.n_cols).zip(targets).map(|(row, y)| y - value(row) - b).collect()
}

/// ½‖w‖² + C Σ v loss.
fn objective(phi: &Vectors, targets: &[f64], weights: &[f64], loss: Loss, c: f64, w: &[f64], b: f64) -> f64 {
    let residuals = residuals(phi, targets, w, b);
    let losses = residuals.iter().zip(weights).map(|(residual, weight)| c * weight * loss.value(*residual, 0.0));
    0.5 * w.iter().map(|w| w * w).sum::<f64>() + losses.sum::<f64>()
}

#[test]
fn every_solution_is_certified_and_the_objective_is_that_of_its_weights() {
    for (d, is_sparse) in [(5, false), (50, false), (6, true), (60, true)] {
        let (phi, targets) = case(N, d, is_sparse);
        for loss in LOSSES {
            for (c, intercept) in [(0.01, true), (1.0, true), (300.0, true), (1.0, false), (1e5, true)] {
                let (w, b, solved) = solved(&phi, &targets, &weights(N), (loss, c, intercept));
                let what = format!("{d} {is_sparse} {loss:?} {c} {intercept}: {solved:?}");
                assert_eq!(solved.status, Status::Converged, "{what}");
                assert!(solved.gap() <= 1e-7, "{what}");
                let found = objective(&phi, &targets, &weights(N), loss, c, &w, b);
                assert!((found - solved.primal).abs() <= 1e-6 * solved.primal, "{what}: {found}");
                assert!(intercept || b == 0.0, "{what}");
            }
        }
    }
}

#[test]
fn without_a_corner_it_is_ridge_regression() {
    for d in [5, 50] {
        let (phi, targets) = case(N, d, false);
        let (weights, pool) = (weights(N), Pool::new(1).unwrap());
        let fitted = Fitted {
            targets: Matrix::from_columns(targets.clone(), 1, N),
            weights: weights.clone(),
            units: weights.clone(),
        };
        let ridge = FeatureRidge::new(&phi, true, fitted, &pool, &Monitor::none()).unwrap();
        for c in [0.02, 5.0] {
            let truth = ridge.solution(0.5 / c).unwrap();
            for loss in [Loss::SquaredEpsilonInsensitive { epsilon: Some(0.0) }, Loss::Huber { epsilon: Some(1e3) }] {
                let (w, b, _) = solved(&phi, &targets, &weights, (loss, c, true));
                let off = w.iter().zip(&truth.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-6 && (b - truth.intercepts[0]).abs() < 1e-6, "{d} {c} {loss:?}: {off}");
            }
        }
    }
}

fn whole_fit(phi: &Vectors, targets: &[f64], weights: &[f64], loss: Loss, threads: usize) -> Fit {
    let units: Vec<f64> = weights.iter().map(|weight| weight.min(1.0)).collect();
    fitted(phi, targets, (weights, &units), (loss, None, true), threads).0
}

#[test]
fn threads_change_no_bit_and_the_chosen_point_is_the_best() {
    let (phi, targets) = case(700, 5, false);
    for name in Loss::OF_TARGETS {
        let loss = Loss::of_targets(name, None, None).unwrap();
        let one = whole_fit(&phi, &targets, &weights(700), loss, 1);
        let two = whole_fit(&phi, &targets, &weights(700), loss, 2);
        assert_eq!((&one.weights, &one.intercepts, &one.path), (&two.weights, &two.intercepts, &two.path), "{name}");
        assert_eq!((one.c, &one.epsilons), (two.c, &two.epsilons), "{name}");
        let best = one.path.iter().map(|point| point.d2).fold(f64::NEG_INFINITY, f64::max);
        assert!(one.path.iter().any(|point| point.c == one.c && point.d2 == best), "{name}");
        assert!(one.path.is_sorted_by(|a, b| a.c < b.c) && one.problems[0].status == Status::Converged, "{name}");
    }
}

#[test]
fn quantiles_leave_their_part_of_the_samples_below() {
    let (phi, targets) = case(700, 4, false);
    let dense = phi.dense().unwrap();
    for quantile in [0.1, 0.5, 0.9] {
        let fit = whole_fit(&phi, &targets, &[1.0; 700], Loss::Quantile { quantile }, 1);
        let below = dense.values.chunks(4).zip(&targets).filter(|(row, y)| {
            let value: f64 = row.iter().zip(&fit.weights).map(|(x, w)| f64::from(*x) * w).sum();
            **y < value + fit.intercepts[0]
        });
        // At most as many samples as features and the intercept lie on the function.
        let part = below.count() as f64 / 700.0;
        assert!((part - quantile).abs() <= 5.0 / 700.0 + 1e-9, "{quantile}: {part}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The dual objective is a lower bound of the objective at every point.
    #[test]
    fn no_point_is_below_the_dual(
        seed in 0usize..1000,
        (loss, c) in (0usize..5, -2.0f64..3.0).prop_map(|(at, exponent)| (LOSSES[at], 10f64.powf(exponent))),
        (point, b) in (prop::collection::vec(-2.0f64..2.0, 5), -2.0f64..2.0),
    ) {
        let (phi, mut targets) = case(12, 5, false);
        targets.iter_mut().enumerate().for_each(|(row, y)| *y += noise(seed * 31 + row));
        let (w, intercept, solved) = solved(&phi, &targets, &weights(12), (loss, c, true));
        prop_assert!(objective(&phi, &targets, &weights(12), loss, c, &point, b) >= solved.dual * (1.0 - 1e-12));
        // Nor is any near the solution.
        let near: Vec<f64> = w.iter().zip(&point).map(|(w, x)| w + 1e-3 * x).collect();
        let there = objective(&phi, &targets, &weights(12), loss, c, &near, intercept + 1e-3 * b);
        prop_assert!(there >= solved.dual * (1.0 - 1e-12));
        prop_assert!(solved.dual <= solved.primal * (1.0 + 1e-12));
        prop_assert!(solved.status == Status::Converged, "{solved:?}");
    }
}
