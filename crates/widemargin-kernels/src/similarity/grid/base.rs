//! The similarity of vectors that compares two displaced grids.

use crate::data::{AnySamples, DenseMatrix, Vectors};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::similarity::any::kernel::AnyKernel;
use crate::similarity::row::SimilarityRow;
use crate::similarity::{additive, conditional, set, vector};
use crate::spec::{Spec, Step};

/// Their parameters are those of [`PARAMETERS`] or have defaults.
pub(super) const NAMES: &[&str] = &[
    "linear",
    "rbf",
    "laplacian",
    "polynomial",
    "sigmoid",
    "cosine",
    "tanimoto",
    "chi2",
    "hellinger",
    "intersection",
    "jensen-shannon",
    "power-mean",
    "canberra",
    "distance",
    "cityblock",
    "log",
    "multiquadric",
    "inverse-multiquadric",
];

/// Those that are a sum over the numbers of a grid, and so over its cells.
pub(super) const SUMS: &[&str] =
    &["linear", "chi2", "hellinger", "intersection", "jensen-shannon", "power-mean", "cityblock"];

/// The parameters of a base, for the rows of the similarities that have one.
pub(super) const BASE: Parameter = Parameter::new(
    "base",
    Values::Words(NAMES),
    "The similarity of vectors that compares the shifted grids. The next four parameters are its own.",
)
.or("linear");
pub(super) const GAMMA: Parameter = Parameter::new(
    "gamma",
    Values::POSITIVE,
    "The gamma of the base, if it has one. By default, it is learned from grids that are not shifted.",
)
.optional()
.or_word("scale");
pub(super) const DEGREE: Parameter =
    Parameter::new("degree", Values::Whole(1, 16), "The degree of the base `polynomial`; 3 by default.").optional();
pub(super) const COEF0: Parameter =
    Parameter::new("coef0", Values::FINITE, "The coef0 of `polynomial` (1 by default) or `sigmoid` (0).").optional();
pub(super) const P: Parameter = Parameter::new(
    "p",
    Values::Number { least: f64::NEG_INFINITY, most: 0.0, range: "from -inf to 0" },
    "The p of the base `power-mean`, which requires it.",
)
.optional();

const PARAMETERS: [Parameter; 4] = [GAMMA, DEGREE, COEF0, P];

pub(super) fn rows() -> impl Iterator<Item = &'static SimilarityRow> {
    [vector::ROWS, set::ROWS, additive::ROWS, conditional::ROWS, &[vector::CANBERRA]].into_iter().flatten()
}

/// The base that the parameters of a matching name.
///
/// # Errors
/// [`crate::Error::Parameter`] for a parameter that the base does not have, or one that it must have.
pub(super) fn from_arguments(arguments: &Arguments<'_>) -> Result<Box<dyn AnyKernel>> {
    let name = arguments.text("base").unwrap_or("linear");
    let mut spec: Spec = name.parse()?;
    let step = &mut spec.steps[0];
    for parameter in PARAMETERS {
        if let Some(text) = arguments.text(parameter.name) {
            step.set(parameter.name, text);
        }
    }
    match rows().find(|row| row.name == name) {
        Some(row) => (row.build)(step),
        None => Err(arguments.wrong("base", BASE.expected())),
    }
}

/// Adds the learned parameters of the base to the step of a matching.
pub(super) fn learned(step: &mut Step, base: &dyn AnyKernel) {
    let Ok(spec) = base.spec().parse::<Spec>() else { return };
    for (key, value) in spec.steps.iter().flat_map(Step::values) {
        step.set(key, value);
    }
}

/// Grids, or their cells, as plain vectors.
pub(super) fn vectors(values: Vec<f32>, n_cols: usize) -> AnySamples {
    AnySamples::Vectors(Vectors::Dense(DenseMatrix { n_rows: values.len() / n_cols, n_cols, values }))
}
