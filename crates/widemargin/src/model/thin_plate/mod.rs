//! The thin plate SVM and the smoothing spline: parameters, fit, fitted model and its file.

mod bases;
mod choose;
mod fit;
mod kernel_blocks;
mod model;
mod out_of_core;
mod params;
mod per_class;
pub(super) mod regressor;
mod remarks;
mod remote;
mod spline;
mod spline_basis;
pub(super) mod spline_model;
mod stream;

pub use bases::ThinPlateBasis;
pub use choose::KernelPoint;
pub(crate) use kernel_blocks::weighted_gram;
pub use model::{ClassPath, SplineClassification, ThinPlateSvc};
pub use params::{
    EXACT_UP_TO, SPLINE_EXACT_UP_TO, SplineParams, Standardize, ThinPlateParams, ThinPlateRegressorParams,
};
pub use regressor::{SplineRegression, ThinPlateRegressor};
pub use remote::{BasisPlan, PartLift, basis_candidates, choose_bases};
pub(super) use remote::{ColumnSumsOf, FirstSumsOf};
pub(super) use spline::{Spline, SplineLayout};
pub use spline_model::SplineModel;
pub(crate) use stream::ColumnMoments;
pub use stream::draw_rows;
