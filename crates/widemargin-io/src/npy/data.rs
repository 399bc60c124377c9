//! Reads the elements of an array, with constant memory in addition to the result.

use std::io::{self, Read};

use widemargin::data::Label;

use super::Failure;
use super::dtype::{Dtype, Kind};
use crate::problem::ArrayProblem;

/// Bytes decoded at a time; a multiple of every element size.
const CHUNK: usize = 1 << 18;

/// The types accepted as numbers, for messages.
const NUMBERS: &str = "bool, int8 to int64, uint8 to uint64, float32 or float64";
const INTEGERS: &str = "int8 to int64 or uint8 to uint64";

/// Numbers in the smallest precision that represents all of them exactly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// An integer type with range checks.
pub(crate) trait Exact: Copy + TryFrom<i128> {
    /// The accepted range, for messages.
    const EXPECTED: &'static str;
}
impl Exact for u32 {
    const EXPECTED: &'static str = "0 to 4294967295";
}
impl Exact for usize {
    const EXPECTED: &'static str = "at least 0";
}
impl Exact for i64 {
    const EXPECTED: &'static str = "a 64-bit signed number";
}

/// The next `n` elements as samples.
pub(crate) fn read_values(reader: &mut dyn Read, dtype: &Dtype, n: usize) -> Result<Values, Failure> {
    if dtype.kind == Kind::Float && dtype.size == 8 {
        let mut out = Vec::new();
        for_chunks(reader, dtype, n, NUMBERS, |chunk| {
            out.extend(numbers(chunk, dtype.big_endian, f64::from_le_bytes, f64::from_be_bytes));
            Ok(())
        })?;
        return Ok(Values::F64(out));
    }
    let mut out = Values::F32(Vec::new());
    for_chunks(reader, dtype, n, NUMBERS, |chunk| match (&mut out, dtype.kind) {
        (Values::F32(values), Kind::Float) => {
            values.extend(numbers(chunk, dtype.big_endian, f32::from_le_bytes, f32::from_be_bytes));
            Ok(())
        }
        _ => for_ints(chunk, dtype, NUMBERS, |number| out.push(number)),
    })?;
    Ok(out)
}

/// The next `n` elements as integers.
pub(crate) fn read_ints<T: Exact>(reader: &mut dyn Read, dtype: &Dtype, n: usize) -> Result<Vec<T>, Failure> {
    let mut out = Vec::new();
    for_chunks(reader, dtype, n, INTEGERS, |chunk| {
        for_ints(chunk, dtype, INTEGERS, |value| {
            let out_of_range =
                |_| ArrayProblem::OutOfRange { value, position: out.len(), expected: T::EXPECTED.into() };
            out.push(T::try_from(value).map_err(out_of_range)?);
            Ok(())
        })
    })?;
    Ok(out)
}

/// The next `n` elements as labels: integers, floats (whole numbers become integers), or text.
pub(crate) fn read_labels(reader: &mut dyn Read, dtype: &Dtype, n: usize) -> Result<Vec<Label>, Failure> {
    let of_number = |(row, number): (usize, f64)| {
        let problem = ArrayProblem::NotFinite { row, column: 0, value: number };
        Some(Label::parse(&number.to_string())).filter(|_| number.is_finite()).ok_or_else(|| problem.into())
    };
    match () {
        () if dtype.is_text() => Ok(read_texts(reader, dtype, n)?.iter().map(|text| Label::parse(text)).collect()),
        () if dtype.is_float() => match read_values(reader, dtype, n)? {
            Values::F32(values) => {
                // In the digits of single precision.
                let text = |value: &f32| value.to_string().parse().unwrap_or(f64::from(*value));
                values.iter().map(text).enumerate().map(of_number).collect()
            }
            Values::F64(values) => values.into_iter().enumerate().map(of_number).collect(),
        },
        () if !dtype.is_integer() => Err(dtype.unexpected("integers, floats or text").into()),
        () => Ok(read_ints::<i64>(reader, dtype, n)?.into_iter().map(Label::Integer).collect()),
    }
}

