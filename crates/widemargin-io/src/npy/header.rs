//! The header of an NPY array: a Python dictionary of `descr`, `fortran_order` and `shape`.

use std::io::{self, Read};

use super::Failure;
use super::dtype::Dtype;
use crate::problem::ArrayProblem;

/// The maximum length of a header; NumPy itself stops at 10,000.
const MAX_HEADER: usize = 1 << 20;

/// The header of an array.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub dtype: Dtype,
    /// Whether the array is in column-major order.
    pub fortran: bool,
    pub shape: Vec<usize>,
    /// Bytes before the data.
    pub length: u64,
}

impl Header {
    /// Reads the header, up to where the data starts.
    pub fn read(reader: &mut impl Read) -> Result<Header, Failure> {
        let mut start = [0; 8];
        read_or(reader, &mut start, ArrayProblem::NotNpy)?;
        let [magic @ .., major, _minor] = start;
        if magic != *b"\x93NUMPY" {
            return Err(ArrayProblem::NotNpy.into());
        }
        let damaged = |what: &str| ArrayProblem::Header(what.to_owned());
        let mut length = [0; 4];
        let length_bytes = match major {
            1 => 2,
            2 | 3 => 4,
            _ => return Err(damaged(&format!("version {major} is not known")).into()),
        };
        read_or(reader, &mut length[..length_bytes], damaged("it ends too early"))?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER {
            return Err(damaged(&format!("it claims {length} bytes")).into());
        }
        let mut text = vec![0; length];
        read_or(reader, &mut text, damaged("it ends too early"))?;
        // Versions 1 and 2 are Latin-1, version 3 is UTF-8; what is parsed is ASCII in all.
        let text = String::from_utf8_lossy(&text);
        let (dtype, fortran, shape) = Dictionary { rest: &text }.read().ok_or_else(|| {
            damaged(&format!("'{}' is not a dictionary of descr, fortran_order, shape", crate::problem::excerpt(&text)))
        })?;
        Ok(Header { dtype, fortran, shape, length: (8 + length_bytes + length) as u64 })
    }

    /// The number of elements.
    pub fn n_elements(&self) -> Result<usize, ArrayProblem> {
        let n = self.shape.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
        n.ok_or_else(|| self.wrong_shape("one that fits into memory"))
    }

    /// The total size of the elements in bytes.
    pub fn n_bytes(&self) -> Result<u64, ArrayProblem> {
        let n = self.n_elements()?.checked_mul(self.dtype.size);
        n.map(|n| n as u64).ok_or_else(|| self.wrong_shape("one that fits into memory"))
    }

    /// The dimensions of a matrix.
    pub fn matrix(&self) -> Result<(usize, usize), ArrayProblem> {
        match self.shape[..] {
            [0, _] => Err(self.wrong_shape("at least one sample")),
            [_, 0] => Err(self.wrong_shape("at least one feature")),
            [n_rows, n_cols] => Ok((n_rows, n_cols)),
            _ => Err(self.wrong_shape("two dimensions, samples × features")),
        }
    }

    pub fn wrong_shape(&self, expected: impl Into<String>) -> ArrayProblem {
        let sizes: Vec<_> = self.shape.iter().take(8).map(usize::to_string).collect();
        let comma = if self.shape.len() == 1 { "," } else { "" };
        ArrayProblem::Shape { found: format!("({}{comma})", sizes.join(", ")), expected: expected.into() }
    }
}

/// Fills the buffer, or reports `problem` if the file ends before.
fn read_or(reader: &mut impl Read, buffer: &mut [u8], problem: ArrayProblem) -> Result<(), Failure> {
    reader.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Failure::Problem(problem),
        _ => Failure::System(error),
    })
}

/// The subset of Python syntax used in headers.
#[derive(Debug)]
struct Dictionary<'a> {
    rest: &'a str,
}

impl<'a> Dictionary<'a> {
    fn read(mut self) -> Option<(Dtype, bool, Vec<usize>)> {
        let (mut dtype, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while self.expect('}').is_none() {
            let key = self.string()?;
            self.expect(':')?;
            match key {
                "descr" => dtype = Some(self.descr()?),
                "fortran_order" => fortran = Some(self.truth()?),
                "shape" => shape = Some(self.shape()?),
                _ => return None,
            }
            // The comma after the last entry is customary, not required.
            if self.expect(',').is_none() {
                self.expect('}')?;
                break;
            }
        }
        Some((dtype?, fortran?, shape?))
    }

    fn expect(&mut self, character: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(character)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (text, rest) = rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    /// A type name, or the list of a structured type, as text for the message.
    fn descr(&mut self) -> Option<Dtype> {
        if self.rest.trim_start().starts_with('[') {
            let text = self.rest.trim_start();
            let mut depth = 0usize;
            let end = text.find(|c| {
                depth = match c {
                    '[' => depth + 1,
                    ']' => depth.saturating_sub(1),
                    _ => depth,
                };
                depth == 0
            })?;
            self.rest = &text[end + 1..];
            return Some(Dtype::parse(&text[..=end]));
        }
        self.string().map(Dtype::parse)
    }

    fn truth(&mut self) -> Option<bool> {
        let rest = self.rest.trim_start();
        let (truth, rest) = match rest.strip_prefix("True") {
            Some(rest) => (true, rest),
            None => (false, rest.strip_prefix("False")?),
        };
        self.rest = rest;
        Some(truth)
    }

    fn shape(&mut self) -> Option<Vec<usize>> {
        self.expect('(')?;
        let (sizes, rest) = self.rest.split_once(')')?;
        self.rest = rest;
        let sizes = sizes.trim();
        if sizes.is_empty() {
            return Some(Vec::new());
        }
        let sizes = sizes.strip_suffix(',').unwrap_or(sizes);
        sizes.split(',').map(|size| size.trim().parse().ok()).collect()
    }
}
