//! Progress reporting and cancellation: the mechanism behind progress bars, Ctrl-C and time limits.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::instant::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use crate::instant::set_clock;

/// The progress of a long computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The current stage ("scale", "encode", "solve", …).
    pub stage: &'static str,
    /// Units done.
    pub done: u64,
    /// Total number of units, or 0 if unknown.
    pub total: u64,
    /// The largest relative duality gap of the problems, if the stage has one.
    pub gap: Option<f64>,
}

impl Progress {
    /// The total of a stage whose units differ in time, which counts parts of the expected time instead: "methods",
    /// "similarity search".
    pub const PARTS: u64 = 1000;

    /// The progress of work from the part that is done and the part that is expected, both in seconds or any other
    /// unit.
    #[doc(hidden)]
    pub fn of_time(stage: &'static str, done: f64, left: f64) -> Self {
        let share = if done > 0.0 { done / (done + left) } else { 0.0 };
        Progress { stage, done: (share * Self::PARTS as f64).round() as u64, total: Self::PARTS, gap: None }
    }

    /// The finished fraction of the stage, from 0 to 1; `None` if unknown.
    pub fn share(&self) -> Option<f64> {
        (self.total > 0).then(|| (self.done as f64 / self.total as f64).min(1.0))
    }

    /// The estimated remaining seconds of the stage, from the part that was finished in the `seconds` since it began;
    /// `None` before anything is finished, and for iterations, whose number is unknown.
    pub fn seconds_left(&self, seconds: f64) -> Option<f64> {
        let share = self.share().filter(|share| *share > 0.0 && self.gap.is_none())?;
        Some(seconds * (1.0 - share) / share)
    }
}

/// Why a loop has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The caller cancelled: nothing is returned.
    Cancelled,
    /// The time limit passed: the best solution so far is returned.
    TimeLimit,
}

/// A monitor for long loops, which regularly check whether to continue.
#[derive(Clone, Copy, Default)]
pub struct Monitor<'a> {
    sink: Option<&'a (dyn Fn(Progress) + Sync)>,
    cancel: Option<&'a AtomicBool>,
    deadline: Option<Instant>,
    last: Option<Last>,
}

/// When stages end too whose partial result is useless.
#[derive(Clone, Copy, Debug)]
struct Last {
    begun: Instant,
    deadline: Instant,
}

/// How far a stage whose partial result is useless may go beyond a time limit, to complete a solution that is all but
/// there.
const GRACE: Duration = Duration::from_millis(500);

impl<'a> Monitor<'a> {
    /// A monitor that never stops anything and reports nothing.
    pub fn none() -> Self {
        Monitor::default()
    }

    /// Calls `sink` with the progress, possibly from several threads.
    pub fn with_progress(self, sink: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Monitor { sink: Some(sink), ..self }
    }

    /// Cancels soon after `cancel` becomes true.
    pub fn with_cancel(self, cancel: &'a AtomicBool) -> Self {
        Monitor { cancel: Some(cancel), ..self }
    }

    /// Stops after `limit` from now, keeping the best solution so far.
    pub fn with_time_limit(self, limit: Duration) -> Self {
        // A limit beyond the range of the clock is no limit.
        Monitor { deadline: Instant::now().checked_add(limit), ..self }
    }

    /// The seconds until the time limit, 0 after it; none without a limit.
    pub fn seconds_left(&self) -> Option<f64> {
        Some(self.deadline?.saturating_duration_since(Instant::now()).as_secs_f64())
    }

    /// Checks whether to continue; cheap enough to call every millisecond.
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
}

#[doc(hidden)]
impl<'a> Monitor<'a> {
    /// Whether a time limit was set.
    pub fn has_time_limit(&self) -> bool {
        self.deadline.is_some()
    }

    /// The same monitor without its time limit: for work that must be done before there is a first solution. A
    /// [strict limit](Monitor::with_strict_limit) remains.
    pub fn without_time_limit(self) -> Self {
        Monitor { deadline: None, ..self }
    }

