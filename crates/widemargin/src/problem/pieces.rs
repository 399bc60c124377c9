//! Rows of Φ that are computed or read on demand.

use std::ops::Range;

use crate::error::Result;

/// The source of features that do not fit in memory.
pub(crate) trait Pieces: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Features per row.
    fn n_features(&self) -> usize;

    /// Writes the features of consecutive rows, row-major. The same rows always give the same bits.
    ///
    /// # Errors
    /// Errors of reading samples, comparing them or reading features.
    fn fill(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()>;
}
