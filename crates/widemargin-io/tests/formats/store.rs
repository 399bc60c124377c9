//! A store has the same samples as a table in memory, whatever the file and the request.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{Scratch, file, labels, le, npy, npz};
use proptest::prelude::*;
use tempfile::TempDir;
use widemargin::Error;
use widemargin::data::{AnySamples, Samples as _, Source, VectorSource, Vectors};
use widemargin::monitor::{Monitor, Progress};
use widemargin_io::{Format, IoError, LabelColumn, ReadOptions, Samples, ScratchFile, Store, Table, read};

const PLENTY: u64 = 1 << 30;

fn open(path: &Path, options: &ReadOptions) -> Result<Store, IoError> {
    open_within(path, options, PLENTY)
}

fn open_within(path: &Path, options: &ReadOptions, memory: u64) -> Result<Store, IoError> {
    let scratch = ScratchFile::create(&std::env::temp_dir()).unwrap();
    Store::open(path, options, scratch, memory, &Monitor::none())
}

fn vectors(samples: AnySamples) -> Vectors {
    match samples {
        AnySamples::Vectors(vectors) => vectors,
        other => panic!("{}", other.kind()),
    }
}

/// What the library itself makes of rows that are in memory.
fn expected(table: &Table, rows: &[usize]) -> (Vectors, Vec<u128>) {
    fn of(view: &impl widemargin::data::Rows, rows: &[usize]) -> (Vectors, Vec<u128>) {
        let source = VectorSource(view);
        (vectors(source.select(rows).unwrap()), source.fingerprints(rows).unwrap().unwrap())
    }
    match &table.samples {
        Samples::SparseF32(m) => of(&m.view().unwrap(), rows),
        Samples::SparseF64(m) => of(&m.view().unwrap(), rows),
        Samples::DenseF32(m) => of(&m.view().unwrap(), rows),
        Samples::DenseF64(m) => of(&m.view().unwrap(), rows),
        Samples::Other(samples) => panic!("{}", samples.kind()),
    }
}

fn check(store: &Store, table: &Table, rows: &[usize]) {
    let (samples, fingerprints) = expected(table, rows);
    assert_eq!(vectors(store.select(rows).unwrap()), samples, "{rows:?}");
    assert_eq!(store.fingerprints(rows).unwrap().unwrap(), fingerprints, "{rows:?}");
}

/// Compares a store with the table of the same file, for several block sizes and all ranges of a few rows.
fn same(path: &Path, options: &ReadOptions) {
    let table = read(path, options).unwrap();
    let n = table.samples.n_rows();
    for block_bytes in [1, 9, 50, 333, 1 << 20] {
        let store = open(path, &ReadOptions { block_bytes: Some(block_bytes), ..options.clone() }).unwrap();
        assert_eq!((store.n_samples(), store.n_features()), (n, table.samples.n_cols()));
        let outline = store.outline();
        assert_eq!((outline.samples.is_sparse(), &outline.labels), (table.samples.is_sparse(), &table.labels));
        assert_eq!(store.outline().feature_names, table.feature_names);
        (0..n).for_each(|row| assert_eq!(outline.place(row), table.place(row)));
        for (start, end) in [(0, n), (0, 1), (n - 1, n), (n / 3, n - n / 4), (n / 2, n / 2), (n, n)] {
            let rows: Vec<usize> = (start..end).collect();
            assert_eq!(vectors(store.chunk(start..end).unwrap()), expected(&table, &rows).0, "{start}..{end}");
            check(&store, &table, &rows);
        }
        for start in 0..n {
            let rows: Vec<usize> = (start..n.min(start + 2)).collect();
            assert_eq!(vectors(store.chunk(start..rows.len() + start).unwrap()), expected(&table, &rows).0);
        }
        check(&store, &table, &[n - 1, 0, n / 2, n / 2, 0]);
        assert!(store.select(&[n]).unwrap_err().to_string().contains(&format!("rows below {n}")));
        assert!(store.chunk(0..n + 1).is_err());
    }
}

