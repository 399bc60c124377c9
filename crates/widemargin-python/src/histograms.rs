//! What a power mean fit on several machines asks of its histograms.

use std::sync::Arc;

use pyo3::prelude::*;
use widemargin::model;
use widemargin::partition::{Remote, SampleRows};
use widemargin::similarity::AdditiveKernel;

use crate::errors::raise;
use crate::work::{Patience, conduct};
use crate::workers::PythonWorkers;

/// What features are multiplied by, where they are scaled, and the nodes of a kernel, for the samples that `rows` stands
/// for.
#[pyfunction]
pub(crate) fn scale_and_nodes(
    py: Python<'_>,
    rows: Py<PyAny>,
    kernel: &str,
    n_nodes: usize,
    is_scaled: bool,
) -> PyResult<(Option<Vec<f64>>, Vec<f64>)> {
    let (rows, kernel): (_, AdditiveKernel) = (Arc::new(rows), kernel.parse().map_err(raise)?);
    let (scaling, nodes) = conduct(py, &Patience::default(), |monitor, to_caller| {
        let mut samples = Remote::<SampleRows, _>::new(PythonWorkers::new(&rows, to_caller));
        model::scale_and_nodes(&mut samples, kernel, n_nodes, is_scaled, monitor)
    })?;
    Ok((scaling.map(|scaling| scaling.factors().to_vec()), nodes))
}
