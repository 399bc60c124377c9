//! What is particular to a power mean SVM in blocks: their number, which follows from the memory, the gap over all of
//! them, and values that are rounded.

use crate::common::{brute_force_dual, histograms, objectives};
use crate::harness::places::{Disk, MemoryCheckpoint, PLENTY};
use widemargin::data::{DenseView, Labels, Resources, Rows, VectorSource};
use widemargin::expansion::Approximation;
use widemargin::model::{PowerMeanParams, PowerMeanSvc};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::Status;
use widemargin::{Error, Result};

fn fit(params: &PowerMeanParams, samples: &impl Rows, labels: &Labels, memory: u64) -> Result<PowerMeanSvc> {
    let disk = Disk::new(None);
    let resources = disk.resources(memory);
    let model = params.fit_blocks(&VectorSource(samples), labels, None, &resources, &Monitor::none())?;
    assert_eq!(disk.len() > 0, model.report().notes.iter().any(|note| note.contains("on scratch")));
    Ok(model)
}

/// The number of blocks in the report.
fn n_blocks(model: &PowerMeanSvc) -> usize {
    let note = model.report().notes.iter().find_map(|note| note.strip_prefix("the samples were in "));
    note.unwrap().split(' ').next().unwrap().parse().unwrap()
}

/// The most memory with which there are at least this number of blocks.
fn memory_for(blocks: usize, samples: &impl Rows, labels: &Labels) -> u64 {
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).max_epochs(1).threads(1);
    let (mut enough, mut too_much) = (0, PLENTY);
    while too_much - enough > 64 {
        let memory = enough.midpoint(too_much);
        match fit(&params, samples, labels, memory) {
            Ok(model) if n_blocks(&model) < blocks => too_much = memory,
            Err(error) if !matches!(error, Error::Memory { .. }) => panic!("{error}"),
            _ => enough = memory,
        }
    }
    enough
}

/// The rows and labels in the order of the labels.
fn sorted(values: &[f64], labels: &Labels, d: usize) -> (Vec<f64>, Labels) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&row| labels.codes()[row]);
    let values = order.iter().flat_map(|&row| values[row * d..(row + 1) * d].to_vec()).collect();
    (values, labels.select(&order))
}

/// ½‖f − f*‖² is at most the gap, so two machines differ at x by no more than their gaps allow.
fn assert_alike(a: &PowerMeanSvc, b: &PowerMeanSvc, samples: &DenseView<'_, f64>, what: &str) {
    let far = |model: &PowerMeanSvc| {
        let report = model.report();
        (2.0 * report.gap() * report.objective).sqrt()
    };
    let (ours, theirs) = (a.decision_function(samples, 1).unwrap(), b.decision_function(samples, 1).unwrap());
    let k = ours.values().len() / samples.n_rows();
    for (at, (x, y)) in ours.values().iter().zip(theirs.values()).enumerate() {
        // K̂(x, x) ≤ Σ x, scaled.
        let factors = a.scaling().unwrap().factors();
        let norm: f64 = samples.row(at / k).iter().zip(factors).map(|(x, f)| x * f).sum();
        let most = (far(a) + far(b)) * norm.sqrt() + 1e-5;
        assert!(f64::from(x - y).abs() <= most, "{what}: {x} {y}, {most} at the most");
    }
}

