//! Files for tests.

use std::io::Write;
use std::path::PathBuf;

use tempfile::TempDir;
use widemargin::data::{Label, Labels};
use widemargin_io::{IoError, ReadOptions, Samples, Table, read};

/// A folder with one file in it.
pub struct Scratch {
    pub folder: TempDir,
    pub path: PathBuf,
}

pub fn file(name: &str, bytes: impl AsRef<[u8]>) -> Scratch {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Scratch { folder, path }
}

pub fn read_bytes(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, IoError> {
    read(&file(name, bytes).path, options)
}

/// The error's message from the file's name on, and its help.
pub fn message(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> (String, Option<String>) {
    let error = match read_bytes(name, bytes.as_ref(), options) {
        Ok(table) => panic!("{:?} was read: {table:?}", String::from_utf8_lossy(bytes.as_ref())),
        Err(error) => error,
    };
    assert!(error.is_input());
    let text = error.to_string();
    let start = text.find(name).unwrap_or_else(|| panic!("'{text}' does not name the file"));
    (text[start + name.len()..].trim_start_matches(": ").to_owned(), error.help())
}

/// Samples as rows of `f64`, whatever they are.
pub fn rows(table: &Table) -> Vec<Vec<f64>> {
    fn of(rows: &impl widemargin::data::Rows) -> Vec<Vec<f64>> {
        let row = |row| {
            let mut values = vec![0.0; rows.n_cols()];
            rows.for_each_nonzero(row, |column, value| values[column] = value);
            values
        };
        (0..rows.n_rows()).map(row).collect()
    }
    match &table.samples {
        Samples::SparseF32(m) => of(&m.view().unwrap()),
        Samples::SparseF64(m) => of(&m.view().unwrap()),
        Samples::DenseF32(m) => of(&m.view().unwrap()),
        Samples::DenseF64(m) => of(&m.view().unwrap()),
        Samples::Other(samples) => panic!("{} are no rows", samples.kind()),
    }
}

pub fn labels(table: &Table) -> Vec<String> {
    let labels = table.labels.as_ref().unwrap();
    (0..labels.len()).map(|row| labels.get(row).to_string()).collect()
}

pub fn integers(labels: &[i64]) -> Option<Labels> {
    Some(Labels::new(labels.iter().map(|label| Label::Integer(*label))))
}

/// An NPY array as NumPy writes it.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let quoted = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    npy_of_header(&format!("{{'descr': {quoted}, 'fortran_order': {fortran}, 'shape': {shape}, }}"), data)
}

pub fn npy_of_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padding = 63 - (10 + header.len()) % 64;
    bytes.extend(((header.len() + padding + 1) as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(std::iter::repeat_n(b' ', padding));
    bytes.push(b'\n');
    bytes.extend(data);
    bytes
}

/// An archive of arrays, stored or deflated.
pub fn npz(arrays: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let method = if deflated { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub fn le<const N: usize, T: Copy>(numbers: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|number| bytes(*number)).collect()
}

pub fn i32s(numbers: &[i32]) -> Vec<u8> {
    npy("<i4", false, &format!("({},)", numbers.len()), &le(numbers, i32::to_le_bytes))
}

pub fn i64s(numbers: &[i64]) -> Vec<u8> {
    npy("<i8", false, &format!("({},)", numbers.len()), &le(numbers, i64::to_le_bytes))
}

pub fn f32s(numbers: &[f32]) -> Vec<u8> {
    npy("<f4", false, &format!("({},)", numbers.len()), &le(numbers, f32::to_le_bytes))
}
