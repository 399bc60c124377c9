//! Parquet: tables in columns, as data frames are written. Read where the crate is built with its feature `parquet`.
//!
//! Columns of numbers and truths (as 0 and 1) are features; rows come block by block, of which none is of two row groups.

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
