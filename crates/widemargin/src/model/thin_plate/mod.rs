//! The thin plate SVM and the smoothing spline: parameters, fit, fitted model and its file.
//!
//! A fit is in memory (`fit.rs`), in blocks (`out_of_core.rs`) or on workers (`on_workers.rs`), for any task (`task.rs`):
//! `classes.rs` has the solvers of labels and `targets.rs` those of targets.

#![expect(private_bounds, reason = "the tasks are those of this module")]

mod bases;
mod basis_plan;
mod choose;
mod classes;
mod fit;
mod kernel_blocks;
mod model;
mod on_workers;
mod out_of_core;
mod params;
mod per_class;
mod regressor;
mod remarks;
mod spline;
mod spline_basis;
pub(super) mod spline_model;
mod stream;
mod targets;
mod task;

pub use bases::ThinPlateBasis;
pub use basis_plan::{BasisPlan, PartLift, basis_candidates, choose_bases};
pub(super) use basis_plan::{ColumnSumsOf, FirstSumsOf};
pub(crate) use kernel_blocks::weighted_gram;
pub use model::{ClassPath, SplineClassification, ThinPlateSvc};
pub use params::{
    EXACT_UP_TO, SPLINE_EXACT_UP_TO, SplineParams, Standardize, ThinPlateParams, ThinPlateRegressorParams,
};
pub use regressor::{SplineRegression, ThinPlateRegressor};
pub(super) use spline::{Spline, SplineLayout};
pub use spline_model::SplineModel;
pub(crate) use stream::ColumnMoments;
pub use stream::draw_rows;
pub use task::KernelPoint;
