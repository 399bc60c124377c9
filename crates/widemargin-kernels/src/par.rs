//! Parallelism: the only file that uses `rayon`. Work runs in a pool of the caller's size, never in the global one.
//! Without the feature `threads`, and on targets without threads, the calling thread does all work, and more than one
//! thread is refused.
//!
//! Threads run a single closure behind a pointer, so that `rayon` is compiled once and not for each parallel loop; the
//! loops themselves stay within chunks, each behind a lock of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use self::threads::Threads;
use crate::error::{Error, Result};

/// Whether this build can start threads.
const HAS_THREADS: bool = cfg!(all(feature = "threads", not(target_family = "wasm")));

/// Up to this many threads are started on any machine, since tests check with a few threads that results do not depend
/// on their number. Thousands would overload the machine.
const ALLOWED_THREADS: usize = 64;

/// Chunks per thread, which share the work evenly enough where the items differ.
const CHUNKS: usize = 16;

/// A pool of a fixed number of threads; with one thread, the caller's own.
#[derive(Debug)]
pub struct Pool {
    pool: Option<Threads>,
}

impl Pool {
    /// A pool of `threads` threads, 0 meaning one per core.
    pub fn new(threads: usize) -> Result<Self> {
        let threads = Pool::count(threads);
        if threads == 1 {
            return Ok(Pool { pool: None });
        }
        let pool = Threads::start(threads).map_err(|problem| Error::Threads { threads, problem })?;
        Ok(Pool { pool: Some(pool) })
    }

    /// The number of threads of a pool of `threads`: the number requested, but at most the number of cores, or
    /// `ALLOWED_THREADS` if that is larger.
    pub fn count(threads: usize) -> usize {
        let cores = if HAS_THREADS { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
        match threads {
            0 => cores,
            n => n.min(cores.max(ALLOWED_THREADS)),
        }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, Threads::count)
    }

    /// How many of `n` items a chunk has.
    fn chunk(&self, n: usize) -> usize {
        n.div_ceil(CHUNKS * self.threads()).max(1)
    }

    /// `work(0)` … `work(n - 1)` in order, or the error of the least index that fails.
    pub fn try_map<T: Send, E: Send>(
        &self,
        n: usize,
        work: impl Fn(usize) -> Result<T, E> + Sync + Send,
    ) -> Result<Vec<T>, E> {
        let Some(pool) = &self.pool else { return (0..n).map(work).collect() };
        let size = self.chunk(n);
        let (least, failed) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
        let done = joined(pool, n, n.div_ceil(size), |at| {
            let rows = at * size..((at + 1) * size).min(n);
            let mut made = Vec::with_capacity(rows.len());
            for i in rows {
                // Items before an error must still be tried: their error would be the first.
                if i > least.load(Ordering::Relaxed) {
                    break;
                }
                match work(i) {
                    Ok(value) => made.push(value),
                    Err(error) => {
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        if i < least.fetch_min(i, Ordering::Relaxed) {
                            *failed = Some(error);
                        }
                        break;
                    }
                }
            }
            made
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(done), Err)
    }

    /// How many results [`fold_chunks`](Pool::fold_chunks) may hold at a time.
    pub fn in_flight(&self) -> usize {
        4 * self.threads()
    }

    /// Folds `work(rows)` over chunks of `chunk` of `n` rows, in order. Only some chunks are in flight at a time, so
    /// that memory does not grow with their number. Results do not depend on the number of threads.
    pub fn fold_chunks<T: Send, E: Send>(
        &self,
        n: usize,
        chunk: usize,
        work: impl Fn(std::ops::Range<usize>) -> Result<T, E> + Sync + Send,
        mut fold: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_chunks = n.div_ceil(chunk);
        let wave = self.in_flight();
        for first in (0..n_chunks).step_by(wave) {
            let some = wave.min(n_chunks - first);
            let rows = |at: usize| (first + at) * chunk..((first + at + 1) * chunk).min(n);
            self.try_map(some, |at| work(rows(at)))?.into_iter().try_for_each(&mut fold)?;
        }
        Ok(())
    }

    /// `take(i, make(i))` for each i below `n`, in order, until `take` returns false; meanwhile the next item, and only
    /// that one, is made on a separate thread if there are threads.
    pub fn ahead<T: Send>(
        n: usize,
        make: impl Fn(usize) -> Result<T> + Sync + Send,
        mut take: impl FnMut(usize, T) -> Result<bool>,
    ) -> Result<()> {
        if !HAS_THREADS {
            for i in 0..n {
                if !take(i, make(i)?)? {
                    break;
                }
            }
            return Ok(());
        }
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

    /// Sorts distinct items.
    pub fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        match &self.pool {
            None => items.sort_unstable(),
            Some(pool) => pool.sort(items),
        }
    }

    /// `work(i, &mut items[i])` for every item, with results in order.
    pub fn map_mut<I: Send, T: Send>(
        &self,
        items: &mut [I],
        work: impl Fn(usize, &mut I) -> T + Sync + Send,
    ) -> Vec<T> {
        let Some(pool) = &self.pool else {
            return items.iter_mut().enumerate().map(|(i, item)| work(i, item)).collect();
        };
        let (n, size) = (items.len(), self.chunk(items.len()));
        let chunks: Vec<_> = items.chunks_mut(size).map(|items| Mutex::new(Some(items))).collect();
        joined(pool, n, chunks.len(), |at| {
            let items = chunks[at].lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
            items.iter_mut().enumerate().map(|(i, item)| work(at * size + i, item)).collect()
        })
    }
}

/// The `n` results of all chunks, one chunk after the other.
fn joined<T: Send>(pool: &Threads, n: usize, n_chunks: usize, make: impl Fn(usize) -> Vec<T> + Sync) -> Vec<T> {
    let done: Vec<Mutex<Vec<T>>> = (0..n_chunks).map(|_| Mutex::default()).collect();
    pool.run(n_chunks, &|at| {
        let made = make(at);
        *done[at].lock().unwrap_or_else(PoisonError::into_inner) = made;
    });
    let mut all = Vec::with_capacity(n);
    done.into_iter().for_each(|chunk| all.append(&mut chunk.into_inner().unwrap_or_else(PoisonError::into_inner)));
    all
}

#[cfg(feature = "threads")]
mod threads {
    use rayon::prelude::*;

