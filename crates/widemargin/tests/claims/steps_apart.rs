//! Steps of a solver that are taken apart, each by an objective that has just been made and recalls what the one before
//! remembered, and machines put together of what was found so: what several machines do.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::linear_common::{Case, INTERCEPTS};
use widemargin::data::{AnySamples, DenseMatrix, Labels, Vectors};
use widemargin::expansion::Normalization;
use widemargin::model::{Assembled, BasisExpansionParams, BasisExpansionSvc};
use widemargin::monitor::Monitor;
use widemargin::problem::{
    ActiveRows, BlockObjective, Cost, Gradient, Gram, Intercept, Line, LineSums, LinearObjective, Objective,
    ObjectiveScratch, ObjectiveState, OneVsRest, Shape,
};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::newton::{self, NewtonSettings};
use widemargin::{Error, Result};

/// Some rows of a case, of which nothing is kept but what was remembered.
struct Forgetful<'a> {
    case: &'a Case,
    targets: OneVsRest<'a>,
    costs: &'a [f64],
    rows: std::ops::Range<usize>,
    state: ObjectiveState,
    scratch: RefCell<ObjectiveScratch>,
    /// How often active rows were asked for.
    fetched: Arc<AtomicUsize>,
}

impl<'a> Forgetful<'a> {
    fn new(case: &'a Case, codes: &'a [u32], rows: std::ops::Range<usize>, n_classes: usize) -> Self {
        let (targets, costs) = (OneVsRest::new(&codes[rows.clone()], n_classes), &case.costs[rows.clone()]);
        Forgetful {
            case,
            targets,
            costs,
            rows,
            state: ObjectiveState::default(),
            scratch: RefCell::default(),
            fetched: Arc::default(),
        }
    }

    fn step<T>(&self, work: impl FnOnce(&mut BlockObjective<'_>) -> Result<T>) -> Result<(T, ObjectiveState)> {
        let values: Vec<f32> = self.rows.clone().flat_map(|row| self.case.row(row)).copied().collect();
        let matrix = DenseMatrix { values, n_rows: self.rows.len(), n_cols: self.case.n_features };
        let block = matrix.view()?.into();
        let kind = (self.case.loss, self.case.intercept);
        let scratch = self.scratch.take();
        let mut objective = BlockObjective::alone_in(scratch, block, self.targets, self.costs, kind, 1)?;
        objective.recall(&self.state.scores, &self.state.along)?;
        let told = work(&mut objective)?;
        let state = objective.state();
        *self.scratch.borrow_mut() = objective.into_scratch();
        Ok((told, state))
    }

    fn moved(&mut self, work: impl FnOnce(&mut BlockObjective<'_>) -> Result<()>) -> Result<()> {
        self.state = self.step(work)?.1;
        Ok(())
    }
}

impl Objective for Forgetful<'_> {
    fn shape(&self) -> Shape {
        self.step(|objective| Ok(objective.shape())).unwrap().0
    }

    fn cost(&self) -> Cost {
        self.step(|objective| Ok(objective.cost())).unwrap().0
    }

    fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()> {
        self.moved(|objective| objective.set_point(live, points))
    }

    fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()> {
        self.moved(|objective| objective.set_direction(live, directions))
    }

    fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>> {
        Ok(self.step(|objective| objective.line_search_eval(live, lines))?.0)
    }

    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.moved(|objective| objective.take_step(live, steps))
    }

    fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient> {
        Ok(self.step(|objective| objective.gradient(live, intercepts))?.0)
    }

    fn hessian_product(&mut self, live: &[usize], intercepts: &[f64], directions: &[f64]) -> Result<Vec<f64>> {
        Ok(self.step(|objective| objective.hessian_product(live, intercepts, directions))?.0)
    }

    fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>> {
        Ok(self.step(|objective| objective.gram(live, intercepts, monitor))?.0)
    }

    fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>> {
        Ok(self.step(|objective| objective.diagonal(live, intercepts))?.0)
    }

    fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>> {
        self.fetched.fetch_add(1, Ordering::Relaxed);
        Ok(self.step(|objective| objective.active_rows(k, intercept, most))?.0)
    }
}

