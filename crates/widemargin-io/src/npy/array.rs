//! Reads the elements of an array, with constant memory in addition to the result.

use std::io::{self, Read};

use widemargin::data::{Element, Label};

use super::dtype::{Dtype, Kind, for_numbers};
use super::header::Header;
use crate::error::{Failure, IMPUTE, Problem};

/// Bytes decoded at a time; a multiple of every element size.
const CHUNK: usize = 1 << 18;

/// Numbers for which memory is reserved before they are read.
const MAX_RESERVED: usize = 1 << 22;

/// The types accepted as numbers, for messages.
const NUMBERS: &str = "bool, int8 to int64, uint8 to uint64, float32 or float64";
const INTEGERS: &str = "int8 to int64 or uint8 to uint64";

/// Numbers in the smallest precision that represents all of them exactly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// An array whose elements are read in order.
#[derive(Debug)]
pub(crate) struct Array<R> {
    reader: R,
    pub header: Header,
    /// Bytes of the elements that have been read.
    done: u64,
}

impl<R: Read> Array<R> {
    /// Reads the header.
    pub fn open(mut reader: R) -> Result<Array<R>, Failure> {
        Ok(Array { header: Header::read(&mut reader)?, reader, done: 0 })
    }

    /// Reports a size in bytes, with the header, that is less than its claim.
    pub fn check_size(&self, size: u64) -> Result<(), Failure> {
        let found = size.saturating_sub(self.header.length);
        if found < self.header.n_bytes() { Err(self.truncated(found)) } else { Ok(()) }
    }

    /// Reports data after the claimed end; for an archive this also verifies its checksum.
    pub fn check_end(&mut self) -> Result<(), Failure> {
        match io::copy(&mut self.reader.by_ref().take(1), &mut io::sink())? {
            0 => Ok(()),
            _ => Err(self.trailing().into()),
        }
    }

    /// The problem of more data than claimed.
    pub fn trailing(&self) -> Problem {
        format!("more data than the {} bytes its header claims", self.header.n_bytes()).into()
    }

    fn truncated(&self, found: u64) -> Failure {
        let claimed = self.header.n_bytes();
        Problem::new(format!("truncated: the header claims {claimed} bytes of data, there are {found}")).into()
    }

    /// The length of a vector.
    fn length(&self) -> Result<usize, Failure> {
        match self.header.shape[..] {
            [n] => Ok(n),
            _ => Err(self.header.wrong_shape("one dimension").into()),
        }
    }

    /// A vector of numbers.
    pub fn vector(&mut self) -> Result<Values, Failure> {
        self.values(self.length()?)
    }

