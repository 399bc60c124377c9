//! The basis expansion SVM in a model file.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::expansion_file::{ExpansionHeader, expansion_file_methods};
use crate::data::{AnySamples, Label};
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionSvc;
use crate::model::file::{Array, Reader, array, header};
use crate::model::origin::Origin;
use crate::problem::{Intercept, Loss, Penalty};
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

expansion_file_methods!(BasisExpansionSvc);

impl BasisExpansionSvc<AnySimilarity> {
    /// The kind of samples the model was trained on, as named in messages.
    pub fn kind(&self) -> &'static str {
        AnySamples::kind(self.expansion.bases())
    }
}

impl<S: Similarity> BasisExpansionSvc<S> {
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
        let file_error = |error: Error| reader.wrong(error.to_string());
        header.origin.check(header.expansion.n_features()).map_err(file_error)?;
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
            loss: header.loss.parse::<Loss>().map_err(file_error)?,
            penalty: header.penalty.map_or(Ok(Penalty::L2), |name| name.parse().map_err(file_error))?,
            intercept: header.intercept.parse::<Intercept>().map_err(file_error)?,
            classes: header.classes,
            weights,
            intercepts,
            report: header.report,
            decision: OnceLock::new(),
            origin: header.origin,
        })
    }
}
