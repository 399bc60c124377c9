//! The candidates of a fit: rows of `cv_results_`.

use pyo3::prelude::*;
use widemargin::expansion::Normalization;
use widemargin::model::{TriedSpline, TriedThinPlate};
use widemargin::select::{Candidate, Tried, TriedMethod, TriedRegression};

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

impl Compared {
    fn new<const N: usize>(
        params: [(&'static str, Value); N],
        score: Result<f64, String>,
        n_samples: usize,
        seconds: f64,
    ) -> Self {
        let (score, problem) = match score {
            Ok(score) => (Some(score), None),
            Err(problem) => (None, Some(problem)),
        };
        Compared { params: params.into(), score, std: None, accuracy: None, problem, n_samples, seconds }
    }
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

fn loss_as_score(loss: Result<f64, String>) -> Result<f64, String> {
    loss.map(|loss| -loss)
}

impl From<Tried> for Compared {
    fn from(tried: Tried) -> Self {
        let Candidate { similarity: specs, normalization } = tried.candidate;
        let params = [
            ("similarity", similarity(specs)),
            ("normalization", name_of(normalization)),
            ("n_basis", Value::Number(tried.n_basis)),
            ("loss", spelled(tried.fitted)),
        ];
        let compared = Compared::new(params, loss_as_score(tried.loss), tried.n_samples, tried.seconds);
        Compared { std: tried.standard_error, accuracy: tried.error.map(|error| 1.0 - error), ..compared }
    }
}

impl From<TriedRegression> for Compared {
    fn from(tried: TriedRegression) -> Self {
        let Candidate { similarity: specs, normalization } = tried.candidate;
        let params = [("similarity", similarity(specs)), ("normalization", name_of(normalization))];
        Compared::new(params, tried.loo_r2, tried.n_samples, tried.seconds)
    }
}

impl From<TriedThinPlate> for Compared {
    fn from(tried: TriedThinPlate) -> Self {
        let params = [("kernel", Value::Text(tried.kernel.to_string()))];
        let compared = Compared::new(params, loss_as_score(tried.loss), tried.n_samples, tried.seconds);
        Compared { accuracy: tried.error.map(|error| 1.0 - error), ..compared }
    }
}

impl From<TriedSpline> for Compared {
    fn from(tried: TriedSpline) -> Self {
        let params =
            [("kernel", Value::Text(tried.kernel.to_string())), ("standardize", Value::Flag(tried.standardized))];
        Compared::new(params, tried.loo_r2, tried.n_samples, tried.seconds)
    }
}

impl From<TriedMethod> for Compared {
    fn from(tried: TriedMethod) -> Self {
        let params = [("method", spelled(tried.method)), ("similarity", Value::Text(tried.chosen))];
        // A problem concerns the loss, which a held-out score replaces.
        let score = tried.score.map_or_else(|| loss_as_score(tried.loss), Ok);
        let compared = Compared::new(params, score, tried.n_samples, tried.seconds);
        Compared { accuracy: tried.error.map(|error| 1.0 - error), ..compared }
    }
}

/// A model with its candidates.
pub(crate) fn compared<T: Into<Compared>>(tried: Vec<T>) -> Vec<Compared> {
    tried.into_iter().map(Into::into).collect()
}
