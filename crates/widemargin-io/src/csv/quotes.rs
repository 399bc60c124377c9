//! Checks the quotes of a table while it is read: an unclosed one would silently make one cell of many lines.

use std::io::{self, Read};

use memchr::memchr2;

/// Text whose quotes are checked: [`Read::read`] fails with a [`BadQuote`] as its inner error.
pub(super) struct Checked<R> {
    inner: R,
    delimiter: u8,
    /// Whether cells may be quoted at all.
    quoting: bool,
    state: State,
    /// Lines before the current one.
    n_lines: usize,
    opened: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// At the start of a cell.
    Start,
    /// In a cell without quotes.
    Bare,
    Quoted,
    /// After a quote in a quoted cell: it ends the cell, or is the first of two.
    Quote,
}

/// A quoted cell that does not end where it should.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a quote that is not closed")]
pub(super) struct BadQuote {
    /// The line in which the cell begins, from 1.
    pub line: usize,
}

impl<R> Checked<R> {
    pub fn new(inner: R, delimiter: u8, quoting: bool) -> Self {
        Checked { inner, delimiter, quoting, state: State::Start, n_lines: 0, opened: 0 }
    }

    fn check(&mut self, text: &[u8]) -> Result<(), BadQuote> {
        let mut at = 0;
        while at < text.len() {
            // Long cells are skipped at once.
            let rest = &text[at..];
            at += match self.state {
                State::Bare => memchr2(self.delimiter, b'\n', rest).unwrap_or(rest.len()),
                State::Quoted => memchr2(b'"', b'\n', rest).unwrap_or(rest.len()),
                State::Start | State::Quote => 0,
            };
            let Some(&byte) = text.get(at) else { break };
            self.state = match self.state {
                State::Quoted if byte == b'"' => State::Quote,
                State::Quoted => State::Quoted,
                _ if byte == self.delimiter || byte == b'\n' => State::Start,
                State::Start if byte == b'"' => {
                    self.opened = self.n_lines + 1;
                    State::Quoted
                }
                State::Start | State::Bare => State::Bare,
                State::Quote if byte == b'"' => State::Quoted,
                // Blanks behind a cell, or text such as `"yes" he said`.
                State::Quote if matches!(byte, b' ' | b'\t' | b'\r') => State::Bare,
                State::Quote => return Err(BadQuote { line: self.opened }),
            };
            self.n_lines += usize::from(byte == b'\n');
            at += 1;
        }
        Ok(())
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        if !self.quoting {
            return Ok(n);
        }
        let found = match n {
            0 if self.state == State::Quoted && !buffer.is_empty() => Err(BadQuote { line: self.opened }),
            _ => self.check(&buffer[..n]),
        };
        found.map(|()| n).map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of the quote that is wrong, read in pieces of some bytes.
    fn wrong(text: &str, piece: usize) -> Option<usize> {
        let mut checked = Checked::new(text.as_bytes(), b',', true);
        let mut buffer = vec![0; piece];
        loop {
            match checked.read(&mut buffer) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(error.get_ref()?.downcast_ref::<BadQuote>()?.line),
            }
        }
    }

    #[test]
    fn finds_the_line_of_an_unclosed_quote() {
        for piece in [1, 2, 3, 7, 100] {
            for right in [
                "a,b\n1,\"x\"\n",
                "\"a\nb\",\"c,\"\"d\"\"\"\n1,2",
                "5\" pipe,x\n\"yes\" he said,1\n",
                "\"a\" ,\"b\"\r\n\"\",\"\"\r\n",
                "",
            ] {
                assert_eq!(wrong(right, piece), None, "{right:?}");
            }
            assert_eq!(wrong("a,b\n1,x\n2,\"y\n3,z\n", piece), Some(3));
            assert_eq!(wrong("\"a\nb\",c\n1,\"x\n2,\"y\"\n3,\"z\"\n", piece), Some(3));
            assert_eq!(wrong("a,\"b\n1,\"x\"\n", piece), Some(1));
        }
    }
}
