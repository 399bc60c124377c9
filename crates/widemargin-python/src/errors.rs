//! Conversion of the library's errors to Python exceptions, and the writing of files by the rules of [`widemargin::output`].

use std::path::PathBuf;

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use widemargin::Error;
use widemargin::model::write_atomically;

/// The exception type that scikit-learn users expect, with the library's message.
pub fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Io { .. } | Error::Output { .. } => PyOSError::new_err(message),
        Error::Cancelled { .. } => PyKeyboardInterrupt::new_err(message),
        Error::Threads { .. } => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Writes a file atomically, following symbolic links and keeping the permissions of a replaced file; devices, pipes
/// and folders are refused.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    py.detach(|| write_atomically(&path, |out| out.write_all(data))).map_err(|error| match error {
        // From the error number Python selects the right subclass of OSError.
        Error::Io { path, action, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, format!("{action}: {source}"), path)),
            None => PyErr::from(std::io::Error::new(source.kind(), format!("{}: {action}: {source}", path.display()))),
        },
        other => raise(other),
    })
}
