//! What a fit may use where memory does not hold its samples: a limit, room on a disk, and a place to go on from.
//!
//! The library writes no files of its own: whoever calls it brings them.

use std::fmt;

use crate::error::Result;

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

/// What a fit on more samples than memory holds has to work with.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    /// Bytes of memory that the fit may use, beside what the program has already.
    pub memory: u64,
    /// Room for what does not fit.
    pub scratch: &'a dyn Scratch,
    /// Where the fit says how far it is, and goes on from.
    pub checkpoint: Option<&'a dyn Checkpoint>,
}

impl fmt::Debug for Outside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside")
            .field("memory", &self.memory)
            .field("checkpoint", &self.checkpoint.is_some())
            .finish_non_exhaustive()
    }
}
