//! What every command works with: the common flags, the threads, the progress line, and the watch.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use widemargin::Error;
use widemargin::monitor::{Monitor, Progress, Stopped};
use widemargin_io::{ReadOptions, Table};

use crate::args::Common;
use crate::cancel::{CANCELLED, at_once};
use crate::progress::Bar;
use crate::report::{Failure, cancelled, interrupted, shown, while_reading};

/// One run of the command.
#[derive(Debug)]
pub struct Context {
    /// The common flags.
    pub common: Common,
    /// The progress line.
    pub bar: Bar,
    started: Instant,
    /// The threads that read files.
    pub pool: Arc<rayon::ThreadPool>,
}

impl Context {
    /// Starts the clock, the threads and the progress line.
    ///
    /// There are no more threads than the machine has cores, whatever was requested: more would only wait for each other,
    /// and many thousands take the machine down.
    pub fn new(mut common: Common) -> Result<Self, Failure> {
        let started = Instant::now();
        let (requested, cores) = (common.threads, available_parallelism().map_or(1, usize::from));
        common.threads = requested.min(cores);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(common.threads).build().map_err(|problem| {
            Failure::from(Error::Threads { threads: common.threads, problem: problem.to_string() })
        })?;
        let context = Context { bar: Bar::new(common.quiet), common, started, pool: Arc::new(pool) };
        if requested > cores {
            let s = if cores == 1 { "" } else { "s" };
            context.note(&format!(
                "note: --threads {requested} is more than the machine has: {cores} thread{s} will work"
            ));
        }
        Ok(context)
    }

    /// A watch that shows its progress with `sink`, and stops at Ctrl-C or at the time limit.
    pub fn monitor<'a>(&self, sink: &'a (dyn Fn(Progress) + Sync)) -> Monitor<'a> {
        self.monitor_until(Duration::ZERO, sink)
    }

    /// The same, stopping so long before the time limit.
    pub fn monitor_until<'a>(&self, before: Duration, sink: &'a (dyn Fn(Progress) + Sync)) -> Monitor<'a> {
        let monitor = Monitor::none().with_progress(sink).with_cancel(&CANCELLED);
        match self.common.time_limit {
            Some(limit) => monitor.with_time_limit(limit.saturating_sub(self.started.elapsed() + before)),
            None => monitor,
        }
    }

    /// Seconds since the command began.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Whether to go on with work that is worth nothing before it is whole.
    pub fn go_on(&self) -> Result<(), Failure> {
        self.monitor(&|_| ()).ask().map_err(|stopped| match stopped {
            Stopped::Cancelled => cancelled(),
            Stopped::TimeLimit => Failure::work("the time limit passed before the work was done: nothing was written"),
        })
    }

    /// Tells by the exit code that a signal stopped work whose partial result was written.
    pub fn check_interrupted(&self) -> Result<(), Failure> {
        if CANCELLED.load(Ordering::SeqCst) {
            return Err(interrupted("interrupted: the model obtained so far was written"));
        }
        Ok(())
    }

    /// A whole file, and the seconds it took.
    pub fn read(&self, file: &Path, options: &ReadOptions) -> Result<(Table, f64), Failure> {
        self.bar.say(format!("reading {}", shown(file)));
        let start = Instant::now();
        let table = at_once(|| self.pool.install(|| widemargin_io::read(file, options)));
        let table = table.map_err(|error| while_reading(error, file))?;
        for remark in &table.remarks {
            self.warn(&format!("{}: {remark}", shown(file)));
        }
        Ok((table, start.elapsed().as_secs_f64()))
    }

    /// A warning on standard error.
    pub fn warn(&self, warning: &str) {
        self.bar.suspend(|| eprintln!("warning: {warning}"));
    }

    /// A line on standard error, unless the user wants none.
    pub fn note(&self, line: &str) {
        if !self.common.quiet {
            self.bar.suspend(|| eprintln!("{line}"));
        }
    }
}
