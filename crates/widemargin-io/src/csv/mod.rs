//! CSV and TSV: one sample per line, one number per cell, and optionally a label.

mod columns;
mod read;
mod write;

pub(crate) use columns::{LABEL_NAMES, number};
#[cfg(feature = "parquet")]
pub(crate) use columns::{list, named_label};
pub(crate) use read::{Bytes, Reader, label, next_line};
pub(crate) use write::write;
