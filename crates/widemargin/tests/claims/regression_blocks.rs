//! Regression on samples larger than memory is the model of a fit in memory, with its leave-one-out errors; a killed
//! fit is resumed; and errors name the problem.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::resources_common::{Disk, MemoryCheckpoint};
use widemargin::Error;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, DenseMatrix, Resources, Targets, Vectors};
use widemargin::expansion::{NegativeEigenvalues, Normalization};
use widemargin::model::{BasisExpansionRegressor, BasisExpansionRegressorParams, CChoice};
use widemargin::monitor::{Monitor, Progress};
use widemargin::problem::Loss;
use widemargin::similarity::AnySimilarity;

/// Less than the features of 5,000 samples take.
const MEMORY: u64 = 400_000;

/// The same of 3,000 samples, with the values that the solvers of other losses store for them.
const MEMORY_OF_LOSSES: u64 = 1_100_000;
const MEMORY_OF_QUANTILES: u64 = 1_900_000;

const HUBER: Loss = Loss::Huber { epsilon: None };

type Params = BasisExpansionRegressorParams<AnySimilarity>;
type Model = BasisExpansionRegressor<AnySimilarity>;

fn case(n: usize) -> (AnySamples, Targets) {
    let mut state = 3u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let (mut values, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let x = [uniform(), uniform(), uniform()];
        targets.push(f64::from(100.0 + (7.0 * x[0]).sin() + x[1] * x[2] + 0.3 * uniform()));
        targets.push(f64::from(-2.0 * x[1] * x[1] + 0.1 * uniform()));
        values.extend(x);
    }
    let samples = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: 3 }));
    (samples, Targets::new(targets, 2).unwrap())
}

fn params() -> Params {
    BasisExpansionRegressorParams::new(AnySimilarity::new(&["rbf:gamma=2"]).unwrap()).n_basis(40).threads(2)
}

fn in_blocks(params: Params, (samples, targets): &(AnySamples, Targets), resources: &Resources<'_>) -> Model {
    params.fit_blocks(samples, targets, None, resources, &Monitor::none()).unwrap()
}

fn bits(model: &Model) -> Vec<u64> {
    model.weights().iter().chain(model.intercepts()).map(|x| x.to_bits()).collect()
}

fn assert_same(ours: &Model, truth: &Model, (samples, _): &(AnySamples, Targets), what: &str) {
    let close = |a: f64, b: f64, size: f64| assert!((a - b).abs() <= 1e-5 * size, "{what}: {a} instead of {b}");
    close(ours.c(), truth.c(), truth.c());
    // The last points of a path are those of the smallest C.
    for (ours, truth) in ours.path().iter().rev().zip(truth.path().iter().rev()) {
        for (a, b) in ours.loo_rmse.iter().zip(&truth.loo_rmse) {
            close(*a, *b, *b);
        }
    }
    let predicted = |model: &Model| model.predict(samples, 1).unwrap().values;
    predicted(ours).iter().zip(predicted(truth)).for_each(|(a, b)| close(*a, b, 100.0));
}

#[test]
fn it_is_the_model_of_a_fit_in_memory() {
    let case = case(5000);
    let normalizations = [
        Normalization::MeanNorm,
        Normalization::ZScore,
        Normalization::None,
        Normalization::Nystroem(NegativeEigenvalues::Clip),
        Normalization::Covariance,
    ];
    for (at, normalization) in normalizations.into_iter().enumerate() {
        let c = if at % 2 == 0 { CChoice::Auto } else { CChoice::Value(2.0) };
        let of = || params().normalization(normalization).intercept(at != 1).c(c);
        // No samples are equal, so the same bases are selected.
        let truth = of().fit(&case.0, &case.1).unwrap();
        for room in [None, Some(1 << 30)] {
            let disk = Disk::new(room);
            let ours = in_blocks(of(), &case, &disk.resources(MEMORY));
            assert_same(&ours, &truth, &case, &format!("{normalization} {room:?}"));
        }
        // Features that fit stay in memory.
        let disk = Disk::new(Some(1 << 30));
        assert_same(&in_blocks(of(), &case, &disk.resources(1 << 26)), &truth, &case, &normalization.to_string());
        assert_eq!(disk.len(), 0);
    }
}

