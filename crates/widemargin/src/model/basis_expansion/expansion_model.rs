//! Common parts of all models on a basis expansion: their bases, their report and their file.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expansion_file::ExpansionHeader;
use crate::basis::BasisChoice;
use crate::data::Samples;
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Decision};
use crate::macros::getters;
use crate::model::explanation::Decided;
use crate::model::file::{self, Array, Head, Reader, file_methods, model_header};
use crate::model::origin::Origin;
use crate::model::{payload, with_payload};
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::{Report, Stage};

/// The tensor of a model file with the bases as the caller encoded them.
const OWN_BASES: &str = "bases of an own similarity";

/// A linear model on a basis expansion. It stores its bases, and compares samples with them only.
#[derive(Clone)]
pub struct ExpansionModel<S: Similarity, T> {
    pub(crate) expansion: BasisExpansion<S>,
    pub(crate) basis: Basis,
    /// The weights, and what they are for.
    pub(crate) task: T,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
    /// The weights in the form used for prediction, computed on first use.
    pub(crate) decision: OnceLock<Option<Decision>>,
}

/// The selection of bases.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Basis {
    /// How they were selected.
    #[serde(rename = "basis")]
    pub choice: String,
    /// Their training rows; empty for explicit bases.
    #[serde(rename = "basis_rows")]
    pub rows: Vec<usize>,
}

impl Basis {
    pub fn of(choice: &BasisChoice, rows: Vec<usize>) -> Self {
        Basis { choice: if rows.is_empty() { "explicit".into() } else { choice.to_string() }, rows }
    }
}

/// The task of a model on a basis expansion, with the weights; as a model file has it, but for the arrays.
pub(crate) trait ExpansionTask: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The method, as model files and the command line name it.
    const METHOD: &'static str;

    /// Whether learned column weights say how important the columns are. Those of a regression are inverse length
    /// scales: a column with a large, but linear effect has a small one.
    const WEIGHTS_ARE_IMPORTANCES: bool = true;

    /// A number of the weights.
    type Weight: Copy + Into<f64>;

    /// The weights, `[problem][feature]`.
    fn weights(&self) -> &[Self::Weight];

    /// Number of problems.
    fn n_problems(&self) -> usize;

    /// What a model decides on one sample.
    ///
    /// # Errors
    /// As for predictions.
    fn decide<S: Similarity>(model: &ExpansionModel<S, Self>, sample: &S::Samples) -> Result<Decided>;

    /// The arrays of a model of this number of features.
    fn arrays(&self, n_features: usize) -> [Array<'_>; 2];

    /// Reads the arrays, and checks the rest.
    ///
    /// # Errors
    /// [`Error::ModelFile`].
    fn read(&mut self, reader: &Reader<'_>, origin: &Origin, n_features: usize) -> Result<()>;

    /// Refuses a number that cannot be written.
    ///
    /// # Errors
    /// [`Error::NotFinite`].
    fn check_finite(&self) -> Result<()> {
        Ok(())
    }

    /// The parameters that the model stores, and those selected automatically, besides those of the expansion.
    fn parameters(&self) -> Value;

    /// Adapts it to a model of some of the samples.
    fn of_picked(&mut self) {}
}

/// The header's part on the arrays of the expansion, and the selection of bases.
#[derive(Serialize, Deserialize)]
pub(crate) struct Layout {
    #[serde(flatten)]
    expansion: ExpansionHeader,
    #[serde(flatten)]
    basis: Basis,
}

impl<T: ExpansionTask> ExpansionModel<AnySimilarity, T> {
    file_methods!(T::METHOD);

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        Self::read_by(reader, ExpansionHeader::read)
    }
}

impl<S: Similarity, T: ExpansionTask> ExpansionModel<S, T> {
    pub(super) fn new(expansion: BasisExpansion<S>, basis: Basis, task: T, report: Report, origin: Origin) -> Self {
        ExpansionModel { expansion, basis, task, report, origin, decision: OnceLock::new() }
    }

