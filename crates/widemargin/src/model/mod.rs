//! What the user holds: parameters → fit → model, and the file it is kept in.

mod file;
mod power_mean;
mod power_mean_file;
mod scores;

pub use file::{FORMAT_VERSION, method_of, write_atomically};
pub use power_mean::{PowerMeanParams, PowerMeanSvc};
pub use scores::Scores;
