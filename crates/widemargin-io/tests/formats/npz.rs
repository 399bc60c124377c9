//! NPZ: supported arrays, and errors for others.

use crate::common::{f32s, i32s, i64s, labels, le, message, npy, npz, read_bytes, rows};
use widemargin::data::AnySamples;
use widemargin_io::{Blocks, LabelColumn, ReadOptions, Samples};

type Arrays = Vec<(&'static str, Vec<u8>)>;

/// ```text
/// 1 0 2
/// 0 0 0
/// 0 3 0
/// ```
/// with a row out of order and a value in two parts.
fn csr() -> Arrays {
    vec![
        ("format", npy("|S3", false, "()", b"csr")),
        ("shape", i64s(&[3, 3])),
        ("indptr", i32s(&[0, 3, 3, 4])),
        ("indices", i32s(&[2, 0, 2, 1])),
        ("data", f32s(&[0.5, 1.0, 1.5, 3.0])),
    ]
}

fn csc() -> Arrays {
    vec![
        ("format", npy("<U3", false, "()", &le(&['c', 's', 'c'].map(u32::from), u32::to_le_bytes))),
        ("shape", i64s(&[3, 3])),
        ("indptr", i64s(&[0, 1, 2, 3])),
        ("indices", i64s(&[0, 2, 0])),
        ("data", npy("<f8", false, "(3,)", &le(&[1.0, 3.0, 2.0], f64::to_le_bytes))),
    ]
}

fn coo() -> Arrays {
    vec![
        ("format", npy("|S3", false, "()", b"coo")),
        ("shape", i64s(&[3, 3])),
        ("row", i32s(&[2, 0, 0, 0])),
        ("col", i32s(&[1, 2, 0, 2])),
        ("data", i64s(&[3, 1, 1, 1])),
    ]
}

fn with(mut arrays: Arrays, name: &'static str, bytes: Vec<u8>) -> Arrays {
    arrays.retain(|(other, _)| *other != name);
    arrays.push((name, bytes));
    arrays
}

fn utf32(texts: &[&str], width: usize) -> Vec<u8> {
    let each = |text: &&str| text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width).collect::<Vec<_>>();
    let data: Vec<u32> = texts.iter().flat_map(each).collect();
    npy(&format!("<U{width}"), false, &format!("({},)", texts.len()), &le(&data, u32::to_le_bytes))
}

#[test]
fn sparse_layouts_are_read() {
    let expected = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]];
    for deflated in [false, true] {
        for (arrays, single) in [(csr(), true), (csc(), false), (coo(), true)] {
            let table = read_bytes("a.npz", npz(&arrays, deflated), &ReadOptions::default()).unwrap();
            assert_eq!(rows(&table), expected);
            assert!(table.samples.is_sparse());
            assert_eq!(table.samples.is_single(), single);
            assert_eq!((table.labels, table.feature_names), (None, None));
        }
    }
}

#[test]
fn labels_and_names_are_read() {
    let options = ReadOptions::default();
    for (bytes, expected) in [
        (i64s(&[3, -1, 3]), ["3", "-1", "3"]),
        (npy("|u1", false, "(3,)", &[0, 1, 2]), ["0", "1", "2"]),
        (npy("|b1", false, "(3,)", &[0, 1, 1]), ["0", "1", "1"]),
        (f32s(&[1.0, 2.5, -3.0]), ["1", "2.5", "-3"]),
        (utf32(&["cat", "dög", ""], 3), ["cat", "dög", ""]),
        (npy("|S2", false, "(3,)", b"a\0bcd\0"), ["a", "bc", "d"]),
    ] {
        for name in ["labels", "y"] {
            let table = read_bytes("a.npz", npz(&with(csr(), name, bytes.clone()), false), &options).unwrap();
            assert_eq!(labels(&table), expected);
        }
    }
    let arrays = with(with(csr(), "y", i64s(&[1, 2, 3])), "feature_names", utf32(&["a", "b", "cc"], 2));
    let table = read_bytes("a.npz", npz(&arrays, true), &options).unwrap();
    assert_eq!(table.feature_names.unwrap(), ["a", "b", "cc"]);
    let none = ReadOptions { label: LabelColumn::None, ..Default::default() };
    assert_eq!(read_bytes("a.npz", npz(&arrays, true), &none).unwrap().labels, None);
}

