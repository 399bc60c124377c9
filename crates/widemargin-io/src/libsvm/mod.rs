//! LIBSVM text: `label index:value index:value …`, one sample per line.
//!
//! `#` starts a comment, blank lines are skipped, lines end in LF or CRLF. A label is any word without
//! `:` and `#`; indices start at 1 and ascend; stored zeros are dropped.

mod number;
mod parse;
mod read;
mod start;
mod text;
mod write;

pub(crate) use read::Reader;
pub(crate) use write::write;
