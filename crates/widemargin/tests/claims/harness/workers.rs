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
use widemargin::expansion::{BasisExpansion, Normalization};
use widemargin::model::{
    AnyModel, BasisExpansionOneClass, BasisExpansionParams, BasisExpansionRegressor, BasisExpansionSvc, BasisPlan,
    CChoice, Loss, PartData, PartFeatures, PartLift, PartState, PartTargets, PartedTargets, Polynomials, Preparation,
    ThinPlateBasis, ThinPlateParams, ThinPlateRegressor, ThinPlateRegressorParams, ThinPlateSvc, TrainingSettings,
    WeightedLabels, choose_bases, draw_rows, merge_answers,
};
use widemargin::monitor::Monitor;
use widemargin::partition::{EncodedQuery, Workers};
use widemargin::problem::{BlockObjective, LinearProblem, ObjectiveState, OneVsRest};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::newton::NewtonSettings;
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
        (Method::Spline(params), Answers::Targets(targets)) => rows.smooth(here.own().unwrap(), params, targets),
        _ => panic!("no fit on workers"),
    }
}

fn preparation(basis: &str, rows: &[usize]) -> Preparation {
    let training = TrainingSettings::default();
    Preparation { basis: basis.into(), basis_rows: rows.to_vec(), training, stages: Vec::new() }
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
            let (width, weights) = (features.n_cols, parted(self.weights, 1, self.ends));
            let parts = parted(&features.values, width, self.ends).into_iter().zip(weights);
            let workers = Places::new(parts.map(|(values, weights)| {
                (Numbers::Single(values, width), PartData::Features { weights, is_normalized: false.into() })
            }));
            expansion = plain.normalized(normalization, workers, self.weights.iter().sum(), self.monitor)?;
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
        let preparation = preparation(here.basis(), here.basis_rows());
        let (labeled, settings) = (self.labeled(labels), (here.c(), &settings));
        let model =
            BasisExpansionSvc::of_workers(expansion, places, labeled, None, preparation, settings, self.monitor)?;
        Ok(Model::of_classes(model))
    }

    fn labeled<'a>(&'a self, labels: &'a Labels) -> WeightedLabels<'a> {
        WeightedLabels { labels, weights: self.weights, sample_weights: self.weights }
    }

    /// Parts with targets and weights that end at `ends`.
    fn ridge(features: Vec<Numbers>, kind: PartFeatures, targets: &PartedTargets, ends: &[usize]) -> Places {
        let values = parted(targets.values(), targets.n_outputs(), ends);
        let (weights, units) = (parted(targets.weights(), 1, ends), parted(targets.units(), 1, ends));
        let known = features.into_iter().zip(values).zip(weights.into_iter().zip(units));
        Places::new(known.map(|((features, targets), (weights, units))| {
            (features, PartData::Ridge { targets, weights, units, features: kind })
        }))
    }

    fn regress(&self, here: &BasisExpansionRegressor<AnySimilarity>, targets: &Targets) -> Result<Model> {
        let (expansion, features, width) = self.expand(here.expansion())?;
        let has_intercept = here.has_intercept();
        let targets = PartedTargets::new(targets, Some(self.weights), has_intercept)?.with_bases(here.basis_rows());
        let features = features.into_iter().map(|part| Numbers::Single(part, width)).collect();
        let kind = PartFeatures::Plain { has_intercept };
        let workers = Self::ridge(features, kind, &targets, self.ends);
        let n_points = here.path().len().max(here.loss_path().len());
        let c = if n_points > 1 { CChoice::Auto } else { CChoice::Value(here.c()) };
        let (choice, preparation) = ((c, here.loss()), preparation(here.basis(), here.basis_rows()));
        let model =
            BasisExpansionRegressor::of_workers(expansion, &targets, workers, choice, preparation, self.monitor)?;
        Ok(Model(AnyModel::Regressor(Box::new(model))))
    }

    fn detect(&self, here: &BasisExpansionOneClass<AnySimilarity>) -> Result<Model> {
        let (expansion, features, width) = self.expand(here.expansion())?;
        let ones = Targets::single(vec![1.0; self.weights.len()])?;
        let ones = PartedTargets::new(&ones, Some(self.weights), false)?;
        let features = features.into_iter().map(|part| Numbers::Single(part, width)).collect();
        let kind = PartFeatures::Plain { has_intercept: false };
        let workers = Self::ridge(features, kind, &ones, self.ends);
        let numbers = (here.quantile(), here.shrinkage());
        let preparation = preparation(here.basis(), here.basis_rows());
        let model = BasisExpansionOneClass::of_workers(expansion, &ones, workers, numbers, preparation, self.monitor)?;
        Ok(Model(AnyModel::OneClass(Box::new(model))))
    }

    /// The vectors of each part in double precision with their weights, as its samples.
    fn vectors(&self) -> (Vec<(Numbers, Vec<f64>)>, Places) {
        let AnySamples::Vectors(Vectors::Dense(matrix)) = self.samples else { panic!("no dense vectors") };
        let values: Vec<f64> = matrix.values.iter().map(|&x| x.into()).collect();
        let numbers = || parted(&values, matrix.n_cols, self.ends).into_iter();
        let numbers =
            || numbers().map(|part| Numbers::Double(part, matrix.n_cols)).zip(parted(self.weights, 1, self.ends));
        let samples = Places::new(numbers().map(|(numbers, weights)| (numbers, PartData::Samples { weights })));
        (numbers().collect(), samples)
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
    fn first_bases(&self, n: usize) -> Result<(Vec<f64>, Vec<usize>)> {
        let present = self.present();
        let some = Samples::select(self.samples, &present);
        let AnySamples::Vectors(Vectors::Dense(matrix)) = &some else { panic!("no dense vectors") };
        let ones = vec![1.0; present.len()];
        let (bases, rows) = choose_bases(&matrix.view()?, &ones, ThinPlateBasis::Index, n, 0, 1)?;
        Ok((bases, rows.into_iter().map(|at| present[at]).collect()))
    }

    /// The features that workers make of their samples, by the plan as they read it.
    fn lifted(parts: &[(Numbers, Vec<f64>)], plan: &BasisPlan, lift: &PartLift) -> Result<Vec<Numbers>> {
        let plan = BasisPlan::from_bytes(&plan.to_bytes()?)?;
        let of = |(numbers, weights): &(Numbers, Vec<f64>)| {
            let n = weights.iter().filter(|weight| **weight > 0.0).count();
            let features = plan.features(&numbers.rows()?, weights, lift)?;
            let width = features.len().checked_div(n).unwrap_or(1);
            Ok(Numbers::Double(features, width))
        };
        parts.iter().map(of).collect()
    }

    fn separate(
        &self,
        here: &ThinPlateSvc,
        (params, polynomials): (&ThinPlateParams, Polynomials),
        labels: &Labels,
    ) -> Result<Model> {
        let (parts, samples) = self.vectors();
        let (bases, basis_rows) = self.first_bases(here.n_bases())?;
        let (present, ends) = (self.present(), self.present_ends());
        let of_present =
            |of: &dyn Fn(usize) -> f64| parted(&present.iter().map(|&row| of(row)).collect::<Vec<f64>>(), 1, &ends);
        let codes = parted(&present.iter().map(|&row| labels.codes()[row]).collect::<Vec<u32>>(), 1, &ends);
        let roots = of_present(&|row| self.weights[row].sqrt());
        // Bases are not judged.
        let units = of_present(&|row| if basis_rows.contains(&row) { 0.0 } else { self.weights[row] });
        let features = |plan: &BasisPlan, lift: PartLift| {
            let n_penalized = lift.n_penalized;
            let place = |(at, features): (usize, _)| {
                let targets = part_targets(labels, codes[at].clone());
                let (roots, units) = (roots[at].clone(), units[at].clone());
                (features, PartData::Bases { targets, n_penalized, roots, units })
            };
            Ok(Places::new(Self::lifted(&parts, plan, &lift)?.into_iter().enumerate().map(place)))
        };
        let params = params.clone().kernel(here.kernel()).polynomials(polynomials);
        let (labeled, of_fit) = (self.labeled(labels), preparation("index", &basis_rows));
        let model = params.fit_on_workers(bases, (samples, features), &labeled, of_fit, self.monitor)?;
        Ok(Model::of_classes(model))
    }

    fn smooth(&self, here: &ThinPlateRegressor, params: &ThinPlateRegressorParams, targets: &Targets) -> Result<Model> {
        let (parts, samples) = self.vectors();
        let (bases, basis_rows) = self.first_bases(here.n_bases())?;
        let targets = PartedTargets::new(targets, Some(self.weights), true)?;
        // Only samples of weight above 0 have features.
        let present = targets.present();
        let features = |plan: &BasisPlan, lift: PartLift| {
            let kind = PartFeatures::Lifted { n_penalized: lift.n_penalized };
            Ok(Self::ridge(Self::lifted(&parts, plan, &lift)?, kind, &present, &self.present_ends()))
        };
        let (params, of_fit) = (params.clone().kernel(here.kernel()), preparation("index", &basis_rows));
        let model = params.fit_on_workers(bases, (samples, features), &targets, of_fit, self.monitor)?;
        Ok(Model(AnyModel::Regressor(Box::new(model))))
    }
}

