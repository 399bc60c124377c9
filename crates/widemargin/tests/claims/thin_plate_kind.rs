//! Awkward data are solved, with a warning; errors name the expected value.

use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::Error;
use widemargin::data::{ClassWeight, DenseView, Labels};
use widemargin::model::{CChoice, ThinPlateParams, ThinPlateSvc};
use widemargin::monitor::Monitor;
use widemargin::solve::thin_plate::Polynomials;
use widemargin::solve::{EstimateMethod, Status};

fn thin_plate() -> ThinPlateParams {
    ThinPlateParams::new(kernel("thin-plate")).threads(1)
}

fn fit(values: &[f64], d: usize, labels: &[i64]) -> ThinPlateSvc {
    let model = thin_plate().fit(&view(values, d), &Labels::new(labels.iter().copied())).unwrap();
    assert_eq!(model.report().status, Status::Converged);
    let f = model.decision_values(&view(values, d), 1).unwrap();
    assert!(f.iter().all(|f| f.is_finite()));
    model
}

fn errors(model: &ThinPlateSvc, values: &[f64], d: usize, labels: &[i64]) -> usize {
    let predicted = model.predict(&view(values, d), 1).unwrap();
    predicted.iter().zip(labels).filter(|(p, y)| p.to_string() != y.to_string()).count()
}

fn warned(model: &ThinPlateSvc, of: &str) -> bool {
    model.report().warnings.iter().any(|warning| warning.contains(of))
}

#[test]
fn constant_and_duplicate_columns() {
    let (values, labels) = blobs(120, 2, 2, 3);
    let plain = fit(&values, 2, &labels);
    assert!(plain.report().warnings.is_empty(), "{:?}", plain.report().warnings);
    // A constant column changes nothing but the polynomials' rank.
    let more: Vec<f64> = values.chunks(2).flat_map(|row| [row[0], 1e6, row[1]]).collect();
    let model = fit(&more, 3, &labels);
    assert!(warned(&model, "constant") && warned(&model, "rank 3"), "{:?}", model.report().warnings);
    assert!(
        relative(
            &plain.decision_values(&view(&values, 2), 1).unwrap(),
            &model.decision_values(&view(&more, 3), 1).unwrap()
        ) < 1e-7
    );
    let twice: Vec<f64> = values.chunks(2).flat_map(|row| [row[0], row[1], row[0]]).collect();
    let model = fit(&twice, 3, &labels);
    assert!(warned(&model, "rank 3 on"), "{:?}", model.report().warnings);
    assert!(errors(&model, &twice, 3, &labels) < 30);
}

#[test]
fn shifted_and_scaled_data() {
    let (values, labels) = blobs(150, 4, 2, 9);
    let plain = fit(&values, 4, &labels).decision_values(&view(&values, 4), 1).unwrap();
    for (scale, shift, tolerance) in [(1.0, 1e6, 1e-4), (1e4, 0.0, 1e-7), (1e-4, 0.0, 1e-7), (1e4, 1e6, 1e-4)] {
        let moved: Vec<f64> = values.iter().map(|x| scale * x + shift).collect();
        let f = fit(&moved, 4, &labels).decision_values(&view(&moved, 4), 1).unwrap();
        assert!(relative(&plain, &f) <= tolerance, "{scale} {shift}: {}", relative(&plain, &f));
    }
    let uneven: Vec<f64> = values.iter().enumerate().map(|(i, x)| if i % 4 == 2 { 1e4 * x } else { *x }).collect();
    assert!(warned(&fit(&uneven, 4, &labels), "standardize"));
}

#[test]
fn duplicates_and_contradictions() {
    let (mut values, mut labels) = blobs(60, 2, 2, 4);
    values.extend(values.clone());
    labels.extend(labels.clone().iter().map(|label| 1 - label));
    for polynomials in [Polynomials::Free, Polynomials::Constant, Polynomials::None] {
        let params = thin_plate().polynomials(polynomials);
        let model = params.fit(&view(&values, 2), &Labels::new(labels.clone())).unwrap();
        assert_eq!(model.report().status, Status::Converged, "{:?}", model.report());
        assert!(model.n_bases() <= 60);
        // Every point has both labels: there is nothing to learn.
        let f = model.decision_values(&view(&values, 2), 1).unwrap();
        assert!(f.iter().all(|f| f.abs() < 0.5), "{polynomials}: {f:?}");
    }
}

