//! The answer of the Newton solver does not depend on how many threads work, nor on where it starts.

use crate::linear_common::Case;
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::solve::newton::{NewtonSettings, NewtonSolution, NewtonStart, solve};

/// Largest relative difference of objectives, and largest difference of weights.
fn differences(a: &NewtonSolution, b: &NewtonSolution) -> (f64, f64) {
    let objectives = a.problems.iter().zip(&b.problems).map(|(a, b)| (a.primal - b.primal).abs() / b.primal);
    let weights = a.weights.iter().zip(&b.weights).map(|(a, b)| f64::from((a - b).abs()));
    (objectives.fold(0.0, f64::max), weights.fold(0.0, f64::max))
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // The second has few active rows.
    for case in [Case::new(3000, 700, 3, 1.0, 6), Case::new(900, 700, 3, 100.0, 6)] {
        let run = |threads: usize| {
            let mut objective = case.objective(threads);
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
fn a_start_at_the_answer_ends_at_once() {
    let case = Case::new(800, 15, 3, 1.0, 12);
    let found = case.solve(1e-4);
    let start = NewtonStart { weights: &found.weights, intercepts: &found.intercepts };
    let again = |settings: &NewtonSettings| {
        let mut objective = case.objective(1);
        solve(&mut objective, settings, Some(start), &Monitor::none()).unwrap()
    };
    let at_once = again(&NewtonSettings { tol: 1e-3, ..NewtonSettings::default() });
    assert!(at_once.problems.iter().all(|one| one.iterations == 0) && at_once.passes == 0);
    let closer = again(&NewtonSettings { tol: 1e-6, ..NewtonSettings::default() });
    let fresh = case.solve(1e-6);
    let steps = |found: &NewtonSolution| found.problems.iter().map(|one| one.iterations).max();
    assert!(steps(&closer) < steps(&fresh));
    assert!(differences(&closer, &fresh).0 < 1e-6);
}

#[test]
fn an_objective_can_be_used_again() {
    let case = Case::new(300, 10, 3, 1.0, 13);
    let mut objective = case.objective(1);
    let settings = NewtonSettings::default();
    let first = solve(&mut objective, &settings, None, &Monitor::none()).unwrap();
    assert_eq!(first, solve(&mut objective, &settings, None, &Monitor::none()).unwrap());
    assert_eq!(case.loss, Loss::SquaredHinge);
}
