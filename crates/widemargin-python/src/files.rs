//! Bytes onto a disk, by the rules of [`widemargin::output`].

use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use widemargin::Error;
use widemargin::model::write_atomically;

use crate::errors::raise;

/// Writes a file whole or not at all: the file that a symbolic link names, with the permissions of the one it replaces;
/// a device, a pipe or a folder is refused.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    py.detach(|| write_atomically(&path, |out| out.write_all(data))).map_err(|error| match error {
        // With the system's number Python makes the right class of OSError of it.
        Error::Io { path, action, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, format!("{action}: {source}"), path)),
            None => PyErr::from(std::io::Error::new(source.kind(), format!("{}: {action}: {source}", path.display()))),
        },
        other => raise(other),
    })
}
