//! The estimates of a fit are those of refits without each sample, or without each fold of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Model, assert_close};
use crate::common::vectors;
use crate::harness::method::Method;
use crate::harness::places::{Disk, PLENTY, Place};
use crate::harness::training::{Answers, D, Kind, Task, Training};
use crate::thin_plate_common::blobs;
use widemargin::data::{AnySamples, ClassWeight, Labels, Samples, Targets, Vectors};
use widemargin::expansion::Normalization;
use widemargin::model::{
    AnyModel, BasisExpansionParams, BasisExpansionRegressorParams, BasisExpansionSvc, CChoice, Intercept, Polynomials,
    Regressor, ThinPlateBasis, ThinPlateParams, ThinPlateRegressorParams, ThinPlateSvc,
};
use widemargin::monitor::Monitor;
use widemargin::problem::{Loss, OneVsRest};
use widemargin::similarity::{AnySimilarity, ConditionalKernel};
use widemargin::solve::{ErrorEstimate, EstimateMethod};
use widemargin_kernels::draw::fold_of;

const N: usize = 60;

const N_FOLDS: usize = 5;

/// A method whose features do not depend on the samples, and its training set.
struct Case {
    name: String,
    method: Method,
    training: Training,
    /// The factors of the classes.
    factors: Vec<f64>,
    /// How far losses may be from those of refits.
    tolerance: f64,
    /// What the refits are without: each sample, each fold, or some samples held out. Folds are those of the rows as they
    /// come, in blocks, where equal samples are not merged.
    method_of_estimation: EstimateMethod,
    /// Whether the first samples are bases, of the refits too.
    has_bases: bool,
}

impl Case {
    fn weights(&self) -> Vec<f64> {
        self.training.weights.clone().unwrap_or_else(|| vec![1.0; N])
    }

    fn has_folds(&self) -> bool {
        self.method_of_estimation == EstimateMethod::Folds
    }

    fn fit(&self, method: &Method, weights: Vec<f64>) -> Model {
        let (disk, training) = (Disk::new(None), Training { weights: Some(weights), ..self.training.clone() });
        let place = if self.has_folds() { Place::Blocks(disk.resources(PLENTY)) } else { Place::Memory };
        method.clone().threads(1).fit(&training, place, &Monitor::none()).unwrap()
    }

    /// The weights of the samples that are judged: of a classifier bases are not, since refits have them too.
    fn judged(&self, model: &Model) -> Vec<f64> {
        let mut weights = self.weights();
        if self.has_bases {
            model.bases().into_iter().for_each(|row| weights[row] = 0.0);
        }
        weights
    }
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
        let (method_of_estimation, has_bases) = (EstimateMethod::LeaveOneOut, name.contains("on bases"));
        cases.push(Case { name, method, training, factors, tolerance, method_of_estimation, has_bases });
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
        add(format!("spline {spec} C={c}"), Method::Spline(params.clone()), uneven(Task::Targets(2), 5), 1e-6);
        let params = params.n_basis(Some(10)).basis(ThinPlateBasis::Index);
        add(format!("spline {spec} on bases C={c}"), Method::Spline(params), plane(Task::Targets(2), 5), 1e-6);
    }
    other_tasks_and_losses(&mut add, &bases);
    folds(&mut cases);
    held_out(&mut cases);
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

