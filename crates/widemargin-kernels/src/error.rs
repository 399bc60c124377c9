//! The library's error type.
//!
//! Every variant names the problem, its place and the expected value. Rows and columns are counted from 0, as in the
//! arrays passed by the caller, and the message says so; file readers translate them to lines, which count from 1.

use std::path::PathBuf;

/// `Result` with the library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its domain.
    #[error("{name} = {value} is not allowed: {expected}")]
    Parameter {
        /// The parameter's public name.
        name: &'static str,
        /// The value.
        value: String,
        /// The expected value.
        expected: String,
    },
    /// A name or a spec is unknown.
    #[error("unknown {what} '{name}': {expected}")]
    UnknownName {
        /// The kind of thing that is named (a kernel, a loss, …).
        what: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        expected: String,
    },
    /// Arrays have inconsistent shapes, or the parts of a view do.
    #[error("{what}: {found}, expected {expected}")]
    Shape {
        /// The array or pair of arrays.
        what: String,
        /// The shape found.
        found: String,
        /// The shape expected.
        expected: String,
    },
    /// A feature value that the method does not accept.
    #[error("row {row}, column {column} (from 0): {} {problem}", shown(*.value))]
    Value {
        /// Row of the sample, from 0.
        row: usize,
        /// Column of the feature, from 0.
        column: usize,
        /// The value found.
        value: f64,
        /// The problem, and the expected value.
        problem: &'static str,
    },
    /// A sample weight that is negative or not finite.
    #[error("weight of row {row} (from 0) is {}: a weight is finite and at least 0", shown(*.value))]
    Weight {
        /// Row of the sample, from 0.
        row: usize,
        /// The weight found.
        value: f64,
    },
    /// A target of a regression that is not finite.
    #[error("target {output} of row {row} (from 0) is {}: a target of a regression is a finite number", shown(*.value))]
    Target {
        /// Row of the sample, from 0.
        row: usize,
        /// Index of the target, from 0.
        output: usize,
        /// The value found.
        value: f64,
    },
    /// There are no samples to learn from (none at all, or every weight is 0).
    #[error("no samples to train on{0}")]
    NoSamples(&'static str),
    /// The labels have only one class.
    #[error("all {n_samples} samples have the label '{label}': a classifier needs at least two classes")]
    OneClass {
        /// The single label.
        label: String,
        /// Number of samples with this label.
        n_samples: usize,
    },
    /// A score that is not defined for the samples.
    #[error("scoring '{scoring}': {problem}")]
    Score {
        /// The name of the score.
        scoring: String,
        /// The reason why it is not defined.
        problem: String,
    },
    /// Samples passed to predict have a different number of features than the model.
    #[error("the samples have {found} features, the model was trained with {trained}{hint}")]
    FeatureCount {
        /// Number of features of the samples.
        found: usize,
        /// Number of features of the training samples.
        trained: usize,
        /// A remedy; may be empty.
        hint: &'static str,
    },
    /// Samples passed to predict have other column names than the model.
    #[error("the columns are not those the model was trained with: {problem}")]
    FeatureNames {
        /// The names that are missing, unknown or repeated.
        problem: String,
    },
    /// A similarity does not accept the samples, or returned an unusable value.
    #[error("similarity '{similarity}': {problem}")]
    Similarity {
        /// The spec of the similarity.
        similarity: String,
        /// The problem, its place and the expected value.
        problem: String,
    },
    /// A similarity does not accept one of the samples.
    #[error("similarity '{similarity}': {} {number} (from 0) {problem}", if *.is_basis { "basis" } else { "sample" })]
    Sample {
        /// The spec of the similarity.
        similarity: String,
        /// Whether the sample is one of the bases.
        is_basis: bool,
        /// The index of the basis or the sample, from 0.
        number: usize,
        /// The problem, and the expected value.
        problem: String,
    },
    /// A kind of samples that the method does not accept.
    #[error("the samples are {found}, and {method} takes {wanted}")]
    Kind {
        /// The kind of the samples: "strings", "images", …
        found: &'static str,
        /// The method, or the spec of a similarity.
        method: String,
        /// The kinds it accepts.
        wanted: &'static str,
    },
    /// An allocation would not fit in memory.
    #[error("{what} would take {}, {} are free: {hint}", bytes_text(*.needed), bytes_text(*.free))]
    Memory {
        /// The allocation, with its shape.
        what: String,
        /// Its size in bytes.
        needed: u64,
        /// Available bytes.
        free: u64,
        /// A remedy.
        hint: &'static str,
    },
    /// A fit produced a number that is infinite or NaN, so that there is no model.
    #[error("{what} is {value}: the fit left the range of numbers; use a smaller C, smaller weights or smaller values")]
    NotFinite {
        /// The name of the number.
        what: String,
        /// Its value.
        value: f64,
    },
    /// Probabilities were requested of a model without calibration.
    #[error("the model has no probabilities: fit it again")]
    NotCalibrated,
    /// A file that is not a valid model file.
    #[error("{}: not a usable model file: {problem}", .path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A model file of a newer format version than this library supports.
    #[error("{}: model format {found} is newer than {known}, the newest this version reads: update widemargin", .path.display())]
    ModelVersion {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
        /// The newest supported version.
        known: u32,
    },
    /// A checkpoint from which the fit cannot resume.
    #[error("the checkpoint cannot be used: {problem}")]
    Checkpoint {
        /// The problem, and the expected value.
        problem: String,
    },
    /// An output file that must not be written: it is not a regular file, or it is an input.
    #[error("{}: {problem}", .path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Its description.
        problem: String,
        /// A remedy.
        hint: &'static str,
    },
    /// The operating system refused a file operation.
    #[error("{}: {action}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The caller cancelled.
    #[error("cancelled during {stage}")]
    Cancelled {
        /// The stage that was cancelled.
        stage: &'static str,
    },
    /// The time limit leaves nothing to return.
    #[error(
        "the time limit is too short: after {needs:.2} s ({stage}) there is no model yet; allow several times as much time"
    )]
    TooShort {
        /// The interrupted work.
        stage: &'static str,
        /// The seconds that passed.
        needs: f64,
    },
    /// The thread pool could not be created.
    #[error("cannot start {threads} threads: {problem}")]
    Threads {
        /// Number of threads requested.
        threads: usize,
        /// The system's error message.
        problem: String,
    },
}

