//! Conversion of the library's errors to Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use widemargin::Error;

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
