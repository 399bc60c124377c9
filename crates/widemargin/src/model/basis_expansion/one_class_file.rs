//! The model of one class on a basis expansion in a model file.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::ExpansionHeader;
use super::one_class::check_numbers;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionOneClass;
use crate::model::file::{Array, Reader, array, check_finite, file_methods, header, to_bytes};
use crate::model::origin::Origin;
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::Report;

pub(crate) const METHOD: &str = "basis-expansion-one-class";

/// The JSON header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    method: String,
    #[serde(flatten)]
    expansion: ExpansionHeader,
    basis: String,
    basis_rows: Vec<usize>,
    quantile: f64,
    shrinkage: f64,
    threshold: f64,
    n_samples: usize,
    report: Report,
    #[serde(flatten)]
    origin: Origin,
}

impl BasisExpansionOneClass<AnySimilarity> {
    file_methods!(METHOD);

    /// The bytes that [`BasisExpansionOneClass::save`] writes.
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
        BasisExpansionOneClass::read_by(reader, ExpansionHeader::read)
    }
}

impl<S: Similarity> BasisExpansionOneClass<S> {
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

    /// The JSON header of [`BasisExpansionOneClass::to_bytes_without_bases`].
    ///
    /// # Errors
    /// As for the bytes.
    pub fn header_without_bases(&self) -> Result<String> {
        self.header_with(ExpansionHeader::without_bases(&self.expansion).0)
    }

    /// The model from what [`BasisExpansionOneClass::to_bytes_without_bases`] made, with the similarity as it was when it had been
    /// fitted, and the bases in their order.
    ///
    /// # Errors
    /// [`Error::ModelFile`] and [`Error::ModelVersion`] as for [`BasisExpansionOneClass::load`], also for bytes that include the
    /// bases; [`Error::Shape`] for a different number of bases; errors of the similarity.
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        BasisExpansionOneClass::read_by(&Reader::of_bytes(bytes, METHOD)?, |header, reader| {
            header.read_with(reader, similarity, bases)
        })
    }

    /// Weights, left-out scores, and what maps similarities to features, as the model's file has them; bases and what descriptors
    /// have learned are no part of it.
    pub fn arrays(&self) -> Vec<Array<'_>> {
        let mut arrays = ExpansionHeader::without_bases(&self.expansion).1;
        arrays.extend(self.own_arrays());
        arrays
    }

    fn own_arrays(&self) -> [Array<'_>; 2] {
        let scores = &self.left_out_scores;
        [
            array("weights", vec![self.weights.len()], &self.weights),
            array("left_out_scores", vec![scores.len()], scores),
        ]
    }

    fn header_with(&self, expansion: ExpansionHeader) -> Result<String> {
        self.report.check_finite()?;
        self.origin.check(expansion.n_features())?;
        if !self.threshold.is_finite() {
            return Err(Error::NotFinite { what: "the model's threshold".into(), value: self.threshold });
        }
        header(&Header {
            method: METHOD.into(),
            expansion,
            basis: self.basis.clone(),
            basis_rows: self.basis_rows.clone(),
            quantile: self.quantile,
            shrinkage: self.shrinkage,
            threshold: self.threshold,
            n_samples: self.left_out_scores.len(),
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
        check_numbers(header.quantile, header.shrinkage).map_err(retold)?;
        header.origin.check(header.expansion.n_features()).map_err(retold)?;
        let expansion = expansion(&header.expansion, reader)?;
        let weights = reader.tensor("weights", &[expansion.n_features()])?;
        let left_out_scores = reader.tensor("left_out_scores", &[header.n_samples])?;
        Ok(BasisExpansionOneClass {
            expansion,
            basis: header.basis,
            basis_rows: header.basis_rows,
            quantile: header.quantile,
            shrinkage: header.shrinkage,
            weights,
            threshold: header.threshold,
            left_out_scores,
            report: header.report,
            decision: OnceLock::new(),
            origin: header.origin,
        })
    }
}
