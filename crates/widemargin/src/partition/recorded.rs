//! A log of answers in a checkpoint, by which a fit that was killed takes its steps again without asking.
//!
//! A solver is a function of the answers it gets. After a restart it gets those that were kept, in their order, and is
//! where it was, to the last bit; queries that only change what the rows remember go to the rows, which then stand where
//! they stood.

use super::query::{Executor, Query, from_bytes, to_bytes};
use crate::data::{Checkpoint, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Rows whose answers are kept.
pub(crate) struct Recorded<'a, E> {
    pub inner: E,
    checkpoint: Option<(&'a dyn Checkpoint, &'static str)>,
    /// Every answer so far with the name of its query, each behind its length.
    log: Vec<u8>,
    /// Where the next kept answer begins.
    next: usize,
    /// How much of the log is kept.
    kept: usize,
}

impl<'a, E> Recorded<'a, E> {
    /// Goes on from what the checkpoint has under a name, if anything.
    pub fn new(inner: E, checkpoint: Option<&'a dyn Checkpoint>, name: &'static str) -> Result<Self> {
        let log = match checkpoint {
            Some(checkpoint) => load_checkpoint(checkpoint, name)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let kept = log.len();
        Ok(Recorded { inner, checkpoint: checkpoint.map(|checkpoint| (checkpoint, name)), log, next: 0, kept })
    }

    /// The next kept answer, which must be of this query.
    fn replayed<Q: Query>(&mut self) -> Result<Option<Q::Answer>> {
        if self.next >= self.kept {
            return Ok(None);
        }
        let (head, rest) = self.log[self.next..self.kept].split_first_chunk().unwrap_or((&[0; 8], &[]));
        let length = usize::try_from(u64::from_le_bytes(*head)).unwrap_or(usize::MAX);
        let record: Option<(String, Q::Answer)> = rest.get(..length).and_then(|bytes| from_bytes(bytes).ok());
        let answer = record.filter(|(name, _)| name == Q::NAME).map(|(_, answer)| answer);
        if answer.is_none() {
            return Err(Error::Checkpoint {
                problem: "its answers are not those that this fit asks for: begin anew in an empty folder".into(),
            });
        }
        self.next += 8 + length;
        Ok(answer)
    }
}

impl<E: Executor> Executor for Recorded<'_, E> {
    type Of = E::Of;

    fn reduce<Q: Query<Of = E::Of>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
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
            self.kept = self.next;
        }
        Ok(answer)
    }
}