/// Multilabel targets, and losses of regressions.
fn other_tasks_and_losses(add: &mut dyn FnMut(String, Method, Training, f64), bases: &AnySamples) {
    for (loss, c) in
        [(Loss::SquaredHinge, CChoice::Auto), (Loss::SquaredHinge, 3.0.into()), (Loss::SquaredError, CChoice::Auto)]
    {
        let task = Task::Multilabel(3);
        let params = ThinPlateParams::new("distance".parse().unwrap()).c(c).loss(loss);
        let method = Method::ThinPlate(params, Polynomials::Free);
        add(format!("thin plate, multilabel, {loss} C={c}"), method, plane(task, 5), 1e-6);
    }
    let of = bases.clone();
    let make = move || {
        let params = BasisExpansionParams::new(rbf()).bases(of.clone()).normalization(Normalization::None);
        params.c(CChoice::Auto).tol(1e-8)
    };
    let training = Training::new(Kind::Vectors, Task::Multilabel(3), N, 5);
    add("basis expansion, multilabel".into(), Method::BasisExpansion(Arc::new(make)), training, 1e-3);
    for loss in [
        Loss::Huber { epsilon: Some(3000.0) },
        Loss::SquaredEpsilonInsensitive { epsilon: Some(0.0) },
        Loss::SquaredEpsilonInsensitive { epsilon: Some(5.0) },
    ] {
        for (has_intercept, c) in [(true, CChoice::Auto), (false, 1e-3.into())] {
            // Only without a corner that other samples cross is the closed form exact.
            let tolerance = if let Loss::SquaredEpsilonInsensitive { epsilon: Some(5.0) } = loss { 0.03 } else { 1e-5 };
            let method = losses(loss, has_intercept, c, bases);
            add(format!("regression, {loss:?} intercept={has_intercept} C={c}"), method, with_outliers(), tolerance);
        }
    }
}

fn losses(loss: Loss, has_intercept: bool, c: CChoice, bases: &AnySamples) -> Method {
    let bases = bases.clone();
    Method::Regression(Arc::new(move || {
        let params = BasisExpansionRegressorParams::new(rbf()).bases(bases.clone()).normalization(Normalization::None);
        params.loss(loss).intercept(has_intercept).c(c)
    }))
}

/// Weighted samples whose targets are far off now and then.
fn with_outliers() -> Training {
    let training = Training::new(Kind::Vectors, Task::Targets(1), N, 5).weighted(|row| [1.0, 3.0, 0.5, 2.0][row % 4]);
    let far = |row: usize| if row % 9 == 4 { 10_000.0 } else { 0.0 };
    let targets = (0..N).map(|row| training.targets().row(row)[0] + far(row)).collect();
    Training { answers: Answers::Targets(Targets::single(targets).unwrap()), ..training }
}

/// In blocks, with the first samples as bases.
fn folds(cases: &mut Vec<Case>) {
    let mut add = |name: String, method: Method, training: Training, tolerance: f64| {
        let (factors, method_of_estimation) = (vec![1.0; 4], EstimateMethod::Folds);
        let (training, has_bases) = (training.weighted(|row| [1.0, 3.0, 0.5, 2.0][row % 4]), name.contains("on bases"));
        cases.push(Case { name, method, training, factors, tolerance, method_of_estimation, has_bases });
    };
    use Polynomials::{Constant, Free, None, Penalized};
    for (task, spec, polynomials, loss, c) in [
        (Task::Classes(2), "distance", Free, Loss::SquaredHinge, 3.0.into()),
        (Task::Classes(4), "thin-plate", Free, Loss::SquaredHinge, CChoice::Auto),
        (Task::Classes(4), "thin-plate", Penalized, Loss::SquaredHinge, 0.3.into()),
        (Task::Classes(2), "thin-plate", Constant, Loss::SquaredHinge, 0.3.into()),
        (Task::Classes(2), "thin-plate", None, Loss::SquaredHinge, 0.3.into()),
        (Task::Multilabel(3), "distance", Free, Loss::SquaredHinge, CChoice::Auto),
        (Task::Classes(4), "distance", Free, Loss::SquaredError, CChoice::Auto),
        (Task::Classes(2), "thin-plate", Free, Loss::Hinge, 1.0.into()),
        (Task::Classes(4), "distance", Free, Loss::Hinge, CChoice::Auto),
    ] {
        let params = ThinPlateParams::new(spec.parse().unwrap()).polynomials(polynomials).c(c).loss(loss);
        let params = params.n_basis(Some(9)).basis(ThinPlateBasis::Index);
        let name = format!("{spec} on bases {polynomials}, {task:?}, {loss} C={c}");
        add(name, Method::ThinPlate(params, polynomials), plane(task, 5), 1e-6);
    }
    let bases = Training::new(Kind::Vectors, Task::OneClass, 9, 77).samples;
    for (quantile, c) in [(0.5, CChoice::Auto), (0.8, 0.1.into()), (0.8, 30.0.into())] {
        let method = losses(Loss::Quantile { quantile }, true, c, &bases);
        let training = Training::new(Kind::Vectors, Task::Targets(2), N, 5);
        add(format!("regression, quantile {quantile} C={c}"), method, training, 0.01);
    }
}

