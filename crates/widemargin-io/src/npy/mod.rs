//! NPY: one NumPy array, as written by `numpy.save`; also the members of an NPZ archive.
//!
//! The format is parsed here rather than by a library, which would trust the header (decision 0024).

mod data;
mod dtype;
mod element;
mod header;
mod read;
mod write;

pub(crate) use data::{Exact, Values, expect_end, read_ints, read_labels, read_texts, read_values};
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
