//! The thin plate SVM of samples in several places: steps that are functions of a place's rows and of what was
//! remembered there give the model of the fit in memory.

use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::model::{
    BasisPlan, ColumnSums, ModelMetadata, ThinPlateBasis, ThinPlateParams, ThinPlateSvc, choose_bases, draw_rows,
};
use widemargin::monitor::Monitor;
use widemargin::partition::{self, EncodedQuery, Workers};
use widemargin::problem::OneVsRest;
use widemargin::solve::thin_plate::{
    BASIS_QUERIES, FirstSums, PartRows, Polynomials, RemoteRowSums, RowSums, RowsShape, RowsState, rows_separate,
};

/// The rows of one place.
struct Place {
    features: Vec<f64>,
    codes: Vec<u32>,
    roots: Vec<f64>,
    state: RowsState,
}

/// Places that answer one after another, by bytes.
struct Places {
    places: Vec<Place>,
    n_classes: usize,
    n_penalized: usize,
}

const N_BASES: i32 = 20;

impl Places {
    fn sums(self) -> RemoteRowSums<Places> {
        let n_rows = self.places.iter().map(|place| place.roots.len()).sum();
        let width = self.places[0].features.len() / self.places[0].roots.len();
        let n_problems = if self.n_classes > 2 { self.n_classes } else { 1 };
        let shape = RowsShape { n_rows, n_penalized: self.n_penalized, n_free: width - self.n_penalized, n_problems };
        RemoteRowSums::new(self, shape)
    }
}

impl Workers for Places {
    fn ask(&mut self, request: EncodedQuery<'_>) -> Result<Vec<u8>> {
        let (n_classes, n_penalized) = (self.n_classes, self.n_penalized);
        let mut first = 0;
        let one = |place: &mut Place| {
            // The first samples are bases, which are not judged.
            let units: Vec<f64> =
                (first..).take(place.roots.len()).map(|row: i32| f64::from(u8::from(row >= N_BASES))).collect();
            first += place.roots.len() as i32;
            let targets = OneVsRest::new(&place.codes, n_classes);
            let (features, roots) = (&place.features, &place.roots);
            let rows = PartRows { features, n_penalized, targets, roots, units: &units, threads: 1 };
            let work = |rows: &mut dyn RowSums| partition::answer(BASIS_QUERIES, request.query, rows, &Monitor::none());
            let (answer, state) = rows.with(place.state.clone(), &Monitor::none(), work)?;
            if request.changes_state {
                place.state = state;
            } else {
                assert_eq!(place.state, state, "{}", request.name);
            }
            Ok(answer)
        };
        let answers = self.places.iter_mut().map(one).collect::<Result<Vec<_>>>()?;
        partition::merge(BASIS_QUERIES, request.query, &answers.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

/// The fit over parts of the samples, on bases among the first of them.
fn fit(
    values: &[f64],
    d: usize,
    labels: &Labels,
    ends: &[usize],
    params: (Polynomials, &ThinPlateParams),
) -> ThinPlateSvc {
    let (polynomials, params) = params;
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
    let (bases, rows_of_bases) =
        choose_bases(&view(&values[..20 * d], d), &[1.0; 20], ThinPlateBasis::Index, 20, 0, 1).unwrap();
    let plan = BasisPlan::new(kernel("thin-plate"), bases, columns).unwrap();
    let sums = parts.iter().map(|(part, _)| plan.first_sums(&view(part, d), &ones(part)).unwrap());
    let sums = sums.fold(FirstSums::default(), |a, b| a.merged(&b));
    let n = values.len() / d;
    let places = |features: &dyn Fn(&[f64]) -> Vec<f64>, n_penalized: usize| Places {
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
        n_penalized,
    };
    let free = plan.settle(&sums, Polynomials::Free, n, n as f64, false).unwrap();
    let monomials = |part: &[f64]| plan.polynomial_features(&view(part, d), &ones(part), free.columns()).unwrap();
    let separates = rows_separate(&mut places(&monomials, 0).sums(), n as f64, 1, &Monitor::none()).unwrap();
    let settled = plan.settle(&sums, polynomials, n, n as f64, separates).unwrap();
    let features = |part: &[f64]| {
        let (penalized, columns) = (settled.penalized(), settled.columns());
        plan.features(&view(part, d), &ones(part), penalized, columns, settled.cross()).unwrap()
    };
    let mut rows = places(&features, settled.n_penalized()).sums();
    let support = rows_of_bases.into_iter().map(|row| row as u64).collect();
    let (total_weight, ones) = (n as f64, vec![1.0; n]);
    let metadata = ModelMetadata {
        classes: labels.classes().to_vec(),
        total_weight,
        several: None,
        evaluated_on: Some((labels, &ones)),
        support,
        stages: Vec::new(),
    };
    plan.clone().fit(params, settled.clone(), &mut rows, metadata, &Monitor::none()).unwrap()
}

#[test]
fn places_give_the_model_of_one() {
    for (classes, polynomials, n) in [
        (3, Polynomials::Auto, 700),
        (2, Polynomials::Constant, 1500),
        (2, Polynomials::None, 400),
        (3, Polynomials::Penalized, 500),
    ] {
        let d = 2;
        let (values, labels) = blobs(n, d, classes, 23);
        let labels = Labels::new(labels);
        let params = ThinPlateParams::new(kernel("thin-plate")).threads(1).polynomials(polynomials);
        let memory = params.clone().n_basis(Some(20)).basis(ThinPlateBasis::Index);
        let memory = memory.fit(&view(&values, d), &labels).unwrap();
        for ends in [vec![n], vec![1, 30, n / 2, n]] {
            let found = fit(&values, d, &labels, &ends, (polynomials, &params));
            let what = format!("{classes} {polynomials} {ends:?}");
            assert_eq!((found.polynomials(), found.support()), (memory.polynomials(), memory.support()), "{what}");
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
fn rejects_rows_that_do_not_fit() {
    let rows = PartRows {
        features: &[1.0; 7],
        n_penalized: 1,
        targets: OneVsRest::new(&[0, 1], 2),
        roots: &[1.0; 2],
        units: &[1.0; 2],
        threads: 1,
    };
    let error = rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).unwrap_err();
    assert!(error.to_string().contains("2 rows of features"), "{error}");
    let state = RowsState { scores: vec![0.0; 3], ..RowsState::default() };
    let rows = PartRows { features: &[1.0; 6], ..rows };
    assert!(rows.with(state, &Monitor::none(), |rows| rows.accept(&[0])).is_err());
    assert!(rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).is_ok());
}
