//! What the user holds: parameters → fit → model, and the file it is kept in.

mod assembled;
mod basis_expansion;
mod basis_expansion_blocks;
mod basis_expansion_file;
mod basis_expansion_machine;
mod block_plan;
mod clock;
mod expand;
mod expanded;
mod expansion_file;
mod feature_pieces;
mod features_of_all;
mod file;
mod header;
mod manifest;
mod origin;
mod power_mean;
mod power_mean_assembled;
mod power_mean_blocks;
mod power_mean_file;
mod power_mean_primal;
mod resident;
mod samples_file;
mod scale_rows;
mod scores;
mod thin_plate;
mod thin_plate_apart;
mod thin_plate_blocks;
mod thin_plate_file;
mod thin_plate_fit;
mod thin_plate_landmarks;
mod thin_plate_machine;
mod thin_plate_passes;
mod thin_plate_stream;

pub use assembled::Assembled;
pub use basis_expansion::BasisExpansionParams;
pub use basis_expansion_machine::BasisExpansionSvc;
pub use expanded::Expanded;
pub use file::{FORMAT_VERSION, FileFacts, method_of, method_of_bytes, payload, with_payload, write_atomically};
pub use header::header_of_bytes;
pub use origin::TrainingSettings;
pub use power_mean::{PowerMeanParams, PowerMeanSvc};
pub use power_mean_assembled::PowerMeanParts;
pub use scores::Scores;
pub use thin_plate::{CChoice, Standardize, ThinPlateParams};
pub use thin_plate_apart::{
    ColumnSums, LandmarkPlan, MachineFacts, SAMPLES_A_LANDMARK, SettledPolynomials, choose_landmarks, draw_rows,
};
pub use thin_plate_landmarks::LandmarkChoice;
pub use thin_plate_machine::ThinPlateSvc;
