//! What a fit may use where memory does not hold its samples: a limit, room on a disk, and a place to go on from.
//!
//! The library writes no files of its own: whoever calls it brings them.

use std::fmt;

use crate::checksum::checksum;
use crate::error::{Error, Result};

/// Room for bytes that memory does not hold, for as long as a fit takes: a file, say. Each fit writes and reads it from
/// 0 on, from several threads, and reads only what it wrote.
pub trait Scratch: Sync {
    /// Puts bytes at a position.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), such as that of a full disk.
    fn write(&self, at: u64, bytes: &[u8]) -> Result<()>;

    /// Fills `bytes` from a position.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()>;

    /// How many bytes may be written, where that is known.
    fn room(&self) -> Option<u64>;
}

/// What outlives a fit that is killed, under names.
pub trait Checkpoint: Sync {
    /// What was saved under a name.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Puts bytes in place of what the name had: whole or not at all, whenever the program is killed.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    fn save(&self, name: &str, bytes: &[u8]) -> Result<()>;
}

/// What a checkpoint has under a name, less the line before it that [`save`] wrote.
///
/// # Errors
/// [`Error::Checkpoint`] where a bit of it is not as it was saved, or where it was saved under another name; what the
/// checkpoint meets.
pub(crate) fn load(checkpoint: &dyn Checkpoint, name: &str) -> Result<Option<Vec<u8>>> {
    let Some(mut bytes) = checkpoint.load(name)? else { return Ok(None) };
    let wrong = |problem: &str| Error::Checkpoint {
        problem: format!("{name} {problem}: delete the checkpoint, or give an empty folder, to begin the fit anew"),
    };
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n').filter(|_| bytes.starts_with(SEAL.as_bytes())) else {
        return Err(wrong("is damaged, or was written by version 0.1, which kept no checksums"));
    };
    if bytes[..=end] != *seal(name, &bytes[end + 1..]).as_bytes() {
        return Err(wrong("is damaged: its content does not have the checksum that its first line states"));
    }
    bytes.drain(..=end);
    Ok(Some(bytes))
}

/// Puts bytes under a name in a checkpoint, with a line before them that holds their checksum.
///
/// # Errors
/// What the checkpoint meets.
pub(crate) fn save(checkpoint: &dyn Checkpoint, name: &str, bytes: &[u8]) -> Result<()> {
    let mut sealed = seal(name, bytes).into_bytes();
    sealed.extend_from_slice(bytes);
    checkpoint.save(name, &sealed)
}

/// How the first line of everything in a checkpoint begins.
const SEAL: &str = "widemargin checkpoint ";

/// The first line: of the name too, so that one file renamed is not taken for another.
fn seal(name: &str, bytes: &[u8]) -> String {
    format!("{SEAL}{}\n", checksum(&[name.as_bytes(), b"\n", bytes]))
}

/// What a fit on more samples than memory holds has to work with.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// Bytes of memory that the fit may use, beside what the program has already.
    pub memory: u64,
    /// Room for what does not fit.
    pub scratch: &'a dyn Scratch,
    /// Where the fit says how far it is, and goes on from.
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
