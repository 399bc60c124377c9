//! The leave-one-out losses of a fit are those of refits without each sample.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Model, assert_close};
use crate::common::vectors;
use crate::harness::method::Method;
use crate::harness::places::Place;
use crate::harness::training::{Answers, D, Kind, Task, Training};
use crate::thin_plate_common::blobs;
use widemargin::data::{AnySamples, ClassWeight, Labels, Samples, Vectors};
use widemargin::expansion::Normalization;
use widemargin::model::{
    AnyModel, BasisExpansionParams, BasisExpansionRegressorParams, BasisExpansionSvc, CChoice, Intercept, Polynomials,
    ThinPlateParams, ThinPlateRegressorParams, ThinPlateSvc,
};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::{AnySimilarity, ConditionalKernel};

const N: usize = 60;

/// A method whose features do not depend on the samples, and its training set.
struct Case {
    name: String,
    method: Method,
    training: Training,
    /// The factors of the classes.
    factors: Vec<f64>,
    /// How far losses may be from those of refits.
    tolerance: f64,
}

fn fit(method: &Method, training: &Training, weights: &[f64]) -> Model {
    let training = Training { weights: Some(weights.to_vec()), ..training.clone() };
    method.clone().threads(1).fit(&training, Place::Memory, &Monitor::none()).unwrap()
}

/// Samples in the plane, so that polynomials are few.
fn plane(task: Task, seed: u64) -> Training {
    let mut training = Training::new(Kind::Vectors, task, N, seed);
    let AnySamples::Vectors(Vectors::Dense(matrix)) = &training.samples else { unreachable!() };
    let values = matrix.values.chunks(D).flat_map(|row| row[..2].to_vec()).collect();
    training.samples = vectors(values, 2);
    training
}

/// Weights that are no whole numbers, and two samples at one place with different answers.
fn uneven(task: Task, seed: u64) -> Training {
    let training = plane(task, seed);
    let mut rows: Vec<usize> = (0..N).collect();
    let other = (1..N).find(|&row| match &training.answers {
        Answers::Labels(labels) => labels.codes()[row] != labels.codes()[0],
        _ => true,
    });
    rows[other.unwrap()] = 0;
    let samples = Samples::select(&training.samples, &rows);
    Training { samples, ..training }.weighted(|row| [1.0, 3.0, 0.5, 2.0][row % 4])
}

const KERNELS: [&str; 9] = [
    "distance",
    "thin-plate",
    "thin-plate:order=3",
    "cubic",
    "polyharmonic:exponent=2.5",
    "spline:order=2,dims=2",
    "rbf:gamma=0.3",
    "cityblock",
    "log:gamma=0.3,exponent=1",
];

