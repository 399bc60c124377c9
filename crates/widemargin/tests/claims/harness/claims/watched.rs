//! Every long fit and prediction reports its progress, stops soon after it is cancelled, and ends with a model where a
//! time limit passes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::{Model, assert_close, hold, hold_each, least_memory, one_of_each};
use crate::harness::method::Method;
use crate::harness::places::{Disk, Place};
use crate::harness::training::{Task, Training};
use widemargin::data::SamplesView;
use widemargin::model::ThinPlateSvc;
use widemargin::monitor::{Monitor, Progress};
use widemargin::solve::Status;
use widemargin::{Error, Result};

/// Cancels a fit at the first report of each of its stages.
fn check_stages(name: &str, fit: impl Fn(&Monitor<'_>) -> Result<Model>) -> usize {
    let stages: Mutex<BTreeSet<&'static str>> = Mutex::default();
    let sink = |progress: Progress| {
        stages.lock().unwrap().insert(progress.stage);
    };
    fit(&Monitor::none().with_progress(&sink)).unwrap();
    let stages = stages.into_inner().unwrap();
    for stage in stages.iter().chain([&""]) {
        let cancel = AtomicBool::new(stage.is_empty());
        let sink = |progress: Progress| {
            cancel.fetch_or(progress.stage == *stage, Ordering::Relaxed);
        };
        let found = fit(&Monitor::none().with_progress(&sink).with_cancel(&cancel));
        assert!(matches!(found, Err(Error::Cancelled { .. })), "{name}, in {stage:?}: {found:?}");
    }
    stages.len()
}

#[test]
fn a_fit_can_be_cancelled_in_every_stage() {
    hold(
        |_| true,
        |problem| {
            let training = problem.training(300, 1);
            let method = problem.method.clone().threads(1);
            check_stages(&problem.name, |monitor| method.fit(&training, Place::Memory, monitor));
            if problem.in_blocks {
                let training = problem.training(problem.n_blocks, 1);
                let memory = least_memory(&problem, &training);
                let n_stages = check_stages(&format!("{} in blocks", problem.name), |monitor| {
                    let disk = Disk::new(None);
                    method.fit(&training, Place::Blocks(disk.resources(memory)), monitor)
                });
                assert!(n_stages > 1, "{}", problem.name);
            }
        },
    );
}

#[test]
fn a_fit_without_time_ends_with_a_model_that_says_so() {
    hold(
        |_| true,
        |problem| {
            let training = problem.training(120, 1);
            let monitor = Monitor::none().with_time_limit(Duration::ZERO);
            let found = problem.method.clone().threads(1).fit(&training, Place::Memory, &monitor);
            let model = match found {
                Ok(model) => model,
                Err(error) => panic!("{}: {error}", problem.name),
            };
            assert!(model.values(&training.samples).iter().all(|value| value.is_finite()), "{}", problem.name);
            let report = model.report();
            let is_warned = report.warnings.iter().any(|text| text.contains("time limit"));
            assert!(is_warned || report.status == Status::Converged, "{}: {report:?}", problem.name);
            assert_eq!(report.status == Status::TimeLimit, is_warned, "{}: {report:?}", problem.name);
        },
    );
}

/// Time passes in the progress function here, so that no test depends on the speed of the machine: the first stage on
/// all samples takes longer than the limit, and reports no progress on fewer.
#[test]
fn a_time_limit_leaves_a_model_of_as_many_samples_as_it_allows() {
    const N: usize = 3000;
    std::thread::scope(|scope| {
        for problem in one_of_each() {
            scope.spawn(move || {
                let training: Training = problem.training(N, 1);
                let end = Instant::now() + Duration::from_secs(2);
                let slow = |_: Progress| std::thread::sleep(end.saturating_duration_since(Instant::now()));
                let monitor = Monitor::none().with_progress(&slow).with_time_limit(Duration::from_secs(1));
                let model = problem.method.fit(&training, Place::Memory, &monitor).unwrap();
                let report = model.report();
                assert_eq!(report.status, Status::TimeLimit, "{}", problem.name);
                let warning = report.warnings.last().unwrap();
                assert!(warning.starts_with("the time limit passed: the model was trained on "), "{warning}");
                assert!(
                    warning.contains(&format!(" of {N} samples")) && !warning.contains(&format!(" {N} of ")),
                    "{warning}"
                );
                // Rows of bases are those of all samples.
                assert!(model.bases().is_empty() || model.bases().iter().any(|&row| row > N / 2), "{}", problem.name);
                assert!(model.values(&training.samples).iter().all(|value| value.is_finite()));
                // Leave-one-out values and scores are of all rows.
                let of_one_class = if problem.task == Task::OneClass { model.path() } else { Vec::new() };
                assert!(of_one_class.is_empty(), "{}", problem.name);
                assert!(model.own::<ThinPlateSvc>().is_none_or(|model| model.loo_values().is_empty()));
            });
        }
    });
}

#[test]
fn progress_is_reported_from_the_start() {
    let thin_plate = one_of_each().into_iter().find(|problem| matches!(problem.method, Method::ThinPlate(..))).unwrap();
    let (started, first) = (Instant::now(), OnceLock::new());
    let hear = |_: Progress| _ = first.set(started.elapsed());
    let monitor = Monitor::none().with_progress(&hear);
    thin_plate.method.clone().threads(1).fit(&thin_plate.training(1500, 1), Place::Memory, &monitor).unwrap();
    let (first, all) = (*first.get().unwrap(), started.elapsed());
    assert!(first < all / 4, "{first:?} of {all:?}");
}

#[test]
fn a_limit_that_allows_all_samples_changes_nothing() {
    hold_each(one_of_each(), |problem| {
        let training = problem.training(300, 1);
        let monitor = Monitor::none().with_time_limit(Duration::from_secs(3600));
        let fit = |monitor: &Monitor<'_>| problem.method.fit(&training, Place::Memory, monitor).unwrap();
        let (free, limited) = (fit(&Monitor::none()), fit(&monitor));
        assert_eq!(free.report().warnings, limited.report().warnings, "{}", problem.name);
        match problem.method {
            // The path of C begins at another end.
            Method::ThinPlate(..) => {
                assert_close(&limited.values(&training.samples), &free.values(&training.samples), 1e-6, &problem.name)
            }
            _ => assert!(free.to_bytes() == limited.to_bytes(), "{}", problem.name),
        }
    });
}

/// It tells all samples in the end, hears no time limit, and when it is cancelled at its first word it does not go
/// through all.
#[test]
fn a_prediction_is_watched() {
    const N: usize = 3000;
    hold(
        |_| true,
        |problem| {
            let (model, many) = (super::fit(&problem, &problem.training(60, 1)), problem.training(N, 2).samples);
            let view = SamplesView::Other(&many);
            let reports: Mutex<Vec<Progress>> = Mutex::default();
            let sink = |progress| reports.lock().unwrap().push(progress);
            let monitor = Monitor::none().with_progress(&sink).with_time_limit(Duration::ZERO);
            assert_eq!(model.try_values(&view, 2, &monitor).unwrap(), model.values(&many), "{}", problem.name);
            let all = std::mem::take(&mut *reports.lock().unwrap());
            assert!(
                all.iter().any(|at| (at.stage, at.done, at.total) == ("predict", 3000, 3000)),
                "{}: {all:?}",
                problem.name
            );
            let cancel = AtomicBool::new(false);
            let sink = |progress| {
                cancel.store(true, Ordering::Relaxed);
                reports.lock().unwrap().push(progress);
            };
            let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
            assert!(matches!(model.try_values(&view, 1, &monitor), Err(Error::Cancelled { .. })), "{}", problem.name);
            assert_eq!(reports.into_inner().unwrap().len(), 1, "{}", problem.name);
        },
    );
}
