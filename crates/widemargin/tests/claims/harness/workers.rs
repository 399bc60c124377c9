//! Fits whose rows are parts that others hold: all that reaches them are bytes, and bytes come back. The features of a
//! fit in memory on the same bases are made anew, a part at a time, with a normalization that is learned from the parts.
//!
//! The only file of the harness that knows how such fits are put together, as Python does for Dask.

use std::cell::RefCell;
use std::collections::HashMap;

use super::method::{Method, Model};
use super::places::Place;
use super::training::{Answers, Training};
use widemargin::data::{AnyRows, AnySamples, DenseMatrix, DenseView, Labels, Samples, Targets, Vectors};
use widemargin::expansion::{BasisExpansion, FeaturePart, FeatureRows, Normalization};
use widemargin::model::{
    AnyModel, Assembled, BasisExpansionOneClass, BasisExpansionParams, BasisExpansionRegressor, BasisExpansionSvc,
    BasisPlan, CChoice, ColumnSums, Loss, ModelMetadata, OneClass, OneClassMetadata, PartData, PartFeatures, PartState,
    PartTargets, PartedTargets, Polynomials, RegressorMetadata, SplineMetadata, ThinPlateBasis, ThinPlateParams,
    ThinPlateRegressor, ThinPlateSvc, choose_bases, draw_rows, merge_answers,
};
use widemargin::monitor::Monitor;
use widemargin::partition::{EncodedQuery, InMemory, Remote, Workers};
use widemargin::problem::{BlockObjective, ObjectiveState, OneVsRest, RemoteObjective};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::newton::{self, NewtonSettings};
use widemargin::solve::ridge::RidgeRows;
use widemargin::solve::thin_plate::{FirstSums, PartRows, RemoteRowSums, RowsShape, RowsState, rows_separate};
use widemargin::{Error, Result};

thread_local! {
    /// How often workers were asked each query since the last fit began.
    static REQUESTS: RefCell<HashMap<&'static str, usize>> = RefCell::default();
}

/// How often the workers of the last fit of this thread were asked queries of a name, or of any.
pub fn requests(name: Option<&str>) -> usize {
    REQUESTS.with_borrow(|all| {
        all.iter().filter(|(known, _)| name.is_none_or(|name| name == **known)).map(|(_, n)| n).sum()
    })
}

/// The numbers of a part, and how many a row has.
enum Numbers {
    Single(Vec<f32>, usize),
    Double(Vec<f64>, usize),
}

impl Numbers {
    fn rows(&self) -> Result<AnyRows<'_>> {
        Ok(match self {
            Numbers::Single(values, width) => DenseView::new(values, values.len() / width, *width)?.into(),
            Numbers::Double(values, width) => DenseView::new(values, values.len() / width, *width)?.into(),
        })
    }
}

/// Parts with their states; the last answers are merged first.
struct Places(Vec<(Numbers, PartData, Option<PartState>)>);

impl Places {
    fn new(parts: impl Iterator<Item = (Numbers, PartData)>) -> Self {
        Places(parts.map(|(numbers, data)| (numbers, data, None)).collect())
    }
}

impl Workers for Places {
    fn ask(&mut self, request: EncodedQuery<'_>) -> Result<Vec<u8>> {
        REQUESTS.with_borrow_mut(|all| *all.entry(request.name).or_default() += 1);
        let mut all = Vec::new();
        for (numbers, data, state) in &mut self.0 {
            let (answer, after) = data.answer(numbers.rows()?, request.query, state.as_ref(), &Monitor::none())?;
            match request.changes_state {
                true => *state = after,
                false => assert!(state.is_none() || *state == after, "{}", request.name),
            }
            all.push(answer);
        }
        let mut answers: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        let first = answers.remove(0);
        if answers.is_empty() {
            return merge_answers(request.query, &[first]);
        }
        let rest = merge_answers(request.query, &answers)?;
        merge_answers(request.query, &[first, &rest])
    }
}

/// Cuts rows of some width at `ends`.
fn parted<T: Clone>(values: &[T], width: usize, ends: &[usize]) -> Vec<Vec<T>> {
    let mut first = 0;
    let part = |&end: &usize| values[std::mem::replace(&mut first, end) * width..end * width].to_vec();
    ends.iter().map(part).collect()
}

fn part_targets(labels: &Labels, codes: Vec<u32>) -> PartTargets {
    let sets = labels.signed_sets().unwrap_or_default().to_vec();
    PartTargets { codes, n_classes: labels.classes().len(), sets }
}

