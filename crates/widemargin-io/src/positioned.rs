//! Positional reads and writes, from several threads at once.

use std::fs::File;
use std::io;

/// Fills the buffer from a position.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Writes all bytes at a position.
#[cfg(unix)]
pub(crate) fn write_all_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Other systems move the file's own position: only one thread at a time may access any file.
#[cfg(not(unix))]
static SEEK_LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Fills the buffer from a position.
#[cfg(not(unix))]
pub(crate) fn read_exact_at(mut file: &File, at: u64, bytes: &mut [u8]) -> io::Result<()> {
    use io::{Read, Seek};
    let _guard = SEEK_LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Writes all bytes at a position.
#[cfg(not(unix))]
pub(crate) fn write_all_at(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    use io::{Seek, Write};
    let _guard = SEEK_LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    file.seek(io::SeekFrom::Start(at))?;
    file.write_all(bytes)
}