/// Sparse text of many widths, with lines that are no rows.
fn svm(n: usize) -> String {
    (0..n)
        .map(|row| match row % 5 {
            0 => "# nothing\n\n-1\n".to_owned(),
            1 => format!("+1 {}:0.5\n", 3 * row + 1),
            2 => format!("cat 1:{row} 2:0 4:1e-3 {}:7\n", row + 5),
            _ => format!("-1 {}\n", (1..row).map(|i| format!("{i}:{}", i + row)).collect::<Vec<_>>().join(" ")),
        })
        .collect()
}

fn csv(n: usize) -> String {
    let rows: String = (0..n).map(|row| format!("{row},{},0.1,c{}\n", row as f64 * 1.3, row % 3)).collect();
    format!("a,b,c,label\n{rows}")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    folder
}

#[test]
fn text_is_as_in_memory() {
    let auto = ReadOptions::default();
    same(&file("a.svm", svm(40)).path, &auto);
    same(&file("a.svm", svm(40)).path, &ReadOptions { n_features: Some(1000), ..Default::default() });
    same(&file("a.svm", svm(40)).path, &ReadOptions { label: LabelColumn::None, ..Default::default() });
    same(&file("a.csv", csv(30)).path, &auto);
    same(&file("a.svm.gz", gzip(svm(30).as_bytes())).path, &auto);
    same(&file("a.tsv", csv(20).replace(',', "\t")).path, &auto);
    same(folder(&[("2.svm", svm(9).as_bytes()), ("10.svm", svm(20).as_bytes()), ("3.svm", b"")]).path(), &auto);
    same(folder(&[("a.csv", csv(9).as_bytes()), ("b.csv.gz", &gzip(csv(5).as_bytes()))]).path(), &auto);
}

#[test]
fn arrays_are_as_in_memory() {
    let n = 24usize;
    let singles: Vec<f32> = (0..3 * n).map(|i| (i as f32 - 7.0) / 3.0).collect();
    let doubles: Vec<f64> = (0..3 * n).map(|i| (i as f64 - 7.0) / 3.0).collect();
    let shorts: Vec<i16> = (0..3 * n).map(|i| i as i16 * 400 - 7).collect();
    let longs: Vec<i64> = (0..3 * n).map(|i| (i as i64) << 33 | 1).collect();
    let bytes: Vec<u8> = (0..3 * n).map(|i| i as u8).collect();
    let bits: Vec<u8> = (0..3 * n).map(|i| (i % 3 == 0).into()).collect();
    let arrays = [
        npy("<f4", false, "(24, 3)", &le(&singles, f32::to_le_bytes)),
        npy(">f4", false, "(24, 3)", &le(&singles, f32::to_be_bytes)),
        npy("<f8", false, "(24, 3)", &le(&doubles, f64::to_le_bytes)),
        npy(">i2", false, "(24, 3)", &le(&shorts, i16::to_be_bytes)),
        npy("|u1", false, "(24, 3)", &bytes),
        npy("|b1", false, "(24, 3)", &bits),
        npy("<i8", false, "(24, 3)", &le(&longs, i64::to_le_bytes)),
        npy("<f8", true, "(24, 3)", &le(&doubles, f64::to_le_bytes)),
    ];
    for label in [LabelColumn::Auto, LabelColumn::Number(1), LabelColumn::Number(2), LabelColumn::Number(-1)] {
        let options = ReadOptions { label, ..Default::default() };
        for array in &arrays {
            same(&file("a.npy", array).path, &options);
        }
        // One array of them has to be copied, so all are.
        same(folder(&[("0.npy", &arrays[0]), ("1.npy", &arrays[2]), ("2.npy", &arrays[4])]).path(), &options);
        same(folder(&[("0.npy", &arrays[0]), ("1.npy", &arrays[7])]).path(), &options);
        same(&file("a.npy", gzip(&arrays[0])).path, &options);
    }
    let archive = npz(&[("X", arrays[2].clone()), ("y", crate::common::i64s(&(0..24).collect::<Vec<_>>()))], false);
    same(&file("a.npz", archive).path, &ReadOptions::default());
}

