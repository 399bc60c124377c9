//! Rows that others hold: a query goes to them as bytes, and the merged answer comes back.

use super::query::{Executor, Kind, Query, encoded, from_bytes};
use crate::error::Result;
use crate::monitor::Monitor;

/// A query as bytes.
#[derive(Clone, Copy, Debug)]
pub struct EncodedQuery<'q> {
    /// Its name.
    pub name: &'static str,
    /// The query, as [`answer`](super::answer) takes it.
    pub query: &'q [u8],
    /// Whether it changes the state of the parts.
    pub changes_state: bool,
    /// Whether it has an answer.
    pub has_answer: bool,
}

/// The workers that hold parts of the rows.
pub trait Workers {
    /// Has every part answer by [`answer`](super::answer), merges the answers by [`merge`](super::merge) in the order
    /// of the parts, and returns the bytes of the whole; none if there is no answer.
    ///
    /// # Errors
    /// An error of the workers.
    fn ask(&mut self, query: EncodedQuery<'_>) -> Result<Vec<u8>>;
}

/// The rows that workers hold.
#[derive(Debug)]
pub struct Remote<W> {
    workers: W,
}

impl<W: Workers> Remote<W> {
    /// For the workers that hold them.
    pub fn new(workers: W) -> Self {
        Remote { workers }
    }
}

impl<K: Kind, W: Workers> Executor<K> for Remote<W> {
    fn reduce<Q: Query<Of = K>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        monitor.go_on("solve")?;
        let query = encoded(query)?;
        let (changes_state, has_answer) = (Q::CHANGES_STATE, Q::HAS_ANSWER);
        let answer = self.workers.ask(EncodedQuery { name: Q::NAME, query: &query, changes_state, has_answer })?;
        if has_answer { from_bytes(&answer) } else { Ok(Q::Answer::default()) }
    }
}
