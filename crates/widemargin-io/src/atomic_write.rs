//! Atomic writing of files, with this crate's errors.

use std::io::{self, Write};
use std::path::Path;

use widemargin::Error;
use widemargin::output::OutputFile;

use crate::error::{IoError, Result};

/// A file being written. The previous file stays in place until [`AtomicFile::commit`], and for good if that is never
/// called. The rules are those of [`widemargin::output`].
#[derive(Debug)]
pub struct AtomicFile(OutputFile);

impl AtomicFile {
    /// Starts writing. The file may or may not exist; its folder must.
    ///
    /// # Errors
    /// [`IoError::Write`], and [`IoError::Library`] with [`Error::Output`] for anything but a regular file.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        OutputFile::create(path).map(AtomicFile).map_err(io_error)
    }

    /// Moves the file into place. The data is on disk when this returns.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn commit(self) -> Result<()> {
        self.0.commit().map_err(io_error)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn io_error(error: Error) -> IoError {
    match error {
        Error::Io { path, action, source } => IoError::writing(&path, action, source),
        other => IoError::Library(other),
    }
}
