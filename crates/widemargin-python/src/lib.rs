//! `widemargin._core`: the Python bindings. Conversions only; loops over numbers belong in another crate.
//!
//! `python/widemargin/_core.pyi` documents the arguments and results of each function.
#![expect(clippy::too_many_arguments, reason = "arguments are parameters of estimators, passed by name")]
#![expect(non_snake_case, reason = "C is the name of a parameter")]

mod columns;
mod command;
mod compared;
mod convert;
mod errors;
mod expansion;
mod explain;
mod fit;
mod inspection;
mod model;
mod parts;
mod power_mean;
mod python_similarity;
mod remote;
mod rows;
mod samples;
mod store;
mod weighted;
mod work;

use pyo3::prelude::*;

/// The extension module of the package `widemargin`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::{
        columns::{encode_columns, feature_importances, learn_columns, median},
        command::command,
        errors::write_file,
        expansion::{fit_expansion, normalized, unnormalized},
        explain::{explain, report},
        fit::fit,
        inspection::{
            accepted_kinds, canonical, choose_bases, choose_thin_plate_bases, header_of, hog, pairwise, payload,
            spectrum, version, with_payload,
        },
        model::Model,
        parts::{Part, State, merge},
        power_mean::{fit_power_mean_remote, scale_and_reduce},
        remote::{BasisPlan, check_regression_loss, fit_expansion_remote, fit_thin_plate_remote},
        rows::{descriptor_rows, similarity_rows},
        store::Store,
        weighted::{WeightedLabels, WeightedTargets, basis_candidates},
    };
}
