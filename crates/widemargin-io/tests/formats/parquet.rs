//! Parquet: numeric columns are features, in blocks of any size; errors name the column.

use std::sync::Arc;

use crate::common::{file, integers, labels, rows};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use widemargin::data::Source;
use widemargin::monitor::Monitor;
use widemargin_io::{Blocks, Format, IoError, LabelColumn, ReadOptions, Samples, ScratchFile, Store, Table, read};

/// The values of a column that are there, and of one that may lack some, which are (1) and which are not (0).
enum Column {
    Bool(Vec<bool>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Text(Vec<&'static str>),
    Some(Box<Column>, Vec<i16>),
}

fn put(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, column: &Column, levels: Option<&[i16]>) {
    if let Column::Some(column, levels) = column {
        return put(group, column, Some(levels));
    }
    let mut writer = group.next_column().unwrap().unwrap();
    match column {
        Column::Bool(values) => writer.typed::<BoolType>().write_batch(values, levels, None),
        Column::Int(values) => writer.typed::<Int32Type>().write_batch(values, levels, None),
        Column::Long(values) => writer.typed::<Int64Type>().write_batch(values, levels, None),
        Column::Single(values) => writer.typed::<FloatType>().write_batch(values, levels, None),
        Column::Double(values) => writer.typed::<DoubleType>().write_batch(values, levels, None),
        Column::Text(values) => {
            let values: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(*text)).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, levels, None)
        }
        Column::Some(..) => unreachable!(),
    }
    .unwrap();
    writer.close().unwrap();
}

