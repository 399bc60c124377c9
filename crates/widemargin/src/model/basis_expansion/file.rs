//! The basis expansion SVM in a model file.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::ExpansionHeader;
use crate::data::{AnySamples, Label};
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionSvc;
use crate::model::file::{Array, Reader, array, check_finite, file_methods, header, to_bytes};
use crate::model::origin::Origin;
use crate::problem::{AnyLoss, Intercept, Penalty};
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::Report;
use crate::solve::thin_plate::PathPoint;

pub(crate) const METHOD: &str = "basis-expansion";

/// The JSON header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    method: String,
    #[serde(flatten)]
    expansion: ExpansionHeader,
    basis: String,
    basis_rows: Vec<usize>,
    loss: String,
    /// Absent for `l2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    penalty: Option<String>,
    #[serde(rename = "C")]
    c: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    path: Vec<PathPoint>,
    intercept: String,
    classes: Vec<Label>,
    report: Report,
    #[serde(flatten)]
    origin: Origin,
}

impl BasisExpansionSvc<AnySimilarity> {
    file_methods!(METHOD);

    /// The bytes that [`BasisExpansionSvc::save`] writes.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model with non-finite numbers.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (header, mut arrays) = ExpansionHeader::whole(&self.expansion)?;
        arrays.extend(self.own_arrays());
        to_bytes(self.header_with(header)?, &arrays)
    }

    pub(crate) fn header(&self) -> Result<String> {
        self.header_with(ExpansionHeader::whole(&self.expansion)?.0)
    }

    pub(crate) fn all_arrays(&self) -> Vec<Array<'_>> {
        let mut arrays = self.expansion.arrays();
        arrays.extend(self.own_arrays());
        arrays
    }

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        BasisExpansionSvc::read_by(reader, ExpansionHeader::read)
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
        to_bytes(self.header_without_bases()?, &self.arrays())
    }

    /// Refuses a model that cannot be written.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for one that a fit arrived at beyond the range of numbers.
    pub fn check_finite(&self) -> Result<()> {
        self.report.check_finite()?;
        check_finite(&self.arrays())
    }

    /// The JSON header of [`BasisExpansionSvc::to_bytes_without_bases`].
    ///
    /// # Errors
    /// As for the bytes.
    pub fn header_without_bases(&self) -> Result<String> {
        self.header_with(ExpansionHeader::without_bases(&self.expansion).0)
    }

    /// The model from what [`BasisExpansionSvc::to_bytes_without_bases`] made, with the similarity as it was
    /// when it had been fitted, and the bases in their order.
    ///
    /// # Errors
    /// [`Error::ModelFile`] and [`Error::ModelVersion`] as for [`BasisExpansionSvc::load`], also for bytes that include
    /// the bases; [`Error::Shape`] for a different number of bases; errors of the similarity.
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        BasisExpansionSvc::read_by(&Reader::of_bytes(bytes, METHOD)?, |header, reader| {
            header.read_with(reader, similarity, bases)
        })
    }

    /// Weights, intercepts, and what maps similarities to features, as the model's file has them; bases and what
    /// descriptors have learned are no part of it.
    pub fn arrays(&self) -> Vec<Array<'_>> {
        let mut arrays = ExpansionHeader::without_bases(&self.expansion).1;
        arrays.extend(self.own_arrays());
        arrays
    }

    fn own_arrays(&self) -> [Array<'_>; 2] {
        let (k, d) = (self.intercepts.len(), self.expansion.n_features());
        [array("weights", vec![k, d], &self.weights), array("intercepts", vec![k], &self.intercepts)]
    }

    fn header_with(&self, expansion: ExpansionHeader) -> Result<String> {
        self.report.check_finite()?;
        self.origin.check(expansion.n_features())?;
        header(&Header {
            method: METHOD.into(),
            expansion,
            basis: self.basis.clone(),
            basis_rows: self.basis_rows.clone(),
            loss: self.loss.to_string(),
            penalty: (self.penalty != Penalty::L2).then(|| self.penalty.to_string()),
            c: self.c,
            path: self.path.clone(),
            intercept: self.intercept.to_string(),
            classes: self.classes.clone(),
            report: self.report.clone(),
            origin: self.origin.clone(),
        })
    }

    fn read_by(
        reader: &Reader<'_>,
        expansion: impl FnOnce(&ExpansionHeader, &Reader<'_>) -> Result<BasisExpansion<S>>,
    ) -> Result<Self> {
        let header: Header = reader.parse()?;
        let retold = |error: Error| reader.wrong(error.to_string());
        header.origin.check(header.expansion.n_features()).map_err(retold)?;
        if let Some(problem) = header.origin.problem(header.classes.len()) {
            return Err(reader.wrong(problem));
        }
        let expansion = expansion(&header.expansion, reader)?;
        let k = header.origin.n_problems(header.classes.len());
        let weights = reader.tensor("weights", &[k, expansion.n_features()])?;
        let intercepts = reader.tensor("intercepts", &[k])?;
        Ok(BasisExpansionSvc {
            expansion,
            basis: header.basis,
            basis_rows: header.basis_rows,
            c: header.c,
            path: header.path,
            loss: header.loss.parse::<AnyLoss>().map_err(retold)?,
            penalty: header.penalty.map_or(Ok(Penalty::L2), |name| name.parse().map_err(retold))?,
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
