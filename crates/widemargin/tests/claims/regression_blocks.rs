//! Regression on samples that memory does not hold is the model that memory gives, with its leave-one-out errors; it goes on
//! from where it was killed; and it says what is wrong.

use crate::resources_common::{Disk, MemoryCheckpoint};
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, DenseMatrix, Resources, Targets, Vectors};
use widemargin::expansion::{Definite, Normalization};
use widemargin::model::{BasisExpansionRegressor, BasisExpansionRegressorParams, CChoice};
use widemargin::monitor::Monitor;
use widemargin::problem::RegressionLoss;
use widemargin::similarity::AnySimilarity;

/// Less than the features of 5,000 samples take.
const MEMORY: u64 = 400_000;

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
    let told = |model: &Model| model.predict(samples, 1).unwrap().values;
    told(ours).iter().zip(told(truth)).for_each(|(a, b)| close(*a, b, 100.0));
}

#[test]
fn it_is_the_model_that_memory_gives() {
    let case = case(5000);
    let normalizations = [
        Normalization::MeanNorm,
        Normalization::ZScore,
        Normalization::None,
        Normalization::Nystrom(Definite::Clip),
        Normalization::Covariance,
    ];
    for (at, normalization) in normalizations.into_iter().enumerate() {
        let c = if at % 2 == 0 { CChoice::Auto } else { CChoice::Value(2.0) };
        let of = || params().normalization(normalization).intercept(at != 1).c(c);
        // No samples are equal, so the same bases are chosen.
        let truth = of().fit(&case.0, &case.1).unwrap();
        for room in [None, Some(1 << 30)] {
            let disk = Disk::new(room);
            let ours = in_blocks(of(), &case, &disk.resources(MEMORY));
            assert_same(&ours, &truth, &case, &format!("{normalization} {room:?}"));
        }
        // Where all features fit they are held.
        let disk = Disk::new(Some(1 << 30));
        assert_same(&in_blocks(of(), &case, &disk.resources(1 << 26)), &truth, &case, &normalization.to_string());
        assert_eq!(disk.len(), 0);
    }
}

#[test]
fn weights_are_copies() {
    let (samples, targets) = case(3000);
    let weights: Vec<f64> = (0..3000).map(|row| [1.0, 0.0, 2.0][row % 3]).collect();
    let of = || params().basis(BasisChoice::Given((0..40).map(|at| at * 75).collect()));
    let truth = of().fit_with(&samples, &targets, Some(&weights), &Monitor::none()).unwrap();
    for memory in [MEMORY, 1 << 26] {
        let disk = Disk::new(None);
        let resources = disk.resources(memory);
        let ours = of().fit_blocks(&samples, &targets, Some(&weights), &resources, &Monitor::none()).unwrap();
        assert_same(&ours, &truth, &(samples.clone(), targets.clone()), "weights");
    }
}

#[test]
fn threads_and_room_change_nothing_but_time() {
    let case = case(5000);
    let fit = |threads: usize, room: Option<u64>| {
        let disk = Disk::new(room);
        bits(&in_blocks(params().threads(threads), &case, &disk.resources(MEMORY)))
    };
    let truth = fit(2, None);
    assert_eq!(fit(2, Some(1 << 30)), truth);
    assert_eq!(fit(1, None), truth);
}

/// Whatever the save in which it is killed.
#[test]
fn a_killed_fit_goes_on_to_the_same_bits() {
    let case = case(5000);
    let fit = |kept: &MemoryCheckpoint| {
        let disk = Disk::new(None);
        let resources = Resources { memory: MEMORY, scratch: &disk, checkpoint: Some(kept) };
        params().fit_blocks(&case.0, &case.1, None, &resources, &Monitor::none())
    };
    let kept = MemoryCheckpoint::default();
    let truth = bits(&fit(&kept).unwrap());
    let n_saves = kept.n_saves();
    assert!(n_saves >= 4, "{n_saves}");
    for dies_at in 0..n_saves {
        let kept = MemoryCheckpoint::that_dies_at(dies_at);
        let error = fit(&kept).unwrap_err();
        assert!(error.to_string().contains("killed"), "{error}");
        assert_eq!(bits(&fit(&kept.revived()).unwrap()), truth, "killed at save {dies_at}");
    }
    // From its end nothing is asked anew.
    assert_eq!((bits(&fit(&kept).unwrap()), kept.n_saves()), (truth, n_saves));
    let disk = Disk::new(None);
    let resources = Resources { memory: MEMORY, scratch: &disk, checkpoint: Some(&kept) };
    let other = Targets::single((0..5000).map(f64::from).collect()).unwrap();
    let refused = params().fit_blocks(&case.0, &other, None, &resources, &Monitor::none()).unwrap_err().to_string();
    assert!(refused.contains("targets"), "{refused}");
}

#[test]
fn what_cannot_be_is_told() {
    let case = case(5000);
    let disk = Disk::new(None);
    let told = |params: Params, memory: u64| {
        let fit = params.fit_blocks(&case.0, &case.1, None, &disk.resources(memory), &Monitor::none());
        fit.unwrap_err().to_string()
    };
    let huber = RegressionLoss::new("huber", None, None).unwrap();
    assert!(told(params().loss(huber), MEMORY).contains("loss = huber"));
    assert!(told(params(), 1000).contains("--memory"));
    assert!(told(params().n_basis(0), MEMORY).contains("n_basis"));
}
