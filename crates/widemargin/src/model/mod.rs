//! The methods: parameters → fit → model and its file, each in its own folder.

mod basis_expansion;
mod clock;
mod file;
mod header;
mod origin;
mod power_mean;
mod samples_file;
mod scale_rows;
mod scores;
mod thin_plate;

pub use basis_expansion::{Assembled, BasisExpansionParams, BasisExpansionSvc, Expanded};
pub use file::{FORMAT_VERSION, FileFacts, method_of, method_of_bytes, payload, with_payload, write_atomically};
pub use header::header_of_bytes;
pub use origin::TrainingSettings;
pub use power_mean::{PowerMeanParams, PowerMeanParts, PowerMeanSvc};
pub use scores::Scores;
pub use thin_plate::{
    CChoice, ColumnSums, LandmarkChoice, LandmarkPlan, ModelFacts, SAMPLES_A_LANDMARK, SettledPolynomials, Standardize,
    ThinPlateParams, ThinPlateSvc, choose_landmarks, draw_rows,
};
