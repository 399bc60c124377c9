//! The header of a model file for other readers, such as Python: validated as a whole.

use std::path::Path;

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
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    match reader.method() {
        basis_expansion::file::METHOD => basis_expansion::file::check_header(&reader)?,
        basis_expansion::expansion_file::METHOD => basis_expansion::expansion_file::check_header(&reader)?,
        power_mean::file::METHOD => power_mean::file::check_header(&reader)?,
        thin_plate::file::METHOD => thin_plate::file::check_header(&reader)?,
        other => {
            return Err(reader.wrong(format!("it holds a model of '{other}', which this version does not know")));
        }
    }
    Ok(reader.into_header())
}
