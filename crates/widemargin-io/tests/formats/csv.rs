//! CSV and TSV: supported tables, and errors for others.

use crate::common::{file, labels, message, read_bytes, rows};
use widemargin::data::Notation;
use widemargin_io::{Block, Blocks, Decimal, LabelColumn, ReadOptions};

fn label(spec: &str) -> ReadOptions {
    ReadOptions { label: spec.parse().unwrap(), ..Default::default() }
}

#[test]
fn finds_header_and_label() {
    // Text, options, names, labels, first row of features.
    type Case = (
        &'static str,
        &'static str,
        ReadOptions,
        Option<&'static [&'static str]>,
        Option<&'static [&'static str]>,
        &'static [f64],
    );
    let default = ReadOptions::default;
    let cases: Vec<Case> = vec![
        ("a.csv", "a,b,label\n1,2,x\n3,4,y\n", default(), Some(&["a", "b"]), Some(&["x", "y"]), &[1.0, 2.0]),
        ("a.csv", "Class,b,c\n1,2,3\n2,4,5\n", default(), Some(&["b", "c"]), Some(&["1", "2"]), &[2.0, 3.0]),
        ("a.csv", "y,b,target\n1,2,3\n2,4,5\n", default(), Some(&["y", "b"]), Some(&["3", "5"]), &[1.0, 2.0]),
        ("a.csv", "5.1,3.5,setosa\n4.9,3,setosa\n", default(), None, Some(&["setosa", "setosa"]), &[5.1, 3.5]),
        ("a.csv", "1,2.5,3\r\n2,4.5,5\r\n", default(), None, Some(&["1", "2"]), &[2.5, 3.0]),
        ("a.csv", "a,b\n1,2\n", default(), Some(&["a", "b"]), None, &[1.0, 2.0]),
        ("a.csv", "a,species\n1,cat\n", default(), Some(&["a"]), Some(&["cat"]), &[1.0]),
        ("a.csv", "0,1,label\n1,2,cat\n", default(), Some(&["0", "1"]), Some(&["cat"]), &[1.0, 2.0]),
        ("a.tsv", "a\tb\tclass\n1\t 2 \t x \n", default(), Some(&["a", "b"]), Some(&["x"]), &[1.0, 2.0]),
        ("a.csv", "\u{feff}a,b\n\"1\",\"2\"\n", default(), Some(&["a", "b"]), None, &[1.0, 2.0]),
        ("a.csv", "1,2,3\n4,5,6\n", label("none"), None, None, &[1.0, 2.0, 3.0]),
        ("a.csv", "1,2,3\n4,5,6\n", label("2"), None, Some(&["2", "5"]), &[1.0, 3.0]),
        ("a.csv", "1,2,3\n4,5,6\n", label("-1"), None, Some(&["3", "6"]), &[1.0, 2.0]),
        ("a.csv", "a,b,c\n1,2,3\n", label("b"), Some(&["a", "c"]), Some(&["2"]), &[1.0, 3.0]),
        ("a.csv", "a,label\n1,2\n", label("none"), Some(&["a", "label"]), None, &[1.0, 2.0]),
        ("a.csv", "1,2\n3,4\n", ReadOptions { header: Some(true), ..default() }, Some(&["1", "2"]), None, &[3.0, 4.0]),
    ];
    for (name, text, options, names, classes, first) in cases {
        let table = read_bytes(name, text, &options).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(
            table.feature_names.as_ref().map(|n| n.iter().map(String::as_str).collect()),
            names.map(<[_]>::to_vec),
            "{text:?}"
        );
        assert_eq!(
            table.labels.is_some().then(|| labels(&table)),
            classes.map(|c| c.iter().map(|s| s.to_string()).collect()),
            "{text:?}"
        );
        assert_eq!(rows(&table)[0], first, "{text:?}");
    }
}

