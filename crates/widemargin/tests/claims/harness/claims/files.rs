//! A model is the bytes of its file: both give the same values, and nothing damaged is accepted as a model.

use super::{Model, fit, rows};
use crate::harness::training::{Kind, Task, Training, noise};
use serde_json::{Map, Value};
use widemargin::data::{ClassWeight, SamplesView};
use widemargin::model::{
    AnyModel, BasisExpansionOneClass, BasisExpansionRegressor, BasisExpansionSvc, FORMAT_VERSION, FileMetadata,
    Model as _, PowerMeanParams, PowerMeanSvc, ThinPlateParams, ThinPlateRegressor, ThinPlateSvc, header_of_bytes,
    payload, with_payload,
};
use widemargin::similarity::{AdditiveKernel, ConditionalKernel};
use widemargin::{Error, Result};

/// A model of each row of the table, its name, and its training samples.
fn models() -> impl Iterator<Item = (String, Model, Training)> {
    rows(|_| true).into_iter().map(|problem| {
        let training = problem.training(60, 2);
        let model = fit(&problem, &training);
        (problem.name, model, training)
    })
}

fn one_model() -> Vec<u8> {
    let problem = rows(|problem| problem.name.starts_with("chi2")).remove(0);
    fit(&problem, &problem.training(60, 2)).to_bytes()
}

fn with_names(mut model: AnyModel, names: Option<Vec<String>>) -> Result<Model> {
    model.set_feature_names(names)?;
    Ok(Model(model))
}

fn names_of(model: &Model) -> Option<Vec<String>> {
    model.0.feature_names().map(<[String]>::to_vec)
}

#[test]
fn a_file_gives_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for (name, model, training) in models() {
        let bytes = model.to_bytes();
        let read = Model(AnyModel::from_bytes(&bytes).unwrap());
        assert_eq!((read.0.method(), read.0.kind()), (model.0.method(), model.0.kind()), "{name}");
        assert_eq!(read.to_bytes(), bytes, "{name}");
        assert_eq!(read.bits(&training.samples), model.bits(&training.samples), "{name}");
        assert_eq!((read.bases(), read.report()), (model.bases(), model.report()), "{name}");
        model.0.save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name}");
        assert_eq!(AnyModel::load(&path).unwrap().method(), model.0.method(), "{name}");
        let metadata = FileMetadata::of_bytes(&bytes).unwrap();
        assert_eq!(FileMetadata::of(&path).unwrap(), metadata, "{name}");
        assert_eq!((metadata.format_version, &*metadata.method), (FORMAT_VERSION, model.0.method()), "{name}");

        // Names of features are stored, and there are as many as features.
        let names: Vec<String> = (0..5).map(|at| format!("column {at}")).collect();
        let of_vectors = training.samples.kind() == "vectors";
        let named = with_names(read.0, Some(names.clone()));
        if of_vectors {
            let again = Model(AnyModel::from_bytes(&named.unwrap().to_bytes()).unwrap());
            assert_eq!(names_of(&again), Some(names.clone()), "{name}");
            let again = with_names(again.0, None).unwrap();
            assert_eq!(names_of(&again), None);
            assert!(with_names(again.0, Some(names[1..].to_vec())).is_err(), "{name}");
        }
    }
}

/// By every reader of another method or task, which names both.
#[test]
fn rejects_models_of_another_method() {
    for (name, model, _) in models() {
        let bytes = model.to_bytes();
        let refused: [Result<()>; 6] = [
            BasisExpansionSvc::from_bytes(&bytes).map(drop),
            ThinPlateSvc::from_bytes(&bytes).map(drop),
            PowerMeanSvc::from_bytes(&bytes).map(drop),
            BasisExpansionRegressor::from_bytes(&bytes).map(drop),
            ThinPlateRegressor::from_bytes(&bytes).map(drop),
            BasisExpansionOneClass::from_bytes(&bytes).map(drop),
        ];
        assert_eq!(refused.iter().filter(|refused| refused.is_ok()).count(), 1, "{name}");
        for error in refused.into_iter().filter_map(Result::err) {
            assert!(error.to_string().contains(&format!("a model of '{}', expected '", model.0.method())), "{error}");
        }
        let (what, is_classifier) = match model.0 {
            AnyModel::Classifier(_) => ("a classifier", true),
            AnyModel::Regressor(_) => ("regression model", false),
            AnyModel::OneClass(_) => ("outlier detector", false),
        };
        let classifier = widemargin::model::from_bytes(&bytes);
        assert_eq!(classifier.is_ok(), is_classifier, "{name}");
        assert!(classifier.err().is_none_or(|error| error.to_string().contains(what)), "{name}");
    }
    assert!(FileMetadata::of_bytes(b"no model").unwrap_err().to_string().starts_with("<bytes>"));
}

#[test]
fn rejects_files_that_are_cut_or_have_a_flipped_bit() {
    for (name, model, _) in models() {
        let mut bytes = model.to_bytes();
        for cut in (0..bytes.len()).step_by(1 + bytes.len() / 40).chain([7, bytes.len() - 1]) {
            let error = AnyModel::from_bytes(&bytes[..cut]).unwrap_err();
            assert!(matches!(error, Error::ModelFile { .. }), "{name}, cut at {cut}: {error}");
            assert!(error.to_string().starts_with("<bytes>: not a usable model file: "), "{error}");
        }
        let n_bits = 8 * bytes.len();
        // Odd, so that every bit of a byte comes.
        for at in (0..n_bits).step_by((n_bits / 100) | 1) {
            bytes[at / 8] ^= 1 << (at % 8);
            let error = AnyModel::from_bytes(&bytes).expect_err(&format!("{name}: bit {at} of {n_bits}"));
            assert!(matches!(error, Error::ModelFile { .. } | Error::ModelVersion { .. }), "{name}: {at}: {error}");
            assert!(FileMetadata::of_bytes(&bytes).is_err() && header_of_bytes(&bytes).is_err(), "{name}: {at}");
            bytes[at / 8] ^= 1 << (at % 8);
        }
        assert!(AnyModel::from_bytes(&bytes).is_ok());
    }
}