#[test]
fn any_number_of_blocks_and_order_of_labels() {
    let (n, d) = (300, 16);
    for (classes, loss, c) in [(2, Loss::SquaredHinge, 0.5), (3, Loss::SquaredHinge, 0.1), (4, Loss::Hinge, 0.02)] {
        let (mut values, labels) = histograms(n, d, classes, 4);
        // Chunks are in single precision.
        values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
        let (values, labels) = sorted(&values, &labels, d);
        let samples = DenseView::new(&values, n, d).unwrap();
        let params = PowerMeanParams::new(AdditiveKernel::Chi2).loss(loss).c(c).tol(1e-5).max_epochs(5000).threads(1);
        let whole = params.fit(&samples, &labels).unwrap();
        assert_eq!(whole.report().status, Status::Converged);
        for blocks in [1, 3, 17] {
            let memory = memory_for(blocks, &samples, &labels);
            let model = fit(&params, &samples, &labels, memory).unwrap();
            // Few rows: from one number to the next it is a step.
            assert!((blocks..=blocks + blocks / 3).contains(&n_blocks(&model)), "{}", n_blocks(&model));
            assert_eq!(model.report().status, Status::Converged, "{:?}", model.report());
            assert_eq!(whole.map(), model.map());
            assert_alike(&model, &whole, &samples, &format!("{classes} classes, {loss}, {blocks} blocks"));
            assert!(model.report().iterations.iter().all(|epochs| *epochs > 1));
            let stages: Vec<&str> = model.report().stages.iter().map(|stage| stage.name.as_str()).collect();
            assert_eq!(stages, ["scan", "encode", "solve"]);
        }
    }
}

#[test]
fn blocks_follow_the_memory_and_take_about_as_many_epochs() {
    let (n, d) = (2000, 40);
    let (values, labels) = histograms(n, d, 5, 9);
    let (values, labels) = sorted(&values, &labels, d);
    let samples = DenseView::new(&values, n, d).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).threads(1);
    let whole = params.fit(&samples, &labels).unwrap().report().max_iterations();
    let mut before = 0;
    for blocks in [1, 5, 12, 40] {
        let model = fit(&params, &samples, &labels, memory_for(blocks, &samples, &labels)).unwrap();
        assert!(n_blocks(&model) > before);
        before = n_blocks(&model);
        let epochs = model.report().max_iterations();
        assert!(epochs <= whole + 2, "{before} blocks: {epochs} epochs against {whole}");
    }
}

#[test]
fn the_gap_is_that_over_all_rows() {
    let (n, d, c) = (150, 10, 0.3);
    let (values, labels) = histograms(n, d, 2, 21);
    let samples = DenseView::new(&values, n, d).unwrap();
    let signs: Vec<f64> = labels.codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 }).collect();
    for (loss, tol) in [(Loss::SquaredHinge, 1e-2), (Loss::SquaredHinge, 1e-4), (Loss::Hinge, 1e-3)] {
        let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(c).loss(loss).tol(tol).max_epochs(5000);
        let model = fit(&params, &samples, &labels, memory_for(9, &samples, &labels)).unwrap();
        let (report, factors) = (model.report(), model.scaling().unwrap().factors());
        let x = |row: usize, j: usize| samples.row(row)[j] * factors[j];
        let kernel = |a: usize, b: usize| (0..d).map(|j| model.map().value(x(a, j), x(b, j))).sum();
        let gram: Vec<f64> = (0..n * n).map(|at| kernel(at / n, at % n)).collect();
        let squared = loss == Loss::SquaredHinge;
        let (upper, ridge) = if squared { (f64::INFINITY, 0.5 / c) } else { (c, 0.0) };
        let (_, best) = objectives(&gram, &signs, &brute_force_dual(&gram, &signs, upper, ridge), c, squared);
        let scores = model.decision_function(&samples, 1).unwrap();
        let losses: f64 = scores.values().iter().zip(&signs).map(|(&s, y)| c * loss.value(1.0, y * f64::from(s))).sum();
        let primal = losses + 0.5 * model.weights().iter().map(|w| f64::from(*w).powi(2)).sum::<f64>();
        assert!((primal - report.objective).abs() <= 1e-5 * primal, "{primal} {}", report.objective);
        assert!(report.dual_objective <= best * (1.0 + 1e-5) && best <= primal * (1.0 + 1e-5));
        assert!(report.gap() <= tol && primal - best <= (tol + 1e-5) * primal);
    }
}

