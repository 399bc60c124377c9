//! Folders of files that are one input: each file a shard, all of one format and with the same columns.
//!
//! The files come in the natural order of their names, part-2 before part-10; those whose names start with `.` or `_` are
//! passed over, as the programs that write such folders mean it. Text files without a byte are shards without samples.

mod folder;
mod gather;
mod layout;
mod read;

pub(crate) use folder::{files, format_of};
pub(crate) use gather::{Gathered, GatheredLabels, append_places};
pub(crate) use layout::Layout;
pub(crate) use read::Reader;
