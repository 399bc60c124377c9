//! Memory aligned such that vectors never straddle two cache lines.

const LINE_NUMBERS: usize = 16;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f32; LINE_NUMBERS]);

/// Single-precision numbers, aligned to a cache line.
#[derive(Clone, Debug)]
pub(crate) struct AlignedNumbers {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedNumbers {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        AlignedNumbers { lines: vec![Line([0.0; LINE_NUMBERS]); len.div_ceil(LINE_NUMBERS)], len }
    }

    pub fn numbers(&self) -> &[f32] {
        // SAFETY: a line is sixteen numbers without padding, and there are enough lines for `len` numbers.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }

    pub fn numbers_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
