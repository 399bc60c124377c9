//! The basis expansion SVM in a model file.

use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::ExpansionHeader;
use crate::data::{AnySamples, Label};
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionSvc;
use crate::model::file::{NO_FILE, Reader, Tensor, read, save, tensor, to_bytes};
use crate::model::origin::Origin;
use crate::problem::{AnyLoss, Intercept, n_problems};
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::Report;

pub(crate) const METHOD: &str = "basis-expansion";

/// Whether a file's header has all that it should, each of its type.
pub(crate) fn check_header(reader: &Reader<'_>) -> Result<()> {
    reader.parse::<Header>().map(drop)
}

/// The JSON header.
#[derive(Serialize, Deserialize)]
struct Header {
    method: String,
    #[serde(flatten)]
    expansion: ExpansionHeader,
    basis: String,
    basis_rows: Vec<usize>,
    loss: String,
    #[serde(rename = "C")]
    c: f64,
    intercept: String,
    classes: Vec<Label>,
    report: Report,
    #[serde(flatten)]
    origin: Origin,
}

impl BasisExpansionSvc<AnySimilarity> {
    /// Writes the model to a file, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] saying what could not be done.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        save(path.as_ref(), &self.to_bytes()?)
    }

    /// The model as the bytes of its file: what [`BasisExpansionSvc::save`] writes.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model that a fit arrived at beyond the range of numbers.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (header, tensors) = ExpansionHeader::whole(&self.expansion)?;
        self.bytes(header, tensors)
    }

    /// Reads a model that [`BasisExpansionSvc::save`] wrote.
    ///
    /// # Errors
    /// [`Error::ModelFile`] for a file that is cut short, damaged or not a basis expansion model, or whose similarity
    /// is code of the program that trained it; [`Error::ModelVersion`] for one of a newer format, [`Error::Io`] where
    /// it cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        BasisExpansionSvc::parse(path, &read(path)?, ExpansionHeader::read)
    }

    /// The model that [`BasisExpansionSvc::to_bytes`] made the bytes of.
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::load`], with `<bytes>` for the path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        BasisExpansionSvc::parse(Path::new(NO_FILE), bytes, ExpansionHeader::read)
    }

    /// The kind of samples it was trained on, as messages name it.
    pub fn kind(&self) -> &'static str {
        AnySamples::kind(self.expansion.bases())
    }
}

impl<S: Similarity> BasisExpansionSvc<S> {
    /// All but the similarity and the bases as bytes, in the format of a model file; the caller keeps these two.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model that a fit arrived at beyond the range of numbers.
    pub fn to_bytes_without_bases(&self) -> Result<Vec<u8>> {
        let (header, tensors) = ExpansionHeader::without_bases(&self.expansion);
        self.bytes(header, tensors)
    }

    /// The model that [`BasisExpansionSvc::to_bytes_without_bases`] made the bytes of, with the similarity as it was
    /// when it had been fitted, and the bases in their order.
    ///
    /// # Errors
    /// [`Error::ModelFile`] and [`Error::ModelVersion`] as for [`BasisExpansionSvc::load`], also for bytes that do hold
    /// the bases; [`Error::Shape`] for another number of bases; what the similarity meets in them.
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        BasisExpansionSvc::parse(Path::new(NO_FILE), bytes, |header, reader| {
            header.read_with(reader, similarity, bases)
        })
    }

    fn bytes(&self, expansion: ExpansionHeader, mut tensors: Vec<Tensor>) -> Result<Vec<u8>> {
        self.report.check_finite()?;
        let (k, d) = (self.intercepts.len(), self.expansion.n_features());
        self.origin.check(expansion.n_features())?;
        tensors.push(tensor("weights", vec![k, d], &self.weights));
        tensors.push(tensor("intercepts", vec![k], &self.intercepts));
        let header = Header {
            method: METHOD.into(),
            expansion,
            basis: self.basis.clone(),
            basis_rows: self.basis_rows.clone(),
            loss: self.loss.to_string(),
            c: self.c,
            intercept: self.intercept.to_string(),
            classes: self.classes.clone(),
            report: self.report.clone(),
            origin: self.origin.clone(),
        };
        to_bytes(&header, &tensors)
    }

    fn parse(
        path: &Path,
        bytes: &[u8],
        expansion: impl FnOnce(&ExpansionHeader, &Reader<'_>) -> Result<BasisExpansion<S>>,
    ) -> Result<Self> {
        let reader = Reader::new(path, bytes, METHOD)?;
        let header: Header = reader.parse()?;
        let retold = |error: Error| reader.wrong(error.to_string());
        if header.classes.len() < 2 {
            return Err(reader.wrong(format!("{} classes cannot be", header.classes.len())));
        }
        header.origin.check(header.expansion.n_features()).map_err(retold)?;
        let expansion = expansion(&header.expansion, &reader)?;
        let k = n_problems(header.classes.len());
        let weights = reader.tensor("weights", &[k, expansion.n_features()])?;
        let intercepts = reader.tensor("intercepts", &[k])?;
        Ok(BasisExpansionSvc {
            expansion,
            basis: header.basis,
            basis_rows: header.basis_rows,
            c: header.c,
            loss: header.loss.parse::<AnyLoss>().map_err(retold)?,
            intercept: header.intercept.parse::<Intercept>().map_err(retold)?,
            classes: header.classes,
            weights,
            intercepts,
            report: header.report,
            decision: OnceLock::new(),
            origin: header.origin,
        })
    }
}
