//! The library's errors as Python's.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use widemargin::Error;

/// The exception of the kind that scikit-learn's users expect, with the library's words.
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
