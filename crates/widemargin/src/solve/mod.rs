//! How it is minimised. A solver sees rows of an expansion, never samples.

mod report;
mod watch;

pub use report::{Report, Stage, Status};
pub use watch::{Progress, Stopped, Watch};