fn rbf() -> AnySimilarity {
    AnySimilarity::new(&["rbf:gamma=1"]).unwrap()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, method: Method, training: Training, tolerance: f64| {
        let factors = vec![1.0; 4];
        cases.push(Case { name, method, training, factors, tolerance });
    };
    let plain = |task, seed| Training::new(Kind::Vectors, task, N, seed);
    for spec in KERNELS {
        let kernel: ConditionalKernel = spec.parse().unwrap();
        for polynomials in [Polynomials::Free, Polynomials::Penalized, Polynomials::Constant, Polynomials::None] {
            // Penalized polynomials have a length of the samples in them unless the kernel is r² log r, which a refit
            // measures anew.
            let has_length = polynomials == Polynomials::Penalized
                && kernel.dilation_exponent().is_some_and(|exponent| exponent > 1.0 && exponent != 2.0);
            let tolerance = if has_length { 0.05 } else { 1e-6 };
            for (classes, c) in [(2, 3.0), (4, 0.3)] {
                let params = ThinPlateParams::new(kernel).polynomials(polynomials).c(c);
                let training = if classes == 2 { uneven(Task::Classes(2), 5) } else { plane(Task::Classes(4), 9) };
                let method = Method::ThinPlate(params, polynomials);
                add(format!("{spec} {polynomials} {classes} classes"), method, training, tolerance);
            }
        }
    }
    for spec in ["distance", "thin-plate"] {
        let params = ThinPlateParams::new(spec.parse().unwrap());
        let method = Method::ThinPlate(params, Polynomials::Auto);
        add(format!("{spec} at the selected C"), method, plain(Task::Classes(2), 31), 1e-6);
    }
    for (polynomials, c) in [(Polynomials::Free, CChoice::Auto), (Polynomials::Constant, CChoice::Value(0.3))] {
        let params = ThinPlateParams::new("thin-plate".parse().unwrap()).polynomials(polynomials).c(c);
        let method = Method::ThinPlate(params.loss(Loss::SquaredError), polynomials);
        add(format!("squared error {polynomials}"), method, uneven(Task::Classes(3), 5), 1e-6);
    }
    // A third or a fifth as many columns as rows.
    for (d, classes) in [(20, 2), (12, 4)] {
        let (values, labels) = blobs(N, d, classes, 9);
        let samples = vectors(values.into_iter().map(|x| x as f32).collect(), d);
        let training = Training { samples, answers: Answers::Labels(Labels::new(labels)), weights: None };
        let params = ThinPlateParams::new("thin-plate".parse().unwrap());
        add(format!("{d} columns"), Method::ThinPlate(params, Polynomials::Auto), training, 1e-6);
    }
    // As many features as there may be samples inside the margin.
    let bases = Training::new(Kind::Vectors, Task::OneClass, 40, 77).samples;
    for loss in [Loss::SquaredHinge, Loss::SquaredError] {
        for (classes, intercept) in
            [(2, Intercept::Free), (3, Intercept::Free), (2, Intercept::Penalized), (2, Intercept::None)]
        {
            let bases = bases.clone();
            let make = move || {
                let params = BasisExpansionParams::new(rbf()).bases(bases.clone()).normalization(Normalization::None);
                params.loss(loss).intercept(intercept).c(CChoice::Auto).tol(1e-8)
            };
            let name = format!("basis expansion, {classes} classes, {loss} {intercept}");
            add(name, Method::BasisExpansion(Arc::new(make)), plain(Task::Classes(classes), 5), 1e-3);
        }
    }
    for has_intercept in [true, false] {
        let bases = bases.clone();
        let make = move || {
            let params = BasisExpansionRegressorParams::new(rbf()).bases(bases.clone());
            params.normalization(Normalization::None).intercept(has_intercept).c(CChoice::Auto)
        };
        let method = Method::Regression(Arc::new(make));
        add(format!("regression, intercept={has_intercept}"), method, plain(Task::Targets(2), 5), 1e-6);
    }
    let spline = [("distance", CChoice::Auto), ("cubic", 3.0.into()), ("rbf:gamma=0.5", 30.0.into())];
    for (spec, c) in spline.into_iter().chain([("cityblock", 0.3.into()), ("thin-plate", 30.0.into())]) {
        let params = ThinPlateRegressorParams::new(spec.parse().unwrap()).c(c);
        add(format!("spline {spec} C={c}"), Method::Spline(params), uneven(Task::Targets(2), 5), 1e-6);
    }
    let balanced = |mut case: Case| {
        if case.name == "distance free 2 classes" || case.name == "cubic constant 2 classes" {
            let classes = case.training.labels().classes();
            let weights = ClassWeight::PerClass([(classes[0].clone(), 1.0), (classes[1].clone(), 2.5)].into());
            (case.factors, case.method) = (vec![1.0, 2.5], case.method.class_weight(weights));
        }
        case
    };
    cases.into_iter().map(balanced).collect()
}

/// The values of each sample by a refit without it, or of classes without one copy where another sample is at its place,
/// and the refits.
fn refits(case: &Case, model: &Model) -> Vec<(Vec<f64>, Model)> {
    let weights = case.training.weights.clone().unwrap_or_else(|| vec![1.0; N]);
    let mut method = case.method.clone().c(CChoice::Value(model.c()[0]));
    if let (Method::ThinPlate(params, _), Some(model)) = (&method, model.own::<ThinPlateSvc>()) {
        method = Method::ThinPlate(params.clone().polynomials(model.polynomials()), model.polynomials());
    }
    let one = |row: usize| Samples::select(&case.training.samples, &[row]);
    let without = |row: usize| {
        // Targets that are unlike all others are no independent draws.
        let are_draws = matches!(case.training.answers, Answers::Labels(_));
        let is_contested = are_draws && (0..N).any(|other| other != row && one(other) == one(row));
        let mut fewer = weights.clone();
        fewer[row] -= if is_contested { fewer[row].min(1.0) } else { fewer[row] };
        let refit = fit(&method, &case.training, &fewer);
        (refit.values(&one(row)), refit)
    };
    (0..N).map(without).collect()
}