#[test]
fn arrays_in_row_order_are_not_copied() {
    let array = npy("<f8", false, "(2, 3)", &le(&[1f64, 2., 3., 4., 5., 6.], f64::to_le_bytes));
    let stored = file("a.npy", &array);
    let options = ReadOptions { label: LabelColumn::Number(3), ..Default::default() };
    let none = ScratchFile::create(stored.folder.path()).unwrap().with_limit(0);
    let store = Store::open(&stored.path, &options, none, PLENTY, &Monitor::none()).unwrap();
    assert_eq!((store.bytes(), labels(store.outline())), (48, vec!["3".to_owned(), "6".to_owned()]));
    let text = file("a.svm", svm(40));
    let little = || ScratchFile::create(stored.folder.path()).unwrap().with_limit(300);
    let options = ReadOptions { block_bytes: Some(100), ..Default::default() };
    // A disk that is full while the file is read.
    let error = Store::open(&text.path, &options, little(), PLENTY, &Monitor::none()).unwrap_err();
    assert!(matches!(&error, IoError::Library(Error::Io { .. })) && !error.is_input());
    assert!(error.to_string().contains("cannot write the scratch file: more than the 300 bytes allowed"), "{error}");
    let store = Store::open(&file("b.svm", svm(4)).path, &options, little(), PLENTY, &Monitor::none()).unwrap();
    assert!(store.bytes() <= 300);
}

#[test]
fn detects_files_that_change_between_passes() {
    let array = |value: f32| npy("<f4", false, "(2, 1)", &le(&[1f32, value], f32::to_le_bytes));
    let shards = folder(&[("0.npy", &array(2.0)), ("1.npy", &array(3.0))]);
    let store = open(shards.path(), &ReadOptions::default()).unwrap();
    assert_eq!(store.outline().place(3), "1.npy, sample 2");
    let second = shards.path().join("1.npy");
    let longer = [array(4.0), vec![0; 4]].concat();
    fs::write(&second, longer).unwrap();
    assert!(store.chunk(0..2).is_ok());
    let error = store.chunk(1..3).unwrap_err().to_string();
    assert!(error.ends_with("1.npy: cannot read: the file has changed since it was first read"), "{error}");
    fs::remove_file(&second).unwrap();
    let error = store.select(&[3]).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == second), "{error}");

    // What was copied needs its file no more.
    let text = file("a.svm", svm(20));
    let (store, table) =
        (open(&text.path, &ReadOptions::default()).unwrap(), read(&text.path, &ReadOptions::default()));
    fs::remove_file(&text.path).unwrap();
    check(&store, &table.unwrap(), &[3, 1, 17]);
}

#[test]
fn rejects_damaged_files_immediately() {
    let array = npy("<f4", false, "(4, 2)", &[0; 32]);
    for bytes in [&array[..array.len() - 1], &[&array[..], b"x"].concat()] {
        for path in [file("a.npy", bytes), file("a.npy", bytes)] {
            let error = open(&path.path, &ReadOptions::default()).unwrap_err();
            assert_eq!(error.to_string(), read(&path.path, &ReadOptions::default()).unwrap_err().to_string());
        }
    }
    for (name, bytes) in
        [("a.svm", &b"1 1:1\n1 2:x\n"[..]), ("a.csv", b"1,2\n3\n"), ("a.svm", b""), ("a.svm", b"1\n2\n")]
    {
        let stored = file(name, bytes);
        for block_bytes in [1, 1000] {
            let options = ReadOptions { block_bytes: Some(block_bytes), ..Default::default() };
            let error = open(&stored.path, &options).unwrap_err();
            assert_eq!(error.to_string(), read(&stored.path, &options).unwrap_err().to_string());
        }
    }
}

