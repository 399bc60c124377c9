//! Where bytes come from: a file, or standard input.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Stdin};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{IoError, Result};

/// What some programs begin UTF-8 text with. It is no part of the text: every reader of text passes over it.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// An opened input.
#[derive(Debug)]
pub(crate) struct Input {
    /// What messages call it.
    pub file: PathBuf,
    /// How many bytes it holds, where that is known beforehand.
    pub length: Option<u64>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    File(File),
    /// Compressed by gzip, whatever its name.
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
    Stdin(Stdin),
}

/// What messages call the input at a path.
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
            return Ok(Input { file: shown(path), length: None, source: Source::Stdin(io::stdin()) });
        }
        let refused = |source| IoError::Read { file: path.to_owned(), action: "cannot open", source };
        let file = File::open(path).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        if metadata.is_dir() {
            return Err(refused(io::ErrorKind::IsADirectory.into()));
        }
        // Pipes and devices state a length of 0 and mean nothing by it.
        let length = metadata.is_file().then_some(metadata.len());
        let file = match length {
            Some(2..) => match ungzipped(file).map_err(refused)? {
                Ok(file) => file,
                Err(source) => return Ok(Input { file: path.to_owned(), length: None, source }),
            },
            _ => file,
        };
        Ok(Input { file: path.to_owned(), length, source: Source::File(file) })
    }

    /// The file itself, where it is a regular one and not compressed.
    #[cfg(feature = "parquet")]
    pub fn into_file(self) -> Option<File> {
        match self.source {
            Source::File(file) if self.length.is_some() => Some(file),
            _ => None,
        }
    }

    /// The input as something to jump about in; what is not a regular file is taken into memory for it.
    pub fn seekable(mut self) -> Result<Box<dyn ReadSeek>> {
        match self.source {
            Source::File(file) if self.length.is_some() => Ok(Box::new(io::BufReader::new(file))),
            _ => {
                let mut bytes = Vec::new();
                self.source.read_to_end(&mut bytes).map_err(IoError::reading(&self.file))?;
                Ok(Box::new(Cursor::new(bytes)))
            }
        }
    }
}

/// The file as it was, or its decompressed bytes where it begins as gzip does.
fn ungzipped(mut file: File) -> io::Result<Result<File, Source>> {
    let mut start = [0; 2];
    file.read_exact(&mut start)?;
    file.seek(SeekFrom::Start(0))?;
    if start != [0x1F, 0x8B] {
        return Ok(Ok(file));
    }
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file));
    Ok(Err(Source::Gzip(Box::new(decoder))))
}

/// What a zip archive needs.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(buffer),
            Source::Gzip(decoder) => decoder.read(buffer),
            Source::Stdin(stdin) => stdin.lock().read(buffer),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.read(buffer)
    }
}

/// Opens the input, and says of an empty file that it is empty, whatever its format.
pub(crate) fn open(path: &Path) -> Result<Input> {
    let input = Input::open(path)?;
    if input.length == Some(0) {
        return Err(IoError::Empty { file: input.file, what: "the file is empty" });
    }
    Ok(input)
}