/// The next `n` elements as strings.
pub(crate) fn read_texts(reader: &mut dyn Read, dtype: &Dtype, n: usize) -> Result<Vec<String>, Failure> {
    let mut out = Vec::new();
    for_chunks(reader, dtype, n, "text", |chunk| {
        for element in chunk.chunks_exact(dtype.size) {
            let text = match dtype.kind {
                Kind::Unicode => numbers(element, dtype.big_endian, u32::from_le_bytes, u32::from_be_bytes)
                    .map(char::from_u32)
                    .collect::<Option<String>>(),
                Kind::Bytes => String::from_utf8(element.to_vec()).ok(),
                _ => return Err(dtype.unexpected("text")),
            };
            let text = text.ok_or(ArrayProblem::NotText(out.len()))?;
            out.push(text.trim_end_matches('\0').to_owned());
        }
        Ok(())
    })?;
    // NumPy gives empty strings a size of 0.
    if dtype.size == 0 && matches!(dtype.kind, Kind::Unicode | Kind::Bytes) {
        return Err(ArrayProblem::NotText(0).into());
    }
    Ok(out)
}

impl Values {
    fn push(&mut self, number: i128) -> Result<(), ArrayProblem> {
        if let Values::F32(values) = self {
            if number as f32 as i128 == number {
                values.push(number as f32);
                return Ok(());
            }
            *self = Values::F64(values.iter().map(|value| f64::from(*value)).collect());
        }
        match self {
            Values::F64(values) if number as f64 as i128 == number => values.push(number as f64),
            _ => return Err(ArrayProblem::Inexact(number)),
        }
        Ok(())
    }
}

/// Passes on the bytes of the next `n` elements, in chunks of whole elements.
fn for_chunks(
    reader: &mut dyn Read,
    dtype: &Dtype,
    n: usize,
    expected: &'static str,
    mut take: impl FnMut(&[u8]) -> Result<(), ArrayProblem>,
) -> Result<(), Failure> {
    if dtype.kind == Kind::Other {
        return Err(dtype.unexpected(expected).into());
    }
    let claimed = n as u64 * dtype.size as u64;
    let whole = (CHUNK / dtype.size.max(1)).max(1).saturating_mul(dtype.size) as u64;
    let mut buffer = Vec::new();
    let mut done = 0;
    while done < claimed {
        buffer.clear();
        // Grows with the data present, not with the size claimed by the header.
        let read = reader.take(whole.min(claimed - done)).read_to_end(&mut buffer)? as u64;
        if read < whole.min(claimed - done) {
            return Err(ArrayProblem::Truncated { claimed, found: done + read }.into());
        }
        done += read;
        take(&buffer)?;
    }
    Ok(())
}

/// Reports data after the claimed end; for an archive this also verifies its checksum.
pub(crate) fn expect_end(reader: &mut dyn Read, claimed: u64) -> Result<(), Failure> {
    let mut one = [0];
    loop {
        match reader.read(&mut one) {
            Ok(0) => return Ok(()),
            Ok(_) => return Err(ArrayProblem::Trailing { claimed }.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn numbers<const N: usize, T>(
    bytes: &[u8],
    big_endian: bool,
    little: impl Fn([u8; N]) -> T,
    big: impl Fn([u8; N]) -> T,
) -> impl Iterator<Item = T> {
    bytes.as_chunks::<N>().0.iter().map(move |bytes| if big_endian { big(*bytes) } else { little(*bytes) })
}

fn for_ints(
    bytes: &[u8],
    dtype: &Dtype,
    expected: &'static str,
    mut visit: impl FnMut(i128) -> Result<(), ArrayProblem>,
) -> Result<(), ArrayProblem> {
    macro_rules! each {
        ($t:ty) => {
            numbers(bytes, dtype.big_endian, <$t>::from_le_bytes, <$t>::from_be_bytes).try_for_each(|n| visit(n.into()))
        };
    }
    match (dtype.kind, dtype.size) {
        (Kind::Bool, _) => bytes.iter().try_for_each(|byte| visit(i128::from(*byte != 0))),
        (Kind::Signed, 1) => each!(i8),
        (Kind::Signed, 2) => each!(i16),
        (Kind::Signed, 4) => each!(i32),
        (Kind::Signed, _) => each!(i64),
        (Kind::Unsigned, 1) => each!(u8),
        (Kind::Unsigned, 2) => each!(u16),
        (Kind::Unsigned, 4) => each!(u32),
        (Kind::Unsigned, _) => each!(u64),
        _ => Err(dtype.unexpected(expected)),
    }
}