#[test]
fn few_samples_many_features() {
    for n in [2, 3, 10, 20, 21, 30] {
        let (values, mut labels) = blobs(n, 20, 2, 5);
        labels[0] = 0;
        labels[1] = 1;
        let model = fit(&values, 20, &labels);
        // Of two samples, leave-one-out cannot tell the ways to keep polynomials from overfitting.
        let expected = if n == 2 { model.polynomials() } else { Polynomials::Penalized };
        assert_ne!(expected, Polynomials::Free);
        let line = format!("polynomials = {expected}");
        assert!(model.report().notes.iter().any(|note| note.contains(&line)), "{n}: {:?}", model.report().notes);
        assert_eq!(model.polynomials(), expected);
        for polynomials in [Polynomials::Free, Polynomials::Penalized, Polynomials::Constant, Polynomials::None] {
            let params = thin_plate().polynomials(polynomials).c(2.0);
            let model = params.fit(&view(&values, 20), &Labels::new(labels.clone())).unwrap();
            assert!(model.decision_values(&view(&values, 20), 1).unwrap().iter().all(|f| f.is_finite()));
        }
    }
}

#[test]
fn one_dimension_and_data_that_a_line_separates() {
    let (values, labels) = blobs(240, 1, 2, 6);
    let model = fit(&values, 1, &labels);
    assert!(errors(&model, &values, 1, &labels) < 60);
    // Two samples of one feature, and all samples at one place.
    fit(&[0.0, 1.0], 1, &[0, 1]);
    fit(&[2.0, 2.0, 2.0], 1, &[0, 1, 1]);

    let labels: Vec<i64> = values.iter().map(|x| i64::from(*x > 0.2)).collect();
    let model = fit(&values, 1, &labels);
    // Whichever of penalized and dropped polynomials leaves the lower loss.
    let loss = |model: &ThinPlateSvc| {
        model.path().iter().filter_map(|point| point.loo_squared_hinge).fold(f64::INFINITY, f64::min)
    };
    let of = |polynomials| {
        let params = thin_plate().polynomials(polynomials);
        loss(&params.fit(&view(&values, 1), &Labels::new(labels.clone())).unwrap())
    };
    let (penalized, constant) = (of(Polynomials::Penalized), of(Polynomials::Constant));
    let best = if constant < penalized { Polynomials::Constant } else { Polynomials::Penalized };
    assert_eq!((model.polynomials(), loss(&model)), (best, constant.min(penalized)));
    assert!(warned(&model, "alone separate a class"), "{:?}", model.report().warnings);
    assert!(errors(&model, &values, 1, &labels) <= 1);
    // Free, the violators run out: still an answer.
    let free = thin_plate()
        .polynomials(Polynomials::Free)
        .c(1e3)
        .fit(&view(&values, 1), &Labels::new(labels.clone()))
        .unwrap();
    assert_eq!((free.report().status, errors(&free, &values, 1, &labels)), (Status::Converged, 0));
}

#[test]
fn any_c_is_solved_and_within_few_steps() {
    let (values, labels) = blobs(200, 3, 2, 12);
    let labels = Labels::new(labels);
    let unit = {
        let model = thin_plate().c(1.0).fit(&view(&values, 3), &labels).unwrap();
        0.5 / model.lambda()
    };
    for power in -14..=12 {
        let lambda = 10f64.powi(power);
        let model = thin_plate().c(0.5 / (lambda * unit)).fit(&view(&values, 3), &labels).unwrap();
        let report = model.report();
        assert_eq!(report.status, Status::Converged, "{lambda}: {report:?}");
        assert!(power < -4 || report.max_iterations() <= 15, "{lambda}: {report:?}");
        assert!(power < -7 || report.gap() <= 1e-8, "{lambda}: {report:?}");
        if power < -12 {
            assert!(warned(&model, "double precision"), "{report:?}");
        }
    }
}

