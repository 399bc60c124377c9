//! The claims: each a function of a row of the table, and a test that holds all rows to it.

mod alone;
mod checkpoints;
mod files;
mod mistakes;
mod refits;
mod same_model;
mod watched;
mod weights;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::method::Model;
use super::places::{Disk, Place};
use super::problems::{Problem, problems};
use super::training::Training;
use widemargin::monitor::Monitor;
use widemargin::{Error, Result};

/// The rows of a claim.
fn rows(which: impl Fn(&Problem) -> bool) -> Vec<Problem> {
    let chosen: Vec<Problem> = problems().into_iter().filter(which).collect();
    assert!(!chosen.is_empty());
    chosen
}

/// The first row of each method.
fn one_of_each() -> Vec<Problem> {
    let mut methods = Vec::new();
    let mut all = problems();
    all.retain(|problem| {
        let method = std::mem::discriminant(&problem.method);
        let is_new = !methods.contains(&method);
        methods.push(method);
        is_new
    });
    all
}

/// Holds rows to a claim: all are tried, and the names of those that fail stand below what they said.
fn hold_each(rows: Vec<Problem>, claim: impl Fn(Problem)) {
    let holds = |problem: &Problem| catch_unwind(AssertUnwindSafe(|| claim(problem.clone()))).is_ok();
    let failed: Vec<&str> = rows.iter().filter(|problem| !holds(problem)).map(|problem| &*problem.name).collect();
    assert!(failed.is_empty(), "{} of {} rows:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

fn hold(which: impl Fn(&Problem) -> bool, claim: impl Fn(Problem)) {
    hold_each(rows(which), claim);
}

/// In memory, by one thread.
fn fit(problem: &Problem, training: &Training) -> Model {
    problem.method.clone().threads(1).fit(training, Place::Memory, &Monitor::none()).unwrap()
}

/// The least memory that a fit in blocks is content with: none of its features stay there.
fn least_memory(problem: &Problem, training: &Training) -> u64 {
    let (disk, mut memory) = (Disk::new(None), 1000);
    loop {
        match problem.method.fit(training, Place::Blocks(disk.resources(memory)), &Monitor::none()) {
            // Some of it is taken before.
            Err(Error::Memory { needed, free, hint, .. }) if !hint.is_empty() => memory = needed + memory - free,
            Ok(_) if memory > 1000 => return memory,
            other => panic!("{memory} bytes of memory: {other:?}"),
        }
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(1e-300f64, |size, x| size.max(x.abs()));
    let off = found.iter().zip(expected).fold(0.0f64, |off, (a, b)| off.max((a - b).abs()));
    assert!(off <= tolerance * size, "{what}: {off:e} apart, of {size:e}");
}

/// The message of an error that the caller's input has.
fn message(result: Result<Model>, what: &str) -> String {
    match result {
        Ok(model) => panic!("{what}: accepted, {:?}", model.report()),
        Err(error) => {
            assert!(error.is_input(), "{what}: {error}");
            error.to_string()
        }
    }
}