/// Vectors of a part, and their weights.
type Part<'a> = (DenseView<'a, f64>, &'a [f64]);

fn views<'a>(values: &'a [Vec<f64>], weights: &'a [Vec<f64>], d: usize) -> Vec<Part<'a>> {
    let view = |(values, weights): (&'a Vec<f64>, &'a Vec<f64>)| {
        (DenseView::new(values, weights.len(), d).unwrap(), &weights[..])
    };
    values.iter().zip(weights).map(view).collect()
}

/// The plan of a fit on bases for the columns of all parts, as workers read it, and their first sums.
fn sent(parts: &[Part<'_>], plan: impl FnOnce(ColumnSums) -> Result<BasisPlan>) -> Result<(BasisPlan, FirstSums)> {
    let columns = parts.iter().map(|(part, weights)| ColumnSums::of(part, weights).unwrap());
    let plan = plan(columns.reduce(|a, b| a.merged(&b)).unwrap())?;
    let plan = BasisPlan::from_bytes(&plan.to_bytes()?)?;
    let sums = parts.iter().map(|(part, weights)| plan.first_sums(part, weights).unwrap());
    let sums = sums.fold(FirstSums::default(), |a, b| a.merged(&b));
    Ok((plan, sums))
}

pub fn fit(method: &Method, training: &Training, ends: &[usize], monitor: &Monitor<'_>) -> Result<Model> {
    let here = method.fit(training, Place::Memory, monitor)?;
    REQUESTS.with_borrow_mut(HashMap::clear);
    let weights = training.weights.clone().unwrap_or_else(|| vec![1.0; training.len()]);
    let rows = Rows { samples: &training.samples, weights: &weights, ends, monitor };
    match (method, &training.answers) {
        (Method::BasisExpansion(_), Answers::Labels(labels)) => rows.classify(here.own().unwrap(), labels),
        (Method::Regression(_), Answers::Targets(targets)) => rows.regress(here.own().unwrap(), targets),
        (Method::OneClass(_), Answers::None) => rows.detect(here.own().unwrap()),
        (Method::ThinPlate(params, polynomials), Answers::Labels(labels)) => {
            rows.separate(here.own().unwrap(), (params, *polynomials), labels)
        }
        (Method::Spline(_), Answers::Targets(targets)) => rows.smooth(here.own().unwrap(), targets),
        _ => panic!("no fit on workers"),
    }
}

struct Rows<'a> {
    samples: &'a AnySamples,
    weights: &'a [f64],
    ends: &'a [usize],
    monitor: &'a Monitor<'a>,
}

