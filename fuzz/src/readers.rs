//! Data files of every format: a file read in blocks is the file read whole, and what is written is read again.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use widemargin::data::{Labels, Rows as _};
use widemargin_io::{Blocks, LabelColumn, ReadOptions, Samples, Table, read, write};

use crate::bytes::Bytes;

/// Extensions, and formats that have none of their own.
const KINDS: [(&str, Option<widemargin_io::Format>); 14] = [
    ("svm", None),
    ("csv", None),
    ("tsv", None),
    ("npy", None),
    ("npz", None),
    ("parquet", None),
    ("ts", None),
    ("txt", Some(widemargin_io::Format::Strings)),
    ("csv", Some(widemargin_io::Format::Strings)),
    ("txt", Some(widemargin_io::Format::Ucr)),
    ("png", None),
    ("jpg", None),
    ("bmp", None),
    ("gif", None),
];

/// A folder of this process, in memory where the system has such a place.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = parent.join(format!("widemargin-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the files");
        folder
    })
}

/// Reads the bytes after the first five, which are options.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let (ending, format) = bytes.one_of(&KINDS);
    let is_compressed = bytes.flag();
    let column = |number: u8| match number % 5 {
        0 | 1 => LabelColumn::Auto,
        2 => LabelColumn::None,
        3 => LabelColumn::Number(1),
        _ => LabelColumn::Name("y".into()),
    };
    let choices = bytes.byte();
    let options = ReadOptions {
        format,
        label: column(bytes.byte()),
        header: [None, None, Some(true), Some(false)][usize::from(choices % 4)],
        delimiter: [None, None, Some(b';'), Some(b' ')][usize::from(choices / 4 % 4)],
        learn: choices / 16 % 2 == 1,
        n_features: (choices / 32 % 4 == 3).then_some(3),
        id: (choices >= 240).then_some(LabelColumn::Number(1)),
        ..ReadOptions::default()
    };
    let block_bytes = 1 + usize::from(bytes.byte());
    let file = folder().join(format!("input.{ending}{}", if is_compressed { ".gz" } else { "" }));
    std::fs::write(&file, bytes.rest()).expect("the file is written");
    let whole = read(&file, &options);
    let in_blocks = ReadOptions { learn: false, block_bytes: Some(block_bytes), ..options.clone() };
    let blocks = Blocks::open(&file, &in_blocks).and_then(|blocks| blocks.collect::<Result<Vec<_>, _>>());
    match (whole, blocks) {
        (Ok(whole), blocks) => {
            check_table(&whole);
            if let (Ok(blocks), false) = (blocks, options.learn) {
                let tables: Vec<&Table> = blocks.iter().map(|block| &block.table).collect();
                check_blocks(&whole, &tables);
            }
            check_round_trip(&whole);
        }
        (Err(error), _) => assert!(!error.to_string().is_empty()),
    }
}

/// What belongs together has one length.
fn check_table(table: &Table) {
    let n = table.samples.n_rows();
    assert!(n > 0);
    assert!(table.labels.as_ref().is_none_or(|labels| labels.len() == n));
    assert!(table.ids.as_ref().is_none_or(|ids| ids.len() == n));
    assert!(table.weights.as_ref().is_none_or(|weights| weights.len() == n));
    assert!(table.feature_names.as_ref().is_none_or(|names| names.len() == table.samples.n_cols()));
}

/// The rows as numbers, if they are vectors.
fn rows(samples: &Samples) -> Option<Vec<Vec<(usize, f64)>>> {
    let view = samples.view().expect("a table is consistent").rows("the check").ok()?;
    let row = |row: usize| {
        let mut values = Vec::new();
        view.for_each_nonzero(row, |column, value| values.push((column, value)));
        values
    };
    Some((0..view.n_rows()).map(row).collect())
}

fn texts(labels: &Option<Labels>) -> Vec<String> {
    labels.iter().flat_map(|labels| (0..labels.len()).map(|row| labels.get(row).to_string())).collect()
}

fn check_blocks(whole: &Table, blocks: &[&Table]) {
    let n: usize = blocks.iter().map(|block| block.samples.n_rows()).sum();
    assert_eq!(n, whole.samples.n_rows());
    let labels: Vec<String> = blocks.iter().flat_map(|block| texts(&block.labels)).collect();
    assert_eq!(labels, texts(&whole.labels));
    if let Some(expected) = rows(&whole.samples) {
        let found: Vec<_> = blocks.iter().filter_map(|block| rows(&block.samples)).flatten().collect();
        assert_eq!(found, expected);
    }
}

/// Vectors that are written are read again.
fn check_round_trip(table: &Table) {
    let Some(expected) = rows(&table.samples).filter(|_| table.indicators.is_none()) else { return };
    // Text has the shortest digits that are the same number in single precision.
    let rounded = |rows: Option<Vec<Vec<(usize, f64)>>>| match table.samples.is_single() {
        true => rows.map(|rows| {
            let row = |row: Vec<(usize, f64)>| row.into_iter().map(|(col, x)| (col, f64::from(x as f32))).collect();
            rows.into_iter().map(row).collect()
        }),
        false => rows,
    };
    for ending in ["csv", "npz"] {
        let file = folder().join(format!("again.{ending}"));
        if write(table, &file, None).is_err() {
            continue;
        }
        let label = if table.labels.is_some() { LabelColumn::Auto } else { LabelColumn::None };
        let id = table.ids.as_ref().map(|_| LabelColumn::Number(1));
        let again = read(&file, &ReadOptions { label, id, ..ReadOptions::default() });
        let again = again.unwrap_or_else(|error| panic!("what was written as {ending} is not read: {error}"));
        assert_eq!(rounded(rows(&again.samples)).as_ref(), Some(&expected), "{ending}");
        assert_eq!(texts(&again.labels), texts(&table.labels), "{ending}");
    }
}
