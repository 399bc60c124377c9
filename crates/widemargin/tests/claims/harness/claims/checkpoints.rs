//! A killed fit is resumed to the same bits, whatever the save in which it was killed; and a checkpoint of another fit,
//! or one that is damaged, never leads to another model.

use super::{Problem, hold, hold_each, least_memory, message, one_of_each};
use crate::harness::method::{Method, Model};
use crate::harness::places::{Disk, MemoryCheckpoint, Place};
use crate::harness::training::{Answers, Training};
use widemargin::data::{AnySamples, Labels, Resources, Targets, Vectors};
use widemargin::model::CChoice;
use widemargin::monitor::Monitor;
use widemargin::{Error, Result};

/// A fit in blocks of the least memory that saves in a checkpoint.
fn fit(problem: &Problem, training: &Training, memory: u64, checkpoint: &MemoryCheckpoint) -> Result<Model> {
    let disk = Disk::new(None);
    let resources = Resources { checkpoint: Some(checkpoint), ..disk.resources(memory) };
    problem.method.fit(training, Place::Blocks(resources), &Monitor::none())
}

fn case(problem: &Problem) -> (Training, u64) {
    let training = problem.training(problem.n_blocks / 2, 4).weighted(|row| [1.0, 2.0, 0.0][row % 3]);
    let memory = least_memory(problem, &training);
    (training, memory)
}

#[test]
fn a_killed_fit_is_resumed_to_the_same_bits() {
    hold(
        |problem| problem.in_blocks,
        |problem| {
            let (training, memory) = case(&problem);
            let checkpoint = MemoryCheckpoint::default();
            let truth = fit(&problem, &training, memory, &checkpoint).unwrap();
            let n_saves = checkpoint.n_saves();
            assert!(n_saves >= 1, "{}: {n_saves}", problem.name);
            let same = |checkpoint: &MemoryCheckpoint, what: String| {
                let found = fit(&problem, &training, memory, checkpoint).unwrap();
                assert_eq!(found.bits(&training.samples), truth.bits(&training.samples), "{}, {what}", problem.name);
                assert_eq!(found.report().gaps, truth.report().gaps, "{}, {what}", problem.name);
            };
            for dies_at in (0..n_saves).step_by(1 + n_saves / 12) {
                let killed = MemoryCheckpoint::default().that_dies_at(Some(dies_at));
                let error = fit(&problem, &training, memory, &killed).unwrap_err();
                assert!(error.to_string().contains("killed"), "{}: {error}", problem.name);
                // Once more, so that a good checkpoint and a part of a newer one are there.
                let killed = killed.that_dies_at(Some(1));
                let again = fit(&problem, &training, memory, &killed);
                assert!(again.is_ok() || again.unwrap_err().to_string().contains("killed"), "{}", problem.name);
                same(&killed.that_dies_at(None), format!("killed in save {dies_at}"));
            }
            // A finished fit saves nothing.
            same(&checkpoint, "finished".into());
            assert_eq!(checkpoint.n_saves(), n_saves, "{}", problem.name);
        },
    );
}

/// The samples with other values.
fn with_other_values(samples: &AnySamples) -> AnySamples {
    let mut samples = samples.clone();
    match &mut samples {
        AnySamples::Vectors(Vectors::Dense(matrix)) => matrix.values.iter_mut().for_each(|x| *x += 0.01),
        AnySamples::Strings(strings) => strings.iter_mut().for_each(|text| text.push('q')),
        other => panic!("{}", other.kind()),
    }
    samples
}

fn with_other_answers(answers: &Answers) -> Answers {
    match answers {
        Answers::Labels(labels) if labels.is_multilabel() => {
            let rows: Vec<usize> = (0..labels.len()).rev().collect();
            Answers::Labels(labels.select(&rows))
        }
        Answers::Labels(labels) => {
            let mut codes = labels.codes().to_vec();
            codes.reverse();
            Answers::Labels(Labels::from_codes(labels.classes().to_vec(), codes).unwrap())
        }
        Answers::Targets(targets) => {
            let values = targets.values().iter().map(|y| y + 0.5 * y.sin()).collect();
            Answers::Targets(Targets::new(values, targets.n_outputs()).unwrap())
        }
        Answers::None => Answers::None,
    }
}

