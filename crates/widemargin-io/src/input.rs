//! Input sources: a file, or standard input.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{Failure, IoError, Problem};

/// An opened input.
pub(crate) struct Input {
    /// The number of bytes, if known in advance.
    pub length: Option<u64>,
    source: Source,
}

enum Source {
    File(File),
    /// Standard input, a pipe, or a file compressed by gzip, whatever its name.
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

/// Opens the file, or standard input for `-`, and reports an empty file as such, whatever its format.
pub(crate) fn open(path: &Path) -> Result<Input, Failure> {
    if is_stdin(path) {
        return Input::of_stream(io::stdin());
    }
    let open = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok((file, metadata)) }
    };
    let (mut file, metadata) = open().map_err(IoError::refused(path, "cannot open"))?;
    // Pipes and devices report a meaningless length of 0, and cannot be rewound.
    if metadata.is_file() {
        if metadata.len() == 0 {
            return Err(Problem::new("the file is empty").into());
        }
        let (_, is_compressed) = begins_as_gzip(&mut file)?;
        file.rewind()?;
        if !is_compressed {
            return Ok(Input { length: Some(metadata.len()), source: Source::File(file) });
        }
    }
    Input::of_stream(file)
}

impl Input {
    /// A stream, decompressed if it begins as gzip does.
    fn of_stream(mut stream: impl Read + Send + 'static) -> Result<Input, Failure> {
        let (start, is_compressed) = begins_as_gzip(&mut stream)?;
        let stream = Cursor::new(start).chain(stream);
        let stream: Box<dyn Read + Send> = match is_compressed {
            true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, stream))),
            false => Box::new(stream),
        };
        Ok(Input { length: None, source: Source::Stream(stream) })
    }

    /// The file itself, if it is regular and not compressed.
    #[cfg(feature = "parquet")]
    pub fn into_file(self) -> Option<File> {
        match self.source {
            Source::File(file) => Some(file),
            Source::Stream(_) => None,
        }
    }

    /// The input as a seekable stream; anything but a regular file is read into memory.
    pub fn seekable(self) -> io::Result<Box<dyn ReadSeek>> {
        match self.source {
            Source::File(file) => Ok(Box::new(BufReader::new(file))),
            Source::Stream(mut stream) => {
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes)?;
                Ok(Box::new(Cursor::new(bytes)))
            }
        }
    }
}

/// The first two bytes of a stream, and whether gzip files begin with them.
fn begins_as_gzip(stream: &mut impl Read) -> io::Result<(Vec<u8>, bool)> {
    let mut start = Vec::new();
    stream.take(2).read_to_end(&mut start)?;
    let has_header = start == [0x1F, 0x8B];
    Ok((start, has_header))
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
