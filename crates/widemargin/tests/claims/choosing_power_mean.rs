//! The automatic parameters of a power mean SVM, against refits by brute force; and the same for all representations of
//! the samples.

use crate::common::histograms;
use crate::thin_plate_common::eliminate;
use widemargin::Result;
use widemargin::data::{DenseView, Labels, Rows};
use widemargin::expansion::{AdditiveMap, Approximation};
use widemargin::model::{CChoice, PowerMeanChoice, PowerMeanParams, PowerMeanSvc};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;

const D: usize = 8;

/// The mean squared hinge of least squares without each sample, by refits.
fn left_out(gram: &dyn Fn(usize, usize) -> f64, labels: &Labels, c: f64) -> f64 {
    let (n, classes) = (labels.len(), labels.classes().len());
    let problems = if classes == 2 { vec![1] } else { (0..classes as u32).collect() };
    let mut sum = 0.0;
    for &problem in &problems {
        let sign = |i: usize| if labels.codes()[i] == problem { 1.0 } else { -1.0 };
        for i in 0..n {
            let others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            let row = |&a: &usize| {
                others.iter().map(|&b| gram(a, b) + if a == b { 0.5 / c } else { 0.0 }).collect::<Vec<f64>>()
            };
            let x = eliminate(others.iter().map(row).collect(), others.iter().map(|&j| sign(j)).collect());
            let score: f64 = others.iter().zip(&x).map(|(&j, x)| x * gram(i, j)).sum();
            sum += (1.0 - sign(i) * score).max(0.0).powi(2);
        }
    }
    sum / (n * problems.len()) as f64
}

/// The values divided by the largest of their columns, as the solver has them.
fn scaled(values: &[f64]) -> Vec<f64> {
    let largest = |j: usize| values.iter().skip(j).step_by(D).copied().fold(0.0, f64::max);
    values.iter().enumerate().map(|(at, x)| f64::from((x * (1.0 / largest(at % D))) as f32)).collect()
}

fn sums<'a>(values: &'a [f64], k: impl Fn(f64, f64) -> f64 + 'a) -> impl Fn(usize, usize) -> f64 + 'a {
    move |a, b| (0..D).map(|j| k(values[a * D + j], values[b * D + j])).sum()
}

fn fit(params: &PowerMeanParams, samples: &impl Rows, labels: &Labels) -> PowerMeanSvc {
    params.fit(samples, labels).unwrap()
}

#[test]
fn losses_are_those_of_refits_and_the_choice_follows_from_them() {
    for classes in [2, 3] {
        let (values, labels) = histograms(36, D, classes, 5);
        let view = DenseView::new(&values, 36, D).unwrap();
        let model = fit(&PowerMeanParams::auto(), &view, &labels);
        let choice = model.choice().unwrap();
        assert_eq!(
            (choice.n_samples, choice.n_compared, &choice.chosen[..]),
            (36, 36, &["kernel", "nodes", "C"].map(String::from)[..])
        );
        let scaled = scaled(&values);
        // The exact kernels.
        let exact: Vec<_> = choice.tried.iter().filter(|tried| tried.n_nodes.is_none()).collect();
        assert_eq!(exact.len(), 7);
        for tried in &exact {
            let kernel: AdditiveKernel = tried.kernel.parse().unwrap();
            let truth = left_out(&sums(&scaled, |x, y| kernel.value(x, y)), &labels, tried.c.unwrap());
            let found = tried.loo_squared_hinge.unwrap();
            assert!((found - truth).abs() < 1e-6 * truth, "{kernel}: {found} {truth}");
        }
        let losses: Vec<f64> = exact.iter().map(|tried| tried.loo_squared_hinge.unwrap()).collect();
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let near = losses.iter().position(|loss| *loss <= 1.05 * least).unwrap();
        assert_eq!(model.map().kernel().to_string(), exact[near].kernel);
        // More nodes were tried until one of them loses next to nothing.
        let reduced: Vec<_> = choice.tried.iter().filter(|tried| tried.n_nodes.is_some()).collect();
        let loss = |at: usize| reduced[at].loo_squared_hinge.unwrap();
        let least = (0..reduced.len()).map(loss).fold(f64::INFINITY, f64::min);
        let enough = (0..reduced.len()).find(|&at| loss(at) <= 1.005 * least).unwrap();
        assert_eq!(reduced[enough].n_nodes, Some(model.map().n_nodes()));
        // The path, of the kernel as it is fitted.
        let map: AdditiveMap = model.map().clone();
        for point in choice.path.iter().step_by(5) {
            let truth = left_out(&sums(&scaled, |x, y| map.value(x, y)), &labels, point.c);
            assert!((point.loo_squared_hinge - truth).abs() < 1e-6 * truth, "{point:?} {truth}");
        }
        let least = choice.path.iter().map(|point| point.loo_squared_hinge).fold(f64::INFINITY, f64::min);
        let near = choice.path.iter().find(|point| point.loo_squared_hinge <= 1.02 * least).unwrap();
        assert_eq!(model.c(), near.c);
    }
}

