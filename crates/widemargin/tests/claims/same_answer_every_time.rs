//! Thread counts and files change nothing.

use crate::common::{KERNELS, histograms};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use widemargin::Error;
use widemargin::data::{CsrMatrix, DenseView, Rows};
use widemargin::model::{PowerMeanParams, PowerMeanSvc};
use widemargin::monitor::{Monitor, Progress};
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::Status;

#[test]
fn thread_counts_change_no_bit() {
    let (n, d) = (400, 30);
    let (values, labels) = histograms(n, d, 19, 1);
    let samples = DenseView::new(&values, n, d).unwrap();
    // A large C and a small tolerance: many epochs, rows left out, problems that fail their first exact pass.
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(30.0).tol(1e-3).max_epochs(5000);
    let one = params.clone().threads(1).fit(&samples, &labels).unwrap();
    for threads in [2, 3, 7] {
        let many = params.clone().threads(threads).fit(&samples, &labels).unwrap();
        assert_eq!(one.weights(), many.weights(), "{threads} threads");
        assert_eq!(one.report().iterations, many.report().iterations);
        assert_eq!(one.decision_function(&samples, 1).unwrap(), many.decision_function(&samples, threads).unwrap());
    }
}

#[test]
fn sparse_and_dense_single_and_double_precision_are_one_sample() {
    let (n, d) = (120, 20);
    let (values, labels) = histograms(n, d, 4, 6);
    let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let double: Vec<f64> = single.iter().map(|&v| v.into()).collect();
    let mut csr = CsrMatrix::<f32> { indptr: vec![0], n_cols: d, ..Default::default() };
    for row in single.chunks_exact(d) {
        for (column, &value) in row.iter().enumerate() {
            // Every other zero is stored: stored zeros must not matter.
            if value != 0.0 || column % 2 == 0 {
                csr.indices.push(column as u32);
                csr.values.push(value);
            }
        }
        csr.indptr.push(csr.values.len());
    }
    let params = PowerMeanParams::new(AdditiveKernel::JensenShannon);
    let dense_single = params.fit(&DenseView::new(&single, n, d).unwrap(), &labels).unwrap();
    let dense_double = params.fit(&DenseView::new(&double, n, d).unwrap(), &labels).unwrap();
    let sparse = params.fit(&csr.view().unwrap(), &labels).unwrap();
    assert_eq!(dense_single.weights(), dense_double.weights());
    assert_eq!(dense_single.weights(), sparse.weights());
    // Sparse rows may end early at predict; dense ones may not.
    let narrow = CsrMatrix::<f32> { indptr: vec![0, 1], indices: vec![3], values: vec![1.0], n_cols: 5 };
    assert_eq!(sparse.decision_function(&narrow.view().unwrap(), 1).unwrap().n_rows(), 1);
    let short = DenseView::new(&single[..5], 1, 5).unwrap();
    assert!(matches!(sparse.decision_function(&short, 1), Err(Error::FeatureCount { found: 5, trained: 20, .. })));
    assert_eq!(csr.view().unwrap().n_rows(), n);
}

#[test]
fn model_files_store_every_bit_and_damaged_ones_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let (values, labels) = histograms(50, 6, 3, 9);
    let samples = DenseView::new(&values, 50, 6).unwrap();
    for kernel in KERNELS {
        let path = folder.path().join("model.safetensors");
        let model = PowerMeanParams::new(kernel).fit(&samples, &labels).unwrap();
        model.save(&path).unwrap();
        let back = PowerMeanSvc::load(&path).unwrap();
        assert_eq!(back, model);
        let bytes = std::fs::read(&path).unwrap();
        let damaged = folder.path().join("damaged");
        for length in (0..bytes.len()).step_by(7) {
            std::fs::write(&damaged, &bytes[..length]).unwrap();
            assert!(matches!(PowerMeanSvc::load(&damaged), Err(Error::ModelFile { .. })), "{length}");
        }
        let mut changed = bytes.clone();
        let at = bytes.windows(17).position(|w| w == b"format_version\\\":").unwrap() + 17;
        changed[at] = b'9';
        std::fs::write(&damaged, &changed).unwrap();
        assert!(matches!(PowerMeanSvc::load(&damaged), Err(Error::ModelVersion { found: 9, .. })));
    }
    let missing = folder.path().join("no/such/folder/model");
    let model = PowerMeanParams::new(AdditiveKernel::Chi2).fit(&samples, &labels).unwrap();
    assert!(matches!(model.save(missing), Err(Error::Io { .. })));
}

/// A fit that would take minutes: with the hinge, descent at a large C is slow.
fn endless() -> PowerMeanParams {
    PowerMeanParams::new(AdditiveKernel::Chi2).c(100.0).tol(1e-12).max_epochs(u32::MAX).loss(Loss::Hinge)
}

#[test]
fn a_cancelled_fit_is_an_error() {
    let (values, labels) = histograms(2000, 20, 3, 9);
    let samples = DenseView::new(&values, 2000, 20).unwrap();
    // Once before it begins, and once while it descends.
    for at in ["", "solve"] {
        let cancel = AtomicBool::new(at.is_empty());
        let sink = |progress: Progress| {
            if progress.stage == at && progress.done > 0 {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
        let cancelled = endless().fit_with(&samples, &labels, None, &monitor);
        assert!(matches!(cancelled, Err(Error::Cancelled { .. })));
    }
}

#[test]
fn a_limited_fit_says_which_limit_it_met() {
    let (values, labels) = histograms(2000, 20, 3, 9);
    let samples = DenseView::new(&values, 2000, 20).unwrap();
    let limit = Monitor::none().with_time_limit(Duration::ZERO);
    let model = endless().fit_with(&samples, &labels, None, &limit).unwrap();
    assert_eq!(model.report().status, Status::TimeLimit);
    assert!(model.report().warnings[0].contains("time limit"), "{:?}", model.report().warnings);
    let few = endless().max_epochs(2).fit(&samples, &labels).unwrap();
    assert_eq!((few.report().status, few.report().max_iterations()), (Status::IterationLimit, 2));
}
