//! Separate steps of a solver, each by a new objective that restores the state of the previous one, and models assembled
//! from their results, as with several machines.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::linear_common::{Case, INTERCEPTS};
use widemargin::data::{AnySamples, DenseMatrix, Labels, Vectors};
use widemargin::expansion::{FeaturePart, FeatureRows, Normalization};
use widemargin::model::{Assembled, BasisExpansionParams, BasisExpansionSvc};
use widemargin::monitor::Monitor;
use widemargin::partition::{self, EncodedQuery, InMemory, Workers};
use widemargin::problem::{
    BlockObjective, Intercept, LINEAR_QUERIES, Objective, ObjectiveScratch, ObjectiveState, OneVsRest, RemoteObjective,
};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::newton::{self, NewtonSettings};
use widemargin::{Error, Result};

/// Rows of a case in several places, which store nothing but their remembered state.
struct Forgetful<'a> {
    case: &'a Case,
    parts: Vec<(Range<usize>, ObjectiveState)>,
    scratch: ObjectiveScratch,
    /// How often each query was put.
    requests: &'a Counts,
}

type Counts = RefCell<HashMap<&'static str, usize>>;

impl<'a> Forgetful<'a> {
    fn objective(case: &'a Case, parts: &[Range<usize>], requests: &'a Counts) -> RemoteObjective<Self> {
        let parts = parts.iter().map(|rows| (rows.clone(), ObjectiveState::default())).collect();
        let workers = Forgetful { case, parts, scratch: ObjectiveScratch::default(), requests };
        let objective = RemoteObjective::new(workers, &Monitor::none()).unwrap();
        let whole = Objective::shape(&case.objective(&[case.block()], 1));
        assert_eq!(Objective::shape(&objective), whole, "the sizes of all rows together");
        objective
    }
}

impl Workers for Forgetful<'_> {
    fn ask(&mut self, request: EncodedQuery<'_>) -> Result<Vec<u8>> {
        *self.requests.borrow_mut().entry(request.name).or_default() += 1;
        let Case { codes, costs, n_classes, n_features, loss, intercept, .. } = self.case;
        let mut answers = Vec::new();
        for (rows, state) in &mut self.parts {
            let values: Vec<f32> = rows.clone().flat_map(|row| self.case.row(row)).copied().collect();
            let matrix = DenseMatrix { values, n_rows: rows.len(), n_cols: *n_features };
            let targets = OneVsRest::new(&codes[rows.clone()], *n_classes);
            let scratch = std::mem::take(&mut self.scratch);
            let (block, costs) = (matrix.view()?.into(), &costs[rows.clone()]);
            let mut objective = BlockObjective::alone_in(scratch, block, targets, costs, (*loss, *intercept), 1)?;
            objective.recall(&state.scores, &state.along)?;
            answers.push(partition::answer(LINEAR_QUERIES, request.query, &mut objective, &Monitor::none())?);
            if request.changes_state {
                *state = objective.state();
            }
            self.scratch = objective.into_scratch();
        }
        // As a tree: the last two first.
        let answers: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
        let last = partition::merge(LINEAR_QUERIES, request.query, &answers[1..])?;
        partition::merge(LINEAR_QUERIES, request.query, &[answers[0], &last])
    }
}

#[test]
fn a_fit_in_separate_steps_is_the_fit() {
    for (n_classes, intercept) in [(2, INTERCEPTS[0]), (4, INTERCEPTS[1]), (3, Intercept::None)] {
        let mut case = Case::new(700, 12, n_classes, 0.5, 3);
        case.intercept = intercept;
        let settings = NewtonSettings { tol: 1e-6, threads: 1, ..NewtonSettings::default() };
        let whole = case.solve_with(&[case.block()], &settings);
        let requests = Counts::default();
        let mut remote = Forgetful::objective(&case, &[0..300, 300..301, 301..700], &requests);
        let separate = newton::solve(&mut remote, &settings, None, &Monitor::none()).unwrap();
        let largest = whole.weights.iter().fold(0.0f32, |largest, w| largest.max(w.abs()));
        for (a, b) in separate.weights.iter().zip(&whole.weights) {
            assert!((a - b).abs() <= 1e-6 * largest, "{a} instead of {b}");
        }
    }
}