/// A file of row groups, compressed.
fn parquet(schema: &str, groups: &[Vec<Column>], compression: Compression) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message schema {{ {schema} }}")).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).set_data_page_row_count_limit(3);
    let properties = Arc::new(properties.set_write_batch_size(2).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    for columns in groups {
        let mut group = writer.next_row_group().unwrap();
        columns.iter().for_each(|column| put(&mut group, column, None));
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn plain(schema: &str, columns: Vec<Column>) -> Vec<u8> {
    parquet(schema, &[columns], Compression::UNCOMPRESSED)
}

fn with_label(label: LabelColumn) -> ReadOptions {
    ReadOptions { label, ..Default::default() }
}

fn read_plain(schema: &str, columns: Vec<Column>, label: LabelColumn) -> Result<Table, IoError> {
    crate::common::read_bytes("a.parquet", plain(schema, columns), &with_label(label))
}

fn refused(schema: &str, columns: Vec<Column>, label: LabelColumn) -> String {
    crate::common::message("a.parquet", plain(schema, columns), &with_label(label)).0
}

const SCHEMA: &str = "required boolean b; required int32 i; optional int64 l; required float f; required double d; \
                      required int32 u (INTEGER(8, false)); optional byte_array kind (STRING);";

/// Some rows of all types, 1 or 0 in `b`, the row's number in `i`.
fn group(first: i32, n: i32) -> Vec<Column> {
    let numbers = || first..first + n;
    let all = vec![1; n as usize];
    vec![
        Column::Bool(numbers().map(|i| i % 2 == 1).collect()),
        Column::Int(numbers().collect()),
        Column::Some(Box::new(Column::Long(numbers().map(|i| -i64::from(i)).collect())), all.clone()),
        Column::Single(numbers().map(|i| i as f32 / 3.0).collect()),
        Column::Double(numbers().map(|i| f64::from(i) / 3.0).collect()),
        Column::Int(numbers().map(|i| i % 200).collect()),
        Column::Some(Box::new(Column::Text(numbers().map(|i| ["dog", "cat", "7"][i as usize % 3]).collect())), all),
    ]
}

fn large() -> Vec<u8> {
    parquet(SCHEMA, &[group(0, 10), group(10, 1), group(11, 30)], Compression::SNAPPY)
}

#[test]
fn columns_are_features_whole_and_in_blocks() {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(Default::default()), zstd] {
        let stored = file("a.parquet", parquet(SCHEMA, &[group(0, 10), group(10, 1), group(11, 30)], compression));
        let table = read(&stored.path, &ReadOptions::default()).unwrap();
        assert_eq!(table.feature_names.as_deref().unwrap(), ["b", "i", "l", "f", "d", "u"]);
        for (row, values) in rows(&table).into_iter().enumerate() {
            let i = row as f64;
            let expected = [f64::from(row % 2 == 1), i, -i, f64::from(row as f32 / 3.0), i / 3.0, i];
            assert_eq!(values, expected, "{row}");
            assert_eq!(labels(&table)[row], ["dog", "cat", "7"][row % 3]);
        }
        assert_eq!(table.samples.n_rows(), 41);
        for block_bytes in [1, 100, 333, 1000, 1 << 20] {
            let options = ReadOptions { block_bytes: Some(block_bytes), ..Default::default() };
            let blocks: Vec<_> = Blocks::open(&stored.path, &options).unwrap().map(Result::unwrap).collect();
            assert_eq!(blocks.iter().flat_map(|block| rows(&block.table)).collect::<Vec<_>>(), rows(&table));
            assert_eq!(blocks.iter().flat_map(|block| labels(&block.table)).collect::<Vec<_>>(), labels(&table));
            assert!(
                blocks.iter().all(|block| block_bytes >= 100 || block.table.samples.n_rows() == 1 + block_bytes / 48)
            );
            let scratch = ScratchFile::create(stored.folder.path()).unwrap();
            let store = Store::open(&stored.path, &options, scratch, 1 << 30, &Monitor::none()).unwrap();
            assert_eq!((&store.outline().labels, store.n_samples()), (&table.labels, 41));
            let Samples::DenseF64(matrix) = &table.samples else { panic!() };
            let view = matrix.view().unwrap();
            let expected = widemargin::data::VectorSource(&view).chunk(5..30).unwrap();
            assert_eq!(store.chunk(5..30).unwrap(), expected);
        }
    }
}

#[test]
fn precision_is_single_where_it_holds_all_values() {
    let table = |schema: &str, column| read_plain(schema, vec![column], LabelColumn::None).unwrap().samples;
    assert!(matches!(table("required float x;", Column::Single(vec![0.1])), Samples::DenseF32(_)));
    assert!(matches!(table("required double x;", Column::Double(vec![1.0])), Samples::DenseF64(_)));
    assert!(matches!(table("required int32 x;", Column::Int(vec![1 << 24])), Samples::DenseF32(_)));
    assert!(matches!(table("required int32 x;", Column::Int(vec![(1 << 24) + 1])), Samples::DenseF64(_)));
    let Samples::DenseF32(m) = table("required int32 x (INTEGER(32, false));", Column::Int(vec![-(1 << 30)])) else {
        panic!()
    };
    assert_eq!(m.values, [3_221_225_472.0]);
}

#[test]
fn labels_are_found_as_in_tables() {
    let schema = "required int32 target; required float x; required byte_array t (STRING);";
    let columns = || vec![Column::Int(vec![3, -1]), Column::Single(vec![0.1, 2.0]), Column::Text(vec!["a", "+1.0"])];
    let no_text = |label| read_plain("required int32 target; required float x;", columns().drain(..2).collect(), label);
    assert_eq!(no_text(LabelColumn::Auto).unwrap().labels, integers(&[3, -1]));
    assert_eq!(no_text(LabelColumn::None).unwrap().labels, None);
    assert_eq!(labels(&no_text(LabelColumn::Name("x".into())).unwrap()), ["0.1", "2"]);
    let text = read_plain(schema, columns(), LabelColumn::Number(-1)).unwrap();
    assert_eq!(
        (labels(&text), rows(&text)),
        (vec!["a".to_owned(), "1".into()], vec![vec![3.0, 0.1f32.into()], vec![-1.0, 2.0]])
    );
    // The label is recognized by its name, and the column of text is not.
    assert_eq!(refused(schema, columns(), LabelColumn::Auto), "column 't': text, and it is not the label");
    let missing = refused(schema, columns(), LabelColumn::Name("z".into()));
    assert_eq!(missing, "no label column 'z': the columns are target, x, t");
    assert_eq!(refused("required int32 y;", vec![Column::Int(vec![1])], LabelColumn::Auto), "no feature columns");
}

#[test]
fn rejects_cells_that_are_not_numbers_by_row_and_column() {
    let some = |levels: &[i16]| {
        let values = levels.iter().filter(|level| **level == 1).map(|_| 1.0).collect();
        Column::Some(Box::new(Column::Single(values)), levels.to_vec())
    };
    for (schema, column, expected) in [
        ("optional float x;", some(&[1, 1, 1, 1, 0, 1]), "row 5, column 'x': missing value"),
        ("required double x;", Column::Double(vec![1.0, f64::NAN]), "row 2, column 'x': NaN is not a finite"),
        ("required int64 x;", Column::Long(vec![1, 2, (1 << 53) + 1]), "row 3, column 'x': 9007199254740993 cannot"),
        ("required int32 x (DATE);", Column::Int(vec![1]), "column 'x': values of the type date are not read"),
        (
            "required int64 x (TIMESTAMP(MILLIS,true));",
            Column::Long(vec![1]),
            "column 'x': values of the type timestamp",
        ),
        ("required int32 x (DECIMAL(5,2));", Column::Int(vec![1]), "column 'x': values of the type decimal"),
        ("required byte_array x (STRING);", Column::Text(vec!["a"]), "column 'x': text, and it is not the label"),
        ("required group g { required float x; }", Column::Single(vec![1.0]), "column 'g': nested values are not read"),
    ] {
        let text = refused(schema, vec![column], LabelColumn::None);
        assert!(text.starts_with(expected), "{text}, expected {expected}");
    }
    // Rows count in the file, not in the block or the row group.
    let mut late = group(11, 30);
    late[4] = Column::Double((0..30).map(|i| if i == 20 { f64::INFINITY } else { 0.0 }).collect());
    let bytes = parquet(SCHEMA, &[group(0, 11), late], Compression::SNAPPY);
    for block_bytes in [1, 500, 1 << 20] {
        let options = ReadOptions { block_bytes: Some(block_bytes), ..Default::default() };
        let text = crate::common::message("a.parquet", &bytes, &options).0;
        assert_eq!(text, "row 32, column 'd': inf is not a finite number");
    }
}

#[test]
fn shards_agree_on_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("part-2.parquet"), parquet(SCHEMA, &[group(0, 3)], Compression::SNAPPY)).unwrap();
    std::fs::write(path("part-10.parquet"), parquet(SCHEMA, &[group(3, 2)], Compression::SNAPPY)).unwrap();
    std::fs::write(path("_metadata"), b"").unwrap();
    let table = read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(rows(&table).iter().map(|row| row[1]).collect::<Vec<_>>(), [0., 1., 2., 3., 4.]);
    assert_eq!(table.place(3), "part-10.parquet, sample 1");
    std::fs::write(
        path("part-3.parquet"),
        plain("required float x; required int32 y;", vec![Column::Single(vec![1.0]), Column::Int(vec![1])]),
    )
    .unwrap();
    let error = read(folder.path(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("part-3.parquet: 2 columns, but ") && error.ends_with("part-2.parquet has 7"), "{error}");
}

/// Whatever the bytes, a table that holds together or an error that names the file.
fn survive(bytes: &[u8]) {
    let stored = file("a.parquet", bytes);
    for block_bytes in [40, 1 << 20] {
        let options = ReadOptions { block_bytes: Some(block_bytes), ..Default::default() };
        match read(&stored.path, &options) {
            Ok(table) => assert!(rows(&table).iter().flatten().all(|value| value.is_finite())),
            Err(error) => assert!(error.to_string().contains("a.parquet") && error.is_input(), "{error}"),
        }
    }
}

#[test]
fn truncated_files_are_errors() {
    let bytes = large();
    for length in 0..bytes.len() {
        let error = crate::common::read_bytes("a.parquet", &bytes[..length], &ReadOptions::default()).unwrap_err();
        assert!(error.is_input() && error.to_string().contains("a.parquet"), "{error}");
    }
    let gzipped = {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&bytes).unwrap();
        encoder.finish().unwrap()
    };
    let options = ReadOptions { format: Some(Format::Parquet), ..Default::default() };
    let (text, _) = crate::common::message("a.parquet.gz", gzipped, &options);
    assert!(text.starts_with("Parquet is read from regular files"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_files_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = large();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&bytes);
    }
}
