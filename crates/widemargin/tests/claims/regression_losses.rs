//! Regression on a basis expansion by losses that are not squared: outliers, units, extreme cases and errors.

use crate::common::vectors;
use widemargin::data::{AnySamples, Targets};
use widemargin::model::{BasisExpansionRegressor, BasisExpansionRegressorParams};
use widemargin::problem::Loss;
use widemargin::similarity::AnySimilarity;
use widemargin::solve::Status;

fn noise(at: usize) -> f64 {
    ((at as f64 * 12.9898).sin() * 43758.5453).fract()
}

fn samples(rows: &[usize]) -> AnySamples {
    let values = rows.iter().flat_map(|row| [noise(2 * row + 1) as f32, noise(2 * row + 2) as f32]).collect();
    vectors(values, 2)
}

/// A smooth function with noise, and every ninth target far off.
fn target(row: usize) -> f64 {
    let smooth = (3.0 * noise(2 * row + 1)).sin() + noise(2 * row + 2);
    20.0 + smooth + 0.1 * noise(row + 5000) + if row % 9 == 4 { 30.0 } else { 0.0 }
}

fn params(loss: Loss) -> BasisExpansionRegressorParams<AnySimilarity> {
    BasisExpansionRegressorParams::new(AnySimilarity::new(&["rbf:gamma=2"]).unwrap()).n_basis(30).loss(loss)
}

fn losses() -> [Loss; 3] {
    [Loss::Huber { epsilon: None }, Loss::SquaredEpsilonInsensitive { epsilon: None }, Loss::Quantile { quantile: 0.8 }]
}

fn targets(rows: &[usize]) -> Targets {
    Targets::single(rows.iter().map(|row| target(*row)).collect()).unwrap()
}

fn values(model: &BasisExpansionRegressor<AnySimilarity>) -> Vec<f64> {
    model.predict(&samples(&(0..40).collect::<Vec<_>>()), 1).unwrap().values
}

#[test]
fn the_unit_of_the_targets_is_that_of_epsilon() {
    let rows: Vec<usize> = (0..60).collect();
    let scaled = Targets::single(rows.iter().map(|row| 1000.0 * target(*row) - 7.0).collect()).unwrap();
    for (plain, large) in [
        (Loss::Huber { epsilon: Some(0.2) }, Loss::Huber { epsilon: Some(200.0) }),
        (
            Loss::SquaredEpsilonInsensitive { epsilon: Some(0.2) },
            Loss::SquaredEpsilonInsensitive { epsilon: Some(200.0) },
        ),
        (Loss::Huber { epsilon: None }, Loss::Huber { epsilon: None }),
        (Loss::Quantile { quantile: 0.3 }, Loss::Quantile { quantile: 0.3 }),
    ] {
        let one = params(plain).fit(&samples(&rows), &targets(&rows)).unwrap();
        let other = params(large).fit(&samples(&rows), &scaled).unwrap();
        for (a, b) in values(&one).iter().zip(values(&other)) {
            assert!((a - (b + 7.0) / 1000.0).abs() < 1e-3, "{plain:?}: {a} {b}");
        }
        let factor = if matches!(plain, Loss::Quantile { .. }) { 1e3 } else { 1.0 };
        assert!((other.c() / one.c() / factor - 1.0).abs() < 1e-6, "{plain:?}: {} {}", one.c(), other.c());
        for (a, b) in one.epsilons().iter().zip(other.epsilons()) {
            assert!((1000.0 * a / b - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn all_samples_and_features_without_a_bound_are_fitted_too() {
    // As many features as samples, and more.
    let rows: Vec<usize> = (0..25).collect();
    for loss in losses() {
        for specs in [&["rbf:gamma=2"][..], &["rbf:gamma=2", "laplacian"]] {
            let similarity = AnySimilarity::new(specs).unwrap();
            let params = BasisExpansionRegressorParams::new(similarity).loss(loss);
            let model = params.fit(&samples(&rows), &targets(&rows)).unwrap();
            assert_eq!(model.report().status, Status::Converged, "{loss:?}");
            assert_eq!(model.weights().len(), 25 * specs.len());
        }
    }
}

#[test]
fn constant_targets_are_warned_of_and_single_samples_rejected() {
    let rows: Vec<usize> = (0..20).collect();
    let constant = Targets::single(vec![2.5; 20]).unwrap();
    for loss in losses() {
        let model = params(loss).fit(&samples(&rows), &constant).unwrap();
        assert!(values(&model).iter().all(|value| (value - 2.5).abs() < 1e-12), "{loss:?}");
        assert!(model.report().warnings.iter().any(|text| text.contains("same target")), "{loss:?}");
    }
    let quantile = || params(Loss::Quantile { quantile: 0.5 });
    let error = quantile().fit(&samples(&[3]), &targets(&[3])).unwrap_err().to_string();
    assert!(error.contains('C') && error.contains("nothing left to fit"), "{error}");
    let alone = quantile().c(1.0).fit(&samples(&[3]), &targets(&[3])).unwrap();
    assert!(alone.loss_path().is_empty() && (alone.intercepts()[0] - target(3)).abs() < 1e-9);
}

#[test]
fn rejects_invalid_parameters() {
    let refused = |loss| params(loss).check().unwrap_err().to_string();
    assert!(refused(Loss::Huber { epsilon: Some(0.0) }).contains("epsilon = 0"));
    assert!(refused(Loss::SquaredEpsilonInsensitive { epsilon: Some(-1.0) }).contains("at least 0"));
    assert!(refused(Loss::Quantile { quantile: 1.0 }).contains("quantile = 1"));
}
