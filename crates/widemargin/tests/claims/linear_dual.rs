//! The hinge on features against a plain solver in double precision, its certificate, weights against copies, threads,
//! and errors for bad input.

use crate::linear_common::Case;
use widemargin::Error;
use widemargin::data::DenseView;
use widemargin::monitor::Monitor;
use widemargin::problem::{Intercept, LinearProblem, Loss};
use widemargin::solve::DescentSettings;
use widemargin::solve::Status;
use widemargin::solve::dual::linear::{LinearDualSolution, solve};

fn view(case: &Case) -> DenseView<'_, f32> {
    DenseView::new(&case.phi, case.n_rows(), case.n_features).unwrap()
}

fn problem<'a>(case: &'a Case, costs: &'a [f64], intercept: Intercept) -> LinearProblem<'a> {
    LinearProblem { targets: case.targets(), costs, loss: Loss::Hinge, intercept }
}

fn run(case: &Case, intercept: Intercept, settings: &DescentSettings) -> LinearDualSolution {
    solve(view(case), problem(case, &case.costs, intercept), settings, &Monitor::none()).unwrap()
}

fn tight() -> DescentSettings {
    DescentSettings { tol: 1e-6, max_epochs: 200_000, threads: 1, ..DescentSettings::default() }
}

/// The minimum by accelerated projected gradient on the dual in double precision: another method, the same answer.
fn projected_gradient(case: &Case, k: usize, constant: f64) -> (Vec<f64>, f64) {
    let (n, d) = (case.n_rows(), case.n_features);
    let row = |i: usize| {
        let sign = case.targets().sign(i, k);
        case.row(i).iter().map(move |&x| sign * f64::from(x)).chain([sign * constant])
    };
    let weights = |alphas: &[f64]| {
        let mut w = vec![0.0; d + 1];
        for (i, alpha) in alphas.iter().enumerate() {
            w.iter_mut().zip(row(i)).for_each(|(w, x)| *w += alpha * x);
        }
        w
    };
    // The trace bounds the largest eigenvalue.
    let trace: f64 = (0..n).map(|i| row(i).map(|x| x * x).sum::<f64>()).sum();
    let (mut alphas, mut ahead, mut t) = (vec![0.0; n], vec![0.0; n], 1.0f64);
    for _ in 0..400_000 {
        let w = weights(&ahead);
        let next_t = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        let mut rising = 0.0;
        let next: Vec<f64> = (0..n)
            .map(|i| {
                let gradient = row(i).zip(&w).map(|(x, w)| x * w).sum::<f64>() - 1.0;
                let moved = (ahead[i] - gradient / trace).clamp(0.0, case.costs[i]);
                rising += (ahead[i] - moved) * (moved - alphas[i]);
                moved
            })
            .collect();
        let still = next.iter().zip(&alphas).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-13;
        // The acceleration starts anew where it would lead uphill.
        let momentum = if rising > 0.0 { 0.0 } else { (t - 1.0) / next_t };
        ahead = next.iter().zip(&alphas).map(|(new, old)| new + momentum * (new - old)).collect();
        t = if rising > 0.0 { 1.0 } else { next_t };
        alphas = next;
        if still {
            break;
        }
    }
    let w = weights(&alphas);
    let dual = alphas.iter().sum::<f64>() - 0.5 * w.iter().map(|w| w * w).sum::<f64>();
    (w, dual)
}

/// The objective of returned weights, from its definition.
fn objective(case: &Case, solution: &LinearDualSolution, k: usize) -> f64 {
    let d = case.n_features;
    let mut point: Vec<f64> = solution.weights[k * d..(k + 1) * d].iter().map(|&w| f64::from(w)).collect();
    point.push(solution.intercepts[k]);
    let losses: f64 = (0..case.n_rows()).map(|i| case.costs[i] * (1.0 - case.margin(i, k, &point)).max(0.0)).sum();
    0.5 * point.iter().map(|w| w * w).sum::<f64>() + losses
}

