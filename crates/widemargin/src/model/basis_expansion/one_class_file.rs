//! The outlier detector on a basis expansion in a model file.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::{ExpansionHeader, expansion_file_methods};
use super::one_class::check_numbers;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionOneClass;
use crate::model::file::{Array, Reader, array, header};
use crate::model::origin::Origin;
use crate::similarity::Similarity;
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

expansion_file_methods!(BasisExpansionOneClass);

impl<S: Similarity> BasisExpansionOneClass<S> {
    fn own_arrays(&self) -> [Array<'_>; 2] {
        let scores = &self.loo_scores;
        [array("weights", vec![self.weights.len()], &self.weights), array("loo_scores", vec![scores.len()], scores)]
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
            n_samples: self.loo_scores.len(),
            report: self.report.clone(),
            origin: self.origin.clone(),
        })
    }

    fn read_by(
        reader: &Reader<'_>,
        expansion: impl FnOnce(&ExpansionHeader, &Reader<'_>) -> Result<BasisExpansion<S>>,
    ) -> Result<Self> {
        let header: Header = reader.parse()?;
        let file_error = |error: Error| reader.wrong(error.to_string());
        check_numbers(header.quantile, header.shrinkage).map_err(file_error)?;
        header.origin.check(header.expansion.n_features()).map_err(file_error)?;
        let expansion = expansion(&header.expansion, reader)?;
        let weights = reader.tensor("weights", &[expansion.n_features()])?;
        let loo_scores = reader.tensor("loo_scores", &[header.n_samples])?;
        Ok(BasisExpansionOneClass {
            expansion,
            basis: header.basis,
            basis_rows: header.basis_rows,
            quantile: header.quantile,
            shrinkage: header.shrinkage,
            weights,
            threshold: header.threshold,
            loo_scores,
            report: header.report,
            decision: OnceLock::new(),
            origin: header.origin,
        })
    }
}
