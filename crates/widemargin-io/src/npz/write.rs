//! Writes a table as an archive.

use std::io::{self, BufWriter, Write};

use widemargin::data::{CsrMatrix, Element, Label, Labels};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use crate::error::Failure;
use crate::npy::{descr_of, write_header, write_values};
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
        dense => {
            let (descr, shape) = (descr_of(dense), [dense.n_rows(), dense.n_cols()]);
            write_array(&mut zip, "X", descr, &shape, |out| write_values(dense, out))?;
        }
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

fn write_csr<W: Write, T: Element, const N: usize>(
    zip: &mut Zip<W>,
    matrix: &CsrMatrix<T>,
    descr: &str,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<(), Failure> {
    let (n_rows, n_stored) = (matrix.indptr.len() - 1, matrix.view()?.n_stored());
    write_array(zip, "format", "|S3", &[], |out| Ok(out.write_all(b"csr")?))?;
    write_vector(zip, "shape", "<i8", [n_rows, matrix.n_cols], |size| (size as i64).to_le_bytes())?;
    // SciPy uses one index type for both, and prefers the smaller.
    let columns = matrix.indices.iter().map(|&column| column as usize);
    if i32::try_from(n_stored.max(matrix.n_cols)).is_ok() {
        let index = |index: usize| (index as i32).to_le_bytes();
        write_vector(zip, "indptr", "<i4", matrix.indptr.iter().copied(), index)?;
        write_vector(zip, "indices", "<i4", columns, index)?;
    } else {
        let index = |index: usize| (index as i64).to_le_bytes();
        write_vector(zip, "indptr", "<i8", matrix.indptr.iter().copied(), index)?;
        write_vector(zip, "indices", "<i8", columns, index)?;
    }
    write_vector(zip, "data", descr, matrix.values.iter().copied(), bytes)
}

/// Integer labels as integers; if any label is text, all of them as text.
fn write_labels<W: Write>(zip: &mut Zip<W>, array: &str, labels: &Labels) -> Result<(), Failure> {
    let integer = |class: &Label| if let Label::Integer(integer) = class { Some(*integer) } else { None };
    let codes = labels.codes().iter().map(|&code| code as usize);
    match labels.classes().iter().map(integer).collect::<Option<Vec<i64>>>() {
        Some(integers) => write_vector(zip, array, "<i8", codes, |code| integers[code].to_le_bytes()),
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
    write_array(zip, array, &format!("<U{width}"), &[texts.len()], |out| {
        for text in texts {
            for character in text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width) {
                out.write_all(&character.to_le_bytes())?;
            }
        }
        Ok(())
    })
}

fn write_vector<W: Write, T, const N: usize>(
    zip: &mut Zip<W>,
    array: &str,
    descr: &str,
    numbers: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<(), Failure> {
    let mut numbers = numbers.into_iter();
    write_array(zip, array, descr, &[numbers.len()], |out| {
        Ok(numbers.try_for_each(|number| out.write_all(&bytes(number)))?)
    })
}

/// Writes an array, whose values `write` writes. Stored without compression, for fast reading.
fn write_array<W: Write>(
    zip: &mut Zip<W>,
    array: &str,
    descr: &str,
    shape: &[usize],
    write: impl FnOnce(&mut BufWriter<&mut Zip<W>>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    zip.start_file(format!("{array}.npy"), options)?;
    let mut out = BufWriter::with_capacity(BUFFER, zip);
    write_header(&mut out, descr, shape)?;
    write(&mut out)?;
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
