//! `widemargin._core`: the Python bindings. Conversions only; loops over numbers belong in another crate.
//!
//! `python/widemargin/_core.pyi` documents the arguments and results of each function.
#![expect(clippy::too_many_arguments, reason = "arguments are parameters of estimators, passed by name")]
#![expect(non_snake_case, reason = "C is the name of a parameter")]

mod auto;
mod basis_expansion;
mod basis_plan;
mod columns;
mod compared;
mod convert;
mod errors;
mod expansion;
mod explain;
mod files;
mod inspection;
mod model;
mod one_class;
mod parts;
mod power_mean;
mod python_similarity;
mod rows;
mod samples;
mod scores;
mod store;
mod thin_plate;
mod weighted_labels;
mod weighted_targets;
mod work;
mod workers;

use pyo3::prelude::*;

/// The extension module of the package `widemargin`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::auto::fit_auto;
    #[pymodule_export]
    use crate::basis_expansion::{fit_basis_expansion, fit_basis_expansion_regressor};
    #[pymodule_export]
    use crate::basis_plan::{BasisPlan, choose_thin_plate_bases, fit_thin_plate_remote};
    #[pymodule_export]
    use crate::columns::{encode_columns, learn_columns};
    #[pymodule_export]
    use crate::expansion::{fit_basis_expansion_remote, fit_expansion, normalized, unnormalized};
    #[pymodule_export]
    use crate::explain::{explain, report};
    #[pymodule_export]
    use crate::files::write_file;
    #[pymodule_export]
    use crate::inspection::{
        accepted_kinds, canonical, choose_bases, header_of, hog, pairwise, payload, spectrum, version, with_payload,
    };
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::one_class::{fit_basis_expansion_one_class, fit_basis_expansion_one_class_remote};
    #[pymodule_export]
    use crate::parts::{Part, State, merge};
    #[pymodule_export]
    use crate::power_mean::{
        PowerMeanSelection, choose_power_mean, fit_power_mean, fit_power_mean_remote, scale_and_reduce,
    };
    #[pymodule_export]
    use crate::rows::{descriptor_rows, similarity_rows};
    #[pymodule_export]
    use crate::scores::{class_score, curves, probability_scores, regression_scores};
    #[pymodule_export]
    use crate::store::Store;
    #[pymodule_export]
    use crate::thin_plate::{fit_thin_plate, fit_thin_plate_regressor};
    #[pymodule_export]
    use crate::weighted_labels::WeightedLabels;
    #[pymodule_export]
    use crate::weighted_targets::{
        WeightedTargets, check_regression_loss, fit_basis_expansion_regressor_remote, fit_thin_plate_regressor_remote,
    };
}