/// The file with the checksum of its content, bit by bit as zlib defines it.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = bytes.windows(6).position(|window| window == b"crc32:").unwrap() + 6;
    bytes[at..at + 8].copy_from_slice(b"00000000");
    let mut sum = u32::MAX;
    for byte in &bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    bytes[at..at + 8].copy_from_slice(format!("{:08x}", !sum).as_bytes());
    bytes
}

/// Fields that a header may lack, and those that are checked before it is read.
const OPTIONAL: [&str; 12] = [
    "calibration",
    "checksum",
    "choice",
    "epsilon",
    "format_version",
    "loss_path",
    "multilabel",
    "notes",
    "path",
    "penalty",
    "quantile",
    "training",
];

#[test]
fn rejects_incomplete_headers() {
    for (name, model, _) in models() {
        let bytes = model.to_bytes();
        let header: Map<String, Value> = serde_json::from_str(&header_of_bytes(&bytes).unwrap()).unwrap();
        assert_eq!(header["method"], model.0.method());
        // Each field under another name of the same length is a field that is missing.
        for field in header.keys().filter(|field| !OPTIONAL.contains(&field.as_str())) {
            let mut damaged = bytes.clone();
            let quoted = format!(r#"\"{field}\":"#);
            let at = bytes.windows(quoted.len()).position(|window| window == quoted.as_bytes()).unwrap();
            damaged[at + 2] = b'?';
            let error = header_of_bytes(&sealed(damaged)).expect_err(field).to_string();
            assert!(error.contains(&**field), "{name}: {field}: {error}");
        }
    }
}

#[test]
fn rejects_files_without_their_checksum_and_of_a_newer_format() {
    let whole = one_model();
    let text = String::from_utf8_lossy(&whole);
    let at = text.find(r#"\"checksum\""#).unwrap();
    let mut renamed = whole.clone();
    renamed[at + 2] = b'C';
    let error = PowerMeanSvc::from_bytes(&renamed).unwrap_err().to_string();
    assert!(error.contains("damaged: it has no checksum"), "{error}");
    let mut other = whole.clone();
    let digit = text.find("crc32:").unwrap() + 6;
    other[digit] = if other[digit] == b'0' { b'1' } else { b'0' };
    let error = PowerMeanSvc::from_bytes(&other).unwrap_err().to_string();
    assert!(error.contains("damaged: it states the checksum 'crc32:"), "{error}");
    // Bytes after the last tensor are covered, too.
    let longer = [&whole[..], b"\0"].concat();
    assert!(PowerMeanSvc::from_bytes(&longer).is_err());
    let mut newer = whole.clone();
    let at = whole.windows(17).position(|window| window == b"format_version\\\":").unwrap() + 17;
    newer[at] = b'9';
    assert!(matches!(PowerMeanSvc::from_bytes(&newer), Err(Error::ModelVersion { found: 9, .. })));
    let nowhere = tempfile::tempdir().unwrap().path().join("no/such/folder/model");
    assert!(matches!(PowerMeanSvc::from_bytes(&whole).unwrap().save(nowhere), Err(Error::Io { .. })));
}

#[test]
fn a_payload_comes_back_under_a_new_checksum() {
    let whole = one_model();
    let with = with_payload(&whole, "note.text", b"crc32:00000000 and so on").unwrap();
    assert_eq!(payload(&with, "note.text").unwrap().as_deref(), Some(&b"crc32:00000000 and so on"[..]));
    assert_eq!(PowerMeanSvc::from_bytes(&with).unwrap(), PowerMeanSvc::from_bytes(&whole).unwrap());
    assert_eq!(payload(&whole, "note.text").unwrap(), None);
    assert!(with_payload(&with, "note.text", b"").unwrap_err().to_string().contains("it has a tensor"));
    for at in noise(200, 0).into_iter().map(|x| (x * 8.0 * with.len() as f64) as usize) {
        let mut damaged = with.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        assert!(payload(&damaged, "note.text").is_err(), "{at}");
    }
}

#[test]
fn parameters_are_stored() {
    let training = Training::new(Kind::Vectors, Task::Classes(2), 40, 3);
    let view = SamplesView::Other(&training.samples).rows("a test").unwrap();
    let weight = ClassWeight::PerClass(training.labels().classes().iter().map(|label| (label.clone(), 2.5)).collect());
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).class_weight(weight.clone()).tol(0.02).seed(u64::MAX);
    let read = PowerMeanSvc::from_bytes(&params.fit(&view, training.labels()).unwrap().to_bytes().unwrap()).unwrap();
    let stored = read.training().unwrap();
    assert_eq!((&stored.class_weight, stored.tol, stored.seed), (&weight, 0.02, u64::MAX));
    let params = ThinPlateParams::new(ConditionalKernel::THIN_PLATE).n_basis(Some(8));
    let read = ThinPlateSvc::from_bytes(&params.fit(&view, training.labels()).unwrap().to_bytes().unwrap()).unwrap();
    assert_eq!(read.training().unwrap().basis.as_deref(), Some("kmeans"));
}
