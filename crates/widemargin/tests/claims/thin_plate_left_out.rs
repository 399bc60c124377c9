//! What the thin plate SVM selects by its leave-one-out error, and where folds replace it.

use crate::thin_plate_common::{blobs, kernel, view};
use widemargin::data::Labels;
use widemargin::model::{ThinPlateParams, ThinPlateSvc};
use widemargin::solve::thin_plate::Polynomials;
use widemargin::solve::{ErrorEstimate, EstimateMethod};

fn fit(params: &ThinPlateParams, values: &[f64], d: usize, labels: &[i64]) -> ThinPlateSvc {
    params.fit(&view(values, d), &Labels::new(labels.to_vec())).unwrap()
}

#[test]
fn the_polynomials_of_the_smaller_loss_are_selected() {
    // A third or a fifth as many columns as rows.
    for (d, n, classes) in [(20, 60, 2), (12, 60, 4)] {
        let (values, labels) = blobs(n, d, classes, 9);
        let params = ThinPlateParams::new(kernel("thin-plate")).threads(1);
        let loss = |model: &ThinPlateSvc| {
            let point = model.path().iter().find(|point| point.c == model.c()).unwrap();
            point.loo_squared_hinge.unwrap()
        };
        let losses = [Polynomials::Constant, Polynomials::Penalized].map(|polynomials| {
            (loss(&fit(&params.clone().polynomials(polynomials), &values, d, &labels)), polynomials)
        });
        let best = if losses[0].0 < losses[1].0 { losses[0] } else { losses[1] };
        let model = fit(&params, &values, d, &labels);
        assert_eq!((loss(&model), model.polynomials()), best, "{losses:?}");
        assert!(model.report().notes.iter().any(|note| note.contains("100 samples")));
    }
}

#[test]
fn free_polynomials_that_separate_are_judged_by_folds() {
    let (values, labels) = blobs(40, 60, 2, 3);
    let params = ThinPlateParams::new(kernel("thin-plate")).polynomials(Polynomials::Free).threads(1);
    let model = fit(&params, &values, 60, &labels);
    assert!(model.loo_values().is_empty() && model.path().iter().any(|point| point.loo_squared_hinge.is_some()));
    let ErrorEstimate { method, n_samples, .. } = model.report().estimate.clone().unwrap();
    assert_eq!((method, n_samples), (EstimateMethod::Folds, 40));
}

#[test]
fn on_bases_the_estimate_is_of_folds_and_near_the_error_of_new_samples() {
    let ((values, labels), few) = (blobs(2400, 3, 4, 21), 400);
    let params = ThinPlateParams::new(kernel("thin-plate")).n_basis(Some(25)).threads(1);
    let model = fit(&params, &values[..few * 3], 3, &labels[..few]);
    let ErrorEstimate { method, error, .. } = model.report().estimate.clone().unwrap();
    assert_eq!(method, EstimateMethod::Folds);
    let predicted = model.predict(&view(&values[few * 3..], 3), 1).unwrap();
    let wrong =
        predicted.iter().zip(&labels[few..]).filter(|(found, label)| found.to_string() != label.to_string()).count();
    let truth = wrong as f64 / 2000.0;
    // Three standard errors of 400 samples.
    let spread = 3.0 * (truth * (1.0 - truth) / few as f64).sqrt();
    assert!((error - truth).abs() <= spread, "{error} {truth} {spread}");
    let others = model.path().iter().filter(|point| point.c != model.c());
    assert!(others.into_iter().all(|point| point.refit_error().is_none()));
}
