//! A weight of k is k copies of a sample, a weight of 0 is its absence, and the order of samples, the number of threads
//! and the form of the samples make no difference: to the last bit.

use super::{Problem, assert_close, fit, hold};
use crate::harness::places::{Disk, PLENTY, Place};
use crate::harness::training::{Answers, Kind, Task, Training, forms, noise};
use widemargin::data::{ClassWeight, Label, Labels, SamplesView};
use widemargin::monitor::Monitor;

/// The rows in another order.
fn shuffled(mut rows: Vec<usize>, seed: u64) -> Vec<usize> {
    let order = noise(rows.len(), seed);
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by(|&a, &b| order[a].total_cmp(&order[b]));
    rows = places.into_iter().map(|at| rows[at]).collect();
    rows
}

fn weight(row: usize) -> usize {
    [1, 2, 0, 3, 1][row % 5]
}

/// The same samples weighted, as copies, in another order, and each in two halves of its weight.
fn ways(training: &Training, seed: u64) -> [Training; 4] {
    let n = training.len();
    let weighted = training.clone().weighted(|row| weight(row) as f64);
    let copies = shuffled((0..n).flat_map(|row| vec![row; weight(row)]).collect(), seed);
    let halves = shuffled((0..2 * n).map(|row| row / 2).collect(), seed + 1);
    let half = training.clone().weighted(|row| 0.5 * weight(row) as f64);
    let order = shuffled((0..n).collect(), seed + 2);
    [weighted.select(&order), training.select(&copies), half.select(&halves), weighted]
}

#[test]
fn weights_are_copies_in_any_order_of_any_form_by_any_number_of_threads() {
    hold(
        |_| true,
        |problem| {
            for seed in 0..4 {
                let training = problem.training(60, seed).with_equal_samples();
                let mut first = None;
                for (way, of) in ways(&training, seed).iter().enumerate() {
                    let mut check = |samples: &SamplesView<'_>, threads: usize, form: &str| {
                        let method = problem.method.clone().threads(threads);
                        let model =
                            method.fit_view(samples, &of.answers, of.weights.as_deref(), &Monitor::none()).unwrap();
                        let path = if problem.task == Task::OneClass { Vec::new() } else { model.path() };
                        let found = (model.values(&training.samples), path, model.c());
                        let expected = first.get_or_insert_with(|| found.clone());
                        assert_eq!(*expected, found, "{}, way {way}, {form}, seed {seed}", problem.name);
                    };
                    check(&SamplesView::Other(&of.samples), 1, "single precision");
                    if let Some((double, sparse)) = forms(&of.samples) {
                        check(&double.view().unwrap().into(), 3, "double precision");
                        // Products of sparse rows are summed in another order.
                        if !problem.name.contains('[') && !problem.name.contains("on ") {
                            check(&sparse.view().unwrap().into(), 2, "sparse");
                        }
                    }
                }
            }
        },
    );
}

/// Of every row there is a leave-one-out value, a copy's that of its sample.
#[test]
fn a_weight_of_0_is_absence_in_blocks_too() {
    hold(
        |problem| problem.in_blocks,
        |problem| {
            let training = problem.training(problem.n_blocks, 8).weighted(|row| weight(row) as f64);
            let present: Vec<usize> = (0..training.len()).filter(|row| weight(*row) > 0).collect();
            let fit = |training: &Training| {
                let disk = Disk::new(None);
                let method = problem.method.clone().first_bases();
                method.fit(training, Place::Blocks(disk.resources(PLENTY)), &Monitor::none()).unwrap()
            };
            let (all, some) = (fit(&training), fit(&training.select(&present)));
            let values = some.values(&training.samples);
            assert_close(&all.values(&training.samples), &values, problem.tolerance, &problem.name);
        },
    );
}

/// A class whose samples all have weight 0, or that has weight 0 itself, is absent.
#[test]
fn a_class_without_weight_is_absent() {
    hold(
        |problem| problem.task == Task::Classes(4) && problem.kind == Kind::Vectors,
        |problem| {
            let with = |weight| Problem { method: problem.method.clone().class_weight(weight), ..problem.clone() };
            let uniform = with(ClassWeight::Uniform);
            let training = problem.training(160, 6);
            let is_other = |row: usize| training.labels().codes()[row] != 3;
            let others: Vec<usize> = (0..training.len()).filter(|&row| is_other(row)).collect();
            let some = training.select(&others);
            let names: Vec<Label> = (0..some.len()).map(|row| some.labels().get(row).clone()).collect();
            let without = Training { answers: Answers::Labels(Labels::new(names)), ..some };
            let expected = fit(&uniform, &without).values(&training.samples);
            let tolerance = 10.0 * problem.tolerance;
            let of_samples = training.clone().weighted(|row| f64::from(u8::from(is_other(row))));
            let model = fit(&uniform, &of_samples);
            assert_close(&model.values(&training.samples), &expected, tolerance, &problem.name);
            let of_class = with(ClassWeight::PerClass([(training.labels().classes()[3].clone(), 0.0)].into()));
            let model = fit(&of_class, &training);
            assert_close(&model.values(&training.samples), &expected, tolerance, &problem.name);
            if problem.in_blocks {
                let disk = Disk::new(None);
                let place = Place::Blocks(disk.resources(PLENTY));
                let first = Problem { method: uniform.method.clone().first_bases(), ..problem.clone() };
                let expected = fit(&first, &without).values(&training.samples);
                let model = first.method.fit(&of_samples, place, &Monitor::none()).unwrap();
                assert_close(&model.values(&training.samples), &expected, tolerance, &problem.name);
            }
        },
    );
}
