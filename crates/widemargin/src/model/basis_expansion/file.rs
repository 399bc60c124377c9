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

/// Checks that all header fields are present and have the right types.
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
    /// Writes the model to a file, atomically.
    ///
    /// # Errors
    /// [`Error::Io`] naming the failed operation.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        save(path.as_ref(), &self.to_bytes()?)
    }

    /// The bytes that [`BasisExpansionSvc::save`] writes.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model with non-finite numbers.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (header, tensors) = ExpansionHeader::whole(&self.expansion)?;
        self.bytes(header, tensors)
    }

    /// Reads a model written by [`BasisExpansionSvc::save`].
    ///
    /// # Errors
    /// [`Error::ModelFile`] for a file that is truncated, damaged or not a basis expansion model, or whose similarity
    /// is implemented by the program that trained it; [`Error::ModelVersion`] for a newer format, [`Error::Io`] if it
    /// cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        BasisExpansionSvc::parse(path, &read(path)?, ExpansionHeader::read)
    }

    /// Deserialises the result of [`BasisExpansionSvc::to_bytes`].
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::load`], with `<bytes>` for the path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        BasisExpansionSvc::parse(Path::new(NO_FILE), bytes, ExpansionHeader::read)
    }

    /// The kind of samples the model was trained on, as named in messages.
    pub fn kind(&self) -> &'static str {
        AnySamples::kind(self.expansion.bases())
    }
}

impl<S: Similarity> BasisExpansionSvc<S> {
    /// Serialises everything except the similarity and the bases, which the caller stores.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model with non-finite numbers.
    pub fn to_bytes_without_bases(&self) -> Result<Vec<u8>> {
        let (header, tensors) = ExpansionHeader::without_bases(&self.expansion);
        self.bytes(header, tensors)
    }

    /// Deserialises the result of [`BasisExpansionSvc::to_bytes_without_bases`], given the fitted similarity and the
    /// bases in their order.
    ///
    /// # Errors
    /// [`Error::ModelFile`] and [`Error::ModelVersion`] as for [`BasisExpansionSvc::load`], also for bytes that include
    /// the bases; [`Error::Shape`] for a different number of bases; errors of the similarity.
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
