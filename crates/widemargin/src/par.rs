//! Parallelism: the only file that names `rayon`. Work runs in a pool of the caller's size, never in the
//! process-wide one.

use rayon::prelude::*;

use crate::error::{Error, Result};

/// As many threads as this are started whatever the machine: that results do not depend on their number is tested with
/// a few on any. Thousands would take the machine down.
const FEW: usize = 64;

/// A pool of a fixed number of threads; with one thread, the caller's own.
#[derive(Debug)]
pub(crate) struct Pool {
    pool: Option<rayon::ThreadPool>,
}

impl Pool {
    /// A pool of `threads` threads, 0 meaning one a core.
    pub fn new(threads: usize) -> Result<Self> {
        let threads = Pool::count(threads);
        if threads == 1 {
            return Ok(Pool { pool: None });
        }
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => Ok(Pool { pool: Some(pool) }),
            Err(problem) => Err(Error::Threads { threads, problem: problem.to_string() }),
        }
    }

    /// How many threads a pool of `threads` has: what was asked for, but no more than the machine has cores, or than
    /// [`FEW`] where those are fewer.
    pub fn count(threads: usize) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match threads {
            0 => cores,
            n => n.min(cores.max(FEW)),
        }
    }

    /// How many threads work.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// `work(0)` … `work(n - 1)` in order of their numbers, or the first error met.
    pub fn try_map<T: Send, E: Send>(
        &self,
        n: usize,
        work: impl Fn(usize) -> Result<T, E> + Sync + Send,
    ) -> Result<Vec<T>, E> {
        match &self.pool {
            None => (0..n).map(work).collect(),
            Some(pool) => pool.install(|| (0..n).into_par_iter().map(work).collect()),
        }
    }

    /// Folds `work(rows)` over chunks of `chunk` of `n` rows, in their order; some chunks are under way at a time,
    /// so that memory does not grow with their number. Results do not depend on the number of threads.
    pub fn fold_chunks<T: Send, E: Send>(
        &self,
        n: usize,
        chunk: usize,
        work: impl Fn(std::ops::Range<usize>) -> Result<T, E> + Sync + Send,
        mut fold: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_chunks = n.div_ceil(chunk);
        let at_a_time = 4 * self.threads();
        for first in (0..n_chunks).step_by(at_a_time) {
            let some = at_a_time.min(n_chunks - first);
            let rows = |at: usize| (first + at) * chunk..((first + at + 1) * chunk).min(n);
            self.try_map(some, |at| work(rows(at)))?.into_iter().try_for_each(&mut fold)?;
        }
        Ok(())
    }

    /// `take(i, make(i))` for each i below `n`, in their order, until `take` says no; the next is made meanwhile, on a
    /// thread of its own, and no more than that one.
    pub fn ahead<T: Send>(
        n: usize,
        make: impl Fn(usize) -> Result<T> + Sync + Send,
        mut take: impl FnMut(usize, T) -> Result<bool>,
    ) -> Result<()> {
        std::thread::scope(|scope| {
            let (send, receive) = std::sync::mpsc::sync_channel(0);
            let makes = move || {
                for i in 0..n {
                    let made = make(i);
                    let goes_on = made.is_ok();
                    if send.send(made).is_err() || !goes_on {
                        break;
                    }
                }
            };
            std::thread::Builder::new()
                .spawn_scoped(scope, makes)
                .map_err(|problem| Error::Threads { threads: 1, problem: problem.to_string() })?;
            for (i, made) in receive.iter().enumerate() {
                if !take(i, made?)? {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Sorts items of which no two are equal.
    pub fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        match &self.pool {
            None => items.sort_unstable(),
            Some(pool) => pool.install(|| items.par_sort_unstable()),
        }
    }

    /// `work(i, &mut items[i])` for every item, the results in the items' order.
    pub fn map_mut<I: Send, T: Send>(
        &self,
        items: &mut [I],
        work: impl Fn(usize, &mut I) -> T + Sync + Send,
    ) -> Vec<T> {
        match &self.pool {
            None => items.iter_mut().enumerate().map(|(i, item)| work(i, item)).collect(),
            Some(pool) => pool.install(|| items.par_iter_mut().enumerate().map(|(i, item)| work(i, item)).collect()),
        }
    }
}
