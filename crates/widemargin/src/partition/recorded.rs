//! A log of answers in a checkpoint, by which a fit that was killed takes its steps again without asking.
//!
//! A solver is a function of the answers it gets. After a restart it gets the recorded answers, in their order, and
//! reaches the same state, to the last bit; queries that only change the state of the rows go to the rows, which then
//! have the same state as before.

use super::query::{Executor, Kind, Query, from_bytes, to_bytes};
use crate::data::{Checkpoint, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Rows whose answers are recorded.
pub(crate) struct Recorded<'a, E> {
    pub inner: E,
    checkpoint: Option<(&'a dyn Checkpoint, &'static str)>,
    /// Every answer so far with the name of its query, each behind its length.
    log: Vec<u8>,
    /// The start of the next recorded answer.
    next: usize,
    /// The length of the recorded log.
    n_recorded: usize,
}

impl<'a, E> Recorded<'a, E> {
    /// Resumes from the checkpoint's data under this name, if there are any.
    pub fn new(inner: E, checkpoint: Option<&'a dyn Checkpoint>, name: &'static str) -> Result<Self> {
        let log = match checkpoint {
            Some(checkpoint) => load_checkpoint(checkpoint, name)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let n_recorded = log.len();
        Ok(Recorded { inner, checkpoint: checkpoint.map(|checkpoint| (checkpoint, name)), log, next: 0, n_recorded })
    }

    /// The next recorded answer, which must be of this query.
    fn replayed<Q: Query>(&mut self) -> Result<Option<Q::Answer>> {
        if self.next >= self.n_recorded {
            return Ok(None);
        }
        let (head, rest) = self.log[self.next..self.n_recorded].split_first_chunk().unwrap_or((&[0; 8], &[]));
        let length = usize::try_from(u64::from_le_bytes(*head)).unwrap_or(usize::MAX);
        let record: Option<(String, Q::Answer)> = rest.get(..length).and_then(|bytes| from_bytes(bytes).ok());
        let answer = record.filter(|(name, _)| name == Q::NAME).map(|(_, answer)| answer);
        if answer.is_none() {
            return Err(Error::Checkpoint {
                problem: "its answers are not those that this fit requires: start again in an empty folder".into(),
            });
        }
        self.next += 8 + length;
        Ok(answer)
    }
}

impl<K: Kind, E: Executor<K>> Executor<K> for Recorded<'_, E> {
    fn reduce<Q: Query<Of = K>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        let Some((checkpoint, name)) = self.checkpoint.filter(|_| Q::HAS_ANSWER && Q::IS_RECORDED) else {
            return self.inner.reduce(query, monitor);
        };
        if let Some(known) = self.replayed::<Q>()? {
            return Ok(known);
        }
        let answer = self.inner.reduce(query, monitor)?;
        let record = to_bytes(&(Q::NAME, &answer))?;
        self.log.extend((record.len() as u64).to_le_bytes());
        self.log.extend(record);
        self.next = self.log.len();
        if Q::READS_FEATURES {
            save_checkpoint(checkpoint, name, &self.log)?;
            self.n_recorded = self.next;
        }
        Ok(answer)
    }
}
