//! Element types of NumPy arrays.

use crate::error::Problem;

/// An element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub kind: Kind,
    /// Bytes per element.
    pub size: usize,
    /// Whether numbers are big-endian.
    pub big_endian: bool,
    /// As written in the header.
    spelling: String,
}

/// The kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Unicode text, four bytes per character.
    Unicode,
    /// Bytes.
    Bytes,
    /// Anything else.
    Other,
}

impl Dtype {
    /// Parses a type such as `<f8`. Unsupported types become [`Kind::Other`], so that the code that needs the numbers
    /// can report them by name.
    pub fn parse(spelling: &str) -> Dtype {
        let other = Dtype { kind: Kind::Other, size: 0, big_endian: false, spelling: spelling.to_owned() };
        let (order, rest) = match spelling.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), ..] => (*order, &spelling[1..]),
            _ => return other,
        };
        let big_endian = order == b'>' || (order == b'=' && cfg!(target_endian = "big"));
        let Some((code, size)) = rest.split_at_checked(1) else { return other };
        let Ok(count) = size.parse::<usize>() else { return other };
        let (kind, size) = match (code, count) {
            ("b", 1) => (Kind::Bool, Some(1)),
            ("i", 1 | 2 | 4 | 8) => (Kind::Signed, Some(count)),
            ("u", 1 | 2 | 4 | 8) => (Kind::Unsigned, Some(count)),
            ("f", 4 | 8) => (Kind::Float, Some(count)),
            ("U", _) => (Kind::Unicode, count.checked_mul(4)),
            ("S", _) => (Kind::Bytes, Some(count)),
            _ => return other,
        };
        size.map_or(other.clone(), |size| Dtype { kind, size, big_endian, ..other })
    }

    pub fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Unicode | Kind::Bytes)
    }

    /// True for `uint8`.
    pub fn is_byte(&self) -> bool {
        (self.kind, self.size) == (Kind::Unsigned, 1)
    }

    /// Bools count as the integers 0 and 1.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Bool | Kind::Signed | Kind::Unsigned)
    }

    pub fn is_float(&self) -> bool {
        self.kind == Kind::Float
    }

    /// The error for this type where others are expected.
    pub fn unexpected(&self, expected: &'static str) -> Problem {
        let name = match self.spelling.trim_start_matches(['<', '>', '|', '=']) {
            "f2" => "float16",
            "f12" | "f16" => "longdouble",
            "c8" | "c16" | "c32" => "complex",
            "O" => "object",
            text if text.starts_with('[') => "structured",
            text if text.starts_with(['M', 'm']) => "datetime",
            text if text.starts_with('U') => "text",
            text if text.starts_with('S') => "bytes",
            _ => "",
        };
        let spelling = crate::error::excerpt(&self.spelling);
        let found = if name.is_empty() { format!("'{spelling}'") } else { format!("'{spelling}' ({name})") };
        let problem = Problem::new(format!("dtype {found} is not read, expected {expected}"));
        problem.help("convert the array with .astype() before saving it")
    }

    /// Whether double precision represents all numbers of the type exactly.
    pub fn is_exact_in_double(&self) -> bool {
        self.is_float() || (self.is_integer() && self.size <= 4)
    }

    /// Appends the numbers in these bytes, rounded to single precision.
    pub fn append_singles(&self, bytes: &[u8], out: &mut Vec<f32>) {
        for_numbers!(self, bytes, numbers => out.extend(numbers.map(|number| number as f32)));
    }

    /// Appends the numbers in these bytes.
    pub fn append_doubles(&self, bytes: &[u8], out: &mut Vec<f64>) {
        for_numbers!(self, bytes, numbers => out.extend(numbers.map(|number| number as f64)));
    }
}

/// Evaluates an expression for the iterator of the numbers in some bytes, which may be of any type of numbers.
macro_rules! for_numbers {
    ($dtype:expr, $bytes:expr, $numbers:ident => $each:expr) => {{
        use $crate::npy::dtype::Kind;
        // The order of the bytes is looked at once.
        macro_rules! decode {
            ($t:ty) => {{
                let numbers = $bytes.as_chunks().0.iter();
                if $dtype.big_endian {
                    let $numbers = numbers.map(|bytes| <$t>::from_be_bytes(*bytes));
                    $each
                } else {
                    let $numbers = numbers.map(|bytes| <$t>::from_le_bytes(*bytes));
                    $each
                }
            }};
        }
        match ($dtype.kind, $dtype.size) {
            (Kind::Float, 4) => decode!(f32),
            (Kind::Float, _) => decode!(f64),
            (Kind::Signed, 1) => decode!(i8),
            (Kind::Signed, 2) => decode!(i16),
            (Kind::Signed, 4) => decode!(i32),
            (Kind::Signed, _) => decode!(i64),
            (Kind::Unsigned, 2) => decode!(u16),
            (Kind::Unsigned, 4) => decode!(u32),
            (Kind::Unsigned, 8) => decode!(u64),
            (Kind::Unsigned, _) => decode!(u8),
            _ => {
                let $numbers = $bytes.iter().map(|byte| u8::from(*byte != 0));
                $each
            }
        }
    }};
}
pub(super) use for_numbers;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_read() {
        for (spelling, kind, size, big_endian) in [
            ("<f8", Kind::Float, 8, false),
            (">f4", Kind::Float, 4, true),
            ("|u1", Kind::Unsigned, 1, false),
            ("|b1", Kind::Bool, 1, false),
            ("<i8", Kind::Signed, 8, false),
            ("<U3", Kind::Unicode, 12, false),
            ("|S3", Kind::Bytes, 3, false),
            ("<f2", Kind::Other, 0, false),
            ("", Kind::Other, 0, false),
            ("<", Kind::Other, 0, false),
            ("<é4", Kind::Other, 0, false),
            ("<U18446744073709551615", Kind::Other, 0, false),
        ] {
            let dtype = Dtype::parse(spelling);
            assert_eq!((dtype.kind, dtype.size, dtype.big_endian), (kind, size, big_endian), "{spelling}");
        }
        assert_eq!(
            Dtype::parse("<c16").unexpected("numbers").to_string(),
            "dtype '<c16' (complex) is not read, expected numbers"
        );
    }
}
