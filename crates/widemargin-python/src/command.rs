//! The command `widemargin`, which the wheel has too.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with the arguments of a process, the first its name, and returns the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| widemargin_cli::run(arguments))
}
