//! `widemargin._core`: the library as Python sees it. Conversions only; a loop found here is in the wrong crate.
//!
//! `python/widemargin/_core.pyi` says what each function takes and gives.

mod basis_expansion;
mod call;
mod convert;
mod elsewhere;
mod errors;
mod expansion;
mod files;
mod histograms;
mod landmark_plan;
mod landmark_rows;
mod looking;
mod power_mean;
mod row_sums;
mod samples;
mod thin_plate;
mod work;

use pyo3::prelude::*;

/// The compiled half of the package `widemargin`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::basis_expansion::BasisExpansionMachine;
    #[pymodule_export]
    use crate::elsewhere::{Solution, minimise};
    #[pymodule_export]
    use crate::expansion::ExpansionMachine;
    #[pymodule_export]
    use crate::files::write_file;
    #[pymodule_export]
    use crate::histograms::{choose_nodes, explicit, factors_of, largest, merged_counts, value_counts};
    #[pymodule_export]
    use crate::landmark_plan::{
        LandmarkPlan, SettledPolynomials, choose_landmarks, column_sums, draw_rows, merged_columns, merged_first,
        rows_separate,
    };
    #[pymodule_export]
    use crate::landmark_rows::LandmarkRows;
    #[pymodule_export]
    use crate::looking::{
        canonical, check_costs, choose_bases, descriptor_names, header_of, hog, pairwise, payload, remark_on,
        select_similarities, similarity_names, spectrum, takes, version, with_payload,
    };
    #[pymodule_export]
    use crate::power_mean::PowerMeanMachine;
    #[pymodule_export]
    use crate::row_sums::RowSums;
    #[pymodule_export]
    use crate::thin_plate::ThinPlateMachine;
}
