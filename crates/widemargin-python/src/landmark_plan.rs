//! The steps of a distributed thin plate fit on landmarks: the workers' sums, and the path on the client.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use widemargin::Result;
use widemargin::data::Label;
use widemargin::model::{self, CChoice, ColumnSums, ModelFacts, ThinPlateParams, TrainingSettings};
use widemargin::similarity::ConditionalKernel;
use widemargin::solve::Stage;
use widemargin::solve::thin_plate::{self, FirstSums, Hessians, LeftOutSums, PointSums, RowSums, RowsShape};

use crate::convert::{Asked, Class, shaped};
use crate::errors::raise;
use crate::remote_objective::{Numbers, Standing, nothing, numbers};
use crate::samples::{Given, with_rows};
use crate::thin_plate::ThinPlateModel;
use crate::work::{Patience, conduct};

/// Weight, means and sums of squared deviations.
type Columns<'py> = (f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
type ColumnsIn<'py> = (f64, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// The number of polynomials, a triangle and a product, column-major.
type First<'py> = (usize, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
type FirstIn<'py> = (usize, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// Landmarks, and the indices of these samples.
type Chosen<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>);

fn columns_in((total, mean, squares): &ColumnsIn<'_>) -> PyResult<ColumnSums> {
    Ok(ColumnSums { total: *total, mean: mean.as_slice()?.to_vec(), squares: squares.as_slice()?.to_vec() })
}

fn columns_out<'py>(py: Python<'py>, sums: ColumnSums) -> Columns<'py> {
    (sums.total, PyArray1::from_vec(py, sums.mean), PyArray1::from_vec(py, sums.squares))
}

fn first_in((n_polynomials, triangle, cross): &FirstIn<'_>) -> PyResult<FirstSums> {
    let (triangle, cross) = (triangle.as_slice()?.to_vec(), cross.as_slice()?.to_vec());
    Ok(FirstSums { n_polynomials: *n_polynomials, triangle, cross })
}

fn first_out<'py>(py: Python<'py>, sums: FirstSums) -> First<'py> {
    (sums.n_polynomials, PyArray1::from_vec(py, sums.triangle), PyArray1::from_vec(py, sums.cross))
}

/// Statistics of the columns of the samples of weight above 0.
#[pyfunction]
pub(crate) fn column_sums<'py>(
    py: Python<'py>,
    samples: Given<'_>,
    weights: PyReadonlyArray1<'_, f64>,
) -> PyResult<Columns<'py>> {
    let weights = weights.as_slice()?;
    let found = with_rows!(&samples, "the thin plate SVM", view => {
        conduct(py, &Patience::default(), |_, _| ColumnSums::of(&view, weights))
    })?;
    Ok(columns_out(py, found))
}

/// Merges two of them.
#[pyfunction]
pub(crate) fn merged_columns<'py>(py: Python<'py>, a: ColumnsIn<'_>, b: ColumnsIn<'_>) -> PyResult<Columns<'py>> {
    Ok(columns_out(py, columns_in(&a)?.merged(&columns_in(&b)?)))
}

/// Merges the first sums of two partitions.
#[pyfunction]
pub(crate) fn merged_first<'py>(py: Python<'py>, a: FirstIn<'_>, b: FirstIn<'_>) -> PyResult<First<'py>> {
    Ok(first_out(py, first_in(&a)?.merged(&first_in(&b)?)))
}

/// Candidate rows for landmarks: 25 per landmark, drawn, or the first few for "index".
#[pyfunction]
pub(crate) fn draw_rows<'py>(
    py: Python<'py>,
    weights: PyReadonlyArray1<'_, f64>,
    n_basis: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let most = n_basis.saturating_mul(model::SAMPLES_A_LANDMARK);
    let rows = model::draw_rows(weights.as_slice()?, most, seed);
    Ok(PyArray1::from_iter(py, rows.into_iter().map(|row| row as i64)))
}

/// Landmarks (landmarks, features) and the indices of these samples, empty if they are means.
#[pyfunction]
pub(crate) fn choose_landmarks<'py>(
    py: Python<'py>,
    samples: Given<'_>,
    weights: PyReadonlyArray1<'_, f64>,
    basis: &str,
    n_basis: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Chosen<'py>> {
    let (weights, choice) = (weights.as_slice()?, basis.parse().map_err(raise)?);
    let (bases, chosen, width) = with_rows!(&samples, "the thin plate SVM", view => {
        let width = widemargin::data::Rows::n_cols(&view);
        conduct(py, &Patience::default(), |_, _| {
            let (bases, chosen) = model::choose_landmarks(&view, weights, choice, n_basis, seed, threads)?;
            Ok((bases, chosen, width))
        })
    })?;
    let n = bases.len() / width.max(1);
    Ok((shaped(py, bases, n, width)?, PyArray1::from_iter(py, chosen.into_iter().map(|row| row as i64))))
}

