//! Python similarities, alone or combined with built-in ones.

use std::ops::Range;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use widemargin::data::{AnySamples, Samples, SamplesView, Source, Training};
use widemargin::monitor::Monitor;
use widemargin::similarity::{AnySimilarity, PartOptions, Similarity};
use widemargin::{Error, Result};

use crate::samples::PySamples;
use crate::work::{Patience, ToCaller, ask, conduct, elsewhere};

/// A function and its name.
pub type PythonCall = (Py<PyAny>, String);

/// The specs of built-in similarities, and Python similarities.
pub type Similarities = (Vec<String>, Vec<PythonCall>);

/// A sequence, its length, the function that picks from it, and the fingerprints of its samples, if they are known.
pub type PythonObjects = (Py<PyAny>, usize, Py<PyAny>, Vec<u128>);

/// Samples for built-in similarities, and the same for Python similarities.
pub type Collected<'py> = (Option<PySamples<'py>>, Option<PythonObjects>);

/// The parts of a model with Python similarities apart from its bytes: these, its bases, and the state of descriptors.
pub type PythonParts<'py> = (Similarities, Collected<'py>, State);

/// A Python similarity: a function of samples and bases, and its name.
struct PythonSimilarity {
    function: Py<PyAny>,
    /// Further columns of its blocks.
    n_polynomials: usize,
    name: String,
}

/// A user's sequence: `pick(sequence, rows)` returns some of its samples.
pub struct Sequence {
    sequence: Py<PyAny>,
    n: usize,
    pick: Py<PyAny>,
    /// Of the content of each sample; empty if it is not known.
    fingerprints: Vec<u128>,
}

impl Sequence {
    pub fn new((sequence, n, pick, fingerprints): PythonObjects) -> Arc<Self> {
        Arc::new(Sequence { sequence, n, pick, fingerprints })
    }
}

/// Samples of a user's sequence, selected only when they are compared.
#[derive(Clone)]
pub struct Objects {
    whole: Arc<Sequence>,
    /// All of them if `None`.
    rows: Option<Arc<[usize]>>,
    /// The channel to the calling thread. The bases of an earlier fit have a closed one, which is never used.
    to_caller: ToCaller,
}

impl Objects {
    pub fn new(whole: Arc<Sequence>, to_caller: &ToCaller) -> Self {
        Objects { whole, rows: None, to_caller: to_caller.clone() }
    }

    fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.whole.n, |rows| rows.len())
    }

    fn select(&self, picked: &[usize]) -> Self {
        let rows = match &self.rows {
            None => picked.into(),
            Some(rows) => picked.iter().map(|&at| rows[at]).collect(),
        };
        Objects { rows: Some(rows), ..self.clone() }
    }

    fn for_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.rows {
            None => Ok(self.whole.sequence.bind(py).clone()),
            Some(rows) => {
                let rows = PyArray1::from_iter(py, rows.iter().map(|&row| row as i64));
                self.whole.pick.bind(py).call1((&self.whole.sequence, rows))
            }
        }
    }
}

impl PythonSimilarity {
    /// The block of samples × bases, on the calling thread.
    fn block(&self, py: Python<'_>, samples: &Objects, bases: &Objects) -> PyResult<Vec<f32>> {
        let block = self.function.bind(py).call1((samples.for_python(py)?, bases.for_python(py)?))?;
        let block: PyReadonlyArray2<'_, f32> = block.extract()?;
        let shape = (samples.len(), bases.len() + self.n_polynomials);
        let values = block.as_slice()?;
        if values.len() != shape.0 * shape.1 {
            let (name, found) = (&self.name, values.len());
            let problem = format!("similarity '{name}': {found} values for {} samples × {} bases", shape.0, shape.1);
            return Err(PyValueError::new_err(problem));
        }
        Ok(values.to_vec())
    }
}

/// The same samples for built-in and for Python similarities.
#[derive(Clone)]
pub struct CompositeSamples {
    pub ours: Option<AnySamples>,
    pub objects: Objects,
}

impl CompositeSamples {
    /// The same samples without a reference to the whole sequence.
    pub fn alone(&self) -> Result<Self> {
        let objects = self.objects.clone();
        let picked = ask(&self.objects.to_caller, move |py| {
            Ok((objects.for_python(py)?.unbind(), objects.len(), objects.whole.pick.clone_ref(py), Vec::new()))
        });
        let whole = Sequence::new(picked.ok_or_else(|| elsewhere("bases"))?);
        Ok(CompositeSamples { ours: self.ours.clone(), objects: Objects::new(whole, &self.objects.to_caller) })
    }
}

