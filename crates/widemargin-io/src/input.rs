//! Input sources: a file, or standard input.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{IoError, Result};
use crate::problem::Problem;

/// An opened input.
pub(crate) struct Input {
    /// Its name in messages.
    pub file: PathBuf,
    /// The number of bytes, if known in advance.
    pub length: Option<u64>,
    source: Source,
}

enum Source {
    File(File),
    /// Standard input, or a file compressed by gzip, whatever its name.
    Stream(Box<dyn Read + Send>),
}

/// The name of the input at a path in messages.
pub(crate) fn shown(path: &Path) -> PathBuf {
    if is_stdin(path) { "standard input".into() } else { path.to_owned() }
}

/// True for the path that means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Input {
    /// Opens the file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Input> {
        if is_stdin(path) {
            return Ok(Input { file: shown(path), length: None, source: Source::Stream(Box::new(io::stdin())) });
        }
        let refused = |source| IoError::Read { file: path.to_owned(), action: "cannot open", source };
        let file = File::open(path).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        if metadata.is_dir() {
            return Err(refused(io::ErrorKind::IsADirectory.into()));
        }
        // Pipes and devices report a meaningless length of 0.
        let length = metadata.is_file().then_some(metadata.len());
        let has_header = length >= Some(2) && has_gzip_header(&file).map_err(refused)?;
        let (length, source) = match has_header {
            true => {
                let decoder = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file));
                (None, Source::Stream(Box::new(decoder)))
            }
            false => (length, Source::File(file)),
        };
        Ok(Input { file: path.to_owned(), length, source })
    }

    /// The file itself, if it is regular and not compressed.
    #[cfg(feature = "parquet")]
    pub fn into_file(self) -> Option<File> {
        match self.source {
            Source::File(file) if self.length.is_some() => Some(file),
            _ => None,
        }
    }

    /// The input as a seekable stream; anything but a regular file is read into memory.
    pub fn seekable(mut self) -> Result<Box<dyn ReadSeek>> {
        match self.source {
            Source::File(file) if self.length.is_some() => Ok(Box::new(BufReader::new(file))),
            _ => {
                let mut bytes = Vec::new();
                self.read_to_end(&mut bytes).map_err(IoError::reading(&self.file.clone()))?;
                Ok(Box::new(Cursor::new(bytes)))
            }
        }
    }
}

/// Whether a file begins as gzip files do.
fn has_gzip_header(mut file: &File) -> io::Result<bool> {
    let mut start = [0; 2];
    file.read_exact(&mut start)?;
    file.rewind()?;
    Ok(start == [0x1F, 0x8B])
}

/// The requirements of a zip archive.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::File(file) => file.read(buffer),
            Source::Stream(stream) => stream.read(buffer),
        }
    }
}

/// Opens the input, and reports an empty file as such, whatever its format.
pub(crate) fn open(path: &Path) -> Result<Input> {
    let input = Input::open(path)?;
    if input.length == Some(0) {
        return Err(Problem::new("the file is empty").of(&input.file));
    }
    Ok(input)
}
