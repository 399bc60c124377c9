//! LIBSVM text: supported lines, and errors for others.

use crate::common::{file, labels, message, read_bytes, rows};
use widemargin::data::{Label, Notation};
use widemargin_io::{Block, Blocks, Format, LabelColumn, ReadOptions, Samples, Table, read};

fn no_labels() -> ReadOptions {
    ReadOptions { label: LabelColumn::None, ..Default::default() }
}

#[test]
fn good_text_is_read() {
    let text = "\u{feff}# a comment\n+1 1:2 3:0.5 # and another\r\n\n  -1\t2:1e3  4:-0.25\t\r\n1.0\ncat,dog 1:0 5:0 # stored zeros";
    let table = read_bytes("a.svm", text, &ReadOptions::default()).unwrap();
    assert_eq!(labels(&table), ["1", "-1", "1", "cat,dog"]);
    assert_eq!(
        rows(&table),
        [vec![2.0, 0.0, 0.5, 0.0, 0.0], vec![0.0, 1000.0, 0.0, -0.25, 0.0], vec![0.0; 5], vec![0.0; 5],]
    );
    assert_eq!((0..4).map(|row| table.line(row).unwrap()).collect::<Vec<_>>(), [2, 4, 5, 6]);
    assert_eq!(table.line(4), None);
    let Samples::SparseF32(matrix) = &table.samples else { panic!("not sparse") };
    assert_eq!(matrix.values.len(), 4, "zeros are dropped");
    assert_eq!(table.labels.unwrap().classes()[0], Label::Integer(-1));
}

#[test]
fn every_spelling_of_a_number_is_read_as_the_standard_library_does() {
    for value in [
        "1",
        "12345678",
        "123456789",
        "16777217",
        "0.1",
        "+2",
        "-3",
        ".5",
        "5.",
        "1e-3",
        "1.5E+2",
        "3.4028235e38",
        "0.30000001192092896",
        "99999999.99999999",
        "1.17549435e-38",
        "00000000000000000007",
        "0.000000000000000000001",
    ] {
        for after in ["", " ", "\n", "\r\n", "# c", " 8:1 9:1 10:1 11:1"] {
            let table = read_bytes("a.svm", format!("1 7:{value}{after}"), &ReadOptions::default()).unwrap();
            let Samples::SparseF32(matrix) = table.samples else { panic!("not sparse") };
            assert_eq!(matrix.values[0], value.parse::<f32>().unwrap(), "{value}");
            assert_eq!(matrix.indices[0], 6);
        }
    }
}

#[test]
fn rejects_invalid_text_by_line_and_column() {
    let default = ReadOptions::default();
    for (text, expected, help) in [
        (
            "1 0:1 1:5\n2 0:2 1:3\n",
            "line 1, column 1: the values of index 0 number the rows, as in LIBSVM's files of precomputed kernels",
            Some("similarity precomputed"),
        ),
        ("\n\n1 2:1 4:1 3:1", "line 3, column 11: index 3 after 4: indices must ascend", Some("sort the pairs")),
        ("1 2:1 2:1", "line 1, column 7: index 2 occurs twice", Some("sort the pairs")),
        ("# c\n1:2 3:4", "line 2, column 1: label missing: the line starts with '1:2'", Some("--label none")),
        ("1 2:x", "line 1, column 5: value 'x' is not a number", None),
        ("1 2:", "line 1, column 5: value '' is not a number", None),
        ("1 2: 3", "line 1, column 5: value '' is not a number", None),
        ("1 2:3:4", "line 1, column 5: value '3:4' is not a number", None),
        ("1 2:nan", "line 1, column 5: value 'nan' is not a finite single-precision number", Some("impute")),
        ("1 2:-inf", "line 1, column 5: value '-inf' is not a finite single-precision number", Some("impute")),
        ("1 2:1e39", "line 1, column 5: value '1e39' is not a finite single-precision number", Some("impute")),
        ("1 2", "line 1, column 3: '2' is not an index:value pair", Some("--format")),
        ("1 -2:1", "line 1, column 3: index '-2' is not a whole number from 1 to 4294967295", None),
        ("1 4294967296:1", "line 1, column 3: index '4294967296' is not a whole number from 1 to 4294967295", None),
        ("1 :1", "line 1, column 3: index '' is not a whole number from 1 to 4294967295", None),
        ("1 qid:3 1:1", "line 1, column 3: 'qid:3': ranking groups are not read", Some("remove the qid")),
        ("1 1:1\u{7}", "line 1, column 5: value '1\\u{7}' is not a number", None),
        ("", "the file is empty", None),
        ("\n# nothing\n\n", "no samples in the file", None),
        ("1\n2\n", "no index:value pair in the file; if this is another format, name it with --format", None),
    ] {
        let (found, found_help) = message("a.svm", text, &default);
        assert_eq!(found, expected, "{text:?}");
        match help {
            None => assert_eq!(found_help, None, "{text:?}"),
            Some(help) => assert!(found_help.as_ref().is_some_and(|h| h.contains(help)), "{text:?}: {found_help:?}"),
        }
    }
    assert_eq!(message("a.svm", b"\xff 1:1", &default).0, "line 1, column 1: the label is not UTF-8 text");
}