#[test]
fn few_active_rows_make_the_hessian_wherever_they_are() {
    for (n_classes, intercept) in [(2, INTERCEPTS[0]), (4, INTERCEPTS[1]), (3, Intercept::None)] {
        let mut case = Case::new(900, 150, n_classes, 1e4, 8);
        case.intercept = intercept;
        let settings = NewtonSettings { threads: 1, ..NewtonSettings::default() };
        let whole = case.solve_with(&[case.block()], &settings);
        let requests = Counts::default();
        let mut remote = Forgetful::objective(&case, &[0..300, 300..301, 301..900], &requests);
        let separate = newton::solve(&mut remote, &settings, None, &Monitor::none()).unwrap();
        // Sums in other parts, and on other vectors, round otherwise, which takes or saves a step in four at this C.
        for (a, b) in separate.iterations.iter().zip(&whole.iterations) {
            assert!(a.abs_diff(*b) <= 1 + b / 4, "{a} steps instead of {b}");
        }
        let most = whole.iterations.iter().map(|steps| 1 + steps / 4).sum::<u32>();
        assert!(separate.n_factors.abs_diff(whole.n_factors) <= most as _);
        assert!(requests.borrow()["active_rows"] > 0, "{whole:?}");
        for (a, b) in separate.primal.iter().zip(&whole.primal) {
            assert!((a - b).abs() <= 2.0 * settings.tol * b, "{a} instead of {b}");
        }
    }
}

#[test]
fn rejects_the_state_of_other_rows() {
    let case = Case::new(20, 3, 3, 1.0, 1);
    let costs = &case.costs;
    let made = || BlockObjective::alone(case.block(), case.targets(), costs, case.loss, case.intercept, 1);
    let mut objective = made().unwrap();
    assert!(matches!(objective.recall(&[0.0; 59], &[]), Err(Error::Shape { .. })));
    let other = made().unwrap().state();
    objective.recall(&other.scores, &other.along).unwrap();
    let short = BlockObjective::alone(case.block(), case.targets(), &costs[1..], case.loss, case.intercept, 1);
    assert!(matches!(short, Err(Error::Shape { .. })));
}

#[test]
fn a_model_of_parts_is_the_model() {
    let values = (0..80).flat_map(|i| [(0.7 * i as f32).sin(), (0.3 * i as f32).cos()]).collect();
    let matrix = DenseMatrix { values, n_rows: 80, n_cols: 2 };
    let samples = AnySamples::Vectors(Vectors::Dense(matrix));
    let labels = Labels::new((0..80).map(|i| i64::from(i % 7 % 3)));
    let params = || {
        let similarity = AnySimilarity::new(&["rbf:gamma=1", "laplacian:gamma=0.5"]).unwrap();
        BasisExpansionParams::new(similarity).n_basis(9).threads(1)
    };
    let fitted = params().fit(&samples, &labels).unwrap();
    let parts = |weights: Vec<f32>| Assembled {
        basis: "auto".into(),
        basis_rows: fitted.basis_rows().to_vec(),
        c: fitted.c(),
        path: Vec::new(),
        loss: fitted.loss(),
        intercept: fitted.intercept(),
        multilabel: false,
        classes: fitted.classes().to_vec(),
        weights,
        intercepts: fitted.intercepts().to_vec(),
        report: fitted.report().clone(),
    };
    let expanded = || params().expand(&samples, Some(&labels), &Monitor::none()).unwrap().expansion;
    let again = BasisExpansionSvc::assembled(expanded(), parts(fitted.weights().to_vec())).unwrap();
    let again = again.with_training(fitted.training().unwrap().clone());
    let again = again.with_calibration(fitted.calibration().unwrap().clone());
    assert_eq!(again.to_bytes().unwrap(), fitted.to_bytes().unwrap());
    let short = BasisExpansionSvc::assembled(expanded(), parts(fitted.weights()[1..].to_vec()));
    assert!(matches!(short, Err(Error::Shape { .. })));

    // A normalization that is learned from features in parts is that of the whole.
    let raw = params().normalization(Normalization::None).expand(&samples, Some(&labels), &Monitor::none()).unwrap();
    let (width, ones) = (raw.features.n_cols, [1.0; 80]);
    let (first, rest) = raw.features.values.split_at(30 * width);
    let part = |values| Box::new(FeaturePart { values, weights: &ones[..values.len() / width] });
    for normalization in [Normalization::MeanNorm, Normalization::ZScore, Normalization::Covariance] {
        let whole = params().normalization(normalization).expand(&samples, Some(&labels), &Monitor::none()).unwrap();
        let mut rows = InMemory::<FeatureRows>(vec![part(first), part(rest)]);
        let learned = raw.expansion.clone().normalized(normalization, &mut rows, 80.0, &Monitor::none()).unwrap();
        assert_eq!(learned.normalization(), normalization);
        let mut features = raw.features.values.clone();
        learned.apply_in_place(&mut features);
        assert_eq!(features, learned.transform(&samples, 1).unwrap().values);
        // Whitening magnifies directions with little variance, and with them the rounding of the similarities.
        let tolerance = if normalization == Normalization::Covariance { 1e-3 } else { 1e-6 };
        for (a, b) in features.iter().zip(&whole.features.values) {
            assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} instead of {b}");
        }
    }
}
