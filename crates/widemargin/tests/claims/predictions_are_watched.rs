//! Every long prediction reports its progress, and stops soon after it is cancelled.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::histograms;
use widemargin::data::{AnySamples, DenseMatrix, DenseView, Samples, Vectors};
use widemargin::expansion::{spectrum, spectrum_with};
use widemargin::model::{BasisExpansionParams, PowerMeanParams, ThinPlateParams};
use widemargin::monitor::{Monitor, Progress};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};
use widemargin::{Error, Result};

/// Runs work on `n` samples under watches: it tells all of them in the end, hears no time limit, and when it is
/// cancelled at its first word it does not go through all.
fn check<T: PartialEq + std::fmt::Debug>(
    stage: &str,
    n: u64,
    plain: T,
    work: impl Fn(usize, &Monitor<'_>) -> Result<T>,
) {
    let reports: Mutex<Vec<Progress>> = Mutex::default();
    let sink = |progress| reports.lock().unwrap().push(progress);
    let monitor = Monitor::none().with_progress(&sink).with_time_limit(Duration::ZERO);
    assert_eq!(work(2, &monitor).unwrap(), plain, "{stage}");
    let all = std::mem::take(&mut *reports.lock().unwrap());
    assert!(all.iter().filter(|progress| progress.stage == stage).any(|p| (p.done, p.total) == (n, n)), "{all:?}");

    let cancel = AtomicBool::new(false);
    let sink = |progress| {
        cancel.store(true, Ordering::Relaxed);
        reports.lock().unwrap().push(progress);
    };
    let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
    let cancelled = work(1, &monitor).unwrap_err();
    assert!(matches!(cancelled, Error::Cancelled { .. }), "{cancelled}");
    assert_eq!(reports.into_inner().unwrap().len(), 1);
}

#[test]
fn predictions_report_their_progress_and_stop() {
    let (n, d) = (3000, 4);
    let (values, labels) = histograms(n, d, 3, 5);
    let view = DenseView::new(&values, n, d).unwrap();
    let few: Vec<usize> = (0..60).collect();
    let some = view.select(&few);
    let some = some.view().unwrap();

    let model = PowerMeanParams::new(AdditiveKernel::Chi2).fit(&some, &labels.select(&few)).unwrap();
    let plain = model.decision_function(&view, 1).unwrap();
    check("predict", n as u64, plain, |threads, monitor| model.decision_function_with(&view, threads, monitor));

    let model = ThinPlateParams::new(ConditionalKernel::THIN_PLATE).fit(&some, &labels.select(&few)).unwrap();
    let plain = model.decision_values(&view, 1).unwrap();
    check("predict", n as u64, plain, |threads, monitor| model.decision_values_with(&view, threads, monitor));
    let plain = model.decision_function(&view, 1).unwrap();
    check("predict", n as u64, plain, |threads, monitor| model.decision_function_with(&view, threads, monitor));

    let single = values.iter().map(|&value| value as f32).collect();
    let samples = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: single, n_rows: n, n_cols: d }));
    let some = Samples::select(&samples, &few);
    let similarity = AnySimilarity::new(&["rbf", "linear"]).unwrap();
    let model = BasisExpansionParams::new(similarity).n_basis(9).fit(&some, &labels.select(&few)).unwrap();
    let plain = model.decision_function(&samples, 1).unwrap();
    check("predict", n as u64, plain, |threads, monitor| model.decision_function_with(&samples, threads, monitor));
    let expansion = model.expansion();
    let plain = expansion.transform(&samples, 1).unwrap();
    check("similarity", n as u64, plain, |threads, monitor| expansion.transform_with(&samples, threads, monitor));

    let similarity = expansion.similarity();
    let plain = spectrum(similarity, &some, 1).unwrap();
    check("similarity", 60, plain, |threads, monitor| spectrum_with(similarity, &some, threads, monitor));
}
