//! The thin plate SVM of samples in several places: steps that are functions of a place's rows and of what was remembered
//! there give the machine of the fit in memory.

use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::model::{
    ColumnSums, LandmarkChoice, LandmarkPlan, ModelFacts, ThinPlateParams, ThinPlateSvc, choose_landmarks, draw_rows,
};
use widemargin::monitor::Monitor;
use widemargin::problem::OneVsRest;
use widemargin::solve::thin_plate::{
    FirstSums, Hessians, LeftOutSums, NullSpace, PointSums, RowSums, RowsApart, RowsShape, RowsState, rows_separate,
};

/// The rows of one place.
struct Place {
    features: Vec<f64>,
    codes: Vec<u32>,
    roots: Vec<f64>,
    state: RowsState,
}

/// Places that are asked one after another.
struct Places {
    places: Vec<Place>,
    n_classes: usize,
    n_penalised: usize,
}

impl Places {
    fn each<T>(&mut self, mut work: impl FnMut(&mut dyn RowSums) -> Result<T>) -> Result<Vec<T>> {
        let (n_classes, n_penalised) = (self.n_classes, self.n_penalised);
        let one = |place: &mut Place| {
            let units = vec![1.0; place.roots.len()];
            let targets = OneVsRest::new(&place.codes, n_classes);
            let rows = RowsApart {
                features: &place.features,
                n_penalised,
                targets,
                roots: &place.roots,
                units: &units,
                threads: 1,
            };
            let (told, state) = rows.with(place.state.clone(), &Monitor::none(), &mut work)?;
            place.state = state;
            Ok(told)
        };
        self.places.iter_mut().map(one).collect()
    }

    fn told(&mut self, work: impl FnMut(&mut dyn RowSums) -> Result<Vec<PointSums>>) -> Result<Vec<PointSums>> {
        let parts = self.each(work)?;
        let mut all = vec![PointSums::default(); parts[0].len()];
        parts.iter().flatten().enumerate().for_each(|(at, told)| {
            let problem = at % parts[0].len();
            all[problem].add(told);
        });
        Ok(all)
    }
}

impl RowSums for Places {
    fn shape(&self) -> RowsShape {
        let n_rows = self.places.iter().map(|place| place.roots.len()).sum();
        let width = self.places[0].features.len() / self.places[0].roots.len();
        let n_problems = if self.n_classes > 2 { self.n_classes } else { 1 };
        RowsShape { n_rows, n_penalised: self.n_penalised, n_free: width - self.n_penalised, n_problems }
    }

    fn origin(&mut self) -> Result<(Vec<f64>, Vec<PointSums>)> {
        let mut hessian = vec![0.0; self.shape().width() * self.shape().width()];
        let told = self.told(|rows| {
            let (part, told) = rows.origin()?;
            hessian.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            Ok(told)
        })?;
        Ok((hessian, told))
    }

    fn look(&mut self, live: &[usize], points: &[f64], hessians: Option<&mut Hessians>) -> Result<Vec<PointSums>> {
        let mut hessians = hessians;
        self.told(|rows| rows.look(live, points, hessians.as_deref_mut()))
    }

    fn accept(&mut self, live: &[usize]) -> Result<()> {
        self.each(|rows| rows.accept(live)).map(drop)
    }

    fn line_search_eval(&mut self, live: &[usize], at: &[f64]) -> Result<Vec<[f64; 2]>> {
        let parts = self.each(|rows| rows.line_search_eval(live, at))?;
        let sum = |problem: usize, which: usize| parts.iter().map(|part| part[problem][which]).sum();
        Ok((0..live.len()).map(|problem| [sum(problem, 0), sum(problem, 1)]).collect())
    }

    fn take_step(&mut self, live: &[usize], at: &[f64], hessians: &mut Hessians) -> Result<Vec<PointSums>> {
        self.told(|rows| rows.take_step(live, at, hessians))
    }

    fn leave_one_out(&mut self, roots: &[Vec<f64>]) -> Result<LeftOutSums> {
        self.sums(|rows| rows.leave_one_out(roots))
    }

    fn without(&mut self, fold: Option<u32>) -> Result<()> {
        self.each(|rows| rows.without(fold)).map(drop)
    }

    fn absent_rows(&mut self) -> Result<LeftOutSums> {
        self.sums(|rows| rows.absent_rows())
    }
}

impl Places {
    fn sums(&mut self, work: impl FnMut(&mut dyn RowSums) -> Result<LeftOutSums>) -> Result<LeftOutSums> {
        let parts = self.each(work)?;
        Ok(parts.iter().fold(LeftOutSums::default(), |sum, part| LeftOutSums {
            hinge: sum.hinge + part.hinge,
            wrong: sum.wrong + part.wrong,
        }))
    }
}

