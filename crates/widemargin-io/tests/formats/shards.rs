//! Folders of files that are one input: read as if they were one file, and refused where they do not go together.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::{labels, le, npy, rows};
use tempfile::TempDir;
use widemargin_io::{Blocks, Format, IoError, LabelColumn, ReadOptions, Samples, Table, read};

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    folder
}

/// The message from the folder's inside on.
fn message(folder: &TempDir, error: &IoError) -> String {
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

fn refused(files: &[(&str, &[u8])], options: &ReadOptions) -> String {
    let folder = folder(files);
    let error = read(folder.path(), options).unwrap_err();
    assert!(error.is_input());
    let in_blocks = Blocks::open(folder.path(), options).and_then(|mut blocks| blocks.try_for_each(|b| b.map(drop)));
    let in_blocks: Result<(), IoError> = in_blocks;
    assert_eq!(in_blocks.unwrap_err().to_string(), error.to_string());
    message(&folder, &error)
}

/// What blocks of any size have in common with the whole.
fn check_blocks(path: &Path, options: &ReadOptions, whole: &Table) {
    for block_bytes in [1, 7, 20, 100, 1 << 20] {
        let options = ReadOptions { block_bytes: Some(block_bytes), ..options.clone() };
        let mut row = 0;
        for block in Blocks::open(path, &options).unwrap() {
            let block = block.unwrap();
            assert_eq!(block.first_row, row);
            for (at, values) in rows(&block.table).iter().enumerate() {
                assert_eq!(values[..], rows(whole)[row][..values.len()]);
                assert!(rows(whole)[row][values.len()..].iter().all(|value| *value == 0.0));
                assert_eq!(block.table.place(at), whole.place(row));
                if whole.labels.is_some() {
                    assert_eq!(labels(&block.table)[at], labels(whole)[row]);
                }
                row += 1;
            }
        }
        assert_eq!(row, whole.samples.n_rows());
    }
}

#[test]
fn text_shards_are_one_input_in_the_order_of_their_numbers() {
    let folder = folder(&[
        ("part-10.svm", b"cat 7:7\n"),
        ("part-2.svm", b"# none\n1 1:2\n\n-1 3:4\n"),
        ("part-1.svm", b"+1 2:1\n"),
        ("part-3.svm", b""),
        ("_SUCCESS", b""),
        (".part-1.svm.crc", b"\x01\x02"),
    ]);
    let options = ReadOptions::default();
    assert_eq!(Format::from_path(folder.path()).unwrap(), Format::Libsvm);
    let table = read(folder.path(), &options).unwrap();
    assert_eq!(labels(&table), ["1", "1", "-1", "cat"]);
    let expected = [[0., 1., 0., 0., 0., 0., 0.], [2., 0., 0., 0., 0., 0., 0.]];
    assert_eq!(rows(&table)[..2], expected);
    assert_eq!(rows(&table)[3][6], 7.0);
    let places: Vec<_> = (0..4).map(|row| table.place(row)).collect();
    assert_eq!(places, ["part-1.svm, line 1", "part-2.svm, line 2", "part-2.svm, line 4", "part-10.svm, line 1"]);
    let (file, row) = table.shards.as_ref().unwrap().get(2).unwrap();
    assert_eq!((file, row), (&folder.path().join("part-2.svm"), 1));
    assert_eq!(table.shards.as_ref().unwrap().get(4), None);
    check_blocks(folder.path(), &options, &table);
    // Fewer features than specified are an error with the line in the shard.
    let narrow = ReadOptions { n_features: Some(3), ..options };
    let error = read(folder.path(), &narrow).unwrap_err();
    assert_eq!(message(&folder, &error), "part-10.svm: line 1, column 5: index 7: there are only 3 features");
}

#[test]
fn tables_agree_on_header_and_label() {
    let folder = folder(&[
        ("b.csv", b"x,kind,y2\n3,p,4\n5,q,6\n"),
        ("a.csv", b"x,kind,y2\n1,q,2\n"),
        // A header and no rows, as a partition without samples is written.
        ("c.csv", b"x,kind,y2\n"),
        // No text in the label column: read alone, this shard would have no labels.
        ("d.csv", b"x,kind,y2\n7,0,8\n"),
    ]);
    let table = read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(labels(&table), ["q", "p", "q", "0"]);
    assert_eq!(rows(&table), [[1., 2.], [3., 4.], [5., 6.], [7., 8.]]);
    assert_eq!(table.feature_names.as_deref().unwrap(), ["x", "y2"]);
    assert_eq!(table.place(3), "d.csv, line 2");
    check_blocks(folder.path(), &ReadOptions::default(), &table);
}

#[test]
fn identifies_columns_of_tables_by_name() {
    let folder = folder(&[("a.csv", b"x,kind,z\n1,q,2\n"), ("b.csv", b"kind,z,x\np,4,3\nq,6,5\n")]);
    let table = read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(
        (rows(&table), labels(&table)),
        (vec![vec![1., 2.], vec![3., 4.], vec![5., 6.]], ["q", "p", "q"].map(Into::into).into())
    );
    check_blocks(folder.path(), &ReadOptions::default(), &table);
}

#[test]
fn arrays_are_one_after_the_other() {
    let folder = folder(&[
        ("0.npy", &npy("<f4", false, "(2, 3)", &le(&[1f32, 2., 3., 4., 5., 6.], f32::to_le_bytes))),
        ("1.npy", &npy("<f8", true, "(2, 3)", &le(&[7f64, 10., 8., 11., 9., 12.], f64::to_le_bytes))),
    ]);
    let options = ReadOptions { label: LabelColumn::Number(-1), ..Default::default() };
    let table = read(folder.path(), &options).unwrap();
    assert_eq!(rows(&table), [[1., 2.], [4., 5.], [7., 8.], [10., 11.]]);
    assert_eq!(labels(&table), ["3", "6", "9", "12"]);
    assert!(matches!(table.samples, Samples::DenseF64(_)));
    assert_eq!(table.place(3), "1.npy, sample 2");
    check_blocks(folder.path(), &options, &table);
}

#[test]
fn shards_that_do_not_go_together_name_both() {
    let auto = ReadOptions::default();
    let csv = ReadOptions { format: Some(Format::Csv), ..Default::default() };
    let array = |columns: usize| npy("<f4", false, &format!("(1, {columns})"), &vec![0; 4 * columns]);
    for (files, options, expected) in [
        (&[("a.csv", &b"1,2\n"[..]), ("b.npy", b"")][..], &auto, "b.npy: its format is npy, but a.csv is csv"),
        (&[("README", b""), ("b.csv", b"1,2\n")], &auto, "README: its name tells no format, but b.csv is csv"),
        (&[("a.csv", b"1,2\n"), ("b.csv", b"1,2,3\n")], &auto, "b.csv: 3 columns, but a.csv has 2"),
        (&[("a.npy", &array(2)), ("b.npy", &array(1))], &auto, "b.npy: 1 column, but a.npy has 2"),
        (
            &[("a.csv", b"p,q,y\n1,2,3\n"), ("b.csv", b"p,y,r\n1,2,3\n")],
            &auto,
            "b.csv: column 2 is called 'y', but a.csv has 'q' there",
        ),
        (
            &[("a.csv", b"p,q,y\n1,2,3\n"), ("b.csv", b"1,2,3\n")],
            &auto,
            "b.csv: column 1 is called '1', but a.csv has 'p' there",
        ),
        (
            &[("a.csv", b"1,2,x\n"), ("b.csv", b"1,2\n")],
            &auto,
            "b.csv: there are 2 columns, but a.csv has the labels in column 3",
        ),
        (&[("a.csv", b"x,1,2\n"), ("b.csv", b"p,q,y\n")], &auto, "b.csv: line 1, column 2: 'q' is not a number"),
        (&[("a", b"1,2\n"), ("b", b"1,2,3\n")], &csv, "b: 3 columns, but a has 2"),
        (&[("a.svm", b""), ("b.svm", b"")], &auto, "all files in the folder are empty"),
        (&[("a.svm", b"#\n"), ("b.svm", b"")], &auto, "no samples in the file"),
    ] {
        let text = refused(files, options);
        assert!(text.ends_with(expected), "'{text}', expected '{expected}'");
    }
    let folder = folder(&[("a.npy", &array(2)), ("b.npy", &array(1))]);
    assert!(read(folder.path(), &auto).unwrap_err().help().unwrap().contains("begin with . or _"));
}

#[test]
fn rejects_truncated_and_missing_shards() {
    let whole = npy("<f4", false, "(2, 2)", &le(&[1f32, 2., 3., 4.], f32::to_le_bytes));
    let text = refused(&[("0.npy", &whole), ("1.npy", &whole[..whole.len() - 3])], &ReadOptions::default());
    assert!(text.starts_with("1.npy: truncated: the header claims 16 bytes of data, there are 13"), "{text}");

    let folder = folder(&[("1.svm", b"1 1:1\n"), ("2.svm", b"1 1:1\n")]);
    let mut blocks = Blocks::open(folder.path(), &ReadOptions::default()).unwrap();
    blocks.next().unwrap().unwrap();
    fs::remove_file(folder.path().join("2.svm")).unwrap();
    let error = blocks.next().unwrap().unwrap_err();
    assert!(message(&folder, &error).starts_with("2.svm: cannot open"), "{error}");
    assert!(blocks.next().is_none());
}

#[test]
fn which_folders_hold_shards() {
    // Text files next to images, in one folder or in those of the classes, are not samples.
    let mixed = folder(&[("a.png", b""), ("list.csv", b"1,2\n")]);
    assert_eq!(Format::from_path(mixed.path()).unwrap(), Format::Images);
    let classes = folder(&[("list.txt", b"")]);
    fs::create_dir(classes.path().join("cat")).unwrap();
    fs::write(classes.path().join("cat/1.png"), b"").unwrap();
    assert_eq!(Format::from_path(classes.path()).unwrap(), Format::Images);
    assert_eq!(Format::from_path(folder(&[]).path()).unwrap(), Format::Images);
    assert_eq!(Format::from_path(folder(&[("a.csv.gz", b""), ("b.CSV", b"")]).path()).unwrap(), Format::Csv);

    let nested = folder(&[("a.csv", b"1,2\n")]);
    fs::create_dir(nested.path().join("more")).unwrap();
    let error = read(nested.path(), &ReadOptions::default()).unwrap_err();
    assert_eq!(message(&nested, &error), "more: a folder among files that are read as one input");
    fs::rename(nested.path().join("more"), nested.path().join("_more")).unwrap();
    assert_eq!(read(nested.path(), &ReadOptions::default()).unwrap().samples.n_rows(), 1);
}

#[test]
fn the_first_file_tells_how_numbers_are_written() {
    let files: &[(&str, &[u8])] = &[("1.csv", b"a;b;y\n1,5;2;x\n2,5;1;z\n"), ("2.csv", b"a;b;y\n9.500;1;x\n")];
    let table = read(folder(files).path(), &ReadOptions::default()).unwrap();
    assert_eq!(rows(&table), [[1.5, 2.0], [2.5, 1.0], [9500.0, 1.0]]);
    let files: &[(&str, &[u8])] = &[("1.svm", b"1 0:2 2:1\n"), ("2.svm", b"2 1:3\n")];
    assert_eq!(rows(&read(folder(files).path(), &ReadOptions::default()).unwrap()), [[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]);
    let files: &[(&str, &[u8])] = &[("1.svm", b"1 1:2 2:1\n"), ("2.svm", b"2 0:3\n")];
    assert!(refused(files, &ReadOptions::default()).starts_with("2.svm: line 1, column 3: index 0"));
}

#[test]
fn ids_weights_and_groups_are_those_of_all_files() {
    let column = |name: &str| Some(name.parse().unwrap());
    let options = ReadOptions { id: column("who"), weight: column("w"), group: column("g"), ..ReadOptions::default() };
    let files: &[(&str, &[u8])] =
        &[("1.csv", b"who,w,a,g,y\nA,2,1,u,0\nB,1,2,v,1\n"), ("2.csv", b"g,a,y,w,who\nu,3,1,4,C\n")];
    let table = read(folder(files).path(), &options).unwrap();
    assert_eq!(
        (rows(&table), labels(&table)),
        (vec![vec![1.0], vec![2.0], vec![3.0]], ["0", "1", "1"].map(String::from).to_vec())
    );
    assert_eq!(table.ids.unwrap(), ["A", "B", "C"]);
    assert_eq!(table.weights.unwrap(), [2.0, 1.0, 4.0]);
    assert_eq!(table.groups.unwrap().codes(), [0, 1, 0]);
}

#[test]
fn categories_of_all_files_are_those_of_the_training_table() {
    let learn = ReadOptions { learn: true, ..ReadOptions::default() };
    let train = crate::common::read_bytes("a.csv", "c,a,y\nred,1,0\ngreen,,1\n", &learn).unwrap();
    let known = Arc::new(train.columns.clone().unwrap().into());
    let files: &[(&str, &[u8])] = &[("1.csv", b"c,a,y\ngreen,1,1\n"), ("2.csv", b"y,a,c\n0,,blue\n1,2,red\n")];
    let (folder, options) = (folder(files), ReadOptions { trained: Some(known), ..ReadOptions::default() });
    let table = read(folder.path(), &options).unwrap();
    assert_eq!(rows(&table), [[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 2.0, 0.0]]);
    assert_eq!((&table.feature_names, table.remarks.len()), (&train.feature_names, 1));
    check_blocks(folder.path(), &options, &table);
}
