//! Rows of Φ that are made, or read, as they are asked for.

use std::ops::Range;

use crate::error::Result;

/// Where the features of more rows than memory holds come from.
pub trait Pieces: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Features of a row.
    fn n_features(&self) -> usize;

    /// Writes the features of neighbouring rows, row-major. The same rows always have the same bits.
    ///
    /// # Errors
    /// What reading samples, comparing them or reading features meets.
    fn fill(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()>;
}
