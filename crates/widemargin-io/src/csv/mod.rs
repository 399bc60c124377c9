//! CSV and TSV: a sample a line, a number a cell, and perhaps a label.

mod columns;
mod read;
mod write;

pub(crate) use columns::{LABEL_NAMES, number};
#[cfg(feature = "parquet")]
pub(crate) use columns::{list, named_label};
pub(crate) use read::{Bytes, Reader, label, next_line};
pub(crate) use write::write;
