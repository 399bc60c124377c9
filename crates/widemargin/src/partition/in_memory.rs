//! Rows in the memory of this process.

use std::fmt;

use super::query::{Executor, Kind, Query, add};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Parts that are all in memory, in the order of their rows.
pub struct InMemory<'p, K: Kind>(pub Vec<Box<K::Part<'p>>>);

impl<K: Kind> Executor for InMemory<'_, K> {
    type Of = K;

    fn reduce<Q: Query<Of = K>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let mut total = None;
        for part in &mut self.0 {
            add(query, &mut total, query.answer(part, monitor)?)?;
        }
        total.ok_or(Error::NoSamples(""))
    }
}

impl<K: Kind> fmt::Debug for InMemory<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InMemory").field(&self.0.len()).finish()
    }
}
