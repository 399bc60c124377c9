//! The common interface of readers of formats other than vectors.

use std::fmt::Debug;

use crate::error::Result;
use crate::table::Table;

/// Reads samples other than vectors, in pieces.
pub(crate) trait SampleReader: Debug + Send {
    /// The next samples, at least one, of about `bytes` of the file (for folders, of pixels); `None` at the end.
    fn next(&mut self, bytes: usize) -> Result<Option<Table>>;
}