#[test]
fn rejects_invalid_cells_by_line_and_column() {
    let default = ReadOptions::default;
    for (text, options, expected, help) in [
        ("a,b,y\n1,2,0\n1,x,0\n", default(), "line 3, column 'b': 'x' is not a number", Some("--drop 'b', or train")),
        ("a,7,y\n1,2,0\n1,x,0\n", default(), "line 3, column '7': 'x' is not a number", Some("--drop 2, or train")),
        ("a,b,c\n1,2,0\n1,x,w\n", default(), "line 3, column 'b': 'x' is not a number", Some("--label 2")),
        (
            "a,b,y\n1,2,0\n1,3,0\n",
            ReadOptions { drop: ["a", "b"].map(|name| name.parse().unwrap()).to_vec(), ..default() },
            "no feature columns are left after --drop",
            Some("name fewer of the 3 columns with --drop"),
        ),
        ("1,2,0\n\n\n1,2,x\n", default(), "line 4, column 3: 'x' is not a number", Some("--label 3")),
        ("a,b,y\n1,2,0\n\n1,,0\n", default(), "line 4, column 'b': missing value", Some("impute")),
        ("a,b,y\n1,2,0\n1,NA,0\n", default(), "line 3, column 'b': missing value", Some("impute")),
        ("a,b,y\n1,2,0\n1,2, \n", default(), "line 3, column 'y': the label is missing", Some("without a label")),
        ("a,b,y\n1,inf,0\n", default(), "line 2, column 'b': 'inf' is not a finite number", Some("impute")),
        ("a,b,y\n1,1e999,0\n", default(), "line 2, column 'b': '1e999' is not a finite number", Some("impute")),
        ("a,b,y\n1,2,0\n1,2\n", default(), "line 3: 2 cells, expected 3 as in line 1", Some("--delimiter")),
        ("\n\n1,2,0\n1,2,3,4\n", default(), "line 4: 4 cells, expected 3 as in line 3", Some("in quotes")),
        (
            "\"a\nb\",c,y\n1,2,0\n1,2\n",
            default(),
            "line 4: 2 cells, expected 3 as in line 1",
            Some("complete the line"),
        ),
        ("a,b,y\n", default(), "a header and no samples", None),
        ("", default(), "the file is empty", None),
        ("\n\n", default(), "no samples in the file", None),
        ("a,b\n1,2\n", label("c"), "no label column 'c': the columns are a, b", Some("--label takes")),
        (
            "size,kind\n1,2\n",
            label("kint"),
            "no label column 'kint': did you mean 'kind'? the columns are size, kind",
            Some("--label takes"),
        ),
        ("1,2\n1,2\n", label("c"), "no label column 'c': the file has no header", Some("--label takes")),
        ("1,2\n1,2\n", label("0"), "no label column 0: there are 2 columns", Some("1 is the first")),
        ("1,2\n1,2\n", label("3"), "no label column 3: there are 2 columns", Some("1 is the first")),
        (
            "1\n2\n",
            default(),
            "line 1: no feature columns: the lines have one cell where ',' separates cells",
            Some("--delimiter"),
        ),
    ] {
        let (found, found_help) = message("a.csv", text, &options);
        assert_eq!(found, expected, "{text:?}");
        match help {
            None => assert_eq!(found_help, None, "{text:?}"),
            Some(help) => assert!(found_help.as_ref().is_some_and(|h| h.contains(help)), "{text:?}: {found_help:?}"),
        }
    }
    assert_eq!(message("a.csv", b"a,b,y\n1,2,\xff\n", &default()).0, "line 2, column 'y': not UTF-8 text");
    assert_eq!(message("a.csv", b"a,\xff,y\n1,2,3\n", &default()).0, "line 1: not UTF-8 text");
}

#[test]
fn blocks_are_the_whole() {
    let text: String = (0..5000).map(|row| format!("{},{}.5,{}\n", row, row % 7, row % 3)).collect();
    let scratch = file("a.csv", format!("a,b,label\n\n{text}"));
    let whole = widemargin_io::read(&scratch.path, &ReadOptions::default()).unwrap();
    for block_bytes in [1, 100, 10_000, 1 << 20] {
        let options = ReadOptions { block_bytes: Some(block_bytes), ..Default::default() };
        let mut blocks = Blocks::open(&scratch.path, &options).unwrap();
        let (mut block, mut found, mut classes) = (Block::default(), Vec::new(), Vec::new());
        while blocks.read_into(&mut block).unwrap() {
            assert_eq!(block.first_row, found.len());
            assert_eq!(block.table.line(0), Some(block.first_row + 3));
            found.extend(rows(&block.table));
            classes.extend(labels(&block.table));
        }
        assert_eq!((found, classes), (rows(&whole), labels(&whole)), "{block_bytes}");
    }
    assert_eq!(whole.line(0), Some(3));
    assert_eq!(LabelColumn::default(), LabelColumn::Auto);
}

#[test]
fn a_decimal_comma_of_training_does_not_apply_between_commas() {
    let trained = Notation { decimal: Some(Decimal::Comma), first_index: None };
    let options = ReadOptions { notation: trained, label: LabelColumn::None, ..ReadOptions::default() };
    for (text, first) in [
        ("a,b\n-1.234,1.126\n2.500,7\n", [-1.234, 1.126]),
        ("a,b\n\"-1,234\",\"1.126,5\"\n\"2,5\",7\n", [-1.234, 1126.5]),
        ("a;b\n-1.234;1.126\n2.500;7\n", [-1234.0, 1126.0]),
    ] {
        assert_eq!(rows(&read_bytes("a.csv", text, &options).unwrap())[0], first, "{text}");
    }
    let late = format!("a,b\n{}\"2,5\",1\n", "1.234,1\n".repeat(2000));
    let (text, help) = message("a.csv", late, &options);
    assert!(text.starts_with("line 2002, column 'a': '2,5' has a decimal comma") && help.is_some(), "{text}");
}
