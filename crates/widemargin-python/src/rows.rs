//! The rows of the similarities and descriptors, as dictionaries: what `widemargin.similarity` is made from.

use pyo3::prelude::*;
use widemargin::similarity::{self, DefaultValue, Definite, Onnx, Values};

/// A parameter; `kind` is Python's type.
#[derive(IntoPyObject)]
struct Parameter {
    name: &'static str,
    kind: &'static str,
    words: Vec<&'static str>,
    range: String,
    is_required: bool,
    default: Option<&'static str>,
    word: Option<&'static str>,
    is_written: bool,
    about: &'static str,
}

impl From<&similarity::Parameter> for Parameter {
    fn from(parameter: &similarity::Parameter) -> Self {
        let (kind, words) = match parameter.values {
            Values::Whole(..) => ("int", &[][..]),
            Values::Number { .. } => ("float", &[][..]),
            Values::Words(words) => ("str", words),
            Values::Flag => ("bool", &[][..]),
        };
        Parameter {
            name: parameter.name,
            kind,
            words: words.to_vec(),
            range: if words.is_empty() { parameter.values.range() } else { String::new() },
            is_required: parameter.default == DefaultValue::Required,
            default: if let DefaultValue::Is(text) = parameter.default { Some(text) } else { None },
            word: parameter.word,
            is_written: parameter.is_written,
            about: parameter.about,
        }
    }
}

/// A similarity, or a descriptor, of which the last four say nothing.
#[derive(IntoPyObject)]
pub struct Row {
    name: &'static str,
    class: &'static str,
    samples: Vec<&'static str>,
    formula: &'static str,
    about: &'static str,
    parameters: Vec<Parameter>,
    usual: Option<&'static str>,
    examples: Vec<&'static str>,
    definite: Option<&'static str>,
    onnx: Option<&'static str>,
    declined: Option<&'static str>,
}

/// The similarities.
#[pyfunction]
pub fn similarity_rows() -> Vec<Row> {
    similarity::similarity_rows()
        .map(|row| Row {
            name: row.name,
            class: row.class,
            samples: row.samples.to_vec(),
            formula: row.formula,
            about: row.about,
            parameters: row.parameters.iter().map(Parameter::from).collect(),
            usual: None,
            examples: row.examples.to_vec(),
            definite: Some(match row.definite {
                Definite::Positive => "yes",
                Definite::Conditional => "against polynomials",
                Definite::No => "no",
            }),
            onnx: if let Onnx::Expression(expression) = row.onnx { Some(expression) } else { None },
            declined: if let Onnx::Declined(reason) = row.onnx { Some(reason) } else { None },
        })
        .collect()
}

/// The descriptors.
#[pyfunction]
pub fn descriptor_rows() -> Vec<Row> {
    similarity::descriptor_rows()
        .map(|row| Row {
            name: row.name,
            class: row.class,
            samples: row.samples.to_vec(),
            formula: row.formula,
            about: row.about,
            parameters: row.parameters.iter().map(Parameter::from).collect(),
            usual: Some(row.usual),
            examples: Vec::new(),
            definite: None,
            onnx: None,
            declined: None,
        })
        .collect()
}
