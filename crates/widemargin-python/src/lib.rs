//! `widemargin._core`: the library as Python sees it. Conversions only; a loop found here is in the wrong crate.
//!
//! `python/widemargin/_core.pyi` says what each function takes and gives.

mod basis_expansion;
mod convert;
mod errors;
mod expansion;
mod files;
mod histograms;
mod inspection;
mod landmark_plan;
mod landmark_rows;
mod power_mean;
mod python_similarity;
mod remote_objective;
mod row_sums;
mod rows;
mod samples;
mod thin_plate;
mod work;

use pyo3::prelude::*;

/// The compiled half of the package `widemargin`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::basis_expansion::BasisExpansionModel;
    #[pymodule_export]
    use crate::expansion::ExpansionModel;
    #[pymodule_export]
    use crate::files::write_file;
    #[pymodule_export]
    use crate::histograms::{choose_nodes, explicit, factors_of, largest, merged_counts, value_counts};
    #[pymodule_export]
    use crate::inspection::{
        canonical, check_costs, choose_bases, header_of, hog, pairwise, payload, remark_on, select_similarities,
        spectrum, takes, version, with_payload,
    };
    #[pymodule_export]
    use crate::landmark_plan::{
        LandmarkPlan, SettledPolynomials, choose_landmarks, column_sums, draw_rows, merged_columns, merged_first,
        rows_separate,
    };
    #[pymodule_export]
    use crate::landmark_rows::LandmarkRows;
    #[pymodule_export]
    use crate::power_mean::PowerMeanModel;
    #[pymodule_export]
    use crate::remote_objective::{Solution, minimise};
    #[pymodule_export]
    use crate::row_sums::RowSums;
    #[pymodule_export]
    use crate::rows::{descriptor_rows, similarity_rows};
    #[pymodule_export]
    use crate::thin_plate::ThinPlateModel;
}