impl Samples for CompositeSamples {
    fn len(&self) -> usize {
        self.objects.len()
    }

    fn select(&self, rows: &[usize]) -> Self {
        let ours = self.ours.as_ref().map(|ours| Samples::select(ours, rows));
        CompositeSamples { ours, objects: self.objects.select(rows) }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        let row = self.objects.rows.as_ref().map_or(at, |rows| rows[at]);
        self.objects.whole.fingerprints.get(row).copied()
    }
}

/// Samples for built-in similarities.
pub fn needed<'py>((samples, _): Collected<'py>) -> PyResult<PySamples<'py>> {
    samples.ok_or_else(|| PyValueError::new_err("samples are missing"))
}

/// Samples for Python similarities and, if there are any, built-in ones.
pub fn both((samples, objects): Collected<'_>) -> PyResult<impl FnOnce(&ToCaller) -> CompositeSamples> {
    let objects = objects.ok_or_else(|| PyValueError::new_err("Python similarities need objects to compare"))?;
    let (ours, whole) = (samples.map(|samples| samples.owned()).transpose()?, Sequence::new(objects));
    Ok(move |to_caller: &ToCaller| CompositeSamples { ours, objects: Objects::new(whole, to_caller) })
}

/// What `work` makes of samples: for Python similarities, or else for built-in ones.
pub fn on_samples<T: Send>(
    py: Python<'_>,
    patience: &Patience<'_>,
    samples: Collected<'_>,
    for_python: bool,
    work: impl FnOnce(&SamplesView<'_>, &Monitor<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    if for_python {
        let source = both(samples)?;
        return conduct(py, patience, |monitor, to_caller| work(&SamplesView::Own(&source(to_caller)), monitor));
    }
    let samples = needed(samples)?;
    let view = samples.view()?;
    conduct(py, patience, |monitor, _| work(&view, monitor))
}

/// The learned parameters of descriptors, by name.
pub type State = Vec<(String, Vec<f32>)>;

/// Combined similarities: built-in ones first, then Python ones.
pub struct CompositeSimilarity {
    ours: Option<AnySimilarity>,
    calls: Vec<Arc<PythonSimilarity>>,
}

impl CompositeSimilarity {
    /// Unfitted.
    pub fn new((specs, calls): Similarities) -> Result<Self> {
        let ours = if specs.is_empty() { None } else { Some(AnySimilarity::new(&specs)?) };
        let call = |(function, name): (Py<PyAny>, String)| {
            let n_polynomials = Python::attach(|py| function.getattr(py, "n_polynomials")?.extract(py));
            let unread = |error: PyErr| Error::parameter("n_polynomials", error, "a whole number");
            Ok(Arc::new(PythonSimilarity { function, n_polynomials: n_polynomials.map_err(unread)?, name }))
        };
        let calls: Vec<Arc<PythonSimilarity>> = calls.into_iter().map(call).collect::<Result<_>>()?;
        let n_parts = ours.as_ref().map_or(0, Similarity::n_parts) + calls.len();
        if let Some(ours) = ours.as_ref().filter(|ours| ours.has_features() && !calls.is_empty()) {
            let expected = "only similarities, not features, together with a function";
            return Err(Error::parameter("similarity", ours.spec(), expected));
        }
        match calls.iter().find(|call| call.n_polynomials > 0) {
            Some(call) if n_parts > 1 => {
                Err(Error::parameter("similarity", &call.name, "a similarity with polynomials cannot be combined"))
            }
            _ => Ok(CompositeSimilarity { ours, calls }),
        }
    }

    /// The learned parameters of the built-in similarities' descriptors.
    pub fn state(&self) -> State {
        let state = self.ours.as_ref().map(AnySimilarity::state).unwrap_or_default();
        state.into_iter().map(|(name, numbers)| (name, numbers.to_vec())).collect()
    }

    /// A fitted similarity from its [`CompositeSimilarity::state`].
    pub fn restored(similarities: Similarities, state: &State) -> Result<Self> {
        let mut similarity = CompositeSimilarity::new(similarities)?;
        if let Some(ours) = &mut similarity.ours {
            ours.restore(&mut |key| match state.iter().find(|(name, _)| name == key) {
                Some((_, numbers)) => Ok(numbers.clone()),
                None => {
                    let expected = "the state of the fitted model";
                    Err(Error::shape("state of the descriptors", format!("no '{key}'"), expected))
                }
            })?;
        }
        Ok(similarity)
    }

    /// The built-in similarities, if a part is one of theirs.
    fn ours_of(&self, part: usize) -> Option<&AnySimilarity> {
        self.ours.as_ref().filter(|ours| part < ours.n_parts())
    }

