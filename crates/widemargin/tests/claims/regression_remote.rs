//! Regression of samples in several places: sums requested by bytes give the model of the fit in memory, with
//! its leave-one-out errors.

use std::cell::Cell;
use std::rc::Rc;

use crate::thin_plate_common::{kernel, view};
use proptest::prelude::*;
use widemargin::Result;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, DenseMatrix, Targets, Vectors};
use widemargin::expansion::{Normalization, NystroemCut};
use widemargin::model::{
    BasisExpansionOneClass, BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressor,
    BasisExpansionRegressorParams, BasisPlan, CChoice, ColumnSums, OneClassMetadata, PartedTargets, RegressionPoint,
    RegressorMetadata, SplineMetadata, ThinPlateBasis, ThinPlateRegressorParams, choose_bases,
};
use widemargin::monitor::Monitor;
use widemargin::partition::{self, EncodedQuery, Remote, Workers};
use widemargin::problem::Loss;
use widemargin::similarity::AnySimilarity;
use widemargin::solve::ridge::{RIDGE_QUERIES, RidgeFeatures, RidgePart, RidgeRows};
use widemargin::solve::thin_plate::{FirstSums, Polynomials};

/// Features as they are, with an intercept or without; or features times the roots of weights, and how many are
/// penalized.
enum Features {
    Plain(Vec<f32>, bool),
    Lifted(Vec<f64>, usize),
}

struct Place {
    /// The number of its first row.
    first: usize,
    features: Features,
    width: usize,
    targets: Vec<f64>,
    weights: Vec<f64>,
    units: Vec<f64>,
}

/// Places that answer one after another, by bytes, and the number of requests.
struct Places(Vec<Place>, Rc<Cell<usize>>);

impl Workers for Places {
    fn ask(&mut self, request: EncodedQuery<'_>) -> Result<Vec<u8>> {
        self.1.set(self.1.get() + 1);
        let one = |place: &Place| {
            let features = match &place.features {
                Features::Plain(values, has_intercept) => RidgeFeatures::Plain {
                    values: values.as_slice().into(),
                    has_intercept: *has_intercept,
                    first: place.first,
                },
                Features::Lifted(values, n_penalized) => RidgeFeatures::Lifted { values, n_penalized: *n_penalized },
            };
            let Place { width, targets, weights, units, .. } = place;
            let mut part = RidgePart { features, width: *width, targets, weights, units };
            partition::answer(RIDGE_QUERIES, request.query, &mut part, &Monitor::none())
        };
        let answers = self.0.iter().map(one).collect::<Result<Vec<_>>>()?;
        partition::merge(RIDGE_QUERIES, request.query, &answers.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

type Rows = Remote<RidgeRows, Places>;

/// Cuts all rows at `ends`.
fn parted<T: Clone>(values: &[T], a_row: usize, ends: &[usize]) -> Vec<Vec<T>> {
    let mut first = 0;
    let part = |&end: &usize| values[std::mem::replace(&mut first, end) * a_row..end * a_row].to_vec();
    ends.iter().map(part).collect()
}

fn places(features: Vec<Features>, width: usize, targets: &PartedTargets, ends: &[usize]) -> Rows {
    Remote::new(Places(all_places(features, width, targets, ends), Rc::default()))
}

fn all_places(features: Vec<Features>, width: usize, targets: &PartedTargets, ends: &[usize]) -> Vec<Place> {
    let values = parted(targets.values(), targets.n_outputs(), ends);
    let (weights, units) = (parted(targets.weights(), 1, ends), parted(targets.units(), 1, ends));
    let firsts = std::iter::once(0).chain(ends.iter().copied());
    let known = features.into_iter().zip(values).zip(weights.into_iter().zip(units)).zip(firsts);
    let place =
        |(((features, targets), (weights, units)), first)| Place { first, features, width, targets, weights, units };
    known.map(place).collect()
}

/// Numbers between −½ and ½ without structure.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let one = |at: u64| {
        let mixed = (at + 1 + 7919 * seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    (0..n as u64).map(one).collect()
}

fn metadata(c: CChoice, loss: Loss) -> RegressorMetadata {
    RegressorMetadata { basis: "explicit".into(), basis_rows: Vec::new(), c, loss, seed: 0, stages: Vec::new() }
}

const D: usize = 3;

/// Samples, some of them equal, with two targets each and weights, some of them 0.
fn case(n: usize, seed: u64) -> (Vec<f64>, Targets, Vec<f64>) {
    let mut values = noise(n * D, seed);
    values.copy_within(..2 * D, (n - 2) * D);
    let errors = noise(2 * n, seed + 1);
    let target = |row: usize| {
        let x = &values[row * D..][..D];
        [1e3 + (5.0 * x[0]).sin() + x[1] * x[2] + 0.2 * errors[2 * row], 20.0 * x[0] * x[0] - 3.0 + errors[2 * row + 1]]
    };
    let targets = Targets::new((0..n).flat_map(target).collect(), 2).unwrap();
    let weights = (0..n).map(|row| [1.0, 0.7, 0.4, 0.0, 0.9][(row + seed as usize) % 5]).collect();
    (values, targets, weights)
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    close_to(found, expected, 1e-7, what);
}

fn close_to(found: &[f64], expected: &[f64], most: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= most * size, "{what}: {found} instead of {expected}");
    }
}

fn same_path(found: &[RegressionPoint], expected: &[RegressionPoint]) {
    // The largest λ of a path may round to its neighbor.
    assert!(found.len().abs_diff(expected.len()) <= 1, "{} points instead of {}", found.len(), expected.len());
    for (found, expected) in found.iter().rev().zip(expected.iter().rev()) {
        close(&found.loo_rmse, &expected.loo_rmse, "the leave-one-out error");
        close(&[found.c, found.loo_r2], &[expected.c, expected.loo_r2], "C and R²");
    }
}

fn samples(rows: &[f64]) -> AnySamples {
    let values = rows.iter().map(|x| *x as f32).collect();
    AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: rows.len() / D, n_cols: D }))
}