/// Parts that do not fit to each other are refused, with their sizes.
#[test]
fn rejects_parts_that_do_not_fit() {
    let (codes, costs, features) = ([0, 1, 0], [1.0; 3], [1.0f32; 6]);
    let block = || DenseView::new(&features, 3, 2).unwrap().into();
    let rows = |costs| {
        let (loss, intercept) = (Loss::SquaredHinge, widemargin::model::Intercept::Free);
        let problem = LinearProblem { targets: OneVsRest::new(&codes, 2), costs, loss, intercept };
        BlockObjective::new(block(), problem, 1)
    };
    assert!(matches!(rows(&costs[1..]), Err(Error::Shape { .. })));
    assert!(matches!(rows(&costs).unwrap().recall(ObjectiveState::default()), Err(Error::Shape { .. })));

    let targets = Targets::single(vec![1.0, 2.0, 3.0]).unwrap();
    let error = PartedTargets::new(&targets, Some(&[0.0; 3]), true).unwrap_err().to_string();
    assert!(error.contains("all weights are zero"), "{error}");
    let targets = PartedTargets::new(&targets, None, true).unwrap();
    let samples = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: vec![1.0, 2.0], n_rows: 2, n_cols: 1 }));
    let message = |features: Vec<f32>, c: f64| {
        let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=1"]).unwrap());
        let params = params.normalization(Normalization::None).bases(samples.clone());
        let expansion = params.expand(&samples, None, &Monitor::none()).unwrap().expansion;
        let kind = PartFeatures::Plain { has_intercept: true };
        let workers = Rows::ridge(vec![Numbers::Single(features, 2)], kind, &targets, &[3]);
        let (choice, preparation) = ((CChoice::Value(c), Loss::SquaredError), preparation("explicit", &[]));
        let fitted =
            BasisExpansionRegressor::of_workers(expansion, &targets, workers, choice, preparation, &Monitor::none());
        fitted.map(|_| ()).unwrap_err().to_string()
    };
    assert!(message(vec![1.0; 4], 1.0).contains("4 features"));
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
