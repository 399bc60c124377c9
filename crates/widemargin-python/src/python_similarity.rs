//! Python similarities and the samples that they compare.

use std::any::Any;
use std::sync::{Arc, OnceLock, mpsc};

use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use widemargin::data::{AnySamples, Collection, OwnSamples};
use widemargin::similarity::{AnySimilarity, Metadata, Similarity};
use widemargin::{Error, Result};

use crate::errors::raise;
use crate::work::{ToCaller, ask};

/// A function and its name.
pub type PythonCall = (Py<PyAny>, String);

/// The specs of built-in similarities, and Python similarities.
pub type Similarities = (Vec<String>, Vec<PythonCall>);

/// The combined similarities, not fitted.
pub fn combined((specs, calls): Similarities) -> PyResult<AnySimilarity> {
    let call = |(function, name): PythonCall| {
        let n_polynomials = Python::attach(|py| function.getattr(py, "n_polynomials")?.extract(py));
        let unread = |error: PyErr| Error::parameter("n_polynomials", error, "a whole number");
        Ok(PythonSimilarity { function: Arc::new(function), n_polynomials: n_polynomials.map_err(unread)?, name })
    };
    let calls = calls.into_iter().map(call).collect::<Result<Vec<_>>>();
    calls.and_then(|calls| AnySimilarity::with_own(&specs, calls)).map_err(raise)
}

/// A user's sequence: `pick(sequence, rows)` returns some of its samples.
#[derive(Debug)]
pub struct Sequence {
    sequence: Py<PyAny>,
    pick: Py<PyAny>,
    /// The channel to the calling thread. The bases of a model have a closed one, which is never used.
    to_caller: OnceLock<ToCaller>,
}

impl Sequence {
    pub fn new(sequence: Py<PyAny>, pick: Py<PyAny>) -> Arc<Self> {
        Arc::new(Sequence { sequence, pick, to_caller: OnceLock::new() })
    }

    /// The sequence of samples from Python.
    fn of(samples: &OwnSamples) -> Result<&Self> {
        let (method, wanted) = ("a Python similarity".into(), "objects of Python");
        let sequence = (&*samples.whole as &dyn Any).downcast_ref();
        sequence.ok_or(Error::Kind { found: "other objects", method, wanted })
    }

    fn select<'py>(&self, py: Python<'py>, rows: Option<&[usize]>) -> PyResult<Bound<'py, PyAny>> {
        let Some(rows) = rows else { return Ok(self.sequence.bind(py).clone()) };
        let rows = PyArray1::from_iter(py, rows.iter().map(|&row| row as i64));
        self.pick.bind(py).call1((&self.sequence, rows))
    }

    fn to_caller(&self) -> &ToCaller {
        self.to_caller.get_or_init(|| mpsc::channel().0)
    }
}

impl Collection for Sequence {
    fn pick(self: Arc<Self>, rows: Arc<[usize]>) -> Result<Arc<dyn Collection>> {
        let whole = self.clone();
        ask(self.to_caller(), "bases", move |py| {
            let (sequence, pick) = (whole.select(py, Some(&rows))?.unbind(), whole.pick.clone_ref(py));
            let picked: Arc<dyn Collection> = Arc::new(Sequence { sequence, pick, to_caller: whole.to_caller.clone() });
            Ok(picked)
        })
    }
}

/// Sets the channel on which samples from Python are compared.
pub fn connect(samples: &AnySamples, to_caller: &ToCaller) {
    if let AnySamples::Own(samples) = samples
        && let Ok(sequence) = Sequence::of(samples)
    {
        sequence.to_caller.get_or_init(|| to_caller.clone());
    }
}

/// A Python similarity: a function of samples and bases, and its name.
#[derive(Clone)]
struct PythonSimilarity {
    function: Arc<Py<PyAny>>,
    /// Further columns of its blocks.
    n_polynomials: usize,
    name: String,
}

impl PythonSimilarity {
    /// The block of samples × bases, on the calling thread; Python checks its shape.
    fn values(&self, py: Python<'_>, samples: &OwnSamples, bases: &OwnSamples) -> PyResult<Vec<f32>> {
        let select = |samples: &OwnSamples| Sequence::of(samples).map_err(raise)?.select(py, samples.rows.as_deref());
        let block = self.function.bind(py).call1((select(samples)?, select(bases)?))?;
        let block: PyReadonlyArray2<'_, f32> = block.extract()?;
        Ok(block.as_slice()?.to_vec())
    }
}

/// Its symmetry is checked. It can be interrupted by a signal at any time.
impl Similarity for PythonSimilarity {
    type Samples = OwnSamples;

    fn spec(&self) -> String {
        self.name.clone()
    }

    fn unfitted(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn block(&self, bases: &OwnSamples, samples: &OwnSamples, block: &mut [f32]) -> Result<()> {
        let (similarity, bases, compared) = (self.clone(), bases.clone(), samples.clone());
        let to_caller = Sequence::of(samples)?.to_caller();
        block.copy_from_slice(&ask(to_caller, &self.name, move |py| similarity.values(py, &compared, &bases))?);
        Ok(())
    }

    fn n_columns(&self, bases: &OwnSamples) -> usize {
        bases.n + self.n_polynomials
    }

    fn metadata(&self) -> Metadata {
        Metadata { n_polynomials: self.n_polynomials, ..Metadata::default() }
    }
}
