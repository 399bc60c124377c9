//! Model files of format 1 are read as ever; those of today carry a checksum, and no damaged file is taken for a model.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};
use widemargin::data::{AnySamples, BitSets, CsrMatrix, DenseMatrix, DenseView, Images, Series, Vectors};
use widemargin::model::{
    BasisExpansionSvc, FORMAT_VERSION, FileFacts, PowerMeanSvc, ThinPlateSvc, header_of_bytes, payload, with_payload,
};
use widemargin::similarity::AnySimilarity;
use widemargin::{Error, Result};

/// A model of any method.
enum Model {
    PowerMean(PowerMeanSvc),
    BasisExpansion(BasisExpansionSvc<AnySimilarity>),
    ThinPlate(ThinPlateSvc),
}

impl Model {
    fn from_bytes(method: &str, bytes: &[u8]) -> Result<Model> {
        Ok(match method {
            "power-mean" => Model::PowerMean(PowerMeanSvc::from_bytes(bytes)?),
            "thin-plate" => Model::ThinPlate(ThinPlateSvc::from_bytes(bytes)?),
            _ => Model::BasisExpansion(BasisExpansionSvc::from_bytes(bytes)?),
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Model::PowerMean(model) => model.to_bytes(),
            Model::BasisExpansion(model) => model.to_bytes(),
            Model::ThinPlate(model) => model.to_bytes(),
        }
        .unwrap()
    }

    fn decision_values(&self, samples: &AnySamples) -> Vec<f64> {
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>();
        let rows = match samples {
            AnySamples::Vectors(Vectors::Dense(matrix)) => Some((wide(&matrix.values), matrix.n_rows, matrix.n_cols)),
            _ => None,
        };
        match (self, &rows) {
            (Model::BasisExpansion(model), _) => wide(model.decision_function(samples, 1).unwrap().values()),
            (Model::PowerMean(model), Some((values, n, d))) => {
                wide(model.decision_function(&DenseView::new(values, *n, *d).unwrap(), 1).unwrap().values())
            }
            (Model::ThinPlate(model), Some((values, n, d))) => {
                model.decision_values(&DenseView::new(values, *n, *d).unwrap(), 1).unwrap()
            }
            _ => unreachable!("no vectors"),
        }
    }
}

/// A file of version 0.1 with samples and the decision values that it gave.
struct Case {
    name: String,
    method: String,
    bytes: Vec<u8>,
    samples: AnySamples,
    values: Vec<f64>,
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", "format_1"].iter().collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

fn samples(case: &Value) -> AnySamples {
    let inputs = case["inputs"].as_array().unwrap();
    let n = inputs.len();
    let narrow = |value: &Value| numbers(value).iter().map(|&value| value as f32).collect::<Vec<f32>>();
    let values = || narrow(&case["inputs"]);
    match case["kind"].as_str().unwrap() {
        "dense" => {
            let values = values();
            AnySamples::Vectors(Vectors::Dense(DenseMatrix { n_rows: n, n_cols: values.len() / n, values }))
        }
        "sparse" => AnySamples::Vectors(Vectors::Sparse(CsrMatrix {
            indptr: numbers(&case["indptr"]).iter().map(|&at| at as usize).collect(),
            indices: numbers(&case["indices"]).iter().map(|&at| at as u32).collect(),
            values: values(),
            n_cols: case["n_features"].as_u64().unwrap() as usize,
        })),
        "strings" => AnySamples::Strings(inputs.iter().map(|one| one.as_str().unwrap().to_owned()).collect()),
        "series" => {
            let lengths: Vec<usize> = inputs.iter().map(|one| one.as_array().unwrap().len()).collect();
            AnySamples::Series(Series::new(values(), &lengths, 1).unwrap())
        }
        "bit-sets" => {
            let n_bits = inputs[0].as_array().unwrap().len();
            let mut words = vec![0u64; n * n_bits.div_ceil(64)];
            for (set, one) in inputs.iter().enumerate() {
                for (bit, _) in numbers(one).iter().enumerate().filter(|(_, value)| **value > 0.0) {
                    words[set * n_bits.div_ceil(64) + bit / 64] |= 1 << (bit % 64);
                }
            }
            AnySamples::BitSets(BitSets::new(words, n, n_bits).unwrap())
        }
        "images" => {
            let pixels = numbers(&case["inputs"]).iter().map(|&value| value as u8).collect();
            AnySamples::Images(Images::new(pixels, 16, 16, 1).unwrap())
        }
        other => panic!("{other}"),
    }
}

/// All that the library loads by itself.
fn cases() -> Vec<Case> {
    let all: Value = serde_json::from_slice(&fs::read(folder().join("cases.json")).unwrap()).unwrap();
    let all = all.as_array().unwrap().iter().filter(|case| case["kind"] != "python");
    let cases: Vec<Case> = all
        .map(|case| {
            let name = case["model"].as_str().unwrap().to_owned();
            let bytes = fs::read(folder().join(format!("{name}.model"))).unwrap();
            let method = FileFacts::of_bytes(&bytes).unwrap().method;
            Case { method, bytes, samples: samples(case), values: numbers(&case["decision_values"]), name }
        })
        .collect();
    assert_eq!(cases.len(), 13);
    cases
}

/// The header of a file, and its tensors' bytes.
fn parts(bytes: &[u8]) -> (Map<String, Value>, &[u8]) {
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (layout, tensors) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let layout: Value = serde_json::from_slice(layout).unwrap();
    let header = layout["__metadata__"]["widemargin"].as_str().unwrap();
    (serde_json::from_str(header).unwrap(), tensors)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn format_1_is_read_as_ever() {
    for Case { name, method, bytes, samples, values } in cases() {
        let facts = FileFacts::of_bytes(&bytes).unwrap();
        assert_eq!(facts.format_version, 1);
        assert!(facts.remark().unwrap().contains("format 1 carries no checksum"));
        let model = Model::from_bytes(&method, &bytes).unwrap();
        let found = model.decision_values(&samples);
        assert_eq!(found.len(), values.len(), "{name}");
        // Another processor has other instructions, and so another rounding.
        for (found, told) in found.iter().zip(&values) {
            assert!((found - told).abs() <= 2e-6 * told.abs().max(1.0), "{name}: {found}, not {told}");
        }

        // In today's format, nothing of it is another.
        let again = model.to_bytes();
        let facts = FileFacts::of_bytes(&again).unwrap();
        assert_eq!((facts.format_version, facts.remark()), (FORMAT_VERSION, None));
        let ((mut then, tensors), (mut now, tensors_now)) = (parts(&bytes), parts(&again));
        assert!(now.remove("checksum").unwrap().as_str().unwrap().starts_with("crc32:"));
        assert_eq!(now.remove("format_version"), Some(Value::from(FORMAT_VERSION)));
        then.remove("format_version");
        // Times are stored no more.
        for report in [&mut now, &mut then].into_iter().filter_map(|header| header.get_mut("report")) {
            report.as_object_mut().unwrap().remove("stages");
        }
        // The steps of a spec are joined by / now.
        for spec in then.get_mut("similarity").and_then(Value::as_array_mut).into_iter().flatten() {
            *spec = Value::from(spec.as_str().unwrap().replace('>', "/"));
        }
        assert_eq!((now, tensors_now), (then, tensors), "{name}");
        let model = Model::from_bytes(&method, &again).unwrap();
        assert_eq!(bits(&model.decision_values(&samples)), bits(&found), "{name}");
        assert_eq!(model.to_bytes(), again, "{name}");
    }
}

/// Hundreds of positions spread over every file, all eight bits in turn.
#[test]
fn no_flipped_bit_is_taken_for_a_model() {
    let mut n_flips = 0;
    for Case { name, method, bytes, .. } in cases() {
        let mut bytes = Model::from_bytes(&method, &bytes).unwrap().to_bytes();
        let n_bits = 8 * bytes.len();
        // Odd, so that every bit of a byte comes.
        for at in (0..n_bits).step_by((n_bits / 150) | 1) {
            bytes[at / 8] ^= 1 << (at % 8);
            let Err(error) = Model::from_bytes(&method, &bytes) else { panic!("{name}: bit {at} of {n_bits}") };
            assert!(matches!(error, Error::ModelFile { .. } | Error::ModelVersion { .. }), "{name}: {at}: {error}");
            assert!(FileFacts::of_bytes(&bytes).is_err() && header_of_bytes(&bytes).is_err(), "{name}: {at}");
            bytes[at / 8] ^= 1 << (at % 8);
            n_flips += 1;
        }
        assert!(Model::from_bytes(&method, &bytes).is_ok());
    }
    assert!(n_flips > 1500, "{n_flips}");
}

/// In format 1 a flip may go unnoticed, but it never panics and never takes memory that the file does not account for.
#[test]
fn a_damaged_file_of_format_1_is_an_error_or_a_model() {
    for Case { method, mut bytes, .. } in cases() {
        let n_bits = 8 * bytes.len();
        for at in (0..n_bits).step_by((n_bits / 300) | 1) {
            bytes[at / 8] ^= 1 << (at % 8);
            drop(Model::from_bytes(&method, &bytes));
            drop(header_of_bytes(&bytes));
            bytes[at / 8] ^= 1 << (at % 8);
        }
    }
}

#[test]
fn a_file_of_the_newest_format_without_its_checksum_is_refused() {
    let Case { bytes, method, .. } = cases().swap_remove(0);
    let whole = Model::from_bytes(&method, &bytes).unwrap().to_bytes();
    let text = String::from_utf8_lossy(&whole);
    let at = text.find(r#"\"checksum\""#).unwrap();
    let mut renamed = whole.clone();
    renamed[at + 2] = b'C';
    let error = PowerMeanSvc::from_bytes(&renamed).unwrap_err().to_string();
    assert!(error.contains("damaged: it is of format 2 and has no checksum"), "{error}");
    let mut other = whole.clone();
    let digit = text.find("crc32:").unwrap() + 6;
    other[digit] = if other[digit] == b'0' { b'1' } else { b'0' };
    let error = PowerMeanSvc::from_bytes(&other).unwrap_err().to_string();
    assert!(error.contains("damaged: it states the checksum 'crc32:"), "{error}");
    // What comes after the last tensor is covered, too.
    let longer = [&whole[..], b"\0"].concat();
    assert!(PowerMeanSvc::from_bytes(&longer).is_err());
}

#[test]
fn a_payload_comes_back_under_a_new_checksum() {
    let Case { bytes, method, samples, .. } = cases().swap_remove(2);
    let model = Model::from_bytes(&method, &bytes).unwrap();
    let whole = model.to_bytes();
    let with = with_payload(&whole, "note.text", b"crc32:00000000 and so on").unwrap();
    assert_eq!(payload(&with, "note.text").unwrap().as_deref(), Some(&b"crc32:00000000 and so on"[..]));
    let again = Model::from_bytes(&method, &with).unwrap();
    assert_eq!(bits(&again.decision_values(&samples)), bits(&model.decision_values(&samples)));
    assert_eq!(payload(&whole, "note.text").unwrap(), None);
    assert!(with_payload(&with, "note.text", b"").unwrap_err().to_string().contains("it has a tensor"));
    assert!(with_payload(&bytes, "note.text", b"").unwrap_err().to_string().contains("format 1"));
    for at in (0..8 * with.len()).step_by(37) {
        let mut damaged = with.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        assert!(payload(&damaged, "note.text").is_err(), "{at}");
    }
}

#[test]
fn a_header_is_whole_or_refused() {
    for Case { name, method, bytes, .. } in cases() {
        let header: Map<String, Value> = serde_json::from_str(&header_of_bytes(&bytes).unwrap()).unwrap();
        assert_eq!(header["method"], method.as_str());
        // Each field under another name of the same length is a field that is missing.
        for field in header.keys().filter(|field| !["checksum", "format_version", "notes"].contains(&field.as_str())) {
            let mut damaged = bytes.clone();
            let quoted = format!(r#"\"{field}\":"#);
            let at = bytes.windows(quoted.len()).position(|window| window == quoted.as_bytes()).unwrap();
            damaged[at + 2] = b'?';
            let error = header_of_bytes(&damaged).expect_err(field).to_string();
            assert!(error.contains(field.as_str()), "{name}: {field}: {error}");
        }
    }
}
