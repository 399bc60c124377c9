//! Tables are read back exactly as written.

use crate::common::rows;
use proptest::prelude::*;
use widemargin::data::{CsrMatrix, DenseMatrix, Label, Labels};
use widemargin_io::{Format, LabelColumn, ReadOptions, Samples, Table, read, write};

fn f32s() -> impl Strategy<Value = f32> + Clone {
    prop_oneof![3 => Just(0.0), 2 => (-300i32..300).prop_map(|n| n as f32), 2 => -1f32..1.0, 1 => any::<f32>()]
        .prop_map(|value| if value.is_finite() { value } else { 1.5 })
}

fn f64s() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![3 => Just(0.0), 2 => (-300i32..300).prop_map(f64::from), 2 => -1f64..1.0, 1 => any::<f64>()]
        .prop_map(|value| if value.is_finite() { value } else { 1.5 })
}

fn label() -> impl Strategy<Value = Label> {
    prop_oneof![
        any::<i64>().prop_map(Label::Integer),
        "[a-zA-Zäß][a-zA-Z0-9_,.+-]{0,8}".prop_map(|text| Label::parse(&text))
    ]
}

/// A table of up to 12 × 8, with labels that are not all alike in kind.
fn table() -> impl Strategy<Value = Table> {
    (1usize..12, 1usize..8).prop_flat_map(|(n_rows, n_cols)| {
        let n = n_rows * n_cols;
        let dense32 = prop::collection::vec(f32s(), n);
        let dense64 = prop::collection::vec(f64s(), n);
        let samples = prop_oneof![
            dense32.clone().prop_map(move |values| Samples::DenseF32(DenseMatrix { values, n_rows, n_cols })),
            dense64.clone().prop_map(move |values| Samples::DenseF64(DenseMatrix { values, n_rows, n_cols })),
            dense32.prop_map(move |values| Samples::SparseF32(sparse(&values, n_cols))),
            dense64.prop_map(move |values| Samples::SparseF64(sparse(&values, n_cols))),
        ];
        let labels = prop::collection::vec(label(), n_rows);
        (samples, labels).prop_map(|(samples, labels)| Table::new(samples, Some(Labels::new(labels))))
    })
}

fn sparse<T: Copy + Default + PartialEq>(values: &[T], n_cols: usize) -> CsrMatrix<T> {
    let mut matrix = CsrMatrix { indptr: vec![0], indices: Vec::new(), values: Vec::new(), n_cols };
    for row in values.chunks(n_cols) {
        for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != T::default()) {
            matrix.indices.push(column as u32);
            matrix.values.push(*value);
        }
        matrix.indptr.push(matrix.values.len());
    }
    matrix
}

fn through(table: &Table, name: &str, options: &ReadOptions) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(table, &path, None).unwrap();
    read(&path, options)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&std::fs::read(&path).unwrap())))
}

proptest! {
    #[test]
    fn npz_keeps_everything(table in table(), names in any::<bool>()) {
        let mut table = table;
        table.feature_names = names.then(|| (0..table.samples.n_cols()).map(|n| format!("ü{n}")).collect());
        prop_assert_eq!(through(&table, "a.npz", &ReadOptions::default()), table);
    }

    #[test]
    fn npy_keeps_the_samples(table in table()) {
        let table = Table::new(table.samples, None);
        let read = through(&table, "a.npy", &ReadOptions::default());
        prop_assert_eq!(rows(&read), rows(&table));
        prop_assert_eq!(read.samples.is_single(), table.samples.is_single());
    }

    #[test]
    fn csv_keeps_values_and_labels(table in table(), tabs in any::<bool>()) {
        let name = if tabs { "a.tsv" } else { "a.csv" };
        let read = through(&table, name, &ReadOptions::default());
        prop_assert_eq!(&read.labels, &table.labels);
        // The text is the shortest that gives the value back in its own precision.
        let single = table.samples.is_single();
        let own = |value: f64| if single { f64::from(value as f32) } else { value };
        let found: Vec<Vec<f64>> = rows(&read).into_iter().map(|row| row.into_iter().map(own).collect()).collect();
        prop_assert_eq!(found, rows(&table));
        prop_assert_eq!(&read.feature_names.unwrap()[0], "x1");
        let unlabeled = through(&Table::new(table.samples.clone(), None), name, &ReadOptions::default());
        prop_assert_eq!(unlabeled.labels, None);
    }

    #[test]
    fn libsvm_keeps_single_precision(table in table()) {
        let n_cols = table.samples.n_cols();
        let options = ReadOptions { n_features: Some(n_cols), ..Default::default() };
        if table.samples.is_single() {
            let read = through(&table, "a.svm", &options);
            prop_assert_eq!(rows(&read), rows(&table));
            prop_assert_eq!(&read.labels, &table.labels);
            // A second time it is the same to the bit.
            prop_assert_eq!(through(&read, "a.libsvm", &options), read);
        }
    }
}

