//! The same model wherever the rows are: in memory, in blocks that are cached or computed again, on workers.

use std::sync::Arc;

use super::{Model, Problem, assert_close, fit, hold, least_memory, rows};
use crate::harness::method::Method;
use crate::harness::places::{Disk, PLENTY, Place};
use crate::harness::training::{Answers, Task, Training};
use crate::harness::workers::requests;
use widemargin::data::{ClassWeight, Targets};
use widemargin::model::{AnyModel, CChoice, Loss};
use widemargin::monitor::Monitor;
use widemargin::solve::Status;

/// Every third weight 0 or another one.
fn weighted(problem: &Problem, n: usize, seed: u64, other: f64) -> Training {
    problem.training(n, seed).weighted(|row| [1.0, 0.0, other][row % 3])
}

fn assert_same(found: &Model, truth: &Model, problem: &Problem, training: &Training, what: &str) {
    let what = format!("{}, {what}", problem.name);
    assert_eq!((found.report().status, truth.report().status), (Status::Converged, Status::Converged), "{what}");
    assert_eq!(found.bases(), truth.bases(), "{what}");
    // Rounding may take another C of a path.
    assert_close(&found.c(), &truth.c(), 10.0 * problem.tolerance, &format!("{what}, C"));
    let (ours, expected) = (found.path(), truth.path());
    let n = ours.len().min(expected.len());
    // Workers do not choose C of a basis expansion SVM: it is the one of the fit in memory.
    let is_given = what.contains("workers") && matches!(problem.method, Method::BasisExpansion(_));
    let n_most = if is_given { 0 } else { ours.len().max(expected.len()) };
    assert!(n_most <= n + 3, "{what}: {} and {} losses", ours.len(), expected.len());
    let last = |losses: &[f64]| losses[losses.len() - n..].to_vec();
    // The folds of rounded losses are others where equal samples are merged, and those without an intercept too.
    if n > 0 && ![" hinge ", "Quantile", "Some(0.2) } intercept=false"].iter().any(|loss| problem.name.contains(loss)) {
        assert_close(&last(&ours), &last(&expected), 10.0 * problem.tolerance, &format!("{what}, losses"));
    }
    let (values, expected) = (found.values(&training.samples), truth.values(&training.samples));
    assert_close(&values, &expected, problem.tolerance, &what);
    if let (AnyModel::Classifier(found), AnyModel::Classifier(truth)) = (&found.0, &truth.0) {
        assert_eq!((found.classes(), found.is_multilabel()), (truth.classes(), truth.is_multilabel()), "{what}");
    }
}

#[test]
fn in_blocks_as_in_memory() {
    hold(
        |problem| problem.in_blocks,
        |mut problem| {
            problem.method = problem.method.first_bases();
            if let Task::Multilabel(_) = problem.task {
                // The first ones are those of the sets of labels that are there.
                problem.method = problem.method.bases_by_row();
            }
            let training = weighted(&problem, problem.n_blocks, 3, 2.0);
            let truth = fit(&problem, &training);
            let least = least_memory(&problem, &training);
            for (memory, room) in [(least, None), (2 * least, Some(1 << 30)), (PLENTY, Some(0))] {
                let disk = Disk::new(room);
                let place = Place::Blocks(disk.resources(memory));
                let found = problem.method.fit(&training, place, &Monitor::none()).unwrap();
                assert_same(&found, &truth, &problem, &training, &format!("{memory} bytes of {least}, room {room:?}"));
                assert!(disk.len() == 0 || memory < PLENTY, "{}", problem.name);
                let estimates = (found.report().estimate.as_ref(), truth.report().estimate.as_ref());
                let (Some(ours), Some(expected)) = estimates else { continue };
                let spread = 3.0 * ours.standard_error.hypot(expected.standard_error);
                assert!((ours.error - expected.error).abs() <= spread, "{}: {ours:?} {expected:?}", problem.name);
            }
        },
    );
}

