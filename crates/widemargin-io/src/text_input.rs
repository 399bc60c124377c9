//! Text files as UTF-8 with line feeds, whatever their encoding and line ends.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::{IoError, Result};
use crate::input::{Input, open};

/// Bytes of text that are available before reading starts.
const AHEAD: usize = 64 << 10;

/// Bytes by which UTF-16 without a byte-order mark is recognized.
const SAMPLE: usize = 256;

/// The text of a file. Byte-order marks are skipped, UTF-16 is decoded, and where the start of the text has carriage
/// returns and no line feeds, carriage returns end lines.
#[derive(Debug)]
pub(crate) struct TextInput {
    /// Its name in messages.
    pub file: PathBuf,
    /// The number of bytes, if known in advance.
    pub length: Option<u64>,
    input: Input,
    decoder: Option<Box<Utf16>>,
    has_old_line_ends: bool,
    /// Text that has been read, and how much of it has been returned.
    ahead: Vec<u8>,
    at: usize,
    is_whole: bool,
}

/// The state of decoding UTF-16.
struct Utf16 {
    decoder: Decoder,
    raw: Vec<u8>,
    /// Whether the input has ended, and whether all of it is decoded, after which the decoder must not be used.
    has_ended: bool,
    is_finished: bool,
}

impl std::fmt::Debug for Utf16 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.decoder.encoding().name())
    }
}

/// Opens a text file, and reports an empty one as such.
pub(crate) fn open_text(path: &Path) -> Result<TextInput> {
    TextInput::new(open(path)?)
}

impl TextInput {
    pub fn new(mut input: Input) -> Result<TextInput> {
        let (file, mut length) = (input.file.clone(), input.length);
        let mut start = Vec::with_capacity(AHEAD);
        fill(&mut start, &mut input).map_err(IoError::reading(&file))?;
        let mut is_whole = start.len() < AHEAD;
        let decoder = match encoding(&start) {
            (encoding, skipped) if encoding == UTF_8 => {
                start.drain(..skipped);
                None
            }
            (encoding, _) => {
                length = None;
                let decoder = encoding.new_decoder_with_bom_removal();
                let raw = std::mem::take(&mut start);
                Some(Box::new(Utf16 { decoder, raw, has_ended: false, is_finished: false }))
            }
        };
        let mut text =
            TextInput { file, length, input, decoder, has_old_line_ends: false, ahead: start, at: 0, is_whole };
        if text.decoder.is_some() {
            let mut decoded = Vec::with_capacity(AHEAD);
            fill(&mut decoded, &mut text).map_err(IoError::reading(&text.file))?;
            // A character at the end may have been decoded in part.
            decoded.extend_from_slice(&text.ahead[text.at..]);
            is_whole = decoded.len() < AHEAD;
            (text.ahead, text.at, text.is_whole) = (decoded, 0, is_whole);
        }
        let has = |byte| memchr::memchr(byte, &text.ahead).is_some();
        if has(b'\r') && !has(b'\n') {
            text.has_old_line_ends = true;
            end_lines(&mut text.ahead);
        }
        Ok(text)
    }

    /// The start of the text that is still to be read: whole lines, unless the first line is longer.
    pub fn start(&self) -> &[u8] {
        let start = &self.ahead[self.at..];
        match memchr::memrchr(b'\n', start) {
            Some(end) if !self.is_whole => &start[..=end],
            _ => start,
        }
    }

    /// Skips bytes of the start of the text.
    pub fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

impl Read for TextInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at < self.ahead.len() {
            let n = buffer.len().min(self.ahead.len() - self.at);
            buffer[..n].copy_from_slice(&self.ahead[self.at..self.at + n]);
            self.at += n;
            return Ok(n);
        }
        let n = match &mut self.decoder {
            None => self.input.read(buffer)?,
            Some(utf16) => {
                // A character takes up to three bytes.
                if buffer.len() < 4 && !buffer.is_empty() {
                    self.ahead.resize(64, 0);
                    self.at = 0;
                    let n = utf16.read(&mut self.input, &mut self.ahead)?;
                    self.ahead.truncate(n);
                    if self.has_old_line_ends {
                        end_lines(&mut self.ahead);
                    }
                    return if n == 0 { Ok(0) } else { self.read(buffer) };
                }
                utf16.read(&mut self.input, buffer)?
            }
        };
        if self.has_old_line_ends {
            end_lines(&mut buffer[..n]);
        }
        Ok(n)
    }
}

impl Utf16 {
    /// Decodes the next text into a buffer of at least four bytes; 0 at the end.
    fn read(&mut self, input: &mut Input, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.is_finished {
            if self.raw.is_empty() && !self.has_ended {
                self.raw.resize(AHEAD, 0);
                let n = input.read(&mut self.raw)?;
                self.raw.truncate(n);
                self.has_ended = n == 0;
            }
            let (result, read, written, has_errors) = self.decoder.decode_to_utf8(&self.raw, buffer, self.has_ended);
            self.raw.drain(..read);
            self.is_finished = self.has_ended && result == CoderResult::InputEmpty;
            if has_errors {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the text is not UTF-16 throughout"));
            }
            if written > 0 || buffer.is_empty() {
                return Ok(written);
            }
        }
        Ok(0)
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

    fn text(bytes: &[u8]) -> Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, bytes).unwrap();
        let (mut text, mut all) = (open_text(&path)?, Vec::new());
        // Pieces of a few bytes, as some readers request.
        let mut piece = [0; 3];
        loop {
            match text.read(&mut piece).map_err(IoError::reading(&path))? {
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
            assert!(text(&le(&marked)[..9]).unwrap_err().to_string().contains("not UTF-16"));
        }
        assert_eq!(text(&"1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap(), b"1,2\n");
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        assert_eq!(text(b"a,b\r1,2\r").unwrap(), b"a,b\n1,2\n");
        assert_eq!(text(b"a,b\r\n1,2\r\n").unwrap(), b"a,b\r\n1,2\r\n");
        let long = "a,b\r".repeat(40_000);
        assert!(text(long.as_bytes()).unwrap() == long.replace('\r', "\n").as_bytes());
    }
}
