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

/// What a candidate of a kind of model is.
pub(crate) trait Point {
    fn params(self) -> Vec<(&'static str, Value)>;

    /// The score of a candidate that has another than minus its loss.
    fn score(&self, _loss: f64) -> Option<f64> {
        None
    }
}

impl Point for SimilarityPoint {
    fn params(self) -> Vec<(&'static str, Value)> {
        let Candidate { similarity: specs, normalization } = self.candidate;
        let mut params = vec![("similarity", similarity(specs)), ("normalization", name_of(normalization))];
        if let Some(n_basis) = self.n_basis {
            params.extend([("n_basis", Value::Number(n_basis)), ("loss", spelled(self.fitted))]);
        }
        params
    }

    fn score(&self, loss: f64) -> Option<f64> {
        self.n_basis.is_none().then_some(1.0 - loss)
    }
}

impl Point for KernelPoint {
    fn params(self) -> Vec<(&'static str, Value)> {
        let standardized = self.standardized.map(|standardized| ("standardize", Value::Flag(standardized)));
        [("kernel", Value::Text(self.kernel.to_string()))].into_iter().chain(standardized).collect()
    }

    fn score(&self, loss: f64) -> Option<f64> {
        self.standardized.map(|_| 1.0 - loss)
    }
}

impl Point for MethodPoint {
    fn params(self) -> Vec<(&'static str, Value)> {
        vec![("method", spelled(self.method)), ("similarity", Value::Text(self.chosen))]
    }

    fn score(&self, _loss: f64) -> Option<f64> {
        self.score
    }
}

impl<P: Point> From<Tried<P>> for Compared {
    fn from(tried: Tried<P>) -> Self {
        let Tried { point, loss, standard_error, error, n_samples, seconds } = tried;
        // A problem concerns the loss, which a held-out score replaces.
        let score = point.score(loss.as_ref().copied().unwrap_or(f64::NAN)).filter(|score| !score.is_nan());
        let (score, problem) = match (score, loss) {
            (Some(score), _) => (Some(score), None),
            (None, Ok(loss)) => (Some(-loss), None),
            (None, Err(problem)) => (None, Some(problem)),
        };
        let (params, accuracy) = (point.params(), error.map(|error| 1.0 - error));
        Compared { params, score, std: standard_error, accuracy, problem, n_samples, seconds }
    }
}

/// The candidates of a fit.
pub(crate) fn compared(tried: select::Compared) -> Vec<Compared> {
    match tried {
        select::Compared::Similarities(tried) => tried.into_iter().map(Into::into).collect(),
        select::Compared::Kernels(tried) => tried.into_iter().map(Into::into).collect(),
        select::Compared::Methods(tried) => tried.into_iter().map(Into::into).collect(),
    }
}