fn similarity() -> AnySimilarity {
    AnySimilarity::new(&["rbf:gamma=2".to_owned()]).unwrap()
}

/// On one machine.
fn regression(bases: AnySamples, c: CChoice, has_intercept: bool) -> BasisExpansionRegressorParams<AnySimilarity> {
    let params = BasisExpansionRegressorParams::new(similarity()).bases(bases).normalization(Normalization::None);
    params.c(c).intercept(has_intercept).threads(1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_regression_in_parts_is_that_of_one_machine(
        n in 30usize..90, cut in 1usize..29, seed in 0u64..50, has_intercept: bool, is_fixed: bool,
    ) {
        let (values, targets, weights) = case(n, seed);
        let (all, bases) = (samples(&values), samples(&values[..12 * D]));
        let c = if is_fixed { CChoice::Value(3.0) } else { CChoice::Auto };
        let whole = regression(bases.clone(), c, has_intercept).fit_with(&all, &targets, Some(&weights), &Monitor::none()).unwrap();

        let params = BasisExpansionParams::new(similarity()).bases(bases).normalization(Normalization::None).threads(1);
        let made = params.expand(&all, None, &Monitor::none()).unwrap();
        let (width, ends) = (made.features.n_cols, [cut, cut + 1, n]);
        let targets = PartedTargets::new(&targets, Some(&weights), has_intercept).unwrap();
        let features = parted(&made.features.values, width, &ends).into_iter();
        let mut rows =
            places(features.map(|part| Features::Plain(part, has_intercept)).collect(), width, &targets, &ends);
        let metadata = metadata(c, Loss::SquaredError);
        let found =
            BasisExpansionRegressor::of_parts(made.expansion, &targets, &mut rows, metadata, &Monitor::none()).unwrap();
        same_path(found.path(), whole.path());
        let predicted = |model: &BasisExpansionRegressor<AnySimilarity>| model.predict(&all, 1).unwrap().values;
        close(&predicted(&found), &predicted(&whole), "a prediction");
    }

    #[test]
    fn another_loss_in_parts_is_that_of_one_machine(
        n in 30usize..90, cut in 1usize..29, seed in 0u64..50, has_intercept: bool, is_fixed: bool, at in 0usize..4,
    ) {
        let (values, targets, weights) = case(n, seed);
        let loss = [
            Loss::Huber { epsilon: None },
            Loss::Huber { epsilon: Some(0.3) },
            Loss::SquaredEpsilonInsensitive { epsilon: None },
            Loss::Quantile { quantile: 0.8 },
        ][at];
        let (all, bases) = (samples(&values), samples(&values[..12 * D]));
        // The folds of the quantile loss are others where equal samples are merged.
        let c = if is_fixed || at == 3 { CChoice::Value(3.0) } else { CChoice::Auto };
        let whole = regression(bases.clone(), c, has_intercept).loss(loss).fit_with(&all, &targets, Some(&weights), &Monitor::none()).unwrap();

        let params = BasisExpansionParams::new(similarity()).bases(bases).normalization(Normalization::None).threads(1);
        let made = params.expand(&all, None, &Monitor::none()).unwrap();
        let (width, ends) = (made.features.n_cols, [cut, cut + 1, n]);
        let targets = PartedTargets::new(&targets, Some(&weights), has_intercept).unwrap();
        let features = parted(&made.features.values, width, &ends).into_iter();
        let features = features.map(|part| Features::Plain(part, has_intercept)).collect();
        // Answers need not come in the order of the rows.
        let mut places = all_places(features, width, &targets, &ends);
        places.rotate_left(1);
        let mut rows = Remote::new(Places(places, Rc::default()));
        let found = BasisExpansionRegressor::of_parts(
            made.expansion, &targets, &mut rows, metadata(c, loss), &Monitor::none(),
        ).unwrap();
        prop_assert_eq!(found.loss(), loss);
        close(&[found.c()], &[whole.c()], "C");
        close(found.epsilons(), whole.epsilons(), "epsilon");
        let predicted = |model: &BasisExpansionRegressor<AnySimilarity>| model.predict(&all, 1).unwrap().values;
        close_to(&predicted(&found), &predicted(&whole), 1e-6, "a prediction");
        if at < 3 {
            let points = |model: &BasisExpansionRegressor<AnySimilarity>| model.loss_path().to_vec();
            // A path ends at a hundred times the best C, which rounding may pass.
            prop_assert!(points(&found).len().abs_diff(points(&whole).len()) <= 1);
            for (found, whole) in points(&found).iter().zip(points(&whole)) {
                close_to(&found.loss, &whole.loss, 1e-5, "the leave-one-out loss");
            }
        }
    }

    #[test]
    fn one_class_in_parts_is_that_of_one_machine(n in 60usize..90, cut in 1usize..29, seed in 0u64..50) {
        let (values, _, weights) = case(n, seed);
        // No sample is equal to a basis but itself.
        let values = &values[..(n - 2) * D];
        let (n, weights) = (n - 2, &weights[..n - 2]);
        let all = AnySamples::Vectors(Vectors::Dense(DenseMatrix {
            values: values.iter().map(|x| *x as f32).collect(), n_rows: n, n_cols: D,
        }));
        let bases: Vec<usize> = (0..12).map(|at| 3 * at).collect();
        let params = BasisExpansionOneClassParams::new(similarity())
            .basis(BasisChoice::Rows(bases.clone())).quantile(0.2).shrinkage(0.03).threads(1);
        let whole = params.fit_with(&all, Some(weights), &Monitor::none()).unwrap();

        let params = BasisExpansionParams::new(similarity())
            .basis(BasisChoice::Rows(bases.clone())).normalization("nystroem".parse().unwrap())
            .nystroem_cut(NystroemCut::PreciseMillionth).threads(1);
        let made = params.expand(&all, None, &Monitor::none()).unwrap();
        let (width, ends) = (made.features.n_cols, [cut, cut + 1, n]);
        let ones = PartedTargets::new(&Targets::single(vec![1.0; n]).unwrap(), Some(weights), false).unwrap();
        let features = parted(&made.features.values, width, &ends).into_iter();
        let mut rows = places(features.map(|part| Features::Plain(part, false)).collect(), width, &ones, &ends);
        let metadata = OneClassMetadata {
            basis: "explicit".into(), basis_rows: bases, quantile: 0.2, shrinkage: 0.03, seed: 0, stages: Vec::new(),
        };
        let found =
            BasisExpansionOneClass::of_parts(made.expansion, &ones, &mut rows, metadata, &Monitor::none()).unwrap();
        close(found.loo_scores(), whole.loo_scores(), "a leave-one-out score");
        close(&[found.threshold()], &[whole.threshold()], "the threshold");
        close(&found.score_samples(&all, 1).unwrap(), &whole.score_samples(&all, 1).unwrap(), "a score");
    }

    #[test]
    fn a_spline_in_parts_is_that_of_one_machine(n in 40usize..90, cut in 1usize..39, seed in 0u64..50, at in 0usize..4) {
        let (values, targets, weights) = case(n, seed);
        // The last two need the constant that they have no polynomials for, and more than a constant.
        let kernel = kernel(["distance", "cityblock", "rbf:gamma=1", "cubic"][at]);
        let samples = view(&values, D);
        let params = ThinPlateRegressorParams::new(kernel).n_basis(Some(15)).basis(ThinPlateBasis::Index).threads(1);
        let whole = params.fit_with(&samples, &targets, Some(&weights), &Monitor::none()).unwrap();

        let present: Vec<usize> = (0..n).filter(|&row| weights[row] > 0.0).collect();
        let of_present: Vec<f64> = present.iter().flat_map(|&row| values[row * D..][..D].to_vec()).collect();
        let ones = vec![1.0; present.len()];
        let (bases, bases_of) = choose_bases(&view(&of_present, D), &ones, ThinPlateBasis::Index, 15, 0, 1).unwrap();
        let support: Vec<u64> = bases_of.iter().map(|&at| present[at] as u64).collect();
        // Of equal samples either may be the basis.
        let row = |at: &u64| values[*at as usize * D..][..D].to_vec();
        prop_assert_eq!(support.iter().map(row).collect::<Vec<_>>(), whole.support().iter().map(row).collect::<Vec<_>>());

        let ends = [cut, cut + 1, n];
        let (rows, parts_of_weights) = (parted(&values, D, &ends), parted(&weights, 1, &ends));
        let parts = || rows.iter().map(|rows| view(rows, D)).zip(&parts_of_weights);
        let sums = parts().map(|(rows, weights)| ColumnSums::of(&rows, weights).unwrap());
        let columns = sums.reduce(|a, b| a.merged(&b)).unwrap();
        let plan = BasisPlan::for_regression(kernel, bases, columns).unwrap();
        let plan = BasisPlan::from_bytes(&plan.to_bytes().unwrap()).unwrap();
        let sums = parts().map(|(rows, weights)| plan.first_sums(&rows, weights).unwrap());
        let sums = sums.fold(FirstSums::default(), |all, next| all.merged(&next));
        let targets = PartedTargets::new(&targets, Some(&weights), true).unwrap();
        let (n_present, total) = (targets.n_present(), targets.total());
        let settled = plan.settle(&sums, Polynomials::Free, n_present, total, false).unwrap();
        let features = parts().map(|(rows, weights)| {
            plan.features(&rows, weights, settled.penalized(), settled.columns(), settled.cross()).unwrap()
        });
        // Only samples of weight above 0 have features.
        let n_penalized = settled.n_penalized();
        let features = features.map(|part| Features::Lifted(part, n_penalized)).collect();
        let there: Vec<usize> = ends.iter().map(|&end| present.iter().filter(|&&row| row < end).count()).collect();
        let targets_there = targets.present();
        let mut rows = places(features, n_penalized + settled.n_free(), &targets_there, &there);
        let metadata = SplineMetadata {
            c: CChoice::Auto, basis: "index".into(), support, seed: 0, stages: Vec::new(),
        };
        let found = plan.fit_spline(settled, &targets, &mut rows, metadata, &Monitor::none()).unwrap();
        same_path(found.path(), whole.path());
        close(&[found.lambda()], &[whole.lambda()], "λ");
        prop_assert_eq!(found.rank(), whole.rank());
        let predicted = |model: &widemargin::model::ThinPlateRegressor| model.predict(&samples, 1).unwrap().values;
        close(&predicted(&found), &predicted(&whole), "a prediction");
    }
}

/// One for the mean, two a step, two before the steps (the first gradient, the leverages) and two after them, whose
/// scores are fresh; and the same again without leverages for the solution at C.
#[test]
fn a_step_takes_two_queries() {
    let (values, targets, weights) = case(80, 3);
    let values = values.iter().map(|x| *x as f32).collect();
    let all = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: 80, n_cols: D }));
    let params = BasisExpansionParams::new(similarity()).n_basis(12).normalization(Normalization::None).threads(1);
    let made = params.expand(&all, None, &Monitor::none()).unwrap();
    let first = Targets::single((0..80).map(|row| targets.row(row)[0]).collect()).unwrap();
    let targets = PartedTargets::new(&first, Some(&weights), true).unwrap();
    let (requests, width) = (Rc::new(Cell::new(0)), made.features.n_cols);
    let ends = [30, 80];
    let features = parted(&made.features.values, width, &ends).into_iter().map(|part| Features::Plain(part, true));
    let mut rows = Remote::new(Places(all_places(features.collect(), width, &targets, &ends), requests.clone()));
    let metadata = metadata(CChoice::Value(3.0), Loss::Huber { epsilon: Some(0.1) });
    let model =
        BasisExpansionRegressor::of_parts(made.expansion, &targets, &mut rows, metadata, &Monitor::none()).unwrap();
    let steps = model.report().max_iterations() as usize;
    assert!(steps > 1);
    assert_eq!(requests.get(), 1 + (2 * steps + 4) + (2 * steps + 3));
}