#[test]
fn weights_are_copies() {
    let (samples, targets) = case(3000);
    let weights: Vec<f64> = (0..3000).map(|row| [1.0, 0.0, 2.0][row % 3]).collect();
    let of = || params().basis(BasisChoice::Rows((0..40).map(|at| at * 75).collect()));
    let truth = of().fit_with(&samples, &targets, Some(&weights), &Monitor::none()).unwrap();
    for memory in [MEMORY, 1 << 26] {
        let disk = Disk::new(None);
        let resources = disk.resources(memory);
        let ours = of().fit_blocks(&samples, &targets, Some(&weights), &resources, &Monitor::none()).unwrap();
        assert_same(&ours, &truth, &(samples.clone(), targets.clone()), "weights");
    }
}

/// With an outlier in fifty, and each third sample absent.
#[test]
fn other_losses_are_those_of_memory() {
    let (samples, targets) = case(3000);
    let far = |at: usize, y: &f64| if at % 100 < 2 { y + 30.0 } else { *y };
    let targets = Targets::new(targets.values().iter().enumerate().map(|(at, y)| far(at, y)).collect(), 2).unwrap();
    let weights: Vec<f64> = (0..3000).map(|row| [1.0, 0.0, 2.0][row % 3]).collect();
    let cases = [
        (HUBER, CChoice::Auto, true, MEMORY_OF_LOSSES),
        (HUBER, CChoice::Value(2.0), false, MEMORY_OF_LOSSES),
        (Loss::SquaredEpsilonInsensitive { epsilon: Some(0.1) }, CChoice::Value(2.0), true, MEMORY_OF_LOSSES),
        (Loss::SquaredEpsilonInsensitive { epsilon: None }, CChoice::Auto, false, MEMORY_OF_LOSSES),
        (Loss::Quantile { quantile: 0.8 }, CChoice::Value(2.0), true, MEMORY_OF_QUANTILES),
        (Loss::Quantile { quantile: 0.3 }, CChoice::Value(2.0), false, MEMORY_OF_QUANTILES),
    ];
    for (loss, c, has_intercept, memory) in cases {
        let bases = BasisChoice::Rows((0..40).map(|at| at * 75).collect());
        let of = || params().basis(bases.clone()).loss(loss).c(c).intercept(has_intercept);
        let truth = of().fit_with(&samples, &targets, Some(&weights), &Monitor::none()).unwrap();
        for (room, memory) in [(None, memory), (Some(1 << 30), memory), (Some(1 << 30), 1 << 26)] {
            let what = format!("{loss:?} {c} {has_intercept} {room:?} {memory}");
            let disk = Disk::new(room);
            let resources = disk.resources(memory);
            let ours = of().fit_blocks(&samples, &targets, Some(&weights), &resources, &Monitor::none()).unwrap();
            // Not all features stay in memory, unless there is plenty.
            assert_eq!(disk.len() > 0, room.is_some() && memory < 1 << 26, "{what}");
            assert_eq!(ours.loss(), loss, "{what}");
            // A path ends at a hundred times the best C, which rounding may pass.
            let n_points = ours.loss_path().len().min(truth.loss_path().len());
            assert!(ours.loss_path().len().max(truth.loss_path().len()) <= n_points + 1, "{what}");
            let close = |found: &[f64], expected: &[f64], most: f64| {
                let size = expected.iter().fold(0.0f64, |size, x| size.max(x.abs()));
                assert_eq!(found.len(), expected.len(), "{what}");
                for (a, b) in found.iter().zip(expected) {
                    assert!((a - b).abs() <= most * size, "{what}: {a} instead of {b}");
                }
            };
            close(&[ours.c()], &[truth.c()], 1e-6);
            close(ours.epsilons(), truth.epsilons(), 1e-6);
            close(ours.weights(), truth.weights(), 1e-6);
            for output in 0..2 {
                let predicted = |model: &Model| {
                    let values = model.predict(&samples, 1).unwrap().values;
                    values.into_iter().skip(output).step_by(2).collect::<Vec<f64>>()
                };
                close(&predicted(&ours), &predicted(&truth), 1e-6);
                let losses = |model: &Model| {
                    model.loss_path()[..n_points].iter().map(|at| at.loss[output]).collect::<Vec<f64>>()
                };
                if !matches!(loss, Loss::Quantile { .. }) {
                    close(&losses(&ours), &losses(&truth), 1e-6);
                }
            }
        }
    }
}

#[test]
fn threads_and_room_change_nothing_but_time() {
    let case = case(5000);
    let fit = |loss: Loss, memory: u64, threads: usize, room: Option<u64>| {
        let disk = Disk::new(room);
        bits(&in_blocks(params().loss(loss).threads(threads), &case, &disk.resources(memory)))
    };
    for (loss, memory) in [(Loss::SquaredError, MEMORY), (HUBER, 1_500_000)] {
        let truth = fit(loss, memory, 2, None);
        assert_eq!(fit(loss, memory, 2, Some(1 << 30)), truth);
        assert_eq!(fit(loss, memory, 1, None), truth);
    }
}

