//! A progress line on standard error, for work that takes longer than a moment.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use widemargin::monitor::Progress;

/// Work shorter than this shows nothing.
const SHOWN_AFTER: Duration = Duration::from_secs(2);

/// The line. Shown only where standard error is a terminal.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    shower: Option<(Sender<()>, JoinHandle<()>)>,
    /// The stage, and when it began.
    stage: Mutex<Option<(&'static str, Instant)>>,
}

impl Bar {
    /// A line that shows itself when a moment has passed.
    pub fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {elapsed} {msg}"));
        let shower = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let ((sender, receiver), late) = (channel(), bar.clone());
            let show = move || {
                if receiver.recv_timeout(SHOWN_AFTER) == Err(RecvTimeoutError::Timeout) {
                    late.set_draw_target(ProgressDrawTarget::stderr());
                    late.enable_steady_tick(Duration::from_millis(125));
                }
            };
            (sender, std::thread::spawn(show))
        });
        Bar { bar, shower, stage: Mutex::default() }
    }

    /// Says what is being done.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Shows where a fit stands; `before` says what it is part of.
    pub fn fit(&self, before: &str, progress: Progress) {
        self.say(format!("{before}{}", text(progress, self.seconds_in(progress.stage))));
    }

    /// The seconds since a stage began: it begins when it is first reported.
    fn seconds_in(&self, stage: &'static str) -> f64 {
        let mut current = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        match *current {
            Some((known, since)) if known == stage => since.elapsed().as_secs_f64(),
            _ => {
                *current = Some((stage, Instant::now()));
                0.0
            }
        }
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

/// Where a fit stands, `seconds` after the stage began.
fn text(progress: Progress, seconds: f64) -> String {
    let amount = match (progress.total, progress.gap) {
        (0 | 1, _) => String::new(),
        // Its units are of time.
        (Progress::PARTS, None) => format!(", {} %", progress.done * 100 / progress.total),
        // Work without a gap goes through samples, once.
        (total, None) => format!(", {} of {}", HumanCount(progress.done), HumanCount(total)),
        (_, Some(_)) => format!(", step {}", progress.done),
    };
    let gap = progress.gap.map(|gap| format!(", largest gap {gap:.1e}")).unwrap_or_default();
    let left = progress.seconds_left(seconds).filter(|_| seconds >= SHOWN_AFTER.as_secs_f64());
    let left = left.map(|left| format!(", about {} left", HumanDuration(Duration::from_secs_f64(left.min(1e9)))));
    format!("{}{amount}{gap}{}", progress.stage, left.unwrap_or_default())
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_much_is_done_and_how_long_it_will_take() {
        let progress = |stage, done, total, gap| Progress { stage, done, total, gap };
        let methods = progress("methods", 250, Progress::PARTS, None);
        assert_eq!(text(methods, 10.0), "methods, 25 %, about 30 seconds left");
        // A moment says nothing of what follows.
        assert_eq!(text(methods, 1.0), "methods, 25 %");
        assert_eq!(text(progress("encode", 1000, 4000, None), 40.0), "encode, 1,000 of 4,000, about 2 minutes left");
        // No one knows how many steps are needed.
        assert_eq!(text(progress("solve", 3, 100, Some(0.5)), 9.0), "solve, step 3, largest gap 5.0e-1");
        assert_eq!(text(progress("solve", 3, 0, None), 9.0), "solve");
    }
}