#[test]
fn the_polynomial_goes_the_same_way() {
    let (n, d) = (300, 12);
    let (values, labels) = histograms(n, d, 3, 5);
    let samples = DenseView::new(&values, n, d).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).approximation(Approximation::Polynomial).tol(1e-4);
    for params in [params.clone(), params.nodes(vec![0.01, 0.1, 0.3, 1.0])] {
        let whole = params.fit(&samples, &labels).unwrap();
        let model = fit(&params, &samples, &labels, memory_for(7, &samples, &labels)).unwrap();
        assert_eq!(model.report().status, Status::Converged);
        let largest = whole.weights().iter().fold(0.0f32, |most, w| most.max(w.abs()));
        for (ours, theirs) in model.weights().iter().zip(whole.weights()) {
            assert!((ours - theirs).abs() <= 2e-2 * largest, "{ours} {theirs} of {largest}");
        }
    }
}

#[test]
fn rounds_values_beyond_the_size_of_a_codebook() {
    let (n, d) = (1500, 100);
    let (values, labels) = histograms(n, d, 2, 8);
    let samples = DenseView::new(&values, n, d).unwrap();
    assert!(values.iter().filter(|value| **value > 0.0).count() > 1 << 16);
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).tol(1e-3).threads(1);
    let whole = params.fit(&samples, &labels).unwrap();
    let model = fit(&params, &samples, &labels, 10 << 20).unwrap();
    assert!(model.report().warnings.iter().any(|note| note.contains("rounded")));
    let (a, b) = (model.report(), whole.report());
    assert!((a.objective - b.objective).abs() <= 2e-3 * b.objective, "{} {}", a.objective, b.objective);
    // The gap is that of the samples as they are, too: rounding moves the objective less than the fifth digit.
    let scores = model.decision_function(&samples, 1).unwrap();
    let signs = labels.codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 });
    let losses: f64 =
        scores.values().iter().zip(signs).map(|(&s, y)| 0.01 * Loss::SquaredHinge.value(1.0, y * f64::from(s))).sum();
    let primal = losses + 0.5 * model.weights().iter().map(|w| f64::from(*w).powi(2)).sum::<f64>();
    assert!((primal - a.objective).abs() <= 5e-5 * primal, "{primal} {}", a.objective);
}

/// With more memory than needed a fit is resumed with the same blocks, with less it is refused.
#[test]
fn a_checkpoint_determines_the_blocks() {
    let (values, labels) = histograms(200, 12, 3, 30);
    let samples = DenseView::new(&values, 200, 12).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(1.0).max_epochs(2000).threads(1);
    let (checkpoint, disk) = (MemoryCheckpoint::default(), Disk::new(None));
    let fit = |memory: u64| {
        let resources = Resources { checkpoint: Some(&checkpoint), ..disk.resources(memory) };
        params.fit_blocks(&VectorSource(&samples), &labels, None, &resources, &Monitor::none())
    };
    fit(memory_for(10, &samples, &labels)).unwrap();
    let error = fit(memory_for(20, &samples, &labels)).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("of a fit in 1"), "{error}");
    assert!(n_blocks(&fit(PLENTY).unwrap()) >= 10);
}

#[test]
fn limits_of_epochs_and_scratch_are_reported() {
    let (values, labels) = histograms(200, 12, 3, 30);
    let samples = DenseView::new(&values, 200, 12).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(1.0).threads(1);
    let memory = memory_for(10, &samples, &labels);
    let model = fit(&params.clone().max_epochs(2), &samples, &labels, memory).unwrap();
    assert_eq!((model.report().status, model.report().max_iterations()), (Status::IterationLimit, 2));
    assert!(model.report().warnings[0].starts_with("not converged after 2 epochs"));
    let disk = Disk::new(Some(5000));
    let fitted = params.fit_blocks(&VectorSource(&samples), &labels, None, &disk.resources(memory), &Monitor::none());
    let message = fitted.unwrap_err().to_string();
    assert!(message.contains("scratch, 200 rows"), "{message}");
}
