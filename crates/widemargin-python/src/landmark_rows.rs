//! A worker's share of a step on landmarks: each call is a function of the rows and of the result of an earlier call.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use widemargin::Result;
use widemargin::monitor::Monitor;
use widemargin::problem::OneVsRest;
use widemargin::solve::thin_plate::{PointSums, RowSums, RowsApart, RowsState};

use crate::convert::shaped;
use crate::errors::raise;

/// z at the current points, z at the points evaluated last, whether rows are counted, and the excluded fold.
type Memory<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, bool>, Option<u32>);
type MemoryOut<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<bool>>, Option<u32>);

/// Changes of the Hessians, right-hand sides, sums and maxima; one row per live problem.
type PointSumsOut<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// Rows of features with their classes and weights.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct LandmarkRows {
    features: Py<PyAny>,
    n_penalised: usize,
    codes: Vec<u32>,
    n_classes: usize,
    roots: Vec<f64>,
    units: Vec<f64>,
}

impl LandmarkRows {
    fn with<'py, T: Send>(
        &self,
        py: Python<'py>,
        memory: Option<&Memory<'_>>,
        work: impl FnOnce(&mut dyn RowSums) -> Result<T> + Send,
    ) -> PyResult<(T, MemoryOut<'py>)> {
        let state = match memory {
            None => RowsState::default(),
            Some((scores, ahead, counted, absent)) => RowsState {
                scores: scores.as_slice()?.to_vec(),
                ahead: ahead.as_slice()?.to_vec(),
                counted: counted.as_slice()?.to_vec(),
                absent: *absent,
            },
        };
        let features: PyReadonlyArray2<'_, f64> = self.features.bind(py).extract()?;
        let features = features.as_slice()?;
        let targets = OneVsRest::new(&self.codes, self.n_classes);
        let (told, state) = py
            .detach(|| {
                let rows = RowsApart {
                    features,
                    n_penalised: self.n_penalised,
                    targets,
                    roots: &self.roots,
                    units: &self.units,
                    threads: 1,
                };
                rows.with(state, &Monitor::none(), work)
            })
            .map_err(raise)?;
        let RowsState { scores, ahead, counted, absent } = state;
        let (scores, ahead) = (PyArray1::from_vec(py, scores), PyArray1::from_vec(py, ahead));
        let memory = (scores, ahead, PyArray1::from_vec(py, counted), absent);
        Ok((told, memory))
    }

    fn width(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.features.bind(py).extract::<PyReadonlyArray2<'_, f64>>()?.shape()[1])
    }

    fn n_problems(&self) -> usize {
        OneVsRest::new(&self.codes, self.n_classes).n_problems()
    }

    /// Zeros for live problems, and empty vectors for others.
    fn hessians(&self, live: &[usize], width: usize) -> Vec<Vec<f64>> {
        let room = |problem| if live.contains(&problem) { vec![0.0; width * width] } else { Vec::new() };
        (0..self.n_problems()).map(room).collect()
    }
}

fn out<'py>(py: Python<'py>, changes: Vec<f64>, told: Vec<PointSums>, width: usize) -> PyResult<PointSumsOut<'py>> {
    let n = told.len();
    let square = changes.len().checked_div(width * width).unwrap_or(0);
    let sums = told.iter().flat_map(|told| [told.loss, told.pull, told.n_inside as f64]).collect();
    let largest = told.iter().flat_map(|told| [told.apart, told.size]).collect();
    let right = told.into_iter().flat_map(|told| told.right).collect();
    let changes = shaped(py, changes, square, width * width)?;
    Ok((changes, shaped(py, right, n, width)?, shaped(py, sums, n, 3)?, shaped(py, largest, n, 2)?))
}

#[pymethods]
impl LandmarkRows {
    #[new]
    fn new(
        features: Py<PyAny>,
        n_penalised: usize,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        roots: PyReadonlyArray1<'_, f64>,
        units: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (codes, roots, units) =
            (codes.as_slice()?.to_vec(), roots.as_slice()?.to_vec(), units.as_slice()?.to_vec());
        Ok(LandmarkRows { features, n_penalised, codes, n_classes, roots, units })
    }

    /// The state, and the rows' sums, of all problems; the Hessian is one row, the same for all.
    fn origin<'py>(&self, py: Python<'py>) -> PyResult<(MemoryOut<'py>, PointSumsOut<'py>)> {
        let ((hessian, told), memory) = self.with(py, None, |rows| rows.origin())?;
        Ok((memory, out(py, hessian, told, self.width(py)?)?))
    }

    fn look<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        points: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(MemoryOut<'py>, PointSumsOut<'py>)> {
        let (points, width) = (points.as_slice()?, self.width(py)?);
        let mut hessians = self.hessians(&live, width);
        let (told, memory) = self.with(py, Some(&memory), |rows| rows.look(&live, points, Some(&mut hessians)))?;
        Ok((memory, out(py, hessians.concat(), told, width)?))
    }

    fn accept<'py>(&self, py: Python<'py>, memory: Memory<'py>, live: Vec<usize>) -> PyResult<MemoryOut<'py>> {
        Ok(self.with(py, Some(&memory), |rows| rows.accept(&live))?.1)
    }

    fn line_search_eval<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        places: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let places = places.as_slice()?;
        let found = self.with(py, Some(&memory), |rows| rows.line_search_eval(&live, places))?.0;
        shaped(py, found.concat(), live.len(), 2)
    }

    fn take_step<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        places: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<(MemoryOut<'py>, PointSumsOut<'py>)> {
        let (places, width) = (places.as_slice()?, self.width(py)?);
        let mut hessians = self.hessians(&live, width);
        let (told, memory) = self.with(py, Some(&memory), |rows| rows.take_step(&live, places, &mut hessians))?;
        Ok((memory, out(py, hessians.concat(), told, width)?))
    }

    /// The state with the rows of a fold excluded from now on, or all included.
    fn without<'py>(&self, py: Python<'py>, memory: Memory<'py>, fold: Option<u32>) -> PyResult<MemoryOut<'py>> {
        Ok(self.with(py, Some(&memory), |rows| rows.without(fold))?.1)
    }

    /// Σ w squared hinge and Σ w of misclassified rows, over the excluded rows.
    fn absent_rows(&self, py: Python<'_>, memory: Memory<'_>) -> PyResult<(f64, f64)> {
        let sums = self.with(py, Some(&memory), |rows| rows.absent_rows())?.0;
        Ok((sums.hinge, sums.wrong))
    }

    /// Σ w squared hinge and Σ w of misclassified rows, when left out.
    fn leave_one_out(
        &self,
        py: Python<'_>,
        memory: Memory<'_>,
        roots: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(f64, f64)> {
        let width = self.width(py)?;
        let roots: Vec<Vec<f64>> = roots.as_slice()?.chunks((width * width).max(1)).map(<[f64]>::to_vec).collect();
        let sums = self.with(py, Some(&memory), |rows| rows.leave_one_out(&roots))?.0;
        Ok((sums.hinge, sums.wrong))
    }
}
