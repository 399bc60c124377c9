//! The statistics of samples that may be requested from workers: one line each.

use super::thin_plate::{ColumnSumsOf, FirstSumsOf};
use crate::descriptor::LargestValues;
use crate::expansion::CountValues;
use crate::partition::{Entry, SampleRows};

/// The answers of workers for samples: a statistic is a file of its own and one line here.
pub const SAMPLE_QUERIES: &[Entry<SampleRows>] = &[
    Entry::of::<LargestValues>(),
    Entry::of::<CountValues>(),
    Entry::of::<ColumnSumsOf>(),
    Entry::of::<FirstSumsOf>(),
];
