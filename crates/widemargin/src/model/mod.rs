//! What the user holds: parameters → fit → model, and the file it is kept in.

mod assembled;
mod basis_expansion;
mod basis_expansion_file;
mod basis_expansion_machine;
mod clock;
mod expand;
mod expansion_file;
mod features_of_all;
mod file;
mod power_mean;
mod power_mean_blocks;
mod power_mean_file;
mod power_mean_primal;
mod samples_file;
mod scores;
mod thin_plate;
mod thin_plate_blocks;
mod thin_plate_file;
mod thin_plate_fit;
mod thin_plate_landmarks;
mod thin_plate_machine;

pub use assembled::Assembled;
pub use basis_expansion::BasisExpansionParams;
pub use basis_expansion_machine::BasisExpansionSvc;
pub use expand::Expanded;
pub use file::{FORMAT_VERSION, method_of, method_of_bytes, write_atomically};
pub use power_mean::{PowerMeanParams, PowerMeanSvc};
pub use scores::Scores;
pub use thin_plate::{CChoice, Standardize, ThinPlateParams};
pub use thin_plate_landmarks::LandmarkChoice;
pub use thin_plate_machine::ThinPlateSvc;
