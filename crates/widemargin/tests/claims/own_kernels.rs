//! Additive kernels of a user's own, against the library's and against sums written out.

use crate::common::{brute_force_dual, histograms, objectives};
use widemargin::data::{DenseView, Labels};
use widemargin::expansion::Approximation;
use widemargin::model::{PowerMeanParams, PowerMeanSvc};
use widemargin::problem::Loss;
use widemargin::similarity::{AdditiveKernel, OwnKernel, ScalarKernel};

fn chi2() -> OwnKernel {
    OwnKernel::new("chi2", |x: f64, y: f64| 2.0 * x * y / (x + y))
}

fn minimum() -> OwnKernel {
    OwnKernel::new("min", f64::min)
}

/// Counts up to 12.
fn counts(n: usize, d: usize, seed: u64) -> (Vec<f64>, Labels) {
    let (values, labels) = histograms(n, d, 3, seed);
    let largest = values.iter().fold(0.0f64, |most, value| most.max(*value));
    (values.iter().map(|value| (12.0 * value / largest).round()).collect(), labels)
}

#[test]
fn the_library_s_kernels_written_again_give_the_same_models() {
    let (n, d) = (120, 9);
    let (values, labels) = counts(n, d, 3);
    let samples = DenseView::new(&values, n, d).unwrap();
    for (own, ours) in [(chi2(), AdditiveKernel::Chi2), (minimum(), AdditiveKernel::Intersection)] {
        for approximation in [Approximation::Nystroem, Approximation::Polynomial] {
            for loss in [Loss::SquaredHinge, Loss::Hinge] {
                let with = |kernel: ScalarKernel| {
                    let params = PowerMeanParams::new(kernel).approximation(approximation).loss(loss);
                    params.c(0.1).tol(1e-3).fit(&samples, &labels).unwrap()
                };
                let (own, ours) = (with(own.clone().into()), with(ours.into()));
                assert_eq!(own.map().nodes(), ours.map().nodes());
                let found = own.decision_function(&samples, 1).unwrap();
                let expected = ours.decision_function(&samples, 1).unwrap();
                for (found, expected) in found.values().iter().zip(expected.values()) {
                    assert!((found - expected).abs() <= 1e-4, "{own:?}: {found} {expected}");
                }

                let read = PowerMeanSvc::from_bytes(&own.to_bytes().unwrap()).unwrap();
                assert_eq!(read, own);
                assert_eq!(read.decision_function(&samples, 1).unwrap().values(), found.values());
            }
        }
    }
}

/// A kernel that is neither homogeneous nor k(x, x) = x, with a node a value: the reduction is then exact, and the
/// optimum is that of the exact Gram matrix.
#[test]
fn a_kernel_of_any_size_reaches_the_optimum_of_its_gram_matrix() {
    let scalar = |x: f64, y: f64| x * y + 0.5 * x.min(y).powi(2);
    let (n, d, c) = (40, 6, 0.05);
    let (values, labels) = counts(n, d, 9);
    let samples = DenseView::new(&values, n, d).unwrap();
    let params = PowerMeanParams::new(OwnKernel::new("mixed", scalar)).scale(false).n_nodes(16);
    let model = params.c(c).tol(1e-4).max_epochs(20_000).fit(&samples, &labels).unwrap();
    let pairs = (0..n * n).map(|at| (samples.row(at / n), samples.row(at % n)));
    let gram: Vec<f64> = pairs.map(|(x, y)| x.iter().zip(y).map(|(&x, &y)| scalar(x, y)).sum()).collect();
    let mut primal = 0.0;
    for class in 0..3 {
        let signs: Vec<f64> =
            labels.codes().iter().map(|&code| if code as usize == class { 1.0 } else { -1.0 }).collect();
        let loss = Loss::SquaredHinge;
        let alphas = brute_force_dual(&gram, &signs, loss.upper_bound(c), loss.diagonal(c));
        primal += objectives(&gram, &signs, &alphas, c, true).0;
    }
    let found = model.report().objective;
    assert!((found - primal).abs() <= 3e-4 * primal, "{found} {primal}");
}

#[test]
fn many_values_are_tabulated_densely_enough() {
    let (n, d) = (600, 12);
    let (values, labels) = histograms(n, d, 3, 5);
    let samples = DenseView::new(&values, n, d).unwrap();
    let with = |kernel: ScalarKernel| PowerMeanParams::new(kernel).fit(&samples, &labels).unwrap();
    let own = with(chi2().into());
    assert_eq!(own.map().table().map(|table| table.values().len() <= 4096 + 16), Some(true));
    // Between those of training.
    let new_samples: Vec<f64> = values.iter().zip(&values[d..]).map(|(x, y)| 0.5 * (x + y)).collect();
    let new_samples = DenseView::new(&new_samples, n - 1, d).unwrap();
    let (found, expected) = (own.decision_function(&new_samples, 1).unwrap(), {
        with(AdditiveKernel::Chi2.into()).decision_function(&new_samples, 1).unwrap()
    });
    let largest = expected.values().iter().fold(0.0f32, |most, value| most.max(value.abs()));
    for (found, expected) in found.values().iter().zip(expected.values()) {
        assert!((found - expected).abs() <= 5e-3 * largest, "{found} {expected}");
    }
}

#[test]
fn rejects_functions_that_are_not_kernels() {
    let (n, d) = (30, 4);
    let (values, labels) = counts(n, d, 1);
    let samples = DenseView::new(&values, n, d).unwrap();
    let message = |kernel: OwnKernel, approximation| {
        let params = PowerMeanParams::new(kernel).scale(false).approximation(approximation);
        params.fit(&samples, &labels).map(drop).map_err(|error| error.to_string())
    };
    for approximation in [Approximation::Nystroem, Approximation::Polynomial] {
        let refused =
            |function: fn(f64, f64) -> f64| message(OwnKernel::new("f", function), approximation).unwrap_err();
        let found = refused(|x, y| 0.5 * (x + y));
        assert!(found.contains("kernel = own:f") && found.contains("k(1, 0) = 0.5"), "{found}");
        let found = refused(|x, y| x * y * (x - y));
        assert!(found.contains("symmetric") && found.contains("k(1, 2) = -2 and k(2, 1) = 2"), "{found}");
        let found = refused(|x, y| if x * y == 6.0 { f64::NAN } else { x * y });
        assert!(found.contains("= NaN, expected finite"), "{found}");
        let found = refused(|x, y| if x * y > 0.0 { 1.0 / (x - 1.0) } else { 0.0 });
        assert!(found.contains("k(1, 1) = inf"), "{found}");
    }
    let found = message(OwnKernel::new("f", |x: f64, y: f64| -x * y), Approximation::Nystroem).unwrap_err();
    assert!(found.contains("k(1, 1) = -1") && found.contains("positive semi-definite"), "{found}");
    // The maximum of two numbers above 0 is indefinite; the polynomial takes it.
    let largest = |x: f64, y: f64| if x * y > 0.0 { x.max(y) } else { 0.0 };
    let found = message(OwnKernel::new("f", largest), Approximation::Nystroem).unwrap_err();
    assert!(found.contains("eigenvalues -") && found.contains("basis expansion"), "{found}");
    assert!(message(OwnKernel::new("f", largest), Approximation::Polynomial).is_ok());
    let found = message(OwnKernel::new("f", |_: f64, _: f64| 0.0), Approximation::Nystroem).unwrap_err();
    assert!(found.contains("k(x, x) is 0"), "{found}");
    assert!("own:f".parse::<ScalarKernel>().unwrap_err().to_string().contains("not its code"));
}
