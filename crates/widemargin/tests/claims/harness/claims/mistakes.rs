//! The same error for the same mistake, whatever the method and the place.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Problem, hold, least_memory, message};
use crate::harness::method::Method;
use crate::harness::places::{Disk, PLENTY, Place};
use crate::harness::training::{Answers, D, Kind, Task, Training};
use widemargin::data::{AnySamples, DenseMatrix, Labels, SamplesView, Targets, Vectors};
use widemargin::model::CChoice;
use widemargin::monitor::Monitor;
use widemargin::{Error, Result};

/// The error of a fit in memory, and of one in blocks.
fn errors(problem: &Problem, training: &Training) -> Vec<Result<super::Model>> {
    let (disk, monitor) = (Disk::new(None), Monitor::none());
    let mut errors = vec![problem.method.fit(training, Place::Memory, &monitor)];
    if problem.in_blocks {
        errors.push(problem.method.fit(training, Place::Blocks(disk.resources(PLENTY)), &monitor));
    }
    errors
}

fn expect(problem: &Problem, training: &Training, what: &str, is_right: impl Fn(&str) -> bool) {
    for error in errors(problem, training) {
        let text = message(error, &format!("{}, {what}", problem.name));
        assert!(is_right(&text), "{}, {what}: {text}", problem.name);
    }
}

const N: usize = 60;

fn with_value(samples: &AnySamples, row: usize, column: usize, value: f32) -> AnySamples {
    let AnySamples::Vectors(Vectors::Dense(mut matrix)) = samples.clone() else { panic!("dense vectors") };
    matrix.values[row * D + column] = value;
    AnySamples::Vectors(Vectors::Dense(matrix))
}

#[test]
fn bad_values_are_named_by_row_and_column() {
    hold(
        |problem| problem.kind == Kind::Vectors,
        |problem| {
            let training = problem.training(N, 1);
            let model = super::fit(&problem, &training);
            let is_power_mean = matches!(problem.method, Method::PowerMean(_));
            let bad = [f32::NAN, f32::INFINITY].into_iter().chain(is_power_mean.then_some(-1.0));
            for value in bad {
                let samples = with_value(&training.samples, 33, 1, value);
                let is_named = |text: &str| {
                    (text.starts_with("row 33, column 1 (from 0): ") || text.contains("sample 33 (from 0)"))
                        && (value > 0.0 || text.contains(if value.is_nan() { "NaN" } else { "-1" }))
                };
                expect(&problem, &Training { samples: samples.clone(), ..training.clone() }, "a bad value", is_named);
                let error = model.try_values(&SamplesView::Other(&samples), 1, &Monitor::none()).unwrap_err();
                assert!(error.is_input() && is_named(&error.to_string()), "{}: {error}", problem.name);
            }
        },
    );
}

#[test]
fn samples_of_another_kind_or_width_are_named() {
    hold(
        |_| true,
        |problem| {
            let training = problem.training(N, 1);
            let model = super::fit(&problem, &training);
            let other = if problem.kind == Kind::Strings { Kind::Vectors } else { Kind::Strings };
            let other = Training::new(other, problem.task, N, 1).samples;
            let names_both = |text: &str| text.contains(other.kind()) && text.contains(training.samples.kind());
            expect(&problem, &Training { samples: other.clone(), ..training.clone() }, "another kind", names_both);
            let error = model.try_values(&SamplesView::Other(&other), 1, &Monitor::none()).unwrap_err();
            assert!(names_both(&error.to_string()), "{}: {error}", problem.name);
            if problem.kind == Kind::Vectors {
                let narrow = DenseMatrix { values: vec![0.5; 2 * (D - 1)], n_rows: 2, n_cols: D - 1 };
                let narrow = AnySamples::Vectors(Vectors::Dense(narrow));
                let error = model.try_values(&SamplesView::Other(&narrow), 1, &Monitor::none()).unwrap_err();
                assert!(matches!(error, Error::FeatureCount { found: 4, trained: 5, .. }), "{}: {error}", problem.name);
            }
        },
    );
}

#[test]
fn answers_and_weights_that_do_not_fit_are_named() {
    hold(
        |_| true,
        |problem| {
            let training = problem.training(N, 1);
            let fewer: Vec<usize> = (0..N - 1).collect();
            let short = Training { answers: training.answers.select(&fewer), ..training.clone() };
            let is_counted = |text: &str| text.contains("59") && text.contains("60");
            if problem.task != Task::OneClass {
                expect(&problem, &short, "too few answers", is_counted);
            }
            let weighted = |weights: Vec<f64>| Training { weights: Some(weights), ..training.clone() };
            expect(&problem, &weighted(vec![1.0; N - 1]), "too few weights", is_counted);
            expect(&problem, &weighted(vec![0.0; N]), "no weight", |text| {
                text.contains("weights are zero") || text.contains("it is known for no sample")
            });
            for bad in [f64::NAN, -1.0, f64::INFINITY] {
                let mut weights = vec![1.0; N];
                weights[7] = bad;
                expect(&problem, &weighted(weights), "a bad weight", |text| {
                    text.starts_with(&format!("weight of row 7 (from 0) is {bad}"))
                });
            }
            expect(&problem, &training.select(&[]), "no samples", |text| {
                text.starts_with("no samples") || text.contains("it is known for no sample")
            });
            if let Task::Classes(_) = problem.task {
                let one = Training { answers: Answers::Labels(Labels::new(["lone"; N])), ..training.clone() };
                expect(&problem, &one, "one class", |text| {
                    text.contains("'lone'") && text.contains("at least two classes")
                });
            }
        },
    );
}

#[test]
fn parameters_are_named() {
    hold(
        |_| true,
        |problem| {
            let training = problem.training(N, 1);
            let with = |method| Problem { method, ..problem.clone() };
            if problem.task != Task::OneClass {
                for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                    let changed = with(problem.method.clone().c(CChoice::Value(c)));
                    expect(&changed, &training, "C", |text| text.starts_with(&format!("C = {c} is not allowed")));
                }
            }
            if !matches!(problem.method, Method::PowerMean(_)) {
                let changed = with(problem.method.clone().n_basis(0));
                expect(&changed, &training, "n_basis", |text| text.starts_with("n_basis = 0 is not allowed"));
            }
        },
    );
}

/// A disk that says it has room and has not is an error of the work; one without room, or little memory, an error of the
/// request.
#[test]
fn scarce_memory_and_full_disks_are_named() {
    let n_full = AtomicUsize::new(0);
    hold(
        |problem| problem.in_blocks,
        |problem| {
            let training = problem.training(problem.n_blocks, 1);
            let memory = 2 * least_memory(&problem, &training);
            let disk = Disk::that_holds(1000);
            match problem.method.fit(&training, Place::Blocks(disk.resources(memory)), &Monitor::none()) {
                Err(Error::Io { action: "cannot write", .. }) => drop(n_full.fetch_add(1, Ordering::Relaxed)),
                Ok(_) => assert_eq!(disk.len(), 0, "{}", problem.name),
                Err(other) => panic!("{}: {other}", problem.name),
            }
        },
    );
    assert!(n_full.into_inner() > 5);
}

#[test]
fn targets_that_are_not_finite_are_named() {
    for bad in [f64::NAN, f64::INFINITY] {
        let error = Targets::new(vec![1.0, 2.0, 3.0, bad], 2).unwrap_err();
        assert!(matches!(error, Error::Target { row: 1, output: 1, .. }), "{error}");
    }
}
