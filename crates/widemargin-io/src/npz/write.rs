//! Writes a table as an archive.

use std::io::{self, BufWriter, Write};

use widemargin::data::{CsrMatrix, DenseMatrix, Element, Label, Labels};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use crate::error::Failure;
use crate::npy::write_header;
use crate::table::{Samples, Table};

type Zip<W> = ZipWriter<StreamWriter<Once<W>>>;

/// Bytes that an archive takes at once.
const BUFFER: usize = 1 << 14;

/// Writes SciPy's csr layout with `labels`, or dense `X` with `y`; also `feature_names` if there are any.
pub(crate) fn write(table: &Table, out: &mut impl Write) -> Result<(), Failure> {
    let mut zip = ZipWriter::new_stream(Once { out, failed: false });
    match &table.samples {
        Samples::SparseF32(matrix) => write_csr(&mut zip, matrix, "<f4", f32::to_le_bytes)?,
        Samples::SparseF64(matrix) => write_csr(&mut zip, matrix, "<f8", f64::to_le_bytes)?,
        // Adding 0 removes the sign of zeros, as the writers of other formats do.
        Samples::DenseF32(matrix) => write_dense(&mut zip, matrix, "<f4", |value| (value + 0.0).to_le_bytes())?,
        Samples::DenseF64(matrix) => write_dense(&mut zip, matrix, "<f8", |value| (value + 0.0).to_le_bytes())?,
        // Refused before.
        Samples::Other(_) => {}
    }
    if let Some(labels) = &table.labels {
        write_labels(&mut zip, if table.samples.is_sparse() { "labels" } else { "y" }, labels)?;
    }
    if let Some(names) = &table.feature_names {
        write_texts(&mut zip, "feature_names", names.iter().map(String::as_str))?;
    }
    zip.finish()?;
    Ok(())
}

fn write_dense<W: Write, T: Element, const N: usize>(
    zip: &mut Zip<W>,
    matrix: &DenseMatrix<T>,
    descr: &str,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<(), Failure> {
    let values = matrix.view()?.values().iter();
    write_array(zip, "X", descr, &[matrix.n_rows, matrix.n_cols], values.map(|value| bytes(*value)))
}

fn write_csr<W: Write, T: Element, const N: usize>(
    zip: &mut Zip<W>,
    matrix: &CsrMatrix<T>,
    descr: &str,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<(), Failure> {
    let (n_rows, n_stored) = (matrix.indptr.len() - 1, matrix.view()?.n_stored());
    let sizes = [n_rows, matrix.n_cols].map(|size| (size as i64).to_le_bytes());
    write_array(zip, "format", "|S3", &[], [b"csr"])?;
    write_array(zip, "shape", "<i8", &[2], sizes)?;
    // SciPy uses one index type for both, and prefers the smaller.
    let (starts, columns) = (matrix.indptr.iter(), matrix.indices.iter());
    if i32::try_from(n_stored.max(matrix.n_cols)).is_ok() {
        write_array(zip, "indptr", "<i4", &[n_rows + 1], starts.map(|start| (*start as i32).to_le_bytes()))?;
        write_array(zip, "indices", "<i4", &[n_stored], columns.map(|column| (*column as i32).to_le_bytes()))?;
    } else {
        write_array(zip, "indptr", "<i8", &[n_rows + 1], starts.map(|start| (*start as i64).to_le_bytes()))?;
        write_array(zip, "indices", "<i8", &[n_stored], columns.map(|column| i64::from(*column).to_le_bytes()))?;
    }
    write_array(zip, "data", descr, &[n_stored], matrix.values.iter().map(|value| bytes(*value)))
}

/// Integer labels as integers; if any label is text, all of them as text.
fn write_labels<W: Write>(zip: &mut Zip<W>, array: &str, labels: &Labels) -> Result<(), Failure> {
    let integer = |class: &Label| if let Label::Integer(integer) = class { Some(*integer) } else { None };
    let codes = labels.codes().iter().map(|&code| code as usize);
    match labels.classes().iter().map(integer).collect::<Option<Vec<i64>>>() {
        Some(integers) => {
            write_array(zip, array, "<i8", &[labels.len()], codes.map(|code| integers[code].to_le_bytes()))
        }
        None => {
            let texts: Vec<String> = labels.classes().iter().map(Label::to_string).collect();
            write_texts(zip, array, codes.map(|code| texts[code].as_str()))
        }
    }
}

fn write_texts<'a, W: Write>(
    zip: &mut Zip<W>,
    array: &str,
    texts: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Result<(), Failure> {
    // NumPy does not support arrays of zero-width strings.
    let width = texts.clone().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let padded = |text: &'a str| text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
    write_array(zip, array, &format!("<U{width}"), &[texts.len()], texts.flat_map(padded).map(u32::to_le_bytes))
}

/// Writes an array of elements that are already bytes. Stored without compression, for fast reading.
fn write_array<W: Write>(
    zip: &mut Zip<W>,
    array: &str,
    descr: &str,
    shape: &[usize],
    elements: impl IntoIterator<Item: AsRef<[u8]>>,
) -> Result<(), Failure> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    zip.start_file(format!("{array}.npy"), options)?;
    let mut out = BufWriter::with_capacity(BUFFER, zip);
    write_header(&mut out, descr, shape)?;
    elements.into_iter().try_for_each(|element| out.write_all(element.as_ref()))?;
    Ok(out.flush()?)
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
