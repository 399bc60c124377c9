//! Random access to elements of arrays, in single precision.

use super::data::numbers;
use super::dtype::{Dtype, Kind};

/// An element type whose values double precision represents exactly: numbers of up to 32 bits, and `f64`.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    dtype: Dtype,
}

impl Element {
    /// The type; `None` for strings, 64-bit integers, and unsupported types.
    pub fn of(dtype: &Dtype) -> Option<Element> {
        let known = match dtype.kind {
            Kind::Float | Kind::Bool => true,
            Kind::Signed | Kind::Unsigned => dtype.size <= 4,
            Kind::Unicode | Kind::Bytes | Kind::Other => false,
        };
        known.then(|| Element { dtype: dtype.clone() })
    }

    /// Bytes per element.
    pub fn size(&self) -> usize {
        self.dtype.size
    }

    /// Appends the elements in these bytes, rounded to single precision.
    pub fn append_singles(&self, bytes: &[u8], out: &mut Vec<f32>) {
        let big_endian = self.dtype.big_endian;
        match (self.dtype.kind, self.dtype.size) {
            (Kind::Float, 4) => out.extend(numbers(bytes, big_endian, f32::from_le_bytes, f32::from_be_bytes)),
            (Kind::Float, _) => {
                out.extend(
                    numbers(bytes, big_endian, f64::from_le_bytes, f64::from_be_bytes).map(|value| value as f32),
                );
            }
            _ => self.for_each(bytes, |value| out.push(value as f32)),
        }
    }

    /// The value of one element.
    pub fn number(&self, bytes: &[u8]) -> f64 {
        let mut number = 0.0;
        self.for_each(bytes, |value| number = value);
        number
    }

    pub fn for_each(&self, bytes: &[u8], mut visit: impl FnMut(f64)) {
        macro_rules! each {
            ($t:ty) => {
                numbers(bytes, self.dtype.big_endian, <$t>::from_le_bytes, <$t>::from_be_bytes)
                    .for_each(|value| visit(f64::from(value)))
            };
        }
        match (self.dtype.kind, self.dtype.size) {
            (Kind::Float, 4) => each!(f32),
            (Kind::Float, _) => each!(f64),
            (Kind::Signed, 1) => each!(i8),
            (Kind::Signed, 2) => each!(i16),
            (Kind::Signed, _) => each!(i32),
            (Kind::Unsigned, 1) => each!(u8),
            (Kind::Unsigned, 2) => each!(u16),
            (Kind::Unsigned, _) => each!(u32),
            _ => bytes.iter().for_each(|byte| visit(f64::from(u8::from(*byte != 0)))),
        }
    }
}
