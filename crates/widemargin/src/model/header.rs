//! The header of a model file for other readers, such as Python: validated as a whole.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::basis_expansion::expansion_file::{self, ExpansionHeader};
use super::basis_expansion::expansion_model::{ExpansionTask, Layout};
use super::basis_expansion::{Classification, OneClassTask, Regression};
use super::file::{Head, NO_FILE, Reader};
use super::power_mean;
use super::thin_plate::spline_model::SplineTask;
use super::thin_plate::{SplineClassification, SplineLayout, SplineRegression};
use crate::error::Result;

/// The header of a model file's bytes as JSON text. The checksum is verified, and every field that `docs/model-file.md`
/// lists for the method is present and has the right type.
///
/// # Errors
/// As for making the model from the bytes: [`Error::ModelFile`](crate::Error::ModelFile) or
/// [`Error::ModelVersion`](crate::Error::ModelVersion).
pub fn header_of_bytes(bytes: &[u8]) -> Result<String> {
    fn check<L: DeserializeOwned, T: Clone + DeserializeOwned>(reader: &Reader<'_>) -> Result<()> {
        reader.parse::<L>()?;
        reader.parse::<Head<'_, T>>().map(drop)
    }
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    match reader.method() {
        Classification::METHOD => check::<Layout, Classification>(&reader)?,
        Regression::METHOD => check::<Layout, Regression>(&reader)?,
        OneClassTask::METHOD => check::<Layout, OneClassTask>(&reader)?,
        expansion_file::METHOD => reader.parse::<ExpansionHeader>().map(drop)?,
        power_mean::file::METHOD => check::<power_mean::file::Layout, power_mean::fit::Task>(&reader)?,
        SplineClassification::METHOD => check::<SplineLayout, SplineClassification>(&reader)?,
        SplineRegression::METHOD => check::<SplineLayout, SplineRegression>(&reader)?,
        _ => return Err(reader.unknown_method()),
    }
    Ok(reader.into_header())
}