#[test]
fn reads_lines_without_labels_on_request() {
    for text in ["1:2 3:4\n2:1\n", "7 1:2 3:4\n8 2:1\n"] {
        let table = read_bytes("a.svm", text, &no_labels()).unwrap();
        assert_eq!(table.labels, None);
        assert_eq!(rows(&table), [[2.0, 0.0, 4.0], [0.0, 1.0, 0.0]]);
    }
}

#[test]
fn files_that_count_from_zero_are_read() {
    let table = read_bytes("a.svm", "1 1:2\n2 0:3 2:5\n", &ReadOptions::default()).unwrap();
    assert_eq!(rows(&table), [[0.0, 2.0, 0.0], [3.0, 0.0, 5.0]]);
    // Too late to tell: refused, and not read from 1.
    let long = "1 1:1 2:1\n".repeat(10_000);
    let (found, help) = message("a.svm", format!("{long}1 0:1\n"), &ReadOptions::default());
    assert!(found.starts_with("line 10001, column 3: index 0"), "{found}");
    assert!(help.unwrap().contains("zero_based=False"));
}

#[test]
fn indices_whose_digits_single_precision_loses_are_refused() {
    let rows_of =
        |value: &dyn Fn(usize) -> String| (0..60).map(|row| format!("1 1:.5 2:{}\n", value(row))).collect::<String>();
    // All of them may become one number, and some be that number.
    let last_digits: [fn(usize) -> usize; 3] = [|row| row, |row| row % 2, |row| usize::from(row % 5 == 0)];
    for digits in last_digits {
        let text = rows_of(&|row| format!("{}", 1_700_000_000 + digits(row)));
        let (found, help) = message("a.svm", text, &ReadOptions::default());
        assert!(found.starts_with("index 2: its values lie so far from 0 for their range"), "{found}");
        assert!(help.unwrap().contains("as CSV"));
    }
    // Large numbers of a wide range, the same everywhere, and few of them, lose nothing that matters.
    read_bytes("a.svm", rows_of(&|_| "1700000001".to_owned()), &ReadOptions::default()).unwrap();
    read_bytes("a.svm", rows_of(&|row| format!("{}", 16_777_217 * (row + 1))), &ReadOptions::default()).unwrap();
    let few = |row: usize| if row < 20 { (1_700_000_000 + row).to_string() } else { row.to_string() };
    read_bytes("a.svm", rows_of(&few), &ReadOptions::default()).unwrap();
}