#[test]
fn rejects_tables_that_a_format_cannot_represent() {
    let samples = || Samples::DenseF32(DenseMatrix { values: vec![1.0], n_rows: 1, n_cols: 1 });
    let labeled = |text: &str| Table::new(samples(), Some(Labels::new([Label::Text(text.into())])));
    let too_many = Table::new(samples(), crate::common::integers(&[1, 2]));
    for (table, name, expected) in [
        (
            Table::new(samples(), None),
            "a.svm",
            "cannot be written as libsvm: each line starts with a label, and the samples have none",
        ),
        (labeled("a b"), "a.svm", "cannot be written as libsvm: the label 'a b' would not be read back"),
        (labeled("a:b"), "a.svm", "cannot be written as libsvm: the label 'a:b' would not be read back"),
        (labeled("a"), "a.npy", "cannot be written as npy: it holds one array, and the samples have labels"),
        (too_many, "a.csv", "cannot be written as csv: 2 labels, expected 1"),
        (labeled("a"), "a.xls", "cannot tell the format from the name"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, "old").unwrap();
        let error = write(&table, &path, None).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.help().is_some(), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
    }
    let path = tempfile::tempdir().unwrap().path().join("data");
    assert!(write(&labeled("a"), &path, Some(Format::Csv)).is_err());
    assert_eq!(LabelColumn::default(), LabelColumn::Auto);
}

#[test]
fn libsvm_text_that_is_written_is_read_back() {
    let table = |values: Vec<f64>, n_cols: usize| {
        let n_rows = values.len() / n_cols;
        let labels = Labels::new((0..n_rows).map(|row| Label::Integer(row as i64)));
        Table::new(Samples::DenseF64(DenseMatrix { values, n_rows, n_cols }), Some(labels))
    };
    // Columns and rows without a value, and nothing but zeros.
    for (values, n_cols) in
        [(vec![0.0; 6], 3), (vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 3), (vec![0.0, 2.0, 0.0, 0.0], 2), (vec![0.0, 0.5], 1)]
    {
        let written = table(values, n_cols);
        let read = through(&written, "a.svm", &ReadOptions::default());
        assert_eq!((rows(&read), read.samples.n_cols()), (rows(&written), n_cols));
        assert_eq!(read.labels, written.labels);
    }
    for value in [1e39, -1e300] {
        let folder = tempfile::tempdir().unwrap();
        let error = write(&table(vec![1.0, 2.0, 3.0, value], 2), &folder.path().join("a.svm"), None).unwrap_err();
        let place = "row 2, column 2: ";
        assert!(error.is_input() && error.to_string().contains(place) && error.help().is_some(), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_reports_it() {
    let (text, help) = crate::common::message("a.parquet", b"PAR1", &ReadOptions::default());
    assert_eq!(text, "this build does not read parquet");
    assert!(help.unwrap().contains("--features parquet"));
}