/// The treatment of the polynomials.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct SettledPolynomials(model::SettledPolynomials);

#[pymethods]
impl SettledPolynomials {
    #[getter]
    fn penalised<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.penalised())
    }

    #[getter]
    fn n_penalised(&self) -> usize {
        self.0.n_penalised()
    }

    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.columns())
    }

    #[getter]
    fn cross<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.cross())
    }

    #[getter]
    fn n_free(&self) -> usize {
        self.0.n_free()
    }
}

/// A kernel on landmarks.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct LandmarkPlan(model::LandmarkPlan);

#[pymethods]
impl LandmarkPlan {
    #[new]
    fn new(py: Python<'_>, kernel: &str, bases: PyReadonlyArray2<'_, f64>, columns: ColumnsIn<'_>) -> PyResult<Self> {
        let kernel: ConditionalKernel = kernel.parse().map_err(raise)?;
        let (bases, columns) = (bases.as_slice()?.to_vec(), columns_in(&columns)?);
        py.detach(|| model::LandmarkPlan::new(kernel, bases, &columns)).map(LandmarkPlan).map_err(raise)
    }

    fn first_sums<'py>(
        &self,
        py: Python<'py>,
        samples: Given<'_>,
        weights: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<First<'py>> {
        let weights = weights.as_slice()?;
        let found = with_rows!(&samples, "the thin plate SVM", view => {
            conduct(py, &Patience::default(), |_, _| self.0.first_sums(&view, weights))
        })?;
        Ok(first_out(py, found))
    }

    fn settle(
        &self,
        sums: FirstIn<'_>,
        null_space: &str,
        n: usize,
        total: f64,
        separates: bool,
    ) -> PyResult<SettledPolynomials> {
        let null_space = null_space.parse().map_err(raise)?;
        let settled = self.0.settle(&first_in(&sums)?, null_space, n, total, separates);
        settled.map(SettledPolynomials).map_err(raise)
    }

    /// Features (rows of weight above 0, width): with `cross` None only those of the polynomials.
    fn features<'py>(
        &self,
        py: Python<'py>,
        samples: Given<'_>,
        weights: PyReadonlyArray1<'_, f64>,
        penalised: PyReadonlyArray1<'_, f64>,
        columns: PyReadonlyArray1<'_, f64>,
        cross: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (weights, penalised, columns) = (weights.as_slice()?, penalised.as_slice()?, columns.as_slice()?);
        let cross = cross.as_ref().map(|cross| cross.as_slice()).transpose()?;
        let features = with_rows!(&samples, "the thin plate SVM", view => {
            conduct(py, &Patience::default(), |_, _| match cross {
                None => self.0.polynomial_features(&view, weights, columns),
                Some(cross) => self.0.features(&view, weights, penalised, columns, cross),
            })
        })?;
        let n = weights.iter().filter(|weight| **weight > 0.0).count();
        let width = features.len().checked_div(n).unwrap_or(0);
        shaped(py, features, n, width)
    }

    /// The path over remote rows, accessed through `rows`, and the model.
    #[pyo3(signature = (settled, rows, classes, *, n_rows, n_problems, class_weights, support, C, tol, max_iter, threads, stages,
        time_limit, monitor, training, basis, feature_names = None))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are the solver's parameters, passed by name")]
    fn fit(
        &self,
        py: Python<'_>,
        settled: PyRef<'_, SettledPolynomials>,
        rows: Py<PyAny>,
        classes: Vec<Class>,
        n_rows: usize,
        n_problems: usize,
        class_weights: Vec<f64>,
        support: Vec<u64>,
        C: Option<f64>,
        tol: f64,
        max_iter: u32,
        threads: usize,
        stages: Vec<(String, f64)>,
        time_limit: Option<f64>,
        monitor: Option<Bound<'_, PyAny>>,
        training: Asked,
        basis: String,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<ThinPlateModel> {
        let (plan, settled) = (self.0.clone(), settled.0.clone());
        let params = ThinPlateParams::new(plan.kernel())
            .c(C.map_or(CChoice::Auto, CChoice::Value))
            .tol(tol)
            .max_steps(max_iter)
            .threads(threads);
        let classes: Vec<Label> = classes.into_iter().map(Label::from).collect();
        let training = TrainingSettings { landmarks: Some(basis), ..training.settings(&classes)? };
        let facts = ModelFacts {
            classes,
            class_weights,
            support,
            stages: stages.into_iter().map(|(name, seconds)| Stage { name, seconds }).collect(),
        };
        let shape = RowsShape { n_rows, n_penalised: settled.n_penalised(), n_free: settled.n_free(), n_problems };
        let rows = Arc::new(rows);
        let model = conduct(py, &Patience::new(time_limit, monitor)?, |monitor, to_caller| {
            let mut rows = RowsElsewhere { standing: Standing { rows, to_caller: to_caller.clone() }, shape };
            let model = plan.fit(&params, settled, &mut rows, facts, monitor)?;
            model.with_training(training).with_feature_names(feature_names)
        })?;
        Ok(ThinPlateModel(model))
    }
}

