//! The subcommands, one file each.

pub mod choice;
pub mod completions;
pub mod convert;
pub mod cv;
pub mod demo;
pub mod evaluate;
pub mod evaluate_labels;
mod evaluate_numbers;
mod evaluate_one_class;
pub mod explain;
pub mod inspect;
pub mod man;
pub mod predict;
pub mod report;
pub mod spectrum;
pub mod train;
pub mod transform;