#[test]
fn a_fit_by_another_loss_goes_on_to_the_same_bits() {
    let case = case(3000);
    let fit = |loss: Loss, checkpoint: &MemoryCheckpoint, monitor: &Monitor<'_>| {
        let disk = Disk::new(None);
        let resources = Resources { memory: MEMORY_OF_LOSSES, scratch: &disk, checkpoint: Some(checkpoint) };
        params().loss(loss).fit_blocks(&case.0, &case.1, None, &resources, monitor)
    };
    let checkpoint = MemoryCheckpoint::default();
    let truth = bits(&fit(HUBER, &checkpoint, &Monitor::none()).unwrap());
    for dies_at in 0..checkpoint.n_saves() {
        let checkpoint = MemoryCheckpoint::that_dies_at(dies_at);
        assert!(fit(HUBER, &checkpoint, &Monitor::none()).unwrap_err().to_string().contains("killed"));
        assert_eq!(
            bits(&fit(HUBER, &checkpoint.revived(), &Monitor::none()).unwrap()),
            truth,
            "killed at save {dies_at}"
        );
    }
    // Ended on the path, when there are passes that no checkpoint stores.
    let (checkpoint, cancel) = (MemoryCheckpoint::default(), AtomicBool::new(false));
    let sink = |progress: Progress| {
        if progress.stage == "path" && progress.done == 5 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
    assert!(matches!(fit(HUBER, &checkpoint, &monitor), Err(Error::Cancelled { .. })));
    assert!(checkpoint.n_saves() > 0);
    let refused = |loss: Loss| fit(loss, &checkpoint, &Monitor::none()).unwrap_err().to_string();
    assert!(refused(Loss::SquaredError).contains("loss = huber, now loss is squared"));
    assert!(refused(Loss::Huber { epsilon: Some(0.5) }).contains("epsilon = auto, now epsilon is 0.5"));
    assert_eq!(bits(&fit(HUBER, &checkpoint, &Monitor::none()).unwrap()), truth);
}

/// Whatever the save in which it is killed.
#[test]
fn a_killed_fit_goes_on_to_the_same_bits() {
    let case = case(5000);
    let fit = |checkpoint: &MemoryCheckpoint| {
        let disk = Disk::new(None);
        let resources = Resources { memory: MEMORY, scratch: &disk, checkpoint: Some(checkpoint) };
        params().fit_blocks(&case.0, &case.1, None, &resources, &Monitor::none())
    };
    let checkpoint = MemoryCheckpoint::default();
    let truth = bits(&fit(&checkpoint).unwrap());
    let n_saves = checkpoint.n_saves();
    assert!(n_saves >= 4, "{n_saves}");
    for dies_at in 0..n_saves {
        let checkpoint = MemoryCheckpoint::that_dies_at(dies_at);
        let error = fit(&checkpoint).unwrap_err();
        assert!(error.to_string().contains("killed"), "{error}");
        assert_eq!(bits(&fit(&checkpoint.revived()).unwrap()), truth, "killed at save {dies_at}");
    }
    // A finished fit makes no requests.
    assert_eq!((bits(&fit(&checkpoint).unwrap()), checkpoint.n_saves()), (truth, n_saves));
    let disk = Disk::new(None);
    let resources = Resources { memory: MEMORY, scratch: &disk, checkpoint: Some(&checkpoint) };
    let other = Targets::single((0..5000).map(f64::from).collect()).unwrap();
    let refused = params().fit_blocks(&case.0, &other, None, &resources, &Monitor::none()).unwrap_err().to_string();
    assert!(refused.contains("targets"), "{refused}");
}

#[test]
fn rejects_too_little_memory_and_no_bases() {
    let case = case(5000);
    let disk = Disk::new(None);
    let message = |params: Params, memory: u64| {
        let fit = params.fit_blocks(&case.0, &case.1, None, &disk.resources(memory), &Monitor::none());
        fit.unwrap_err().to_string()
    };
    // The solver of another loss stores more of each sample.
    assert!(message(params().loss(HUBER), MEMORY).contains("--memory"));
    assert!(message(params(), 1000).contains("--memory"));
    assert!(message(params().n_basis(0), MEMORY).contains("n_basis"));
}
