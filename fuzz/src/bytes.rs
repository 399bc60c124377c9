//! Choices and numbers from the bytes of an input.

/// The bytes that were not used yet. Choices of an input that has ended are 0, so that every input is complete.
pub struct Bytes<'a>(pub &'a [u8]);

/// Numbers at which arithmetic changes its ways.
const SPECIAL: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 0.5, 1e-12, 1e12, 1e-300, 1e300, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE];

impl<'a> Bytes<'a> {
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    /// A number: most are small multiples of 1/8, some are special.
    pub fn number(&mut self) -> f64 {
        match self.byte() {
            255 => self.one_of(&SPECIAL),
            byte => f64::from(i16::from(byte) - 127) / 8.0,
        }
    }

    /// A number that is finite and not large.
    pub fn small(&mut self) -> f64 {
        (f64::from(self.byte()) - 128.0) / 16.0
    }

    /// All bytes that are left.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}
