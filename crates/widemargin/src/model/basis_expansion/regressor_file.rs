//! The regression on a basis expansion in a model file.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::{ExpansionHeader, expansion_file_methods};
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::file::{Array, Reader, array, header};
use crate::model::origin::Origin;
use crate::model::{BasisExpansionRegressor, LossPoint, RegressionPoint};
use crate::problem::Loss;
use crate::similarity::Similarity;
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

impl Header {
    /// The loss, with ε if it is the same for all outputs.
    fn loss(&self) -> Result<Loss> {
        let of_all = self.epsilon.first().copied().filter(|first| self.epsilon.iter().all(|epsilon| epsilon == first));
        let loss = Loss::of_targets(&self.loss, of_all, self.quantile)?;
        let has_epsilon = !matches!(loss, Loss::SquaredError | Loss::Quantile { .. });
        if self.epsilon.len() != if has_epsilon { self.n_outputs } else { 0 } {
            let found = format!("{} values of epsilon for {} outputs", self.epsilon.len(), self.n_outputs);
            return Err(Error::shape(&self.loss, found, "one for each output of a loss that has one"));
        }
        Ok(loss)
    }
}

expansion_file_methods!(BasisExpansionRegressor);

impl<S: Similarity> BasisExpansionRegressor<S> {
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
            loss: self.loss.name().into(),
            epsilon: self.epsilons.clone(),
            quantile: self.loss.quantile(),
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
        let file_error = |error: Error| reader.wrong(error.to_string());
        if header.n_outputs == 0 {
            return Err(reader.wrong("0 outputs cannot be".into()));
        }
        let loss = header.loss().map_err(file_error)?;
        header.origin.check(header.expansion.n_features()).map_err(file_error)?;
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
