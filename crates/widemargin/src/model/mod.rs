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
pub(crate) mod known;
mod manifest;
mod on_workers;
mod origin;
mod part;
mod parted_targets;
mod power_mean;
mod regression_path;
mod regressor;
mod samples_file;
mod scores;
mod thin_plate;
pub(crate) mod within_limit;

pub use any_model::{AnyModel, from_bytes, load};
pub(crate) use assess::{assess, report_estimate};
pub use basis_expansion::{
    BasisExpansionOneClass, BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressor,
    BasisExpansionRegressorParams, BasisExpansionSvc, ExpansionModel, ExpansionParams,
};
pub use c_choice::CChoice;
pub use classifier::Classifier;
pub use explanation::{Explanation, Term, TermSource};
pub use interface::{Model, Parameters, as_method};
pub use origin::TrainingSettings;
pub use power_mean::{PowerMeanChoice, PowerMeanParams, PowerMeanSvc, TriedC, TriedKernel};
pub use regression_path::RegressionPoint;
pub(crate) use regression_path::{RegressionSelection, StandardTargets};
pub use regressor::Regressor;
pub use scores::Scores;
pub use thin_plate::{
    ClassPath, KernelPoint, SplineModel, SplineParams, Standardize, ThinPlateBasis, ThinPlateParams,
    ThinPlateRegressor, ThinPlateRegressorParams, ThinPlateSvc,
};
pub(crate) use thin_plate::{ColumnMoments, EXACT_UP_TO, SPLINE_EXACT_UP_TO, weighted_gram};

// For the crates next to this one.
#[doc(hidden)]
pub use self::{
    any_model::header_of_bytes, basis_expansion::Expanded, choose_rows::brought_rows, choose_rows::choose_rows,
    file::Array, file::FORMAT_VERSION, file::FileMetadata, file::Numbers, file::payload, file::with_payload,
    file::write_atomically, importances::feature_importances, on_workers::BroughtRows, on_workers::Preparation,
    on_workers::WeightedLabels, origin::Origin, part::PartData, part::PartFeatures, part::PartState, part::PartTargets,
    part::merge_answers, parted_targets::PartedTargets, power_mean::FeatureMax, power_mean::LargestValues,
    power_mean::PowerMeanMetadata, power_mean::scale_and_reduce, samples_file::bases_arrays, thin_plate::BasisPlan,
    thin_plate::PartLift, thin_plate::basis_candidates, thin_plate::choose_bases, thin_plate::draw_rows,
};

// Types of parameters and reports.
pub use crate::basis::BasisChoice;
pub use crate::expansion::{Approximation, NegativeEigenvalues, Normalization};
pub use crate::problem::{Intercept, Loss, Penalty};
#[doc(hidden)]
pub use crate::solve::CalibratedOn;
pub use crate::solve::residuals::LossPoint;
pub use crate::solve::thin_plate::Polynomials;
pub use crate::solve::{Calibration, ErrorEstimate, EstimateMethod, Report, Stage, Status};
