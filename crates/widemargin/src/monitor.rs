//! Progress out, cancellation in: the one mechanism for progress bars, Ctrl-C and time limits.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Where a long piece of work stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is being done ("scale", "encode", "solve", …).
    pub stage: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all, or 0 where that is not known.
    pub total: u64,
    /// The relative duality gap reached by the worst problem, where the stage has one.
    pub gap: Option<f64>,
}

/// Why a loop that asked its [`Monitor`] has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The caller cancelled: nothing is returned.
    Cancelled,
    /// The time limit passed: the best so far is returned.
    TimeLimit,
}

/// Passed down every long loop, which asks it now and then whether to go on.
#[derive(Clone, Copy, Default)]
pub struct Monitor<'a> {
    sink: Option<&'a (dyn Fn(Progress) + Sync)>,
    cancel: Option<&'a AtomicBool>,
    deadline: Option<Instant>,
}

impl<'a> Monitor<'a> {
    /// A watch that never stops anything and shows nothing.
    pub fn none() -> Self {
        Monitor::default()
    }

    /// Calls `sink` with the progress; it may be called from several threads.
    pub fn with_progress(self, sink: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Monitor { sink: Some(sink), ..self }
    }

    /// Stops the work soon after `cancel` turns true.
    pub fn with_cancel(self, cancel: &'a AtomicBool) -> Self {
        Monitor { cancel: Some(cancel), ..self }
    }

    /// Ends the work with what it has when `limit` has passed from now.
    pub fn with_time_limit(self, limit: Duration) -> Self {
        // A limit beyond what the clock can hold is no limit.
        Monitor { deadline: Instant::now().checked_add(limit), ..self }
    }

    /// Whether a time limit was set.
    pub(crate) fn has_time_limit(&self) -> bool {
        self.deadline.is_some()
    }

    /// The same watch with nobody to tell: for work that is a small part of a larger one.
    pub(crate) fn without_progress(self) -> Self {
        Monitor { sink: None, ..self }
    }

    /// Whether to go on; cheap enough to ask every millisecond.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn ask(&self) -> Result<(), Stopped> {
        if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(Stopped::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Stopped::TimeLimit);
        }
        Ok(())
    }

    /// Whether to go on with work that is worth nothing before it is whole, so that no time limit ends it.
    ///
    /// # Errors
    /// [`Error::Cancelled`], naming the stage.
    pub(crate) fn go_on(&self, stage: &'static str) -> Result<()> {
        match self.ask() {
            Err(Stopped::Cancelled) => Err(Error::Cancelled { stage }),
            _ => Ok(()),
        }
    }

    /// Tells where the work stands.
    pub fn tell(&self, progress: Progress) {
        if let Some(sink) = self.sink {
            sink(progress);
        }
    }
}

/// Rows that go through some work a chunk at a time, from several threads: how many are done is told after each.
pub(crate) struct RowCount<'a> {
    monitor: &'a Monitor<'a>,
    stage: &'static str,
    done: AtomicU64,
    total: u64,
}

impl<'a> RowCount<'a> {
    pub fn new(monitor: &'a Monitor<'a>, stage: &'static str, n_rows: usize) -> Self {
        RowCount { monitor, stage, done: AtomicU64::new(0), total: n_rows as u64 }
    }

    /// Whether to begin another chunk.
    pub fn go_on(&self) -> Result<()> {
        self.monitor.go_on(self.stage)
    }

    /// A chunk is done.
    pub fn add(&self, n_rows: usize) {
        let n = n_rows as u64;
        let done = self.done.fetch_add(n, Ordering::Relaxed) + n;
        self.monitor.tell(Progress { stage: self.stage, done, total: self.total, gap: None });
    }
}

impl fmt::Debug for Monitor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("progress", &self.sink.is_some())
            .field("cancel", &self.cancel)
            .field("deadline", &self.deadline)
            .finish()
    }
}