#[test]
fn on_workers_as_in_memory() {
    hold(
        |problem| problem.on_workers,
        |mut problem| {
            // Weights of classes become those of samples before they reach the workers.
            problem.method = problem.method.first_bases().class_weight(ClassWeight::Uniform);
            for n in [60, 300] {
                // Where equal samples are not merged, leave-one-out leaves out all of a weight.
                let training = weighted(&problem, n, 5, 0.5);
                let truth = fit(&problem, &training);
                for ends in [&[n][..], &[1, 21, n / 2, n]] {
                    let method = problem.method.clone().threads(1);
                    let found = method.fit(&training, Place::Workers(ends), &Monitor::none()).unwrap();
                    assert_same(&found, &truth, &problem, &training, &format!("workers {ends:?}"));
                }
            }
        },
    );
}

/// One for the mean, one that sets the loss, one for the Hessian of all rows and two where the steps begin; two a step,
/// which evaluate it and move there; and one for the leverages. Line searches are further ones, which read no features.
#[test]
fn a_step_of_another_loss_takes_two_queries() {
    let problem = rows(|problem| problem.name.contains("Huber { epsilon: None")).remove(0);
    let training = problem.training(80, 3);
    let one = Targets::single(training.targets().output(1)).unwrap();
    let training = Training { answers: Answers::Targets(one), ..training };
    let Method::Regression(make) = problem.method else { unreachable!() };
    let loss = Loss::Huber { epsilon: Some(0.1) };
    let method = Method::Regression(Arc::new(move || make().loss(loss).c(3.0).threads(1)));
    let model = method.fit(&training, Place::Workers(&[30, 80]), &Monitor::none()).unwrap();
    let steps = model.report().max_iterations() as usize;
    assert!(steps > 0);
    assert_eq!(requests(None) - requests(Some("line_search_eval")), 5 + 2 * steps + 1);
}

/// At a large C few rows are inside the margin, wherever they are, and make the Hessian.
#[test]
fn few_active_rows_are_fetched_from_workers() {
    let problem = rows(|problem| problem.on_workers).remove(0);
    let training = problem.training(300, 5);
    let method =
        problem.method.n_basis(150).c(CChoice::Value(1e4)).first_bases().class_weight(ClassWeight::Uniform).threads(1);
    let truth = method.fit(&training, Place::Memory, &Monitor::none()).unwrap();
    let found = method.fit(&training, Place::Workers(&[100, 101, 300]), &Monitor::none()).unwrap();
    assert!(requests(Some("active_rows")) > 0);
    let (a, b) = (found.report().objective, truth.report().objective);
    assert!((a - b).abs() <= 1e-3 * b, "{a} {b}");
}

#[test]
fn threads_and_room_change_no_bit_in_blocks() {
    hold(
        |problem| problem.in_blocks,
        |problem| {
            let training = weighted(&problem, problem.n_blocks, 3, 2.0);
            // Each thread needs some.
            let three = Problem { method: problem.method.clone().threads(3), ..problem.clone() };
            let least = least_memory(&three, &training);
            let bits = |threads: usize, memory: u64, room: Option<u64>| {
                let disk = Disk::new(room);
                let method = problem.method.clone().threads(threads);
                let found = method.fit(&training, Place::Blocks(disk.resources(memory)), &Monitor::none()).unwrap();
                found.bits(&training.samples)
            };
            let one = bits(1, least, None);
            assert_eq!(bits(2, least, Some(1 << 30)), one, "{}", problem.name);
            assert_eq!(bits(3, least, None), one, "{}", problem.name);
            // Sums over rows of a thin plate model do not depend on how many blocks stay in memory either.
            if let Method::ThinPlate(..) | Method::Spline(_) = problem.method {
                assert_eq!(bits(1, least + 400_000, None), one, "{}", problem.name);
                assert_eq!(bits(3, PLENTY, Some(0)), one, "{}", problem.name);
            }
        },
    );
}
