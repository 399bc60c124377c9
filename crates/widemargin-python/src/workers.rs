//! Rows that workers of a cluster hold: the Python object that stands for them is asked on the calling thread.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::partition::{Asked, Workers};
use widemargin::{Error, Result};

use crate::work::{Message, Question, ToCaller};

/// The Python object that stands for the rows, and the way to it: its method `ask` takes the name of a query, the query,
/// whether it changes what the parts remember and whether it has an answer, and gives the merged answer.
pub(crate) struct PythonWorkers {
    rows: Arc<Py<PyAny>>,
    to_caller: ToCaller,
}

impl PythonWorkers {
    pub fn new(rows: &Arc<Py<PyAny>>, to_caller: &ToCaller) -> Self {
        PythonWorkers { rows: Arc::clone(rows), to_caller: to_caller.clone() }
    }
}

/// A query on its way to the calling thread.
struct Request {
    rows: Arc<Py<PyAny>>,
    name: &'static str,
    query: Vec<u8>,
    changes_state: bool,
    has_answer: bool,
    reply: SyncSender<Option<Vec<u8>>>,
}

impl Question for Request {
    fn serve(self: Box<Self>, py: Python<'_>) -> PyResult<()> {
        let Request { rows, name, query, changes_state, has_answer, reply } = *self;
        let answer = || -> PyResult<Vec<u8>> {
            let given = (name, PyBytes::new(py, &query), changes_state, has_answer);
            Ok(rows.bind(py).call_method1("ask", given)?.extract::<&[u8]>()?.to_vec())
        };
        let (answer, result) = match answer() {
            Ok(answer) => (Some(answer), Ok(())),
            Err(error) => (None, Err(error)),
        };
        // The asking thread waits: it cannot have gone.
        let _ = reply.send(answer);
        result
    }

    fn refuse(self: Box<Self>) {
        let _ = self.reply.send(None);
    }
}

impl Workers for PythonWorkers {
    fn ask(&mut self, asked: Asked<'_>) -> Result<Vec<u8>> {
        let (reply, answer) = sync_channel(1);
        let Asked { name, query, changes_state, has_answer } = asked;
        let (rows, query) = (Arc::clone(&self.rows), query.to_vec());
        let request = Request { rows, name, query, changes_state, has_answer, reply };
        let is_sent = self.to_caller.send(Message::Ask(Box::new(request))).is_ok();
        match answer.recv() {
            Ok(Some(answer)) if is_sent => Ok(answer),
            // The exception is kept by the calling thread, and is what the caller sees.
            _ => Err(Error::Cancelled { stage: "solve" }),
        }
    }
}
