//! Rows that memory does not hold: each query is a pass over them, a part at a time.

use super::query::{Executor, Kind, Query, add};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// The data of a part that a query needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Its features.
    pub features: bool,
    /// Stores its changed state.
    pub state: bool,
}

/// Parts that are made, or read, when they are needed.
pub(crate) trait Parts {
    type Of: Kind;

    fn n_parts(&self) -> usize;

    /// Makes a part, does `work` on it and forgets it.
    fn with_part(
        &mut self,
        at: usize,
        needs: Needs,
        work: &mut dyn FnMut(&mut <Self::Of as Kind>::Part<'_>) -> Result<()>,
    ) -> Result<()>;
}

type Work<K> = Box<dyn Fn(&mut <K as Kind>::Part<'_>, &Monitor<'_>) -> Result<()>>;

/// Passes over parts. Queries without an answer wait for the next that has one, so that they cost no pass of their own.
pub(crate) struct OutOfCore<P: Parts> {
    pub parts: P,
    /// Whether it reads features, and its effect.
    waiting: Vec<(bool, Work<P::Of>)>,
    n_passes: u32,
}

impl<P: Parts> OutOfCore<P> {
    pub fn new(parts: P) -> Self {
        OutOfCore { parts, waiting: Vec::new(), n_passes: 0 }
    }

    /// How often all features were made or read.
    pub fn n_passes(&self) -> u32 {
        self.n_passes
    }
}

impl<P: Parts> Executor for OutOfCore<P> {
    type Of = P::Of;

    fn reduce<Q: Query<Of = P::Of>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        if !Q::HAS_ANSWER {
            let query = query.clone();
            let work: Work<P::Of> = Box::new(move |part, monitor| query.answer(part, monitor).map(drop));
            self.waiting.push((Q::READS_FEATURES, work));
            return Ok(Q::Answer::default());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let needs = Needs {
            features: Q::READS_FEATURES || waiting.iter().any(|(reads, _)| *reads),
            state: Q::CHANGES_STATE || !waiting.is_empty(),
        };
        self.n_passes += u32::from(needs.features);
        let mut total = None;
        for at in 0..self.parts.n_parts() {
            monitor.go_on("solve")?;
            self.parts.with_part(at, needs, &mut |part| {
                waiting.iter().try_for_each(|(_, work)| work(part, monitor))?;
                add(query, &mut total, query.answer(part, monitor)?)
            })?;
        }
        total.ok_or(Error::NoSamples(""))
    }
}
