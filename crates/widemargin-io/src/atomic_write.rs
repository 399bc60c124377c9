//! Files that appear whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{IoError, Result};

/// A file being written. What was there before stays until [`AtomicFile::commit`], and for good if
/// that is never called.
///
/// The bytes go to a temporary file in the same folder, which takes the name at the end. A target
/// that is no regular file (a pipe, a device) cannot be replaced like that, and is written directly.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Beside(NamedTempFile),
    Direct(File),
}

impl AtomicFile {
    /// Starts a file. The name may exist or not; its folder must.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn create(path: &Path) -> Result<AtomicFile> {
        let wrong = |action| move |source| refused(path, action, source);
        // Through a symbolic link, so that the link stays and its target is what changes.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&real).ok();
        if old.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(refused(path, "cannot write", io::ErrorKind::IsADirectory.into()));
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(&real).map_err(wrong("cannot open for writing"))?;
            return Ok(AtomicFile { path: real, target: Target::Direct(file) });
        }
        let folder = match real.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = Builder::new();
        builder.prefix(".widemargin-").suffix(".tmp");
        if let Some(permissions) = old.map(|old| old.permissions()).or_else(usual_permissions) {
            builder.permissions(permissions);
        }
        fs::metadata(folder).map_err(wrong("cannot find its folder"))?;
        // The system's words without the name of the temporary file, which means nothing to anyone.
        let file = builder
            .tempfile_in(folder)
            .map_err(|source| refused(path, "cannot create a file in its folder", source.kind().into()))?;
        Ok(AtomicFile { path: real, target: Target::Beside(file) })
    }

    /// Gives the file its name. The data is on the disk when this returns.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn commit(self) -> Result<()> {
        let AtomicFile { path, target } = self;
        match target {
            Target::Direct(mut file) => file.flush().map_err(|e| refused(&path, "cannot write", e)),
            Target::Beside(file) => {
                file.as_file().sync_all().map_err(|e| refused(&path, "cannot write", e))?;
                file.persist(&path).map_err(|e| refused(&path, "cannot rename the finished file", e.error))?;
                Ok(())
            }
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Beside(file) => file.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Beside(file) => file.flush(),
            Target::Direct(file) => file.flush(),
        }
    }
}

/// The error of a write that was refused, with what has become of the file.
pub(crate) fn refused(path: &Path, action: &'static str, source: io::Error) -> IoError {
    let outcome = match fs::metadata(path) {
        Ok(old) if old.is_file() => "the old file is as it was",
        Ok(_) => "nothing was replaced",
        Err(_) => "nothing was written",
    };
    IoError::Write { file: path.to_owned(), action, source, outcome }
}

/// What any new file gets: the system takes away what the user's mask forbids.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}