#[test]
fn solutions_that_begin_on_a_part_of_the_samples_are_optimal() {
    let (values, labels) = blobs(1300, 2, 2, 7);
    let sorted: Vec<usize> = (0..2).flat_map(|class| (0..1300).filter(move |i| i % 2 == class)).collect();
    for order in [(0..1300).collect(), sorted] {
        let rows: Vec<f64> = order.iter().flat_map(|&i| values[2 * i..2 * i + 2].to_vec()).collect();
        let labels = Labels::new(order.iter().map(|&i| labels[i]));
        for c in [1e-3, 1.0, 1e3] {
            let model = thin_plate().c(c).fit(&view(&rows, 2), &labels).unwrap();
            let report = model.report();
            assert!(report.status == Status::Converged && report.gap() <= 1e-8, "{c}: {report:?}");
        }
        // One step of all is the least there is: the parts leave it to that step.
        let model = thin_plate().c(1.0).max_steps(1).fit(&view(&rows, 2), &labels).unwrap();
        assert!(model.decision_values(&view(&rows, 2), 1).unwrap().iter().all(|f| f.is_finite()));
    }
}

#[test]
fn parameters_and_samples() {
    let (values, labels) = blobs(20, 2, 2, 1);
    let labels = Labels::new(labels);
    for (params, name) in
        [(thin_plate().max_steps(0), "max_iter = 0"), (thin_plate().memory_limit(1000), "n_basis = none")]
    {
        let error = params.fit(&view(&values, 2), &labels).unwrap_err();
        assert!(matches!(error, Error::Parameter { .. }) && error.is_input(), "{error}");
        assert!(error.to_string().starts_with(name), "{error}");
    }
    assert!(thin_plate().fit(&DenseView::<f64>::new(&[], 20, 0).unwrap(), &labels).is_err());
    let far: Vec<f64> = values.iter().map(|x| x * 1e200).collect();
    assert!(thin_plate().fit(&view(&far, 2), &labels).is_err());
    assert_eq!("auto".parse::<CChoice>().unwrap(), CChoice::Auto);
    assert_eq!("0.5".parse::<CChoice>().unwrap(), CChoice::Value(0.5));
    assert!("best".parse::<CChoice>().is_err());
}

#[test]
fn classes_of_unlike_size() {
    let (values, _) = blobs(200, 2, 2, 2);
    let labels: Vec<i64> = values.chunks(2).map(|row| i64::from(row[0] + row[1] > 2.0)).collect();
    let labels = Labels::new(labels);
    let params = thin_plate().polynomials(Polynomials::Constant).c(0.01);
    let count = |params: &ThinPlateParams| {
        let model = params.fit(&view(&values, 2), &labels).unwrap();
        model.predict(&view(&values, 2), 1).unwrap().iter().filter(|label| label.to_string() == "1").count()
    };
    assert!(count(&params.clone().class_weight(ClassWeight::Balanced)) > count(&params));
}

#[test]
fn a_time_limit_cuts_the_path_from_the_side_of_small_c() {
    let (values, labels) = blobs(900, 4, 2, 44);
    let labels = Labels::new(labels);
    for n_basis in [None, Some(40)] {
        let params = thin_plate().n_basis(n_basis).threads(1);
        let whole = params.fit(&view(&values, 4), &labels).unwrap();
        let monitor = Monitor::none().with_time_limit(std::time::Duration::ZERO);
        let cut = params.fit_with(&view(&values, 4), &labels, None, &monitor).unwrap();
        assert_eq!(cut.report().status, Status::TimeLimit, "{:?}", cut.report());
        assert!(warned(&cut, "not converged when the time limit passed"), "{:?}", cut.report().warnings);
        // As smooth as the kernel's own scale: no larger C was tried.
        assert!((cut.lambda() - 1.0).abs() < 1e-9 && cut.path().len() == 1, "{} {}", cut.lambda(), whole.lambda());
        let wide = Monitor::none().with_time_limit(std::time::Duration::from_secs(3600));
        let same = params.fit_with(&view(&values, 4), &labels, None, &wide).unwrap();
        assert_eq!(same.report().status, Status::Converged);
        assert!((same.c() / whole.c() - 1.0).abs() < 1e-6, "{} {}", same.c(), whole.c());
    }
}

