//! CSV and TSV: one sample per line, one number per cell, and optionally a label.

mod columns;
mod header;
mod learn;
mod read;
mod records;
mod write;

pub(crate) use columns::{is_missing, number, text_of};
pub(crate) use header::{Header, LABEL_NAMES, is_one_of};
pub(crate) use learn::{is_worth_learning, learn};
pub(crate) use read::{Reader, label};
pub(crate) use records::Records;
pub(crate) use write::write;
