//! Progress out, cancellation in: the one mechanism for progress bars, Ctrl-C and time limits.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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

/// Why a loop that asked its [`Watch`] has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The caller cancelled: nothing is returned.
    Cancelled,
    /// The time limit passed: the best so far is returned.
    TimeLimit,
}

/// Passed down every long loop, which asks it now and then whether to go on.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    sink: Option<&'a (dyn Fn(Progress) + Sync)>,
    cancel: Option<&'a AtomicBool>,
    deadline: Option<Instant>,
}

impl<'a> Watch<'a> {
    /// A watch that never stops anything and shows nothing.
    pub fn none() -> Self {
        Watch::default()
    }

    /// Calls `sink` with the progress; it may be called from several threads.
    pub fn with_progress(self, sink: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Watch { sink: Some(sink), ..self }
    }

    /// Stops the work soon after `cancel` turns true.
    pub fn with_cancel(self, cancel: &'a AtomicBool) -> Self {
        Watch { cancel: Some(cancel), ..self }
    }

    /// Ends the work with what it has when `limit` has passed from now.
    pub fn with_time_limit(self, limit: Duration) -> Self {
        // A limit beyond what the clock can hold is no limit.
        Watch { deadline: Instant::now().checked_add(limit), ..self }
    }

    /// The same watch with nobody to tell: for work that is a small part of a larger one.
    pub(crate) fn without_progress(self) -> Self {
        Watch { sink: None, ..self }
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

    /// Tells where the work stands.
    pub fn tell(&self, progress: Progress) {
        if let Some(sink) = self.sink {
            sink(progress);
        }
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("progress", &self.sink.is_some())
            .field("cancel", &self.cancel)
            .field("deadline", &self.deadline)
            .finish()
    }
}
