//! Solvers. They see rows of an expansion, never samples.

pub(crate) mod calibration;
mod descent_settings;
pub mod dual;
mod estimate;
pub mod l1;
pub(crate) mod least_squares;
pub mod newton;
mod own_features;
mod report;
pub(crate) mod residuals;
pub mod ridge;
pub(crate) mod selection;
pub mod thin_plate;

pub use calibration::{CalibratedOn, Calibration};
pub use descent_settings::DescentSettings;
pub use estimate::{ErrorEstimate, EstimateMethod};
pub(crate) use estimate::{effective_number, explained_standard_error};
pub(crate) use own_features::{OwnFeatures, Solved, parts_of_own_features};
use report::relative_gap;
pub use report::{ProblemReport, Report, Stage, Status};
