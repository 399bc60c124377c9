//! Work beside the interpreter: it runs on a thread of its own, while the calling thread hears Ctrl-C, tells of the
//! progress and answers for similarities that are Python's.
//!
//! Python code is run on the calling thread alone: a signal reaches only the main one, so that Ctrl-C interrupts a
//! user's similarity where it stands, and no two of its calls are ever under way at once.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use widemargin::monitor::{Monitor, Progress};
use widemargin::{Error, Result};

use crate::errors::raise;

/// How often signals are looked at while nothing else happens.
const TICK: Duration = Duration::from_millis(50);

/// Like the main thread's: a recursion in the library is as deep as it is there.
const STACK: usize = 8 << 20;

/// A question that only Python can answer; the working thread waits for it.
pub trait Question: Send {
    /// Answers it; without an answer where Python raises.
    fn serve(self: Box<Self>, py: Python<'_>) -> PyResult<()>;

    /// Hands over nothing.
    fn refuse(self: Box<Self>);
}

/// What the working thread tells the calling one.
pub enum Message {
    Progress(Progress),
    Ask(Box<dyn Question>),
    Done,
}

/// Sent when the work is over, however it ended.
struct Farewell(Sender<Message>);

impl Drop for Farewell {
    fn drop(&mut self) {
        // The caller waits for this very message.
        let _ = self.0.send(Message::Done);
    }
}

/// A channel to the thread that called, for what only Python can answer.
pub type ToCaller = Sender<Message>;

/// How long, and who is told.
#[derive(Default)]
pub struct Patience<'py> {
    pub time_limit: Option<f64>,
    pub monitor: Option<Bound<'py, PyAny>>,
}

impl<'py> Patience<'py> {
    pub fn new(time_limit: Option<f64>, monitor: Option<Bound<'py, PyAny>>) -> PyResult<Self> {
        if let Some(seconds) = time_limit
            && (seconds.is_nan() || seconds < 0.0)
        {
            return Err(PyValueError::new_err(format!("time_limit = {seconds} is not allowed: seconds, at least 0")));
        }
        Ok(Patience { time_limit, monitor })
    }
}

/// Does the work without holding the interpreter. An exception on the calling thread (a signal's, the watch's, or a
/// similarity's) cancels it and is what comes back, its traceback whole.
pub fn conduct<T: Send>(
    py: Python<'_>,
    patience: &Patience<'_>,
    work: impl FnOnce(&Monitor<'_>, &ToCaller) -> Result<T> + Send,
) -> PyResult<T> {
    let (to_caller, messages) = mpsc::channel();
    let messages = Mutex::new(messages);
    let cancel = AtomicBool::new(false);
    // A limit that no clock can hold is none.
    let limit = patience.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let is_watched = patience.monitor.is_some();
    let mut raised: Option<PyErr> = None;

    let finished = thread::scope(|scope| {
        let cancel = &cancel;
        let body = move || {
            let farewell = Farewell(to_caller.clone());
            let tell = Mutex::new(to_caller.clone());
            let sink = move |progress| {
                let tell = tell.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = tell.send(Message::Progress(progress));
            };
            let mut monitor = Monitor::none().with_cancel(cancel);
            if let Some(limit) = limit {
                monitor = monitor.with_time_limit(limit);
            }
            if is_watched {
                monitor = monitor.with_progress(&sink);
            }
            let result = work(&monitor, &to_caller);
            drop(farewell);
            result
        };
        let worker = thread::Builder::new()
            .name("widemargin".into())
            .stack_size(STACK)
            .spawn_scoped(scope, body)
            .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
        loop {
            let wait = || messages.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK);
            let met = match py.detach(wait) {
                Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Ok(Message::Ask(question)) if raised.is_none() => question.serve(py),
                Ok(Message::Ask(question)) => {
                    question.refuse();
                    Ok(())
                }
                Ok(Message::Progress(progress)) => match &patience.monitor {
                    Some(monitor) if raised.is_none() => {
                        let Progress { stage, done, total, gap } = progress;
                        monitor.call1((stage, done, total, gap)).map(drop)
                    }
                    _ => Ok(()),
                },
            };
            if let Err(error) = met.and_then(|()| if raised.is_none() { py.check_signals() } else { Ok(()) }) {
                raised.get_or_insert(error);
                cancel.store(true, Ordering::Relaxed);
            }
        }
        py.detach(|| worker.join()).map_err(|panic| {
            PyRuntimeError::new_err(format!("a defect of widemargin, please report it: {}", words_of(&*panic)))
        })
    });
    match raised {
        Some(error) => Err(error),
        None => finished?.map_err(raise),
    }
}

/// What a panic said.
fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}

/// The error that stands for an exception which the calling thread keeps.
pub fn elsewhere(similarity: &str) -> Error {
    Error::Similarity { similarity: similarity.to_owned(), problem: "it raised an exception".into() }
}