    /// The same model with more notes in its report.
    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.report.notes.extend(notes);
        self
    }

    /// The same model, with the seconds of the similarity search first in its report, and a warning where the time limit
    /// ended it after some candidates.
    pub(crate) fn with_search(mut self, seconds: f64, cut_after: Option<usize>) -> Self {
        self.report.stages.insert(0, Stage { name: "search".into(), seconds });
        self.report.warnings.extend(cut_after.map(|n| {
            format!("the time limit passed: the search compared only {n} candidates (a longer time limit allows more)")
        }));
        self
    }

    /// Number of bases.
    pub fn n_bases(&self) -> usize {
        self.expansion.bases().len()
    }

    /// The specs of the similarities.
    pub(crate) fn specs(&self) -> Vec<String> {
        let similarity = self.expansion.similarity();
        (0..similarity.n_parts()).map(|part| similarity.part(part)).collect()
    }

    /// How the bases were selected.
    pub fn basis(&self) -> &str {
        &self.basis.choice
    }

    /// The training row of each basis; empty for explicit bases.
    pub fn basis_rows(&self) -> &[usize] {
        &self.basis.rows
    }

    getters! {
        /// The expansion: similarity, bases and normalization.
        hidden expansion: &BasisExpansion<S>;
        /// The report of the fit.
        report: &Report;
    }

    /// The arrays of the file, without those of the bases.
    pub(crate) fn file_arrays(&self) -> Vec<Array<'_>> {
        self.expansion.arrays().into_iter().chain(self.task.arrays(self.expansion.n_features())).collect()
    }

    /// The JSON header of the file.
    pub(crate) fn file_header(&self) -> Result<String> {
        self.task.check_finite()?;
        let (expansion, basis) = (ExpansionHeader::of(&self.expansion)?, self.basis.clone());
        let (n_features, layout) = (expansion.n_features(), Layout { expansion, basis });
        model_header(T::METHOD, &layout, n_features, Head::of(&self.task, &self.report, &self.origin))
    }

    fn read_by(
        reader: &Reader<'_>,
        expansion: impl FnOnce(&ExpansionHeader, &Reader<'_>) -> Result<BasisExpansion<S>>,
    ) -> Result<Self> {
        let Layout { expansion: header, basis } = reader.parse()?;
        let Head { task, report, origin } = reader.head::<T>(header.n_features())?;
        let expansion = expansion(&header, reader)?;
        let mut task = task.into_owned();
        task.read(reader, &origin, expansion.n_features())?;
        Ok(ExpansionModel::new(expansion, basis, task, report.into_owned(), origin.into_owned()))
    }

    /// The model from the result of [`Model::to_bytes`](crate::model::Model::to_bytes), with the user-defined similarity,
    /// fitted, and the bases in the same order.
    ///
    /// # Errors
    /// [`Error::ModelFile`] and [`Error::ModelVersion`] as for `load`, also for bytes that include the bases;
    /// [`Error::Shape`] for a different number of bases; errors of the similarity.
    #[doc(hidden)]
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        let reader = Reader::of_bytes(bytes, T::METHOD)?;
        Self::read_by(&reader, |header, reader| header.read_with(reader, similarity, bases))
    }

    /// Writes the model to a file, with the bytes into which `encode` turns the bases, so that a model with a
    /// user-defined similarity is a single file.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model with non-finite numbers; [`Error::Io`] if the file cannot be written.
    pub fn save_with(&self, path: impl AsRef<Path>, encode: impl FnOnce(&S::Samples) -> Vec<u8>) -> Result<()> {
        let (bases, model) =
            (encode(self.expansion.bases()), file::to_bytes(self.file_header()?, &self.file_arrays())?);
        file::save(path.as_ref(), &with_payload(&model, OWN_BASES, &bases)?)
    }

    /// Reads a file of [`save_with`](Self::save_with): `decode` makes the similarity and the bases from the bytes.
    ///
    /// # Errors
    /// [`Error::ModelFile`] and [`Error::ModelVersion`] as for `load`, also for a file without such bytes, and with the
    /// message of an error of `decode`; [`Error::Shape`] for a different number of bases; errors of the similarity.
    pub fn load_with<E: fmt::Display>(
        path: impl AsRef<Path>,
        decode: impl FnOnce(&[u8]) -> std::result::Result<(S, S::Samples), E>,
    ) -> Result<Self> {
        let path = path.as_ref();
        let wrong = |problem| Error::ModelFile { path: path.to_owned(), problem };
        let bytes = file::read(path)?;
        let Some(bases) = payload(&bytes, OWN_BASES)? else {
            return Err(wrong("it has no bases written by `save_with`".into()));
        };
        let (similarity, bases) = decode(&bases).map_err(|error| wrong(error.to_string()))?;
        Self::from_bytes_with(&bytes, similarity, bases)
    }
}

impl<S: Similarity, T: ExpansionTask> fmt::Debug for ExpansionModel<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(T::METHOD)
            .field("expansion", &self.expansion)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
