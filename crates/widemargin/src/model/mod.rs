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
mod header;
mod loss_path;
mod manifest;
mod origin;
mod outlier_detector;
mod parted_targets;
mod power_mean;
mod regression_path;
mod regressor;
mod sample_queries;
mod samples_file;
mod scale_rows;
mod scores;
mod thin_plate;
mod within_limit;

pub use any_model::AnyModel;
pub use assess::assess;
pub(crate) use assess::report_estimate;
pub use basis_expansion::{
    Assembled, BasisExpansionOneClass, BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressor,
    BasisExpansionRegressorParams, BasisExpansionSvc, Expanded, OneClassFacts, RegressorFacts, brought_rows, stand_ins,
};
pub use c_choice::CChoice;
pub use choose_rows::choose_rows;
pub use classifier::{Classifier, Parameters, from_bytes, load};
pub use explanation::{Explanation, Term, TermSource};
pub use file::{
    Array, FORMAT_VERSION, FileFacts, Numbers, method_of, method_of_bytes, payload, with_payload, write_atomically,
};
pub use header::header_of_bytes;
pub use loss_path::LossPoint;
pub use origin::TrainingSettings;
pub use outlier_detector::OneClass;
pub use parted_targets::PartedTargets;
pub use power_mean::{
    PowerMeanChoice, PowerMeanParams, PowerMeanParts, PowerMeanSvc, TriedC, TriedKernel, scale_and_reduce,
};
pub use regression_path::RegressionPoint;
pub(crate) use regression_path::{Chosen as ChosenRegression, StandardTargets};
pub use regressor::Regressor;
pub use sample_queries::SAMPLE_QUERIES;
pub use samples_file::bases_arrays;
pub use scores::Scores;
pub use thin_plate::{
    AUTO_KERNELS, BasisPlan, ClassPath, ColumnSums, ColumnSumsOf, EXACT_UP_TO, FirstSumsOf, ModelFacts,
    SAMPLES_PER_BASIS, SPLINE_EXACT_UP_TO, SettledPolynomials, SplineFacts, Standardize, ThinPlateBasis,
    ThinPlateParams, ThinPlateRegressor, ThinPlateRegressorParams, ThinPlateSvc, TriedSpline, TriedThinPlate,
    basis_candidates, choose_bases, draw_rows,
};