/// The fit over parts of the samples, on landmarks among the first of them.
fn fit(
    values: &[f64],
    d: usize,
    labels: &Labels,
    ends: &[usize],
    params: (NullSpace, &ThinPlateParams),
) -> ThinPlateSvc {
    let (null_space, params) = params;
    let parts: Vec<(&[f64], &[u32])> = ends
        .iter()
        .scan(0, |first, &end| {
            let rows = *first..end;
            *first = end;
            Some((&values[rows.start * d..rows.end * d], &labels.codes()[rows]))
        })
        .collect();
    let ones = |part: &[f64]| vec![1.0; part.len() / d];
    let columns = parts.iter().map(|(part, _)| ColumnSums::of(&view(part, d), &ones(part)).unwrap());
    let columns = columns.reduce(|a, b| a.merged(&b)).unwrap();
    let (bases, chosen) =
        choose_landmarks(&view(&values[..20 * d], d), &[1.0; 20], LandmarkChoice::Index, 20, 0, 1).unwrap();
    let plan = LandmarkPlan::new(kernel("thin-plate"), bases, &columns).unwrap();
    let sums = parts.iter().map(|(part, _)| plan.first_sums(&view(part, d), &ones(part)).unwrap());
    let sums = sums.fold(FirstSums::default(), |a, b| a.merged(&b));
    let n = values.len() / d;
    let places = |features: &dyn Fn(&[f64]) -> Vec<f64>, n_penalised: usize| Places {
        places: parts
            .iter()
            .map(|(part, codes)| Place {
                features: features(part),
                codes: codes.to_vec(),
                roots: ones(part),
                state: RowsState::default(),
            })
            .collect(),
        n_classes: labels.classes().len(),
        n_penalised,
    };
    let free = plan.settle(&sums, NullSpace::Free, n, n as f64, false).unwrap();
    let polynomials = |part: &[f64]| plan.polynomial_features(&view(part, d), &ones(part), free.columns()).unwrap();
    let separates = rows_separate(&mut places(&polynomials, 0), n as f64, 1, &Monitor::none()).unwrap();
    let settled = plan.settle(&sums, null_space, n, n as f64, separates).unwrap();
    let features = |part: &[f64]| {
        let (penalised, columns) = (settled.penalised(), settled.columns());
        plan.features(&view(part, d), &ones(part), penalised, columns, settled.cross()).unwrap()
    };
    let mut rows = places(&features, settled.n_penalised());
    let support = chosen.into_iter().map(|row| row as u64).collect();
    let class_weights = (0..labels.classes().len())
        .map(|class| labels.codes().iter().filter(|code| **code as usize == class).count() as f64)
        .collect();
    let facts = ModelFacts { classes: labels.classes().to_vec(), class_weights, support, stages: Vec::new() };
    plan.clone().fit(params, settled.clone(), &mut rows, facts, &Monitor::none()).unwrap()
}

#[test]
fn places_give_the_machine_of_one() {
    for (classes, null_space, n) in [
        (3, NullSpace::Auto, 700),
        (2, NullSpace::Constant, 1500),
        (2, NullSpace::None, 400),
        (3, NullSpace::Penalized, 500),
    ] {
        let d = 2;
        let (values, labels) = blobs(n, d, classes, 23);
        let labels = Labels::new(labels);
        let params = ThinPlateParams::new(kernel("thin-plate")).threads(1).null_space(null_space);
        let memory = params.clone().n_basis(Some(20)).landmarks(LandmarkChoice::Index);
        let memory = memory.fit(&view(&values, d), &labels).unwrap();
        for ends in [vec![n], vec![1, 30, n / 2, n]] {
            let found = fit(&values, d, &labels, &ends, (null_space, &params));
            let what = format!("{classes} {null_space} {ends:?}");
            assert_eq!((found.null_space(), found.support()), (memory.null_space(), memory.support()), "{what}");
            assert!((found.c() - memory.c()).abs() <= 1e-7 * memory.c(), "{what}: {} {}", found.c(), memory.c());
            let scores = |model: &ThinPlateSvc| model.decision_values(&view(&values, d), 1).unwrap();
            assert!(relative(&scores(&memory), &scores(&found)) <= 1e-6, "{what}");
        }
    }
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

#[test]
fn rows_that_do_not_fit_are_refused() {
    let rows = RowsApart {
        features: &[1.0; 7],
        n_penalised: 1,
        targets: OneVsRest::new(&[0, 1], 2),
        roots: &[1.0; 2],
        units: &[1.0; 2],
        threads: 1,
    };
    let told = rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).unwrap_err();
    assert!(told.to_string().contains("2 rows of features"), "{told}");
    let state = RowsState { scores: vec![0.0; 3], ..RowsState::default() };
    let rows = RowsApart { features: &[1.0; 6], ..rows };
    assert!(rows.with(state, &Monitor::none(), |rows| rows.accept(&[0])).is_err());
    assert!(rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).is_ok());
}
