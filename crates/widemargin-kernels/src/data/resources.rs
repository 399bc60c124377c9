//! The resources of a fit on data larger than memory: a memory limit, scratch space, and a checkpoint.
//!
//! The library does not create files itself: the caller provides them.

use std::fmt;

use crate::checksum::checksum;
use crate::error::{Error, Result};

/// Scratch space for the duration of a fit, such as a file. Each fit writes and reads it from position 0 on, from
/// several threads, and reads only what it wrote.
pub trait Scratch: Sync {
    /// Writes bytes at a position.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), such as that of a full disk.
    fn write(&self, at: u64, bytes: &[u8]) -> Result<()>;

    /// Fills `bytes` from a position.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()>;

    /// How many bytes may be written, if known.
    fn room(&self) -> Option<u64>;
}

/// Named data that survive a killed fit.
pub trait Checkpoint: Sync {
    /// The data saved under a name.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Replaces the data under a name, atomically.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn save(&self, name: &str, bytes: &[u8]) -> Result<()>;
}

/// Loads the data under a name, without the header line written by [`save`].
///
/// # Errors
/// [`Error::Checkpoint`] if the data are damaged or were saved under another name; errors of the checkpoint.
#[doc(hidden)]
pub fn load(checkpoint: &dyn Checkpoint, name: &str) -> Result<Option<Vec<u8>>> {
    let Some(mut bytes) = checkpoint.load(name)? else { return Ok(None) };
    let wrong = |problem: &str| Error::Checkpoint {
        problem: format!("{name} {problem}: delete the checkpoint, or use an empty folder, to start again"),
    };
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n').filter(|_| bytes.starts_with(SEAL.as_bytes())) else {
        return Err(wrong("is damaged, or was written by version 0.1, without checksums"));
    };
    if bytes[..=end] != *seal(name, &bytes[end + 1..]).as_bytes() {
        return Err(wrong("is damaged: its content does not have the checksum that its first line states"));
    }
    bytes.drain(..=end);
    Ok(Some(bytes))
}

/// Saves data under a name in a checkpoint, preceded by a line with their checksum.
///
/// # Errors
/// Errors of the checkpoint.
#[doc(hidden)]
pub fn save(checkpoint: &dyn Checkpoint, name: &str, bytes: &[u8]) -> Result<()> {
    let mut sealed = seal(name, bytes).into_bytes();
    sealed.extend_from_slice(bytes);
    checkpoint.save(name, &sealed)
}

/// The start of the header line of every file of a checkpoint.
const SEAL: &str = "widemargin checkpoint ";

/// The header line. It also covers the name, so that a renamed file is refused.
fn seal(name: &str, bytes: &[u8]) -> String {
    format!("{SEAL}{}\n", checksum(&[name.as_bytes(), b"\n", bytes]))
}

/// The resources of a fit on data larger than memory.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// Bytes of memory that the fit may use, in addition to the program's current use.
    pub memory: u64,
    /// Space for data that do not fit in memory.
    pub scratch: &'a dyn Scratch,
    /// Where the fit saves its progress, and resumes from.
    pub checkpoint: Option<&'a dyn Checkpoint>,
}

impl fmt::Debug for Resources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resources")
            .field("memory", &self.memory)
            .field("checkpoint", &self.checkpoint.is_some())
            .finish_non_exhaustive()
    }
}
