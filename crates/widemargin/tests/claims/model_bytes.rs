//! A model and the bytes of its file are one and the same, without a file too.

use std::path::Path;

use crate::common::histograms;
use widemargin::data::{AnySamples, ClassWeight, DenseMatrix, DenseView, Vectors};
use widemargin::model::{
    BasisExpansionParams, BasisExpansionSvc, PowerMeanParams, PowerMeanSvc, ThinPlateParams, ThinPlateSvc, method_of,
    method_of_bytes,
};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};
use widemargin::{Error, Result};

/// Holds of every method: bytes are those of the file, and both give the model; damage is reported as such.
fn check<M>(
    method: &str,
    model: &M,
    save: impl Fn(&M, &Path) -> Result<()>,
    to_bytes: impl Fn(&M) -> Result<Vec<u8>>,
    from_bytes: impl Fn(&[u8]) -> Result<M>,
    values: impl Fn(&M) -> Vec<u64>,
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let bytes = to_bytes(model).unwrap();
    save(model, &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(values(&from_bytes(&bytes).unwrap()), values(model));
    assert_eq!(to_bytes(&from_bytes(&bytes).unwrap()).unwrap(), bytes);
    assert_eq!((method_of_bytes(&bytes).unwrap().as_str(), method_of(&path).unwrap().as_str()), (method, method));
    for cut in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        let Err(error) = from_bytes(&bytes[..cut]) else { panic!("{method}: cut at {cut}") };
        assert!(matches!(error, Error::ModelFile { .. }), "{error}");
        assert!(error.to_string().starts_with("<bytes>: not a usable model file: "), "{error}");
    }
    assert!(method_of_bytes(&bytes[..100]).is_err());
}

#[test]
fn bytes_are_the_file() {
    let (n, d) = (60, 5);
    let (values, labels) = histograms(n, d, 3, 7);
    let view = DenseView::new(&values, n, d).unwrap();

    let model = PowerMeanParams::new(AdditiveKernel::Chi2).fit(&view, &labels).unwrap();
    let scores = |model: &PowerMeanSvc| bits(model.decision_function(&view, 1).unwrap().values());
    check(
        "power-mean",
        &model,
        |model, path| model.save(path),
        PowerMeanSvc::to_bytes,
        PowerMeanSvc::from_bytes,
        scores,
    );

    let model = ThinPlateParams::new(ConditionalKernel::THIN_PLATE).fit(&view, &labels).unwrap();
    let scores = |model: &ThinPlateSvc| bits(model.decision_function(&view, 1).unwrap().values());
    check(
        "thin-plate",
        &model,
        |model, path| model.save(path),
        ThinPlateSvc::to_bytes,
        ThinPlateSvc::from_bytes,
        scores,
    );

    let single = values.iter().map(|&value| value as f32).collect();
    let samples = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: single, n_rows: n, n_cols: d }));
    let similarity = AnySimilarity::new(&["mean-norm/rbf", "linear"]).unwrap();
    let model = BasisExpansionParams::new(similarity).n_basis(9).fit(&samples, &labels).unwrap();
    let scores = |model: &BasisExpansionSvc<_>| bits(model.decision_function(&samples, 1).unwrap().values());
    check(
        "basis-expansion",
        &model,
        |model, path| model.save(path),
        BasisExpansionSvc::to_bytes,
        BasisExpansionSvc::from_bytes,
        scores,
    );
}

#[test]
fn names_and_parameters_are_stored_and_files_without_them_are_read() {
    let (values, labels) = histograms(30, 4, 2, 3);
    let view = DenseView::new(&values, 30, 4).unwrap();
    let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let weight = ClassWeight::PerClass(labels.classes().iter().map(|label| (label.clone(), 2.5)).collect());
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).class_weight(weight.clone()).tol(0.02).seed(u64::MAX);
    let model = params.fit(&view, &labels).unwrap().with_feature_names(Some(names.clone())).unwrap();
    let bytes = model.to_bytes().unwrap();
    let read = PowerMeanSvc::from_bytes(&bytes).unwrap();
    assert_eq!(read.feature_names(), Some(&names[..]));
    let training = read.training().unwrap();
    assert_eq!((&training.class_weight, training.tol, training.seed), (&weight, 0.02, u64::MAX));
    assert!(read.clone().with_feature_names(Some(names[1..].to_vec())).is_err());
    assert_eq!(read.with_feature_names(None).unwrap().feature_names(), None);

    let params = ThinPlateParams::new(ConditionalKernel::THIN_PLATE).n_basis(Some(8));
    let model = ThinPlateSvc::from_bytes(&params.fit(&view, &labels).unwrap().to_bytes().unwrap()).unwrap();
    assert_eq!(model.training().unwrap().basis.as_deref(), Some("kmeans"));
    assert_eq!(model.feature_names(), None);
}

#[test]
fn rejects_bytes_of_another_method() {
    let (values, labels) = histograms(30, 4, 2, 3);
    let view = DenseView::new(&values, 30, 4).unwrap();
    let bytes = PowerMeanParams::new(AdditiveKernel::Chi2).fit(&view, &labels).unwrap().to_bytes();
    let error = ThinPlateSvc::from_bytes(&bytes.unwrap()).unwrap_err().to_string();
    assert!(error.contains("a model of 'power-mean', expected 'thin-plate'"), "{error}");
    assert!(method_of_bytes(b"no model").unwrap_err().to_string().starts_with("<bytes>"));
}

fn bits(values: &[f32]) -> Vec<u64> {
    values.iter().map(|value| u64::from(value.to_bits())).collect()
}