#[test]
fn rejects_values_beyond_single_precision_by_place() {
    let options = ReadOptions::default();
    let shards = folder(&[("a.csv", b"x,y,z\n1,2,3\n".as_slice()), ("b.csv", b"x,y,z\n1,2,3\n1,2,-1e300\n")]);
    let error = open(shards.path(), &options).unwrap_err();
    let text = error.to_string();
    assert!(text.ends_with("b.csv, line 3, column 'z': -1e300 is not a finite number in single precision"), "{text}");
    assert!(error.is_input() && error.help().is_some());
}

#[test]
fn the_column_of_a_bad_value_does_not_count_the_label() {
    let values = [0f64, 1., 2., 1., 3., 1e200];
    let array = npy("<f8", false, "(2, 3)", &le(&values, f64::to_le_bytes));
    // Rows that are read where they lie are looked at as they are read.
    for (label, expected) in [(LabelColumn::Number(1), 1), (LabelColumn::Number(2), 1), (LabelColumn::None, 2)] {
        let stored = file("a.npy", &array);
        let store = open(&stored.path, &ReadOptions { label, ..Default::default() }).unwrap();
        assert!(store.chunk(0..1).is_ok());
        let error = store.select(&[1]).unwrap_err();
        assert!(matches!(error, Error::Value { row: 1, column, value: 1e200, .. } if column == expected), "{error}");
    }
}

#[test]
fn rejects_other_samples_and_files_that_do_not_fit() {
    let strings = ReadOptions { format: Some(Format::Strings), ..Default::default() };
    let error = open(&file("a.tsv", "a\tb\n").path, &strings).unwrap_err();
    assert_eq!(error.to_string(), "the samples are strings, and reading block by block takes vectors");
    let columns = file("a.npy", npy("<f4", true, "(1000, 2)", &[0; 8000]));
    assert!(open_within(&columns.path, &ReadOptions::default(), 20_000).is_ok());
    for stored in [columns, file("a.npz", npz(&[("X", npy("<f4", false, "(1000, 2)", &[0; 8000]))], false))] {
        let error = open_within(&stored.path, &ReadOptions::default(), 10_000).unwrap_err();
        assert!(matches!(&error, IoError::Library(Error::Memory { free: 10_000, .. })), "{error}");
        assert!(error.to_string().contains(&stored.path.display().to_string()), "{error}");
    }
    // Row order needs no more than a block, however little there is.
    assert!(
        open_within(&file("a.npy", npy("<f4", false, "(1000, 2)", &[0; 8000])).path, &Default::default(), 1).is_ok()
    );
}

#[test]
fn reading_reports_progress_and_can_be_cancelled() {
    let text = file("a.svm", svm(40));
    let (cancel, reported) = (AtomicBool::new(false), AtomicU64::new(0));
    let sink = |progress: Progress| {
        assert!(progress.done > reported.load(Ordering::Relaxed));
        reported.store(progress.done, Ordering::Relaxed);
        cancel.store(progress.done >= 10, Ordering::Relaxed);
    };
    let options = ReadOptions { block_bytes: Some(50), ..Default::default() };
    let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
    let scratch = ScratchFile::create(text.folder.path()).unwrap();
    let error = Store::open(&text.path, &options, scratch, PLENTY, &monitor).unwrap_err();
    assert!(matches!(error, IoError::Library(Error::Cancelled { stage: "read" })), "{error}");
    assert!((10..40).contains(&reported.into_inner()));
}

fn random(
    store: &Store,
    table: &Table,
    rows: &[prop::sample::Index],
    range: (prop::sample::Index, prop::sample::Index),
) {
    let n = store.n_samples();
    let rows: Vec<usize> = rows.iter().map(|row| row.index(n)).collect();
    let (a, b) = (range.0.index(n + 1), range.1.index(n + 1));
    let successive: Vec<usize> = (a.min(b)..a.max(b)).collect();
    // Concurrent requests, as of a fit.
    std::thread::scope(|scope| {
        scope.spawn(|| check(store, table, &rows));
        let chunk = vectors(store.chunk(a.min(b)..a.max(b)).unwrap());
        assert_eq!(chunk, expected(table, &successive).0);
        assert_eq!(chunk.len(), successive.len());
    });
}