    /// A pool of several threads.
    #[derive(Debug)]
    pub struct Threads(rayon::ThreadPool);

    impl Threads {
        /// Starts them, or says why that cannot be done.
        pub fn start(threads: usize) -> Result<Self, String> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.map(Threads).map_err(|problem| problem.to_string())
        }

        pub fn count(&self) -> usize {
            self.0.current_num_threads()
        }

        /// `work(0)` … `work(n - 1)`, in any order.
        pub fn run(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            self.0.install(|| (0..n).into_par_iter().for_each(work));
        }

        pub fn sort<T: Ord + Send>(&self, items: &mut [T]) {
            self.0.install(|| items.par_sort_unstable());
        }
    }
}

#[cfg(not(feature = "threads"))]
mod threads {
    /// There are none.
    #[derive(Debug)]
    pub enum Threads {}

    impl Threads {
        pub fn start(_threads: usize) -> Result<Self, String> {
            Err("this build has no threads (the feature `threads` of the crate is off)".into())
        }

        pub fn count(&self) -> usize {
            match *self {}
        }

        pub fn run(&self, _n: usize, _work: &(dyn Fn(usize) + Sync)) {
            match *self {}
        }

        pub fn sort<T>(&self, _items: &mut [T]) {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_error_is_that_of_the_least_index() {
        for threads in [1, 2, 5] {
            let pool = Pool::new(threads).unwrap();
            for n in [0, 1, 7, 1000] {
                let mut items: Vec<usize> = (0..n).collect();
                let doubled = pool.map_mut(&mut items, |i, item| {
                    *item += i;
                    2 * i
                });
                assert_eq!(doubled, (0..n).map(|i| 2 * i).collect::<Vec<_>>());
                assert_eq!(items, doubled);
                assert_eq!(pool.try_map(n, Ok::<_, ()>), Ok((0..n).collect()));
            }
            for first in [0, 3, 613, 999] {
                let failed = pool.try_map(1000, |i| if i >= first && i % 3 == first % 3 { Err(i) } else { Ok(i) });
                assert_eq!(failed, Err(first), "{threads} threads");
            }
        }
    }
}