#[test]
fn dense_archives_are_read() {
    let matrix = npy("<f8", true, "(2, 3)", &le(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0], f64::to_le_bytes));
    let scratch = crate::common::file("a.npz", npz(&[("X", matrix), ("y", i32s(&[0, 1]))], true));
    let table = widemargin_io::read(&scratch.path, &ReadOptions::default()).unwrap();
    assert_eq!(rows(&table), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert!(matches!(table.samples, Samples::DenseF64(_)));
    assert_eq!(labels(&table), ["0", "1"]);
    let mut blocks = Blocks::open(&scratch.path, &ReadOptions::default()).unwrap();
    assert_eq!(blocks.next().unwrap().unwrap().table, table);
    assert!(blocks.next().is_none());
}

#[test]
fn rejects_invalid_archives() {
    let shape = |rows, columns| i64s(&[rows, columns]);
    let x = || npy("<f4", false, "(1, 2)", &[0; 8]);
    for (arrays, expected, help) in [
        (with(csr(), "indices", i32s(&[2, 0, 3, 1])), "array 'indices': 3 at position 2, expected 0 to 2", None),
        (
            with(csr(), "indices", i32s(&[2, 0, -1, 1])),
            "array 'indices': -1 at position 2, expected 0 to 4294967295",
            None,
        ),
        (
            with(csr(), "indices", f32s(&[2.0, 0.0, 1.0, 1.0])),
            "array 'indices': dtype '<f4' is not read, expected int8 to int64 or uint8 to uint64",
            Some(".astype()"),
        ),
        (
            with(csr(), "indptr", i32s(&[0, 3, 4])),
            "array 'indptr': shape (3,), expected (4,), one a row or column and one more",
            None,
        ),
        (with(csr(), "indptr", i32s(&[0, 3, 2, 4])), "array 'indptr': 2 at position 2, expected at least 3", None),
        (with(csr(), "indptr", i32s(&[1, 3, 3, 4])), "array 'indptr': 1 at position 0, expected 0", None),
        (
            with(csr(), "indptr", i32s(&[0, 3, 3, 9])),
            "array 'indptr': 9 at position 3, expected 4, the number of stored values",
            None,
        ),
        (with(csr(), "data", f32s(&[0.0, 1.0])), "array 'data': shape (2,), expected (4,), one an index", None),
        (
            with(csr(), "data", f32s(&[0.0, 1.0, 2.0, f32::NAN])),
            "array 'data': row 3, column 2: NaN is not a finite number",
            Some("impute"),
        ),
        (
            with(csr(), "data", npy("<c8", false, "(4,)", &[0; 32])),
            "array 'data': dtype '<c8' (complex) is not read, expected bool",
            Some(".astype()"),
        ),
        (
            with(csr(), "format", npy("|S3", false, "()", b"bsr")),
            "sparse format 'bsr' is not read, expected csr, csc or coo",
            Some(".tocsr()"),
        ),
        (
            with(csr(), "format", npy("|S1000000000000", false, "()", b"csr")),
            "array 'format': truncated: the header claims 1000000000000 bytes of data, there are 3",
            None,
        ),
        (
            with(csr(), "shape", shape(3, 0)),
            "array 'shape': shape (3, 0) for the matrix, expected 1 to 4294967295 samples and features",
            None,
        ),
        (with(csr(), "shape", shape(3, -3)), "array 'shape': -3 at position 1, expected at least 0", None),
        (
            with(coo(), "shape", shape(4_000_000_000, 3)),
            "array 'shape': shape (4000000000, 3) for the matrix, expected fewer rows for 4 stored values",
            None,
        ),
        (with(coo(), "col", i32s(&[1, 2])), "array 'row': shape (4,), expected (2,), one a column index", None),
        (
            with(csc(), "indptr", i64s(&[0, 1, 2, 4_000_000_000_000])),
            "array 'indptr': 4000000000000 at position 3, expected 3, the number of stored values",
            None,
        ),
        (with(csr(), "labels", i64s(&[1, 2])), "array 'labels': shape (2,), expected (3,), one a sample", None),
        (
            with(csr(), "labels", npy("|O", false, "(3,)", b"pickle")),
            "array 'labels': dtype '|O' (object) is not read, expected integers, floats or text",
            Some(".astype()"),
        ),
        (
            with(csr(), "feature_names", utf32(&["a"], 1)),
            "array 'feature_names': shape (1,), expected (3,), one a feature",
            None,
        ),
        (csr().into_iter().filter(|(name, _)| *name != "data").collect(), "array 'data' is damaged: ", None),
        (vec![("arr_0", x())], "no samples: the archive holds arr_0", Some("X=")),
        (vec![], "no samples: the archive holds nothing", Some("save_npz")),
        (vec![("X", npy("<f4", false, "(2,)", &[0; 8]))], "array 'X': shape (2,), expected two dimensions", None),
        (
            vec![("X", npy("<f4", false, "(1000000000, 1000)", &[0; 8]))],
            "array 'X': truncated: the header claims 4000000000000 bytes of data, there are ",
            None,
        ),
        (
            vec![("X", npy("<f4", false, "(1, 1)", &[0; 8]))],
            "array 'X': more data than the 4 bytes its header claims",
            None,
        ),
        (vec![("X", b"text".to_vec())], "array 'X': not an NPY array", None),
    ] {
        for deflated in [false, true] {
            let (found, found_help) = message("a.npz", npz(&arrays, deflated), &ReadOptions::default());
            assert!(found.starts_with(expected), "{found} is not {expected}");
            match help {
                None => assert_eq!(found_help, None, "{found}"),
                Some(help) => assert!(found_help.as_ref().is_some_and(|h| h.contains(help)), "{found}: {found_help:?}"),
            }
        }
    }
    assert!(message("a.npz", "not a zip", &ReadOptions::default()).0.starts_with("not a usable NPZ archive: "));
    let label = ReadOptions { label: LabelColumn::Number(1), ..Default::default() };
    assert!(message("a.npz", npz(&csr(), false), &label).0.contains("the labels are the array"));
}

