//! The one error type of the library.
//!
//! Every variant says what was wrong, where, and what would be right. Rows and columns are counted
//! from 0, as they are in the arrays the caller passed; a reader of files translates them to lines.

use std::path::PathBuf;

/// `Result` with the library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong between samples and a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its domain.
    #[error("{name} = {value} is not allowed: {expected}")]
    Parameter {
        /// The parameter's public name.
        name: &'static str,
        /// The value as it was given.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// A name or a spec is not one we know.
    #[error("unknown {what} '{given}': {expected}")]
    UnknownName {
        /// What was being named (a kernel, a loss, …).
        what: &'static str,
        /// The name as it was given.
        given: String,
        /// The known names.
        expected: String,
    },
    /// Arrays that belong together differ in length, or a view's parts do not fit each other.
    #[error("{what}: {found}, expected {expected}")]
    Shape {
        /// Which array or pair of arrays.
        what: String,
        /// What was found.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// A feature value that the method cannot take.
    #[error("row {row}, column {column}: {value} {problem}")]
    Value {
        /// Row of the sample, from 0.
        row: usize,
        /// Column of the feature, from 0.
        column: usize,
        /// The value found there.
        value: f64,
        /// What is wrong with it, and what would be right.
        problem: &'static str,
    },
    /// A sample weight that is negative or not finite.
    #[error("weight of row {row} is {value}: a weight is finite and at least 0")]
    Weight {
        /// Row of the sample, from 0.
        row: usize,
        /// The weight found there.
        value: f64,
    },
    /// No sample to learn from (none at all, or every weight is 0).
    #[error("no samples to train on{0}")]
    NoSamples(&'static str),
    /// Only one class among the labels.
    #[error("all {n_samples} samples have the label '{label}': a classifier needs at least two classes")]
    OneClass {
        /// The single label.
        label: String,
        /// How many samples carry it.
        n_samples: usize,
    },
    /// Samples at predict have another number of features than the model.
    #[error("the samples have {found} features, the model was trained with {trained}{hint}")]
    FeatureCount {
        /// Features of the samples given.
        found: usize,
        /// Features of the training samples.
        trained: usize,
        /// What to do about it, or nothing.
        hint: &'static str,
    },
    /// Samples at predict have columns of other names than the model.
    #[error("the columns are not those the model was trained with: {problem}")]
    FeatureNames {
        /// The names that are missing, unknown or repeated.
        problem: String,
    },
    /// A similarity met samples it cannot compare, or gave a value that cannot be used.
    #[error("similarity '{similarity}': {problem}")]
    Similarity {
        /// The spec of the similarity.
        similarity: String,
        /// What it met, where, and what would be right.
        problem: String,
    },
    /// A similarity met one sample it cannot compare.
    #[error("similarity '{similarity}': {} {number} (from 0) {problem}", if *.is_basis { "basis" } else { "sample" })]
    Sample {
        /// The spec of the similarity.
        similarity: String,
        /// Whether it is one of the bases.
        is_basis: bool,
        /// The number of the basis or the sample, from 0.
        number: usize,
        /// What it met there, and what would be right.
        problem: String,
    },
    /// Samples of a kind that the method cannot take.
    #[error("the samples are {given}, and {method} takes {wanted}")]
    Kind {
        /// What was given: "strings", "images", …
        given: &'static str,
        /// The method, or a similarity's spec.
        method: String,
        /// What it takes.
        wanted: &'static str,
    },
    /// Something would not fit in memory.
    #[error("{what} would take {:.1} GB, {:.1} GB are free: {hint}", *.needed as f64 / 1e9, *.free as f64 / 1e9)]
    Memory {
        /// What would be made, with its shape.
        what: String,
        /// Its size in bytes.
        needed: u64,
        /// Bytes that can be had.
        free: u64,
        /// What to do about it.
        hint: &'static str,
    },
    /// A number that a fit arrived at is infinite or NaN, so that there is no model.
    #[error("{what} is {value}: the fit left the range of numbers; use a smaller C, smaller weights or smaller values")]
    NotFinite {
        /// Which number.
        what: String,
        /// What it is.
        value: f64,
    },
    /// A model file that cannot be read as one.
    #[error("{}: not a usable model file: {problem}", .path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A model file written by a newer format version than this library reads.
    #[error("{}: model format {found} is newer than {known}, the newest this version reads: update widemargin", .path.display())]
    ModelVersion {
        /// The file.
        path: PathBuf,
        /// The version it states.
        found: u32,
        /// The newest version we read.
        known: u32,
    },
    /// A checkpoint that a fit cannot go on from.
    #[error("the checkpoint cannot be used: {problem}")]
    Checkpoint {
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// A file that is not to be written: it is no regular file, or it is one that is read.
    #[error("{}: {problem}", .path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What it is.
        problem: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// The operating system refused a file operation.
    #[error("{}: {action}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The system's own words.
        source: std::io::Error,
    },
    /// The caller asked to stop.
    #[error("cancelled during {stage}")]
    Cancelled {
        /// What was being done at that moment.
        stage: &'static str,
    },
    /// The thread pool could not be made.
    #[error("cannot start {threads} threads: {problem}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The system's own words.
        problem: String,
    },
}

impl Error {
    /// An error about a sample of a part, as one about a sample of all: the part begins at `first`.
    pub(crate) fn in_part_from(self, first: usize) -> Self {
        match self {
            Error::Sample { similarity, is_basis: false, number, problem } => {
                Error::Sample { similarity, is_basis: false, number: first + number, problem }
            }
            other => other,
        }
    }

    /// An error about one of some chosen samples or bases, as one about the sample that it is among all.
    pub(crate) fn of_rows(self, rows: &[usize]) -> Self {
        match self {
            Error::Sample { similarity, number, problem, .. } if number < rows.len() => {
                Error::Sample { similarity, is_basis: false, number: rows[number], problem }
            }
            other => other,
        }
    }

    /// An error about one of some chosen bases and samples, as one about the sample that it is among all.
    pub(crate) fn of_bases_and_rows(self, bases: &[usize], rows: &[usize]) -> Self {
        if let Error::Sample { is_basis: true, .. } = self { self.of_rows(bases) } else { self.of_rows(rows) }
    }

    /// True for errors whose cause is the caller's input (parameters, samples, labels, a model file),
    /// false for those of the work itself (cancelled, disk, threads).
    pub fn is_input(&self) -> bool {
        !matches!(self, Error::Io { .. } | Error::Cancelled { .. } | Error::Threads { .. })
    }
}
