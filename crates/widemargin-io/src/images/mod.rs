//! Images: folders of files.

pub(crate) mod folder;

use std::path::Path;

use widemargin::data::{AnySamples, Images, Labels};

use crate::error::{IoError, Result};
use crate::sample_problem::ImageProblem;
use crate::table::{Samples, Table};

fn problem(file: &Path, problem: ImageProblem) -> IoError {
    IoError::Images { file: file.to_owned(), problem }
}

/// Images of `(height, width, channels)`.
fn collection(
    file: &Path,
    pixels: Vec<u8>,
    (height, width, channels): (usize, usize, usize),
    labels: Option<Labels>,
    files: Option<Vec<String>>,
) -> Result<Table> {
    // The pixels were read image by image, so that only a size of 0 can fail.
    let images = Images::new(pixels, height, width, channels)
        .map_err(|error| problem(file, ImageProblem::Undecodable(error.to_string())))?;
    Ok(Table { samples: Samples::Other(AnySamples::Images(images)), labels, files, ..Table::default() })
}

/// The reason why images have no label column.
const NO_COLUMNS: &str = "images have no columns";
