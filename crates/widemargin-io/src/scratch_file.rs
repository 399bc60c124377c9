//! Scratch space on disk: an anonymous file that disappears when the program ends for any reason.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use widemargin::data::Scratch;
use widemargin::{Error, Result};

use crate::positioned::{read_exact_at, write_all_at};

/// An unnamed file in a folder, with positional reads and writes from any thread.
///
/// Nothing of it remains when it is dropped or the program is killed. A file in `/tmp` may be in memory (`tmpfs`): if
/// memory is short, use a folder on a disk.
#[derive(Debug)]
pub struct ScratchFile {
    file: File,
    folder: PathBuf,
    limit: u64,
}

impl ScratchFile {
    /// Creates the file; the folder must exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(folder: &Path) -> Result<ScratchFile> {
        match tempfile::tempfile_in(folder) {
            Ok(file) => Ok(ScratchFile { file, folder: folder.to_owned(), limit: u64::MAX }),
            // The system's message without the name of the temporary file, which is meaningless to users.
            Err(source) => Err(refused(folder, "cannot make a scratch file in the folder", source.kind().into())),
        }
    }

    /// Limits the size of the file: writing beyond the limit fails as on a full disk.
    pub fn with_limit(self, bytes: u64) -> ScratchFile {
        ScratchFile { limit: bytes, ..self }
    }
}

impl Scratch for ScratchFile {
    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let end = at.checked_add(bytes.len() as u64);
        let written = if end.is_some_and(|end| end <= self.limit) {
            write_all_at(&self.file, at, bytes)
        } else {
            Err(io::Error::new(io::ErrorKind::StorageFull, format!("more than the {} bytes allowed", self.limit)))
        };
        written.map_err(|source| refused(&self.folder, "cannot write the scratch file", source))
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, at, bytes)
            .map_err(|source| refused(&self.folder, "cannot read the scratch file", source))
    }

    /// The free space of the disk plus the current size of the file, up to its limit. `None` if the system does not
    /// report it.
    fn room(&self) -> Option<u64> {
        let limit = (self.limit < u64::MAX).then_some(self.limit);
        free(&self.file).into_iter().chain(limit).min()
    }
}

/// The size to which the file may grow. Uses `rustix`, a dependency of `tempfile`: a dedicated crate would pull it in
/// as well, and Windows crates besides.
#[cfg(unix)]
fn free(file: &File) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let disk = rustix::fs::fstatvfs(file).ok()?;
    // The file counts blocks of 512 bytes, the disk fragments.
    let allocated = file.metadata().ok()?.blocks() * 512;
    // Excludes space reserved for the superuser.
    Some(disk.f_bavail.saturating_mul(disk.f_frsize).saturating_add(allocated))
}

#[cfg(not(unix))]
fn free(_: &File) -> Option<u64> {
    None
}

/// The error of an operation that the system refused.
pub(crate) fn refused(path: &Path, action: &'static str, source: io::Error) -> Error {
    Error::Io { path: path.to_owned(), action, source }
}