/// Whether remote rows of polynomial features alone, accessed through `rows`, separate a problem.
#[pyfunction]
#[pyo3(signature = (rows, *, n_rows, n_free, n_problems, total, threads))]
pub(crate) fn rows_separate(
    py: Python<'_>,
    rows: Py<PyAny>,
    n_rows: usize,
    n_free: usize,
    n_problems: usize,
    total: f64,
    threads: usize,
) -> PyResult<bool> {
    let shape = RowsShape { n_rows, n_penalised: 0, n_free, n_problems };
    let rows = Arc::new(rows);
    conduct(py, &Patience::default(), |monitor, to_caller| {
        let mut rows = RowsElsewhere { standing: Standing { rows, to_caller: to_caller.clone() }, shape };
        thin_plate::rows_separate(&mut rows, total, threads, monitor)
    })
}

/// Sums over remote rows, accessed through a Python object.
struct RowsElsewhere {
    standing: Standing,
    shape: RowsShape,
}

/// Changes of the Hessians and the rows' sums.
type PointSumsIn = (Vec<f64>, Vec<PointSums>);

fn told(answer: &Bound<'_, PyAny>) -> PyResult<PointSumsIn> {
    let parts = answer.cast::<PyTuple>()?;
    let rights: PyReadonlyArray2<'_, f64> = parts.get_item(1)?.extract()?;
    let width = rights.shape()[1];
    let (rights, sums, largest) = (rights.as_slice()?, numbers(&parts.get_item(2)?)?, numbers(&parts.get_item(3)?)?);
    let each = sums.chunks_exact(3).zip(largest.chunks_exact(2)).enumerate();
    let told = each.map(|(at, (sums, largest))| PointSums {
        right: rights[at * width..(at + 1) * width].to_vec(),
        loss: sums[0],
        pull: sums[1],
        n_inside: sums[2] as u64,
        apart: largest[0],
        size: largest[1],
    });
    Ok((numbers(&parts.get_item(0)?)?, told.collect()))
}

fn pair(answer: &Bound<'_, PyAny>) -> PyResult<LeftOutSums> {
    let (hinge, wrong) = answer.extract()?;
    Ok(LeftOutSums { hinge, wrong })
}

impl RowsElsewhere {
    fn changed(
        &self,
        method: &'static str,
        live: &[usize],
        given: Numbers,
        hessians: Option<&mut Hessians>,
    ) -> Result<Vec<PointSums>> {
        let (changes, told) = self.standing.ask(method, live, vec![given], told)?;
        if let Some(hessians) = hessians {
            let square = self.shape.width() * self.shape.width();
            for (&problem, change) in live.iter().zip(changes.chunks(square.max(1))) {
                hessians[problem].iter_mut().zip(change).for_each(|(sum, x)| *sum += x);
            }
        }
        Ok(told)
    }
}

impl RowSums for RowsElsewhere {
    fn shape(&self) -> RowsShape {
        self.shape
    }

    fn origin(&mut self) -> Result<(Vec<f64>, Vec<PointSums>)> {
        let live: Vec<usize> = (0..self.shape.n_problems).collect();
        self.standing.ask("origin", &live, Vec::new(), told)
    }

    fn look(&mut self, live: &[usize], points: &[f64], hessians: Option<&mut Hessians>) -> Result<Vec<PointSums>> {
        self.changed("look", live, Numbers::rows(points, self.shape.width()), hessians)
    }

    fn accept(&mut self, live: &[usize]) -> Result<()> {
        self.standing.ask("accept", live, Vec::new(), nothing)
    }

    fn line_search_eval(&mut self, live: &[usize], places: &[f64]) -> Result<Vec<[f64; 2]>> {
        let found = self.standing.ask("line_search_eval", live, vec![Numbers::line(places)], numbers)?;
        Ok(found.as_chunks::<2>().0.to_vec())
    }

    fn take_step(&mut self, live: &[usize], places: &[f64], hessians: &mut Hessians) -> Result<Vec<PointSums>> {
        self.changed("take_step", live, Numbers::line(places), Some(hessians))
    }

    fn leave_one_out(&mut self, roots: &[Vec<f64>]) -> Result<LeftOutSums> {
        let live: Vec<usize> = (0..roots.len()).collect();
        let square = self.shape.width() * self.shape.width();
        self.standing.ask("leave_one_out", &live, vec![Numbers::rows(&roots.concat(), square)], pair)
    }

    fn without(&mut self, fold: Option<u32>) -> Result<()> {
        let folds: Vec<usize> = fold.into_iter().map(|fold| fold as usize).collect();
        self.standing.ask("without", &folds, Vec::new(), nothing)
    }

    fn absent_rows(&mut self) -> Result<LeftOutSums> {
        self.standing.ask("absent_rows", &[], Vec::new(), pair)
    }
}
