//! Memory aligned such that vectors never straddle two cache lines.

use std::ops::Range;

const LINE_NUMBERS: usize = 16;

/// Single-precision numbers, aligned to a cache line.
#[derive(Debug)]
pub(crate) struct AlignedNumbers {
    /// The numbers, after up to a line less one.
    values: Vec<f32>,
    range: Range<usize>,
}

impl AlignedNumbers {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        let values = vec![0.0; len + LINE_NUMBERS - 1];
        let start = values.as_ptr().align_offset(LINE_NUMBERS * size_of::<f32>());
        AlignedNumbers { values, range: start..start + len }
    }

    pub fn numbers(&self) -> &[f32] {
        &self.values[self.range.clone()]
    }

    pub fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.values[self.range.clone()]
    }
}
