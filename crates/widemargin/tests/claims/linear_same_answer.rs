//! The answer does not depend on how rows are cut into blocks, how they are stored, how many threads work,
//! whether a row is weighted or repeated, where the solver starts.

use crate::linear_common::Case;
use widemargin::data::{CsrMatrix, DenseView};
use widemargin::monitor::Monitor;
use widemargin::problem::{Block, Intercept, LinearObjective, Loss};
use widemargin::solve::newton::{NewtonSettings, NewtonSolution, NewtonStart, Preconditioning, solve};

/// Largest relative difference of objectives, and largest difference of weights.
fn differences(a: &NewtonSolution, b: &NewtonSolution) -> (f64, f64) {
    let objectives = a.primal.iter().zip(&b.primal).map(|(a, b)| (a - b).abs() / b);
    let weights = a.weights.iter().zip(&b.weights).map(|(a, b)| f64::from((a - b).abs()));
    (objectives.fold(0.0, f64::max), weights.fold(0.0, f64::max))
}

#[test]
fn the_partition_into_blocks() {
    let case = Case::new(1500, 30, 4, 0.5, 2);
    let whole = case.solve(1e-6);
    for sizes in [vec![1500], vec![1, 1499], vec![700, 300, 500]] {
        let mut from = 0;
        let blocks: Vec<Block<'_>> = sizes
            .iter()
            .map(|&n| {
                let rows = &case.phi[from * 30..(from + n) * 30];
                from += n;
                DenseView::new(rows, n, 30).unwrap().into()
            })
            .collect();
        let parts = case.solve_with(&blocks, &NewtonSettings { tol: 1e-6, ..NewtonSettings::default() });
        let (objectives, weights) = differences(&parts, &whole);
        assert!(objectives < 1e-6 && weights < 1e-3, "{sizes:?} {objectives} {weights}");
    }
}

#[test]
fn sparse_or_dense() {
    let mut case = Case::new(900, 20, 3, 1.0, 4);
    case.phi.iter_mut().enumerate().filter(|(i, _)| i % 7 > 2).for_each(|(_, value)| *value = 0.0);
    let mut csr = CsrMatrix::<f32> { indptr: vec![0], n_cols: 20, ..CsrMatrix::default() };
    for row in case.phi.chunks(20) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            csr.indices.push(column as u32);
            csr.values.push(value);
        }
        csr.indptr.push(csr.values.len());
    }
    for preconditioner in [Preconditioning::Gram, Preconditioning::Diagonal] {
        let settings = NewtonSettings { tol: 1e-6, preconditioner, ..NewtonSettings::default() };
        let dense = case.solve_with(&[case.block()], &settings);
        let sparse = case.solve_with(&[csr.view().unwrap().into()], &settings);
        let (objectives, weights) = differences(&sparse, &dense);
        assert!(objectives < 1e-6 && weights < 1e-3, "{preconditioner:?} {objectives} {weights}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // The second has few active rows.
    for case in [Case::new(3000, 700, 3, 1.0, 6), Case::new(900, 700, 3, 100.0, 6)] {
        let run = |threads: usize| {
            let mut objective = case.objective(&[case.block()], threads);
            let settings = NewtonSettings { threads, ..NewtonSettings::default() };
            solve(&mut objective, &settings, None, &Monitor::none()).unwrap()
        };
        let one = run(1);
        assert!(one.n_factors > 0);
        assert_eq!(one, run(3));
        assert_eq!(one, run(2));
    }
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let mut case = Case::new(200, 8, 3, 0.7, 9);
    let copies: Vec<usize> = (0..200).map(|i| (i * 5 + 1) % 4).collect();
    let mut copied = Case { phi: Vec::new(), codes: Vec::new(), costs: Vec::new(), ..case.clone() };
    for (row, &count) in copies.iter().enumerate() {
        for _ in 0..count {
            copied.phi.extend_from_slice(case.row(row));
            copied.codes.push(case.codes[row]);
            copied.costs.push(0.7);
        }
        case.costs[row] *= count as f64;
    }
    for intercept in [Intercept::Free, Intercept::None] {
        (case.intercept, copied.intercept) = (intercept, intercept);
        let (objectives, weights) = differences(&case.solve(1e-6), &copied.solve(1e-6));
        assert!(objectives < 2e-6 && weights < 1e-3, "{objectives} {weights}");
    }
}

#[test]
fn a_start_at_the_answer_ends_at_once() {
    let case = Case::new(800, 15, 3, 1.0, 12);
    let found = case.solve(1e-4);
    let start = NewtonStart { weights: &found.weights, intercepts: &found.intercepts };
    let again = |settings: &NewtonSettings| {
        let mut objective = case.objective(&[case.block()], 1);
        solve(&mut objective, settings, Some(start), &Monitor::none()).unwrap()
    };
    let at_once = again(&NewtonSettings { tol: 1e-3, ..NewtonSettings::default() });
    assert_eq!((at_once.iterations, at_once.passes), (vec![0; 3], 0));
    let closer = again(&NewtonSettings { tol: 1e-6, ..NewtonSettings::default() });
    let fresh = case.solve(1e-6);
    assert!(closer.iterations.iter().max() < fresh.iterations.iter().max());
    assert!(differences(&closer, &fresh).0 < 1e-6);
}

#[test]
fn an_objective_can_be_used_again() {
    let case = Case::new(300, 10, 3, 1.0, 13);
    let mut objective: LinearObjective<'_> = case.objective(&[case.block()], 1);
    let settings = NewtonSettings::default();
    let first = solve(&mut objective, &settings, None, &Monitor::none()).unwrap();
    assert_eq!(first, solve(&mut objective, &settings, None, &Monitor::none()).unwrap());
    assert_eq!(case.loss, Loss::SquaredHinge);
}
