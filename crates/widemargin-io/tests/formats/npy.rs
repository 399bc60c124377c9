//! NPY: supported arrays, and errors for others.

use crate::common::{file, labels, le, message, npy, npy_of_header, read_bytes, rows};
use widemargin_io::{Block, Blocks, ReadOptions, Samples};

fn label(spec: &str) -> ReadOptions {
    ReadOptions { label: spec.parse().unwrap(), ..Default::default() }
}

#[test]
fn every_type_of_number_is_read() {
    let numbers = [0i8, 1, 2, 3, 4, 5];
    let each =
        |descr: &str, data: Vec<u8>| read_bytes("a.npy", npy(descr, false, "(2, 3)", &data), &ReadOptions::default());
    macro_rules! check {
        ($t:ty, $code:literal, $variant:ident) => {
            for (order, data) in [
                ("<", le(&numbers.map(|n| n as $t), <$t>::to_le_bytes)),
                (">", le(&numbers.map(|n| n as $t), <$t>::to_be_bytes)),
            ] {
                let table = each(&format!("{order}{}", $code), data).unwrap();
                assert_eq!(rows(&table), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
                assert!(matches!(table.samples, Samples::$variant(_)), $code);
                assert_eq!((table.labels, table.feature_names, table.lines), (None, None, None));
            }
        };
    }
    check!(f32, "f4", DenseF32);
    check!(f64, "f8", DenseF64);
    check!(i8, "i1", DenseF32);
    check!(i16, "i2", DenseF32);
    check!(i32, "i4", DenseF32);
    check!(i64, "i8", DenseF32);
    check!(u8, "u1", DenseF32);
    check!(u16, "u2", DenseF32);
    check!(u32, "u4", DenseF32);
    check!(u64, "u8", DenseF32);
    assert_eq!(rows(&each("|b1", vec![0, 1, 1, 0, 0, 1]).unwrap()), [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]);
}

#[test]
fn integers_are_never_rounded() {
    let of = |numbers: &[i64]| {
        read_bytes(
            "a.npy",
            npy("<i8", false, &format!("(1, {})", numbers.len()), &le(numbers, i64::to_le_bytes)),
            &ReadOptions::default(),
        )
    };
    assert!(matches!(of(&[1 << 24, 1 << 40]).unwrap().samples, Samples::DenseF32(_)));
    let table = of(&[3, (1 << 24) + 1, -5]).unwrap();
    assert!(matches!(table.samples, Samples::DenseF64(_)));
    assert_eq!(rows(&table), [[3.0, 16_777_217.0, -5.0]]);
    assert!(
        of(&[3, (1 << 53) + 1])
            .unwrap_err()
            .to_string()
            .ends_with("9007199254740993 is too large to be exact in double precision")
    );
}

#[test]
fn column_order_and_label_columns_are_read() {
    let data = le(&[1f32, 4.0, 2.0, 5.0, 3.0, 6.0], f32::to_le_bytes);
    let bytes = npy("<f4", true, "(2, 3)", &data);
    assert_eq!(
        rows(&read_bytes("a.npy", &bytes, &ReadOptions::default()).unwrap()),
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    );
    let table = read_bytes("a.npy", &bytes, &label("-2")).unwrap();
    assert_eq!((rows(&table), labels(&table)), (vec![vec![1.0, 3.0], vec![4.0, 6.0]], vec!["2".into(), "5".into()]));
    assert!(message("a.npy", &bytes, &label("4")).0.contains("no label column 4: there are 3 columns"));
    assert!(message("a.npy", &bytes, &label("name")).0.contains("the columns of an array have numbers"));
}

#[test]
fn headers_are_read_as_python_writes_them() {
    let data = [0u8; 8];
    for header in [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }",
        "{'shape':(1,2),'fortran_order':False,'descr':'<f4'}",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1, 2,)}",
        "  { 'descr' : '<f4' , 'fortran_order' : True , 'shape' : ( 1 , 2 ) }  ",
    ] {
        assert_eq!(
            rows(&read_bytes("a.npy", npy_of_header(header, &data), &ReadOptions::default()).unwrap()),
            [[0.0; 2]]
        );
    }
}

