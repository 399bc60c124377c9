//! What holds of every method, task and place of the rows: a table of problems, and claims that each row is held to.

pub mod claims;
pub mod method;
pub mod places;
pub mod problems;
pub mod training;
mod workers;
