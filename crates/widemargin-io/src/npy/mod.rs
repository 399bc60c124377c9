//! NPY: one NumPy array, as `numpy.save` writes it; also the members of an NPZ archive.
//!
//! The format is read here rather than by a library: a header of three entries, then the numbers. What
//! matters is what a library does not promise: no memory is taken on the word of a header.

mod data;
mod dtype;
mod element;
mod header;
mod read;
mod write;

pub(crate) use data::{Exact, Values, expect_end, read_ints, read_texts, read_values};
pub(crate) use element::Element;
pub(crate) use header::Header;
pub(crate) use read::{Reader, dense, find_non_finite};
pub(crate) use write::{write, write_header, write_matrix};

use std::io;

use crate::problem::ArrayProblem;

/// Why an array was not read.
#[derive(Debug)]
pub(crate) enum Failure {
    System(io::Error),
    Problem(ArrayProblem),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::System(error)
    }
}

impl From<ArrayProblem> for Failure {
    fn from(problem: ArrayProblem) -> Self {
        Failure::Problem(problem)
    }
}