/// Some samples held out of refits: their error is within a standard error of that of refits without each sample.
fn held_out(cases: &mut Vec<Case>) {
    let mut add = |name: String, method: Method, task: Task| {
        let (factors, method_of_estimation) = (vec![1.0; 4], EstimateMethod::HeldOut);
        let training = Training::new(Kind::Vectors, task, N, 5).weighted(|row| [1.0, 3.0, 0.5, 2.0][row % 4]);
        let (tolerance, has_bases) = (1.0, false);
        cases.push(Case { name, method, training, factors, tolerance, method_of_estimation, has_bases });
    };
    for task in [Task::Classes(2), Task::Classes(4), Task::Multilabel(3)] {
        for loss in [Loss::SquaredHinge, Loss::Hinge, Loss::Logistic] {
            let make = move || {
                let bases = Training::new(Kind::Vectors, Task::OneClass, 9, 77).samples;
                let params = BasisExpansionParams::new(rbf()).bases(bases).normalization(Normalization::None);
                params.loss(loss).intercept(Intercept::Penalized).c(3.0).max_iter(20_000)
            };
            let method = Method::BasisExpansion(Arc::new(make));
            add(format!("basis expansion, {task:?}, {loss} C=3"), method, task);
        }
    }
}

/// The values of each sample by a refit without it, or of classes without one copy where another sample is at its place,
/// or without its fold; and the bases of the refit.
fn refits(case: &Case, model: &Model) -> Vec<(Vec<f64>, Vec<usize>)> {
    let mut method = case.method.clone().c(CChoice::Value(model.c()[0]));
    if let (Method::ThinPlate(params, _), Some(model)) = (&method, model.own::<ThinPlateSvc>()) {
        method = Method::ThinPlate(params.clone().polynomials(model.polynomials()), model.polynomials());
    }
    let (weights, bases) = (case.weights(), if case.has_bases { model.bases() } else { Vec::new() });
    let one = |row: usize| Samples::select(&case.training.samples, &[row]);
    // Targets that are unlike all others are no independent draws.
    let are_draws = matches!(case.training.answers, Answers::Labels(_));
    let is_contested = |row: usize| are_draws && (0..N).any(|other| other != row && one(other) == one(row));
    // Next to nothing, so that there are as many samples and the same bases.
    let rest = |row: usize| match is_contested(row) && !case.has_folds() {
        true => weights[row] - weights[row].min(1.0),
        false if case.has_bases => 1e-13 * weights[row],
        false => 0.0,
    };
    let folds: Vec<Vec<usize>> = match case.has_folds() {
        true => (0..N_FOLDS).map(|fold| (0..N).filter(|&row| fold_of(row, N_FOLDS) == fold).collect()).collect(),
        false => (0..N).map(|row| vec![row]).collect(),
    };
    let mut found = vec![Default::default(); N];
    for rows in folds {
        let mut fewer = weights.clone();
        rows.iter().for_each(|&row| fewer[row] = rest(row));
        // A fifth of each basis is left out with every fold.
        bases.iter().filter(|_| case.has_folds()).for_each(|&row| fewer[row] = 0.8 * weights[row]);
        let refit = case.fit(&method, fewer);
        rows.into_iter().for_each(|row| found[row] = (refit.values(&one(row)), refit.bases()));
    }
    found
}

