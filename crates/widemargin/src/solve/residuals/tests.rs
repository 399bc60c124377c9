use proptest::prelude::*;

use super::fit::{Choice, Fit, Samples, fit};
use super::folds::Folds;
use super::loss::Rounded;
use super::memory_rows::MemoryRows;
use super::newton::{State, Task};
use super::parted_rows::PartedRows;
use crate::data::{CsrMatrix, DenseMatrix, Vectors};
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::Loss;
use crate::solve::ridge::{FeatureRidge, Fitted, RowTargets};
use crate::solve::{ProblemReport, Status};
use crate::tuning::N_FOLDS;

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

/// The solution of one problem in terms of the original features: weights, intercept, and how it was solved.
fn solved(
    phi: &Vectors,
    targets: &[f64],
    weights: &[f64],
    (loss, c, has_intercept): (Loss, f64, bool),
) -> (Vec<f64>, f64, ProblemReport) {
    with_rows(phi, weights, has_intercept, |rows, memory| {
        let task = Task { rows, targets, weights, has_intercept, monitor: &Monitor::none() };
        let mut state = State::new(rows);
        let tol = if !loss.is_smooth() { 1e-7 } else { 1e-10 };
        let solved = task.solve(loss, c, &mut state, tol).unwrap();
        let shift = rows.shift(&state.point.weights);
        (memory.original(&state.point.weights).unwrap(), state.point.intercept + shift, solved)
    })
}

/// Calls `work` with the rows of features in memory.
fn with_rows<T>(
    phi: &Vectors,
    weights: &[f64],
    has_intercept: bool,
    work: impl FnOnce(&PartedRows<'_>, &MemoryRows<'_>) -> T,
) -> T {
    let (zeros, pool) = (vec![0.0; weights.len()], Pool::new(2).unwrap());
    let memory = MemoryRows::new(phi, &pool).unwrap();
    let targets = RowTargets { values: &zeros, n_outputs: 1, weights, units: weights };
    let mut chunks = memory.with_targets(targets, has_intercept, &pool);
    let rows = PartedRows::new(&mut chunks, weights, 1, usize::MAX, &Monitor::none()).unwrap();
    work(&rows, &memory)
}

