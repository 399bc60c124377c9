//! Parquet: columnar tables, as written by data frame libraries. Available with the feature `parquet`.
//!
//! Numeric and boolean (as 0 and 1) columns are features; rows are read in blocks within a row group.

mod columns;
mod file;
mod read;
mod values;

pub(crate) use read::Reader;
