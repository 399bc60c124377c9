//! What the readers of formats that hold no vectors have in common.

use std::fmt::Debug;

use crate::error::Result;
use crate::table::Table;

/// A format's way to give samples that are no vectors, piece by piece.
pub(crate) trait SampleReader: Debug + Send {
    /// The next samples, at least one and about `bytes` of the file (of the pixels, for folders); `None` at the end.
    fn next(&mut self, bytes: usize) -> Result<Option<Table>>;
}