    /// The next `n` elements as samples.
    pub fn values(&mut self, n: usize) -> Result<Values, Failure> {
        // A wrong header does not reserve much.
        let room = n.min(MAX_RESERVED);
        let mut out = match self.header.dtype.size {
            8 if self.header.dtype.is_float() => Values::F64(Vec::with_capacity(room)),
            _ => Values::F32(Vec::with_capacity(room)),
        };
        self.for_chunks(n, NUMBERS, |dtype, chunk| {
            match &mut out {
                Values::F32(values) if dtype.is_float() => dtype.append_singles(chunk, values),
                Values::F64(values) if dtype.is_float() => dtype.append_doubles(chunk, values),
                _ => integers(dtype, chunk, NUMBERS)?.into_iter().try_for_each(|number| out.push(number))?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// A vector of integers; `expected` is the range of their type, for messages.
    pub fn ints<T: TryFrom<i128>>(&mut self, expected: &str) -> Result<Vec<T>, Failure> {
        let mut out = Vec::new();
        self.for_chunks(self.length()?, INTEGERS, |dtype, chunk| {
            for value in integers(dtype, chunk, INTEGERS)? {
                let out_of_range = |_| format!("{value} at position {}, expected {expected}", out.len());
                out.push(T::try_from(value).map_err(out_of_range)?);
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// A vector of labels: integers, floats (whole numbers become integers), or text.
    pub fn labels(&mut self) -> Result<Vec<Label>, Failure> {
        if let [n, 1] = self.header.shape[..] {
            self.header.shape = vec![n];
        }
        let n = self.length()?;
        match &self.header.dtype {
            dtype if dtype.is_text() => Ok(self.texts()?.iter().map(|text| Label::parse(text)).collect()),
            dtype if dtype.is_float() => Ok(match self.values(n)? {
                Values::F32(values) => labels_of(&values)?,
                Values::F64(values) => labels_of(&values)?,
            }),
            dtype if !dtype.is_integer() => Err(dtype.unexpected("integers, floats or text").into()),
            _ => Ok(self.ints("a 64-bit signed number")?.into_iter().map(Label::Integer).collect()),
        }
    }

    /// All elements as strings.
    pub fn texts(&mut self) -> Result<Vec<String>, Failure> {
        let mut out = Vec::new();
        let not_text = |at: usize| Problem::new(format!("the string at position {at} is not Unicode text"));
        self.for_chunks(self.header.n_elements(), "text", |dtype, chunk| {
            for element in chunk.chunks_exact(dtype.size) {
                let text = match dtype.kind {
                    Kind::Unicode => {
                        let number = if dtype.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
                        element.as_chunks().0.iter().map(|bytes| char::from_u32(number(*bytes))).collect()
                    }
                    Kind::Bytes => String::from_utf8(element.to_vec()).ok(),
                    _ => return Err(dtype.unexpected("text")),
                };
                let text = text.ok_or_else(|| not_text(out.len()))?;
                out.push(text.trim_end_matches('\0').to_owned());
            }
            Ok(())
        })?;
        // NumPy gives empty strings a size of 0.
        if self.header.dtype.size == 0 && self.header.dtype.is_text() {
            return Err(not_text(0).into());
        }
        Ok(out)
    }

    /// Passes on the bytes of the next `n` elements, in chunks of whole elements.
    fn for_chunks(
        &mut self,
        n: usize,
        expected: &'static str,
        mut take: impl FnMut(&Dtype, &[u8]) -> Result<(), Problem>,
    ) -> Result<(), Failure> {
        let size = self.header.dtype.size;
        if self.header.dtype.kind == Kind::Other {
            return Err(self.header.dtype.unexpected(expected).into());
        }
        let whole = (CHUNK / size.max(1)).max(1).saturating_mul(size) as u64;
        let end = self.done + n as u64 * size as u64;
        let mut buffer = Vec::new();
        while self.done < end {
            buffer.clear();
            let wanted = whole.min(end - self.done);
            // Grows with the data present, not with the size claimed by the header.
            let read = self.reader.by_ref().take(wanted).read_to_end(&mut buffer)? as u64;
            if read < wanted {
                return Err(self.truncated(self.done + read));
            }
            self.done += read;
            take(&self.header.dtype, &buffer)?;
        }
        Ok(())
    }
}

/// Numbers as labels, in the digits of their precision.
fn labels_of<T: Element + ToString>(values: &[T]) -> Result<Vec<Label>, Problem> {
    let label = |(row, value): (usize, &T)| match (*value).into() {
        number if number.is_finite() => Ok(Label::parse(&value.to_string())),
        number => Err(not_finite(row, 0, number)),
    };
    values.iter().enumerate().map(label).collect()
}

/// The problem of an infinite value or NaN. `row` and `column` count from 0, messages from 1.
pub(crate) fn not_finite(row: usize, column: usize, value: f64) -> Problem {
    Problem::new(format!("row {}, column {}: {value} is not a finite number", row + 1, column + 1)).help(IMPUTE)
}

impl Values {
    /// The numbers in double precision.
    pub fn into_doubles(self) -> Vec<f64> {
        match self {
            Values::F32(values) => values.into_iter().map(f64::from).collect(),
            Values::F64(values) => values,
        }
    }

    fn push(&mut self, number: i128) -> Result<(), Problem> {
        if let Values::F32(values) = self {
            // Most numbers are small, as pixels are, and conversions of 128 bits are slow.
            if let Ok(small) = i32::try_from(number)
                && small.unsigned_abs() <= 1 << f32::MANTISSA_DIGITS
            {
                values.push(small as f32);
                return Ok(());
            }
            if number as f32 as i128 == number {
                values.push(number as f32);
                return Ok(());
            }
            *self = Values::F64(Values::F32(std::mem::take(values)).into_doubles());
        }
        match self {
            Values::F64(values) if number as f64 as i128 == number => values.push(number as f64),
            _ => return Err(format!("{number} is too large to be exact in double precision").into()),
        }
        Ok(())
    }
}

/// The integers in some bytes.
fn integers(dtype: &Dtype, bytes: &[u8], expected: &'static str) -> Result<Vec<i128>, Problem> {
    if !dtype.is_integer() {
        return Err(dtype.unexpected(expected));
    }
    Ok(for_numbers!(dtype, bytes, numbers => numbers.map(|number| number as i128).collect()))
}
