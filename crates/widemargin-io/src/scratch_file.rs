//! Room on a disk for what memory does not hold: an anonymous file, which vanishes with the program whatever happens.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use widemargin::data::Scratch;
use widemargin::{Error, Result};

use crate::positioned::{read_exact_at, write_all_at};

/// A file without a name in a folder of the caller's choice, written and read at any position from any thread.
///
/// Nothing of it is left when it is dropped or when the program is killed. A file in `/tmp` may be memory in disguise
/// (`tmpfs`): name a folder on a disk where memory is short.
#[derive(Debug)]
pub struct ScratchFile {
    file: File,
    folder: PathBuf,
    limit: u64,
}

impl ScratchFile {
    /// Makes the file; the folder must exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(folder: &Path) -> Result<ScratchFile> {
        match tempfile::tempfile_in(folder) {
            Ok(file) => Ok(ScratchFile { file, folder: folder.to_owned(), limit: u64::MAX }),
            // The system's words without the name of the temporary file, which means nothing to anyone.
            Err(source) => Err(refused(folder, "cannot make a scratch file in the folder", source.kind().into())),
        }
    }

    /// The same file, which never takes more than so many bytes: writing beyond them is refused as on a full disk.
    pub fn with_limit(self, bytes: u64) -> ScratchFile {
        ScratchFile { limit: bytes, ..self }
    }

    /// The folder whose disk the file is on.
    pub fn folder(&self) -> &Path {
        &self.folder
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

    /// What the disk has free and what the file takes already, but no more than its limit. `None` where the system does
    /// not tell.
    fn room(&self) -> Option<u64> {
        let limit = (self.limit < u64::MAX).then_some(self.limit);
        match (free(&self.file), limit) {
            (Some(free), Some(limit)) => Some(free.min(limit)),
            (free, limit) => free.or(limit),
        }
    }
}

/// Bytes that the file may grow to. Through `rustix`, which `tempfile` brings: a crate made for this alone would bring it
/// again, and Windows besides.
#[cfg(unix)]
fn free(file: &File) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let disk = rustix::fs::fstatvfs(file).ok()?;
    // Blocks are counted in 512 bytes by the file, in fragments by the disk.
    let taken = file.metadata().ok()?.blocks() * 512;
    // Those of the superuser's reserve are not counted.
    Some(disk.f_bavail.saturating_mul(disk.f_frsize).saturating_add(taken))
}

#[cfg(not(unix))]
fn free(_: &File) -> Option<u64> {
    None
}

fn refused(folder: &Path, action: &'static str, source: io::Error) -> Error {
    Error::Io { path: folder.to_owned(), action, source }
}
