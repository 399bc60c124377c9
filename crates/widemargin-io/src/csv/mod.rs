//! CSV and TSV: one sample per line, one number per cell, and optionally a label.
//!
//! The delimiter, the decimal mark and whether there is a header are determined from the start of the file unless the
//! options specify them.

mod cell;
mod columns;
mod delimiter;
mod first_line;
mod frame;
mod header;
mod number;
mod quotes;
mod read;
mod records;
mod roles;
mod statistics;
mod strings;
mod write;

pub(crate) use cell::label;
pub use frame::{FrameCells, FrameColumn, FrameProblem, encode_frame, learn_frame};
pub(crate) use header::Header;
pub(crate) use number::Numbers;
pub use number::number;
pub(crate) use read::{Reader, read_labels};
pub use statistics::median;
pub(crate) use strings::open_strings;
pub(crate) use write::write;
