//! Errors for bad input name the problem and the expected value.

use widemargin::Error;
use widemargin::data::{ClassWeight, CsrView, DenseView, Label, Labels};
use widemargin::expansion::Approximation;
use widemargin::model::PowerMeanParams;
use widemargin::monitor::Monitor;
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
        (chi2().c(0.0), "C = 0"),
        (chi2().c(-1.0), "C = -1"),
        (chi2().c(f64::NAN), "C = NaN"),
        (chi2().c(f64::INFINITY), "C = inf"),
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
fn samples_and_labels() {
    let values = [1.0, 0.0, 0.0, 1.0, 2.0, 1.0];
    let samples = DenseView::new(&values, 3, 2).unwrap();
    let one_class = chi2().fit(&samples, &Labels::new(["a", "a", "a"])).unwrap_err();
    assert!(one_class.to_string().contains("'a'"), "{one_class}");
    let few = chi2().fit(&samples, &Labels::new(["a", "b"])).unwrap_err();
    assert!(few.to_string().contains("2 labels, expected 3"), "{few}");
    let labels = Labels::new(["a", "b", "a"]);
    let weights = chi2().fit_with(&samples, &labels, Some(&[1.0, f64::NAN, 1.0]), &Monitor::none()).unwrap_err();
    assert!(weights.to_string().contains("row 1 (from 0) is NaN"), "{weights}");
    for bad in [-0.5, f64::NAN, f64::INFINITY] {
        let values = [1.0, 0.0, 0.0, bad, 2.0, 1.0];
        let samples = DenseView::new(&values, 3, 2).unwrap();
        let error = chi2().fit(&samples, &labels).unwrap_err();
        assert!(error.to_string().starts_with("row 1, column 1 (from 0): "), "{error}");
        let model = chi2().fit(&DenseView::new(&[1.0, 0.0, 0.0, 1.0, 2.0, 1.0], 3, 2).unwrap(), &labels).unwrap();
        let error = model.predict(&samples, 1).unwrap_err();
        assert!(error.to_string().starts_with("row 1, column 1 (from 0): "), "{error}");
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