/// ½‖w‖² + C Σ v loss.
fn objective(phi: &Vectors, targets: &[f64], weights: &[f64], loss: Loss, c: f64, w: &[f64], b: f64) -> f64 {
    let dense = phi.dense().unwrap();
    let losses = dense.values.chunks(dense.n_cols).zip(targets).zip(weights).map(|((row, y), weight)| {
        let value: f64 = row.iter().zip(w).map(|(x, w)| f64::from(*x) * w).sum();
        c * weight * loss.value(y - value - b, 0.0)
    });
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
            targets: Matrix::from_columns(targets.clone(), N, 1),
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

#[test]
fn leave_one_out_residuals_equal_refits_if_no_other_sample_crosses_a_corner() {
    let (phi, targets) = case(N, 5, false);
    let (weights, monitor) = (weights(N), Monitor::none());
    let units: Vec<f64> = weights.iter().map(|weight| weight.min(1.0)).collect();
    for loss in [
        Loss::Huber { epsilon: Some(0.5) },
        Loss::SquaredEpsilonInsensitive { epsilon: Some(0.1) },
        Loss::SquaredEpsilonInsensitive { epsilon: Some(0.0) },
    ] {
        for c in [0.5, 20.0] {
            with_rows(&phi, &weights, true, |rows, _| {
                let of = |weights: &[f64], state: &mut State| {
                    let task = Task { rows, targets: &targets, weights, has_intercept: true, monitor: &monitor };
                    task.solve(loss, c, state, 1e-12).unwrap();
                    task.residuals(&state.point)
                };
                let mut state = State::new(rows);
                let whole = of(&weights, &mut state);
                let task = Task { rows, targets: &targets, weights: &weights, has_intercept: true, monitor: &monitor };
                let rounded = Rounded { loss, width: 0.0 };
                let loo = task.leave_one_out(rounded, c, &units, &mut state).unwrap();
                let (mut n_exact, mut mean, mut truth) = (0, 0.0, 0.0);
                for row in 0..N {
                    let mut fewer = weights.clone();
                    fewer[row] -= units[row];
                    let refit = of(&fewer, &mut State::new(rows));
                    let curves = |residual: f64| rounded.at(residual, 0.0).curvature > 0.0;
                    let same = (0..N).all(|at| fewer[at] == 0.0 || curves(whole[at]) == curves(refit[at]));
                    if same {
                        n_exact += 1;
                        assert!((loo[row] - refit[row]).abs() < 1e-5 * (1.0 + refit[row].abs()), "{loss:?} {c} {row}");
                    }
                    mean += weights[row] * loss.value(loo[row], 0.0);
                    truth += weights[row] * loss.value(refit[row], 0.0);
                }
                assert!(
                    n_exact > 0 && (loss != Loss::SquaredEpsilonInsensitive { epsilon: Some(0.0) } || n_exact == N),
                    "{loss:?} {c}: {n_exact}"
                );
                assert!((mean / truth - 1.0).abs() < 0.03, "{loss:?} {c}: {mean} {truth}");
            });
        }
    }
}

#[test]
fn the_loss_of_folds_is_that_of_refits_without_their_samples() {
    let (phi, targets) = case(N, 5, false);
    let (weights, loss) = (weights(N), Loss::Quantile { quantile: 0.7 });
    let monitor = Monitor::none();
    with_rows(&phi, &weights, true, |rows, _| {
        let task = Task { rows, targets: &targets, weights: &weights, has_intercept: true, monitor: &monitor };
        let mut folds = Folds::new(&weights, 3).unwrap().unwrap();
        let of = crate::data::stratified_folds(&crate::data::Labels::new(vec![0i64; N]), N_FOLDS as usize, 3).unwrap();
        let dense = phi.dense().unwrap();
        for c in [0.1, 1.0, 30.0] {
            let [found, _] = folds.loss(&task, loss, c).unwrap();
            let mut truth = 0.0;
            for fold in 0..N_FOLDS as usize {
                let others: Vec<usize> = (0..N).filter(|&row| of[row] != fold).collect();
                let values = others.iter().flat_map(|&row| dense.values[row * 5..][..5].to_vec()).collect();
                let part = Vectors::Dense(DenseMatrix { values, n_rows: others.len(), n_cols: 5 });
                let y: Vec<f64> = others.iter().map(|&row| targets[row]).collect();
                let v: Vec<f64> = others.iter().map(|&row| weights[row]).collect();
                let (w, b, _) = solved(&part, &y, &v, (loss, c, true));
                for row in (0..N).filter(|&row| of[row] == fold) {
                    let value: f64 = dense.values[row * 5..][..5].iter().zip(&w).map(|(x, w)| f64::from(*x) * w).sum();
                    truth += weights[row] * loss.value(targets[row] - value - b, 0.0);
                }
            }
            truth /= weights.iter().sum::<f64>();
            assert!((found / truth - 1.0).abs() < 0.01, "{c}: {found} {truth}");
        }
    });
}

fn whole_fit(phi: &Vectors, targets: &[f64], weights: &[f64], loss: Loss, threads: usize) -> Fit {
    let (n, pool) = (weights.len(), Pool::new(threads).unwrap());
    let units: Vec<f64> = weights.iter().map(|weight| weight.min(1.0)).collect();
    let memory = MemoryRows::new(phi, &pool).unwrap();
    let of_rows = RowTargets { values: targets, n_outputs: 1, weights, units: &units };
    let mut chunks = memory.with_targets(of_rows, true, &pool);
    let samples = Samples {
        rows: &PartedRows::new(&mut chunks, weights, 1, usize::MAX, &Monitor::none()).unwrap(),
        targets: &Matrix::from_columns(targets.to_vec(), n, 1),
        scales: &[1.0],
        weights,
        units: &units,
        has_intercept: true,
    };
    fit(samples, Choice { loss, c: None, seed: 0 }, &Monitor::none()).unwrap()
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