#[test]
fn the_squared_hinge_itself_has_next_to_its_least_left_out_loss_there() {
    let n = 40;
    let (values, labels) = histograms(n, D, 2, 11);
    let view = DenseView::new(&values, n, D).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).tol(1e-3).threads(1);
    let chosen = fit(&params.clone().c(CChoice::Auto), &view, &labels);
    let refits = |c: f64| -> f64 {
        let loss = |i: usize| {
            let weights: Vec<f64> = (0..n).map(|j| f64::from(u8::from(i != j))).collect();
            let without = params.clone().c(c).fit_with(&view, &labels, Some(&weights), &Monitor::none()).unwrap();
            let score = f64::from(without.decision_function(&view, 1).unwrap().values()[i]);
            (1.0 - if labels.codes()[i] == 1 { score } else { -score }).max(0.0).powi(2)
        };
        (0..n).map(loss).sum::<f64>() / n as f64
    };
    let path = &chosen.choice().unwrap().path;
    let least = path.iter().step_by(2).map(|point| refits(point.c)).fold(f64::INFINITY, f64::min);
    let ours = refits(chosen.c());
    assert!(ours <= 1.1 * least, "{ours} against {least}");
}

#[test]
fn fixed_parameters_are_unchanged_and_the_fit_is_that_with_the_selected_values() {
    let (values, labels) = histograms(60, D, 3, 2);
    let view = DenseView::new(&values, 60, D).unwrap();
    let p = AdditiveKernel::PowerMean { p: -2.0 };
    for (params, names) in [
        (PowerMeanParams::new(p).c(CChoice::Auto), "C"),
        (PowerMeanParams::new(p).choose_n_nodes(), "nodes"),
        (PowerMeanParams::new(p).choose_p(), "kernel"),
        (PowerMeanParams::auto().kernel(p).c(0.3), "nodes"),
        (PowerMeanParams::auto().n_nodes(5).c(0.3), "kernel"),
        (PowerMeanParams::auto().nodes(vec![0.1, 1.0]), "kernel C"),
        (PowerMeanParams::auto(), "kernel nodes C"),
    ] {
        let model = fit(&params, &view, &labels);
        let choice = model.choice().unwrap();
        assert_eq!(choice.chosen.join(" "), names);
        assert!(model.report().notes.iter().any(|note| note.contains("leave-one-out")));
        let kernel: AdditiveKernel = model.map().kernel().to_string().parse().unwrap();
        let fixed = PowerMeanParams::new(kernel).nodes(model.map().nodes().to_vec()).c(model.c());
        assert_eq!(fit(&fixed, &view, &labels).weights(), model.weights(), "{names}");
        if !names.contains('C') {
            assert!(choice.path.is_empty() && choice.tried.iter().all(|tried| tried.c == Some(model.c())));
        }
    }
    assert_eq!(fit(&PowerMeanParams::new(p), &view, &labels).choice(), None);
}

fn selected(
    params: PowerMeanParams,
    values: &[f64],
    labels: &Labels,
) -> Result<(PowerMeanSvc, Option<PowerMeanChoice>)> {
    let model = params.fit(&DenseView::new(values, labels.len(), values.len() / labels.len())?, labels)?;
    let choice = model.choice().cloned();
    Ok((model, choice))
}

#[test]
fn odd_samples_are_fitted_or_rejected() {
    // One sample a class; columns that are constant; nothing at all.
    let labels = Labels::new([0, 1]);
    for values in [[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.5]] {
        let (model, choice) = selected(PowerMeanParams::auto(), &values, &labels).unwrap();
        assert!(model.c() > 0.0 && choice.is_some_and(|choice| choice.n_samples == 2), "{values:?}");
    }
    let (model, choice) = selected(PowerMeanParams::auto(), &[0.0; 4], &labels).unwrap();
    assert_eq!((model.c(), choice.unwrap().tried.len()), (0.01, 0));
    let error = selected(PowerMeanParams::auto(), &[1.0, -2.0, 0.0, 1.0], &labels).unwrap_err().to_string();
    assert!(error.contains("-2 is negative"), "{error}");
    // Kernels beyond double precision: each is named with its reason.
    let weights = [1e301, 1e301];
    let params = PowerMeanParams::auto().scale(false);
    let values = [1e30, 0.0, 0.0, 1e30];
    let view = DenseView::new(&values, 2, 2).unwrap();
    let error = params.fit_with(&view, &labels, Some(&weights), &Monitor::none()).unwrap_err().to_string();
    for words in ["kernel = auto", "power-mean:p=-8: ", "beyond double precision"] {
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_hinge_and_the_polynomial_have_the_defaults() {
    let (values, labels) = histograms(40, D, 2, 3);
    for params in
        [PowerMeanParams::auto().loss(Loss::Hinge), PowerMeanParams::auto().approximation(Approximation::Polynomial)]
    {
        let (model, choice) = selected(params, &values, &labels).unwrap();
        assert_eq!((model.c(), model.map().n_nodes(), choice), (0.01, 3, None));
        assert_eq!(model.map().kernel().to_string(), "power-mean:p=-1");
    }
}

#[test]
fn some_of_many_classes_are_compared() {
    let (n, classes) = (1300, 260);
    let (values, _) = histograms(n, D, classes, 4);
    let labels = Labels::new((0..n as i64).map(|i| i % classes as i64));
    let (model, choice) = selected(PowerMeanParams::auto(), &values, &labels).unwrap();
    let choice = choice.unwrap();
    assert_eq!((model.classes().len(), choice.n_samples), (classes, 5 * 100));
    assert!(choice.tried.iter().all(|tried| tried.loo_squared_hinge.is_some_and(f64::is_finite)), "{choice:?}");
    let rows = PowerMeanParams::auto().rows_to_choose_on(&labels, &vec![1.0; n]);
    let mut codes: Vec<u32> = rows.iter().map(|&row| labels.codes()[row]).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!((codes.len(), rows.len()), (100, 500));
}
