//! What a time limit leaves of a fit on many samples classifies well, and what is said of it is true. Time passes in the
//! progress function here, so that no test depends on the speed of the machine.

use std::time::{Duration, Instant};

use crate::common::vectors;
use widemargin::Result;
use widemargin::data::{DenseView, Labels};
use widemargin::expansion::{NegativeEigenvalues, Normalization};
use widemargin::model::{BasisExpansionParams, PowerMeanParams, ThinPlateParams};
use widemargin::monitor::{Monitor, Progress};
use widemargin::similarity::{AnySimilarity, ConditionalKernel};
use widemargin::solve::Status;

const N: usize = 3000;
const LIMIT: Duration = Duration::from_secs(1);

/// Points of the unit square, in two classes that a diagonal separates.
fn points() -> (Vec<f32>, Labels) {
    let noise = |at: usize| ((at as f64 * 12.9898).sin() * 43758.5453).fract().abs();
    let values: Vec<f32> = (0..2 * N).map(|at| noise(at + 1) as f32).collect();
    let labels = Labels::new(values.chunks(2).map(|row| i64::from(row[0] + row[1] > 1.0)));
    (values, labels)
}

/// A fit whose first stage on all samples takes longer than the time limit: it reports no progress on fewer.
fn cut<T>(fit: impl FnOnce(&Monitor<'_>) -> Result<T>) -> T {
    let end = Instant::now() + LIMIT + Duration::from_secs(1);
    let slow = |_: Progress| std::thread::sleep(end.saturating_duration_since(Instant::now()));
    fit(&Monitor::none().with_progress(&slow).with_time_limit(LIMIT)).unwrap()
}

#[test]
fn classifiers_are_fitted_to_as_many_samples_as_it_allows() {
    let (values, labels) = points();
    let samples = vectors(values.clone(), 2);
    let wrong = |scores: &[f32]| {
        let is_wrong = |(score, row): (&f32, &[f32])| (*score > 0.0) != (row[0] + row[1] > 1.0);
        scores.iter().zip(values.chunks(2)).filter(|pair| is_wrong((pair.0, pair.1))).count()
    };

    let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=1"]).unwrap());
    let params = params.normalization(Normalization::Nystroem(NegativeEigenvalues::Clip)).c(100.0);
    let model = cut(|monitor| params.fit_with(&samples, &labels, None, monitor));
    assert_eq!(model.report().status, Status::TimeLimit);
    assert!(wrong(model.decision_function(&samples, 1).unwrap().values()) < N / 10);

    let view = DenseView::new(&values, N, 2).unwrap();
    let params = ThinPlateParams::new(ConditionalKernel::Distance);
    let model = cut(|monitor| params.fit_with(&view, &labels, None, monitor));
    assert_eq!(model.report().status, Status::TimeLimit);
    assert!(wrong(model.decision_function(&view, 1).unwrap().values()) < N / 10);

    let model = cut(|monitor| PowerMeanParams::auto().fit_with(&view, &labels, None, monitor));
    assert_eq!(model.report().status, Status::TimeLimit);
    let share = wrong(model.decision_function(&view, 1).unwrap().values()) as f64 / N as f64;
    assert!(share < 0.2, "{share}");
    // What is said of this model is true of it.
    if let Some(estimate) = &model.report().estimate {
        assert!((estimate.error - share).abs() <= 3.0 * estimate.standard_error, "{share}: {estimate:?}");
    }
}
