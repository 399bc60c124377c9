//! The leave-one-out error of the thin plate SVM is that of fits without each sample.

use crate::thin_plate_common::{blobs, kernel, view};
use widemargin::data::Labels;
use widemargin::model::{ThinPlateParams, ThinPlateSvc};
use widemargin::monitor::Monitor;
use widemargin::solve::thin_plate::Polynomials;
use widemargin::solve::{ErrorEstimate, EstimateMethod};

struct Case {
    values: Vec<f64>,
    d: usize,
    labels: Vec<i64>,
    weights: Vec<f64>,
}

impl Case {
    fn new(n: usize, d: usize, classes: usize, seed: u64) -> Self {
        let (values, labels) = blobs(n, d, classes, seed);
        Case { values, d, labels, weights: vec![1.0; n] }
    }

    fn fit(&self, params: &ThinPlateParams, weights: &[f64]) -> ThinPlateSvc {
        let labels = Labels::new(self.labels.clone());
        params.fit_with(&view(&self.values, self.d), &labels, Some(weights), &Monitor::none()).unwrap()
    }

    /// Mean squared hinge and error of refits at the model's C without one copy of each sample; `factors` are those of
    /// the classes.
    fn refits(&self, params: &ThinPlateParams, model: &ThinPlateSvc, factors: &[f64]) -> (f64, f64) {
        let params = params.clone().c(model.c()).polynomials(model.polynomials());
        let classes = model.classes().to_vec();
        let k = if classes.len() == 2 { 1 } else { classes.len() };
        let (mut hinge, mut wrong, mut total) = (0.0, 0.0, 0.0);
        for (i, label) in self.labels.iter().enumerate() {
            let code = classes.iter().position(|class| class.to_string() == label.to_string()).unwrap();
            let weight = self.weights[i] * factors[code];
            let mut fewer = self.weights.clone();
            let row = &self.values[i * self.d..(i + 1) * self.d];
            let same = self.values.chunks(self.d).zip(&self.labels).filter(|(other, _)| *other == row);
            // Of samples at a place of several classes one copy goes, of others all.
            let is_contested = same.map(|(_, label)| label).any(|other| other != label);
            fewer[i] -= if is_contested { fewer[i].min(1.0) } else { fewer[i] };
            let refit = self.fit(&params, &fewer);
            let scores = refit.decision_values(&view(row, self.d), 1).unwrap();
            for (problem, score) in scores.iter().enumerate() {
                let positive = if k == 1 { code == 1 } else { code == problem };
                hinge += weight * (1.0 - if positive { *score } else { -score }).max(0.0).powi(2);
            }
            let best = (0..k).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
            let found = if k == 1 { usize::from(scores[0] > 0.0) } else { best };
            wrong += if found == code { 0.0 } else { weight };
            total += weight;
        }
        (hinge / (total * k as f64), wrong / total)
    }
}

/// The leave-one-out losses of the model at its C.
fn estimate(model: &ThinPlateSvc) -> (f64, f64, bool) {
    let point = model.path().iter().find(|point| point.c == model.c()).unwrap();
    (point.loo_squared_hinge.unwrap(), point.loo_error.unwrap(), point.loo_exact)
}

fn same((hinge, wrong, exact): (f64, f64, bool), (hinge_of_refits, wrong_of_refits): (f64, f64), what: &str) {
    assert!(exact, "{what}");
    let near = (hinge - hinge_of_refits).abs() <= 1e-6 * hinge_of_refits.max(1.0);
    assert!(
        near && (wrong - wrong_of_refits).abs() <= 1e-9,
        "{what}: {hinge} {hinge_of_refits} {wrong} {wrong_of_refits}"
    );
}

#[test]
fn the_estimate_is_right_for_many_columns_and_few_rows() {
    // A third or a fifth as many columns as rows.
    for (d, n, classes) in [(20, 60, 2), (12, 60, 4)] {
        let case = Case::new(n, d, classes, 9);
        let params = ThinPlateParams::new(kernel("thin-plate")).threads(1);
        let model = case.fit(&params, &case.weights);
        let losses = [Polynomials::Constant, Polynomials::Penalized].map(|polynomials| {
            (estimate(&case.fit(&params.clone().polynomials(polynomials), &case.weights)).0, polynomials)
        });
        let best = if losses[0].0 < losses[1].0 { losses[0] } else { losses[1] };
        assert_eq!((estimate(&model).0, model.polynomials()), best, "{losses:?}");
        same(estimate(&model), case.refits(&params, &model, &vec![1.0; classes]), &format!("{d}"));
        assert!(model.report().notes.iter().any(|note| note.contains("100 samples")));
    }
}

#[test]
fn free_polynomials_that_separate_are_judged_by_folds() {
    let case = Case::new(40, 60, 2, 3);
    let params = ThinPlateParams::new(kernel("thin-plate")).polynomials(Polynomials::Free).threads(1);
    let model = case.fit(&params, &case.weights);
    assert!(model.loo_values().is_empty() && model.path().iter().any(|point| point.loo_squared_hinge.is_some()));
    let ErrorEstimate { method, n_samples, .. } = model.report().estimate.clone().unwrap();
    assert_eq!((method, n_samples), (EstimateMethod::Folds, 40));
}

#[test]
fn on_bases_the_estimate_is_of_folds_and_near_the_error_of_new_samples() {
    let (all, few) = (Case::new(2400, 3, 4, 21), 400);
    let case = Case {
        values: all.values[..few * 3].to_vec(),
        d: 3,
        labels: all.labels[..few].to_vec(),
        weights: vec![1.0; few],
    };
    let params = ThinPlateParams::new(kernel("thin-plate")).n_basis(Some(25)).threads(1);
    let model = case.fit(&params, &case.weights);
    let ErrorEstimate { method, error, .. } = model.report().estimate.clone().unwrap();
    assert_eq!(method, EstimateMethod::Folds);
    let predicted = model.predict(&view(&all.values[few * 3..], 3), 1).unwrap();
    let wrong = predicted
        .iter()
        .zip(&all.labels[few..])
        .filter(|(found, label)| found.to_string() != label.to_string())
        .count();
    let truth = wrong as f64 / 2000.0;
    // Three standard errors of 400 samples.
    let spread = 3.0 * (truth * (1.0 - truth) / few as f64).sqrt();
    assert!((error - truth).abs() <= spread, "{error} {truth} {spread}");
    let others = model.path().iter().filter(|point| point.c != model.c());
    assert!(others.into_iter().all(|point| point.refit_error().is_none()));
}
