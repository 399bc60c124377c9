//! The header of a model file for other readers, such as Python: validated as a whole.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::file::{NO_FILE, Reader};
use super::{basis_expansion, power_mean, thin_plate};
use crate::error::Result;

/// The header of a model file's bytes as JSON text. The checksum is verified, and every field that `docs/model-file.md`
/// lists for the method is present and has the right type.
///
/// # Errors
/// As for making the model from the bytes: [`Error::ModelFile`](crate::Error::ModelFile) or
/// [`Error::ModelVersion`](crate::Error::ModelVersion).
pub fn header_of_bytes(bytes: &[u8]) -> Result<String> {
    fn check<H: DeserializeOwned>(reader: &Reader<'_>) -> Result<()> {
        reader.parse::<H>().map(drop)
    }
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    match reader.method() {
        basis_expansion::file::METHOD => check::<basis_expansion::file::Header>(&reader)?,
        basis_expansion::expansion_file::METHOD => check::<basis_expansion::expansion_file::Header>(&reader)?,
        basis_expansion::regressor_file::METHOD => check::<basis_expansion::regressor_file::Header>(&reader)?,
        basis_expansion::one_class_file::METHOD => check::<basis_expansion::one_class_file::Header>(&reader)?,
        power_mean::file::METHOD => check::<power_mean::file::Header>(&reader)?,
        thin_plate::file::METHOD => check::<thin_plate::file::Header>(&reader)?,
        thin_plate::regressor::METHOD => check::<thin_plate::regressor::Header>(&reader)?,
        _ => return Err(reader.unknown_method()),
    }
    Ok(reader.into_header())
}
