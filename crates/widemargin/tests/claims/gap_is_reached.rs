//! The default approximation reaches a relative gap of 0.01 at every C, scale and kernel, and never diverges.

use crate::common::{KERNELS, histograms};
use proptest::prelude::*;
use std::time::Duration;
use widemargin::data::DenseView;
use widemargin::expansion::{AdditiveMap, Approximation, CodedRows};
use widemargin::model::PowerMeanParams;
use widemargin::monitor::Monitor;
use widemargin::problem::{Loss, OneVsRest};
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::DescentSettings;
use widemargin::solve::Status;
use widemargin::solve::dual::{DualProblem, solve};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn at_every_c_and_scale(
        c in (-4.0f64..2.0).prop_map(|e| 10f64.powf(e)),
        scale in (-3.0f64..3.0).prop_map(|e| 10f64.powf(e)),
        kernel in 0..KERNELS.len(),
        classes in 2usize..5,
        seed in 0u64..1000,
        scaled in any::<bool>(),
    ) {
        let (n, d) = (90, 14);
        let (mut values, labels) = histograms(n, d, classes, seed);
        values.iter_mut().for_each(|v| *v *= scale);
        let samples = DenseView::new(&values, n, d).unwrap();
        let params = PowerMeanParams::new(KERNELS[kernel]).c(c).scale(scaled).max_epochs(100_000);
        let report = params.fit(&samples, &labels).unwrap().report().clone();
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        prop_assert!(report.gap() <= 1e-2 && report.objective.is_finite());
        prop_assert!(report.dual_objective <= report.objective * (1.0 + 1e-5));
    }

    /// Where coordinate descent takes thousands of epochs, Newton's method in the primal ends the fit.
    #[test]
    fn at_large_c(
        c in (2.0f64..4.0).prop_map(|e| 10f64.powf(e)),
        kernel in 0..KERNELS.len(),
        classes in 2usize..5,
        seed in 0u64..1000,
    ) {
        let (values, labels) = histograms(90, 14, classes, seed);
        let samples = DenseView::new(&values, 90, 14).unwrap();
        let params = PowerMeanParams::new(KERNELS[kernel]).c(c).max_epochs(100_000);
        let report = params.fit(&samples, &labels).unwrap().report().clone();
        prop_assert!(report.status == Status::Converged && report.gap() <= 1e-2, "{:?}", report);
    }

    /// Without the ridge of the squared error, coordinate descent is slow once C is large for the data: the
    /// hinge is tested for C up to 1 on features up to 1.
    #[test]
    fn hinge_at_moderate_c(c in (-4.0f64..0.0).prop_map(|e| 10f64.powf(e)), kernel in 0..KERNELS.len(), seed in 0u64..1000) {
        let (values, labels) = histograms(90, 14, 3, seed);
        let samples = DenseView::new(&values, 90, 14).unwrap();
        let params = PowerMeanParams::new(KERNELS[kernel]).c(c).loss(Loss::Hinge).max_epochs(10_000);
        let report = params.fit(&samples, &labels).unwrap().report().clone();
        prop_assert!(report.status == Status::Converged && report.gap() <= 1e-2, "{:?}", report);
    }

    /// The paper's polynomial, made safe: it always ends, with finite weights.
    #[test]
    fn the_polynomial_does_not_diverge(
        c in (-4.0f64..2.0).prop_map(|e| 10f64.powf(e)),
        scale in (-3.0f64..3.0).prop_map(|e| 10f64.powf(e)),
        kernel in 0..KERNELS.len(),
        seed in 0u64..1000,
    ) {
        polynomial_ends(c, scale, KERNELS[kernel], seed);
    }
}

/// Values below the polynomial's nodes at a large C: descent on them has no optimum, and grew to infinity.
#[test]
fn the_polynomial_ends_where_it_has_no_optimum() {
    polynomial_ends(94.146, 0.0075021466, AdditiveKernel::Intersection, 135);
}

fn polynomial_ends(c: f64, scale: f64, kernel: AdditiveKernel, seed: u64) {
    let (n, d) = (90, 14);
    let (mut values, labels) = histograms(n, d, 3, seed);
    values.iter_mut().for_each(|v| *v *= scale);
    let samples = DenseView::new(&values, n, d).unwrap();
    let params = PowerMeanParams::new(kernel).c(c).scale(false).max_epochs(2_000);
    let model = params.approximation(Approximation::Polynomial).fit(&samples, &labels).unwrap();
    assert!(model.weights().iter().all(|w| w.is_finite()));
    assert!(model.decision_function(&samples, 1).unwrap().values().iter().all(|s| s.is_finite()));
    assert!(model.report().objective.is_finite());
}

/// With very many classes even one visit of the rows a problem would be far beyond the limit.
#[test]
fn problems_beyond_the_time_limit_are_not_begun_and_their_gap_is_reported() {
    let (values, labels) = histograms(60, 8, 40, 3);
    let samples = DenseView::new(&values, 60, 8).unwrap();
    let all: Vec<usize> = (0..60).collect();
    let rows = CodedRows::new(&samples, &all, &[1.0; 60], None).unwrap();
    let map = AdditiveMap::nystroem(KERNELS[0], &[0.1, 0.5]).unwrap();
    let targets = OneVsRest::new(labels.codes(), labels.classes().len());
    let problem = DualProblem { rows: &rows, map: &map, targets, loss: Loss::SquaredHinge, costs: &[0.5; 60] };
    let settings = DescentSettings { tol: 1e-2, max_epochs: 100, seed: 0, threads: 2 };
    let over = Monitor::none().with_time_limit(Duration::ZERO);
    let solution = solve(&problem, &settings, &over).unwrap();
    assert_eq!(solution.alphas.len(), targets.n_problems());
    for k in 0..targets.n_problems() {
        assert!(solution.alphas[k].is_empty(), "problem {k} was begun");
        let report = (
            solution.problems[k].status,
            solution.problems[k].iterations,
            solution.problems[k].primal,
            solution.problems[k].dual,
            solution.problems[k].gap(),
        );
        assert_eq!(report, (Status::TimeLimit, 0, 30.0, 0.0, 1.0));
    }
}
