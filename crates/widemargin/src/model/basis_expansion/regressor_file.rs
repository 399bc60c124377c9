//! The regression on a basis expansion in a model file.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::ExpansionHeader;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::file::{Array, Reader, array, check_finite, file_methods, header, to_bytes};
use crate::model::origin::Origin;
use crate::model::{BasisExpansionRegressor, RegressionPoint};
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::Report;

pub(crate) const METHOD: &str = "basis-expansion-regression";

/// The JSON header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    method: String,
    #[serde(flatten)]
    expansion: ExpansionHeader,
    basis: String,
    basis_rows: Vec<usize>,
    loss: String,
    #[serde(rename = "C")]
    c: f64,
    path: Vec<RegressionPoint>,
    intercept: String,
    n_outputs: usize,
    report: Report,
    #[serde(flatten)]
    origin: Origin,
}

/// The only loss.
const LOSS: &str = "squared-error";

impl BasisExpansionRegressor<AnySimilarity> {
    file_methods!(METHOD);

    /// The bytes that [`BasisExpansionRegressor::save`] writes.
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
        BasisExpansionRegressor::read_by(reader, ExpansionHeader::read)
    }
}

impl<S: Similarity> BasisExpansionRegressor<S> {
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

    /// The JSON header of [`BasisExpansionRegressor::to_bytes_without_bases`].
    ///
    /// # Errors
    /// As for the bytes.
    pub fn header_without_bases(&self) -> Result<String> {
        self.header_with(ExpansionHeader::without_bases(&self.expansion).0)
    }

    /// The model from what [`BasisExpansionRegressor::to_bytes_without_bases`] made, with the similarity as it was when it
    /// had been fitted, and the bases in their order.
    ///
    /// # Errors
    /// [`Error::ModelFile`] and [`Error::ModelVersion`] as for [`BasisExpansionRegressor::load`], also for bytes that include
    /// the bases; [`Error::Shape`] for a different number of bases; errors of the similarity.
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        BasisExpansionRegressor::read_by(&Reader::of_bytes(bytes, METHOD)?, |header, reader| {
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
            loss: LOSS.into(),
            c: self.c,
            path: self.path.clone(),
            intercept: if self.has_intercept { "free" } else { "none" }.into(),
            n_outputs: self.intercepts.len(),
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
        if header.n_outputs == 0 || header.loss != LOSS {
            return Err(reader.wrong(format!("{} outputs of loss '{}' cannot be", header.n_outputs, header.loss)));
        }
        header.origin.check(header.expansion.n_features()).map_err(retold)?;
        let has_intercept = match header.intercept.as_str() {
            "free" => true,
            "none" => false,
            other => return Err(reader.wrong(format!("'{other}' is no intercept"))),
        };
        let expansion = expansion(&header.expansion, reader)?;
        let k = header.n_outputs;
        let weights = reader.tensor("weights", &[k, expansion.n_features()])?;
        let intercepts = reader.tensor("intercepts", &[k])?;
        Ok(BasisExpansionRegressor {
            expansion,
            basis: header.basis,
            basis_rows: header.basis_rows,
            c: header.c,
            path: header.path,
            has_intercept,
            weights,
            intercepts,
            report: header.report,
            decision: OnceLock::new(),
            origin: header.origin,
        })
    }
}
