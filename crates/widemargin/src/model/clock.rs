//! Timing of the stages of a fit, with a cancellation check after each.

use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::monitor::{Monitor, Progress, Stopped};
use crate::solve::Stage;

/// Times the stages of a fit and checks the monitor between them.
pub(crate) struct Clock<'a> {
    pub monitor: &'a Monitor<'a>,
    since: Instant,
    pub stages: Vec<Stage>,
}

impl<'a> Clock<'a> {
    pub fn start(monitor: &'a Monitor<'a>) -> Self {
        Clock { monitor, since: Instant::now(), stages: Vec::new() }
    }

    /// Ends a stage and begins the next.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::TooShort`] after a strict limit, since there is no solution yet.
    pub fn end(&mut self, stage: &'static str) -> Result<()> {
        self.record(stage);
        self.monitor.go_on(stage)
    }

    /// Ends the stage that found a solution, which is returned whatever the time.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn end_solved(&mut self, stage: &'static str) -> Result<()> {
        self.record(stage);
        if self.monitor.ask() == Err(Stopped::Cancelled) { Err(Error::Cancelled { stage }) } else { Ok(()) }
    }

    fn record(&mut self, stage: &'static str) {
        let seconds = self.since.elapsed().as_secs_f64();
        // A fit that tries two variants goes through its stages twice.
        match self.stages.iter_mut().find(|known| known.name == stage) {
            Some(known) => known.seconds += seconds,
            None => self.stages.push(Stage { name: stage.into(), seconds }),
        }
        self.since = Instant::now();
        self.monitor.tell(Progress { stage, done: 1, total: 1, gap: None });
    }
}