#[test]
fn rejects_features_and_costs_that_do_not_fit() {
    let targets = Targets::single(vec![1.0, 2.0, 3.0]).unwrap();
    let none = PartedTargets::new(&targets, Some(&[0.0; 3]), true).unwrap_err().to_string();
    assert!(none.contains("all weights are zero"), "{none}");
    let targets = PartedTargets::new(&targets, None, true).unwrap();
    let made = || {
        let bases = Vectors::Dense(DenseMatrix { values: vec![1.0, 2.0], n_rows: 2, n_cols: 1 });
        let similarity = AnySimilarity::new(&["rbf:gamma=1".to_owned()]).unwrap();
        let params = BasisExpansionParams::new(similarity).normalization(Normalization::None);
        let all = AnySamples::Vectors(bases);
        params.bases(all.clone()).expand(&all, None, &Monitor::none()).unwrap().expansion
    };
    let message = |features: Vec<f32>, width: usize, c: f64| {
        let mut rows = places(vec![Features::Plain(features, true)], width, &targets, &[3]);
        let metadata = metadata(CChoice::Value(c), Loss::SquaredError);
        let model = BasisExpansionRegressor::of_parts(made(), &targets, &mut rows, metadata, &Monitor::none());
        model.unwrap_err().to_string()
    };
    assert!(message(vec![1.0; 5], 2, 1.0).contains("5 features"), "{}", message(vec![1.0; 5], 2, 1.0));
    assert!(message(vec![1.0; 6], 2, 0.0).contains("C = 0"), "{}", message(vec![1.0; 6], 2, 0.0));
    assert!(message(vec![f32::NAN; 6], 2, 1.0).contains("a sum of the features"));
}
