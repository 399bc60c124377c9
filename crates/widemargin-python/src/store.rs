//! Samples in files larger than memory.

use std::path::PathBuf;

use numpy::PyArray1;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use widemargin::Error;
use widemargin::data::{Checkpoint, Resources, Source as _};
use widemargin_io::{CheckpointFolder, IoError, LabelColumn, ReadOptions, ScratchFile};

use crate::convert::{Class, shaped};
use crate::errors::raise;
use crate::work::{Patience, conduct};

/// The samples of a file or a folder of files, on disk, and the resources for a fit.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Store {
    pub samples: widemargin_io::Store,
    path: PathBuf,
    memory: u64,
    scratch: ScratchFile,
    checkpoint: Option<CheckpointFolder>,
}

impl Store {
    /// The resources of a fit.
    pub fn resources(&self) -> Resources<'_> {
        let checkpoint = self.checkpoint.as_ref().map(|folder| folder as &dyn Checkpoint);
        Resources { memory: self.memory, scratch: &self.scratch, checkpoint }
    }
}

#[pymethods]
impl Store {
    /// Reads the samples once, unless they can be read in place.
    #[new]
    #[pyo3(signature = (path, *, label, format, n_features, scratch, memory_limit, checkpoint, threads))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        label: Option<String>,
        format: Option<&str>,
        n_features: Option<usize>,
        scratch: PathBuf,
        memory_limit: Option<u64>,
        checkpoint: Option<PathBuf>,
        threads: usize,
    ) -> PyResult<Self> {
        let options = ReadOptions {
            label: match label.as_deref() {
                None => LabelColumn::None,
                Some("auto") => LabelColumn::Auto,
                Some(column) => column.parse().unwrap_or(LabelColumn::Auto),
            },
            format: format.map(|name| name.parse().map_err(PyValueError::new_err::<String>)).transpose()?,
            n_features,
            ..ReadOptions::default()
        };
        let limit = memory_limit.unwrap_or_else(widemargin_io::Store::default_memory);
        let checkpoint = checkpoint.map(|folder| CheckpointFolder::open(&folder)).transpose().map_err(raise)?;
        let (rows, scratch) = (ScratchFile::create(&scratch), ScratchFile::create(&scratch));
        let (rows, scratch) = (rows.map_err(raise)?, scratch.map_err(raise)?);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let opened = conduct(py, &Patience::default(), |monitor, _| {
            Ok(pool.install(|| widemargin_io::Store::open(&path, &options, rows, limit / 8, monitor)))
        })?;
        let samples = opened.map_err(refused)?;
        let memory = samples.memory_of(limit);
        Ok(Store { samples, path, memory, scratch, checkpoint })
    }

    #[getter]
    fn n_samples(&self) -> usize {
        self.samples.n_samples()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.samples.n_features()
    }

    /// The names of the features, if the files have some.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.samples.outline().feature_names.clone()
    }

    /// The classes and the class index of each sample, or the names of multilabel targets and their indicators.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<(Vec<Class>, Bound<'py, PyAny>)> {
        let outline = self.samples.outline();
        if let Some(indicators) = &outline.indicators {
            let (n, names) = (indicators.n_samples(), indicators.names.iter().map(Class::from).collect());
            return Ok((names, shaped(py, indicators.values.clone(), n, indicators.names.len())?.into_any()));
        }
        let labels = outline.require_labels(&self.path).map_err(refused)?;
        let classes = labels.classes().iter().map(Class::from).collect();
        Ok((classes, PyArray1::from_slice(py, labels.codes()).into_any()))
    }
}

/// The Python exception for an error in reading a file.
fn refused(error: IoError) -> PyErr {
    let message = match error.help() {
        Some(help) => format!("{error} ({help})"),
        None => error.to_string(),
    };
    match error {
        IoError::Library(error @ (Error::Cancelled { .. } | Error::Memory { .. } | Error::Io { .. })) => raise(error),
        IoError::Read { .. } | IoError::Write { .. } => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
