//! The arrays of an archive, by name.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{IoError, Result};
use crate::input::{Input, ReadSeek};
use crate::npy::{self, Exact, Failure, Header, Values};
use crate::problem::ArrayProblem;

/// The maximum compression ratio of Deflate.
const MAX_EXPANSION: u64 = 1032;

/// An opened archive.
pub(crate) struct Archive {
    pub file: PathBuf,
    zip: ZipArchive<Box<dyn ReadSeek>>,
}

impl Archive {
    pub fn open(input: Input) -> Result<Archive> {
        let file = input.file.clone();
        match ZipArchive::new(input.seekable()?) {
            Ok(zip) => Ok(Archive { file, zip }),
            Err(ZipError::Io(source)) if source.raw_os_error().is_some() => Err(IoError::reading(&file)(source)),
            Err(error) => {
                Err(IoError::Archive { file, problem: format!("not a usable NPZ archive: {error}"), help: None })
            }
        }
    }

    /// Whether there is an array with this name.
    pub fn has(&self, array: &str) -> bool {
        self.zip.index_for_name(&format!("{array}.npy")).is_some()
    }

    /// The names of the arrays, for messages.
    pub fn names(&self) -> String {
        let names: Vec<_> = self
            .zip
            .file_names_raw()
            .take(12)
            .map(|name| crate::problem::excerpt(String::from_utf8_lossy(name).trim_end_matches(".npy")))
            .collect();
        if names.is_empty() { "nothing".into() } else { names.join(", ") }
    }

    /// A matrix of numbers.
    pub fn matrix(&mut self, array: &str) -> Result<(Header, Values)> {
        self.read(array, |header, data| {
            let (n_rows, n_cols) = header.matrix()?;
            let values = npy::read_values(data, &header.dtype, n_rows * n_cols)?;
            Ok((header.clone(), values))
        })
    }

    /// The dimensions of an array.
    pub fn shape(&mut self, array: &str) -> Result<Vec<usize>> {
        let mut member = self
            .zip
            .by_name(&format!("{array}.npy"))
            .map_err(|error| IoError::reading(&self.file)(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        let header = Header::read(&mut member);
        drop(member);
        header.map(|header| header.shape).map_err(|failure| self.failed(array, failure))
    }

    /// A vector of numbers.
    pub fn values(&mut self, array: &str) -> Result<Values> {
        self.read(array, |header, data| npy::read_values(data, &header.dtype, vector(header)?))
    }

    /// A vector of integers.
    pub fn ints<T: Exact>(&mut self, array: &str) -> Result<Vec<T>> {
        self.read(array, |header, data| npy::read_ints(data, &header.dtype, vector(header)?))
    }

    /// A vector of strings, or one string.
    pub fn texts(&mut self, array: &str) -> Result<Vec<String>> {
        self.read(array, |header, data| npy::read_texts(data, &header.dtype, header.n_elements()?))
    }

    /// Reads an array by its header, up to its end.
    pub fn read<T>(
        &mut self,
        array: &str,
        read: impl FnOnce(&Header, &mut dyn Read) -> Result<T, Failure>,
    ) -> Result<T> {
        let result = self.read_member(array, read);
        result.map_err(|failure| self.failed(array, failure))
    }

    /// The error of an array.
    pub fn problem(&self, array: &str, problem: ArrayProblem) -> IoError {
        IoError::Array { file: self.file.clone(), array: Some(array.to_owned()), problem }
    }

    fn read_member<T>(
        &mut self,
        array: &str,
        read: impl FnOnce(&Header, &mut dyn Read) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut member = self.zip.by_name(&format!("{array}.npy")).map_err(|error| match error {
            ZipError::Io(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        })?;
        // Neither the header's claim nor the archive's is trusted beyond the size of the compressed data.
        let size = member.size().min(member.compressed_size().saturating_mul(MAX_EXPANSION));
        let header = Header::read(&mut member)?;
        let claimed = header.n_bytes()?;
        let found = size.saturating_sub(header.length);
        if found < claimed {
            return Err(ArrayProblem::Truncated { claimed, found }.into());
        }
        let result = read(&header, &mut member)?;
        npy::expect_end(&mut member, claimed)?;
        Ok(result)
    }

    fn failed(&self, array: &str, failure: Failure) -> IoError {
        let file: &Path = &self.file;
        match failure {
            Failure::Problem(problem) => self.problem(array, problem),
            Failure::System(source) if source.raw_os_error().is_some() => IoError::reading(file)(source),
            Failure::System(source) => IoError::Archive {
                file: file.to_owned(),
                problem: format!("array '{array}' is damaged: {source}"),
                help: None,
            },
        }
    }
}

/// The length of a vector.
fn vector(header: &Header) -> Result<usize, ArrayProblem> {
    match header.shape[..] {
        [n] => Ok(n),
        _ => Err(header.wrong_shape("one dimension")),
    }
}