#[test]
fn detects_multilabel_text() {
    let table = read_bytes("a.svm", "1,3 1:.5\n2 1:1\n 2:1\n3,1 2:4\n", &ReadOptions::default()).unwrap();
    let indicators = table.indicators.unwrap();
    assert_eq!(indicators.names, [1i64, 2, 3].map(Label::from));
    assert_eq!(indicators.values, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    assert!(table.labels.is_none());
    assert_eq!(rows(&table_of("1,3 1:.5\n2 1:1\n 2:1\n"))[2], [0.0, 1.0]);
}

fn table_of(text: &str) -> Table {
    read_bytes("a.svm", text, &ReadOptions::default()).unwrap()
}

#[test]
fn samples_to_train_on_are_dense_where_most_values_are_not_zero() {
    let learn = ReadOptions { learn: true, ..ReadOptions::default() };
    let table = read_bytes("a.svm", "1 1:2 2:3\n2 1:4\n", &learn).unwrap();
    assert!(matches!(&table.samples, Samples::DenseF32(_)));
    assert_eq!(rows(&table), [[2.0, 3.0], [4.0, 0.0]]);
    assert!(matches!(read_bytes("a.svm", "1 1:2\n2 2:4\n", &learn).unwrap().samples, Samples::SparseF32(_)));
}

#[test]
fn the_number_of_features_can_be_specified() {
    let options = |n| ReadOptions { n_features: Some(n), ..Default::default() };
    assert_eq!(read_bytes("a.svm", "1 2:1", &options(7)).unwrap().samples.n_cols(), 7);
    assert_eq!(read_bytes("a.svm", "1\n2", &options(7)).unwrap().samples.n_cols(), 7);
    assert!(message("a.svm", "1,2,3\n4,5,6\n", &options(7)).0.starts_with("no index:value pair"));
    let blocks = |text: &str| {
        let options = ReadOptions { block_bytes: Some(1), ..Default::default() };
        let blocks = Blocks::open(&file("a.svm", text).path, &options).unwrap();
        blocks.map(|block| block.map(|block| block.table.samples.n_rows())).collect::<Result<Vec<_>, _>>()
    };
    assert_eq!(blocks("1\n2 1:1\n3\n").unwrap().iter().sum::<usize>(), 3);
    assert!(blocks("1\n2\n").unwrap_err().to_string().contains("no index:value pair"));
    assert_eq!(message("a.svm", "1 2:1 8:1", &options(7)).0, "line 1, column 7: index 8: there are only 7 features");
}

#[test]
fn the_first_index_is_that_of_the_training_file() {
    let options = |first| ReadOptions {
        n_features: Some(3),
        notation: Notation { first_index: Some(first), ..Notation::default() },
        ..Default::default()
    };
    let table = read_bytes("a.svm", "1 1:2 2:3\n", &options(0)).unwrap();
    assert_eq!((rows(&table), table.notation.first_index), (vec![vec![0.0, 2.0, 3.0]], Some(0)));
    assert_eq!(rows(&read_bytes("a.svm", "1 0:1\n2 0:2\n", &options(0)).unwrap()), [[1.0, 0., 0.], [2.0, 0., 0.]]);
    let (error, help) = message("a.svm", "1 0:2 2:3\n", &options(1));
    assert!(error.starts_with("line 1, column 3: index 0: the indices start at 1, as in the training data"), "{error}");
    assert!(help.unwrap().contains("add 1 to every index"));
    let (error, _) = message("a.svm", "1 3:3\n", &options(0));
    assert_eq!(error, "line 1, column 3: index 3: there are only 3 features, whose indices start at 0");
}

#[test]
fn a_label_column_is_refused() {
    let options = ReadOptions { label: LabelColumn::Number(3), ..Default::default() };
    assert!(message("a.svm", "1 2:1", &options).0.starts_with("no label column 3: in LIBSVM text the label is"));
}

#[test]
fn the_format_can_be_overridden_and_files_must_exist() {
    let options = ReadOptions { format: Some(Format::Libsvm), ..Default::default() };
    assert_eq!(rows(&read_bytes("data", "1 1:3", &options).unwrap()), [[3.0]]);
    let error = read("no/such.svm".as_ref(), &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("no/such.svm: cannot open: "), "{error}");
    assert!(error.is_input());
    let folder = tempfile::tempdir().unwrap();
    assert!(read(folder.path(), &options).unwrap_err().to_string().contains("no files in the folder"));
}

/// Text of many lines, with blank ones, comments and a row of each length.
fn long_text() -> String {
    (0..30_000)
        .map(|row| match row % 7 {
            3 => "\n".to_owned(),
            5 => "# nothing\n".to_owned(),
            _ => {
                let pairs: String =
                    (1..1 + row % 11).map(|k| format!(" {}:{}", k * k, (row * k) as f32 / 8.0)).collect();
                format!("{}{pairs}\n", row % 3)
            }
        })
        .collect()
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn parallel_is_sequential_and_blocks_are_the_whole() {
    let scratch = file("a.svm", long_text());
    let options = ReadOptions { n_features: Some(100), ..Default::default() };
    let sequential = in_pool(1, || read(&scratch.path, &options)).unwrap();
    assert_eq!(in_pool(4, || read(&scratch.path, &options)).unwrap(), sequential);
    let (whole, classes) = (rows(&sequential), labels(&sequential));
    for (threads, block_bytes) in [(1, 1), (1, 1000), (4, 100_000), (4, 1 << 20), (3, 600_000)] {
        let options = ReadOptions { block_bytes: Some(block_bytes), ..options.clone() };
        let mut found = Vec::new();
        let mut n_rows = 0;
        in_pool(threads, || {
            let mut block = Block::default();
            let mut blocks = Blocks::open(&scratch.path, &options).unwrap();
            while blocks.read_into(&mut block).unwrap() {
                assert_eq!(block.first_row, n_rows);
                for (row, values) in rows(&block.table).into_iter().enumerate() {
                    assert_eq!(block.table.line(row), sequential.line(n_rows + row));
                    found.push(values);
                }
                assert!(labels(&block.table)[..] == classes[n_rows..found.len()]);
                n_rows = found.len();
                if n_rows > 3000 && block_bytes < 1000 {
                    break;
                }
            }
            if n_rows <= 3000 || block_bytes >= 1000 {
                assert!(!blocks.read_into(&mut block).unwrap(), "the end stays the end");
            }
        });
        assert!(found[..] == whole[..found.len()]);
        assert!(found.len() == whole.len() || block_bytes < 1000);
    }
}

#[test]
fn errors_in_parallel_name_the_same_place() {
    let mut text: Vec<String> = long_text().lines().map(str::to_owned).collect();
    text[29_000] = "1 1:1 0:1".to_owned();
    text[23_456] = "1 1:1 2:oops".to_owned();
    let scratch = file("a.svm", text.join("\r\n"));
    for (threads, block_bytes) in [(1, 8 << 20), (4, 8 << 20), (4, 300_000), (2, 1 << 19)] {
        let options = ReadOptions { block_bytes: Some(block_bytes), ..Default::default() };
        let whole = in_pool(threads, || read(&scratch.path, &options)).unwrap_err().to_string();
        assert!(whole.ends_with("a.svm: line 23457, column 9: value 'oops' is not a number"), "{whole}");
        let mut blocks = Blocks::open(&scratch.path, &options).unwrap();
        let error = in_pool(threads, || blocks.find_map(Result::err)).unwrap();
        assert_eq!(error.to_string(), whole);
        assert!(blocks.next().is_none(), "after an error there are no more");
    }
}

#[test]
fn an_empty_stream_of_blocks_is_an_error() {
    let scratch = file("a.svm", "\n# nothing\n");
    let mut blocks = Blocks::open(&scratch.path, &ReadOptions::default()).unwrap();
    assert!(blocks.next().unwrap().unwrap_err().to_string().ends_with("no samples in the file"));
    assert!(blocks.next().is_none());
    let _: Table = Block::default().table;
}
