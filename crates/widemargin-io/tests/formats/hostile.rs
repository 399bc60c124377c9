//! Whatever the bytes, a reader gives a table or an error that names the file.

use crate::common::{file, npz};
use proptest::prelude::*;
use widemargin::data::AnySamples;
use widemargin_io::{Blocks, Format, LabelColumn, ReadOptions, Samples, Table, read};

const NAMES: [&str; 5] = ["a.svm", "a.csv", "a.tsv", "a.npy", "a.npz"];

/// Reads whole and in blocks; what comes out must hold together.
fn survive(name: &str, bytes: &[u8]) {
    let scratch = file(name, bytes);
    for label in [LabelColumn::Auto, LabelColumn::None, LabelColumn::Number(1)] {
        let options = ReadOptions { label, block_bytes: Some(64), ..Default::default() };
        match read(&scratch.path, &options) {
            Ok(table) => check(&table),
            Err(error) => assert!(error.to_string().contains(name), "{error}"),
        }
        if let Ok(blocks) = Blocks::open(&scratch.path, &options) {
            for block in blocks.flatten() {
                check(&block.table);
            }
        }
    }
}

fn check(table: &Table) {
    let valid = match &table.samples {
        Samples::SparseF32(m) => m.view().is_ok() && m.values.iter().all(|v| v.is_finite()),
        Samples::SparseF64(m) => m.view().is_ok() && m.values.iter().all(|v| v.is_finite()),
        Samples::DenseF32(m) => m.view().is_ok() && m.values.iter().all(|v| v.is_finite()),
        Samples::DenseF64(m) => m.view().is_ok() && m.values.iter().all(|v| v.is_finite()),
        Samples::Other(AnySamples::Series(series)) => series.values().iter().all(|v| v.is_finite()),
        Samples::Other(_) => true,
    };
    assert!(valid, "{table:?}");
    assert!(table.samples.n_rows() > 0);
    assert!(table.labels.as_ref().is_none_or(|labels| labels.len() == table.samples.n_rows()));
    assert!(table.feature_names.as_ref().is_none_or(|names| names.len() == table.samples.n_cols()));
}

/// As [`survive`] for formats that hold no vectors.
fn survive_samples(name: &str, format: Format, bytes: &[u8]) {
    let scratch = file(name, bytes);
    for label in [LabelColumn::Auto, LabelColumn::None, LabelColumn::Number(1)] {
        let options = ReadOptions { format: Some(format), label, block_bytes: Some(64), ..Default::default() };
        match read(&scratch.path, &options) {
            Ok(table) => check(&table),
            Err(error) => assert!(error.to_string().contains(name), "{error}"),
        }
        Blocks::open(&scratch.path, &options).into_iter().flatten().for_each(drop);
    }
}

const SAMPLE_FORMATS: [(&str, Format, &[u8]); 4] = [
    ("a.tsv", Format::Strings, b"label\tx\ttext\na\t1\tb\tc\r\n\n2\t\t\"d\n"),
    ("a.csv", Format::Strings, b"smiles,y\n\"C,\nC\",1\nO,0\n"),
    ("a.tsv", Format::Ucr, b"1\t1.5\t-2\n-1\t3\tNaN\n"),
    ("a.ts", Format::Ts, b"#\n@dimensions 2\n@classLabel true a b\n@data\n1,2,3:4,5,6:a\n7:8:b\n"),
];

#[test]
fn truncated_samples_are_survived() {
    for (name, format, bytes) in SAMPLE_FORMATS {
        (0..=bytes.len()).for_each(|length| survive_samples(name, format, &bytes[..length]));
    }
}

/// A small valid file of each format.
fn valid(name: &str) -> Vec<u8> {
    match name {
        "a.svm" => b"1 1:2 3:4.5 # c\n-1 2:1e3\n\ncat 12345678:7\n".to_vec(),
        "a.csv" => b"a,\"b\",label\n1,2.5,x\n-3,1e4,\"y\"\n".to_vec(),
        "a.tsv" => b"1\t2\t3\n4\t5\t6\n".to_vec(),
        "a.npy" => crate::common::npy("<i2", true, "(2, 3)", &[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]),
        _ => npz(&sparse(), false),
    }
}

fn sparse() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("format", crate::common::npy("|S3", false, "()", b"csr")),
        ("shape", crate::common::i64s(&[2, 3])),
        ("indptr", crate::common::i32s(&[0, 2, 3])),
        ("indices", crate::common::i32s(&[2, 0, 1])),
        ("data", crate::common::f32s(&[1.0, 2.0, 3.0])),
        ("labels", crate::common::i32s(&[1, 2])),
    ]
}

#[test]
fn truncation_at_every_length_is_survived() {
    for name in NAMES {
        let bytes = valid(name);
        for length in 0..bytes.len() {
            survive(name, &bytes[..length]);
        }
        survive(name, &bytes);
    }
    let deflated = npz(&sparse(), true);
    (0..deflated.len()).for_each(|length| survive("a.npz", &deflated[..length]));
}

#[test]
fn truncated_arrays_are_errors() {
    for name in ["a.npy", "a.npz"] {
        let bytes = valid(name);
        for length in 0..bytes.len() {
            assert!(
                crate::common::read_bytes(name, &bytes[..length], &ReadOptions::default()).is_err(),
                "{name} {length}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        NAMES.iter().for_each(|name| survive(name, &bytes));
    }

    #[test]
    fn any_text_of_the_right_letters_is_survived(text in "[0-9:., \t\r\n#\"ea+-]{0,200}") {
        NAMES[..3].iter().for_each(|name| survive(name, text.as_bytes()));
    }

    #[test]
    fn any_bytes_are_survived_as_samples(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        SAMPLE_FORMATS.iter().for_each(|(name, format, _)| survive_samples(name, *format, &bytes));
    }

    #[test]
    fn changed_samples_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        for (name, format, bytes) in SAMPLE_FORMATS {
            let mut bytes = bytes.to_vec();
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            survive_samples(name, format, &bytes);
        }
    }

    #[test]
    fn any_header_is_survived(header in "[{}()\\[\\]'\":, a-z<>|0-9TF_]{0,80}", data in prop::collection::vec(any::<u8>(), 0..40)) {
        survive("a.npy", &crate::common::npy_of_header(&header, &data));
    }

    #[test]
    fn changed_bytes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), deflated in any::<bool>()) {
        for name in NAMES {
            let mut bytes = if name == "a.npz" { npz(&sparse(), deflated) } else { valid(name) };
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            survive(name, &bytes);
        }
    }

    // Behind a right checksum the arrays themselves are arbitrary.
    #[test]
    fn changed_arrays_are_survived(array in 0usize..6, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), format in 0usize..3) {
        let mut arrays = sparse();
        arrays[0].1 = crate::common::npy("|S3", false, "()", ["csr", "csc", "coo"][format].as_bytes());
        arrays.push(("row", crate::common::i32s(&[1, 0, 1])));
        arrays.push(("col", crate::common::i32s(&[1, 2, 1])));
        for (at, byte) in &changes {
            let at = at.index(arrays[array].1.len());
            arrays[array].1[at] = *byte;
        }
        survive("a.npz", &npz(&arrays, false));
    }
}