#[test]
fn no_fit_converges_without_a_gap() {
    let (values, labels) = blobs(120, 3, 2, 7);
    let mut fits = 0;
    for (weight, c) in [(1e50, 1.0), (1e30, 1e3), (1e12, 1e9), (1.0, 1e14)] {
        let mut weights = vec![1.0; 120];
        weights[3] = weight;
        for polynomials in [Polynomials::Free, Polynomials::Penalized, Polynomials::Constant] {
            let params = thin_plate().polynomials(polynomials).c(c).threads(1);
            let labels = Labels::new(labels.clone());
            let fitted = params.fit_with(&view(&values, 3), &labels, Some(&weights), &Monitor::none());
            let Ok(model) = fitted else { continue };
            fits += 1;
            let report = model.report();
            let converged = report.status == Status::Converged;
            assert!(report.gaps.iter().all(|gap| gap.is_finite()), "{report:?}");
            assert_eq!(converged, report.gaps.iter().all(|gap| gap.abs() <= 1e-6), "{weight} {c} {report:?}");
            assert!(converged || report.warnings.iter().any(|warning| warning.starts_with("not converged")));
        }
    }
    // Most are too hard for double precision, but not all may be refused.
    assert!(fits >= 3, "{fits} of 12");
    // Infinite products are refused.
    let params = thin_plate().c(1e300);
    let weights = vec![1e300; 120];
    assert!(params.fit_with(&view(&values, 3), &Labels::new(labels), Some(&weights), &Monitor::none()).is_err());
}

#[test]
fn warns_of_an_estimate_no_better_than_the_largest_class() {
    // Labels that have nothing to do with the samples.
    let (values, _) = blobs(80, 3, 2, 5);
    let labels: Vec<i64> = (0..80).map(|i| i64::from((i * 7919) % 10 < 2)).collect();
    let model = fit(&values, 3, &labels);
    let point = model.path().iter().find(|point| point.c == model.c()).unwrap();
    assert_eq!(
        warned(&model, "no better than always predicting the largest class"),
        point.loo_error.unwrap() >= 0.2 - 1e-12
    );
    assert!(point.loo_error.unwrap() >= 0.2 - 1e-12, "{point:?}");
    let (values, labels) = blobs(80, 3, 2, 5);
    assert!(!warned(&fit(&values, 3, &labels), "no better than"));
}

#[test]
fn the_polynomials_of_the_smaller_loss_are_selected() {
    // A third or a fifth as many columns as rows.
    for (d, n, classes) in [(20, 60, 2), (12, 60, 4)] {
        let (values, labels) = blobs(n, d, classes, 9);
        let loss = |model: &ThinPlateSvc| model.chosen().unwrap().loo_squared_hinge.unwrap();
        let losses = [Polynomials::Constant, Polynomials::Penalized].map(|polynomials| {
            let params = thin_plate().polynomials(polynomials);
            (loss(&params.fit(&view(&values, d), &Labels::new(labels.clone())).unwrap()), polynomials)
        });
        let best = if losses[0].0 < losses[1].0 { losses[0] } else { losses[1] };
        let model = fit(&values, d, &labels);
        assert_eq!((loss(&model), model.polynomials()), best, "{losses:?}");
        assert!(model.report().notes.iter().any(|note| note.contains("100 samples")));
    }
}

#[test]
fn free_polynomials_that_separate_are_judged_by_folds() {
    let (values, labels) = blobs(40, 60, 2, 3);
    let params = thin_plate().polynomials(Polynomials::Free);
    let model = params.fit(&view(&values, 60), &Labels::new(labels)).unwrap();
    assert!(model.loo_values().is_empty() && model.path().iter().any(|point| point.loo_squared_hinge.is_some()));
    let estimate = model.report().estimate.clone().unwrap();
    assert_eq!((estimate.method, estimate.n_samples), (EstimateMethod::Folds, 40));
}
