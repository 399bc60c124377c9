//! Runs work on a separate thread, while the calling thread handles Ctrl-C, reports progress and evaluates Python
//! similarities.
//!
//! Python code runs only on the calling thread: signals reach only the main thread, so that Ctrl-C interrupts a user's
//! similarity immediately, and no two of its calls run concurrently.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use widemargin::monitor::{Monitor, Progress};
use widemargin::{Error, Result};

use crate::errors::raise;

/// Interval of signal checks while no message arrives.
const TICK: Duration = Duration::from_millis(50);

/// The stack size of the main thread, so that recursion in the library has the same limit.
const STACK: usize = 8 << 20;

/// A request that only Python can answer; the working thread waits for it until it is answered or dropped.
type Question = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// Messages from the working thread to the calling one.
pub enum Message {
    Progress(Progress),
    Ask(Question),
    Done,
}

/// Sends `Done` when the work ends, also by a panic.
struct SendDone(Sender<Message>);

impl Drop for SendDone {
    fn drop(&mut self) {
        // The calling thread waits for this message.
        let _ = self.0.send(Message::Done);
    }
}

/// A channel to the calling thread, for requests that only Python can answer.
pub type ToCaller = Sender<Message>;

/// The time limit, and the monitor.
#[derive(Default)]
pub struct Patience<'py> {
    /// Seconds, at least 0.
    pub time_limit: Option<f64>,
    pub monitor: Option<Bound<'py, PyAny>>,
    /// Whether work that is cancelled returns the best so far: Ctrl-C is then not raised.
    pub wants_best: bool,
}

/// Runs the work without holding the GIL. An exception on the calling thread (from a signal, the monitor, or a
/// similarity) cancels it and is raised, with its full traceback.
pub fn conduct<T: Send>(
    py: Python<'_>,
    patience: &Patience<'_>,
    work: impl FnOnce(&Monitor<'_>, &ToCaller) -> Result<T> + Send,
) -> PyResult<T> {
    let (to_caller, messages) = mpsc::channel();
    let messages = Mutex::new(messages);
    let cancel = AtomicBool::new(false);
    // A limit beyond the range of the clock means no limit.
    let limit = patience.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let is_watched = patience.monitor.is_some();
    let mut raised: Option<PyErr> = None;

    let finished = thread::scope(|scope| {
        let cancel = &cancel;
        let body = move || {
            let done = SendDone(to_caller.clone());
            let sender = Mutex::new(to_caller.clone());
            let sink = move |progress| {
                let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = sender.send(Message::Progress(progress));
            };
            let mut monitor = Monitor::none().with_cancel(cancel);
            if let Some(limit) = limit {
                monitor = monitor.with_time_limit(limit);
            }
            if is_watched {
                monitor = monitor.with_progress(&sink);
            }
            let result = work(&monitor, &to_caller);
            drop(done);
            result
        };
        let worker = thread::Builder::new()
            .name("widemargin".into())
            .stack_size(STACK)
            .spawn_scoped(scope, body)
            .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
        loop {
            let wait = || messages.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK);
            let handled = match py.detach(wait) {
                Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Ok(Message::Ask(question)) if raised.is_none() => question(py),
                Ok(Message::Ask(_)) => Ok(()),
                Ok(Message::Progress(progress)) => match &patience.monitor {
                    Some(monitor) if raised.is_none() => {
                        let Progress { stage, done, total, gap } = progress;
                        monitor.call1((stage, done, total, gap)).map(drop)
                    }
                    _ => Ok(()),
                },
            };
            if let Err(error) = handled.and_then(|()| if raised.is_none() { py.check_signals() } else { Ok(()) }) {
                raised.get_or_insert(error);
                cancel.store(true, Ordering::Relaxed);
            }
        }
        py.detach(|| worker.join()).map_err(|panic| {
            PyRuntimeError::new_err(format!("a defect of widemargin, please report it: {}", message_of(&*panic)))
        })
    });
    match (raised, finished) {
        (Some(error), Ok(Ok(best))) if patience.wants_best && error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Ok(best)
        }
        (Some(error), _) => Err(error),
        (None, finished) => finished?.map_err(raise),
    }
}

/// Runs `answer` for the similarity `name` on the calling thread. The error is a placeholder for an exception there, which
/// `conduct` then raises.
pub fn ask<T: Send + 'static>(
    to_caller: &ToCaller,
    name: &str,
    answer: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
) -> Result<T> {
    let (reply, answered) = mpsc::sync_channel(1);
    let question: Question = Box::new(move |py| {
        // The working thread waits for the reply, so the channel is open.
        let _ = reply.send(answer(py)?);
        Ok(())
    });
    let answer = to_caller.send(Message::Ask(question)).ok().and_then(|()| answered.recv().ok());
    answer.ok_or_else(|| Error::Similarity { similarity: name.to_owned(), problem: "it raised an exception".into() })
}

/// The message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
