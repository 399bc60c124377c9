//! What does not depend on others: the decision values of a sample on the other samples, and the problem of a label
//! or a target on the other ones.

use super::{Problem, assert_close, fit, hold};
use crate::harness::training::{Answers, Task, Training};
use widemargin::data::{Labels, Samples, SamplesView, Targets};
use widemargin::model::{AnyModel, CChoice, ThinPlateSvc};
use widemargin::monitor::Monitor;

/// To the last bit, wherever the sample stands.
#[test]
fn a_sample_alone_has_the_values_that_it_has_among_others() {
    // More than a chunk of any method, and no multiple of any lanes.
    const N: usize = 301;
    hold(
        |_| true,
        |problem| {
            let model = fit(&problem, &problem.training(60, 1));
            let samples = problem.training(N, 2).samples;
            let all = model.values(&samples);
            let width = all.len() / N;
            let backwards = model.values(&Samples::select(&samples, &(0..N).rev().collect::<Vec<_>>()));
            let turned: Vec<f64> = backwards.chunks(width).rev().flatten().copied().collect();
            assert!(turned == all, "{}", problem.name);
            for row in (0..N).step_by(13) {
                let one = model.values(&Samples::select(&samples, &[row]));
                assert_eq!(one, all[row * width..(row + 1) * width], "{}, row {row}", problem.name);
            }
        },
    );
}

/// Decision values, leave-one-out errors and the slopes of probabilities of all labels are those of each label's own
/// model on the samples with a known value.
#[test]
fn the_problem_of_a_label_is_that_of_its_own_model() {
    // Of a Nyström map all samples have a part in the features.
    hold(
        |problem| problem.task == Task::Multilabel(3) && !problem.name.contains("nystroem"),
        |problem| {
            let problem = Problem { method: problem.method.clone().first_bases().c(CChoice::Value(2.0)), ..problem };
            let training = problem.training(160, 4);
            let answers = Training::new(problem.kind, Task::Multilabel(3), 160, 4);
            let (all, sets) = (fit(&problem, &training), answers.labels().signed_sets().unwrap().to_vec());
            let values = all.values(&training.samples);
            for label in 0..3 {
                let of = |row: usize| sets[answers.labels().codes()[row] as usize * 3 + label];
                let known: Vec<usize> = (0..160).filter(|&row| of(row) != 0.0).collect();
                let labels = Labels::new(known.iter().map(|&row| i64::from(of(row) > 0.0)));
                let some = Training { answers: Answers::Labels(labels), ..training.select(&known) };
                let alone = fit(&problem, &some);
                let own: Vec<f64> = values.iter().skip(label).step_by(3).copied().collect();
                let what = format!("{}, label {label}", problem.name);
                assert_close(&own, &alone.values(&training.samples), 10.0 * problem.tolerance, &what);
                if let (Some(all), Some(alone)) = (all.own::<ThinPlateSvc>(), alone.own::<ThinPlateSvc>()) {
                    let (point, truth) = (all.chosen().unwrap(), alone.chosen().unwrap());
                    let is_on_bases = !problem.name.contains("None bases");
                    assert!(is_on_bases || point.loo_exact && truth.loo_exact, "{what}");
                    assert!(
                        is_on_bases || (point.label_errors[label] - truth.loo_error.unwrap()).abs() < 1e-9,
                        "{point:?} {truth:?}"
                    );
                }
                let (AnyModel::Classifier(all), AnyModel::Classifier(alone)) = (&all.0, &alone.0) else {
                    unreachable!()
                };
                assert!(all.calibration().unwrap().slopes().len() == 3 && alone.calibration().is_some(), "{what}");
            }
        },
    );
}

#[test]
fn the_problem_of_a_target_is_that_of_its_own_model() {
    hold(
        |problem| problem.task == Task::Targets(2),
        |problem| {
            let problem = Problem { method: problem.method.clone().c(CChoice::Value(2.0)), ..problem };
            let training = problem.training(60, 4);
            let all = fit(&problem, &training);
            let (values, losses) = (all.values(&training.samples), all.path());
            for output in 0..2 {
                let targets = Targets::single(training.targets().output(output)).unwrap();
                let alone = fit(&problem, &Training { answers: Answers::Targets(targets), ..training.clone() });
                let own = |all: &[f64]| all.iter().skip(output).step_by(2).copied().collect::<Vec<f64>>();
                assert_close(&own(&values), &alone.values(&training.samples), 1e-9, &problem.name);
                assert_close(&own(&losses), &alone.path(), 1e-9, &problem.name);
            }
        },
    );
}

/// Labels are predicted where their probability is above ½; a single class of such samples is refused, and labels of
/// samples with one class.
#[test]
fn a_multilabel_model_predicts_labels_and_another_classes() {
    hold(
        |problem| !matches!(problem.task, Task::Targets(_) | Task::OneClass),
        |problem| {
            let training = problem.training(60, 1);
            let model = fit(&problem, &training);
            let AnyModel::Classifier(model) = &model.0 else { unreachable!() };
            let (view, monitor) = (SamplesView::Other(&training.samples), Monitor::none());
            assert_eq!(model.classes(), training.labels().classes(), "{}", problem.name);
            let probabilities = model.predict_proba(&view, 1, &monitor).unwrap();
            let k = probabilities.n_cols;
            match (model.predict_labels(&view, 1, &monitor), model.predict(&view, 1, &monitor)) {
                (Ok(labels), Err(error)) => {
                    assert!(model.is_multilabel() && error.to_string().contains("multilabel"), "{error}");
                    let pairs = labels.values.iter().zip(&probabilities.values);
                    assert!(pairs.into_iter().all(|(label, p)| (*label == 1) == (*p > 0.5)), "{}", problem.name);
                }
                (Err(error), Ok(classes)) => {
                    assert!(!model.is_multilabel() && error.to_string().contains("one class each"), "{error}");
                    for (row, class) in probabilities.values.chunks(k).zip(classes) {
                        let largest = (0..k).fold(0, |best, at| if row[at] > row[best] { at } else { best });
                        assert_eq!(&model.classes()[largest], class, "{}: {row:?}", problem.name);
                    }
                }
                other => panic!("{}: {other:?}", problem.name),
            }
        },
    );
}
