//! Errors for bad input name it; stopping early gives the current solution, with a true gap.

use std::time::Duration;

use crate::linear_common::Case;
use widemargin::Error;
use widemargin::data::DenseView;
use widemargin::monitor::Monitor;
use widemargin::problem::{Block, BlockObjective, Intercept, LinearProblem, Loss};
use widemargin::solve::Status;
use widemargin::solve::newton::{NewtonSettings, NewtonStart, Preconditioning, solve};

#[test]
fn errors_name_values_that_are_not_finite() {
    for bad in [f32::NAN, f32::INFINITY, 1e30] {
        let mut case = Case::new(600, 5, 3, 1.0, 1);
        case.phi[417 * 5 + 2] = bad;
        let mut objective = case.objective(1);
        let start = NewtonStart { weights: &[0.1; 15], intercepts: &[0.0; 3] };
        for start in [None, Some(start)] {
            let found = solve(&mut objective, &NewtonSettings::default(), start, &Monitor::none());
            match found {
                Err(Error::Value { row: 417, column: 2, .. }) => (),
                // A large value is only a mistake where arithmetic fails on it.
                Ok(_) if bad.is_finite() => (),
                other => panic!("{bad}: {other:?}"),
            }
        }
    }
}

#[test]
fn shapes_and_parameters_are_checked() {
    let case = Case::new(20, 4, 3, 1.0, 1);
    let make = |block: Block<'_>, costs: &[f64]| {
        let (loss, intercept) = (Loss::SquaredHinge, Intercept::Free);
        let problem = LinearProblem { targets: case.targets(), costs, loss, intercept };
        BlockObjective::new(block, problem, 1).map(|_| ())
    };
    assert!(matches!(make(case.block(), &[1.0; 19]), Err(Error::Shape { .. })));
    assert!(matches!(make(DenseView::new(&[], 0, 4).unwrap().into(), &[]), Err(Error::NoSamples(_))));
    let mut costs = [1.0; 20];
    costs[7] = -1.0;
    assert!(matches!(make(case.block(), &costs), Err(Error::Weight { row: 7, .. })));

    let run = |settings: NewtonSettings, start: Option<NewtonStart<'_>>| {
        solve(&mut case.objective(1), &settings, start, &Monitor::none()).map(|_| ())
    };
    let with = |tol: f64, max_iter: u32| NewtonSettings { tol, max_iter, ..NewtonSettings::default() };
    assert!(matches!(run(with(0.0, 9), None), Err(Error::Parameter { name: "tol", .. })));
    assert!(matches!(run(with(f64::NAN, 9), None), Err(Error::Parameter { name: "tol", .. })));
    assert!(matches!(run(with(0.1, 0), None), Err(Error::Parameter { name: "max_iter", .. })));
    let start = NewtonStart { weights: &[0.0; 5], intercepts: &[0.0; 3] };
    assert!(matches!(run(with(0.1, 9), Some(start)), Err(Error::Shape { .. })));
}

#[test]
fn limits_are_statuses_and_their_gaps_are_true() {
    let case = Case::new(500, 30, 3, 100.0, 2);
    let settings = NewtonSettings { tol: 1e-6, max_iter: 1, ..NewtonSettings::default() };
    let found = case.solve_with(&settings);
    assert!(found.problems.iter().any(|one| one.status == Status::IterationLimit));
    let report = found.report(Vec::new(), &settings);
    assert!(report.warnings[0].contains("not converged after 1 Newton steps"), "{:?}", report.warnings);
    let mut objective = case.objective(1);
    let monitor = Monitor::none().with_time_limit(Duration::ZERO);
    let early = solve(&mut objective, &NewtonSettings::default(), None, &monitor).unwrap();
    assert!(early.problems.iter().all(|one| one.status == Status::TimeLimit));
    for found in [found, early] {
        for k in 0..3 {
            let (minimum, _) = case.minimum(k);
            assert!(found.problems[k].gap() >= (found.problems[k].primal - minimum) / found.problems[k].primal - 1e-6);
        }
    }
}

#[test]
fn degenerate_problems_end_well() {
    // Constant features; no features; one row; a side without weight; a class that all others push aside.
    let mut constant = Case::new(60, 3, 3, 10.0, 4);
    constant.phi.fill(1.0);
    let none = Case { phi: Vec::new(), n_features: 0, ..Case::new(60, 3, 3, 1.0, 4) };
    let one = Case::new(1, 3, 2, 1.0, 4);
    let mut weightless = Case::new(60, 3, 2, 1.0, 4);
    let costs = weightless.codes.iter().map(|&code| f64::from(code)).collect();
    weightless.costs = costs;
    let huge = Case::new(300, 12, 3, 1e6, 4);
    for case in [constant, none, one, weightless, huge] {
        for preconditioner in [Preconditioning::Gram, Preconditioning::Diagonal] {
            let settings = NewtonSettings { preconditioner, ..NewtonSettings::default() };
            let found = case.solve_with(&settings);
            assert!(found.problems.iter().all(|one| one.status == Status::Converged), "{case:?} {found:?}");
            assert!(found.weights.iter().all(|w| w.is_finite()) && found.intercepts.iter().all(|b| b.is_finite()));
        }
    }
}