fn check(case: &Case) {
    let model = case.fit(&case.method, case.weights());
    let refits = refits(case, &model);
    match (&model.0, &case.training.answers) {
        (AnyModel::Classifier(_), _) => check_classes(case, &model, &refits),
        (AnyModel::Regressor(found), Answers::Targets(targets)) => check_targets(case, &**found, targets, &refits),
        _ => unreachable!(),
    }
}

#[test]
fn estimates_are_those_of_refits() {
    let cases = cases();
    let fails = |case: &&Case| catch_unwind(AssertUnwindSafe(|| check(case))).is_err();
    let failed: Vec<&str> = cases.iter().filter(fails).map(|case| &*case.name).collect();
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// The loss of each output, the score that follows from it, and that no other C of the path has a higher one.
fn check_targets(case: &Case, found: &dyn Regressor, targets: &Targets, refits: &[(Vec<f64>, Vec<usize>)]) {
    let (weights, loss) = (case.weights(), found.loss());
    let total: f64 = weights.iter().sum();
    let mean = |of: &dyn Fn(usize) -> f64| (0..N).map(|row| weights[row] * of(row)).sum::<f64>() / total;
    let losses: Vec<f64> = (0..targets.n_outputs())
        .map(|output| mean(&|row| loss.value(targets.row(row)[output], refits[row].0[output])))
        .collect();
    let (ours, score, scores): (Vec<f64>, f64, Vec<f64>) = match (found.chosen(), found.chosen_loss()) {
        (Some(point), None) => (
            point.loo_rmse.iter().map(|rmse| rmse * rmse).collect(),
            point.loo_r2,
            found.path().iter().map(|point| point.loo_r2).collect(),
        ),
        (None, Some(point)) => (point.loss.clone(), point.d2, found.loss_path().iter().map(|point| point.d2).collect()),
        other => panic!("{}: {other:?}", case.name),
    };
    for (ours, expected) in ours.iter().zip(&losses) {
        assert_close(&[*ours], &[*expected], case.tolerance, &case.name);
    }
    if loss == Loss::SquaredError {
        let unexplained = |(output, loss): (usize, &f64)| {
            let center = mean(&|row| targets.row(row)[output]);
            loss / mean(&|row| (targets.row(row)[output] - center).powi(2))
        };
        let expected = 1.0 - losses.iter().enumerate().map(unexplained).sum::<f64>() / losses.len() as f64;
        assert!((score - expected).abs() <= case.tolerance, "{}: {score}, not {expected}", case.name);
    }
    assert!(scores.iter().all(|other| score >= other - 1e-12), "{}", case.name);
}

/// The estimated error: classes count by their weights in the population, known labels by those of their samples.
fn check_estimate(case: &Case, model: &Model, mistakes: &[f64], known: &[f64]) {
    let ErrorEstimate { method, error, standard_error, .. } = model.report().estimate.clone().unwrap();
    assert_eq!(method, case.method_of_estimation, "{}", case.name);
    let (labels, weights, judged) = (case.training.labels(), case.weights(), case.judged(model));
    let is_multilabel = labels.is_multilabel();
    let population = if is_multilabel { vec![1.0] } else { labels.population(&weights) };
    let group = |row: usize| if is_multilabel { 0 } else { labels.codes()[row] as usize };
    let share = |of: usize| {
        let sum =
            |numbers: &[f64]| (0..N).filter(|&row| group(row) == of).map(|row| judged[row] * numbers[row]).sum::<f64>();
        sum(mistakes) / sum(known)
    };
    let all: f64 = population.iter().sum();
    let expected = population.iter().enumerate().map(|(group, weight)| weight * share(group)).sum::<f64>() / all;
    let spread = if method == EstimateMethod::HeldOut { standard_error } else { 1e-9 };
    assert!((error - expected).abs() <= spread, "{}: {error} ± {standard_error}, not {expected}", case.name);
}

fn check_classes(case: &Case, model: &Model, refits: &[(Vec<f64>, Vec<usize>)]) {
    let (labels, judged) = (case.training.labels(), case.judged(model));
    let (targets, k) = (OneVsRest::of(labels), refits[0].0.len());
    let (mut hinge, mut wrong, mut total) = (0.0, 0.0, 0.0);
    let (mut mistakes, mut known) = (vec![0.0; N], vec![0.0; N]);
    for (row, (scores, _)) in refits.iter().enumerate() {
        let code = labels.codes()[row] as usize;
        let weight = judged[row] * if labels.is_multilabel() { 1.0 } else { case.factors[code] };
        for (problem, score) in scores.iter().enumerate() {
            let (sign, weight) = (targets.sign(row, problem), weight * targets.weight(row, problem));
            hinge += weight * (1.0 - sign * score).max(0.0).powi(2);
            if labels.is_multilabel() {
                known[row] += targets.weight(row, problem);
                mistakes[row] += if (*score > 0.0) == (sign > 0.0) { 0.0 } else { targets.weight(row, problem) };
            }
        }
        if !labels.is_multilabel() {
            (known[row], mistakes[row]) = (1.0, f64::from(u8::from(OneVsRest::decide(scores) != code)));
        }
        wrong += weight * mistakes[row];
        total += weight * known[row];
    }
    check_estimate(case, model, &mistakes, &known);
    let path = match model.own::<ThinPlateSvc>() {
        Some(model) => model.path(),
        None => model.own::<BasisExpansionSvc<AnySimilarity>>().map(|model| model.path()).unwrap_or_default(),
    };
    let Some(point) = path.iter().find(|point| point.c == model.c()[0]) else {
        assert_eq!(case.method_of_estimation, EstimateMethod::HeldOut);
        return;
    };
    let is_exact = case.method_of_estimation == EstimateMethod::LeaveOneOut;
    assert_eq!(point.loo_exact, is_exact, "{}: {point:?}", case.name);
    let wrong = wrong / total;
    assert!(
        case.tolerance > 1e-3 || (point.refit_error().unwrap() - wrong).abs() < 1e-9,
        "{}: {point:?}, not {wrong}",
        case.name
    );
    if !is_exact {
        return;
    }
    let hinge = hinge / if labels.is_multilabel() { total } else { total * k as f64 };
    let off = (point.loo_squared_hinge.unwrap() - hinge).abs();
    assert!(off <= case.tolerance * hinge.max(1.0), "{}: {point:?}, not {hinge}", case.name);
    // No other C of the path has a smaller loss.
    let least = path.iter().filter(|point| point.loo_exact).filter_map(|point| point.loo_squared_hinge);
    assert!(point.loo_squared_hinge.unwrap() <= least.fold(f64::INFINITY, f64::min) * (1.0 + 1e-9), "{}", case.name);
    check_values(case, model, refits);
}

/// The leave-one-out value of each sample, where no other sample crosses the margin without it.
fn check_values(case: &Case, model: &Model, refits: &[(Vec<f64>, Vec<usize>)]) {
    // Where polynomials are dropped, a sample takes a function of the model with it.
    let has_values = refits[0].0.len() == 1 && case.tolerance < 1e-3 && case.name.contains(" free ");
    let Some(own) = model.own::<ThinPlateSvc>().filter(|_| has_values) else { return };
    let mut n_compared = 0;
    for (row, (scores, bases)) in refits.iter().enumerate() {
        let others: Vec<usize> = model.bases().into_iter().filter(|&other| other != row).collect();
        if *bases == others && !own.loo_values().is_empty() {
            n_compared += 1;
            assert_close(&[own.loo_values()[row]], scores, 1e-6, &format!("{}, row {row}", case.name));
        }
    }
    assert!(n_compared >= N / 8, "{}: {n_compared}", case.name);
}
