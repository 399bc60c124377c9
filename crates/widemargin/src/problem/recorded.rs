//! An objective that logs its results, so that a resumed solver can replay its steps.
//!
//! A solver is a function of the results it receives. After a restart it receives the logged ones in order and reaches
//! the same state, bit for bit; changes of the current points are passed on to the objective itself, which then reaches
//! the same state too.

use super::objective::{ActiveRows, Cost, Gradient, Gram, Line, LineSums, Objective, PointSums, Shape};
use crate::data::{Checkpoint, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// The kinds of results.
const ALONG: u64 = 1;
const GRADIENT: u64 = 2;
const PRODUCT: u64 = 3;

/// The results over all rows, logged under a name.
pub(crate) struct RecordedObjective<'a, O> {
    inner: O,
    checkpoint_writer: Option<(&'a dyn Checkpoint, &'static str)>,
    /// All results so far: kind, number of numbers, numbers; 8 bytes each, little-endian.
    told: Vec<u8>,
    /// The position of the next logged result.
    next: usize,
    /// The number of bytes of `told` that have been saved.
    kept: usize,
}

impl<'a, O: Objective> RecordedObjective<'a, O> {
    /// Resumes from the log that `checkpoint_writer` has under `name`, if any.
    pub fn new(inner: O, checkpoint_writer: Option<&'a dyn Checkpoint>, name: &'static str) -> Result<Self> {
        let told = match checkpoint_writer {
            Some(checkpoint_writer) => load_checkpoint(checkpoint_writer, name)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let kept = told.len();
        Ok(RecordedObjective {
            inner,
            checkpoint_writer: checkpoint_writer.map(|checkpoint_writer| (checkpoint_writer, name)),
            told,
            next: 0,
            kept,
        })
    }

    pub fn into_inner(self) -> O {
        self.inner
    }

    fn word(&self, at: usize) -> Option<[u8; 8]> {
        self.told.get(at..at + 8)?.try_into().ok()
    }

    /// The next logged result, which must have this kind and length.
    fn replayed(&mut self, kind: u64, length: usize) -> Result<Option<Vec<f64>>> {
        if self.next >= self.kept {
            return Ok(None);
        }
        let end = self.next + 16 + 8 * length;
        let head = (self.word(self.next).map(u64::from_le_bytes), self.word(self.next + 8).map(u64::from_le_bytes));
        if head != (Some(kind), Some(length as u64)) || end > self.kept {
            return Err(Error::Checkpoint {
                problem: "its results do not match this fit: use an empty folder to start again".into(),
            });
        }
        let numbers = self.told[self.next + 16..end].as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let numbers = numbers.collect();
        self.next = end;
        Ok(Some(numbers))
    }

    fn tell(&mut self, kind: u64, numbers: &[f64]) {
        if self.checkpoint_writer.is_some() {
            self.told.extend(kind.to_le_bytes());
            self.told.extend((numbers.len() as u64).to_le_bytes());
            self.told.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            self.next = self.told.len();
        }
    }

    /// Saves the log: called after results that took a pass.
    fn keep(&mut self) -> Result<()> {
        if let Some((checkpoint_writer, name)) = self.checkpoint_writer {
            save_checkpoint(checkpoint_writer, name, &self.told)?;
            self.kept = self.told.len();
        }
        Ok(())
    }
}

impl<O: Objective> Objective for RecordedObjective<'_, O> {
    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn cost(&self) -> Cost {
        self.inner.cost()
    }

    fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()> {
        self.inner.set_point(live, points)
    }

    fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()> {
        self.inner.set_direction(live, directions)
    }

    fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>> {
        if let Some(numbers) = self.replayed(ALONG, 4 * live.len())? {
            let sums = |s: &[f64]| LineSums { value: s[0], slope: s[1], curvature: s[2], pull: s[3] };
            return Ok(numbers.chunks_exact(4).map(sums).collect());
        }
        let told = self.inner.line_search_eval(live, lines)?;
        let numbers: Vec<f64> = told.iter().flat_map(|s| [s.value, s.slope, s.curvature, s.pull]).collect();
        self.tell(ALONG, &numbers);
        Ok(told)
    }

    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.inner.take_step(live, steps)
    }

    fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient> {
        let (n, width) = (live.len(), self.shape().n_features + 1);
        if let Some(mut numbers) = self.replayed(GRADIENT, n * (5 + width))? {
            let slopes = numbers.split_off(5 * n);
            // Counts are integers far below 2^53.
            let sums = |s: &[f64]| PointSums {
                value: s[0],
                pull: s[1],
                balance: s[2],
                conjugate: s[3],
                n_support: s[4] as u64,
            };
            return Ok(Gradient { sums: numbers.chunks_exact(5).map(sums).collect(), slopes });
        }
        let told = self.inner.gradient(live, intercepts)?;
        let sums = told.sums.iter().flat_map(|s| [s.value, s.pull, s.balance, s.conjugate, s.n_support as f64]);
        let numbers: Vec<f64> = sums.chain(told.slopes.iter().copied()).collect();
        self.tell(GRADIENT, &numbers);
        self.keep()?;
        Ok(told)
    }

    fn hessian_product(&mut self, live: &[usize], intercepts: &[f64], directions: &[f64]) -> Result<Vec<f64>> {
        if let Some(numbers) = self.replayed(PRODUCT, directions.len())? {
            return Ok(numbers);
        }
        let told = self.inner.hessian_product(live, intercepts, directions)?;
        self.tell(PRODUCT, &told);
        self.keep()?;
        Ok(told)
    }

    fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>> {
        self.inner.gram(live, intercepts, monitor)
    }

    fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>> {
        self.inner.diagonal(live, intercepts)
    }

    /// Not logged: rows are much larger than sums, and the current points are the same after a restart.
    fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>> {
        self.inner.active_rows(k, intercept, most)
    }
}