#[test]
fn rejects_checkpoints_of_other_fits() {
    hold(
        |problem| problem.in_blocks,
        |problem| {
            let (training, memory) = case(&problem);
            let checkpoint = MemoryCheckpoint::default();
            fit(&problem, &training, memory, &checkpoint).unwrap();
            let weights = training.weights.clone().unwrap();
            let other_weights = weights.iter().map(|weight| 2.0 * weight).collect();
            let fewer: Vec<usize> = (0..training.len() - 1).collect();
            let same = || problem.method.clone();
            let cases = [
                ("C", same().c(CChoice::Value(7.0)), training.clone()),
                ("n_basis", same().n_basis(10), training.clone()),
                ("samples|non-zeros|targets", same(), training.select(&fewer)),
                (
                    "samples|non-zeros",
                    same(),
                    Training { samples: with_other_values(&training.samples), ..training.clone() },
                ),
                (
                    "labels|targets",
                    same(),
                    Training { answers: with_other_answers(&training.answers), ..training.clone() },
                ),
                ("weights|targets", same(), Training { weights: Some(other_weights), ..training.clone() }),
            ];
            for (what, method, training) in cases {
                if what == "n_basis" && matches!(method, Method::PowerMean(_)) {
                    continue;
                }
                let other = Problem { method, ..problem.clone() };
                let found = fit(&other, &training, memory, &checkpoint);
                assert!(matches!(found, Err(Error::Checkpoint { .. })), "{}, {what}: {found:?}", problem.name);
                let text = message(found, what);
                let names =
                    what.split('|').any(|word| text.contains(word)) || text.contains("or parameters: remove it");
                assert!(names, "{}, {what}: {text}", problem.name);
            }
        },
    );
}

/// With a flipped bit, under the name of another, without the line that has the checksum, cut short, or empty.
#[test]
fn damaged_checkpoints_are_rejected_or_make_no_difference() {
    let in_blocks = one_of_each().into_iter().filter(|problem| problem.in_blocks).collect();
    hold_each(in_blocks, |problem| {
        let (training, memory) = case(&problem);
        let checkpoint = MemoryCheckpoint::default();
        let truth = fit(&problem, &training, memory, &checkpoint).unwrap().bits(&training.samples);
        let whole = checkpoint.saved.lock().unwrap().clone();
        let mut n_refused = 0;
        for (name, bytes) in &whole {
            let mut check = |damaged: Vec<u8>, what: String| {
                // Undo the saves of a resumed fit.
                *checkpoint.saved.lock().unwrap() = whole.clone();
                checkpoint.saved.lock().unwrap().insert(name.clone(), damaged);
                match fit(&problem, &training, memory, &checkpoint) {
                    Err(Error::Checkpoint { problem }) => {
                        assert!(problem.contains(&format!("{name} is damaged")), "{name}, {what}: {problem}");
                        n_refused += 1;
                    }
                    Err(error) => panic!("{name}, {what}: {error}"),
                    // Not read any more.
                    Ok(model) => assert_eq!(model.bits(&training.samples), truth, "{name}, {what}"),
                }
            };
            let n_bits = 8 * bytes.len();
            for at in (0..n_bits).step_by((n_bits / 4) | 1) {
                let mut damaged = bytes.clone();
                damaged[at / 8] ^= 1 << (at % 8);
                check(damaged, format!("bit {at}"));
            }
            let line = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
            let another = whole.iter().find(|(known, other)| *known != name && *other != bytes);
            let parts = [&bytes[line..], &bytes[..bytes.len() - 1], &b""[..]];
            for damaged in parts.into_iter().chain(another.map(|(_, other)| &other[..])) {
                check(damaged.to_vec(), format!("{} bytes", damaged.len()));
            }
        }
        assert!(n_refused >= 4, "{}: {n_refused}", problem.name);
    });
}
