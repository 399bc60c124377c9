//! Tables whose columns are more than numbers: what is learned of them, and how other tables are read with it.

use std::sync::Arc;

use crate::common::{file, labels, message, read_bytes, rows};
use widemargin::data::{ColumnKind, Label, TableColumns};
use widemargin_io::{Blocks, Decimal, ReadOptions, Table};

const TRAIN: &str = "age,color,member,label\n1,red,yes,a\n,blue,No,b\n4,?,TRUE,a\n2,red,false,b\nNA,green,no,a\n";

fn learn() -> ReadOptions {
    ReadOptions { learn: true, ..ReadOptions::default() }
}

fn known(columns: &TableColumns) -> ReadOptions {
    ReadOptions { trained: Some(Arc::new(columns.clone().into())), ..ReadOptions::default() }
}

fn learned() -> Table {
    read_bytes("train.csv", TRAIN, &learn()).unwrap()
}

#[test]
fn columns_are_learned_from_all_rows() {
    let table = learned();
    let columns = table.columns.as_ref().unwrap();
    let kinds: Vec<(&ColumnKind, bool)> = columns.0.iter().map(|column| (&column.kind, column.has_missing)).collect();
    let values = ["blue", "green", "red"].map(str::to_owned).to_vec();
    assert_eq!(kinds[0], (&ColumnKind::Number { median: 2.0 }, true));
    assert_eq!(kinds[1], (&ColumnKind::Category { values }, true));
    assert_eq!(kinds[2], (&ColumnKind::Boolean { median: 0.0 }, false));
    let names = ["age", "age is missing", "color=blue", "color=green", "color=red", "color is missing", "member"];
    assert_eq!(table.feature_names.as_ref().unwrap(), &names);
    let expected = [
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0],
        [2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        [2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [2.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    ];
    assert_eq!(rows(&table), expected);
    assert_eq!(labels(&table), ["a", "b", "a", "b", "a"]);
    assert_eq!(columns.0.len(), 3);
    // The median of an even number.
    let table = read_bytes("a.csv", "a,y\n1,0\n4,0\n,1\n", &learn()).unwrap();
    assert_eq!(rows(&table)[2], [2.5, 1.0]);
    // Numbers alone stay what they were.
    let table = read_bytes("a.csv", "a,y\n1,0\n4,0\n", &learn()).unwrap();
    assert!(table.columns.is_none());
}

#[test]
fn other_tables_become_the_same_features() {
    let table = learned();
    let columns = table.columns.clone().unwrap();
    let turned = "member,label,color,age\nyes,a,red,1\nno,b,blue,\nyes,a,NA,4\nfalse,b,red,2\nfalse,a,green,nan\n";
    let read = read_bytes("other.csv", turned, &known(&columns)).unwrap();
    assert_eq!((rows(&read), &read.feature_names), (rows(&table), &table.feature_names));
    assert_eq!(labels(&read), labels(&table));
    // Without labels, in blocks.
    let scratch = file("bare.csv", "color,age,member\nred,1,yes\nblack,2,no\nblack,2,no\n");
    let options = ReadOptions { block_bytes: Some(1), ..known(&columns) };
    let blocks: Vec<_> = Blocks::open(&scratch.path, &options).unwrap().map(|block| block.unwrap().table).collect();
    assert!(blocks.len() > 1 && blocks.iter().all(|block| block.labels.is_none()));
    let all: Vec<Vec<f64>> = blocks.iter().flat_map(rows).collect();
    assert_eq!((all.len(), &all[0]), (3, &rows(&table)[0]));
    assert_eq!(all[1], [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let remarks = ["column 'color': 'black' did not occur in training and is treated as no category"];
    assert_eq!(blocks.last().unwrap().remarks, remarks);
    // Words alone, below a name that is known.
    let words = read_bytes("a.csv", "color,member,age\n?,no,NA\n", &known(&columns)).unwrap();
    assert_eq!(rows(&words)[0], [2.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let named = ReadOptions { label: "kind".parse().unwrap(), ..learn() };
    assert_eq!(labels(&read_bytes("a.csv", "color,kind\nred,a\nblue,b\nred,b\n", &named).unwrap()), ["a", "b", "b"]);
    // A file without a header has the columns in the order of training.
    let bare = read_bytes("a.csv", "1,red,yes\n", &known(&columns)).unwrap();
    assert_eq!(rows(&bare)[0], rows(&table)[0]);
}

#[test]
fn names_weights_and_groups_are_not_features() {
    let column = |name: &str| Some(name.parse().unwrap());
    let options = ReadOptions { id: column("who"), weight: column("2"), group: column("-1"), ..ReadOptions::default() };
    let table = read_bytes("a.csv", "who,w,x,y,g\nAda,0.5,1,0,01\nBob,2,3,1,1\n", &options).unwrap();
    assert_eq!(table.ids.as_ref().unwrap(), &["Ada", "Bob"]);
    assert_eq!(table.weights.as_ref().unwrap(), &[0.5, 2.0]);
    assert_eq!(table.groups.as_ref().unwrap().classes(), [Label::from("01"), Label::from("1")]);
    assert_eq!((rows(&table), table.feature_names.clone().unwrap()), (vec![vec![1.0], vec![3.0]], vec!["x".into()]));
    for (text, expected) in [
        ("who,w,x,y,g\nAda,-1,1,0,1\n", "line 2, column 'w': '-1' is not a weight"),
        ("who,w,x,y,g\nAda,1,1,0,\n", "line 2, column 'g': missing value"),
        ("a,w,x,y,g\nAda,1,1,0,\n", "--id 'who': the columns are a, w, x, y, g"),
    ] {
        assert!(message("a.csv", text, &options).0.starts_with(expected), "{text}");
    }
    let twice = ReadOptions { label: "who".parse().unwrap(), ..options.clone() };
    assert!(message("a.csv", "who,w,x,g\nAda,1,1,1\n", &twice).0.contains("also the label column"));
    assert!(message("a.svm", "1 1:1\n", &options).0.contains("CSV or TSV"));
}

#[test]
fn rejects_columns_that_cannot_be_features() {
    let ids: String = (0..12).map(|i| format!("n{i},{i},{}\n", i % 2)).collect();
    let (error, help) = message("a.csv", "name,x,y\n".to_owned() + &ids, &learn());
    assert_eq!(error, "column 'name': 12 different texts in 12 rows: they cannot be categories");
    assert!(help.unwrap().contains("--id 1"));
    let (error, help) = message("a.csv", "x,z,y\n1,,0\n2,NA,1\n", &learn());
    assert_eq!((error.as_str(), help.as_deref()), ("column 'z': no value in any row", Some("leave the column out")));
    // A word among numbers is a mistake.
    let (error, _) = message("a.csv", "x,y\n1,0\n2,1\n3l,1\n", &learn());
    assert_eq!(error, "line 4, column 'x': '3l' is not a number, as 2 other cells of the column are");
    assert!(message("a.csv", "x,z,y\n1,a,0\n2,b,1\ninf,b,1\n", &learn()).0.contains("line 4, column 'x': 'inf'"));
    let columns = learned().columns.unwrap();
    let (error, _) = message("a.csv", "age,color,member\nold,red,no\n", &known(&columns));
    assert_eq!(error, "line 2, column 'age': 'old' is not a number, as the column was in training");
    for infinite in ["1e400", "inf"] {
        let (error, _) = message("a.csv", format!("age,color,member\n{infinite},red,no\n"), &known(&columns));
        assert_eq!(error, format!("line 2, column 'age': '{infinite}' is not a finite number"));
    }
    let comma = ReadOptions { decimal: Some(Decimal::Comma), ..known(&columns) };
    let (error, _) = message("a.csv", "age;color;member\n1.5;red;no\n", &comma);
    assert!(error.starts_with("line 2, column 'age': '1.5' has a decimal point"), "{error}");
    let (error, _) = message("a.csv", "age,color,member\n1,red,maybe\n", &known(&columns));
    assert!(error.contains("'maybe' is not true or false"), "{error}");
    let missing = read_bytes("a.csv", "age,member\n1,no\n", &known(&columns)).unwrap_err();
    assert!(missing.to_string().contains("missing 'color'"), "{missing}");
}
