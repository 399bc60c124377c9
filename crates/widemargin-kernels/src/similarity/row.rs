//! The row of a similarity, its metadata in one place: the source of its Python class, its line in the documents, its
//! name in messages and help, and the tests that every similarity must pass.

use super::Similarity;
use super::any::kernel::{AnyKernel, Typed};
use crate::data::Kind;
use crate::error::{Error, Result};
use crate::parameters::{Arguments, DefaultValue, Parameter};
use crate::spec::{Spec, Step};

/// A similarity by its name. Each family has its rows in its own file; the registry lists them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct SimilarityRow {
    /// Its name in specs.
    pub name: &'static str,
    /// The name of its Python class.
    pub class: &'static str,
    /// The kinds of samples it is made for, the preferred first.
    pub samples: &'static [&'static str],
    /// Its parameters, in the order of the Python class.
    pub parameters: &'static [Parameter],
    /// Specs that tests use; empty for the name alone.
    pub(super) examples: &'static [&'static str],
    /// Whether it is a kernel.
    pub definite: Definite,
    /// How it is exported.
    pub onnx: Onnx,
    pub(super) build: Build,
}

pub(super) type Build = fn(&Step) -> Result<Box<dyn AnyKernel>>;

/// Whether a similarity is a kernel.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definite {
    /// Positive semi-definite.
    Positive,
    /// Conditionally positive definite.
    Conditional,
    /// The same where these parameters have their defaults, indefinite in general elsewhere.
    ConditionalUnless(&'static [&'static str]),
    /// Indefinite in general.
    No,
}

/// How a similarity is exported to ONNX.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onnx {
    /// An expression in Python's syntax, of the names in `python/widemargin/_onnx_expression.py`.
    Expression(&'static str),
    /// Not at all: why.
    Declined(&'static str),
}

impl Onnx {
    /// Not an expression on vectors.
    pub const NO_VECTORS: Self = Onnx::Declined("ONNX has no operator for it");
}

impl SimilarityRow {
    /// Specs that tests use, at least one.
    pub fn examples(&'static self) -> &'static [&'static str] {
        if self.examples.is_empty() { std::slice::from_ref(&self.name) } else { self.examples }
    }

    /// The parameters of a step.
    ///
    /// # Errors
    /// As for [`Arguments::read`].
    pub fn arguments<'a>(&self, step: &'a Step) -> Result<Arguments<'a>> {
        Arguments::read(step, self.name, self.parameters)
    }

    /// Whether the similarity of a step is a kernel: [`Definite::Conditional`] or not where that depends on parameters.
    pub fn definite_of(&self, step: &Step) -> Definite {
        let Definite::ConditionalUnless(names) = self.definite else { return self.definite };
        let is_default = |key: &str, text: &str| {
            let known = self.parameters.iter().find(|parameter| parameter.name == key);
            known.is_some_and(|known| matches!(known.default, DefaultValue::Is(default) if default == text))
        };
        let is_other = step.values().any(|(key, text)| names.contains(&key) && !is_default(key, text));
        if is_other { Definite::No } else { Definite::Conditional }
    }

    /// How it is written at least: `power-mean:p=NUMBER`.
    pub fn usage(&self) -> String {
        let required = self.parameters.iter().filter(|parameter| parameter.default == DefaultValue::Required);
        let pairs: Vec<String> = required.map(|parameter| format!("{}=NUMBER", parameter.name)).collect();
        format!("{}{}{}", self.name, if pairs.is_empty() { "" } else { ":" }, pairs.join(","))
    }
}

/// The parameters of a step that one of these rows names.
///
/// # Errors
/// [`Error::UnknownName`] for another name, saying which are known; [`Error::Parameter`].
pub(super) fn arguments_among<'a>(rows: &[SimilarityRow], what: &'static str, step: &'a Step) -> Result<Arguments<'a>> {
    match rows.iter().find(|row| row.name == step.name()) {
        Some(row) => row.arguments(step),
        None => Err(unknown_among(rows, what, &step.to_string())),
    }
}

/// The value that `read` makes of a spec of one step, by the row with its name.
///
/// # Errors
/// As for [`arguments_among`].
pub(super) fn read_among<T>(
    rows: &[SimilarityRow],
    what: &'static str,
    text: &str,
    read: fn(&Arguments<'_>) -> Result<T>,
) -> Result<T> {
    match text.parse::<Spec>().map(|spec| spec.steps).as_deref() {
        Ok([step]) => read(&arguments_among(rows, what, step)?),
        _ => Err(unknown_among(rows, what, text)),
    }
}

fn unknown_among(rows: &[SimilarityRow], what: &'static str, name: &str) -> Error {
    let known: Vec<String> = rows.iter().map(SimilarityRow::usage).collect();
    Error::unknown(what, name, known.iter().map(String::as_str))
}

/// The return value of a row's `build`.
pub(super) fn built<S>(similarity: Result<S>) -> Result<Box<dyn AnyKernel>>
where
    S: Similarity<Samples: Kind> + 'static,
{
    Ok(Box::new(Typed(similarity?)))
}
