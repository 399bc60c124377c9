//! Errors for bad input name the problem and the expected value.

use crate::common::{KERNELS, histograms};
use widemargin::Error;
use widemargin::data::{ClassWeight, CsrView, DenseView, Label, Labels};
use widemargin::expansion::Approximation;
use widemargin::model::PowerMeanParams;
use widemargin::similarity::AdditiveKernel;

fn chi2() -> PowerMeanParams {
    PowerMeanParams::new(AdditiveKernel::Chi2)
}

#[test]
fn parameters() {
    let samples = [1.0, 0.0, 0.0, 1.0];
    let samples = DenseView::new(&samples, 2, 2).unwrap();
    let labels = Labels::new([0i64, 1]);
    for (params, name) in [
        (chi2().tol(0.0), "tol = 0"),
        (chi2().tol(1.0), "tol = 1"),
        (chi2().max_epochs(0), "max_iter = 0"),
        (chi2().n_nodes(0), "n_nodes = 0"),
        (chi2().n_nodes(17), "n_nodes = 17"),
        (chi2().n_nodes(1).approximation(Approximation::Polynomial), "n_nodes = 1"),
        (chi2().nodes(vec![0.0]), "nodes = 0"),
        (chi2().class_weight(ClassWeight::PerClass([(Label::Integer(7), 1.0)].into())), "class_weight = 7"),
    ] {
        let error = params.fit(&samples, &labels).unwrap_err();
        assert!(matches!(error, Error::Parameter { .. }) && error.is_input(), "{error}");
        assert!(error.to_string().starts_with(name), "{error}");
    }
    assert!(AdditiveKernel::power_mean(f64::NAN).unwrap_err().to_string().starts_with("p = NaN"));
    for p in [0.5, 1.0, f64::INFINITY] {
        let params = PowerMeanParams::new(AdditiveKernel::power_mean(p).unwrap());
        let error = params.fit(&samples, &labels).unwrap_err().to_string();
        assert!(error.starts_with("p = ") && error.contains(&format!("basis expansion takes as 'power-mean:p={p}'")));
    }
}

#[test]
fn arrays_that_do_not_fit() {
    let values = [1.0, 2.0, 3.0];
    let csr = |indptr: &[usize], indices: &[i32], n_cols| {
        CsrView::new(indptr, indices, &values, n_cols).map(|_| ()).unwrap_err().to_string()
    };
    assert!(csr(&[0, 3], &[0, 1], 3).contains("indices"));
    assert!(csr(&[], &[0, 1, 2], 3).contains("indptr"));
    assert!(csr(&[0, 2], &[0, 1, 2], 3).contains("indptr"));
    assert!(csr(&[0, 2, 1, 3], &[0, 1, 2], 3).contains("falls at row 1"));
    assert!(csr(&[0, 9, 3], &[0, 1, 2], 3).contains("row 0"));
    assert!(csr(&[0, 3], &[0, 1, 3], 3).contains("column 3 in row 0"));
    assert!(csr(&[0, 3], &[0, 2, 1], 3).contains("out of order"));
    assert!(csr(&[0, 3], &[0, 1, 1], 3).contains("twice"));
    assert!(csr(&[0, 3], &[-1, 1, 2], 3).contains("negative"));
    assert!(DenseView::new(&values, 2, 2).unwrap_err().to_string().contains("2 rows × 2 columns"));
    assert!(DenseView::new(&values, usize::MAX, 2).is_err());
}

#[test]
fn accepts_empty_rows_and_constant_features() {
    let values = [0.0, 0.0, 1.0, 0.0, 1.0, 5.0, 0.0, 0.0, 1.0, 3.0];
    let samples = DenseView::new(&values, 5, 2).unwrap();
    let labels = Labels::new([0i64, 0, 1, 0, 1]);
    for loss in [widemargin::problem::Loss::Hinge, widemargin::problem::Loss::SquaredHinge] {
        let model = chi2().loss(loss).c(10.0).fit(&samples, &labels).unwrap();
        assert!(model.weights().iter().all(|w| w.is_finite()));
        assert!(model.report().gap() <= 1e-2);
    }
    let nothing = DenseView::new(&[0.0; 4], 2, 2).unwrap();
    let model = chi2().fit(&nothing, &Labels::new([0i64, 1])).unwrap();
    assert_eq!(model.decision_function(&nothing, 1).unwrap().values(), [0.0, 0.0]);
}

/// Sparse rows may end early; dense ones may not.
#[test]
fn narrow_sparse_rows_are_predicted() {
    let (values, labels) = histograms(40, 6, 2, 7);
    let model = chi2().fit(&DenseView::new(&values, 40, 6).unwrap(), &labels).unwrap();
    let narrow = CsrView::new(&[0usize, 1], &[3i32], &[1.0f64], 5).unwrap();
    assert_eq!(model.decision_function(&narrow, 1).unwrap().n_rows(), 1);
    let short = DenseView::new(&values[..5], 1, 5).unwrap();
    assert!(matches!(model.decision_function(&short, 1), Err(Error::FeatureCount { found: 5, trained: 6, .. })));
}

/// Values that single precision makes 0 are absent, whatever was met before them; those too large for it are rejected as
/// in training.
#[test]
fn values_beyond_single_precision() {
    let (values, labels) = histograms(40, 6, 2, 7);
    let samples = DenseView::new(&values, 40, 6).unwrap();
    let tiny = [0.3, 1e-60, 0.0, 1e-60, 0.2, 1e-200];
    let absent = tiny.map(|value| if value < 1e-50 { 0.0 } else { value });
    for (kernel, scale) in KERNELS.into_iter().flat_map(|kernel| [(kernel, false), (kernel, true)]) {
        let model = PowerMeanParams::new(kernel).scale(scale).fit(&samples, &labels).unwrap();
        let try_scores = |rows: &[[f64; 6]]| {
            let values = rows.concat();
            let scores = model.decision_function(&DenseView::new(&values, rows.len(), 6).unwrap(), 1)?;
            Ok::<_, Error>(scores.values().to_vec())
        };
        let scores = |rows: &[[f64; 6]]| try_scores(rows).unwrap();
        let right = scores(&[absent]);
        assert_eq!(scores(&[tiny]), right, "{kernel}");
        assert_eq!(scores(&[[0.7, 0.1, 0.1, 0.9, 0.4, 0.2], tiny])[1..], right, "{kernel}");
        assert_eq!(scores(&[[1e-60; 6]]), scores(&[[0.0; 6]]), "{kernel}");
        let error = try_scores(&[[0.0, 1.0, 1e300, 0.0, 0.0, 0.0]]).unwrap_err();
        assert!(error.to_string().starts_with("row 0, column 2 (from 0): ") && error.is_input(), "{error}");
    }
}
