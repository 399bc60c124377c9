//! The rows of the similarities and descriptors, as dictionaries: the source of `widemargin.similarity`.

use std::str::FromStr;

use pyo3::prelude::*;
use widemargin::similarity::{self, AdditiveKernel, ConditionalKernel, DefaultValue, Definite, Onnx, Values};

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
            Values::Span(..) => ("str", &[][..]),
            Values::List => ("list[float]", &[][..]),
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

/// A similarity, or a descriptor, whose last fields are empty; `kernel_of` lists the methods that accept it as a kernel.
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
    kernel_of: Vec<&'static str>,
}

/// Whether one of the specs is that of a kernel of a method.
fn names_any<K: FromStr>(specs: &[&str]) -> bool {
    specs.iter().any(|spec| spec.parse::<K>().is_ok())
}

/// The fields that rows of similarities and of descriptors share.
macro_rules! row {
    ($row:expr) => {
        Row {
            name: $row.name,
            class: $row.class,
            samples: $row.samples.to_vec(),
            formula: $row.formula,
            about: $row.about,
            parameters: $row.parameters.iter().map(Parameter::from).collect(),
            usual: None,
            examples: Vec::new(),
            definite: None,
            onnx: None,
            declined: None,
            kernel_of: Vec::new(),
        }
    };
}

/// The similarities.
#[pyfunction]
pub fn similarity_rows() -> Vec<Row> {
    let rows = similarity::similarity_rows().map(|row| Row {
        examples: row.examples.to_vec(),
        kernel_of: [
            ("power-mean", names_any::<AdditiveKernel>(row.examples)),
            ("thin-plate", names_any::<ConditionalKernel>(row.examples)),
        ]
        .into_iter()
        .filter_map(|(method, is_one)| is_one.then_some(method))
        .collect(),
        definite: Some(match row.definite {
            Definite::Positive => "yes",
            Definite::Conditional | Definite::ConditionalUnless(_) => "conditionally",
            Definite::No => "no",
        }),
        onnx: if let Onnx::Expression(expression) = row.onnx { Some(expression) } else { None },
        declined: if let Onnx::Declined(reason) = row.onnx { Some(reason) } else { None },
        ..row!(row)
    });
    rows.collect()
}

/// The descriptors.
#[pyfunction]
pub fn descriptor_rows() -> Vec<Row> {
    similarity::descriptor_rows().map(|row| Row { usual: Some(row.usual), ..row!(row) }).collect()
}
