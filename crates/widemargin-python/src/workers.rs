//! Rows on the workers of a cluster: queries are sent to the Python object that represents them, on the calling thread.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::partition::{EncodedQuery, Workers};
use widemargin::{Error, Result};

use crate::work::{self, ToCaller};

/// The Python object that represents the rows, and the channel to its thread. Its method `ask` has the arguments name of the
/// query, query, whether it changes the state of the parts, and whether it has an answer; it returns the merged answer.
pub(crate) struct PythonWorkers {
    rows: Arc<Py<PyAny>>,
    to_caller: ToCaller,
}

impl PythonWorkers {
    pub fn new(rows: &Arc<Py<PyAny>>, to_caller: &ToCaller) -> Self {
        PythonWorkers { rows: Arc::clone(rows), to_caller: to_caller.clone() }
    }
}

impl Workers for PythonWorkers {
    fn ask(&mut self, encoded: EncodedQuery<'_>) -> Result<Vec<u8>> {
        let EncodedQuery { name, query, changes_state, has_answer } = encoded;
        let (rows, query) = (Arc::clone(&self.rows), query.to_vec());
        let answer = work::ask(&self.to_caller, move |py| {
            let arguments = (name, PyBytes::new(py, &query), changes_state, has_answer);
            Ok(rows.bind(py).call_method1("ask", arguments)?.extract::<&[u8]>()?.to_vec())
        });
        answer.ok_or(Error::Cancelled { stage: "solve" })
    }
}
