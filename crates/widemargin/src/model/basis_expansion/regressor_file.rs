//! The regression on a basis expansion in a model file.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::ExpansionHeader;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::file::{Array, Reader, array, check_finite, file_methods, header, to_bytes};
use crate::model::origin::Origin;
use crate::model::{BasisExpansionRegressor, LossPoint, RegressionPoint};
use crate::problem::RegressionLoss;
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
    /// Of each output, of the losses that have one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    epsilon: Vec<f64>,
    /// Of the quantile loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quantile: Option<f64>,
    /// Of losses that are not squared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loss_path: Vec<LossPoint>,
    #[serde(rename = "C")]
    c: f64,
    path: Vec<RegressionPoint>,
    intercept: String,
    n_outputs: usize,
    report: Report,
    #[serde(flatten)]
    origin: Origin,
}

/// The squared loss.
const SQUARED: &str = "squared-error";

impl Header {
    /// The loss, whose ε is given where all outputs have the same.
    fn loss(&self) -> Result<RegressionLoss> {
        let name = if self.loss == SQUARED { RegressionLoss::Squared.name() } else { &self.loss };
        let of_all = self.epsilon.first().copied().filter(|first| self.epsilon.iter().all(|epsilon| epsilon == first));
        let loss = RegressionLoss::new(name, of_all, self.quantile)?;
        let has_epsilon = !matches!(loss, RegressionLoss::Squared | RegressionLoss::Quantile { .. });
        if self.epsilon.len() != if has_epsilon { self.n_outputs } else { 0 } {
            let found = format!("{} values of epsilon for {} outputs", self.epsilon.len(), self.n_outputs);
            return Err(Error::shape(&self.loss, found, "one for each output of a loss that has one"));
        }
        Ok(loss)
    }
}

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
    /// The loss as files and the command line name it.
    pub(crate) fn loss_name(&self) -> &'static str {
        if self.loss == RegressionLoss::Squared { SQUARED } else { self.loss.name() }
    }

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
            loss: self.loss_name().into(),
            epsilon: self.epsilons.clone(),
            quantile: match self.loss {
                RegressionLoss::Quantile { quantile } => Some(quantile),
                _ => None,
            },
            loss_path: self.loss_path.clone(),
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
        if header.n_outputs == 0 {
            return Err(reader.wrong("0 outputs cannot be".into()));
        }
        let loss = header.loss().map_err(retold)?;
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
            loss,
            epsilons: header.epsilon,
            loss_path: header.loss_path,
            has_intercept,
            weights,
            intercepts,
            report: header.report,
            decision: OnceLock::new(),
            origin: header.origin,
        })
    }
}
