//! The progress of a search as the share of its time: the time of finished parts is measured, the time left is expected
//! from it.

use std::sync::{Mutex, PoisonError};

use crate::instant::Instant;
use crate::monitor::Progress;
use crate::tuning::SEARCH_TIME_SHARE;

/// Parts of work, in a unit of their own: those that are done, and those that are expected.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    done: f64,
    left: f64,
}

impl Work {
    /// Adds finished work.
    pub fn add(&mut self, cost: f64) {
        self.done += cost;
        self.left -= cost;
    }

    /// From here on this is expected.
    pub fn expect(&mut self, cost: f64) {
        self.left = cost;
    }

    pub fn progress(&self, stage: &'static str) -> Progress {
        Progress::of_time(stage, self.done, self.left.max(0.0))
    }
}

/// How far a comparison of methods is.
pub(super) struct TimeLeft {
    start: Instant,
    /// The fit of the best on all samples, in units of its fit on those compared; 0 if these are all.
    on_all: f64,
    state: Mutex<State>,
}

struct State {
    /// The costs of methods that have not begun, next to each other.
    left: Vec<f64>,
    since: Instant,
    /// How much of the current method is done, if anything is known.
    share: f64,
    current: Option<f64>,
    /// Cost and seconds of those that are done.
    done: Vec<(f64, f64)>,
}

impl TimeLeft {
    /// Of methods with these costs, in their order.
    pub fn of(costs: Vec<f64>, on_all: f64) -> Self {
        let start = Instant::now();
        let state = State { left: costs, since: start, share: 0.0, current: None, done: Vec::new() };
        TimeLeft { start, on_all, state: Mutex::new(state) }
    }

    /// The next method begins.
    pub fn begin(&self) -> Progress {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let next = if state.left.is_empty() { None } else { Some(state.left.remove(0)) };
        (state.current, state.since, state.share) = (next, Instant::now(), 0.0);
        self.progress(&state)
    }

    /// The current method has ended; the time of one that was skipped is no estimate for the others.
    pub fn end(&self, was_tried: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cost) = state.current.take().filter(|_| was_tried) {
            let seconds = state.since.elapsed().as_secs_f64();
            state.done.push((cost, seconds));
        }
    }

    /// The progress of the current method.
    pub fn within(&self, inner: Progress) -> Option<Progress> {
        if inner.total == 0 || !["similarity search", "choose"].contains(&inner.stage) {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.share = SEARCH_TIME_SHARE * inner.done as f64 / inner.total as f64;
        Some(self.progress(&state))
    }

    fn progress(&self, state: &State) -> Progress {
        let spent = state.since.elapsed().as_secs_f64();
        // By its own account, or by the others.
        let (costs, seconds) = state.done.iter().fold((0.0, 0.0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
        let current = state.current.unwrap_or(0.0);
        let whole = if state.share > 0.0 { Some(spent / state.share) } else { None };
        let unit = if costs > 0.0 { Some(seconds / costs) } else { whole.map(|whole| whole / current) };
        let Some(unit) = unit else { return Progress::of_time("methods", 0.0, 1.0) };
        let whole = whole.unwrap_or(current * unit);
        let others: f64 = state.left.iter().map(|cost| cost * unit).sum();
        let longest = state.done.iter().map(|(_, seconds)| *seconds).fold(whole, f64::max);
        let left = (whole - spent).max(0.0) + others + self.on_all * longest;
        Progress::of_time("methods", self.start.elapsed().as_secs_f64(), left)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_that_is_done_has_its_share() {
        let mut work = Work::default();
        work.expect(4.0);
        assert_eq!(work.progress("similarity search").done, 0);
        work.add(1.0);
        assert_eq!(work.progress("similarity search").done, Progress::PARTS / 4);
        work.expect(1.0);
        assert_eq!(work.progress("similarity search").done, Progress::PARTS / 2);
        work.add(2.0);
        assert_eq!(work.progress("similarity search").done, Progress::PARTS);
    }

    #[test]
    fn the_time_left_follows_from_the_measured_time() {
        let left = |on_all: f64, share: Option<u64>| {
            let time_left = TimeLeft::of(vec![5.0, 1.0, 4.0], on_all);
            let before = |seconds: f64| Instant::now() - Duration::from_secs_f64(seconds);
            assert_eq!(time_left.begin().done, 0);
            let spent = {
                let mut state = time_left.state.lock().unwrap();
                state.since = before(10.0);
                10.0
            };
            let time_left = TimeLeft { start: before(spent), ..time_left };
            let progress = match share {
                Some(done) => {
                    let inner = Progress { stage: "similarity search", done, total: Progress::PARTS, gap: None };
                    time_left.within(inner).unwrap()
                }
                None => {
                    time_left.end(true);
                    time_left.begin()
                }
            };
            progress.seconds_left(spent).unwrap()
        };
        // Ten seconds for the expansion, whose cost is five: two for the thin plate, eight for the power mean.
        assert!((left(0.0, None) - 10.0).abs() < 0.1);
        // The longest of them again, on three times as many samples.
        assert!((left(3.0, None) - 40.0).abs() < 0.3);
        // All of its search done, 10/0.7 seconds for the expansion, 4.3 of them left, and as much for the others.
        assert!((left(0.0, Some(Progress::PARTS)) - (10.0 / 0.7 - 10.0 + 10.0 / 0.7)).abs() < 0.2);
        let time_left = TimeLeft::of(vec![4.0], 0.0);
        time_left.begin();
        assert!(time_left.within(Progress { stage: "solve", done: 1, total: 2, gap: None }).is_none());
    }
}
