//! The shards of a folder: files, order and format.

use std::path::{Path, PathBuf};

use crate::error::{IoError, Problem};
use crate::list_folder::list;
use crate::{Format, image_folder};

/// What the names of files that are no shards begin with.
const SKIPPED: &[char] = &['.', '_'];

/// The vector format of the files of a folder; `None` if it is not a folder of shards.
///
/// # Errors
/// If only some of the files have it.
pub(crate) fn format_of(folder: &Path) -> Result<Option<Format>, IoError> {
    // A folder that cannot be listed, or contains folders, is left to the image reader, which reports errors.
    let Ok((files, _)) = list(folder, SKIPPED) else { return Ok(None) };
    let format_of =
        |file: &PathBuf| Some((file.clone(), Format::from_ending(file).filter(|format| format.is_vectors())?));
    let Some((first, format)) = files.iter().find_map(format_of) else { return Ok(None) };
    // Text files may accompany images: a list of them, a license.
    if image_folder::has_images(folder) {
        return Ok(None);
    }
    let Some(other) = files.iter().find(|file| Format::from_ending(file) != Some(format)) else {
        return Ok(Some(format));
    };
    let found = Format::from_ending(other)
        .map_or("its name tells no format".into(), |format| format!("its format is {format}"));
    Err(Problem::misfit(&found, &first, &format!("is {format}")).of(other))
}

/// The shards in order, at least one.
///
/// # Errors
/// For a folder that cannot be listed or has no files, and for a folder among them.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, IoError> {
    let (files, folders) = list(folder, SKIPPED)?;
    if let Some(inner) = folders.into_iter().next() {
        let help = "name the folder that holds the files, or begin the name of the inner one with _";
        return Err(Problem::new("a folder among files that are read as one input").help(help).of(&inner));
    }
    if files.is_empty() {
        return Err(Problem::new("no files in the folder").of(folder));
    }
    Ok(files)
}