    fn n_ours(&self) -> usize {
        self.ours.as_ref().map_or(0, Similarity::n_parts)
    }
}

/// A source restricted to the samples of the built-in similarities.
struct Ours<'a>(&'a dyn Source<Samples = CompositeSamples>);

fn ours_of(samples: CompositeSamples) -> Result<AnySamples> {
    let expected = "samples for built-in similarities too";
    samples.ours.ok_or_else(|| Error::shape("samples", "objects alone", expected))
}

impl Source for Ours<'_> {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.0.n_samples()
    }

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        ours_of(self.0.chunk(rows)?)
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        ours_of(self.0.select(rows)?)
    }
}

impl Similarity for CompositeSimilarity {
    type Samples = CompositeSamples;

    fn spec(&self) -> String {
        (0..self.n_parts()).map(|part| self.part(part)).collect::<Vec<_>>().join(" ")
    }

    fn unfitted(&self) -> Option<Self> {
        let ours = match &self.ours {
            Some(ours) => Some(ours.unfitted()?),
            None => None,
        };
        Some(CompositeSimilarity { ours, calls: self.calls.clone() })
    }

    fn fit(&mut self, training: &Training<'_, CompositeSamples>) -> Result<()> {
        match &mut self.ours {
            None => Ok(()),
            Some(ours) => ours.fit(&training.of(&Ours(training.samples))),
        }
    }

    fn describe(&self, samples: CompositeSamples) -> Result<CompositeSamples> {
        let CompositeSamples { ours, objects } = samples;
        let ours = match (&self.ours, ours) {
            (Some(similarity), Some(samples)) => Some(similarity.describe(samples)?),
            (_, ours) => ours,
        };
        Ok(CompositeSamples { ours, objects })
    }

    fn block(&self, bases: &CompositeSamples, samples: &CompositeSamples, block: &mut [f32]) -> Result<()> {
        let size = self.n_columns(bases) * samples.objects.len();
        let (first, rest) = block.split_at_mut(self.n_ours() * size);
        if let (Some(similarity), Some(bases), Some(samples)) = (&self.ours, &bases.ours, &samples.ours) {
            similarity.block(bases, samples, first)?;
        }
        for (call, out) in self.calls.iter().zip(rest.chunks_mut(size.max(1))) {
            let (similarity, bases) = (Arc::clone(call), bases.objects.clone());
            let (to_caller, samples) = (samples.objects.to_caller.clone(), samples.objects.clone());
            let values = ask(&to_caller, move |py| similarity.block(py, &samples, &bases));
            out.copy_from_slice(&values.ok_or_else(|| elsewhere(&call.name))?);
        }
        Ok(())
    }

    fn n_columns(&self, bases: &CompositeSamples) -> usize {
        bases.objects.len() + self.n_polynomials()
    }

    fn n_polynomials(&self) -> usize {
        self.calls.iter().map(|call| call.n_polynomials).sum()
    }

    fn seconds_per_pair(&self, bases: &CompositeSamples) -> f64 {
        // Python similarities can be interrupted by a signal at any time.
        match (&self.ours, &bases.ours) {
            (Some(similarity), Some(bases)) => similarity.seconds_per_pair(bases),
            _ => 0.0,
        }
    }

    fn kernel_distances(
        &self,
        part: usize,
        bases: &CompositeSamples,
        samples: &CompositeSamples,
        block: &mut [f32],
    ) -> Result<bool> {
        match (self.ours_of(part), &bases.ours, &samples.ours) {
            (Some(ours), Some(bases), Some(samples)) => ours.kernel_distances(part, bases, samples, block),
            _ => Ok(false),
        }
    }

    fn n_parts(&self) -> usize {
        self.n_ours() + self.calls.len()
    }

    fn part(&self, part: usize) -> String {
        let name = || self.calls[part - self.n_ours()].name.clone();
        self.ours_of(part).map_or_else(name, |ours| ours.part(part))
    }

    fn options(&self, part: usize) -> PartOptions {
        self.ours_of(part).map_or_else(PartOptions::default, |ours| ours.options(part))
    }

    fn set_weight(&mut self, part: usize, weight: f64) {
        if let Some(ours) = self.ours.as_mut().filter(|ours| part < ours.n_parts()) {
            ours.set_weight(part, weight);
        }
    }

    fn is_symmetric(&self, part: usize) -> bool {
        // The symmetry of Python similarities is checked.
        self.ours_of(part).is_some_and(|ours| ours.is_symmetric(part))
    }
}
