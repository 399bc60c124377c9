//! A checkpoint in a folder.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use widemargin::data::Checkpoint;
use widemargin::output::OutputFile;
use widemargin::{Error, Result};

use crate::scratch_file::refused;

/// A folder with one file per name, each written atomically.
#[derive(Clone, Debug)]
pub struct CheckpointFolder {
    folder: PathBuf,
}

impl CheckpointFolder {
    /// Opens the folder, creating it if it is missing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(folder: &Path) -> Result<CheckpointFolder> {
        let made = fs::create_dir_all(folder);
        made.map_err(|source| refused(folder, "cannot make the folder of checkpoints", source))?;
        Ok(CheckpointFolder { folder: folder.to_owned() })
    }

    /// The file of a name, which must be plain so that it cannot lead out of the folder.
    fn path(&self, name: &str) -> Result<PathBuf> {
        let mut parts = Path::new(name).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(only)), None) if only == name => Ok(self.folder.join(name)),
            _ => {
                let problem = format!("'{name}' is not a plain file name");
                let source = io::Error::new(io::ErrorKind::InvalidInput, problem);
                Err(refused(&self.folder, "cannot name a checkpoint", source))
            }
        }
    }
}

impl Checkpoint for CheckpointFolder {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path(name)?;
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(refused(&path, "cannot read the checkpoint", source)),
        }
    }

    fn save(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        let failed = |source| refused(&path, "cannot write the checkpoint", source);
        let write = || {
            let mut file = OutputFile::create(&path)?;
            file.write_all(bytes).map_err(failed)?;
            file.commit()
        };
        write().map_err(|error| match error {
            Error::Io { source, .. } => failed(source),
            other => other,
        })
    }
}