    /// The same monitor, whose time limit also ends the stages that have no partial result: [`Monitor::go_on`] is then
    /// an error. For computations that need not be completed, because a smaller one can take their place. Of two strict
    /// limits the earlier one counts.
    pub fn with_strict_limit(self) -> Self {
        self.with_strict_part(1.0)
    }

    /// The same after a part of the time that is left; the time limit of work with a partial result remains.
    pub fn with_strict_part(self, part: f64) -> Self {
        let begun = Instant::now();
        let end = |deadline: Instant| begun + deadline.saturating_duration_since(begun).mul_f64(part) + GRACE;
        let last = self.deadline.map(|deadline| Last { begun, deadline: end(deadline) });
        let earlier = |last: Last| self.last.is_none_or(|known| last.deadline < known.deadline);
        Monitor { last: last.filter(|last| earlier(*last)).or(self.last), ..self }
    }

    /// The same monitor with a part of the time that is left, for work that precedes a fit.
    pub fn with_part_of_time(self, part: f64) -> Self {
        let now = Instant::now();
        let left = |deadline: Instant| now + deadline.saturating_duration_since(now).mul_f64(part);
        Monitor { deadline: self.deadline.map(left), ..self }
    }

    /// The same monitor without progress reporting, for small parts of a larger computation.
    pub fn without_progress(self) -> Self {
        Monitor { sink: None, ..self }
    }

    /// Whether the time limit has passed.
    ///
    /// # Errors
    /// [`Error::Cancelled`], naming the stage.
    pub fn is_time_up(&self, stage: &'static str) -> Result<bool> {
        is_late(self.ask(), stage)
    }

    /// Checks whether to continue a stage whose partial result is useless, to which only a
    /// [strict limit](Monitor::with_strict_limit) applies.
    ///
    /// # Errors
    /// [`Error::Cancelled`], naming the stage; [`Error::TooShort`] after a strict limit.
    pub fn go_on(&self, stage: &'static str) -> Result<()> {
        if self.ask() == Err(Stopped::Cancelled) {
            return Err(Error::Cancelled { stage });
        }
        match self.last.filter(|last| Instant::now() >= last.deadline) {
            Some(last) => Err(Error::TooShort { stage, needs: last.begun.elapsed().as_secs_f64() }),
            None => Ok(()),
        }
    }

    /// Reports progress.
    pub fn tell(&self, progress: Progress) {
        if let Some(sink) = self.sink {
            sink(progress);
        }
    }
}

/// Whether the time limit ended a stage.
///
/// # Errors
/// [`Error::Cancelled`], naming the stage.
#[doc(hidden)]
pub fn is_late(ended: Result<(), Stopped>, stage: &'static str) -> Result<bool> {
    match ended {
        Err(Stopped::Cancelled) => Err(Error::Cancelled { stage }),
        ended => Ok(ended.is_err()),
    }
}

/// Counts the rows done by several threads, and reports progress after each chunk.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "internal")]
pub struct RowCount<'a> {
    monitor: &'a Monitor<'a>,
    stage: &'static str,
    done: AtomicU64,
    total: u64,
}

impl<'a> RowCount<'a> {
    /// Counts the rows of a stage.
    pub fn new(monitor: &'a Monitor<'a>, stage: &'static str, n_rows: usize) -> Self {
        RowCount { monitor, stage, done: AtomicU64::new(0), total: n_rows as u64 }
    }

    /// Checks whether to begin another chunk.
    pub fn go_on(&self) -> Result<()> {
        self.monitor.go_on(self.stage)
    }

    /// Adds a finished chunk.
    pub fn add(&self, n_rows: usize) {
        let n = n_rows as u64;
        let done = self.done.fetch_add(n, Ordering::Relaxed) + n;
        self.monitor.tell(Progress { stage: self.stage, done, total: self.total, gap: None });
    }
}

impl fmt::Debug for Monitor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("progress", &self.sink.is_some())
            .field("cancel", &self.cancel)
            .field("deadline", &self.deadline)
            .finish()
    }
}
