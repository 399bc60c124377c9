//! Tuned constants: numbers by which files are interpreted, and the share of memory that is used.

// Tables

/// Lines that are read to recognize a delimiter.
pub(crate) const DELIMITER_LINES: usize = 200;
/// Share of lines with the same number of cells that makes a table.
pub(crate) const MIN_EVEN_LINES: f64 = 0.9;
/// Lines that are read to recognize the types of columns.
pub(crate) const TYPE_LINES: usize = 1000;
/// Probability that a sample looks like the first line below which that is a header.
pub(crate) const MAX_HEADER_PROBABILITY: f64 = 0.05;
/// Cells that count up from 0 or 1, from which these are numbers of columns.
pub(crate) const MIN_COUNTED_CELLS: usize = 4;
/// Rows from which it is no coincidence that a column differs in each row, or counts them.
pub(crate) const MIN_DISTINCT_ROWS: usize = 10;
/// Different words, at most, that may mean missing values in a column of more different numbers.
pub(crate) const MAX_WORDS: usize = 3;
/// Categories of a column, at most.
pub(crate) const MAX_CATEGORIES: usize = 1000;
/// Rows of a table from which there is a warning of many categories.
pub(crate) const MIN_CATEGORY_ROWS: usize = 20;
/// Categories in units of the rows, above which they are many.
pub(crate) const MAX_CATEGORY_SHARE: f64 = 0.25;

// Memory

/// Share of the free memory that a fit uses by default.
pub(crate) const FREE_SHARE: f64 = 0.5;
/// Bytes between two rows that are read rather than skipped: a separate request costs as much.
pub(crate) const MAX_GAP_BYTES: usize = 16 << 10;
