//! The progress of a search as the share of its work.

use crate::monitor::Progress;

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

#[cfg(test)]
mod tests {
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
        work.add(1.0);
        assert_eq!(work.progress("similarity search").done, Progress::PARTS);
    }
}
