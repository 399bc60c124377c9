//! A disk and a checkpoint in memory, for fits in blocks.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use widemargin::data::{Checkpoint, Resources, Scratch};
use widemargin::{Error, Result};

/// A disk of a limited size.
pub struct Disk {
    bytes: Mutex<Vec<u8>>,
    room: Option<u64>,
    holds: usize,
}

impl Disk {
    /// One that says how much room it has, and has it.
    pub fn new(room: Option<u64>) -> Self {
        Disk { bytes: Mutex::default(), room, holds: usize::MAX }
    }

    /// One that is full earlier than it says.
    pub fn that_holds(holds: usize) -> Self {
        Disk { holds, ..Disk::new(Some(1 << 40)) }
    }

    pub fn len(&self) -> usize {
        self.bytes.lock().unwrap().len()
    }

    pub fn resources(&self, memory: u64) -> Resources<'_> {
        Resources { memory, scratch: self, checkpoint: None }
    }
}

impl Scratch for Disk {
    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let (mut all, end) = (self.bytes.lock().unwrap(), at as usize + bytes.len());
        if end > self.holds {
            let source = io::ErrorKind::StorageFull.into();
            return Err(Error::Io { path: "scratch".into(), action: "cannot write", source });
        }
        if all.len() < end {
            all.resize(end, 0);
        }
        all[at as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&self.bytes.lock().unwrap()[at as usize..at as usize + bytes.len()]);
        Ok(())
    }

    fn room(&self) -> Option<u64> {
        self.room
    }
}

/// A checkpoint that outlives a fit, which may be killed at a save.
#[derive(Default)]
pub struct MemoryCheckpoint {
    pub saved: Mutex<HashMap<String, Vec<u8>>>,
    n_saves: AtomicUsize,
    /// The save in which the fit is killed.
    dies_at: Option<usize>,
}

impl MemoryCheckpoint {
    pub fn n_saves(&self) -> usize {
        self.n_saves.load(Ordering::Relaxed)
    }

    /// One whose fit is killed in its save of this number.
    pub fn that_dies_at(save: usize) -> MemoryCheckpoint {
        MemoryCheckpoint { dies_at: Some(save), ..MemoryCheckpoint::default() }
    }

    /// The same content, for a fit that lives on.
    pub fn revived(self) -> MemoryCheckpoint {
        MemoryCheckpoint { saved: self.saved, ..MemoryCheckpoint::default() }
    }
}

impl Checkpoint for MemoryCheckpoint {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.saved.lock().unwrap().get(name).cloned())
    }

    fn save(&self, name: &str, bytes: &[u8]) -> Result<()> {
        if self.dies_at == Some(self.n_saves.fetch_add(1, Ordering::Relaxed)) {
            return Err(Error::Io { path: name.into(), action: "killed", source: io::ErrorKind::Interrupted.into() });
        }
        self.saved.lock().unwrap().insert(name.into(), bytes.to_vec());
        Ok(())
    }
}
