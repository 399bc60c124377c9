//! Text files as UTF-8 with line feeds, whatever their encoding and line ends.

use std::io::{self, Cursor, Read};
use std::path::Path;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::Failure;
use crate::input::open;

/// Bytes of text that are available before reading starts.
pub(crate) const AHEAD: usize = 64 << 10;

/// Bytes by which UTF-16 without a byte-order mark is recognized.
const SAMPLE: usize = 256;

/// The maximum length of a line by default: a file without line ends must not fill the memory.
pub(crate) const MAX_LINE: usize = 1 << 30;

/// The text of a file. Byte-order marks are skipped, UTF-16 is decoded, and where the start of the text has carriage
/// returns and no line feeds, carriage returns end lines.
pub(crate) struct TextInput {
    /// The start of the text, and whether it is the whole text.
    start: Cursor<Vec<u8>>,
    is_whole: bool,
    rest: Box<dyn Read + Send>,
    has_old_line_ends: bool,
    /// The bytes of the last line that have been read, and the maximum length of a line.
    line: usize,
    max_line: usize,
}

impl TextInput {
    /// Opens a text file with lines of at most `max_line` bytes, and reports an empty one as such.
    pub fn open(path: &Path, max_line: usize) -> Result<TextInput, Failure> {
        let (mut input, mut start) = (open(path)?, Vec::with_capacity(AHEAD));
        fill(&mut start, &mut input)?;
        let mut rest: Box<dyn Read + Send> = match encoding(&start) {
            (encoding, skipped) if encoding == UTF_8 => {
                start.drain(..skipped);
                Box::new(input)
            }
            (encoding, _) => {
                let input = Cursor::new(std::mem::take(&mut start)).chain(input);
                let decoder = encoding.new_decoder_with_bom_removal();
                Box::new(Utf16 { input, decoder, text: Cursor::default(), has_ended: false })
            }
        };
        fill(&mut start, &mut rest)?;
        let has = |byte| memchr::memchr(byte, &start).is_some();
        let has_old_line_ends = has(b'\r') && !has(b'\n');
        if has_old_line_ends {
            end_lines(&mut start);
        }
        let is_whole = start.len() < AHEAD;
        Ok(TextInput { start: Cursor::new(start), is_whole, rest, has_old_line_ends, line: 0, max_line })
    }

    /// The start of the text: whole lines, unless the first line is longer.
    pub fn start(&self) -> &[u8] {
        let start = self.start.get_ref();
        match memchr::memrchr(b'\n', start) {
            Some(end) if !self.is_whole => &start[..=end],
            _ => start,
        }
    }
}

impl Read for TextInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n = self.start.read(buffer)?;
        if n == 0 {
            n = self.rest.read(buffer)?;
            if self.has_old_line_ends {
                end_lines(&mut buffer[..n]);
            }
        }
        self.line = memchr::memrchr(b'\n', &buffer[..n]).map_or(self.line + n, |end| n - end - 1);
        if self.line > self.max_line {
            let problem = format!("a line is longer than {} bytes", self.max_line);
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(n)
    }
}

/// UTF-16 as UTF-8.
struct Utf16<R> {
    input: R,
    decoder: Decoder,
    /// Text that is decoded.
    text: Cursor<Vec<u8>>,
    has_ended: bool,
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.text.read(buffer)?;
            if n > 0 || buffer.is_empty() || self.has_ended {
                return Ok(n);
            }
            let mut raw = vec![0; AHEAD];
            let n = self.input.read(&mut raw)?;
            self.has_ended = n == 0;
            let mut text = String::with_capacity(self.decoder.max_utf8_buffer_length(n).unwrap_or(0));
            let (_, _, has_errors) = self.decoder.decode_to_string(&raw[..n], &mut text, self.has_ended);
            if has_errors {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the text is not UTF-16 throughout"));
            }
            self.text = Cursor::new(text.into_bytes());
        }
    }
}

/// The encoding of a text by its first bytes, and the length of the byte-order mark.
fn encoding(start: &[u8]) -> (&'static Encoding, usize) {
    if let Some(found) = Encoding::for_bom(start) {
        return found;
    }
    // ASCII in UTF-16 has a zero in every other byte.
    let pairs = start[..start.len().min(SAMPLE)].chunks_exact(2);
    let all = |which: fn(&[u8]) -> bool| pairs.len() > 1 && pairs.clone().all(which);
    match () {
        () if all(|pair| pair[0] != 0 && pair[1] == 0) => (UTF_16LE, 0),
        () if all(|pair| pair[0] == 0 && pair[1] != 0) => (UTF_16BE, 0),
        () => (UTF_8, 0),
    }
}

/// Reads until the buffer has its capacity, or to the end.
fn fill(buffer: &mut Vec<u8>, input: &mut impl Read) -> io::Result<()> {
    input.take((AHEAD - buffer.len()) as u64).read_to_end(buffer).map(drop)
}

/// Turns carriage returns into line feeds.
fn end_lines(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, bytes).unwrap();
        let (mut text, mut all) = (TextInput::open(&path, MAX_LINE)?, Vec::new());
        // Pieces of a few bytes, as some readers request.
        let mut piece = [0; 3];
        loop {
            match text.read(&mut piece)? {
                0 => return Ok(all),
                n => all.extend(&piece[..n]),
            }
        }
    }

    #[test]
    fn reads_every_encoding_with_a_byte_order_mark_as_utf_8() {
        let long = "größe,名,label\n".repeat(9000);
        for expected in ["a,größe,😀\n1,2,x\n", &long] {
            let le = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
            let be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
            let marked = format!("\u{feff}{expected}");
            for bytes in [expected.as_bytes(), marked.as_bytes(), &le(&marked), &be(&marked)] {
                assert!(text(bytes).unwrap() == expected.as_bytes());
            }
            let error = text(&le(&marked)[..9]).unwrap_err().reading(Path::new("text"));
            assert!(error.to_string().contains("not UTF-16"));
        }
        assert_eq!(text(&"1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap(), b"1,2\n");
    }

    #[test]
    fn long_lines_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let read = |text: &str, max_line| {
            std::fs::write(&path, text).unwrap();
            TextInput::open(&path, max_line).unwrap().read_to_end(&mut Vec::new()).map_err(|error| error.to_string())
        };
        let text = "1,2,3\n".repeat(50_000) + &"4".repeat(300_000);
        assert_eq!(read(&text, 300_000), Ok(600_000));
        assert_eq!(read(&text, 299_999), Err("a line is longer than 299999 bytes".to_owned()));
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        assert_eq!(text(b"a,b\r1,2\r").unwrap(), b"a,b\n1,2\n");
        assert_eq!(text(b"a,b\r\n1,2\r\n").unwrap(), b"a,b\r\n1,2\r\n");
        let long = "a,b\r".repeat(40_000);
        assert!(text(long.as_bytes()).unwrap() == long.replace('\r', "\n").as_bytes());
    }
}
