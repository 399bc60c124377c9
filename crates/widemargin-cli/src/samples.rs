//! From the samples of a file to the views that the library takes.

use indicatif::HumanCount;
use widemargin::data::{AnySamples, Rows};
use widemargin::similarity::{descriptor_rows, similarity_rows};
use widemargin::{Error, Result};
use widemargin_io::Samples;

/// A help text, and the names that a similarity may have.
pub fn with_names(text: &str) -> String {
    let similarities: Vec<String> = similarity_rows().map(|row| row.usage()).collect();
    let descriptors: Vec<&str> = descriptor_rows().map(|row| row.name).collect();
    let (similarities, descriptors) = (similarities.join(", "), descriptors.join(", "));
    format!("{text}\n\nSimilarities: {similarities}\n\nDescriptors, which can precede them: {descriptors}")
}

/// How many samples there are and how large: the line of a summary.
pub fn extent(samples: &Samples, n_features: usize) -> Result<String> {
    let n = HumanCount(samples.n_rows() as u64);
    Ok(match samples {
        Samples::Other(AnySamples::Images(images)) => {
            let (height, width) = (images.height(), images.width());
            let color = if images.channels() == 1 { "gray" } else { "color" };
            format!("{n} images, {height} × {width} pixels, {color}")
        }
        Samples::Other(samples) => format!("{n} {}", samples.kind()),
        vectors => {
            let (features, nonzeros) = (HumanCount(n_features as u64), HumanCount(count_nonzeros(vectors)?));
            format!("{n} samples, {features} features, {nonzeros} non-zeros")
        }
    })
}

/// An error about a row of some rows, as one about a row of all.
pub fn in_whole(error: Error, rows: &[usize]) -> Error {
    match error {
        Error::Value { row, column, value, problem } => Error::Value { row: rows[row], column, value, problem },
        Error::Sample { similarity, number, problem, .. } => {
            Error::Sample { similarity, is_basis: false, number: rows[number], problem }
        }
        error => error,
    }
}

/// Number of non-zeros; 0 where the samples are no vectors.
pub fn count_nonzeros(samples: &Samples) -> Result<u64> {
    if let Samples::Other(_) = samples {
        return Ok(0);
    }
    let (view, mut n) = (samples.view()?.rows("a count of non-zeros")?, 0);
    (0..view.n_rows()).for_each(|row| view.for_each_nonzero(row, |_, _| n += 1));
    Ok(n)
}
