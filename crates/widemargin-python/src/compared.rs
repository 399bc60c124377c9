//! The candidates of a fit: rows of `cv_results_`.

use pyo3::prelude::*;
use widemargin::expansion::Normalization;
use widemargin::model::KernelPoint;
use widemargin::select::{self, Candidate, MethodPoint, SimilarityPoint, Tried};

/// A model, and the candidates that were compared for it.
pub(crate) type Fitted = (crate::model::Model, Vec<Compared>);

/// The value of a parameter.
#[derive(IntoPyObject)]
pub(crate) enum Value {
    Text(String),
    Texts(Vec<String>),
    Number(usize),
    Flag(bool),
}

/// A candidate with its score, which is larger for better ones, or the problem with it.
#[derive(IntoPyObject)]
pub(crate) struct Compared {
    params: Vec<(&'static str, Value)>,
    score: Option<f64>,
    std: Option<f64>,
    accuracy: Option<f64>,
    problem: Option<String>,
    n_samples: usize,
    seconds: f64,
}

/// A name in Python's notation.
fn spelled(name: impl ToString) -> Value {
    Value::Text(name.to_string().replace('-', "_"))
}

/// The name of a normalization without its option, which is the same for all candidates.
fn name_of(normalization: Normalization) -> Value {
    spelled(normalization.to_string().split(':').next().unwrap_or_default())
}

fn similarity(mut specs: Vec<String>) -> Value {
    if specs.len() == 1 { Value::Text(specs.remove(0)) } else { Value::Texts(specs) }
}

/// The parameters of a candidate, and its score if that is not minus its loss.
type Described = (Vec<(&'static str, Value)>, Option<f64>);

fn of_similarity(point: SimilarityPoint, loss: f64) -> Described {
    let Candidate { similarity: specs, normalization } = point.candidate;
    let mut params = vec![("similarity", similarity(specs)), ("normalization", name_of(normalization))];
    let Some(n_basis) = point.n_basis else { return (params, Some(1.0 - loss)) };
    params.extend([("n_basis", Value::Number(n_basis)), ("loss", spelled(point.fitted))]);
    (params, None)
}

fn of_kernel(point: KernelPoint, _loss: f64) -> Described {
    let kernel = ("kernel", Value::Text(point.kernel.to_string()));
    (vec![kernel, ("standardize", Value::Flag(point.standardized))], point.r2)
}

fn of_method(point: MethodPoint, _loss: f64) -> Described {
    (vec![("method", spelled(point.method)), ("similarity", Value::Text(point.chosen))], point.score)
}

/// A row of `cv_results_`.
fn row<P>(tried: Tried<P>, describe: fn(P, f64) -> Described) -> Compared {
    let Tried { point, loss, standard_error, error, n_samples, seconds } = tried;
    let (params, score) = describe(point, loss.as_ref().copied().unwrap_or(f64::NAN));
    // A problem concerns the loss, which a held-out score replaces.
    let (score, problem) = match (score.filter(|score| !score.is_nan()), loss) {
        (Some(score), _) => (Some(score), None),
        (None, Ok(loss)) => (Some(-loss), None),
        (None, Err(problem)) => (None, Some(problem)),
    };
    let accuracy = error.map(|error| 1.0 - error);
    Compared { params, score, std: standard_error, accuracy, problem, n_samples, seconds }
}

/// The candidates of a fit.
pub(crate) fn compared(tried: select::Compared) -> Vec<Compared> {
    match tried {
        select::Compared::Similarities(tried) => tried.into_iter().map(|one| row(one, of_similarity)).collect(),
        select::Compared::Kernels(tried) => tried.into_iter().map(|one| row(one, of_kernel)).collect(),
        select::Compared::Methods(tried) => tried.into_iter().map(|one| row(one, of_method)).collect(),
    }
}