impl Rows<'_> {
    /// The expansion with a normalization that is learned from parts of the features, and the features of each part.
    fn expand(
        &self,
        here: &BasisExpansion<AnySimilarity>,
    ) -> Result<(BasisExpansion<AnySimilarity>, Vec<Vec<f32>>, usize)> {
        let normalization = here.normalization();
        let mut expansion = here.clone();
        if normalization.is_learned() {
            let plain = expansion.unnormalized();
            let features = plain.transform(self.samples, 1)?;
            let (values, weights) =
                (parted(&features.values, features.n_cols, self.ends), parted(self.weights, 1, self.ends));
            let part = |(values, weights)| Box::new(FeaturePart { values, weights });
            let mut rows = InMemory::<FeatureRows>(
                values.iter().map(Vec::as_slice).zip(weights.iter().map(Vec::as_slice)).map(part).collect(),
            );
            expansion = plain.normalized(normalization, &mut rows, self.weights.iter().sum(), self.monitor)?;
        }
        let features = expansion.transform(self.samples, 1)?;
        Ok((expansion, parted(&features.values, features.n_cols, self.ends), features.n_cols))
    }

    fn classify(&self, here: &BasisExpansionSvc<AnySimilarity>, labels: &Labels) -> Result<Model> {
        let (expansion, features, width) = self.expand(here.expansion())?;
        let costs: Vec<f64> = self.weights.iter().map(|weight| here.c() * weight).collect();
        let own = parted(labels.codes(), 1, self.ends).into_iter().zip(parted(&costs, 1, self.ends));
        let place = |(features, (codes, costs))| {
            let (targets, loss, intercept) = (part_targets(labels, codes), here.loss(), here.intercept());
            (Numbers::Single(features, width), PartData::Linear { targets, costs, loss, intercept })
        };
        let places = Places::new(features.into_iter().zip(own).map(place));
        let settings = NewtonSettings { tol: 1e-5, threads: 1, ..NewtonSettings::default() };
        let mut objective = RemoteObjective::new(places, self.monitor)?;
        let solution = newton::solve(&mut objective, &settings, None, self.monitor)?;
        let parts = Assembled {
            basis: here.basis().into(),
            basis_rows: here.basis_rows().to_vec(),
            c: here.c(),
            path: here.path().to_vec(),
            loss: here.loss(),
            intercept: here.intercept(),
            multilabel: labels.is_multilabel(),
            classes: here.classes().to_vec(),
            report: solution.report(Vec::new(), &settings),
            weights: solution.weights,
            intercepts: solution.intercepts,
        };
        Ok(Model::of_classes(BasisExpansionSvc::assembled(expansion, parts)?))
    }

    /// Parts with targets and weights that end at `ends`.
    fn ridge(
        features: Vec<Numbers>,
        kind: impl Fn(usize) -> PartFeatures,
        targets: &PartedTargets,
        ends: &[usize],
    ) -> Remote<RidgeRows, Places> {
        let values = parted(targets.values(), targets.n_outputs(), ends);
        let (weights, units) = (parted(targets.weights(), 1, ends), parted(targets.units(), 1, ends));
        let firsts = std::iter::once(0).chain(ends.iter().copied());
        let known = features.into_iter().zip(values).zip(weights.into_iter().zip(units)).zip(firsts);
        Remote::new(Places::new(known.map(|(((features, targets), (weights, units)), first)| {
            (features, PartData::Ridge { targets, weights, units, features: kind(first) })
        })))
    }

    fn regress(&self, here: &BasisExpansionRegressor<AnySimilarity>, targets: &Targets) -> Result<Model> {
        let (expansion, features, width) = self.expand(here.expansion())?;
        let has_intercept = here.has_intercept();
        let targets = PartedTargets::new(targets, Some(self.weights), has_intercept)?;
        let features = features.into_iter().map(|part| Numbers::Single(part, width)).collect();
        let kind = |first| PartFeatures::Plain { has_intercept, first };
        let mut rows = Self::ridge(features, kind, &targets, self.ends);
        let n_points = here.path().len().max(here.loss_path().len());
        let metadata = RegressorMetadata {
            basis: here.basis().into(),
            basis_rows: here.basis_rows().to_vec(),
            c: if n_points > 1 { CChoice::Auto } else { CChoice::Value(here.c()) },
            loss: here.loss(),
            seed: 0,
            stages: Vec::new(),
        };
        let model = BasisExpansionRegressor::of_parts(expansion, &targets, &mut rows, metadata, self.monitor)?;
        Ok(Model(AnyModel::Regressor(Box::new(model))))
    }

    fn detect(&self, here: &BasisExpansionOneClass<AnySimilarity>) -> Result<Model> {
        let (expansion, features, width) = self.expand(here.expansion())?;
        let ones = Targets::single(vec![1.0; self.weights.len()])?;
        let ones = PartedTargets::new(&ones, Some(self.weights), false)?;
        let features = features.into_iter().map(|part| Numbers::Single(part, width)).collect();
        let kind = |first| PartFeatures::Plain { has_intercept: false, first };
        let mut rows = Self::ridge(features, kind, &ones, self.ends);
        let metadata = OneClassMetadata {
            basis: here.basis().into(),
            basis_rows: here.basis_rows().to_vec(),
            quantile: OneClass::quantile(here),
            shrinkage: here.shrinkage(),
            seed: 0,
            stages: Vec::new(),
        };
        let model = BasisExpansionOneClass::of_parts(expansion, &ones, &mut rows, metadata, self.monitor)?;
        Ok(Model(AnyModel::OneClass(Box::new(model))))
    }

    /// The vectors of each part in double precision, and the weights.
    fn vectors(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>, usize) {
        let AnySamples::Vectors(Vectors::Dense(matrix)) = self.samples else { panic!("no dense vectors") };
        let values: Vec<f64> = matrix.values.iter().map(|&x| x.into()).collect();
        (parted(&values, matrix.n_cols, self.ends), parted(self.weights, 1, self.ends), matrix.n_cols)
    }

    fn present(&self) -> Vec<usize> {
        (0..self.weights.len()).filter(|&row| self.weights[row] > 0.0).collect()
    }

    /// How many rows of weight above 0 each part has with those before it.
    fn present_ends(&self) -> Vec<usize> {
        let present = self.present();
        self.ends.iter().map(|end| present.iter().filter(|row| *row < end).count()).collect()
    }

    /// The first samples with weight as bases, and their rows.
    fn first_bases(&self, n: usize) -> Result<(Vec<f64>, Vec<u64>)> {
        let present = self.present();
        let some = Samples::select(self.samples, &present);
        let AnySamples::Vectors(Vectors::Dense(matrix)) = &some else { panic!("no dense vectors") };
        let ones = vec![1.0; present.len()];
        let (bases, rows) = choose_bases(&matrix.view()?, &ones, ThinPlateBasis::Index, n, 0, 1)?;
        Ok((bases, rows.into_iter().map(|at| present[at] as u64).collect()))
    }

    fn separate(
        &self,
        here: &ThinPlateSvc,
        (params, polynomials): (&ThinPlateParams, Polynomials),
        labels: &Labels,
    ) -> Result<Model> {
        let (values, weights, d) = self.vectors();
        let parts = views(&values, &weights, d);
        let (bases, support) = self.first_bases(here.n_bases())?;
        let (plan, sums) = sent(&parts, |columns| BasisPlan::new(here.kernel(), bases, columns))?;

        let targets = OneVsRest::of(labels);
        let (present, ends, total) = (self.present(), self.present_ends(), self.weights.iter().sum());
        let of_present =
            |of: &dyn Fn(usize) -> f64| parted(&present.iter().map(|&row| of(row)).collect::<Vec<f64>>(), 1, &ends);
        let codes = parted(&present.iter().map(|&row| labels.codes()[row]).collect::<Vec<u32>>(), 1, &ends);
        let roots = of_present(&|row| self.weights[row].sqrt());
        // Bases are not judged.
        let units = of_present(&|row| if support.contains(&(row as u64)) { 0.0 } else { self.weights[row] });
        let rows_of = |features: Vec<Vec<f64>>, n_penalized: usize, n_free: usize| {
            let place = |(at, features): (usize, _)| {
                let targets = part_targets(labels, codes[at].clone());
                let (roots, units) = (roots[at].clone(), units[at].clone());
                let width = n_penalized + n_free;
                (Numbers::Double(features, width), PartData::Bases { targets, n_penalized, roots, units })
            };
            let places = Places::new(features.into_iter().enumerate().map(place));
            let shape = RowsShape { n_rows: present.len(), n_penalized, n_free, n_problems: targets.n_problems() };
            RemoteRowSums::new(places, shape).weighed(targets.uneven_weight(self.weights))
        };
        let free = plan.settle(&sums, Polynomials::Free, present.len(), total, false)?;
        let separates = polynomials == Polynomials::Auto && free.n_free() > 1 && {
            let of = |(part, weights): &Part<'_>| plan.polynomial_features(part, weights, free.columns()).unwrap();
            let mut rows = rows_of(parts.iter().map(of).collect(), 0, free.n_free());
            rows_separate(&mut rows, total, 1, self.monitor)?
        };
        let settled = plan.settle(&sums, polynomials, present.len(), total, separates)?;
        let of = |(part, weights): &Part<'_>| {
            plan.features(part, weights, settled.penalized(), settled.columns(), settled.cross()).unwrap()
        };
        let mut rows = rows_of(parts.iter().map(of).collect(), settled.n_penalized(), settled.n_free());
        let metadata = ModelMetadata {
            classes: labels.classes().to_vec(),
            total_weight: targets.total(self.weights),
            several: labels.is_multilabel().then_some(targets),
            evaluated_on: Some((labels, self.weights)),
            support,
            stages: Vec::new(),
        };
        Ok(Model::of_classes(plan.clone().fit(params, settled.clone(), &mut rows, metadata, self.monitor)?))
    }

    fn smooth(&self, here: &ThinPlateRegressor, targets: &Targets) -> Result<Model> {
        let (values, weights, d) = self.vectors();
        let parts = views(&values, &weights, d);
        let (bases, support) = self.first_bases(here.n_bases())?;
        let (plan, sums) = sent(&parts, |columns| BasisPlan::for_regression(here.kernel(), bases, columns))?;
        let targets = PartedTargets::new(targets, Some(self.weights), true)?;
        let settled = plan.settle(&sums, Polynomials::Free, targets.n_present(), targets.total(), false)?;
        let n_penalized = settled.n_penalized();
        let of = |(part, weights): &Part<'_>| {
            let features = plan.features(part, weights, settled.penalized(), settled.columns(), settled.cross());
            Numbers::Double(features.unwrap(), n_penalized + settled.n_free())
        };
        // Only samples of weight above 0 have features.
        let (features, present) = (parts.iter().map(of).collect(), targets.present());
        let kind = |_| PartFeatures::Lifted { n_penalized };
        let mut rows = Self::ridge(features, kind, &present, &self.present_ends());
        let c = if here.path().len() > 1 { CChoice::Auto } else { CChoice::Value(here.c()) };
        let metadata = SplineMetadata { c, basis: "index".into(), support, seed: 0, stages: Vec::new() };
        let model = plan.clone().fit_spline(settled.clone(), &targets, &mut rows, metadata, self.monitor)?;
        Ok(Model(AnyModel::Regressor(Box::new(model))))
    }
}

