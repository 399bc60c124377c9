//! Numbering of distinct values in order of first occurrence.

use rustc_hash::FxHashMap;

/// log₂ of the size of [`ValueCodes::recent`]: 32 KiB, the size of a first-level cache.
const RECENT_BITS: u32 = 12;

/// Marks an empty slot: the bits of a NaN, which never occurs as a value. (0 would be mistaken for the value 0.)
const NONE: u32 = u32::MAX;

/// Codes 0, 1, 2, … of distinct finite values.
pub(crate) struct ValueCodes {
    /// The last (bits, code) pair of each slot, a cache in front of the map with a very high hit rate.
    recent: Vec<(u32, u32)>,
    codes: FxHashMap<u32, u32>,
}

impl ValueCodes {
    pub fn new() -> Self {
        ValueCodes { recent: vec![(NONE, 0); 1 << RECENT_BITS], codes: FxHashMap::default() }
    }

    /// Number of values with a code.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// The code of a value, if it has one.
    #[inline]
    pub fn get(&mut self, value: f32) -> Option<u32> {
        let bits = value.to_bits();
        let place = (bits.wrapping_mul(0x9e37_79b1) >> (u32::BITS - RECENT_BITS)) as usize;
        if self.recent[place].0 == bits {
            return Some(self.recent[place].1);
        }
        let code = *self.codes.get(&bits)?;
        self.recent[place] = (bits, code);
        Some(code)
    }

    /// Assigns the next code to a new value.
    pub fn insert(&mut self, value: f32) -> u32 {
        let code = self.codes.len() as u32;
        self.codes.insert(value.to_bits(), code);
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_map() {
        let mut codes = ValueCodes::new();
        let mut truth = std::collections::HashMap::new();
        // More values than places, each met several times.
        for i in 0..40_000u32 {
            let value = ((i * 7919) % 9001 + 1) as f32 / 3.0;
            let next = truth.len() as u32;
            let expected = *truth.entry(value.to_bits()).or_insert(next);
            let code = codes.get(value).unwrap_or_else(|| codes.insert(value));
            assert_eq!(code, expected);
        }
        assert_eq!(codes.len(), 9001);
    }

    #[test]
    fn zero_has_no_code_before_its_insertion() {
        let mut codes = ValueCodes::new();
        assert_eq!(codes.get(0.0), None);
        codes.insert(0.5);
        assert_eq!(codes.get(0.0), None);
    }
}
