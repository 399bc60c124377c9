//! What the reader of every format implements.

use crate::error::Failure;
use crate::options::BLOCK_BYTES;
use crate::shards::{Gathered, Layout};
use crate::table::Table;

/// Reads samples in pieces.
pub(crate) trait SampleReader: Send {
    /// Reads the next samples, at least one, into `table`, reusing its memory: about `bytes` of the file (for folders of
    /// images, of pixels; of LIBSVM text a block of the size requested when it was opened, or all of it). False at the end.
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool, Failure>;

    /// The columns of vectors, before the first block is read.
    fn layout(&self) -> Layout {
        Layout::default()
    }

    /// All samples; `None` if there are none.
    fn read_all(&mut self) -> Result<Option<Table>, Failure> {
        let mut table = Table::default();
        Ok(self.next_into(usize::MAX, &mut table)?.then_some(table))
    }
}

/// All samples of a reader whose blocks end where its files do, or parts of them.
pub(crate) fn gather(reader: &mut dyn SampleReader) -> Result<Option<Table>, Failure> {
    let (mut gathered, mut table) = (Gathered::default(), Table::default());
    while reader.next_into(BLOCK_BYTES, &mut table)? {
        gathered.append(&table);
    }
    Ok(gathered.finish())
}
