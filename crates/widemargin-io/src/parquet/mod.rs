//! Parquet: columnar tables, as written by data frame libraries. Available with the feature `parquet`.
//!
//! Numeric and boolean (as 0 and 1) columns are features; rows are read in blocks, none of which spans two row groups.

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod file;
#[cfg(feature = "parquet")]
mod read;
#[cfg(feature = "parquet")]
mod values;

#[cfg(not(feature = "parquet"))]
pub(crate) use absent::Reader;
#[cfg(feature = "parquet")]
pub(crate) use read::Reader;
