//! Writing of files, by the rules of [`widemargin::output`].

use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use widemargin::Error;
use widemargin::model::write_atomically;

use crate::errors::raise;

/// Writes a file atomically, following symbolic links and keeping the permissions of a replaced file; devices, pipes
/// and folders are refused.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    py.detach(|| write_atomically(&path, |out| out.write_all(data))).map_err(refused)
}

/// The Python exception for an error in writing a file.
pub fn refused(error: Error) -> PyErr {
    match error {
        // From the error number Python selects the right subclass of OSError.
        Error::Io { path, action, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, format!("{action}: {source}"), path)),
            None => PyErr::from(std::io::Error::new(source.kind(), format!("{}: {action}: {source}", path.display()))),
        },
        other => raise(other),
    }
}
