//! The header of an NPY array: a Python dictionary of `descr`, `fortran_order` and `shape`.

use std::io::{self, Read};

use super::dtype::Dtype;
use crate::error::{Failure, Problem, excerpt};

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
        let not_npy = "not an NPY array (it does not start with \\x93NUMPY)";
        read_or(reader, &mut start, not_npy)?;
        let [magic @ .., major, _minor] = start;
        if magic != *b"\x93NUMPY" {
            return Err(Problem::new(not_npy).into());
        }
        let damaged = |what: String| Problem::new(format!("damaged NPY header: {what}"));
        let mut length = [0; 4];
        let length_bytes = match major {
            1 => 2,
            2 | 3 => 4,
            _ => return Err(damaged(format!("version {major} is not known")).into()),
        };
        let too_short = "damaged NPY header: it ends too early";
        read_or(reader, &mut length[..length_bytes], too_short)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER {
            return Err(damaged(format!("it claims {length} bytes")).into());
        }
        let mut text = vec![0; length];
        read_or(reader, &mut text, too_short)?;
        // Versions 1 and 2 are Latin-1, version 3 is UTF-8; what is parsed is ASCII in all.
        let text = String::from_utf8_lossy(&text);
        let (dtype, fortran, shape) = parse(&text).ok_or_else(|| {
            damaged(format!("'{}' is not a dictionary of descr, fortran_order, shape", excerpt(&text)))
        })?;
        let header = Header { dtype, fortran, shape, length: (8 + length_bytes + length) as u64 };
        let n_bytes = header.shape.iter().try_fold(header.dtype.size.max(1), |n, size| n.checked_mul(*size));
        n_bytes.ok_or_else(|| header.wrong_shape("one that fits into memory"))?;
        Ok(header)
    }

    /// The number of elements.
    pub fn n_elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The total size of the elements in bytes.
    pub fn n_bytes(&self) -> u64 {
        (self.n_elements() * self.dtype.size) as u64
    }

    /// The dimensions of a matrix.
    pub fn matrix(&self) -> Result<(usize, usize), Problem> {
        match self.shape[..] {
            [0, _] => Err(self.wrong_shape("at least one sample")),
            [_, 0] => Err(self.wrong_shape("at least one feature")),
            [n_rows, n_cols] => Ok((n_rows, n_cols)),
            _ => Err(self.wrong_shape("two dimensions, samples × features")),
        }
    }

    pub fn wrong_shape(&self, expected: &str) -> Problem {
        let sizes: Vec<_> = self.shape.iter().take(8).map(usize::to_string).collect();
        let comma = if self.shape.len() == 1 { "," } else { "" };
        format!("shape ({}{comma}), expected {expected}", sizes.join(", ")).into()
    }
}

/// Fills the buffer, or reports `problem` if the file ends before.
fn read_or(reader: &mut impl Read, buffer: &mut [u8], problem: &str) -> Result<(), Failure> {
    reader.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Problem::new(problem).into(),
        _ => error.into(),
    })
}

/// The element type, whether the order is column-major, and the shape in the text of a header; `None` if it is damaged.
fn parse(text: &str) -> Option<(Dtype, bool, Vec<usize>)> {
    let descr = value_of(text, "descr")?;
    let dtype = match descr.chars().next()? {
        // The list of a structured type is only shown.
        '[' => &descr[..=descr.rfind(']')?],
        quote @ ('\'' | '"') => descr[1..].split_once(quote)?.0,
        _ => return None,
    };
    let order = value_of(text, "fortran_order")?;
    let is_fortran = order.starts_with("True");
    if !is_fortran && !order.starts_with("False") {
        return None;
    }
    let sizes = value_of(text, "shape")?.strip_prefix('(')?.split_once(')')?.0.trim_end();
    let sizes = sizes.strip_suffix(',').unwrap_or(sizes).split(',').filter(|_| !sizes.is_empty());
    let shape = sizes.map(|size| size.trim().parse().ok()).collect::<Option<_>>()?;
    Some((Dtype::parse(dtype), is_fortran, shape))
}

/// The text from the value of a key on, in a Python dictionary of literals.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let keys = [format!("'{key}'"), format!("\"{key}\"")];
    let (_, after) = keys.iter().find_map(|key| text.rsplit_once(key.as_str()))?;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}