fn check(case: &Case) {
    let weights = case.training.weights.clone().unwrap_or_else(|| vec![1.0; N]);
    let model = fit(&case.method, &case.training, &weights);
    let refits = refits(case, &model);
    match (&model.0, &case.training.answers) {
        (AnyModel::Classifier(_), _) => check_classes(case, &model, &weights, &refits),
        (AnyModel::Regressor(found), Answers::Targets(targets)) => {
            let total: f64 = weights.iter().sum();
            let error = |output: usize| {
                let square = |row: usize| (targets.row(row)[output] - refits[row].0[output]).powi(2);
                ((0..N).map(|row| weights[row] * square(row)).sum::<f64>() / total).sqrt()
            };
            let point = found.chosen().unwrap();
            (0..2).for_each(|output| {
                assert_close(&[point.loo_rmse[output]], &[error(output)], case.tolerance, &case.name)
            });
            let least = found.path().iter().map(|point| point.loo_r2).fold(f64::NEG_INFINITY, f64::max);
            assert!(point.loo_r2 >= least - 1e-12, "{}", case.name);
        }
        _ => unreachable!(),
    }
}

#[test]
fn losses_are_those_of_refits() {
    let cases = cases();
    let fails = |case: &&Case| catch_unwind(AssertUnwindSafe(|| check(case))).is_err();
    let failed: Vec<&str> = cases.iter().filter(fails).map(|case| &*case.name).collect();
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

fn check_classes(case: &Case, model: &Model, weights: &[f64], refits: &[(Vec<f64>, Model)]) {
    let path = match model.own::<ThinPlateSvc>() {
        Some(model) => model.path(),
        None => model.own::<BasisExpansionSvc<AnySimilarity>>().unwrap().path(),
    };
    let point = path.iter().find(|point| point.c == model.c()[0]).unwrap();
    assert!(point.loo_exact, "{}: {point:?}", case.name);
    let (codes, k) = (case.training.labels().codes(), refits[0].0.len());
    let (mut hinge, mut wrong, mut total) = (0.0, 0.0, 0.0);
    for (row, (scores, _)) in refits.iter().enumerate() {
        let (code, weight) = (codes[row] as usize, weights[row] * case.factors[codes[row] as usize]);
        for (problem, score) in scores.iter().enumerate() {
            let is_positive = if k == 1 { code == 1 } else { code == problem };
            hinge += weight * (1.0 - if is_positive { *score } else { -score }).max(0.0).powi(2);
        }
        let best = (0..k).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
        let found = if k == 1 { usize::from(scores[0] > 0.0) } else { best };
        wrong += if found == code { 0.0 } else { weight };
        total += weight;
    }
    let (hinge, wrong) = (hinge / (total * k as f64), wrong / total);
    let off = (point.loo_squared_hinge.unwrap() - hinge).abs();
    assert!(off <= case.tolerance * hinge.max(1.0), "{}: {point:?}, not {hinge}", case.name);
    assert!(
        case.tolerance > 1e-3 || (point.loo_error.unwrap() - wrong).abs() < 1e-9,
        "{}: {point:?}, not {wrong}",
        case.name
    );
    // No other C of the path has a smaller loss.
    let least = path.iter().filter(|point| point.loo_exact).filter_map(|point| point.loo_squared_hinge);
    assert!(point.loo_squared_hinge.unwrap() <= least.fold(f64::INFINITY, f64::min) * (1.0 + 1e-9), "{}", case.name);
    // The leave-one-out value of each sample, where no other sample crosses the margin without it.
    // Where polynomials are dropped, a sample takes a function of the model with it.
    let has_values = k == 1 && case.tolerance < 1e-3 && case.name.contains(" free ");
    let Some(model) = model.own::<ThinPlateSvc>().filter(|_| has_values) else { return };
    let mut n_compared = 0;
    for (row, (scores, refit)) in refits.iter().enumerate() {
        let others: Vec<u64> = model.basis_rows().iter().copied().filter(|&other| other != row as u64).collect();
        if refit.own::<ThinPlateSvc>().unwrap().basis_rows() == others && !model.loo_values().is_empty() {
            n_compared += 1;
            assert_close(&[model.loo_values()[row]], scores, 1e-6, &format!("{}, row {row}", case.name));
        }
    }
    assert!(n_compared >= N / 8, "{}: {n_compared}", case.name);
}