fn stored() -> Vec<Scratch> {
    let values: Vec<f32> = (0..3000).map(|i| i as f32 / 7.0).collect();
    let array = npy("<f4", false, "(1000, 3)", &le(&values, f32::to_le_bytes));
    vec![file("a.svm", svm(100)), file("a.csv", csv(300)), file("a.npy", array)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_rows_are_as_in_memory(
        rows in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        range in any::<(prop::sample::Index, prop::sample::Index)>(),
        block_bytes in 1usize..3000,
    ) {
        for stored in stored() {
            let options = ReadOptions { block_bytes: Some(block_bytes), ..Default::default() };
            let (store, table) = (open(&stored.path, &options).unwrap(), read(&stored.path, &options).unwrap());
            random(&store, &table, &rows, range);
        }
    }
}

/// Unix times and coordinates, together with numbers near 0: their differences from the middle are exact, from text and in place.
#[test]
fn columns_far_from_0_keep_their_digits() {
    let row = |at: usize| [1.7e9 + at as f64 / 8.0, at as f64, 5_300_000.0 + (at % 7) as f64 / 16.0];
    let n = 50;
    let text: String = (0..n).map(|at| format!("{},{},{},c{}\n", row(at)[0], row(at)[1], row(at)[2], at % 2)).collect();
    let text = file("far.csv", format!("time,near,north,label\n{text}"));
    let numbers: Vec<f64> = (0..n).flat_map(row).collect();
    let array = file("far.npy", npy("<f8", false, "(50, 3)", &le(&numbers, f64::to_le_bytes)));
    let plain = ReadOptions { label: LabelColumn::None, ..ReadOptions::default() };
    for (path, options) in [(&text.path, &ReadOptions::default()), (&array.path, &plain)] {
        let (store, table) = (open(path, options).unwrap(), read(path, options).unwrap());
        let offsets = store.needed_offsets(&vec![1.0; n]).unwrap().unwrap();
        let view = table.samples.view().unwrap();
        assert_eq!(view.needed_offsets(&vec![1.0; n]).unwrap().unwrap(), offsets);
        assert!(offsets[0] > 1.69e9 && offsets[1] == 0.0 && offsets[2] > 5e6);
        let chunk = store.chunk_about(3..n, &offsets).unwrap();
        assert_eq!(chunk, view.chunk_about(3..n, &offsets).unwrap());
        let AnySamples::Far(vectors) = chunk else { panic!() };
        let differences = &vectors.differences.values;
        for (at, difference) in differences.iter().enumerate() {
            assert_eq!(f64::from(*difference), row(3 + at / 3)[at % 3] - offsets[at % 3]);
        }
        let picked = store.select_about(&[7, 2, 7], &offsets).unwrap();
        assert_eq!(picked, view.select_about(&[7, 2, 7], &offsets).unwrap());
        assert_eq!(store.chunk(0..n).unwrap(), view.chunk(0..n).unwrap());
    }
}

#[test]
fn small_compressed_files_do_not_fill_the_memory() {
    // A few kilobytes that become lines and archives of many megabytes, within a limit of 16 MB.
    let (memory, options) = (16 << 20, ReadOptions::default());
    for name in ["a.csv.gz", "a.svm.gz"] {
        let stored = file(name, gzip(&[b"1 1:1\n".as_slice(), &b"1".repeat(40 << 20)].concat()));
        let error = open_within(&stored.path, &options, memory).unwrap_err().to_string();
        assert!(error.contains("a line is longer than 524288 bytes"), "{error}");
    }
    let stored = file("a.npz", gzip(&npz(&[], false)));
    let error = open_within(&stored.path, &options, memory).unwrap_err();
    assert!(error.to_string().contains("is read into memory as a whole"), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("decompress it first")));
}