#[test]
fn detects_a_changed_byte_of_data() {
    let mut bytes = npz(&csr(), false);
    let at = bytes.windows(4).rposition(|window| window == 3f32.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    let (found, _) = message("a.npz", bytes, &ReadOptions::default());
    assert!(found.starts_with("array 'data' is damaged: "), "{found}");
}

#[test]
fn series_and_images_are_arrays_of_more_dimensions() {
    let read = |arrays: &[(&str, Vec<u8>)]| read_bytes("a.npz", npz(arrays, false), &ReadOptions::default()).unwrap();
    // Two series of three steps and one channel; the second ends early.
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, f32::NAN];
    let of_shape = |shape: &str| npy("<f4", false, shape, &le(&values, f32::to_le_bytes));
    let table = read(&[("X", of_shape("(2, 3, 1)")), ("y", i64s(&[1, 2]))]);
    let Samples::Other(AnySamples::Series(series)) = &table.samples else { panic!("{table:?}") };
    assert_eq!((series.lengths(), series.channels(), series.series(1)), (vec![3, 2], 1, &[4.0f32, 5.0][..]));
    assert_eq!(labels(&table), ["1", "2"]);
    assert_eq!(read(&[("X", of_shape("(2, 1, 3)"))]).samples, table.samples);
    // Two channels of four steps, channels first: those of a step come together.
    let values: Vec<f32> = (0..8u8).map(f32::from).collect();
    let table = read(&[("X", npy("<f4", false, "(1, 2, 4)", &le(&values, f32::to_le_bytes)))]);
    let Samples::Other(AnySamples::Series(series)) = &table.samples else { panic!("{table:?}") };
    assert_eq!(series.series(0), [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
    let pixels: Vec<u8> = (0..12).collect();
    for (shape, size) in [("(2, 2, 3)", (2, 3, 1)), ("(1, 2, 2, 3)", (2, 2, 3))] {
        let table = read(&[("X", npy("|u1", false, shape, &pixels))]);
        let Samples::Other(AnySamples::Images(images)) = &table.samples else { panic!("{table:?}") };
        assert_eq!((images.height(), images.width(), images.channels()), size);
        assert_eq!(images.pixels(), pixels);
    }
    for (bytes, expected) in [
        (npy("<f4", false, "(2, 2, 2)", &le(&values, f32::to_le_bytes)), "which axis is the time?"),
        (npy("|u1", false, "(1, 2, 3, 2)", &pixels), "n × height × width × 1 or 3"),
        (npy("<f4", false, "(1, 2, 2, 2)", &le(&values, f32::to_le_bytes)), "three for series"),
        (npy("<f4", true, "(1, 2, 4)", &le(&values, f32::to_le_bytes)), "row order"),
    ] {
        let error = message("a.npz", npz(&[("X", bytes)], false), &ReadOptions::default()).0;
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn labels_are_read_from_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let x = npy("<f4", false, "(3, 2)", &le(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], f32::to_le_bytes));
    std::fs::write(path("x.npy"), x).unwrap();
    std::fs::write(path("y.npy"), i64s(&[3, -1, 3])).unwrap();
    std::fs::write(path("column.npy"), npy("<i8", false, "(3, 1)", &le(&[3, -1, 3], i64::to_le_bytes))).unwrap();
    std::fs::write(path("y.txt"), "3\n-1\n3\n").unwrap();
    std::fs::write(path("few.txt"), "3\n-1\n").unwrap();
    std::fs::write(path("many.txt"), "3\n-1\n3\n4\n").unwrap();
    std::fs::write(path("floats.npy"), f32s(&[3.0, -1.0, 3.0])).unwrap();
    std::fs::write(path("fractions.npy"), f32s(&[0.1, -1.5, 0.1])).unwrap();
    std::fs::write(path("nan.npy"), f32s(&[1.0, f32::NAN, 1.0])).unwrap();
    let options = |name: &str| ReadOptions { label_file: Some(path(name)), block_bytes: Some(1), ..Default::default() };
    let read = |name: &str| widemargin_io::read(&path("x.npy"), &options(name));
    for name in ["y.npy", "column.npy", "y.txt", "floats.npy"] {
        let table = read(name).unwrap();
        assert_eq!(
            (labels(&table), rows(&table)[2].clone()),
            (vec!["3".into(), "-1".into(), "3".into()], vec![5.0, 6.0])
        );
        let blocks = Blocks::open(&path("x.npy"), &options(name)).unwrap();
        let labels: Vec<String> = blocks.flat_map(|block| labels(&block.unwrap().table)).collect();
        assert_eq!(labels, ["3", "-1", "3"]);
    }
    assert!(read("few.txt").unwrap_err().to_string().contains("few.txt: 2 labels for 3 samples"));
    assert!(read("many.txt").unwrap_err().to_string().contains("many.txt: 4 labels for 3 samples"));
    assert_eq!(labels(&read("fractions.npy").unwrap()), ["0.1", "-1.5", "0.1"]);
    assert!(read("nan.npy").unwrap_err().to_string().contains("nan.npy: "));
    // Multilabel: a column per label.
    std::fs::write(path("sets.csv"), "wet,cold\n1,no\n,0\n0,TRUE\n").unwrap();
    std::fs::write(
        path("sets.npy"),
        npy("<f4", false, "(3, 2)", &le(&[1.0, 0.0, f32::NAN, 0.0, 0.0, 1.0], f32::to_le_bytes)),
    )
    .unwrap();
    std::fs::write(
        path("columns.npy"),
        npy("<f4", true, "(3, 2)", &le(&[1.0, f32::NAN, 0.0, 0.0, 0.0, 1.0], f32::to_le_bytes)),
    )
    .unwrap();
    for (name, names) in [("sets.csv", ["wet", "cold"]), ("sets.npy", ["0", "1"]), ("columns.npy", ["0", "1"])] {
        let indicators = read(name).unwrap().indicators.unwrap();
        assert_eq!(indicators.names.iter().map(ToString::to_string).collect::<Vec<_>>(), names);
        let codes: Vec<i32> = indicators.values.iter().map(|x| if x.is_nan() { -1 } else { *x as i32 }).collect();
        assert_eq!(codes, [1, 0, -1, 0, 0, 1], "{name}");
        let labels = indicators.labels().unwrap();
        assert!(labels.is_multilabel() && labels.len() == 3 && read(name).unwrap().labels.is_none());
    }
    let two = le(&[1.0, 0.0, 2.0, 0.0, 0.0, 1.0], f32::to_le_bytes);
    std::fs::write(path("two.npy"), npy("<f4", false, "(3, 2)", &two)).unwrap();
    assert!(read("two.npy").unwrap_err().to_string().contains("row 2, column 1: 2, expected 1"));
    let mut blocks = Blocks::open(&path("x.npy"), &options("few.txt")).unwrap();
    assert!(blocks.by_ref().any(|block| block.is_err()));
}

#[test]
fn arrays_that_are_not_read_are_named() {
    let dense = || vec![("X", npy("<f4", false, "(2, 1)", &le(&[1.0, 2.0], f32::to_le_bytes))), ("y", i64s(&[1, 2]))];
    let remarks = |arrays: &Arrays| read_bytes("a.npz", npz(arrays, false), &ReadOptions::default()).unwrap().remarks;
    for arrays in [dense(), csr(), csc(), coo(), with(csr(), "_is_array", i64s(&[1]))] {
        assert!(remarks(&arrays).is_empty());
    }
    let found = remarks(&with(dense(), "sample_weight", f32s(&[1.0, 2.0])));
    assert!(found[0].starts_with("arrays not used: sample_weight; weights, "), "{found:?}");
    assert!(found[0].contains("--weight-column"), "{found:?}");
    // Of a dense archive.
    assert!(remarks(&with(dense(), "data", f32s(&[1.0])))[0].contains("not used: data; "));
}