/// Parts that do not fit to each other are refused, with their sizes.
#[test]
fn rejects_parts_that_do_not_fit() {
    let (codes, costs, features) = ([0, 1, 0], [1.0; 3], [1.0f32; 6]);
    let block = || DenseView::new(&features, 3, 2).unwrap().into();
    let rows = |costs| {
        let loss = Loss::SquaredHinge;
        BlockObjective::alone(block(), OneVsRest::new(&codes, 2), costs, loss, widemargin::model::Intercept::Free, 1)
    };
    assert!(matches!(rows(&costs[1..]), Err(Error::Shape { .. })));
    assert!(matches!(rows(&costs).unwrap().recall(&ObjectiveState::default()), Err(Error::Shape { .. })));

    let rows = PartRows {
        features: &[1.0; 7],
        n_penalized: 1,
        targets: OneVsRest::new(&codes[..2], 2),
        roots: &[1.0; 2],
        units: &[1.0; 2],
        threads: 1,
    };
    let error = rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).unwrap_err();
    assert!(error.to_string().contains("2 rows of features"), "{error}");
    let rows = PartRows { features: &[1.0; 6], ..rows };
    let state = RowsState { scores: vec![0.0; 3], ..RowsState::default() };
    assert!(rows.with(state, &Monitor::none(), |rows| rows.accept(&[0])).is_err());
    assert!(rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).is_ok());

    let targets = Targets::single(vec![1.0, 2.0, 3.0]).unwrap();
    let error = PartedTargets::new(&targets, Some(&[0.0; 3]), true).unwrap_err().to_string();
    assert!(error.contains("all weights are zero"), "{error}");
    let targets = PartedTargets::new(&targets, None, true).unwrap();
    let samples = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: vec![1.0, 2.0], n_rows: 2, n_cols: 1 }));
    let message = |features: Vec<f32>, c: f64| {
        let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=1"]).unwrap());
        let params = params.normalization(Normalization::None).bases(samples.clone());
        let expansion = params.expand(&samples, None, &Monitor::none()).unwrap().expansion;
        let kind = |first| PartFeatures::Plain { has_intercept: true, first };
        let mut rows = Rows::ridge(vec![Numbers::Single(features, 2)], kind, &targets, &[3]);
        let metadata = RegressorMetadata {
            basis: "explicit".into(),
            basis_rows: Vec::new(),
            c: CChoice::Value(c),
            loss: Loss::SquaredError,
            seed: 0,
            stages: Vec::new(),
        };
        let fitted = BasisExpansionRegressor::of_parts(expansion, &targets, &mut rows, metadata, &Monitor::none());
        fitted.map(|_| ()).unwrap_err().to_string()
    };
    assert!(message(vec![1.0; 5], 1.0).contains("5 features"));
    assert!(message(vec![1.0; 6], 0.0).contains("C = 0"));
    assert!(message(vec![f32::NAN; 6], 1.0).contains("a sum of the features"));
}

#[test]
fn drawn_rows_are_present_and_repeatable() {
    let weights: Vec<f64> = (0..500).map(|i| f64::from(i % 3)).collect();
    for most in [10, 300, 400] {
        let rows = draw_rows(&weights, most, 7);
        assert_eq!(rows.len(), most.min(333));
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]) && rows.iter().all(|&row| weights[row] > 0.0));
        assert_eq!(rows, draw_rows(&weights, most, 7));
    }
}
