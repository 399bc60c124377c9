//! Writes a table as an archive.

use std::io::{self, Write};

use widemargin::data::{CsrMatrix, Element, Label, Labels};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use crate::error::Failure;
use crate::npy::{write_header, write_matrix};
use crate::table::{Samples, Table};

type Zip<W> = ZipWriter<StreamWriter<Once<W>>>;

/// Writes SciPy's csr layout with `labels`, or dense `X` with `y`; also `feature_names` if there are any.
pub(crate) fn write(table: &Table, out: &mut impl Write) -> Result<(), Failure> {
    let mut zip = ZipWriter::new_stream(Once { out, failed: false });
    match &table.samples {
        Samples::SparseF32(matrix) => write_csr(&mut zip, matrix, "<f4", f32::to_le_bytes)?,
        Samples::SparseF64(matrix) => write_csr(&mut zip, matrix, "<f8", f64::to_le_bytes)?,
        dense => {
            start(&mut zip, "X")?;
            write_matrix(dense, &mut zip)?;
        }
    }
    if let Some(labels) = &table.labels {
        write_labels(&mut zip, if table.samples.is_sparse() { "labels" } else { "y" }, labels)?;
    }
    if let Some(names) = &table.feature_names {
        write_texts(&mut zip, "feature_names", names.len(), || names.iter().map(String::as_str))?;
    }
    zip.finish()?;
    Ok(())
}

fn write_csr<W: Write, T: Element, const N: usize>(
    zip: &mut Zip<W>,
    matrix: &CsrMatrix<T>,
    descr: &str,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<(), Failure> {
    let n_stored = matrix.view()?.n_stored();
    let (starts, columns) = (matrix.indptr.iter().copied(), matrix.indices.iter().map(|&column| column as usize));
    start(zip, "format")?;
    write_header(zip, "|S3", &[])?;
    zip.write_all(b"csr")?;
    write_vector(zip, "shape", "<i8", [matrix.indptr.len() - 1, matrix.n_cols], |size| (size as i64).to_le_bytes())?;
    // SciPy uses one index type for both, and prefers the smaller.
    if i32::try_from(n_stored.max(matrix.n_cols)).is_ok() {
        write_vector(zip, "indptr", "<i4", starts, |start| (start as i32).to_le_bytes())?;
        write_vector(zip, "indices", "<i4", columns, |column| (column as i32).to_le_bytes())?;
    } else {
        write_vector(zip, "indptr", "<i8", starts, |start| (start as i64).to_le_bytes())?;
        write_vector(zip, "indices", "<i8", columns, |column| (column as i64).to_le_bytes())?;
    }
    write_vector(zip, "data", descr, matrix.values.iter().copied(), bytes)
}

/// Integer labels as integers; if any label is text, all of them as text.
fn write_labels<W: Write>(zip: &mut Zip<W>, array: &str, labels: &Labels) -> Result<(), Failure> {
    let integers: Option<Vec<i64>> = labels
        .classes()
        .iter()
        .map(|class| match class {
            Label::Integer(integer) => Some(*integer),
            Label::Text(_) => None,
        })
        .collect();
    match integers {
        Some(integers) => {
            write_vector(zip, array, "<i8", labels.codes(), |code| integers[*code as usize].to_le_bytes())
        }
        None => {
            let texts: Vec<String> = labels.classes().iter().map(Label::to_string).collect();
            let each = || labels.codes().iter().map(|code| texts[*code as usize].as_str());
            write_texts(zip, array, labels.len(), each)
        }
    }
}

fn write_texts<'a, W: Write, I: Iterator<Item = &'a str>>(
    zip: &mut Zip<W>,
    array: &str,
    n: usize,
    each: impl Fn() -> I,
) -> Result<(), Failure> {
    // NumPy does not support arrays of zero-width strings.
    let width = each().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    start(zip, array)?;
    write_header(zip, &format!("<U{width}"), &[n])?;
    for text in each() {
        let padded = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        write_each(zip, padded, u32::to_le_bytes)?;
    }
    Ok(())
}

/// Writes a vector as an array.
fn write_vector<W: Write, T, const N: usize>(
    zip: &mut Zip<W>,
    array: &str,
    descr: &str,
    numbers: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<(), Failure> {
    let numbers = numbers.into_iter();
    start(zip, array)?;
    write_header(zip, descr, &[numbers.len()])?;
    Ok(write_each(zip, numbers, bytes)?)
}

fn write_each<W: Write, T, const N: usize>(
    zip: &mut Zip<W>,
    numbers: impl IntoIterator<Item = T>,
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(1 << 14);
    for number in numbers {
        if buffer.len() + N > 1 << 14 {
            zip.write_all(&buffer)?;
            buffer.clear();
        }
        buffer.extend_from_slice(&bytes(number));
    }
    zip.write_all(&buffer)
}

/// Starts an array. Stored without compression, for fast reading.
fn start<W: Write>(zip: &mut Zip<W>, array: &str) -> Result<(), Failure> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    Ok(zip.start_file(format!("{array}.npy"), options)?)
}

/// A writer that fails only once. When dropped, an archive tries to write its end and prints an error if it cannot;
/// after the first failure later writes are ignored.
#[derive(Debug)]
struct Once<W> {
    out: W,
    failed: bool,
}

impl<W: Write> Write for Once<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Ok(bytes.len());
        }
        self.out.write(bytes).inspect_err(|error| self.failed = error.kind() != io::ErrorKind::Interrupted)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed { Ok(()) } else { self.out.flush() }
    }
}
