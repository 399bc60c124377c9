//! `widemargin._core`: the Python bindings. Conversions only; loops over numbers belong in another crate.
//!
//! `python/widemargin/_core.pyi` documents the arguments and results of each function.
#![expect(clippy::too_many_arguments, reason = "arguments are parameters of estimators, passed by name")]
#![expect(non_snake_case, reason = "C is the name of a parameter")]

mod basis_plan;
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
mod rows;
mod samples;
mod scores;
mod store;
mod weighted_labels;
mod weighted_targets;
mod work;
mod workers;

use pyo3::prelude::*;

/// The extension module of the package `widemargin`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::{
        basis_plan::{BasisPlan, choose_thin_plate_bases, fit_thin_plate_remote},
        columns::{encode_columns, feature_importances, learn_columns},
        command::command,
        errors::write_file,
        expansion::{fit_basis_expansion_remote, fit_expansion, normalized, unnormalized},
        explain::{explain, report},
        fit::fit,
        inspection::{
            accepted_kinds, canonical, choose_bases, header_of, hog, pairwise, payload, spectrum, version, with_payload,
        },
        model::Model,
        parts::{Part, State, merge},
        power_mean::{PowerMeanSelection, choose_power_mean, fit_power_mean_remote, scale_and_reduce},
        rows::{descriptor_rows, similarity_rows},
        scores::{class_score, curves, probability_scores, regression_scores},
        store::Store,
        weighted_labels::WeightedLabels,
        weighted_targets::{
            WeightedTargets, check_regression_loss, fit_basis_expansion_one_class_remote,
            fit_basis_expansion_regressor_remote, fit_thin_plate_regressor_remote,
        },
    };
}
