//! NPY: one NumPy array, as written by `numpy.save`; also the members of an NPZ archive.
//!
//! The format is parsed here rather than by a library, which would trust the header (decision 0024).

mod array;
mod dtype;
mod header;
mod read;
mod write;

pub(crate) use array::{Array, Values, not_finite};
pub(crate) use dtype::Dtype;
pub(crate) use header::Header;
pub(crate) use read::{Reader, dense, drop_column};
pub(crate) use write::{write, write_header};
