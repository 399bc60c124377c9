//! The rows of the similarities and descriptors, as dictionaries: the source of `widemargin.similarity`.

use std::str::FromStr;

use pyo3::prelude::*;
use serde_json::{Value, json};
use widemargin::similarity::{
    self, AdditiveKernel, ConditionalKernel, DefaultValue, Definite, Onnx, Parameter, Values,
};

/// A parameter; `kind` is Python's type.
fn parameter(parameter: &Parameter) -> Value {
    let (kind, words) = match parameter.values {
        Values::Whole(..) => ("int", &[][..]),
        Values::Number { .. } => ("float", &[][..]),
        Values::Span(..) => ("str", &[][..]),
        Values::List => ("list[float]", &[][..]),
        Values::Words(words) => ("str", words),
        Values::Flag => ("bool", &[][..]),
    };
    json!({
        "name": parameter.name,
        "kind": kind,
        "words": words,
        "range": if words.is_empty() { parameter.values.range() } else { String::new() },
        "is_required": parameter.default == DefaultValue::Required,
        "default": if let DefaultValue::Is(text) = parameter.default { Some(text) } else { None },
        "word": parameter.word,
        "is_written": parameter.is_written,
        "about": parameter.about,
    })
}

/// A similarity or a descriptor, and further fields.
macro_rules! row {
    ($row:expr, $($field:literal: $value:expr),+) => {
        json!({
            "name": $row.name,
            "class": $row.class,
            "samples": $row.samples,
            "parameters": $row.parameters.iter().map(parameter).collect::<Vec<_>>(),
            $($field: $value),+
        })
    };
}

/// Whether one of the specs is that of a kernel of a method.
fn names_any<K: FromStr>(specs: &[&str]) -> bool {
    specs.iter().any(|spec| spec.parse::<K>().is_ok())
}

/// Rows as dictionaries of Python.
fn dictionaries(py: Python<'_>, rows: impl Iterator<Item = Value>) -> PyResult<Bound<'_, PyAny>> {
    py.import("json")?.call_method1("loads", (Value::Array(rows.collect()).to_string(),))
}

/// The similarities; `kernel_of` lists the methods that accept one as a kernel.
#[pyfunction]
pub fn similarity_rows(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let rows = similarity::similarity_rows().map(|row| {
        let definite = match row.definite {
            Definite::Positive => "yes",
            Definite::Conditional | Definite::ConditionalUnless(_) => "conditionally",
            Definite::No => "no",
        };
        let onnx = if let Onnx::Expression(expression) = row.onnx { Some(expression) } else { None };
        let declined = if let Onnx::Declined(reason) = row.onnx { Some(reason) } else { None };
        let power_mean = names_any::<AdditiveKernel>(row.examples()).then_some("power-mean");
        let thin_plate = names_any::<ConditionalKernel>(row.examples()).then_some("thin-plate");
        let kernel_of: Vec<&str> = power_mean.into_iter().chain(thin_plate).collect();
        row!(row, "examples": row.examples(), "definite": definite, "onnx": onnx, "declined": declined, "kernel_of": kernel_of)
    });
    dictionaries(py, rows)
}

/// The descriptors.
#[pyfunction]
pub fn descriptor_rows(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    dictionaries(py, similarity::descriptor_rows().map(|row| row!(row, "usual": row.usual)))
}
