//! What the fuzz targets check: a function of bytes for each, which panics where a promise is broken.

mod bytes;
pub mod fits;
pub mod models;
pub mod readers;
pub mod specs;
