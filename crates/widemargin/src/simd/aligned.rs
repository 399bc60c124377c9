//! Memory whose vectors never straddle two lines of the cache.

const WORDS_A_LINE: usize = 16;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u32; WORDS_A_LINE]);

/// Words of 32 bits from the start of a cache line on: numbers in single precision, or pairs of shorter ones.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    lines: Vec<Line>,
    len: usize,
}

impl Words {
    /// `len` words, all bits 0.
    pub fn zeros(len: usize) -> Self {
        Words { lines: vec![Line([0; WORDS_A_LINE]); len.div_ceil(WORDS_A_LINE)], len }
    }

    pub fn words_mut(&mut self) -> &mut [u32] {
        // SAFETY: a line is sixteen words without gaps, and there are lines for `len` words.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }

    pub fn numbers(&self) -> &[f32] {
        // SAFETY: as in `words_mut`; any 32 bits are an f32.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }

    pub fn numbers_mut(&mut self) -> &mut [f32] {
        // SAFETY: as in `words_mut`; any 32 bits are an f32.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