#[test]
fn rejects_invalid_arrays() {
    let eight = [0u8; 8];
    let good = |descr: &str, shape: &str| npy(descr, false, shape, &eight);
    let mut version = good("<f4", "(1, 2)");
    version[6] = 9;
    let nan = npy("<f8", false, "(2, 1)", &le(&[0.0, f64::NAN], f64::to_le_bytes));
    let infinite = npy("<f4", true, "(2, 2)", &le(&[0.0, 1.0, f32::INFINITY, 0.0], f32::to_le_bytes));
    for (bytes, expected) in [
        (
            good("<c16", "(1, 2)"),
            "dtype '<c16' (complex) is not read, expected bool, int8 to int64, uint8 to uint64, float32 or float64",
        ),
        (good("|O", "(1, 2)"), "dtype '|O' (object) is not read, expected bool, int8"),
        (good("<f2", "(2, 2)"), "dtype '<f2' (float16) is not read, expected bool, int8"),
        (good("<U1", "(1, 2)"), "dtype '<U1' (text) is not read, expected bool, int8"),
        (
            good("[('a', '<f4'), ('b', '<f4')]", "(1, 1)"),
            "dtype '[('a', '<f4'), ('b', '<f4')]' (structured) is not read",
        ),
        (good("<f4", "(2,)"), "shape (2,), expected two dimensions, samples × features"),
        (good("<f4", "()"), "shape (), expected two dimensions, samples × features"),
        (good("<f4", "(0, 2)"), "shape (0, 2), expected at least one sample"),
        (good("<f4", "(2, 0)"), "shape (2, 0), expected at least one feature"),
        (good("<f4", "(2, 2)"), "truncated: the header claims 16 bytes of data, there are 8"),
        (
            good("<f4", "(1000000000000, 1000)"),
            "truncated: the header claims 4000000000000000 bytes of data, there are 8",
        ),
        (
            good("<f4", "(10000000000000, 10000000000000)"),
            "shape (10000000000000, 10000000000000), expected one that fits into memory",
        ),
        // Modulo 2^64 the number of elements is 2.
        (
            npy("<f8", false, "(9223372036854775809, 2)", &[0; 16]),
            "shape (9223372036854775809, 2), expected one that fits into memory",
        ),
        (good("<f4", "(1, 1)"), "more data than the 4 bytes its header claims"),
        (good("<f4", "(1, -2)"), "damaged NPY header: '{'descr': '<f4', 'fortran_order': False,…' is not a dictionary"),
        (npy_of_header("{'descr': '<f4', 'shape': (1, 2)}", &eight), "damaged NPY header: "),
        (npy_of_header("", &eight), "damaged NPY header: "),
        (version, "damaged NPY header: version 9 is not known"),
        (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "damaged NPY header: it ends too early"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "damaged NPY header: it claims 4294967295 bytes"),
        (b"PK\x03\x04 and so on".to_vec(), "not an NPY array (it does not start with \\x93NUMPY)"),
        (b"\x93NUM".to_vec(), "not an NPY array (it does not start with \\x93NUMPY)"),
        (nan, "row 2, column 1: NaN is not a finite number"),
        (infinite, "row 1, column 2: inf is not a finite number"),
        (Vec::new(), "the file is empty"),
    ] {
        let (found, _) = message("a.npy", &bytes, &ReadOptions::default());
        assert!(found.starts_with(expected), "{found} is not {expected}");
    }
}

#[test]
fn blocks_are_the_whole() {
    let numbers: Vec<f32> = (0..3000).map(|n| n as f32 / 4.0).collect();
    for (fortran, n_blocks) in [(false, 91), (true, 1)] {
        let scratch = file("a.npy", npy("<f4", fortran, "(1000, 3)", &le(&numbers, f32::to_le_bytes)));
        let options = ReadOptions { block_bytes: Some(11 * 12), ..label("2") };
        let whole = widemargin_io::read(&scratch.path, &options).unwrap();
        let blocks: Vec<Block> = Blocks::open(&scratch.path, &options).unwrap().map(Result::unwrap).collect();
        assert_eq!(blocks.len(), n_blocks);
        assert_eq!(blocks.iter().flat_map(|block| rows(&block.table)).collect::<Vec<_>>(), rows(&whole));
        assert_eq!(blocks.iter().flat_map(|block| labels(&block.table)).collect::<Vec<_>>(), labels(&whole));
        assert_eq!(blocks.last().unwrap().first_row, if fortran { 0 } else { 990 });
    }
    let mut bad = numbers.clone();
    bad[3 * 700 + 1] = f32::NAN;
    let scratch = file("a.npy", npy("<f4", false, "(1000, 3)", &le(&bad, f32::to_le_bytes)));
    let options = ReadOptions { block_bytes: Some(120), ..Default::default() };
    let error = Blocks::open(&scratch.path, &options).unwrap().find_map(Result::err).unwrap();
    assert!(error.to_string().ends_with("row 701, column 2: NaN is not a finite number"), "{error}");
}
