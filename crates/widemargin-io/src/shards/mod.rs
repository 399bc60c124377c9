//! Folders of files read as one input: each file is a shard, all with one format and the same columns.
//!
//! Files are read in the natural order of their names, part-2 before part-10; names that start with `.` or `_` are
//! skipped, following the convention of the programs that write such folders. Empty text files are shards without
//! samples.

mod folder;
mod gather;
mod read;

pub(crate) use folder::{files, format_of};
pub(crate) use gather::Gathered;
pub(crate) use read::open;
