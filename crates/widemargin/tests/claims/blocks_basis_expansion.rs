//! What is particular to a basis expansion in blocks: on which samples C and the weights of similarities are selected,
//! what stays in memory, and what needs all features there.

use crate::common::vectors;
use crate::harness::places::{Disk, PLENTY};
use crate::harness::training::{Kind, Task, Training};
use widemargin::basis::BasisChoice;
use widemargin::data::AnySamples;
use widemargin::expansion::{NegativeEigenvalues, Normalization};
use widemargin::model::{BasisExpansionParams, BasisExpansionSvc, CChoice};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::AnySimilarity;

type Params = BasisExpansionParams<AnySimilarity>;

fn params() -> Params {
    let similarity = AnySimilarity::new(&["rbf:gamma=0.5"]).unwrap();
    BasisExpansionParams::new(similarity).basis(BasisChoice::Index).n_basis(24).c(2.0)
}

fn training(n: usize) -> Training {
    Training::new(Kind::Vectors, Task::Classes(3), n, 9)
}

fn in_blocks(params: Params, training: &Training, memory: u64) -> BasisExpansionSvc<AnySimilarity> {
    let disk = Disk::new(Some(1 << 30));
    let resources = disk.resources(memory);
    params.fit_blocks(&training.samples, training.labels(), None, &resources, &Monitor::none()).unwrap()
}

#[test]
fn c_is_selected_as_in_memory() {
    for n in [1500, 6000] {
        let training = training(n);
        let truth = params().c(CChoice::Auto).fit(&training.samples, training.labels()).unwrap();
        let ours = in_blocks(params().c(CChoice::Auto), &training, 4_000_000);
        // The path has steps of √10 and, next to the best, of their root; other rows may be drawn.
        let ratio = (ours.c() / truth.c()).ln().abs();
        assert!(ratio <= 1.2 * 10f64.sqrt().ln(), "{n}: {} {}", ours.c(), truth.c());
        assert_eq!(ours.report().notes.iter().any(|note| note.contains("C was selected on")), n > 4000);
        let (found, expected) = (ours.report().estimate.clone().unwrap(), truth.report().estimate.clone().unwrap());
        let spread = found.standard_error.hypot(expected.standard_error);
        assert!((found.error - expected.error).abs() < 3.0 * spread, "{found:?} {expected:?}");
    }
}

#[test]
fn learned_weights_of_similarities_give_the_model_of_fixed_ones() {
    let training = training(6000);
    let values = |model: &BasisExpansionSvc<AnySimilarity>| {
        model.decision_function(&training.samples, 1).unwrap().values().to_vec()
    };
    for normalization in
        [Normalization::MeanNorm, Normalization::Covariance, Normalization::Nystroem(NegativeEigenvalues::Clip)]
    {
        // The bases of a part depend on their order, which is fixed here.
        let bases = BasisChoice::Rows((0..30).map(|i| i * 167).collect());
        let base = || params().basis(bases.clone()).normalization(normalization).tol(1e-5);
        let learned = ["rbf:gamma=0.1,weight=auto", "laplacian:gamma=0.2,weight=auto,bases=9"];
        let ours = in_blocks(base().with_similarity(AnySimilarity::new(&learned).unwrap()), &training, 200_000);
        let found = ours.expansion().similarity().specs();
        let again = base().with_similarity(AnySimilarity::new(&found).unwrap());
        let (ours, again) = (values(&ours), values(&again.fit(&training.samples, training.labels()).unwrap()));
        let size = again.iter().fold(0.0f32, |size, x| size.max(x.abs()));
        let off = ours.iter().zip(&again).fold(0.0f32, |off, (a, b)| off.max((a - b).abs()));
        assert!(off <= 0.03 * size, "{normalization} {found:?}: {off} of {size}");
    }
}

#[test]
fn features_that_fit_are_held_in_memory() {
    let (training, disk) = (training(3000), Disk::new(Some(1 << 30)));
    let fit = |memory: u64| {
        let resources = disk.resources(memory);
        params().fit_blocks(&training.samples, training.labels(), None, &resources, &Monitor::none()).unwrap()
    };
    let note = fit(1 << 24).report().notes[0].clone();
    assert!(disk.len() == 0 && note.starts_with("all features were in memory"), "{note}");
    let note = fit(150_000).report().notes[0].clone();
    assert!(note.contains(" passes of the solver"), "{note}");
}

#[test]
fn rejects_the_hinge_and_names_what_takes_memory() {
    let training = training(3000);
    let fit = |params: Params, samples: &AnySamples, memory: u64| {
        let disk = Disk::new(None);
        let fitted = params.fit_blocks(samples, training.labels(), None, &disk.resources(memory), &Monitor::none());
        fitted.unwrap_err().to_string()
    };
    let message = fit(params().loss(Loss::Hinge), &training.samples, PLENTY);
    assert!(message.contains("loss = hinge") && message.contains("squared-hinge"), "{message}");
    let message = fit(params(), &training.samples, 10_000);
    assert!(message.contains("to train on 24 features of 3000 samples in blocks"), "{message}");
    assert!(message.contains("--memory"), "{message}");
    // The message of a value far down is as that of one in memory.
    let mut values = vec![0.5; 3000 * 4];
    values[4 * 2500 + 1] = f32::NAN;
    assert!(fit(params(), &vectors(values, 4), 100_000).contains("2500"));
}
