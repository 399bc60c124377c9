//! A basis expansion SVM on samples larger than memory is the model of a fit in memory; a killed fit is resumed; and
//! errors are clear.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::resources_common::{Disk, MemoryCheckpoint};
use widemargin::Error;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, ClassWeight, DenseMatrix, Labels, Resources, Vectors};
use widemargin::expansion::{NegativeEigenvalues, Normalization};
use widemargin::model::{BasisExpansionParams, BasisExpansionSvc, CChoice};
use widemargin::monitor::{Monitor, Progress};
use widemargin::problem::{Intercept, Loss};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::Status;

const MEMORY: u64 = 200_000;

/// Clouds of points that overlap, `n` in all, the classes one after the other.
fn clouds(n: usize, n_classes: usize) -> (AnySamples, Labels) {
    let mut state = 9u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let classes: Vec<i64> = (0..n).map(|i| (i * n_classes / n) as i64).collect();
    let place = |class: i64, j: usize| ((class * 7 + j as i64 * 3) % 5) as f32 * 0.4;
    let mut values = Vec::new();
    for &class in &classes {
        (0..4).for_each(|j| values.push(place(class, j) + uniform() + uniform() + uniform()));
    }
    (AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: 4 })), Labels::new(classes))
}

fn params() -> BasisExpansionParams<AnySimilarity> {
    BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=0.5"]).unwrap())
        .basis(BasisChoice::Index)
        .n_basis(24)
        .c(2.0)
}

type Params = BasisExpansionParams<AnySimilarity>;
type Model = BasisExpansionSvc<AnySimilarity>;

fn in_blocks(params: Params, samples: &AnySamples, labels: &Labels, disk: &Disk) -> Model {
    params.fit_blocks(samples, labels, None, &disk.resources(MEMORY), &Monitor::none()).unwrap()
}

/// Both have reached the tolerance, so the objectives are as near as that; and so are decision values.
fn assert_same(ours: &Model, truth: &Model, samples: &AnySamples, tol: f64, what: &str) {
    assert_eq!((ours.report().status, truth.report().status), (Status::Converged, Status::Converged), "{what}");
    let (a, b) = (ours.report().objective, truth.report().objective);
    assert!((a - b).abs() <= 2.0 * tol * b, "{what}: {a} {b}");
    let (ours, truth) = (ours.decision_function(samples, 1).unwrap(), truth.decision_function(samples, 1).unwrap());
    let largest = truth.values().iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
    let worst = ours.values().iter().zip(truth.values()).fold(0.0f32, |worst, (a, b)| worst.max((a - b).abs()));
    // ½‖w − w*‖² is at most the gap: an error of √tol of the norm, at the worst.
    assert!(f64::from(worst) <= 10.0 * tol.sqrt() * f64::from(largest), "{what}: {worst} of {largest}");
}

