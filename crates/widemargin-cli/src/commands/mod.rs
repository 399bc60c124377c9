//! The subcommands, one file each.

pub mod completions;
pub mod convert;
pub mod cv;
pub mod demo;
pub mod evaluate;
pub mod explain;
pub mod inspect;
pub mod man;
pub mod predict;
pub mod report;
pub mod train;
pub mod transform;
