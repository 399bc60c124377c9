//! Model files carry a checksum, and no damaged file is accepted as a model.

use serde_json::{Map, Value};
use widemargin::data::{AnySamples, BitSets, CsrMatrix, DenseMatrix, DenseView, Images, Labels, Series, Vectors};
use widemargin::expansion::Approximation;
use widemargin::model::{
    BasisExpansionParams, BasisExpansionSvc, FORMAT_VERSION, FileMetadata, PowerMeanParams, PowerMeanSvc,
    ThinPlateParams, ThinPlateSvc, header_of_bytes, payload, with_payload,
};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};
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

/// A model file with samples of its kind.
struct Case {
    name: String,
    method: String,
    bytes: Vec<u8>,
    samples: AnySamples,
}

const N: usize = 12;

/// Numbers from −2 to 2.
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|at| (at * 37 % 33) as f32 / 8.0 - 2.0).collect()
}

fn labels(n_classes: usize) -> Labels {
    Labels::new((0..N).map(|at| ["a", "b", "c"][at * 7 / 3 % n_classes]))
}

/// A model of each method, and of the basis expansion one for each kind of samples.
fn cases() -> Vec<Case> {
    let dense = |n_cols| DenseMatrix { values: numbers(N * n_cols), n_rows: N, n_cols };
    let (plane, positive) =
        (dense(4), DenseMatrix { values: numbers(4 * N).iter().map(|x| x.abs()).collect(), ..dense(4) });
    let vectors = |matrix: &DenseMatrix<f32>| AnySamples::Vectors(Vectors::Dense(matrix.clone()));
    let mut cases = Vec::new();
    let mut add = |name: &str, method: &str, bytes: Result<Vec<u8>>, samples: AnySamples| {
        cases.push(Case { name: name.into(), method: method.into(), bytes: bytes.unwrap(), samples });
    };
    for approximation in [Approximation::Nystroem, Approximation::Polynomial] {
        let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(1.0).approximation(approximation);
        let model = params.fit(&positive.view().unwrap(), &labels(3)).unwrap();
        add(&format!("{approximation}"), "power-mean", model.to_bytes(), vectors(&positive));
    }
    for (name, n_basis) in [("thin plate, exact", None), ("thin plate on bases", Some(6))] {
        let params = ThinPlateParams::new(ConditionalKernel::Distance).c(1.0).n_basis(n_basis);
        let model = params.fit(&plane.view().unwrap(), &labels(2)).unwrap();
        add(name, "thin-plate", model.to_bytes(), vectors(&plane));
    }
    let sparse = CsrMatrix {
        indptr: (0..=N).collect(),
        indices: (0..N).map(|at| (at % 4) as u32).collect(),
        values: numbers(N),
        n_cols: 4,
    };
    let words = (0..N).map(|at| ["aba", "bca", "", "ca", "abcab"][at % 5].repeat(1 + at / 5)).collect();
    let pixels = (0..N * 16 * 16).map(|at| (at * 31 % 251) as u8).collect();
    for (specs, samples) in [
        (&["rbf:gamma=1", "z-score/linear"][..], vectors(&plane)),
        (&["rbf:gamma=1"], AnySamples::Vectors(Vectors::Sparse(sparse))),
        (&["edit"], AnySamples::Strings(words)),
        (&["dtw:window=0.1"], AnySamples::Series(Series::new(numbers(8 * N), &[8; N], 1).unwrap())),
        (&["tanimoto"], AnySamples::BitSets(BitSets::new((1..=N as u64).map(|at| at * 77).collect(), N, 60).unwrap())),
        (&["hog:cell=8/rbf:gamma=1"], AnySamples::Images(Images::new(pixels, 16, 16, 1).unwrap())),
    ] {
        let similarity = AnySimilarity::new(specs).unwrap();
        let model = BasisExpansionParams::new(similarity).c(1.0).n_basis(5).fit(&samples, &labels(3)).unwrap();
        add(&specs.join(", "), "basis-expansion", model.to_bytes(), samples);
    }
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
fn a_file_read_and_written_again_is_the_same() {
    for Case { name, method, bytes, samples } in cases() {
        let metadata = FileMetadata::of_bytes(&bytes).unwrap();
        assert_eq!((metadata.format_version, &metadata.method), (FORMAT_VERSION, &method));
        let (mut header, _) = parts(&bytes);
        assert!(header.remove("checksum").unwrap().as_str().unwrap().starts_with("crc32:"));
        let model = Model::from_bytes(&method, &bytes).unwrap();
        assert_eq!(model.to_bytes(), bytes, "{name}");
        let again = Model::from_bytes(&method, &model.to_bytes()).unwrap();
        assert_eq!(bits(&again.decision_values(&samples)), bits(&model.decision_values(&samples)), "{name}");
    }
}

/// Hundreds of positions spread over every file, all eight bits in turn.
#[test]
fn rejects_files_with_a_flipped_bit() {
    let mut n_flips = 0;
    for Case { name, method, bytes, .. } in cases() {
        let mut bytes = Model::from_bytes(&method, &bytes).unwrap().to_bytes();
        let n_bits = 8 * bytes.len();
        // Odd, so that every bit of a byte comes.
        for at in (0..n_bits).step_by((n_bits / 150) | 1) {
            bytes[at / 8] ^= 1 << (at % 8);
            let Err(error) = Model::from_bytes(&method, &bytes) else { panic!("{name}: bit {at} of {n_bits}") };
            assert!(matches!(error, Error::ModelFile { .. } | Error::ModelVersion { .. }), "{name}: {at}: {error}");
            assert!(FileMetadata::of_bytes(&bytes).is_err() && header_of_bytes(&bytes).is_err(), "{name}: {at}");
            bytes[at / 8] ^= 1 << (at % 8);
            n_flips += 1;
        }
        assert!(Model::from_bytes(&method, &bytes).is_ok());
    }
    assert!(n_flips > 1500, "{n_flips}");
}

#[test]
fn rejects_files_without_their_checksum() {
    let Case { bytes, method, .. } = cases().swap_remove(0);
    let whole = Model::from_bytes(&method, &bytes).unwrap().to_bytes();
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
    for at in (0..8 * with.len()).step_by(37) {
        let mut damaged = with.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        assert!(payload(&damaged, "note.text").is_err(), "{at}");
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
const OPTIONAL: [&str; 8] =
    ["calibration", "checksum", "choice", "format_version", "notes", "path", "penalty", "training"];

#[test]
fn rejects_incomplete_headers() {
    for Case { name, method, bytes, .. } in cases() {
        let header: Map<String, Value> = serde_json::from_str(&header_of_bytes(&bytes).unwrap()).unwrap();
        assert_eq!(header["method"], method.as_str());
        // Each field under another name of the same length is a field that is missing.
        for field in header.keys().filter(|field| !OPTIONAL.contains(&field.as_str())) {
            let mut damaged = bytes.clone();
            let quoted = format!(r#"\"{field}\":"#);
            let at = bytes.windows(quoted.len()).position(|window| window == quoted.as_bytes()).unwrap();
            damaged[at + 2] = b'?';
            let damaged = sealed(damaged);
            let error = header_of_bytes(&damaged).expect_err(field).to_string();
            assert!(error.contains(field.as_str()), "{name}: {field}: {error}");
        }
    }
}