#[test]
fn it_finds_the_minimum_and_certifies_it() {
    for (n, d, n_classes, c) in [(40, 5, 2, 1.0), (45, 8, 3, 0.1), (30, 40, 3, 2.0)] {
        let mut case = Case::new(n, d, n_classes, c, 3);
        case.costs.iter_mut().step_by(4).for_each(|cost| *cost *= 2.5);
        case.costs[7] = 0.0;
        for (intercept, constant) in [(Intercept::None, 0.0), (Intercept::Penalized, 1.0)] {
            let solution = run(&case, intercept, &tight());
            let report = solution.report(Vec::new(), &tight());
            assert_eq!((report.status, report.warnings.len()), (Status::Converged, 0));
            for k in 0..case.targets().n_problems() {
                let (weights, minimum) = projected_gradient(&case, k, constant);
                let value = objective(&case, &solution, k);
                assert!((value - minimum).abs() <= 5e-6 * minimum, "{value} {minimum}");
                assert!((solution.problems[k].primal - minimum).abs() <= 1.1e-6 * minimum);
                assert!((solution.problems[k].primal - value).abs() <= 5e-6 * value);
                assert!(solution.problems[k].dual <= minimum * (1.0 + 1e-9), "{} {minimum}", solution.problems[k].dual);
                assert!(solution.problems[k].gap() <= 1e-6 && solution.problems[k].gap() >= 0.0);
                // ½‖w − w*‖² is at most the objective less its minimum.
                let own = solution.weights[k * d..(k + 1) * d].iter().map(|&w| f64::from(w));
                let off: f64 = own.chain([solution.intercepts[k]]).zip(&weights).map(|(a, b)| (a - b).powi(2)).sum();
                assert!(0.5 * off <= 3e-6 * minimum, "{off}");
                assert!(intercept == Intercept::Penalized || solution.intercepts[k] == 0.0);
            }
        }
    }
}

#[test]
fn rows_of_zeros_and_one_sided_problems_end() {
    let mut case = Case::new(20, 3, 3, 1.0, 1);
    case.phi[..9].fill(0.0);
    // No sample of the last class: all weights 0 would lose, a constant may not.
    case.codes.iter_mut().for_each(|code| *code = (*code).min(1));
    for intercept in [Intercept::None, Intercept::Penalized] {
        let solution = run(&case, intercept, &tight());
        assert!(solution.problems.iter().all(|one| one.status == Status::Converged), "{:?}", solution.problems);
    }
    case.phi.fill(0.0);
    let solution = run(&case, Intercept::None, &tight());
    assert!(solution.weights.iter().all(|w| *w == 0.0));
    assert_eq!((solution.problems[0].primal, solution.problems[0].status), (20.0, Status::Converged));
}

#[test]
fn limits_are_reported_and_errors_name_the_problem() {
    let case = Case::new(80, 6, 2, 100.0, 4);
    let short = DescentSettings { max_epochs: 2, ..tight() };
    let solution = run(&case, Intercept::None, &short);
    let report = solution.report(Vec::new(), &short);
    assert_eq!((report.status, solution.problems[0].iterations), (Status::IterationLimit, 2));
    assert!(report.warnings[0].contains("2 epochs") && report.gap() > 1e-6, "{:?}", report.warnings);
    let monitor = Monitor::none().with_time_limit(std::time::Duration::ZERO);
    let without = problem(&case, &case.costs, Intercept::None);
    let timed = solve(view(&case), without, &tight(), &monitor).unwrap();
    assert!(timed.problems.len() == 1 && timed.problems[0].status == Status::TimeLimit);
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let monitor = Monitor::none().with_cancel(&cancel);
    let error = solve(view(&case), without, &tight(), &monitor).unwrap_err();
    assert!(matches!(error, Error::Cancelled { .. }));

    let says = |case: &Case, costs: &[f64], intercept, settings: DescentSettings, word: &str| {
        let error = solve(view(case), problem(case, costs, intercept), &settings, &Monitor::none()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    };
    says(&case, &case.costs, Intercept::Free, tight(), "equality");
    says(&case, &case.costs, Intercept::None, DescentSettings { tol: 0.0, ..tight() }, "tol");
    says(&case, &case.costs, Intercept::None, DescentSettings { max_epochs: 0, ..tight() }, "max_iter");
    says(&case, &case.costs[1..], Intercept::None, tight(), "80, one per row");
    says(&case, &[-1.0; 80], Intercept::None, tight(), "weight of row 0");
    let mut broken = case.clone();
    broken.phi[13] = f32::NAN;
    says(&broken, &case.costs, Intercept::None, tight(), "row 2, column 1");
}
