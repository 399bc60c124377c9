//! CSV and TSV: a sample a line, a number a cell, and perhaps a label.

mod columns;
mod read;
mod write;

pub(crate) use read::Reader;
pub(crate) use write::write;
