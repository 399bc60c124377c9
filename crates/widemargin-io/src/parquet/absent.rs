//! Stubs for a build without the feature `parquet`.

use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::shards::Layout;
use crate::table::Table;

/// A reader that cannot be constructed.
#[derive(Debug)]
pub(crate) enum Reader {}

impl Reader {
    pub fn new(input: Input, _: &ReadOptions) -> Result<Reader> {
        Err(IoError::NotBuilt { file: input.file, format: crate::Format::Parquet })
    }

    pub fn next_into(&mut self, _: &mut Table) -> Result<bool> {
        match *self {}
    }

    pub fn layout(&self) -> Layout {
        match *self {}
    }
}
