//! A progress line on standard error, for work that takes longer than a moment.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::HumanCount;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use widemargin::monitor::Progress;

/// Work shorter than this shows nothing.
const A_MOMENT: Duration = Duration::from_secs(2);

/// The line. Shown only where standard error is a terminal.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    shower: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bar {
    /// A line that shows itself when a moment has passed.
    pub fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {elapsed} {msg}"));
        if quiet || !std::io::stderr().is_terminal() {
            return Bar { bar, shower: None };
        }
        let (sender, receiver) = channel();
        let late = bar.clone();
        let shower = std::thread::spawn(move || {
            if receiver.recv_timeout(A_MOMENT) == Err(RecvTimeoutError::Timeout) {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(Duration::from_millis(125));
            }
        });
        Bar { bar, shower: Some((sender, shower)) }
    }

    /// Says what is being done.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Shows where a fit stands; `before` says what it is part of.
    pub fn fit(&self, before: &str, progress: Progress) {
        let epoch = match (progress.total > 1, progress.gap) {
            (false, _) => String::new(),
            // Work without a gap goes through samples, once.
            (true, None) => format!(", {} of {}", HumanCount(progress.done), HumanCount(progress.total)),
            (true, Some(_)) => format!(", step {}", progress.done),
        };
        let gap = progress.gap.map(|gap| format!(", largest gap {gap:.1e}")).unwrap_or_default();
        self.say(format!("{before}{}{epoch}{gap}", progress.stage));
    }

    /// Makes it a bar of `total` steps.
    pub fn count(&self, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_style(style("{elapsed} {wide_bar} {pos}/{len} {msg}"));
    }

    /// One step more is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Prints without the line in between.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Takes the line off the screen, before results are printed.
    pub fn hide(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((sender, shower)) = self.shower.take() {
            let _ = sender.send(());
            let _ = shower.join();
        }
        self.hide();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