#[test]
fn c_is_selected_as_in_memory() {
    for n in [1500, 6000] {
        let (samples, labels) = clouds(n, 3);
        let disk = Disk::new(None);
        let resources = disk.resources(4_000_000);
        let truth = params().c(CChoice::Auto).fit(&samples, &labels).unwrap();
        let ours = params().c(CChoice::Auto).fit_blocks(&samples, &labels, None, &resources, &Monitor::none()).unwrap();
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
fn it_is_the_model_of_a_fit_in_memory() {
    let (samples, labels) = clouds(6000, 3);
    let normalizations = [
        Normalization::MeanNorm,
        Normalization::ZScore,
        Normalization::None,
        Normalization::Nystroem(NegativeEigenvalues::Clip),
        Normalization::Covariance,
    ];
    for (at, normalization) in normalizations.into_iter().enumerate() {
        let intercept = [Intercept::Free, Intercept::Penalized, Intercept::None][at % 3];
        let loss = [Loss::SquaredHinge, Loss::Logistic, Loss::SquaredError][at % 3];
        let of = || params().normalization(normalization).intercept(intercept).loss(loss).tol(1e-5);
        // There are no copies here, so the same bases are selected.
        let truth = of().fit(&samples, &labels).unwrap();
        let mut files = Vec::new();
        for room in [None, Some(1 << 30)] {
            let disk = Disk::new(room);
            let ours = in_blocks(of(), &samples, &labels, &disk);
            assert_same(&ours, &truth, &samples, 1e-5, &format!("{normalization} {room:?}"));
            let note = &ours.report().notes[0];
            assert!(note.contains(" passes of the solver"), "{note}");
            files.push(ours.to_bytes().unwrap());
        }
        // Features that are computed anew and those that are cached are the same.
        assert!(files[0] == files[1], "{normalization}");
    }
}

#[test]
fn weights_and_own_bases_are_those_of_memory() {
    let (samples, labels) = clouds(6000, 3);
    let fixed = ["rbf:gamma=0.1,weight=2", "laplacian:gamma=0.2,weight=0.5,bases=9"];
    for normalization in
        [Normalization::MeanNorm, Normalization::Covariance, Normalization::Nystroem(NegativeEigenvalues::Clip)]
    {
        // The bases of a part depend on their order, which is fixed here.
        let bases = BasisChoice::Rows((0..30).map(|i| i * 167).collect());
        let base = || params().basis(bases.clone()).normalization(normalization).tol(1e-5);
        let of = || base().with_similarity(AnySimilarity::new(&fixed).unwrap());
        let truth = of().fit(&samples, &labels).unwrap();
        let disk = Disk::new(Some(1 << 30));
        assert_same(&in_blocks(of(), &samples, &labels, &disk), &truth, &samples, 1e-5, &normalization.to_string());
        let learned = ["rbf:gamma=0.1,weight=auto", "laplacian:gamma=0.2,weight=auto,bases=9"];
        let of = || base().with_similarity(AnySimilarity::new(&learned).unwrap());
        let ours = in_blocks(of(), &samples, &labels, &Disk::new(Some(1 << 30)));
        // The same as with fixed weights.
        let found = ours.expansion().similarity().specs();
        let again = of().with_similarity(AnySimilarity::new(&found).unwrap());
        assert_same(&ours, &again.fit(&samples, &labels).unwrap(), &samples, 1e-2, &found.join(" "));
    }
}

#[test]
fn features_that_fit_are_held_in_memory() {
    let (samples, labels) = clouds(3000, 2);
    let disk = Disk::new(Some(1 << 30));
    let truth = params().basis(BasisChoice::Random).fit(&samples, &labels).unwrap();
    let ours = params().basis(BasisChoice::Random);
    let ours = ours.fit_blocks(&samples, &labels, None, &disk.resources(1 << 24), &Monitor::none()).unwrap();
    assert_same(&ours, &truth, &samples, 1e-3, "held");
    assert_eq!(disk.len(), 0);
    assert!(ours.report().notes[0].starts_with("all features were in memory"));
}

#[test]
fn threads_room_and_pieces_change_nothing_but_time() {
    let (samples, labels) = clouds(5000, 4);
    let (small, large) = (Disk::new(None), Disk::new(Some(1 << 30)));
    let one = in_blocks(params().threads(1), &samples, &labels, &small);
    let two = in_blocks(params().threads(2), &samples, &labels, &large);
    assert_eq!((one.weights(), one.intercepts()), (two.weights(), two.intercepts()));
}

#[test]
fn weights_count_as_copies() {
    let (samples, labels) = clouds(4000, 2);
    let weights: Vec<f64> = (0..4000).map(|i| [0.0, 1.0, 2.0][i % 3]).collect();
    let of = || params().tol(1e-5).class_weight(ClassWeight::Balanced);
    let disk = Disk::new(None);
    let ours = of().fit_blocks(&samples, &labels, Some(&weights), &disk.resources(MEMORY), &Monitor::none()).unwrap();
    let truth = of().fit_with(&samples, &labels, Some(&weights), &Monitor::none()).unwrap();
    assert_same(&ours, &truth, &samples, 1e-5, "weights");
}

/// Whatever the save in which it is killed.
#[test]
fn a_killed_fit_goes_on_to_the_same_bits() {
    let (samples, labels) = clouds(6000, 3);
    let fit = |checkpoint: &MemoryCheckpoint| {
        let disk = Disk::new(Some(1 << 30));
        let resources = Resources { checkpoint: Some(checkpoint), ..disk.resources(MEMORY) };
        params().tol(1e-6).fit_blocks(&samples, &labels, None, &resources, &Monitor::none())
    };
    let checkpoint = MemoryCheckpoint::default();
    let truth = fit(&checkpoint).unwrap();
    let n_saves = checkpoint.n_saves();
    assert!(n_saves >= 5, "{n_saves}");
    for dies_at in 0..n_saves {
        let checkpoint = MemoryCheckpoint::that_dies_at(dies_at);
        let error = fit(&checkpoint).unwrap_err();
        assert!(error.to_string().contains("killed"), "{error}");
        let checkpoint = checkpoint.revived();
        let again = fit(&checkpoint).unwrap();
        assert_eq!((again.weights(), again.intercepts()), (truth.weights(), truth.intercepts()), "{dies_at}");
        assert!(checkpoint.n_saves() < n_saves.max(dies_at + 1) + 1);
    }
    // And from its end.
    let again = fit(&checkpoint).unwrap();
    assert_eq!((again.weights(), checkpoint.n_saves()), (truth.weights(), n_saves));
}

#[test]
fn rejects_checkpoints_of_other_fits() {
    let (samples, labels) = clouds(3000, 2);
    let (disk, checkpoint) = (Disk::new(None), MemoryCheckpoint::default());
    let resources = Resources { checkpoint: Some(&checkpoint), ..disk.resources(100_000) };
    let fit = |params: Params, samples: &AnySamples, labels: &Labels| {
        params.fit_blocks(samples, labels, None, &resources, &Monitor::none())
    };
    fit(params(), &samples, &labels).unwrap();
    let said = |params: Params, samples: &AnySamples, labels: &Labels| {
        let error = fit(params, samples, labels).unwrap_err();
        assert!(matches!(error, Error::Checkpoint { .. }), "{error}");
        error.to_string()
    };
    let message = said(params().c(3.0), &samples, &labels);
    assert!(message.contains("it was begun with C = 2, now C is 3"), "{message}");
    let (more, more_labels) = clouds(3001, 2);
    let message = said(params(), &more, &more_labels);
    assert!(message.contains("number of samples 3000, now 3001"), "{message}");
    let (other, _) = clouds(3000, 3);
    let message = said(params(), &other, &labels);
    assert!(message.contains("other data: the samples differ"), "{message}");
    let turned = Labels::new((0..3000).map(|i| i64::from(i < 1500)));
    let message = said(params(), &samples, &turned);
    assert!(message.contains("other data: the labels differ"), "{message}");
    checkpoint.saved.lock().unwrap().insert("fit.json".into(), b"{".to_vec());
    let message = said(params(), &samples, &labels);
    assert!(message.contains("fit.json is damaged"), "{message}");
}

#[test]
fn rejects_other_losses_and_too_little_memory() {
    let (samples, labels) = clouds(3000, 2);
    let fit = |params: Params, samples: &AnySamples, disk: &Disk, memory| {
        params.fit_blocks(samples, &labels, None, &disk.resources(memory), &Monitor::none()).unwrap_err().to_string()
    };
    let disk = Disk::new(None);
    let message = fit(params().loss(Loss::Hinge), &samples, &disk, MEMORY);
    assert!(message.contains("loss = hinge") && message.contains("squared-hinge"), "{message}");
    let message = fit(params(), &samples, &disk, 10_000);
    assert!(
        message.contains("to train on 24 features of 3000 samples in blocks") && message.contains("--memory"),
        "{message}"
    );
    let AnySamples::Vectors(Vectors::Dense(mut rows)) = samples.clone() else { panic!("dense") };
    rows.values[4 * 2500 + 1] = f32::NAN;
    let message = fit(params(), &AnySamples::Vectors(Vectors::Dense(rows)), &disk, 100_000);
    assert!(message.contains("2500"), "{message}");
    // It says it has room, and has not: at the first feature, or with the scores.
    for holds in [1000, 3000 * 24 * 4 + 1000] {
        let message = fit(params(), &samples, &Disk::that_holds(holds), 70_000);
        assert!(message.contains("cannot write"), "{message}");
    }
}

#[test]
fn it_can_be_cancelled_in_every_stage() {
    let (samples, labels) = clouds(6000, 3);
    for stage in ["similarity", "normalize", "pass"] {
        let cancel = AtomicBool::new(false);
        let sink = |progress: Progress| {
            if progress.stage == stage {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
        let disk = Disk::new(None);
        let error = params().fit_blocks(&samples, &labels, None, &disk.resources(MEMORY), &monitor).unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{stage}: {error}");
    }
}
