//! Splits text into blocks of whole lines, in constant memory.

use std::io::{self, Read};

use memchr::memrchr;

/// Splits the input into blocks that end at line ends.
pub(crate) struct TextBlocks<R> {
    reader: R,
    buffer: Vec<u8>,
    block_bytes: usize,
    /// How many bytes of the buffer have been returned.
    consumed: usize,
}

impl<R: Read> TextBlocks<R> {
    /// Blocks of about `block_bytes`, more if a line is longer.
    pub fn new(reader: R, block_bytes: usize) -> TextBlocks<R> {
        TextBlocks { reader, buffer: Vec::with_capacity(block_bytes), block_bytes, consumed: 0 }
    }

    /// The next block, or `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.drain(..std::mem::take(&mut self.consumed));
        loop {
            let wanted = self.block_bytes - self.buffer.len();
            let has_ended = self.reader.by_ref().take(wanted as u64).read_to_end(&mut self.buffer)? < wanted;
            let last_end = memrchr(b'\n', &self.buffer).map(|end| end + 1);
            match last_end {
                _ if has_ended => self.consumed = self.buffer.len(),
                Some(end) => self.consumed = end,
                None => {
                    self.block_bytes = self.block_bytes.saturating_mul(2);
                    continue;
                }
            }
            return Ok((self.consumed > 0).then_some(&self.buffer[..self.consumed]));
        }
    }
}

/// Splits text into at most `n` pieces of similar size that end at line ends.
pub(crate) fn split_lines(text: &[u8], n: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(n);
    let mut rest = text;
    for left in (1..=n).rev() {
        let about = rest.len() / left;
        let cut = match memchr::memchr(b'\n', &rest[about..]) {
            Some(end) if left > 1 => about + end + 1,
            _ => rest.len(),
        };
        let (piece, after) = rest.split_at(cut);
        if !piece.is_empty() {
            pieces.push(piece);
        }
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &[u8], block_bytes: usize) -> Vec<Vec<u8>> {
        let mut blocks = TextBlocks::new(text, block_bytes);
        std::iter::from_fn(|| blocks.next().unwrap().map(<[u8]>::to_vec)).collect()
    }

    #[test]
    fn blocks_are_whole_lines_and_all_of_the_text() {
        let text = b"one\ntwo\n\na line longer than the block\nlast";
        for size in 1..60 {
            let blocks = cut(text, size);
            assert_eq!(blocks.concat(), text, "{size}");
            assert!(blocks[..blocks.len() - 1].iter().all(|block| block.ends_with(b"\n")), "{size}");
        }
        assert!(cut(b"", 8).is_empty());
    }

    #[test]
    fn pieces_are_whole_lines_and_all_of_the_text() {
        let text = b"one\ntwo\n\nthree\nlast";
        for n in 1..12 {
            let pieces = split_lines(text, n);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() <= n && pieces[..pieces.len() - 1].iter().all(|piece| piece.ends_with(b"\n")));
        }
    }
}
