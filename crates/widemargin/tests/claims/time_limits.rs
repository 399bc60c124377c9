//! A time limit that does not allow a fit on all samples leaves a model of some of them, of every method, and the report
//! says so. Time passes in the progress function here, so that no test depends on the speed of the machine.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use widemargin::Result;
use widemargin::data::{AnySamples, DenseMatrix, DenseView, Labels, Targets, Vectors};
use widemargin::expansion::{NegativeEigenvalues, Normalization};
use widemargin::model::{
    BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, PowerMeanParams,
    ThinPlateParams, ThinPlateRegressorParams,
};
use widemargin::monitor::{Monitor, Progress};
use widemargin::similarity::{AnySimilarity, ConditionalKernel};
use widemargin::solve::{Report, Status};

const N: usize = 3000;
const LIMIT: Duration = Duration::from_secs(1);

/// Points of the unit square, in two classes that a diagonal separates.
fn points() -> (Vec<f32>, Labels) {
    let noise = |at: usize| ((at as f64 * 12.9898).sin() * 43758.5453).fract().abs();
    let values: Vec<f32> = (0..2 * N).map(|at| noise(at + 1) as f32).collect();
    let labels = Labels::new(values.chunks(2).map(|row| i64::from(row[0] + row[1] > 1.0)));
    (values, labels)
}

fn samples(values: &[f32]) -> AnySamples {
    AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: values.to_vec(), n_rows: values.len() / 2, n_cols: 2 }))
}

/// A fit whose first stage on all samples takes longer than the time limit: it reports no progress on fewer.
fn cut<T>(fit: impl FnOnce(&Monitor<'_>) -> Result<T>) -> T {
    let end = Instant::now() + LIMIT + Duration::from_secs(1);
    let slow = |_: Progress| std::thread::sleep(end.saturating_duration_since(Instant::now()));
    fit(&Monitor::none().with_progress(&slow).with_time_limit(LIMIT)).unwrap()
}

#[track_caller]
fn assert_of_some(report: &Report) {
    assert_eq!(report.status, Status::TimeLimit);
    let warning = report.warnings.last().unwrap();
    assert!(warning.starts_with("the time limit passed: the model was trained on "), "{warning}");
    assert!(warning.contains(&format!(" of {N} samples")) && !warning.contains(&format!(" {N} of ")), "{warning}");
}

#[test]
fn classifiers_are_fitted_to_as_many_samples_as_it_allows() {
    let (values, labels) = points();
    let samples = samples(&values);
    let wrong = |scores: &[f32]| {
        let is_wrong = |(score, row): (&f32, &[f32])| (*score > 0.0) != (row[0] + row[1] > 1.0);
        scores.iter().zip(values.chunks(2)).filter(|pair| is_wrong((pair.0, pair.1))).count()
    };

    let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=1"]).unwrap());
    let params = params.normalization(Normalization::Nystroem(NegativeEigenvalues::Clip)).c(100.0);
    let model = cut(|monitor| params.fit_with(&samples, &labels, None, monitor));
    assert_of_some(model.report());
    // Rows of bases are those of all samples.
    assert!(model.basis_rows().iter().any(|&row| row > N / 2), "{:?}", model.basis_rows());
    assert!(wrong(model.decision_function(&samples, 1).unwrap().values()) < N / 10);

    let view = DenseView::new(&values, N, 2).unwrap();
    let params = ThinPlateParams::new(ConditionalKernel::Distance);
    let model = cut(|monitor| params.fit_with(&view, &labels, None, monitor));
    assert_of_some(model.report());
    assert!(model.basis_rows().iter().any(|&row| row as usize > N / 2) && model.loo_values().is_empty());
    assert!(wrong(model.decision_function(&view, 1).unwrap().values()) < N / 10);

    let model = cut(|monitor| PowerMeanParams::auto().fit_with(&view, &labels, None, monitor));
    assert_of_some(model.report());
    let share = wrong(model.decision_function(&view, 1).unwrap().values()) as f64 / N as f64;
    assert!(share < 0.2, "{share}");
    // What is said of this model is true of it.
    if let Some(estimate) = &model.report().estimate {
        assert!((estimate.error - share).abs() <= 3.0 * estimate.standard_error, "{share}: {estimate:?}");
    }
}

#[test]
fn regressors_and_detectors_are_fitted_to_as_many_samples_as_it_allows() {
    let (values, _) = points();
    let samples = samples(&values);
    let targets = Targets::single(values.chunks(2).map(|row| f64::from(row[0] * row[1])).collect()).unwrap();
    let similarity = || AnySimilarity::new(&["rbf:gamma=1"]).unwrap();

    let params = BasisExpansionRegressorParams::new(similarity());
    let model = cut(|monitor| params.fit_with(&samples, &targets, None, monitor));
    assert_of_some(model.report());
    assert!(model.basis_rows().iter().any(|&row| row > N / 2));

    let params = BasisExpansionOneClassParams::new(similarity());
    let model = cut(|monitor| params.fit_with(&samples, None, monitor));
    assert_of_some(model.report());
    assert!(model.loo_scores().is_empty());

    let view = DenseView::new(&values, N, 2).unwrap();
    let params = ThinPlateRegressorParams::new(ConditionalKernel::Distance);
    let model = cut(|monitor| params.fit_with(&view, &targets, None, monitor));
    assert_of_some(model.report());
    assert!(model.basis_rows().iter().any(|&row| row as usize > N / 2));
}

#[test]
fn progress_is_reported_from_the_start() {
    let (values, labels) = points();
    let view = DenseView::new(&values[..3000], 1500, 2).unwrap();
    let labels = labels.select(&(0..1500).collect::<Vec<_>>());
    let (started, first) = (Instant::now(), OnceLock::new());
    let hear = |_: Progress| _ = first.set(started.elapsed());
    let params = ThinPlateParams::new(ConditionalKernel::Distance).threads(1);
    params.fit_with(&view, &labels, None, &Monitor::none().with_progress(&hear)).unwrap();
    let (first, all) = (*first.get().unwrap(), started.elapsed());
    assert!(first < all / 4, "{first:?} of {all:?}");
}

#[test]
fn a_limit_that_allows_all_samples_changes_nothing() {
    let (values, labels) = points();
    let samples = samples(&values[..2000]);
    let labels = labels.select(&(0..1000).collect::<Vec<_>>());
    let params = || BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=1"]).unwrap());
    let free = params().fit(&samples, &labels).unwrap();
    let monitor = Monitor::none().with_time_limit(Duration::from_secs(3600));
    let limited = params().fit_with(&samples, &labels, None, &monitor).unwrap();
    assert_eq!((free.weights(), free.intercepts()), (limited.weights(), limited.intercepts()));
    assert_eq!(free.report().warnings, limited.report().warnings);
    // The file depends on the data alone: the times of the two fits differ.
    assert!(free.to_bytes().unwrap() == limited.to_bytes().unwrap());
}