impl Error {
    /// Arrays that are inconsistent.
    pub fn shape(what: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Error::Shape { what: what.into(), found: found.into(), expected: expected.into() }
    }

    /// An error of a similarity.
    pub fn similarity(similarity: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Similarity { similarity: similarity.into(), problem: problem.into() }
    }

    /// Whether the cause is the caller's input (parameters, samples, labels, a model file) and not the execution
    /// (cancellation, disk, threads).
    pub fn is_input(&self) -> bool {
        !matches!(self, Error::Io { .. } | Error::Cancelled { .. } | Error::Threads { .. })
    }
}

#[doc(hidden)]
impl Error {
    /// A parameter that is outside its domain.
    pub fn parameter(name: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Parameter { name, value: value.to_string(), expected: expected.into() }
    }

    /// A name that is none of the known ones; the nearest of them is suggested.
    pub fn unknown<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.collect();
        let suggestion = suggestion(name, known.iter().copied());
        let expected = format!("{suggestion}known are {}", known.join(", "));
        Error::UnknownName { what, name: name.to_owned(), expected }
    }

    /// Translates the row of an error about a part, which begins at row `first`, to a row of the whole.
    pub fn in_part_from(self, first: usize) -> Self {
        match self {
            Error::Sample { similarity, is_basis: false, number, problem } => {
                Error::Sample { similarity, is_basis: false, number: first + number, problem }
            }
            other => other,
        }
    }

    /// Translates the index of an error about selected samples or bases to a row of all samples.
    pub fn of_rows(self, rows: &[usize]) -> Self {
        match self {
            Error::Sample { similarity, number, problem, .. } if number < rows.len() => {
                Error::Sample { similarity, is_basis: false, number: rows[number], problem }
            }
            other => other,
        }
    }

    /// Translates the row of an error about a chunk of samples that starts at `first` to a row of all samples.
    pub fn of_chunk(self, first: usize) -> Self {
        match self {
            Error::Value { row, column, value, problem } => Error::Value { row: first + row, column, value, problem },
            error => error,
        }
    }

    /// Translates the indices of an error about selected bases and samples to rows of all samples.
    pub fn of_bases_and_rows(self, bases: &[usize], rows: &[usize]) -> Self {
        if let Error::Sample { is_basis: true, .. } = self { self.of_rows(bases) } else { self.of_rows(rows) }
    }
}

/// A number of bytes in a unit in which it is readable.
pub fn bytes_text(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.1} GB", bytes as f64 / 1e9),
        1_000_000.. => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} kB", bytes as f64 / 1e3),
    }
}

/// A number with an exponent where its digits would be many.
fn shown(number: f64) -> String {
    let size = number.abs();
    let is_long = size.is_finite() && size != 0.0 && !(1e-6..1e16).contains(&size);
    if is_long { format!("{number:e}") } else { number.to_string() }
}

/// Refuses a parameter unless its condition `holds`.
///
/// # Errors
/// [`Error::Parameter`].
pub fn require(holds: bool, name: &'static str, value: impl ToString, expected: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::parameter(name, value, expected)) }
}

/// Refuses a weight of the losses that is not finite and above 0.
///
/// # Errors
/// [`Error::Parameter`].
pub fn require_cost(c: f64) -> Result<()> {
    require(c > 0.0 && c.is_finite(), "C", c, "a finite number above 0")
}

/// Refuses a tolerance that is no relative duality gap; the message names a `usual` one.
///
/// # Errors
/// [`Error::Parameter`].
pub fn require_gap(tol: f64, usual: &str) -> Result<()> {
    require(tol > 0.0 && tol < 1.0, "tol", tol, &format!("a relative duality gap between 0 and 1, such as {usual}"))
}

/// The known name that differs from the given one in the fewest characters, if at most a third of them differ. Text
/// after a colon is not compared.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let beginning = |text: &'a str| text.split(':').next().unwrap_or(text);
    let name = name.split(':').next().unwrap_or(name);
    let distance = |known: &str| rapidfuzz::distance::osa::distance(name.chars(), known.chars());
    let distances = known.map(beginning).map(|known| (distance(known), known));
    let (distance, near) = distances.min_by_key(|(distance, _)| *distance)?;
    (3 * distance <= name.chars().count().max(near.chars().count())).then_some(near)
}

/// The question whether the nearest of the known names was meant; empty if none is near.
pub fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let nearest = |name| nearest(name, ["rbf", "edit", "power-mean:p=NUMBER", "chi2"].into_iter());
        assert_eq!(nearest("rbff:gamma=1"), Some("rbf"));
        assert_eq!(nearest("power-maen"), Some("power-mean"));
        assert_eq!(nearest("chi3"), Some("chi2"));
        assert_eq!(nearest("wavelet"), None);
    }

    #[test]
    fn large_numbers_are_shown_with_an_exponent() {
        let shown = [-1.0, 0.25, 1e200, -3e-40, f64::NAN, f64::INFINITY, 0.0].map(shown);
        assert_eq!(shown, ["-1", "0.25", "1e200", "-3e-40", "NaN", "inf", "0"]);
    }
}
