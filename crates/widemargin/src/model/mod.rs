//! The methods: parameters → fit → model and its file, each in its own folder.

mod any_model;
mod assess;
mod basis_expansion;
mod c_choice;
mod choose_rows;
mod classifier;
mod clock;
mod dual_variables;
mod explain;
mod explanation;
mod file;
mod importances;
mod interface;
mod manifest;
mod on_workers;
mod origin;
mod outlier_detector;
mod part;
mod parted_targets;
mod power_mean;
mod regression_path;
mod regressor;
mod samples_file;
mod scores;
mod thin_plate;
pub(crate) mod within_limit;

#[doc(hidden)]
pub use any_model::header_of_bytes;
pub use any_model::{AnyModel, from_bytes, load};
pub(crate) use assess::{assess, report_estimate};
#[doc(hidden)]
pub use basis_expansion::Expanded;
pub use basis_expansion::{
    BasisExpansionOneClass, BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressor,
    BasisExpansionRegressorParams, BasisExpansionSvc, ExpansionModel, ExpansionParams,
};
pub use c_choice::CChoice;
#[doc(hidden)]
pub use choose_rows::{brought_rows, choose_rows};
pub use classifier::Classifier;
pub use explanation::{Explanation, Term, TermSource};
#[doc(hidden)]
pub use file::{Array, FORMAT_VERSION, FileMetadata, Numbers, payload, with_payload, write_atomically};
#[doc(hidden)]
pub use importances::feature_importances;
pub use interface::{Model, Parameters, as_method};
#[doc(hidden)]
pub use on_workers::{BroughtRows, Preparation, WeightedLabels};
#[doc(hidden)]
pub use origin::Origin;
pub use origin::TrainingSettings;
pub use outlier_detector::OneClass;
#[doc(hidden)]
pub use part::{PartData, PartFeatures, PartState, PartTargets, merge_answers};
#[doc(hidden)]
pub use parted_targets::PartedTargets;
#[doc(hidden)]
pub use power_mean::{FeatureMax, LargestValues, PowerMeanMetadata, scale_and_reduce};
pub use power_mean::{PowerMeanChoice, PowerMeanParams, PowerMeanSvc, TriedC, TriedKernel};
pub use regression_path::RegressionPoint;
pub(crate) use regression_path::{RegressionSelection, StandardTargets};
pub use regressor::Regressor;
#[doc(hidden)]
pub use samples_file::bases_arrays;
pub use scores::Scores;
#[doc(hidden)]
pub use thin_plate::{BasisPlan, PartLift, basis_candidates, choose_bases, draw_rows};
pub use thin_plate::{
    ClassPath, KernelPoint, SplineModel, SplineParams, Standardize, ThinPlateBasis, ThinPlateParams,
    ThinPlateRegressor, ThinPlateRegressorParams, ThinPlateSvc,
};
pub(crate) use thin_plate::{ColumnMoments, EXACT_UP_TO, SPLINE_EXACT_UP_TO, weighted_gram};

// Types of parameters and reports.
pub use crate::basis::BasisChoice;
pub use crate::expansion::{Approximation, NegativeEigenvalues, Normalization};
pub use crate::problem::{Intercept, Loss, Penalty};
#[doc(hidden)]
pub use crate::solve::CalibratedOn;
pub use crate::solve::residuals::LossPoint;
pub use crate::solve::thin_plate::Polynomials;
pub use crate::solve::{Calibration, ErrorEstimate, EstimateMethod, Report, Stage, Status};
