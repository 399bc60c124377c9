//! The Newton solver finds the minimum: fixed figures of another implementation, a dense Newton method in double
//! precision, and a reported gap that bounds the true one.

use crate::linear_common::{Case, INTERCEPTS, LOSSES};
use proptest::prelude::*;
use widemargin::problem::{Intercept, Loss};
use widemargin::solve::Status;
use widemargin::solve::newton::{NewtonSettings, Preconditioning};

/// 240 rows of 20 features in three classes, C = 1: one-vs-rest objectives to 1e-6, from an independent solver.
#[test]
fn agrees_with_fixed_figures() {
    let text = include_str!("../data/linear_three_classes.csv");
    let (mut codes, mut phi) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut fields = line.split(',');
        codes.push(fields.next().unwrap().parse().unwrap());
        phi.extend(fields.map(|field| field.parse::<f32>().unwrap()));
    }
    let (n_features, costs, loss) = (20, vec![1.0; codes.len()], Loss::SquaredHinge);
    let case = Case { phi, n_features, codes, n_classes: 3, costs, loss, intercept: Intercept::None };
    let expected = [
        (Intercept::None, [85.79318101, 86.90627589, 80.90453895]),
        (Intercept::Penalized, [62.6688523, 68.27189976, 72.12285335]),
    ];
    for (intercept, objectives) in expected {
        let found = Case { intercept, ..case.clone() }.solve(1e-6);
        for (k, right) in objectives.iter().enumerate() {
            assert!(
                (found.problems[k].primal - right).abs() <= 1e-6 * right,
                "{intercept:?} {k}: {}",
                found.problems[k].primal
            );
            assert_eq!(found.problems[k].status, Status::Converged);
        }
    }
    // A free intercept can only do better than one that costs.
    let free = Case { intercept: Intercept::Free, ..case }.solve(1e-6);
    assert!(free.problems.iter().zip(expected[1].1).all(|(free, penalized)| free.primal < penalized));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_gap_is_reached_and_bounds_the_distance_to_the_minimum(
        n in 20usize..400,
        d in 1usize..40,
        classes in 2usize..5,
        c in (-4.0f64..3.0).prop_map(|e| 10f64.powf(e)),
        tol in (-5.0f64..-0.5).prop_map(|e| 10f64.powf(e)),
        loss in 0..LOSSES.len(),
        intercept in 0..INTERCEPTS.len(),
        preconditioner in 0usize..3,
        seed in 0u64..1000,
    ) {
        let mut case = Case::new(n, d, classes, c, seed);
        (case.loss, case.intercept) = (LOSSES[loss], INTERCEPTS[intercept]);
        let kinds = [Preconditioning::Auto, Preconditioning::Gram, Preconditioning::Diagonal];
        let settings = NewtonSettings { tol, preconditioner: kinds[preconditioner], ..NewtonSettings::default() };
        let found = case.solve_with(&settings);
        for k in 0..found.problems.len() {
            let (minimum, _) = case.minimum(k);
            let mut point: Vec<f64> = found.weights[k * d..(k + 1) * d].iter().map(|w| f64::from(*w)).collect();
            point.push(found.intercepts[k]);
            let value = case.value(k, &point);
            // The reported objective is that of the returned weights but for the single precision of the scores,
            // which weighs more the larger C is; the gap is a true bound.
            prop_assert!((found.problems[k].primal - value).abs() <= 5e-6 * value + 1e-12, "{} {}", found.problems[k].primal, value);
            prop_assert!(found.problems[k].gap() >= (value - minimum) / value - 1e-6, "{:?} {}", found, minimum);
            prop_assert!(found.problems[k].dual <= minimum * (1.0 + 5e-6) + 1e-12);
            prop_assert!(found.problems[k].status == Status::Converged && found.problems[k].gap() <= tol, "{:?}", found);
        }
    }
}

/// Objective values at every intercept and loss, to five digits more than the tolerance asks for.
#[test]
fn a_small_tolerance_gives_a_close_objective() {
    for loss in LOSSES {
        for intercept in INTERCEPTS {
            let mut case = Case::new(700, 25, 4, 2.0, 3);
            (case.loss, case.intercept) = (loss, intercept);
            let found = case.solve(1e-6);
            for k in 0..4 {
                let (minimum, point) = case.minimum(k);
                assert!((found.problems[k].primal - minimum).abs() <= 1e-6 * minimum, "{loss} {intercept:?}");
                if intercept != Intercept::None {
                    assert!((found.intercepts[k] - point[25]).abs() < 1e-3 * point[25].abs().max(1.0));
                }
            }
        }
    }
}

/// A large C where classes nearly separate, so that few rows are active and from 0 others at every step: 9 steps and 33
/// passes, where a path over C and the Hessian's few rows are not made use of 16 to 76 and 132 to 708.
#[test]
fn a_large_c_takes_few_steps_and_passes() {
    for intercept in INTERCEPTS {
        let mut case = Case::new(500, 160, 3, 1000.0, 21);
        case.intercept = intercept;
        let found = case.solve(1e-3);
        assert!(found.problems.iter().all(|one| one.iterations <= 13), "{intercept:?} {:?}", found.problems);
        assert!(found.passes <= 60, "{intercept:?} {}", found.passes);
        for k in 0..3 {
            let (minimum, _) = case.minimum(k);
            assert!(
                found.problems[k].status == Status::Converged && found.problems[k].primal <= 1.0011 * minimum,
                "{intercept:?}"
            );
        }
    }
}