#[test]
fn a_fit_of_steps_apart_is_the_fit() {
    for (n_classes, intercept) in [(2, INTERCEPTS[0]), (4, INTERCEPTS[1]), (3, Intercept::None)] {
        let mut case = Case::new(700, 12, n_classes, 0.5, 3);
        case.intercept = intercept;
        let settings = NewtonSettings { tol: 1e-6, threads: 1, ..NewtonSettings::default() };
        let whole = case.solve_with(&[case.block()], &settings);
        let codes = case.codes.clone();
        let parts = [0..300, 300..301, 301..700]
            .map(|rows| Box::new(Forgetful::new(&case, &codes, rows, n_classes)) as Box<dyn Objective + Send>);
        let mut apart = LinearObjective::from_parts(parts.into()).unwrap();
        let apart = newton::solve(&mut apart, &settings, None, &Monitor::none()).unwrap();
        let largest = whole.weights.iter().fold(0.0f32, |largest, w| largest.max(w.abs()));
        for (a, b) in apart.weights.iter().zip(&whole.weights) {
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
        let codes = case.codes.clone();
        let parts = [0..300, 300..301, 301..900].map(|rows| Forgetful::new(&case, &codes, rows, n_classes));
        let fetched = parts.each_ref().map(|part| part.fetched.clone());
        let parts = parts.map(|part| Box::new(part) as Box<dyn Objective + Send>);
        let mut apart = LinearObjective::from_parts(parts.into()).unwrap();
        let apart = newton::solve(&mut apart, &settings, None, &Monitor::none()).unwrap();
        assert_eq!((&apart.iterations, apart.n_factors), (&whole.iterations, whole.n_factors));
        assert!(fetched.iter().all(|times| times.load(Ordering::Relaxed) > 0), "{whole:?}");
        for (a, b) in apart.primal.iter().zip(&whole.primal) {
            assert!((a - b).abs() <= 2.0 * settings.tol * b, "{a} instead of {b}");
        }
    }
}

#[test]
fn what_is_of_other_rows_is_refused() {
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
fn a_machine_of_parts_is_the_machine() {
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
        basis: "index".into(),
        basis_rows: fitted.basis_rows().to_vec(),
        c: fitted.c(),
        loss: fitted.loss(),
        intercept: fitted.intercept(),
        classes: fitted.classes().to_vec(),
        weights,
        intercepts: fitted.intercepts().to_vec(),
        report: fitted.report().clone(),
    };
    let expanded = || params().expand(&samples, Some(&labels), &Monitor::none()).unwrap().expansion;
    let again = BasisExpansionSvc::assembled(expanded(), parts(fitted.weights().to_vec())).unwrap();
    let again = again.with_training(fitted.training().unwrap().clone());
    assert_eq!(again.to_bytes().unwrap(), fitted.to_bytes().unwrap());
    let short = BasisExpansionSvc::assembled(expanded(), parts(fitted.weights()[1..].to_vec()));
    assert!(matches!(short, Err(Error::Shape { .. })));

    // A centre and factors from elsewhere: those of none leave the similarities as they are.
    let (width, columns) = (expanded().n_features(), expanded().n_columns());
    let raw = params().normalization(Normalization::None).expand(&samples, Some(&labels), &Monitor::none()).unwrap();
    let plain = expanded().with_affine(Normalization::ZScore, &vec![0.0; width], &[vec![1.0], vec![1.0; columns]]);
    assert_eq!(plain.unwrap().transform(&samples, 1).unwrap(), raw.features);
    let halved = expanded().with_affine(Normalization::MeanNorm, &vec![1.0; width], &[vec![0.5], vec![0.5]]).unwrap();
    for (a, b) in halved.transform(&samples, 1).unwrap().values.iter().zip(&raw.features.values) {
        assert_eq!(*a, (b - 1.0) * 0.5);
    }
    for (centre, factors) in [(width - 1, vec![vec![1.0]; 2]), (width, vec![vec![1.0]]), (width, vec![vec![1.0; 2]; 2])]
    {
        let wrong = expanded().with_affine(Normalization::MeanNorm, &vec![0.0; centre], &factors);
        assert!(matches!(wrong, Err(Error::Shape { .. })));
    }
}
